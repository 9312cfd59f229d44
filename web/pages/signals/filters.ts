// The filters, as they stand in the address, and as the API is asked for them.

import type { paths } from '../../api/schema.ts';

export type SignalQuery = NonNullable<paths['/trading/signals']['get']['parameters']['query']>;

/** Texts, as the address has them. */
export type Filters = Readonly<
  Partial<
    Record<
      'account' | 'outcome' | 'status' | 'money' | 'code' | 'symbol' | 'time' | 'from' | 'to' | 'search',
      string
    >
  >
>;
const NAMES = [
  'account',
  'outcome',
  'status',
  'money',
  'code',
  'symbol',
  'time',
  'from',
  'to',
  'search',
] as const;

export const filtersOf = (search: Readonly<Record<string, string | undefined>>): Filters =>
  Object.fromEntries(NAMES.flatMap((name) => (search[name] ? [[name, search[name]]] : [])));

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<string, number>> = { week: 6, month: 29 };

/** From when on: today's midnight, unless the address says otherwise; null: from ever. */
export function fromOf({ time, from }: Filters, dayStart: number): string | null {
  if (from !== undefined) return asTime(from);
  if (time === 'all') return null;
  return new Date(dayStart - (DAYS[time ?? ''] ?? 0) * DAY_MS).toISOString();
}

/** A day means its beginning, in the reader's own time. */
function asTime(text: string): string | null {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

export function queryOf(filters: Filters, dayStart: number): SignalQuery {
  const { account, outcome, status, money, code, symbol } = filters;
  const from = fromOf(filters, dayStart);
  const to = filters.to === undefined ? null : asTime(filters.to);
  return {
    ...(account && { trading_account_id: account }),
    // A text of the address: the API says what it does not know.
    ...(outcome && { outcome: outcome as NonNullable<SignalQuery['outcome']> }),
    ...(status && { order_status: status as NonNullable<SignalQuery['order_status']> }),
    ...(money && { real_money: money === 'real' }),
    ...(code && { code }),
    // In whichever spelling it was sent.
    ...(symbol && { instrument: symbol }),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/** Nothing is asked for but the day as it is: then its counts are those of the list. */
export const isWholeDay = ({ outcome: _, ...rest }: Filters): boolean => Object.keys(rest).length === 0;
