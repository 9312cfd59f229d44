// What would stand for a position: the legs of its protection with their prices and quantities, in words too, as `plan` and
// `check` show them; and whether the market lets them stand.

import { compare, type Decimal, sign, ZERO } from '../decimal.ts';
import type { Direction } from '../orders/order.ts';
import { stopOfTrail } from './adopt.ts';
import { distanceOf, type Level, levelText, priceOf } from './level.ts';
import { targetShares } from './parcels.ts';
import { isBetter, type Protection } from './protection.ts';
import { breakEvenPrice, isGiven, type ProtectionField, type Wish } from './wish.ts';

/** What is protected, as it would be. */
export interface Protected {
  readonly side: Direction;
  /** What distances count from. */
  readonly entry: Decimal;
  /** Without a sign. */
  readonly held: Decimal;
  readonly tick: Decimal;
  readonly step: Decimal;
  /** The least quantity of an order. */
  readonly least: Decimal;
  /** What is wanted of it already; absent: nothing that counts. */
  readonly kept?: Pick<Protection, 'stop' | 'trail'> | null;
}

export interface PlannedLeg {
  readonly leg: 'stop' | 'target';
  readonly price: Decimal;
  readonly quantity: Decimal;
  /** In words. */
  readonly how: string;
  /** By which field it was asked for, and how: for whoever refuses it. */
  readonly field: ProtectionField;
  readonly said: string;
}

export interface PlannedProtection {
  /** The stop first. */
  readonly legs: readonly PlannedLeg[];
  /** What is made by us, and stands nowhere: in words. */
  readonly also: readonly string[];
}

/** `problem`: for `invalid_protection`. */
export function planProtection(wish: Wish, on: Protected): PlannedProtection | { readonly problem: string } {
  const legs = [...stopOf(wish, on), ...targetsOf(wish, on)];
  const nowhere = [...legs, ...watchedOf(wish, on)].find(({ price }) => price === null);
  if (nowhere) {
    const { field, said } = nowhere;
    return {
      problem: `"${field}" is ${said}: from an entry at ${on.entry} there is no price above zero so far away. Send a smaller distance.`,
    };
  }
  return {
    legs: legs.flatMap((leg) => (leg.price === null ? [] : [{ ...leg, price: leg.price }])),
    also: followed(wish, on),
  };
}

/** Whose price may lie nowhere. */
type Sought = Omit<PlannedLeg, 'price'> & { readonly price: Decimal | null };

/** A trailing stop without a stop begins at its own distance; one that stays where the stop is taken away is where it has come to. */
function stopOf({ stop, trail }: Wish, on: Protected): readonly Sought[] {
  // The stop that stands is the first one of what trails from now on.
  if (stop === undefined && on.kept?.stop) return [];
  if (stop === 'none' && trail === undefined) return trailedOf(on);
  const level = isGiven(stop) ? stop : isGiven(trail) ? trail.distance : null;
  const field = isGiven(stop) ? 'stop_loss' : 'trailing_stop';
  if (level === null) return [];
  const price = priceOf(level, { ...on, leg: 'stop' });
  const said = levelText(level);
  const nearer = isGiven(stop) ? null : trailedNearer(price, on);
  if (nearer) return [{ ...closing(nearer, '', on), field, said }];
  return [{ ...closing(price, away(level, 'stop', on), on), field, said }];
}

/** Where a trail has brought the stop already, and it does not go back. null: not so near. */
function trailedNearer(price: Decimal | null, { kept, side }: Protected): Decimal | null {
  const stop = kept?.stop;
  return stop?.kind === 'trailing_stop' && (price === null || isBetter(side, stop.price, price))
    ? stop.price
    : null;
}

function trailedOf(on: Protected): readonly Sought[] {
  const { kept, side, tick } = on;
  if (!kept?.trail) return [];
  const { price } = stopOfTrail(kept.trail, { ...kept, side }, tick, false);
  const said = levelText({ unit: 'points', value: kept.trail.distance });
  return [{ ...closing(price, '', on), field: 'trailing_stop', said }];
}

const closing = (price: Decimal | null, where: string, { side, held }: Protected) => ({
  ...{ leg: 'stop' as const, price, quantity: held },
  how: `Closes all ${held} at the market once the price ${side === 'long' ? 'falls' : 'rises'} to ${price}${where}.`,
});

function targetsOf({ targets }: Wish, on: Protected): readonly Sought[] {
  if (!isGiven(targets)) return [];
  const { side, held, step, least } = on;
  const fresh = targets.map(({ percent }) => ({ percent, closed: ZERO, isFilled: false }));
  const quantities = targetShares(fresh, held, { quantityStep: step, minQuantity: least });
  return targets.flatMap(({ at }, index): Sought[] => {
    const quantity = quantities[index] ?? ZERO;
    if (sign(quantity) === 0) return [];
    const price = priceOf(at, { ...on, leg: 'target' });
    const what = compare(quantity, held) === 0 ? `all ${held}` : `${quantity} of ${held}`;
    const how = `${side === 'long' ? 'Sells' : 'Buys back'} ${what} at ${price} or better${away(at, 'target', on)}.`;
    return [{ leg: 'target', price, quantity, how, field: 'take_profit', said: levelText(at) }];
  });
}

/** What no order stands for, until the price was there. */
function watchedOf(
  { trail, breakEven }: Wish,
  on: Protected,
): readonly Pick<Sought, 'field' | 'said' | 'price'>[] {
  const winning = (field: ProtectionField, level: Level) => ({
    field,
    said: levelText(level),
    price: priceOf(level, { ...on, leg: 'target' }),
  });
  const even = isGiven(breakEven) ? breakEven : null;
  return [
    ...(isGiven(trail) && trail.activateAt ? [winning('trailing_stop', trail.activateAt)] : []),
    ...(even && even.at !== 'tp1' ? [winning('break_even', even.at)] : []),
    ...(even ? [winning('break_even', even.offset ?? { unit: 'price', value: on.entry })] : []),
  ];
}

/** ", 2% below the entry at 64000". */
function away(level: Level, leg: 'stop' | 'target', { side, entry }: Protected): string {
  if (level.unit === 'price') return '';
  const where = (side === 'long') === (leg === 'target') ? 'above' : 'below';
  const { unit, value } = level;
  const far = unit === 'percent' ? `${value}%` : `${value} ${value === '1' ? unit.slice(0, -1) : unit}`;
  return `, ${far} ${where} the entry at ${entry}`;
}

function followed({ trail, breakEven, timeStop }: Wish, on: Protected): readonly string[] {
  const words: string[] = [];
  const winning = (level: Level) => priceOf(level, { ...on, leg: 'target' });
  if (isGiven(trail)) {
    const begins = trail.activateAt ? `Once the price was at ${winning(trail.activateAt)}, the` : 'The';
    words.push(
      `${begins} stop follows the best price at a distance of ${distanceOf(trail.distance, on)}, and never back.`,
    );
  }
  if (isGiven(breakEven)) {
    const once =
      breakEven.at === 'tp1' ? 'the first target is filled' : `the price was at ${winning(breakEven.at)}`;
    words.push(`Once ${once}, the stop goes to ${breakEvenPrice(breakEven, on)}.`);
  }
  if (isGiven(timeStop)) {
    const when =
      'seconds' in timeStop
        ? `${timeStop.seconds} s after the first fill`
        : `at the next ${timeStop.time} in ${timeStop.zone} after the first fill`;
    words.push(`Closes the position at the market ${when}.`);
  }
  return words;
}

export interface Market {
  readonly bid: Decimal;
  readonly ask: Decimal;
}

/** Why the market does not let the legs stand, for `invalid_protection`; null: it does. */
export function whyAgainstMarket(
  legs: readonly PlannedLeg[],
  side: Direction,
  market: Market,
): string | null {
  for (const leg of legs) {
    const why = whyAgainst(leg, side, market);
    if (why !== null) return why;
  }
  return null;
}

function whyAgainst(
  { leg, price, field, said }: PlannedLeg,
  side: Direction,
  { bid, ask }: Market,
): string | null {
  const isBelow = (side === 'long') === (leg === 'stop');
  const isRight = isBelow ? compare(price, bid) < 0 : compare(price, ask) > 0;
  if (isRight) return null;
  const isWrong = isBelow ? compare(price, ask) >= 0 : compare(price, bid) <= 0;
  // Inside the spread a target rests.
  if (leg === 'target' && !isWrong) return null;
  const value = `"${field}" is ${said === price ? price : `${said}, which is ${price},`}`;
  const is = `and the market is at ${bid} (bid) and ${ask} (ask)`;
  if (!isWrong) return `${value} ${is}: a stop inside the spread would close the position at once.`;
  const where = isBelow ? 'below' : 'above';
  return `${value} ${is}: the ${leg} of a ${side} position lies ${where} the market.`;
}
