// Files of tests in one process, each as if it had one of its own: a suite by its name, with the file's hooks as the suite's, read
// when the one before it has ended.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { beginSharing } from './shared.ts';

/** The paths are absolute; what is `above` them all is left out of their names. In `at` stands which of them is being run. */
export async function together(paths: readonly string[], above: string, at: string): Promise<void> {
  // Who drives a browser takes a signal for the browser's end, and goes on.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  // Nobody listens any more: the run was killed.
  const run = process.ppid;
  setInterval(() => process.ppid !== run && process.exit(1), 500).unref();
  const endShared = beginSharing();
  for (const path of paths) {
    const measured = measure();
    writeFileSync(at, path.replace(above, ''));
    const ended = Promise.withResolvers<void>();
    describe(path.replace(above, ''), async () => {
      try {
        await import(pathToFileURL(path).href);
      } finally {
        // After the file's own.
        after(() => ended.resolve());
      }
    });
    await ended.promise;
    measured(path.replace(above, ''));
  }
  await endShared();
  writeFileSync(at, '');
}

/** For whoever asks by `MEASURE=<file>` what each file takes: wall time, processor time here, and of programs that have ended. */
function measure(): (path: string) => void {
  const { MEASURE } = process.env;
  if (!MEASURE) return () => {};
  const now = () => {
    const fields = readFileSync('/proc/self/stat', 'utf8').replace(/.*\) /s, '').split(' ').map(Number);
    const ticks = (at: number) => ((fields[at] ?? 0) + (fields[at + 1] ?? 0)) / 100;
    return [performance.now() / 1000, ticks(11), ticks(13)];
  };
  const before = now();
  return (path) => {
    const took = now().map((value, index) => (value - (before[index] ?? 0)).toFixed(1));
    appendFileSync(MEASURE, `${path}\t${took.join('\t')}\n`);
  };
}
