// Installs a Debian package for a test, where there is a Debian and we may.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Test files run side by side, and apt's own lock does not cover its lists: one of us at a time, and once is enough.
// Debian would start a server of its own right after the installation; policy-rc.d is how one says no.
const INSTALL = `
  dpkg-query -W -f='\${Status}' "$1" 2>/dev/null | grep -q 'ok installed' && exit 0
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\\nexit 101\\n' >"$policy"
    chmod 755 "$policy"
  fi
  apt-get update -q -o DPkg::Lock::Timeout=300 &&
    apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$1"`;

/** The text of the fault says what is missing and why. */
export function installPackage(name: string): void {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    throw new Error(`apt-get install ${name}`);
  const lock = join(tmpdir(), 'fillpath-install.lock');
  try {
    execFileSync('flock', [lock, 'sh', '-c', INSTALL, 'sh', name], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'pipe',
    });
  } catch (error) {
    throw new Error(`apt-get install ${name} failed: ${(error as Error).message}`);
  }
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own
const STATUS = '-f=${Status}';

/** Another process is installing it just now: its files are there, and may not work yet. */
export function isHalfInstalled(name: string): boolean {
  try {
    const status = execFileSync('dpkg-query', ['-W', STATUS, name], { encoding: 'utf8', stdio: 'pipe' });
    return /half|unpacked|triggers/.test(status);
  } catch {
    // No Debian, or not its package.
    return false;
  }
}
