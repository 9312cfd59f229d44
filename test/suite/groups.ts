// Which test files share a process. Starting Node with the whole service costs two seconds of processor time, more than most
// files' own tests: files that begin nothing before their first test run one after the other in one process.

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** A hook or a server of the whole process, started as the file is read: others in that process would have it too. */
const TAKES_THE_PROCESS = /^(?:(?:before|after)(?:Each)?\(|process\.|(?![\s/*])(?:(?!\basync\b).)*\bawait )/m;

/**
 * Folders whose files were seen to get on with each other. `SHARING=broker node test/suite/all.ts test/broker/*.test.ts` tries
 * another one; it is added here when they went well.
 */
const SHARING = process.env.SHARING?.split(',') ?? ['domain', 'orders'];

const takesProcess = ({ text }: TestFile): boolean => TAKES_THE_PROCESS.test(text);
export const isAlone = (file: TestFile): boolean =>
  takesProcess(file) || !SHARING.some((folder) => file.path.includes(`/test/${folder}/`));

/** They take longest, mostly waiting: begun last, they would keep everybody waiting for them. */
const LONG = [
  'orders/kill-protection',
  'web/every-page',
  'web/masthead',
  'cluster/failures',
  'demo/demo',
  'data/migrate',
  'web/layout-shift',
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
  return takesProcess(file) ? 5 : 1;
}

/** About so much of a text takes half a minute of a processor. */
const GROUP_CHARACTERS = 180_000;

/** Each file once: those that take long, then those that share a process with their neighbours, then the rest. */
export function grouped(files: readonly TestFile[]): readonly (readonly string[])[] {
  const rank = ({ path }: TestFile) => LONG.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  const long = files.filter(isLong).sort((a, b) => rank(a) - rank(b));
  const rest = files.filter((file) => !isLong(file));
  const alone = rest.filter(isAlone);
  return [
    ...long.map(({ path }) => [path]),
    ...together(rest.filter((file) => !isAlone(file))),
    ...alone.map(({ path }) => [path]),
  ];
}

function together(files: readonly TestFile[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const { path, text } of files) {
    if (characters + text.length > GROUP_CHARACTERS) {
      groups.push([]);
      characters = 0;
    }
    characters += text.length;
    groups.at(-1)?.push(path);
  }
  return groups;
}
