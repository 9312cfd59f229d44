// Prometheus' own tool, from Debian's package.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { installPackage, isHalfInstalled } from './debian.ts';

const PROMTOOL = '/usr/bin/promtool';

/** What it says, and whether it is content; or what is missing for it. */
export function openPromtool():
  | { readonly run: (...args: string[]) => { readonly isContent: boolean; readonly says: string } }
  | { readonly missing: string } {
  try {
    if (!existsSync(PROMTOOL) || isHalfInstalled('prometheus')) installPackage('prometheus');
  } catch (fault) {
    return { missing: `needs promtool: ${(fault as Error).message}` };
  }
  return {
    run(...args) {
      try {
        return { isContent: true, says: execFileSync(PROMTOOL, args, { encoding: 'utf8', stdio: 'pipe' }) };
      } catch (fault) {
        const { stdout, stderr } = fault as { stdout?: string; stderr?: string };
        return { isContent: false, says: `${stdout}${stderr}` };
      }
    },
  };
}
