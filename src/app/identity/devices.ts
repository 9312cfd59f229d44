// A device that its user has logged in with before carries a token that says so. It opens nothing. It only has tries of
// its own, so that strangers who guess cannot lock its user out; and it ends with the password that was right then, or when
// everything does that opens the user's doors.

import { randomUUID } from 'node:crypto';
import type { UserCredentials } from '../../data/accounts/credentials.ts';
import { hashToken, type Tokens } from './tokens.ts';

export const DEVICE_MS = 180 * 86_400_000;

/** Which password was right, and since when: with another one, or another day, what was proven by it is worth nothing. */
export const stampOf = ({ passwordHash, securedAt }: UserCredentials): string =>
  hashToken(passwordHash + (securedAt ?? '')).slice(0, 32);

/** The device's id; null: a stranger, as far as this user is concerned. */
export function knownDevice(
  { tokens }: { readonly tokens: Tokens },
  token: string | undefined,
  owner: UserCredentials | null,
): string | null {
  const claims = token && owner ? tokens.read('device', token) : null;
  if (!claims || claims.user !== owner?.user.id || claims.stamp !== stampOf(owner)) return null;
  return claims.device ?? null;
}

/** A device that is known already stays the same one: logging in again and again gives it no more tries. */
export const deviceToken = (
  { tokens }: { readonly tokens: Tokens },
  owner: UserCredentials,
  device: string | null,
): string =>
  tokens.issue(
    'device',
    { user: owner.user.id, session: null, stamp: stampOf(owner), device: device ?? randomUUID() },
    DEVICE_MS,
  );
