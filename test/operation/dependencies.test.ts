// What `npm run check` says of packages: their licences, and a lockfile that installs everywhere.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { licenceProblems } from '../../checks/licences.ts';
import { makeLockfile } from '../../checks/lock.ts';
import { type LockedPackage, type Lockfile, lockfileProblems, PLATFORMS } from '../../checks/lockfile.ts';

const ROOT = join(import.meta.dirname, '../..');
const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
const manifest: LockedPackage = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const lock: Lockfile = JSON.parse(text);

describe('the lockfile', () => {
  const without = (place: string): Lockfile => {
    const { [place]: _, ...packages } = lock.packages;
    return { packages };
  };
  const changed = (place: string, fields: LockedPackage): Lockfile => ({
    packages: { ...lock.packages, [place]: { ...lock.packages[place], ...fields } },
  });

  test('is whole', () => assert.deepEqual(lockfileProblems(lock, manifest), []));

  const npm = execFileSync('npm', ['--version'], { encoding: 'utf8', shell: true }).trim();
  const isOld = Number.parseInt(npm, 10) < 11;
  test('is what `npm run lock` makes of it', {
    skip: isOld ? `npm ${npm} writes lockfiles otherwise than npm 11` : false,
  }, () => {
    assert.equal(makeLockfile(['--offline']), text, 'run `npm run lock`');
  });

  test('of a platform’s packages none may be missing, on whatever platform it was made', () => {
    const natives = Object.keys(lock.packages).filter((place) => lock.packages[place]?.os);
    assert.ok(natives.length > 50);
    for (const place of natives)
      assert.match(lockfileProblems(without(place), manifest)[0] ?? '', /needs .* which is missing$/, place);
  });

  test('what is built for some platforms is built for each of ours', () => {
    assert.deepEqual(
      lockfileProblems(changed('node_modules/@esbuild/win32-x64', { cpu: ['ia32'] }), manifest),
      ['esbuild has nothing for win32 on x64'],
    );
    const { optionalDependencies = {} } = manifest;
    assert.equal(Object.keys(optionalDependencies).length, PLATFORMS.length);
  });

  test('each package is pinned by its content, and by no host', () => {
    const problems = (fields: LockedPackage) =>
      lockfileProblems(changed('node_modules/pg', fields), manifest);
    assert.deepEqual(problems({ integrity: '' }), ['pg is not pinned by its content']);
    assert.deepEqual(problems({ resolved: 'https://example.com/pg.tgz' }), [
      'pg names where it was downloaded from',
    ]);
    assert.deepEqual(problems({ version: '1.0.0' }), [
      `package.json needs pg ${manifest.dependencies?.pg}, and the lockfile has 1.0.0`,
    ]);
  });

  test('it is that of package.json', () => {
    assert.deepEqual(lockfileProblems(lock, { ...manifest, dependencies: {} }), [
      'the dependencies of package.json are not those of the lockfile',
    ]);
  });
});

describe('licences', () => {
  const problems = (
    license: string | undefined,
    { dev = false, installed }: { dev?: boolean; installed?: string } = {},
  ) =>
    licenceProblems(
      {
        packages: {
          '': {},
          'node_modules/a/node_modules/@b/c': { ...(license === undefined ? {} : { license }), dev },
        },
      },
      () => installed,
    ).length;

  test('those that ask for a notice are allowed, of alternatives one is enough', () => {
    for (const licence of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND Apache-2.0', 'GPL-2.0-only OR ISC'])
      assert.equal(problems(licence), 0, licence);
  });

  test('what asks for more, is unknown or not named is refused', () => {
    for (const licence of [
      undefined,
      '',
      'GPL-3.0-only',
      'AGPL-3.0-or-later',
      'SEE LICENSE IN LICENSE',
      'UNLICENSED',
      'MIT AND GPL-2.0-only',
      '(MIT AND GPL-2.0-only) OR (GPL-2.0-only AND MIT)',
      'Apache-2.0 WITH LLVM-exception',
    ])
      assert.equal(problems(licence), 1, String(licence));
    assert.deepEqual(
      licenceProblems({ packages: { 'node_modules/x': { license: 'SSPL-1.0' } } }, () => undefined),
      ['x: the licence SSPL-1.0 is not on the list of checks/licences.ts'],
    );
  });

  test('what only its own files are bound by may run in tests', () => {
    assert.deepEqual([problems('MPL-2.0', { dev: true }), problems('MPL-2.0')], [0, 1]);
  });

  test('what is installed must say the same as the lockfile', () => {
    assert.deepEqual(
      [problems('MIT', { installed: 'MIT' }), problems('MIT', { installed: 'GPL-3.0-only' })],
      [0, 1],
    );
  });
});
