// Which test files share a process. Starting Node with the whole service costs two seconds of processor time, more than most
// files' own tests: they run one after the other in one process, each as if it were alone there.

import { dirname } from 'node:path';

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** It changes the process itself, and does not change it back. */
const TAKES_THE_PROCESS = /^process\./m;
/** From there on the process stands on real servers: they share one with each other. */
const ON_REAL_SERVERS = /^await onRealServers\(/m;
/** Servers or a browser of its own. */
const HAS_SERVERS =
  /startPostgres|startRedis|startServers|onRealServers|onStage|openBrowser|startBrowser|startProgram/;

export const isAlone = (file: TestFile): boolean => TAKES_THE_PROCESS.test(file.text) || isLong(file);

/** They take longest, mostly waiting: begun last, they would keep everybody waiting for them. */
export const LONG = [
  'orders/kill-protection',
  'broker/trial-surprises',
  'web/layout-shift',
  'web/every-page',
  'web/masthead',
  'cluster/failures',
  'demo/demo',
  'data/migrate',
  'orders/kill-resting',
  'orders/kill',
  'cluster/distributed-performance',
  'cluster/distributed-fills',
  'cluster/distributed-accounts',
  'cluster/distributed-workers',
  'cluster/cluster',
  'upgrade/protected',
  'upgrade/upgrade',
];

const isLong = ({ path }: TestFile): boolean => LONG.some((name) => path.endsWith(`/${name}.test.ts`));

/** What it takes, by that of most files: with servers or a browser of its own it takes several times as much. */
export function costOf(file: TestFile): number {
  if (isLong(file)) return 20;
  return HAS_SERVERS.test(file.text) ? 5 : 1;
}

/** About so much of a text takes most of a minute of a processor; what has servers of its own counts for more. */
const GROUP_CHARACTERS = 300_000;

/** Each file once: those that take long, then those that share a process with their neighbours of the folder, largest first. */
export function grouped(files: readonly TestFile[]): readonly (readonly string[])[] {
  const rank = ({ path }: TestFile) => LONG.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  const long = files.filter(isLong).sort((a, b) => rank(a) - rank(b));
  const alone = files.filter((file) => isAlone(file) && !isLong(file));
  const sharing = Map.groupBy(
    files.filter((file) => !isAlone(file)),
    ({ path, text }) => (ON_REAL_SERVERS.test(text) ? 'on real servers' : dirname(path)),
  );
  const groups = [...sharing.values()].flatMap(inParts).sort((a, b) => b.characters - a.characters);
  return [
    ...long.map(({ path }) => [path]),
    ...groups.map(({ paths }) => paths),
    ...alone.map(({ path }) => [path]),
  ];
}

/** A file that runs suites of others once more names only them. */
const charactersOf = (file: TestFile): number =>
  ON_REAL_SERVERS.test(file.text) ? GROUP_CHARACTERS / 6 : file.text.length * costOf(file);

interface Group {
  readonly paths: string[];
  characters: number;
}

function inParts(files: readonly TestFile[]): readonly Group[] {
  const groups: Group[] = [];
  for (const file of files) {
    const more = charactersOf(file);
    let group = groups.at(-1);
    if (!group || group.characters + more > GROUP_CHARACTERS) {
      group = { paths: [], characters: 0 };
      groups.push(group);
    }
    group.paths.push(file.path);
    group.characters += more;
  }
  return groups;
}
