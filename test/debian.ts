// Installs a Debian package for a test, where there is a Debian and we may.

import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** The text of the fault says what is missing and why. */
export function installPackage(name: string): void {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    throw new Error(`apt-get install ${name}`);
  // Debian would start a server of its own right after the installation; this file is how one says no.
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const wait = ['-o', 'DPkg::Lock::Timeout=300'];
    execFileSync('apt-get', ['update', '-q', ...wait], { env, stdio: 'pipe' });
    execFileSync('apt-get', ['install', '-y', '-q', ...wait, name], { env, stdio: 'pipe' });
  } catch (error) {
    throw new Error(`apt-get install ${name} failed: ${(error as Error).message}`);
  } finally {
    if (ours) rmSync(policy, { force: true });
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
