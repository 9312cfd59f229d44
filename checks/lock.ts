// `npm run lock`: makes package-lock.json, with the packages of every platform in it. In a folder of its own, because npm leaves
// out of a lockfile what is not installed beside it, and installed is only what this platform needs. What the lockfile has
// already keeps its version; `--offline` asks nobody, and changes nothing where the lockfile is whole.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockfileProblems } from './lockfile.ts';

const ROOT = join(import.meta.dirname, '..');
const LOCKFILE = 'package-lock.json';

/** The lockfile as npm makes it of the one that is there. */
export function makeLockfile(options: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-lock-'));
  try {
    for (const file of ['package.json', LOCKFILE, '.npmrc'])
      copyFileSync(join(ROOT, file), join(folder, file));
    const isWindows = process.platform === 'win32';
    execFileSync(
      isWindows ? 'npm.cmd' : 'npm',
      ['install', '--package-lock-only', '--ignore-scripts', ...options],
      { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], shell: isWindows },
    );
    return readFileSync(join(folder, LOCKFILE), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { writeFileSync } = await import('node:fs');
  const text = makeLockfile(process.argv.slice(2));
  writeFileSync(join(ROOT, LOCKFILE), text);
  const problems = lockfileProblems(
    JSON.parse(text),
    JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')),
  );
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
