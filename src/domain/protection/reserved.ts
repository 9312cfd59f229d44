// Where the broker keeps what an order would close, nothing can stand twice: each parcel is an order of its own, and what is wrong
// leaves before what is right takes its place. The gap is real.

import { add, compare, type Decimal, ZERO } from '../decimal.ts';
import type { Parcel } from './parcels.ts';
import { leftOf, type ProtectiveLeg } from './protection.ts';
import type { Recognised } from './recognise.ts';
import { holdOff, move, place, removal, undecidedStop } from './sending.ts';
import type { Facts, Rules, Step } from './step.ts';

interface Standing {
  /** Something of ours closes all that is held, at whatever price. */
  readonly isSafe: boolean;
  readonly held: Decimal;
}

export function nextReserved(
  seen: Recognised,
  layout: readonly Parcel[],
  { isSafe, held }: Standing,
  facts: Facts,
  rules: Rules,
): Step | null {
  const { protection, standing } = seen;
  const parcelOf = (leg: ProtectiveLeg) => layout.find(({ level }) => level === leg.level);
  const isSized = (leg: ProtectiveLeg, parcel: Parcel | undefined) =>
    parcel !== undefined && parcel.limit === leg.limit && parcel.quantity === leftOf(leg);
  /** Of two of one level, one is too many. */
  const isFirst = ({ level, clientOrderId }: ProtectiveLeg) =>
    standing.find((leg) => leg.level === level && !leg.isLeaving)?.clientOrderId === clientOrderId;
  const isRight = (leg: ProtectiveLeg) =>
    isFirst(leg) && isSized(leg, parcelOf(leg)) && parcelOf(leg)?.stop === leg.stop;
  const mayMove = (leg: ProtectiveLeg) => {
    const parcel = parcelOf(leg);
    const hasBoth = leg.stop !== null && parcel !== undefined && parcel.stop !== null;
    const isFree = leg.status === 'standing' && !leg.isLeaving && !leg.isStuck && isFirst(leg);
    return isFree && hasBoth && isSized(leg, parcel);
  };
  const misplaced = standing.find((leg) => mayMove(leg) && !isRight(leg));
  const to = misplaced && parcelOf(misplaced);
  if (facts.able.moves === 'amend' && misplaced && to)
    return holdOff(protection, isSafe, facts, rules) ?? move(protection, misplaced, to, facts);
  const kept = undecidedStop(seen, layout, facts);
  const leaving = removal(
    seen,
    facts,
    (leg) => leg !== kept && leg.status === 'standing' && (leg.isLeaving || !isRight(leg)),
  );
  if (leaving) return leaving;
  const there = protection.legs.filter(({ missingSince }) => missingSince === null);
  const taken = there.reduce<Decimal>((sum, leg) => add(sum, leftOf(leg)), ZERO);
  const missing = layout.find(
    ({ level, quantity }) =>
      !there.some((leg) => leg.level === level) && compare(add(taken, quantity), held) <= 0,
  );
  if (!missing) return null;
  const hold = missing.stop === null ? null : holdOff(protection, isSafe, facts, rules);
  return hold ?? place(protection, missing, facts);
}
