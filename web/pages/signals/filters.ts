// The filters, as they stand in the address. The API filters what it can; the rest is picked out of what it answers, reading
// on until there is a page of it.

import type { components, paths } from '../../api/schema.ts';

export type SignalQuery = NonNullable<paths['/trading/signals']['get']['parameters']['query']>;
type Signal = components['schemas']['SignalSummary'];

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

/** The API's outcomes, and what became of the orders among them. */
const AS_ORDERS: Readonly<Record<string, ReadonlySet<string>>> = {
  executed: new Set(['placed', 'partially_filled', 'filled', 'done']),
  rejected: new Set(['rejected', 'failed', 'cancelled', 'expired']),
  under_way: new Set(['queued', 'executing', 'unknown']),
};
const OUTCOMES: Readonly<Record<string, 'order' | 'refused' | 'sync'>> = {
  order: 'order',
  refused: 'refused',
  sync: 'sync',
};

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
  const { account, outcome = '', status, code, symbol } = filters;
  const from = fromOf(filters, dayStart);
  const to = filters.to === undefined ? null : asTime(filters.to);
  const asked = OUTCOMES[outcome] ?? (outcome in AS_ORDERS ? 'order' : undefined);
  return {
    ...(account && { trading_account_id: account }),
    // A `sync` may have become an order, too: its status is found among all.
    ...(asked && !status && { outcome: asked }),
    ...(code && { code }),
    ...(symbol && { symbol }),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/** Whether the API's answer has to be looked through. */
export const looksThrough = ({ outcome = '', status, money }: Filters): boolean =>
  outcome in AS_ORDERS || status !== undefined || money !== undefined;

export function admits({ outcome = '', status, money }: Filters, signal: Signal): boolean {
  const is = signal.order_status;
  if (AS_ORDERS[outcome] && !(is !== null && AS_ORDERS[outcome].has(is))) return false;
  if (status !== undefined && is !== status) return false;
  return money === undefined || (money === 'real') === signal.real_money;
}

/** Nothing is asked for but the day as it is: then its counts are those of the list. */
export const isWholeDay = ({ outcome: _, ...rest }: Filters): boolean => Object.keys(rest).length === 0;
