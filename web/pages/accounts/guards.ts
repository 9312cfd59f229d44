// The guards: their units, what they mean, what is sensible where none is set, and how they are typed.

import type { components } from '../../api/schema.ts';
import { type Bounds, plain, readNumber, type Typed } from '../../parts/settings/numbers.ts';

export type Guards = components['schemas']['Guards'];
type PerSymbol = Readonly<Record<string, number>>;
export type NumberGuard = Exclude<keyof Guards, 'trading_hours' | 'pauses' | 'require_stop'>;

interface GuardDescription {
  readonly name: NumberGuard;
  /** Behind the field; `currency` stands for the account's own. */
  readonly unit: string;
  readonly meaning: string;
  readonly bounds: Bounds;
  /** Takes one number for all symbols, or one for each. */
  readonly perSymbol?: true;
}

const AMOUNT: Bounds = { least: 0, most: 1e12, above: true };

export const NUMBER_GUARDS: readonly GuardDescription[] = [
  {
    name: 'max_order_quantity',
    unit: '',
    meaning: 'the most that one entry may ask for; one number, or one for each symbol: BTCUSDT.P 0.5, * 10',
    bounds: AMOUNT,
    perSymbol: true,
  },
  {
    name: 'max_position',
    unit: '',
    meaning: 'the most that may be held after the fill; one number, or one for each symbol',
    bounds: AMOUNT,
    perSymbol: true,
  },
  {
    name: 'max_orders_per_minute',
    unit: '',
    meaning: 'orders of this account in any 60 s',
    bounds: { least: 1, most: 10_000, whole: true },
  },
  {
    name: 'max_daily_loss',
    unit: 'currency',
    meaning:
      'equity now, compared with equity at the day’s first order (UTC); on the day on which it is set, with equity at that moment',
    bounds: AMOUNT,
  },
  {
    name: 'max_price_deviation_percent',
    unit: '%',
    meaning: 'the broker’s price compared with the signal’s; an entry by webhook must then send its price',
    bounds: { least: 0, most: 100, above: true },
  },
  {
    name: 'cooldown_seconds',
    unit: 's',
    meaning: 'between two entries of one symbol',
    bounds: { least: 0, most: 86_400, above: true },
  },
];

/** As it stands in its field; empty: no guard. */
export function guardText(value: number | PerSymbol | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return plain(value);
  return Object.entries(value)
    .map(([symbol, most]) => `${symbol} ${plain(most)}`)
    .join(', ');
}

/** `50`, or for each symbol `BTCUSDT.P 0.5, * 10`; nothing is no guard. */
export function readGuard(
  { bounds, perSymbol }: Pick<GuardDescription, 'bounds' | 'perSymbol'>,
  text: string,
): Typed<number | PerSymbol | null> {
  const typed = text.trim();
  if (typed === '') return { value: null };
  if (!perSymbol || !/\s/.test(typed)) return readNumber(typed, bounds);
  const limits: Record<string, number> = {};
  for (const part of typed.split(',')) {
    const [symbol, amount, ...more] = part.trim().split(/[\s:=]+(?=[\d.]+$)/);
    if (!symbol || amount === undefined || more.length > 0 || /\s/.test(symbol))
      return { problem: 'Write one number, or one for each symbol: BTCUSDT.P 0.5, * 10.' };
    const read = readNumber(amount, bounds);
    if ('problem' in read) return { problem: `${symbol}: ${read.problem}` };
    if (Object.hasOwn(limits, symbol)) return { problem: `${symbol} is listed twice.` };
    limits[symbol] = read.value;
  }
  return { value: limits };
}

/** Where no guard is set: values that no ordinary strategy meets, and a broken one does. */
export function suggestedGuards(equity: number | null): Partial<Guards> {
  // Two figures are enough of a suggestion.
  const twoPercent = equity === null ? 0 : Number((equity * 0.02).toPrecision(2));
  return {
    max_orders_per_minute: 6,
    cooldown_seconds: 5,
    max_price_deviation_percent: 1,
    ...(twoPercent >= 1 ? { max_daily_loss: twoPercent } : {}),
  };
}

const grouped = (value: number): string => new Intl.NumberFormat('en').format(value);

export const hasGuards = (guards: Guards): boolean =>
  Object.values(guards).some((value) => value !== null && value !== false);

export function suggestionInWords(suggested: Partial<Guards>, currency: string | null): string {
  const { max_orders_per_minute, cooldown_seconds, max_price_deviation_percent, max_daily_loss } = suggested;
  const words = [
    `at most ${max_orders_per_minute} orders a minute`,
    `${cooldown_seconds} s between two entries of one symbol`,
    `the broker’s price within ${max_price_deviation_percent} % of the signal’s`,
  ];
  if (max_daily_loss)
    words.push(
      `a day’s loss of at most ${grouped(max_daily_loss)}${currency ? ` ${currency}` : ''}, about 2 % of the equity`,
    );
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
