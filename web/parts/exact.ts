// Sums of quantities, exact: a double carries every decimal of 15 digits, but 0.1 and 0.2 make 0.30000000000000004.

import Big from 'big.js';

export const plus = (a: number, b: number): number => new Big(a).plus(b).toNumber();
export const minus = (a: number, b: number): number => new Big(a).minus(b).toNumber();
export const times = (a: number, b: number): number => new Big(a).times(b).toNumber();
export const isMultipleOf = (value: number, step: number): boolean =>
  step === 0 || new Big(value).mod(step).eq(0);

/** Without an exponent, as somebody would type it. */
export const typed = (value: number): string => new Big(value).toFixed();

/** As the API: more would be rounded on the way. */
const MOST_DIGITS = 15;
const PLAIN = /^(?:\d+\.?\d*|\.\d+)$/;

/** What somebody typed; null: no number above zero that can be sent exactly. */
export function readQuantity(text: string): number | null {
  const plain = text.trim();
  if (!PLAIN.test(plain)) return null;
  const value = new Big(plain);
  return value.gt(0) && value.c.length <= MOST_DIGITS ? value.toNumber() : null;
}
