// Part of `npm run check`: what is wrong with the packages that we install, before anybody installs them.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { licenceProblems } from './licences.ts';
import { lockfileProblems } from './lockfile.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));

/** As old packages say it too: an object, or a list of them. */
function licenceOf(place: string): string | undefined {
  const file = join(place, 'package.json');
  if (!existsSync(join(ROOT, file))) return undefined;
  const { license, licenses } = read(file);
  const said = [license ?? licenses ?? ''].flat();
  return said
    .map((each: string | { type: string }) => (typeof each === 'string' ? each : each.type))
    .join(' OR ');
}

const lock = read('package-lock.json');
const inLockfile = lockfileProblems(lock, read('package.json'));
const inLicences = licenceProblems(lock, licenceOf);

for (const problem of inLockfile) console.error(`package-lock.json: ${problem}`);
if (inLockfile.length > 0) console.error('`npm run lock` makes the lockfile anew.');
for (const problem of inLicences) console.error(problem);
process.exitCode = inLockfile.length + inLicences.length > 0 ? 1 : 0;
