// What the broker's answer to a leg means for the protection.

import { type ClientOrderId, millis, timestamp } from '../ids.ts';
import { type Protection, type ProtectiveLeg, refusedOnceMore } from './protection.ts';
import { withLeg } from './recognise.ts';
import type { Room, Rules } from './step.ts';

/** The broker has it, under this of our ids; whether it stands is seen by looking. */
export function taken(
  protection: Protection,
  leg: ProtectiveLeg,
  { clientOrderId, brokerRef }: { readonly clientOrderId: ClientOrderId; readonly brokerRef: string | null },
  from: ProtectiveLeg | null = null,
): Protection {
  // A target keeps its own name at the broker: what was moved is the stop beside it.
  const isBeside = from !== null && from.limit !== null;
  const has = { ...leg, brokerRef: isBeside ? from.brokerRef : brokerRef, status: 'taken' } as const;
  if (from === null) return withLeg(protection, leg, has);
  // It was moved: under its first id, or as another one.
  return clientOrderId === from.clientOrderId
    ? withLeg(withLeg(protection, leg, null), from, { ...has, clientOrderId, revision: from.revision })
    : withLeg(withLeg(protection, from, null), leg, has);
}

/** Certainly not taken, and nobody said why: as if it had not been sent. What it was to overwrite stands. */
export function unsent(protection: Protection, leg: ProtectiveLeg): Protection {
  const [former, ...others] = leg.formerIds;
  if (former === undefined) return withLeg(protection, leg, null);
  return withLeg(protection, leg, { ...leg, clientOrderId: former, formerIds: others, status: 'taken' });
}

/** Not moved: it is gone, or the broker does not do it. Another is to take its place. */
export const stuck = (protection: Protection, leg: ProtectiveLeg, from: ProtectiveLeg): Protection => {
  const known = protection.legs.find(({ clientOrderId }) => clientOrderId === from.clientOrderId) ?? from;
  return withLeg(withLeg(protection, leg, null), from, { ...known, isStuck: true });
};

/** A target that is refused closes nothing: it is tried again with the next sweep. A stop is tried again soon. */
export function refused(
  protection: Protection,
  leg: ProtectiveLeg,
  words: string,
  now: number,
  { sweepMs }: Pick<Rules, 'sweepMs'>,
): Protection {
  const without = { ...unsent(protection, leg), reason: words };
  if (leg.limit !== null && leg.status === 'sending' && leg.level > 0)
    return { ...without, targetsAgainAt: timestamp(now + sweepMs) };
  return { ...without, refused: refusedOnceMore(protection.refused, words, timestamp(now)) };
}

/** Beside an order of the other side it is not taken. It is tried again, and nothing is closed for such a refusal; null: it is one like any other. */
export function withRoom(
  protection: Protection,
  leg: ProtectiveLeg,
  room: Room,
  { words, now }: { readonly words: string; readonly now: number },
): Protection | null {
  const without = unsent(protection, leg);
  if (room === 'made') return without;
  if (room === 'none' || leg.stop === null) return null;
  return { ...without, reason: words, refused: refusedOnceMore(null, words, timestamp(now)) };
}

/** The price is beyond it already: what is held is closed at the market, and it is tried on until that is done. */
export const passed = (
  protection: Protection,
  leg: ProtectiveLeg,
  words: string,
  now: number,
  rules: Pick<Rules, 'sweepMs'>,
): Protection => ({
  ...refused(protection, { ...leg, limit: null }, words, now, rules),
  closesFor: protection.stop?.kind ?? 'stop_loss',
});

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
