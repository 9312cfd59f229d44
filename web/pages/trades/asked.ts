// What is shown of the trades, and it stands in the address: a time, an account, a symbol, a strategy, what closed them. Pure.

import type { paths } from '../../api/schema.ts';

type Query = NonNullable<paths['/trading/trades/summary']['get']['parameters']['query']>;
type ClosedBy = NonNullable<Query['closed_by']>;

export const RANGES = ['7', '30', '90', 'all'] as const;
type RangeName = (typeof RANGES)[number];

export interface Asked {
  /** Without days of one's own. */
  readonly range: RangeName;
  /** Days where the reader is: `2026-11-05`; null: the range says. */
  readonly from: string | null;
  readonly to: string | null;
  readonly accountId: string | null;
  readonly symbol: string | null;
  readonly strategy: string | null;
  readonly closedBy: string | null;
  readonly currency: string | null;
  readonly money: 'all' | 'real' | 'simulated';
}

type Search = Readonly<Record<string, string | undefined>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const dayIn = (text: string | undefined): string | null =>
  text && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : null;

export const askedOf = (search: Search): Asked => ({
  range: RANGES.find((name) => name === search.range) ?? '30',
  from: dayIn(search.from),
  to: dayIn(search.to),
  accountId: search.account ?? null,
  symbol: search.symbol ?? null,
  strategy: search.strategy ?? null,
  closedBy: search.closed_by ?? null,
  currency: search.currency ?? null,
  money: search.simulation === 'true' ? 'simulated' : search.money === 'real' ? 'real' : 'all',
});

/** What is usual is left out of the address. */
export const searchOf = (asked: Asked) => {
  const { range, from, to, accountId, symbol, strategy, closedBy, currency, money } = asked;
  const given = {
    ...(range !== '30' && { range }),
    ...(from && { from }),
    ...(to && { to }),
    ...(accountId && { account: accountId }),
    ...(symbol && { symbol }),
    ...(strategy && { strategy }),
    ...(closedBy && { closed_by: closedBy }),
    ...(currency && { currency }),
    ...(money === 'simulated' && { simulation: 'true' }),
    ...(money === 'real' && { money: 'real' }),
  };
  return given as never;
};

/** As it is where the reader is; a day has 23 hours there at times. */
const midnight = (day: string): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date);
};
const pad = (value: number) => String(value).padStart(2, '0');
export const localDay = (date: Date): string =>
  `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

export function dayAfter(day: string, days = 1): string {
  const date = midnight(day);
  date.setDate(date.getDate() + days);
  return localDay(date);
}

/** The days that are asked for; null: from the first trade on. */
export function spanOf({ from, to, range }: Asked, now: number): { first: string | null; last: string } {
  const today = localDay(new Date(now));
  if (from || to) return { first: from, last: to ?? today };
  return { first: range === 'all' ? null : dayAfter(today, 1 - Number(range)), last: today };
}

/** For the API, which takes points in time. */
export function queryOf(asked: Asked, now: number): Query {
  const { first } = spanOf(asked, now);
  return {
    ...(first && { from: midnight(first).toISOString() }),
    ...(asked.to && { to: new Date(midnight(dayAfter(asked.to)).getTime() - 1).toISOString() }),
    ...(asked.accountId && { trading_account_id: asked.accountId }),
    ...(asked.symbol && { symbol: asked.symbol }),
    ...(asked.strategy && { strategy: asked.strategy }),
    ...(asked.closedBy && { closed_by: asked.closedBy as ClosedBy }),
    ...(asked.currency && { currency: asked.currency as NonNullable<Query['currency']> }),
    ...(asked.money === 'simulated' && { simulation: true }),
    ...(asked.money === 'real' && { real_money: true }),
  };
}

/** Behind a sum: `in 30 days`. */
export function withinWords({ from, to, range }: Asked): string {
  if (from && to) return from === to ? `on ${longDay(from)}` : `from ${shortDay(from)} to ${longDay(to)}`;
  if (from) return `since ${longDay(from)}`;
  if (to) return `until ${longDay(to)}`;
  return range === 'all' ? 'since the beginning' : `in ${range} days`;
}

const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const LONG = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
/** `5 Nov`. */
export const shortDay = (day: string): string => SHORT.format(midnight(day));
/** `5 Nov 2026`. */
export const longDay = (day: string): string => LONG.format(midnight(day));
