// What the broker's answer to a leg means for the protection.

import { type ClientOrderId, millis, type Timestamp, timestamp } from '../ids.ts';
import type { Protection, ProtectiveLeg } from './protection.ts';
import { withLeg } from './recognise.ts';
import type { Rules } from './step.ts';

/** The broker has it, under this of our ids; whether it stands is seen by looking. */
export function taken(
  protection: Protection,
  leg: ProtectiveLeg,
  { clientOrderId, brokerRef }: { readonly clientOrderId: ClientOrderId; readonly brokerRef: string | null },
  from: ProtectiveLeg | null = null,
): Protection {
  const has = { ...leg, clientOrderId, brokerRef, status: 'taken' } as const;
  if (from === null) return withLeg(protection, leg, has);
  // It was moved: under its first id, or as another one.
  return clientOrderId === from.clientOrderId
    ? withLeg(withLeg(protection, leg, null), from, { ...has, revision: from.revision })
    : withLeg(withLeg(protection, from, null), leg, has);
}

/** Certainly not taken, and nobody said why: as if it had not been sent. */
export const unsent = (protection: Protection, leg: ProtectiveLeg): Protection =>
  withLeg(protection, leg, null);

/** A target that is refused closes nothing: it is tried again with the next sweep. A stop is tried again soon. */
export function refused(
  protection: Protection,
  leg: ProtectiveLeg,
  words: string,
  now: number,
  { sweepMs }: Pick<Rules, 'sweepMs'>,
): Protection {
  const without = { ...withLeg(protection, leg, null), reason: words };
  if (leg.stop === null) return { ...without, targetsAgainAt: timestamp(now + sweepMs) };
  const at: Timestamp = timestamp(now);
  const before = protection.refused;
  return {
    ...without,
    refused: { times: (before?.times ?? 0) + 1, firstAt: before?.firstAt ?? at, lastAt: at, words },
  };
}

/** The broker cannot be asked: what stands there stands, and what does not is told once it has lasted. */
export function unasked(
  protection: Protection,
  words: string,
  { now, protectMs }: { readonly now: number; readonly protectMs: number },
): Protection {
  const { unprotectedSince } = protection;
  const isLong = unprotectedSince !== null && now - millis(unprotectedSince) >= protectMs;
  return isLong ? { ...protection, state: 'unprotected', reason: words } : protection;
}
