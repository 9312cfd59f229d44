// `npm run test:together`: every test file, or those that are named.

import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runTests } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const named = process.argv.slice(2).map((file) => resolve(file));
const all = () => globSync('test/**/*.test.ts', { cwd: ROOT }).map((file) => join(ROOT, file));
if (!(await runTests((named.length > 0 ? named : all()).sort()))) process.exitCode = 1;
