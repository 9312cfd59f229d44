// Levels as they are typed: a number and what it counts. What they mean is decided by the service; here they become what is
// sent, and the price that they would be, so that it can be said beside the field.

import Big from 'big.js';
import { figure } from '../numbers.ts';

export type Unit = 'price' | 'percent' | 'ticks' | 'points';

export interface LevelText {
  readonly text: string;
  readonly unit: Unit;
}

/** What a level is counted from, and on which side it lies. */
export interface Ground {
  readonly isLong: boolean;
  /** The average price, or where nothing is held yet, the last one; null: not known. */
  readonly entry: number | null;
  readonly last: number | null;
  /** null: not known (yet). */
  readonly tick: number | null;
}

export type Leg = 'stop' | 'target';

const SUFFIXES: Readonly<Record<Unit, string>> = { price: '', percent: '%', ticks: 't', points: 'p' };
const PLAIN = /^(?:\d+\.?\d*|\.\d+)$/;
const MOST_DIGITS = 15;

export const isEmpty = ({ text }: LevelText): boolean => text.trim() === '';
/** The service's own word: there is to be none, also where the account has one by default. */
export const NONE = 'none';
export const isNone = ({ text }: Pick<LevelText, 'text'>): boolean => text.trim().toLowerCase() === NONE;
/** Something is asked for. */
export const isGiven = (level: LevelText): boolean => !isEmpty(level) && !isNone(level);

/** Above zero, and as exact as it can be sent; null: it is none. */
export function amountOf(text: string): Big | null {
  const plain = text.trim();
  if (!PLAIN.test(plain)) return null;
  const value = new Big(plain);
  return value.gt(0) && value.c.length <= MOST_DIGITS ? value : null;
}

/** As it is sent: a price as a number, a distance with its unit. */
export function levelOf({ text, unit }: LevelText): number | string | null {
  if (isNone({ text })) return NONE;
  const amount = amountOf(text);
  if (amount === null) return null;
  return unit === 'price' ? amount.toNumber() : `${amount.toFixed()}${SUFFIXES[unit]}`;
}

const BY_SUFFIX: Readonly<Record<string, Unit>> = { '%': 'percent', t: 'ticks', p: 'points' };

/** As it is sent → as it is typed. */
export function levelFrom(level: unknown): LevelText {
  if (typeof level === 'number') return { text: new Big(level).toFixed(), unit: 'price' };
  const text = typeof level === 'string' ? level : '';
  const unit = BY_SUFFIX[text.slice(-1)];
  if (isNone({ text })) return { text, unit: 'percent' };
  return unit ? { text: text.slice(0, -1), unit } : { text, unit: text === '' ? 'percent' : 'price' };
}

const DISTANCE = /^\+?\s*([\d.]+)\s*(%|t|ticks?|p|points?)?$/i;

/** A distance in one field: `2 ticks`, `0.1 %`, `5 points`; a number alone counts ticks. null: it is none. */
export function distanceFrom(text: string): LevelText | null {
  const [, amount = '', unit = 't'] = DISTANCE.exec(text.trim()) ?? [];
  return amountOf(amount) === null
    ? null
    : { text: amount, unit: BY_SUFFIX[unit.charAt(0).toLowerCase()] ?? 'ticks' };
}

/** Where it would stand, on the tick, rounded towards the entry; null: not known, or there is no such price. */
export function priceOf(level: LevelText, leg: Leg, { isLong, entry, tick }: Ground): number | null {
  const amount = amountOf(level.text);
  if (amount === null) return null;
  if (level.unit === 'price') return onTick(amount, entry, tick);
  const away = distanceOf(level, { entry, tick });
  if (away === null || entry === null) return null;
  const exact = isLong === (leg === 'target') ? away.plus(entry) : new Big(entry).minus(away);
  return exact.gt(0) ? onTick(exact, entry, tick) : null;
}

function onTick(exact: Big, entry: number | null, tick: number | null): number {
  if (tick === null || tick === 0 || entry === null) return exact.toNumber();
  const below = exact.minus(exact.mod(tick));
  if (below.eq(exact)) return exact.toNumber();
  return (exact.lt(entry) ? below.plus(tick) : below).toNumber();
}

/** In units of the price; null: not known. */
function distanceOf(level: LevelText, { entry, tick }: Pick<Ground, 'entry' | 'tick'>): Big | null {
  const amount = amountOf(level.text);
  if (amount === null) return null;
  if (level.unit === 'points') return amount;
  if (level.unit === 'ticks') return tick === null ? null : amount.times(tick);
  return entry === null ? null : amount.times(entry).div(100);
}

/** What is wrong with it, beside its field; null: nothing that can be seen from here. */
export function levelProblem(level: LevelText, leg: Leg, ground: Ground): string | null {
  if (!isGiven(level)) return null;
  if (amountOf(level.text) === null) return numberProblem(level.text);
  const price = priceOf(level, leg, ground);
  const { isLong, last, entry } = ground;
  if (level.unit === 'percent' && price === null && entry !== null)
    return 'There is no price above zero so far away.';
  if (price === null || last === null) return null;
  const isBelow = isLong === (leg === 'stop');
  if (isBelow ? price < last : price > last) return null;
  const where = isBelow ? 'below' : 'above';
  return `The ${leg} of a ${isLong ? 'long' : 'short'} position lies ${where} the last price, ${figure(last)}.`;
}

/** Of one that may lie anywhere: how far a stop trails, and from where on. */
export function distanceProblem(level: LevelText): string | null {
  return !isGiven(level) || amountOf(level.text) !== null ? null : numberProblem(level.text);
}

const numberProblem = (text: string): string =>
  text.includes(',')
    ? 'Write it with a decimal point and without commas, such as 65200.5.'
    : 'A number above zero, of at most 15 digits.';
