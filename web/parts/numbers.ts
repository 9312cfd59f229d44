// Numbers, sides and counts in words, without markup: one spelling on every page, and in titles and on buttons too. Exact as
// they came: only our own sums of money are rounded.

import Big from 'big.js';

const MINUS = '\u2212';
const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 20, useGrouping: 'always' });

const CENTS = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  useGrouping: 'always',
});

/** With groups and a real minus sign, which zero does not have. */
export const figure = (value: number): string => GROUPED.format(value || 0).replace('-', MINUS);
/** A profit has its sign, and zero has none. */
export const signed = (value: number): string => (value > 0 ? `+${figure(value)}` : figure(value));
/** Money to its cent, where it is a sum of ours and not a broker's figure. Less than half a cent is not nothing. */
export function money(value: number): string {
  const cents = new Big(value).round(2).toNumber();
  if (cents === 0 && value !== 0) return signed(Number(value.toPrecision(2)));
  const text = CENTS.format(Math.abs(cents));
  return cents === 0 ? text : `${cents > 0 ? '+' : MINUS}${text}`;
}

export const heldInWords = (position: number): string =>
  position === 0 ? 'flat' : `${position > 0 ? 'long' : 'short'} ${figure(Math.abs(position))}`;

/** The word for what is not real money; null: it is. */
export function unrealWord(of: {
  readonly simulation?: boolean | undefined;
  readonly broker_name?: string | undefined;
  readonly environment?: string | null | undefined;
}): string | null {
  if (of.simulation) return 'simulated';
  if (of.broker_name === 'paper') return 'paper';
  return of.environment && !of.environment.startsWith('live') ? of.environment : null;
}

interface Traded {
  readonly simulation: boolean;
  readonly real_money: boolean;
  readonly broker_name?: string;
}
/** Of a signal or an order, by its own word: its account may be deleted, or not be known yet. */
export function unrealOf(
  { simulation, real_money, broker_name }: Traded,
  account: { readonly broker: string; readonly environment: string } | undefined,
): string | null {
  if (real_money) return null;
  const of = { simulation, broker_name: account?.broker ?? broker_name, environment: account?.environment };
  return unrealWord(of) ?? 'no real money';
}

/** `1 order`, `2 orders`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`;
