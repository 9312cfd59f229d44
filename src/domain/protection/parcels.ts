// What is wanted at the broker, in quantities: the stop of what is held, and the targets' parts of it. Where the broker reserves what an
// order would close, each target has its own part of the stop beside it, and the stop alone has the rest.

import {
  add,
  compare,
  type Decimal,
  decimal,
  downTo,
  multiply,
  smaller,
  subtract,
  ZERO,
} from '../decimal.ts';
import { closedBy, isPositive, type Protection } from './protection.ts';

/** Of one order at the broker. */
export interface Parcel {
  /** 0: the stop; 1 to 5: that target. */
  readonly level: number;
  readonly quantity: Decimal;
  readonly limit: Decimal | null;
  readonly stop: Decimal | null;
}

export interface Terms {
  readonly quantityStep: Decimal;
  readonly minQuantity: Decimal;
  readonly reserves: boolean;
  /** What a stop that reserves nothing is for; absent: what is held. */
  readonly stopped?: Decimal;
  /** Targets that cannot stand now: what they would close is the stop's. */
  isOut?(level: number): boolean;
}

const HUNDRED = decimal(100);
const PERCENT = decimal('0.01');

export function parcels(protection: Protection, held: Decimal, terms: Terms): readonly Parcel[] {
  if (!isPositive(held)) return [];
  const { isOut = () => false, reserves, stopped = held } = terms;
  const price = protection.stop?.price ?? null;
  const targets = targetParcels(protection, held, terms).filter(({ level }) => !isOut(level));
  const parts = targets.reduce<Decimal>((sum, { quantity }) => add(sum, quantity), ZERO);
  const rest = reserves ? subtract(held, parts) : stopped;
  return [
    ...(price === null || !isPositive(rest) ? [] : [{ level: 0, quantity: rest, limit: null, stop: price }]),
    ...targets.map((target) => ({ ...target, stop: reserves ? price : null })),
  ];
}

function targetParcels(
  protection: Protection,
  held: Decimal,
  terms: Pick<Terms, 'quantityStep' | 'minQuantity'>,
): readonly Parcel[] {
  const { targets } = protection;
  const shares = targetShares(
    targets.map((target, index) => ({ ...target, closed: closedBy(protection, index + 1) })),
    held,
    terms,
  );
  return targets.flatMap(({ price }, index) => {
    const quantity = shares[index] ?? ZERO;
    return isPositive(quantity) ? [{ level: index + 1, quantity, limit: price, stop: null }] : [];
  });
}

interface Share {
  /** Of what is held and what all of them have closed. */
  readonly percent: Decimal;
  readonly closed: Decimal;
  readonly isFilled: boolean;
}

/**
 * How much each target is to close now; 0: nothing stands for it. Below the least quantity a level joins the next, and what the last ones
 * cannot take alone the one before them takes. Where they are to close everything, the last takes the rest.
 */
export function targetShares(
  targets: readonly Share[],
  held: Decimal,
  { quantityStep: step, minQuantity }: Pick<Terms, 'quantityStep' | 'minQuantity'>,
): readonly Decimal[] {
  const base = targets.reduce<Decimal>((sum, { closed }) => add(sum, closed), held);
  const sum = targets.reduce<Decimal>((total, { percent }) => add(total, percent), ZERO);
  const last = targets.findLastIndex(({ isFilled }) => !isFilled);
  let free = held;
  let waiting: Decimal = ZERO;
  const shares = targets.map(({ percent, closed, isFilled }, index) => {
    if (isFilled) return ZERO;
    const own = subtract(multiply(multiply(base, percent), PERCENT), closed);
    const asked = add(waiting, isPositive(own) ? own : ZERO);
    const takesRest = index === last && compare(sum, HUNDRED) === 0;
    const quantity = takesRest ? free : smaller(downTo(asked, step), free);
    const isEnough = isPositive(quantity) && compare(quantity, minQuantity) >= 0;
    waiting = isEnough ? ZERO : takesRest ? free : asked;
    if (!isEnough) return ZERO;
    free = subtract(free, quantity);
    return quantity;
  });
  const left = smaller(downTo(waiting, step), free);
  const before = shares.findLastIndex(isPositive);
  return isPositive(left)
    ? shares.map((share, index) => (index === before ? add(share, left) : share))
    : shares;
}

/** What has joined a later level that is filled, or is less than anybody takes, is filled too: nothing more comes of it. */
export function settledTargets(
  protection: Protection,
  held: Decimal,
  terms: Pick<Terms, 'quantityStep' | 'minQuantity'>,
): Protection {
  const { targets, legs } = protection;
  const wanted = targetParcels(protection, held, terms);
  const isOver = (level: number): boolean =>
    !wanted.some((parcel) => parcel.level === level) &&
    !legs.some((leg) => leg.level === level) &&
    (isPositive(closedBy(protection, level)) || targets.slice(level).some(({ isFilled }) => isFilled));
  if (!targets.some(({ isFilled }, index) => !isFilled && isOver(index + 1))) return protection;
  return {
    ...protection,
    targets: targets.map((target, index) => (isOver(index + 1) ? { ...target, isFilled: true } : target)),
  };
}
