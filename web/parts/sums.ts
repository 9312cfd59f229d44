// Sums of money: one for each currency, and never one of several.

import { plus } from './exact.ts';
import { money } from './numbers.ts';

export interface Sum {
  readonly currency: string;
  readonly value: number;
  /** With its sign, as of a profit. */
  readonly text: string;
}

/** In the order in which the currencies came: `+18.96 USDT, +5,400 TWD`. */
export function sumsByCurrency(
  amounts: readonly { readonly value: number | null; readonly currency: string | null }[],
): readonly Sum[] {
  const sums = new Map<string, number>();
  for (const { value, currency } of amounts)
    if (value !== null && currency !== null) sums.set(currency, plus(sums.get(currency) ?? 0, value));
  return [...sums].map(([currency, value]) => ({ currency, value, text: money(value) }));
}

/** Of what is no profit: an amount. */
export const unsigned = (sums: readonly Sum[]): readonly Sum[] =>
  sums.map((sum) => ({ ...sum, text: sum.text.replace('+', '') }));
