// `npm run test:changed`: the tests that a change touches, nearest first, as many as a minute takes. The change is all that is
// not in main, committed or not; or since what is named, as in `npm run test:changed -- HEAD~1`.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { costOf } from './groups.ts';
import { runTests } from './run.ts';
import { touched } from './touched.ts';

const ROOT = join(import.meta.dirname, '../..');
/** By costOf, of which a minute takes so much. */
const MOST = 40;

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
const list = (...args: string[]): string[] =>
  git(...args)
    .split('\n')
    .filter(Boolean);

const base = process.argv[2] ?? git('merge-base', 'HEAD', 'main');
const others = list('ls-files', '--others', '--exclude-standard');
const changed = [...list('diff', '--name-only', '--no-renames', base), ...others];
const textOf = (path: string) => (/\.tsx?$/.test(path) ? readFileSync(join(ROOT, path), 'utf8') : '');
const sources = new Map(
  [...list('ls-files'), ...others]
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => [path, textOf(path)]),
);
// What is gone is still named by those who used it.
for (const path of changed) if (!sources.has(path)) sources.set(path, '');

const { near, far } = touched(sources, changed);
const there = near.filter((path) => existsSync(join(ROOT, path)));
let room = MOST;
const chosen = there.filter((path) => {
  const cost = costOf({ path, text: textOf(path) });
  // The first is run whatever it costs: it is the nearest.
  if (cost > room && room < MOST) return false;
  room -= cost;
  return true;
});
const left = there.length - chosen.length + far.length;
console.log(`${changed.length} files changed since ${base.slice(0, 12)}; the tests nearest to them:`);
for (const path of chosen) console.log(`  ${path}`);
if (left > 0) console.log(`${left} more have them within the whole service; npm test runs those too`);
if (chosen.length > 0 && !(await runTests(chosen.map((path) => join(ROOT, path))))) process.exitCode = 1;
