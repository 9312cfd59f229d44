// The days of a range, one row each, whether something happened on them or not; and what they come to.

import type { components } from '../../api/schema.ts';
import { counted, figure, money } from '../../parts/numbers.ts';

type Performance = components['schemas']['Performance'];

export interface Row {
  /** Of UTC: `2026-11-05`. */
  readonly day: string;
  readonly isWeekend: boolean;
  /** Null: money is of several currencies. */
  readonly realised: number | null;
  /** Since the first of the rows. */
  readonly total: number | null;
  readonly orders: Readonly<Record<string, number>>;
  readonly orderCount: number;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly slippage: number | null;
}

// The range

export const RANGES = ['7', '30', '90', 'all'] as const;
export type RangeName = (typeof RANGES)[number];

export const rangeOf = (text: string | undefined): RangeName => RANGES.find((name) => name === text) ?? '30';
export const rangeInWords = (range: RangeName): string => (range === 'all' ? 'all' : `${range} days`);
/** Behind a sum: `in 30 days`. */
export const withinWords = (range: RangeName): string =>
  range === 'all' ? 'since the beginning' : `in ${range} days`;

const DAY_MS = 86_400_000;
const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Its first day; null: wherever the data begins. */
export const firstDay = (range: RangeName, now: number): string | null =>
  range === 'all' ? null : utcDay(now - (Number(range) - 1) * DAY_MS);

/** What no clock of a day lies beyond: a foreign date does not make a million rows. */
const MOST_DAYS = 20_000;

function daysFrom(first: string, last: string): string[] {
  const start = Date.parse(first);
  const count = Math.min(MOST_DAYS, Math.round((Date.parse(last) - start) / DAY_MS) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, index) => utcDay(start + index * DAY_MS));
}

/** Binary fractions add up to a dust that no broker pays. */
const sum = (a: number, b: number): number => Math.round((a + b) * 1e8) / 1e8;

export const hasSeveralCurrencies = ({ days }: Performance): boolean =>
  days.some(({ realised }) => realised === null);

export function rowsOf(performance: Performance, first: string | null, now: number): Row[] {
  const known = new Map(performance.days.map((day) => [day.day, day]));
  const begins = [first, performance.days[0]?.day ?? null].filter((day) => day !== null).toSorted()[0];
  if (begins === undefined) return [];
  const ends = [utcDay(now), performance.days.at(-1)?.day ?? ''].toSorted()[1] ?? '';
  const nothing = hasSeveralCurrencies(performance) ? null : 0;
  let total: number | null = nothing;
  return daysFrom(begins, ends).map((day) => {
    const found = known.get(day);
    const realised = found ? found.realised : nothing;
    total = total === null || realised === null ? null : sum(total, realised);
    const orders = found?.orders ?? {};
    return {
      day,
      isWeekend: [0, 6].includes(new Date(day).getUTCDay()),
      realised,
      total,
      orders,
      orderCount: Object.values(orders).reduce((all, count) => all + count, 0),
      p50: found?.latency_ms.p50 ?? null,
      p90: found?.latency_ms.p90 ?? null,
      p99: found?.latency_ms.p99 ?? null,
      slippage: found?.slippage ?? null,
    };
  });
}

// What they come to

export interface Totals {
  readonly realised: number | null;
  readonly slippage: number | null;
  readonly orderCount: number;
  readonly orders: Readonly<Record<string, number>>;
  readonly best: Row | null;
  readonly worst: Row | null;
  /** The last day on which a broker answered. */
  readonly latest: Row | null;
}

export function totalsOf(rows: readonly Row[]): Totals {
  const orders: Record<string, number> = {};
  for (const row of rows)
    for (const [status, count] of Object.entries(row.orders)) orders[status] = (orders[status] ?? 0) + count;
  const slippages = rows.map(({ slippage }) => slippage).filter((slippage) => slippage !== null);
  const byProfit = rows
    .filter(({ realised }) => realised)
    .toSorted((a, b) => (b.realised ?? 0) - (a.realised ?? 0));
  const best = byProfit[0] ?? null;
  const worst = byProfit.at(-1) ?? null;
  return {
    realised: rows.at(-1)?.total ?? null,
    slippage: slippages.length === 0 ? null : slippages.reduce(sum, 0),
    orderCount: rows.reduce((all, row) => all + row.orderCount, 0),
    orders,
    best: best && (best.realised ?? 0) > 0 ? best : null,
    worst: worst && (worst.realised ?? 0) < 0 ? worst : null,
    latest: rows.findLast(({ p50 }) => p50 !== null) ?? null,
  };
}

/** Statuses from the usual to the worst: also the order in which bars lie on each other. */
const STATUSES = [
  'filled',
  'partially_filled',
  'done',
  'placed',
  'queued',
  'executing',
  'cancelled',
  'expired',
  'rejected',
  'failed',
  'unknown',
] as const;
export type OrderStatus = (typeof STATUSES)[number];

export const statusesOf = (orders: Readonly<Record<string, number>>): OrderStatus[] =>
  STATUSES.filter((status) => (orders[status] ?? 0) > 0);

// In words

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const LONG_DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const YEAR_DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
/** `5 Nov 2026`. */
export const longDay = (day: string): string => YEAR_DAY.format(new Date(day));
/** `5 Nov`. */
export const shortDay = (day: string): string => SHORT_DAY.format(new Date(day));

/** `14 Oct to 12 Nov 2026`. */
export function spanInWords(rows: readonly Row[]): string {
  const [first, last] = [rows[0]?.day, rows.at(-1)?.day];
  if (!first || !last) return '';
  if (first === last) return longDay(last);
  const isOneYear = first.slice(0, 4) === last.slice(0, 4);
  return `${(isOneYear ? SHORT_DAY : YEAR_DAY).format(new Date(first))} to ${longDay(last)}`;
}

/** `17 filled, 5 rejected`. */
export const outcomesInWords = (orders: Readonly<Record<string, number>>): string =>
  statusesOf(orders)
    .map((status) => `${figure(orders[status] ?? 0)} ${status}`)
    .join(', ');

const inCurrency = (value: number, currency: string | null) =>
  currency ? `${money(value)} ${currency}` : money(value);

export const realisedInWords = ({ realised, total }: Row, currency: string | null): string =>
  realised === null || total === null
    ? 'money of several currencies'
    : `${inCurrency(realised, currency)}, ${money(total)} in all`;

export const ordersInWords = ({ orderCount, orders }: Row): string =>
  orderCount === 0 ? 'no order' : `${counted(orderCount, 'order')}: ${outcomesInWords(orders)}`;

export const latencyInWords = ({ p50, p90, p99 }: Row): string =>
  p50 === null || p90 === null || p99 === null
    ? 'no broker answered'
    : `p50 ${figure(p50)}, p90 ${figure(p90)}, p99 ${figure(p99)} ms`;

export const slippageInWords = ({ slippage }: Row, currency: string | null): string =>
  slippage === null
    ? 'no signal had a price'
    : `${inCurrency(slippage, currency)} against the signals’ prices`;

export const dayInWords = (row: Row, currency: string | null): string =>
  `${LONG_DAY.format(new Date(row.day))}: ${[
    `realised ${realisedInWords(row, currency)}`,
    ordersInWords(row),
    latencyInWords(row),
    `slippage ${slippageInWords(row, currency)}`,
  ].join('; ')}.`;

// Days that stand out

/** So many times the usual. */
const STANDS_OUT = 3;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** The day that is far from the usual of at least three; null: none is. */
export function outstanding(values: readonly (number | null)[]): number | null {
  const sizes = values.map((value) => Math.abs(value ?? 0));
  const some = sizes.filter((size) => size > 0);
  const most = Math.max(0, ...some);
  if (some.length < 3 || most < STANDS_OUT * median(some)) return null;
  return sizes.indexOf(most);
}
