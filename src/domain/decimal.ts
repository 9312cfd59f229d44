// Exact decimals. Inside the service a quantity or a price is a canonical decimal string ("1", "0.05", "-3"):
// it can be stored, compared for equality and shown as it stands. Arithmetic goes through whole numbers where those of a
// double are enough, as nearly always, and else through Big: exact either way.

import Big from 'big.js';

declare const brand: unique symbol;
export type Decimal = string & { readonly [brand]: 'decimal' };

/** A double carries every decimal of up to 15 significant digits exactly; more are refused at the door. */
const MAX_SIGNIFICANT_DIGITS = 15;
/** Beyond these magnitudes nobody trades; the bound keeps a hostile "1e300" from becoming a 300-digit string. */
const MAX_EXPONENT = 15;

const NUMERAL = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?$/;

/** A number as one writes it, whether or not we can carry it. */
export const isNumeral = (text: string): boolean => NUMERAL.test(text);

/** A decimal as it is kept already: most values are read back, and need no arithmetic. */
const KEPT = /^(?:0|-?(?:[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9]))$/;

export const canonical = (value: Big): Decimal => {
  const text = value.toFixed();
  return (text === '-0' ? '0' : text) as Decimal;
};

/** Reads a number's source text; null where it is no number that we can carry exactly. */
export function parseDecimal(text: string): Decimal | null {
  if (text.length <= MAX_SIGNIFICANT_DIGITS && KEPT.test(text)) return text as Decimal;
  if (text.length > 64 || !NUMERAL.test(text)) return null;
  const value = new Big(text);
  if (value.c.length > MAX_SIGNIFICANT_DIGITS) return null;
  if (value.e > MAX_EXPONENT || value.e < -MAX_EXPONENT) return null;
  return canonical(value);
}

/** For literals and values read back from the database, which are decimals by construction. */
export const decimal = (value: string | number | Big): Decimal =>
  typeof value === 'string' && KEPT.test(value) ? (value as Decimal) : canonical(new Big(value));

export const decimalOrNull = (text: string | null): Decimal | null => (text === null ? null : decimal(text));

export const ZERO = decimal(0);
export const ONE = decimal(1);

/** So long a text has no more digits than a double keeps apart. */
const isShort = (a: Decimal): boolean => a.length <= MAX_SIGNIFICANT_DIGITS;
/** Up to here a double is nearer to the whole number that is meant than to any other. */
const MOST = 1e15;
const POWERS = Array.from({ length: MAX_SIGNIFICANT_DIGITS }, (_, places) => Number(`1e${places}`));

/** Behind the point. */
function placesOf(a: Decimal): number {
  const point = a.indexOf('.');
  return point === -1 ? 0 : a.length - point - 1;
}

/** How many there are of the smallest unit with so many places. */
const unitsOf = (a: Decimal, places: number): number => Math.round(Number(a) * (POWERS[places] as number));

/** null: too many to be exact. */
function ofUnits(units: number, places: number): Decimal | null {
  if (units > MOST || units < -MOST) return null;
  let [left, behind] = [Math.abs(units), places];
  if (left === 0) return ZERO;
  for (; behind > 0 && left % 10 === 0; behind--) left /= 10;
  const digits = `${left}`.padStart(behind + 1, '0');
  const point = digits.length - behind;
  const text = behind === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return (units < 0 ? `-${text}` : text) as Decimal;
}

/** In units of both, where they are exact. */
function inUnits(a: Decimal, b: Decimal, sum: (a: number, b: number) => number): Decimal | null {
  if (!isShort(a) || !isShort(b)) return null;
  const places = Math.max(placesOf(a), placesOf(b));
  const [units, others] = [unitsOf(a, places), unitsOf(b, places)];
  return Math.abs(units) > MOST || Math.abs(others) > MOST ? null : ofUnits(sum(units, others), places);
}

export const add = (a: Decimal, b: Decimal): Decimal =>
  inUnits(a, b, (units, others) => units + others) ?? canonical(new Big(a).plus(b));
export const subtract = (a: Decimal, b: Decimal): Decimal =>
  inUnits(a, b, (units, others) => units - others) ?? canonical(new Big(a).minus(b));

export function multiply(a: Decimal, b: Decimal): Decimal {
  const [places, others] = [placesOf(a), placesOf(b)];
  const units = isShort(a) && isShort(b) ? unitsOf(a, places) * unitsOf(b, others) : Number.POSITIVE_INFINITY;
  return ofUnits(units, places + others) ?? canonical(new Big(a).times(b));
}

// The text of a decimal tells its sign: "0" is the one zero.
export const sign = (a: Decimal): -1 | 0 | 1 => (a === ZERO ? 0 : a.startsWith('-') ? -1 : 1);
export const negate = (a: Decimal): Decimal =>
  (a === ZERO ? a : a.startsWith('-') ? a.slice(1) : `-${a}`) as Decimal;
export const absolute = (a: Decimal): Decimal => (sign(a) < 0 ? negate(a) : a);
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  if (a === b) return 0;
  if (!isShort(a) || !isShort(b)) return new Big(a).cmp(b);
  return Number(a) < Number(b) ? -1 : 1;
}
export const isWhole = (a: Decimal): boolean => !a.includes('.');
/** Where both are positive. */
export const isOnStep = (amount: Decimal, step: Decimal): boolean =>
  (inUnits(amount, step, (units, others) => units % others) ?? canonical(new Big(amount).mod(step))) === ZERO;
/** Where both are positive: the greatest multiple of the step that is not above the amount. */
export const downTo = (amount: Decimal, step: Decimal): Decimal =>
  subtract(amount, canonical(new Big(amount).mod(step)));
/** Where all are positive: the greatest multiple of the step of which so many, at that much each, are not above the amount. */
export function shareDown(amount: Decimal, each: Decimal, step: Decimal): Decimal {
  const one = new Big(each).times(step);
  const whole = new Big(amount).minus(new Big(amount).mod(one));
  return canonical(whole.div(one).times(step));
}
export const smaller = (a: Decimal, b: Decimal): Decimal => (compare(a, b) <= 0 ? a : b);

/** So that a double shows it exactly. */
export const rounded = (value: Decimal | Big): Decimal => {
  if (typeof value === 'string' && isShort(value)) return value;
  const exact = new Big(value);
  return canonical(exact.c.length > MAX_SIGNIFICANT_DIGITS ? exact.prec(MAX_SIGNIFICANT_DIGITS) : exact);
};

/** The average of fills is the one division we make, and rounded. */
export const average = (total: Decimal, count: Decimal): Decimal => rounded(new Big(total).div(count));

/** How a decimal leaves the service: as a JSON number. */
export const toNumber = (value: Decimal): number => Number(value);
export const toNumberOrNull = (value: Decimal | null): number | null =>
  value === null ? null : Number(value);
