// Where a strategy stands: what its alerts say of its own position, and what follows from it. Per account, symbol and mode
// we keep what the last genuine alert said; the next one shows whether one was missed in between.

import {
  absolute,
  compare,
  type Decimal,
  downTo,
  multiply,
  negate,
  ONE,
  sign,
  subtract,
  ZERO,
} from '../decimal.ts';

export const STANCE_SIDES = ['long', 'short', 'flat'] as const;
export type StanceSide = (typeof STANCE_SIDES)[number];

/** A side, and its size where it was said. Flat is of the size 0. */
export interface Stance {
  readonly side: StanceSide;
  readonly size: Decimal | null;
}

/** What an alert says of the strategy's position, before and after itself; null: it does not say. */
export interface StrategyWord {
  readonly before: Stance | null;
  readonly after: Stance | null;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** Of the signal by which the strategy stands there: an alert's fingerprint, or a report's as `printOfReport`; null: it has none. */
  readonly print: string | null;
}

const REPORTED = 'sync ';

/** Told apart from an alert's: a report moves nothing by itself. */
export const printOfReport = (print: string | null): string | null => print && `${REPORTED}${print}`;

/** By reports alone: the alert that took the strategy there has not come. */
export const isByReport = ({ print }: StrategyWord): boolean => print?.startsWith(REPORTED) ?? false;

/** Signed; null: the side alone is known. */
export function positionOf({ side, size }: Stance): Decimal | null {
  if (side === 'flat') return ZERO;
  return size === null ? null : side === 'long' ? size : negate(size);
}

/** What protection has closed of a strategy's position since the strategy was last flat, or on the other side. */
export interface Stopped {
  readonly quantity: Decimal;
  /** Nothing was left. */
  readonly isAll: boolean;
}

/** How an account takes what its strategy says: times a factor, rounded down to its instrument's step. */
export interface Scale {
  readonly factor: Decimal;
  /** null: nobody has asked the broker yet. */
  readonly step: Decimal | null;
}

/** Signed: where the account stands when the strategy does there. What is not multiplied is not rounded. */
export function scaledPosition(position: Decimal, scale: Scale): Decimal {
  return scale.factor === ONE ? position : roundedTo(multiply(position, scale.factor), scale);
}

/** Towards nothing. */
function roundedTo(position: Decimal, { step }: Scale): Decimal {
  const size = step === null ? absolute(position) : downTo(absolute(position), step);
  return sign(position) < 0 ? negate(size) : size;
}

/** Signed: where the account is to stand by that word, less what protection has closed; null: the side alone is known. */
export function countedPosition(stance: Stance, stopped: Stopped | null, scale: Scale): Decimal | null {
  const position = positionOf(stance);
  if (stopped === null) return position && scaledPosition(position, scale);
  if (stopped.isAll) return ZERO;
  if (position === null) return null;
  const whole = scaledPosition(position, { ...scale, step: null });
  const left = lessStopped(whole, stopped);
  return scale.factor === ONE ? left : roundedTo(left, scale);
}

/** `counted`: of that word. What is multiplied is met by less than a step; flat is flat. */
export const isMetBy = (
  held: Decimal,
  counted: Decimal,
  { side }: Stance,
  { factor, step }: Scale,
): boolean =>
  held === counted ||
  (factor !== ONE &&
    step !== null &&
    side !== 'flat' &&
    compare(absolute(subtract(counted, held)), step) < 0);

/** Towards nothing, and not beyond. */
export function lessStopped(position: Decimal, { quantity, isAll }: Stopped): Decimal {
  const left = subtract(absolute(position), quantity);
  if (isAll || sign(left) <= 0) return ZERO;
  return sign(position) < 0 ? negate(left) : left;
}

/** Since the last word it has been neither flat nor on the other side: what protection closed stays closed. */
export const staysOnSide = (last: StrategyWord, { before, after }: StrategyWord): boolean =>
  after !== null &&
  after.side !== 'flat' &&
  after.side === last.after?.side &&
  (before === null || before.side === after.side);

/** Of the sizes only where both said one. */
const isSame = (a: Stance, b: Stance): boolean =>
  a.side === b.side && (a.size === null || b.size === null || compare(a.size, b.size) === 0);

/**
 * An alert never arrived: this one begins where the last one did not end. A `sync` that does not say where it began tells
 * the same by where it stands.
 */
export function hasGap(
  last: StrategyWord | null,
  word: StrategyWord,
  { isSync }: { isSync: boolean },
): boolean {
  if (last !== null && isRepeated(last, word)) return false;
  const began = word.before ?? (isSync ? word.after : null);
  const ended = last?.after ?? null;
  return ended !== null && began !== null && !isSame(ended, began);
}

/**
 * The strategy has said something later already. Of two alerts of one time the one that begins where the other ends is the
 * later; where that decides nothing, the one that arrived later.
 */
export function isSuperseded(last: StrategyWord | null, word: StrategyWord): boolean {
  if (last === null || word.timestamp > last.timestamp) return false;
  if (word.timestamp < last.timestamp) return true;
  return beginsWhere(last, word) && !beginsWhere(word, last);
}

/** The same alert again, whose first delivery came to nothing: nothing was missed in between. */
export const isRepeated = (last: StrategyWord, word: StrategyWord): boolean =>
  word.print !== null && last.print === word.print;

/** It stands elsewhere than the last word said: the alert that took it there has not come. */
export const hasMoved = (last: StrategyWord | null, { after }: StrategyWord): boolean =>
  last !== null && last.after !== null && after !== null && !isSame(last.after, after);

/**
 * The alert that a `sync` of the same second has overtaken: it begins where the strategy stood before both, or, where it does
 * not say that, ends where the `sync` stands.
 */
export function isOvertaken(sync: StrategyWord, { before, after, timestamp }: StrategyWord): boolean {
  if (secondOf(sync.timestamp) !== secondOf(timestamp)) return false;
  if (before !== null) return sync.before !== null && isSame(sync.before, before);
  return sync.after !== null && after !== null && isSame(sync.after, after);
}

/** The platform writes times in whole seconds. */
const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** The one begins where the other ends. */
const beginsWhere = ({ before }: StrategyWord, { after }: StrategyWord): boolean =>
  before !== null && after !== null && isSame(before, after);

/** An account's setting: what becomes of a part of the target that the action does not open. */
export const OUT_OF_SYNC = ['hold', 'follow'] as const;
export type OutOfSync = (typeof OUT_OF_SYNC)[number];
