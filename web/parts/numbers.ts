// Numbers, sides and counts in words, without markup: one spelling on every page, and in titles and on buttons too. Exact as
// they came: nothing is rounded here.

const MINUS = '\u2212';
const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 20, useGrouping: 'always' });

/** With groups and a real minus sign. */
export const figure = (value: number): string => GROUPED.format(value).replace('-', MINUS);
/** A profit has its sign, and zero has none. */
export const signed = (value: number): string => (value > 0 ? `+${figure(value)}` : figure(value));
/** Money to its cent, where it is a sum of ours and not a broker's price. */
export const money = (value: number): string =>
  signed(Math.round(value * 100) / 100).replace(/(\.\d)$/, '$10');

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
