// The last release, taken out of the repository into a folder of its own.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LAST_RELEASE } from './last-release.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Release {
  readonly folder: string;
  /** Packages that it runs with in another version than it was released with. */
  readonly differences: readonly string[];
  remove(): void;
}

const manifest = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8'));

/** Or why it cannot be had. */
export function takeOut(): Release | { readonly missing: string } {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', ROOT, ...args], { stdio: 'pipe', maxBuffer: 1e9 });
  try {
    git('cat-file', '-e', `${LAST_RELEASE}^{commit}`);
  } catch {
    return {
      missing: `needs the last release, commit ${LAST_RELEASE.slice(0, 12)}, which this clone has not (\`git fetch --unshallow\` gets it)`,
    };
  }
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-release-'));
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', LAST_RELEASE) });
  const { dependencies = {} } = manifest(join(folder, 'package.json'));
  const differences: string[] = [];
  // Ours are linked: installing its own would need a registry, and minutes.
  for (const [name, version] of Object.entries(dependencies)) {
    const file = join(ROOT, 'node_modules', name, 'package.json');
    const ours = existsSync(file) ? manifest(file).version : null;
    if (ours === null || ours.split('.')[0] !== version.split('.')[0]) {
      rmSync(folder, { recursive: true, force: true });
      return {
        missing: `the last release needs ${name} ${version}, and this checkout has ${ours ?? 'none'}: release this version, and name that commit in test/upgrade/last-release.ts`,
      };
    }
    if (ours !== version) differences.push(`${name} ${ours} instead of ${version}`);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return { folder, differences, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
