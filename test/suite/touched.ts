// Which test files a change touches, nearest first, by what the sources name: imports, and paths in quotes, as of programs that
// are started and of documents that are read.

import { dirname, posix } from 'node:path';

/** By their path from the root; a text that names nobody may be empty. */
export type Sources = ReadonlyMap<string, string>;

/** What is there without being named: the pages are built of all that their first file leads to. */
const UNNAMED: Readonly<Record<string, readonly string[]>> = { 'test/web/stage.ts': ['web/main.tsx'] };

// Types are held by the compiler: no behaviour comes through them.
const TYPES = /^(?:import|export) type [^;]*;/gm;
const QUOTED = /(['"`])([^'"`\n$]*[./][^'"`\n$]*)\1/g;

/** A file's name says what it is about; these words say nothing. */
const EMPTY_WORDS = new Set(['', 'test', 'ts', 'tsx', 'src', 'web', 'index', 'module', 'css']);
const wordsOf = (path: string): readonly string[] =>
  path
    .split(/[-./]/)
    .filter((word) => !EMPTY_WORDS.has(word))
    .map((word) => word.replace(/s$/, ''));

const isTest = (path: string): boolean => path.startsWith('test/') && path.endsWith('.test.ts');

/** Through these everything reaches everything: the whole service, and all of its pages. */
const WHOLE = new Set(['src/main.ts', 'web/main.tsx']);

export interface Touched {
  /** Nearest first: itself, those named like it, those that use a part with it, then those of the same subject. */
  readonly near: readonly string[];
  /** They have it only as they have the whole service. */
  readonly far: readonly string[];
}

export function touched(sources: Sources, changed: readonly string[]): Touched {
  const users = usersIn(sources);
  const ranks = new Map<string, number>();
  for (const file of changed) {
    const parts = distances(users, file, WHOLE);
    for (const [path, distance] of distances(users, file, new Set())) {
      if (!isTest(path)) continue;
      const rank = rankOf(file, path, distance, parts.has(path));
      ranks.set(path, Math.min(rank, ranks.get(path) ?? FAR));
    }
  }
  const all = [...ranks].sort(([a, one], [b, other]) => one - other || a.localeCompare(b));
  const paths = (isFar: boolean) => all.filter(([, rank]) => (rank === FAR) === isFar).map(([path]) => path);
  return { near: paths(false), far: paths(true) };
}

const FAR = Number.POSITIVE_INFINITY;

function rankOf(file: string, path: string, distance: number, isPart: boolean): number {
  if (distance === 0) return 0;
  const words = new Set(wordsOf(posix.basename(path)));
  if (wordsOf(posix.basename(file)).some((word) => words.has(word))) return distance;
  if (isPart) return 100 + distance;
  const [, subject = ''] = path.split('/');
  return dirname(file).split('/').includes(subject) ? 1_000 + distance : FAR;
}

/** For each file those that name it. */
function usersIn(sources: Sources): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const [path, text] of sources)
    for (const used of namedIn(sources, path, text)) users.set(used, [...(users.get(used) ?? []), path]);
  return users;
}

function namedIn(sources: Sources, path: string, text: string): ReadonlySet<string> {
  const named = new Set(UNNAMED[path] ?? []);
  for (const [, , quoted = ''] of text.replaceAll(TYPES, '').matchAll(QUOTED)) {
    // From beside it, from the root, or as the suites that run once more on real servers are named.
    const places = [posix.join(dirname(path), quoted), quoted, `test/${quoted}.test.ts`];
    const place = places.find((one) => one !== path && sources.has(one));
    if (place) named.add(place);
  }
  return named;
}

/** From file to file, to all who use it; on from those who are `walls` nobody goes. */
function distances(
  users: ReadonlyMap<string, readonly string[]>,
  from: string,
  walls: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const found = new Map([[from, 0]]);
  // A map's own order is the order of their finding: whoever is found is visited in turn.
  for (const [path, distance] of found) {
    if (walls.has(path)) continue;
    for (const user of users.get(path) ?? []) if (!found.has(user)) found.set(user, distance + 1);
  }
  return found;
}
