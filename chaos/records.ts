// What stands in PostgreSQL in the end, and what a judge has to say about it.

import { type Db, sql } from '../src/data/engine/db.ts';
import { decimal } from '../src/domain/decimal.ts';
import type { AccountId, Timestamp } from '../src/domain/ids.ts';
import type { OrderStatus } from '../src/domain/orders/order.ts';
import type { Priced } from '../src/domain/orders/priced.ts';
import type { Signal } from './signals.ts';

export interface Finding {
  readonly invariant: string;
  /** What a breach is: these three are the bottom line. */
  readonly kind: 'lost' | 'doubled' | 'stuck' | 'other';
  /** How many things it was checked on. */
  readonly checked: number;
  readonly problems: readonly string[];
}

export interface OrderRow {
  order_id: string;
  user_id: string;
  source: 'webhook' | 'dashboard' | 'protection';
  trading_account_id: AccountId;
  symbol: string;
  action: string;
  intent: string;
  quantity: string;
  status: OrderStatus;
  error: string | null;
  broker_refs: string;
  position_before: string | null;
  fill_quantity: string | null;
  /** What it asks to be protected with, as JSON; null: nothing. */
  wish: string | null;
  fingerprint: string | null;
  /** What an entry waits for; null: it is at the market. */
  priced: Priced | null;
  /** Whose group's signal it came from. */
  group_id: string | null;
  /** Of what a protection closed: why. */
  exit_reason: string | null;
  submitted_at: Timestamp;
  deadline_at: Timestamp;
  /** By the clock of PostgreSQL, which nobody sets; null: it has not ended. */
  ended_at: number | null;
}

export interface LegRow {
  order_id: string;
  leg: 'exit' | 'entry';
  /** Which of the order's closes, or entries: one that the exchange never had, or that left something, is followed by another. */
  nth: number;
  client_order_id: string;
  status: string;
  side: 'buy' | 'sell';
  fill_quantity: string | null;
  fill_price: string | null;
  broker_ref: string | null;
  sent_at: Timestamp | null;
}

export interface Records {
  readonly orders: readonly OrderRow[];
  readonly legs: readonly LegRow[];
  readonly audited: readonly { resource_id: string }[];
  readonly openChecks: readonly { order_id: string; state: string }[];
  /** What became of groups' signals at their members. */
  readonly memberEnds: readonly MemberEnd[];
}

interface MemberEnd {
  readonly signal_id: string;
  readonly group_id: string;
  readonly trading_account_id: string;
  readonly order_id: string | null;
  /** Why it was refused. */
  readonly code: string | null;
}

/** Notes when an order ends: our own processes may have any time. */
export const NOTE_ENDS = `
create table chaos_ends (order_id uuid primary key, at double precision not null);
create function chaos_end() returns trigger language plpgsql as $$
begin
  insert into chaos_ends values (new.order_id, extract(epoch from clock_timestamp()) * 1000)
    on conflict do nothing;
  return null;
end $$;
create trigger chaos_end after update on order_history for each row
  when (new.status in ('filled', 'done', 'cancelled', 'failed', 'rejected', 'expired'))
  execute function chaos_end();
`;

/** Of an order that a signal made: the signal's. By its quantity, by what it asks to be protected with, or by its fingerprint. */
export function keyOf({
  trading_account_id: account,
  action,
  quantity,
  wish,
  fingerprint,
}: OrderRow): string {
  if (action === 'cancel') return `${account} ${fingerprint}`;
  if (action !== 'protect') return `${account} ${decimal(quantity)}`;
  const { own } = JSON.parse(wish ?? '{}') as { own?: object };
  return `${account} protect ${JSON.stringify(own)}`;
}

/** It moves what protects a position, and trades nothing. */
export const isProtect = ({ action }: Pick<OrderRow, 'action'>): boolean => action === 'protect';
/** It takes back entries that rest, and trades nothing. */
export const isCancel = ({ action }: Pick<OrderRow, 'action'>): boolean => action === 'cancel';

/** A stop or a target of ours, or what such a stop became, by its id at the exchange or with us. */
export const isProtective = (clientOrderId: string): boolean =>
  /^f[sp][0-9a-z]{22}(#|$)/.test(clientOrderId) || clientOrderId.endsWith('#stop');

/** When an order's signal first set out, by the sender's clock. */
export function firstDeliveries(signals: readonly Signal[]): (order: OrderRow) => number {
  const sentAt = new Map(
    signals.map(({ key, deliveries }) => [key, Math.min(...deliveries.map((delivery) => delivery.sentAt))]),
  );
  return (order) => sentAt.get(keyOf(order)) ?? 0;
}

/** `listingOf`: the exchange's name for a symbol of ours. */
export async function readRecords(db: Db, listingOf: (symbol: string) => string): Promise<Records> {
  const [orders, legs, audited, openChecks, memberEnds] = await Promise.all([
    db.all<Omit<OrderRow, 'priced'> & { priced: string | null }>(
      sql`select o.order_id, user_id, source, trading_account_id, symbol, action, intent, quantity, status, error,
            broker_refs, position_before, fill_quantity, wish, priced, fingerprint, group_id, exit_reason, submitted_at, deadline_at, e.at as ended_at
          from order_history o left join chaos_ends e on e.order_id = o.order_id`,
    ),
    db.all<Omit<LegRow, 'leg' | 'nth'> & { leg: string }>(
      sql`select order_id, leg, client_order_id, status, side, fill_quantity, fill_price, broker_ref, sent_at
          from order_legs`,
    ),
    db.all<{ resource_id: string }>(
      // A report that traded nothing has an entry too, of its account.
      sql`select resource_id from audit_logs
          where action = 'webhook_order' and success = ${true} and resource_type = 'order'`,
    ),
    db.all<{ order_id: string; state: string }>(
      sql`select order_id, state from fill_checks where state <> 'done'`,
    ),
    db.all<MemberEnd>(
      sql`select m.signal_id, s.group_id, m.trading_account_id, m.order_id, m.code
          from signal_members m join signals s on s.id = m.signal_id where s.fingerprint is not null`,
    ),
  ]);
  const listed = orders.map((order) => ({
    ...order,
    symbol: listingOf(order.symbol),
    priced: order.priced === null ? null : (JSON.parse(order.priced) as Priced),
    // It is told as text.
    ended_at: order.ended_at === null ? null : Number(order.ended_at),
  }));
  return { orders: listed, legs: legs.map(numbered), audited, openChecks, memberEnds };
}

/** It is saved as `exit`, `exit 2` and so on. */
function numbered<Row extends { leg: string }>(row: Row): Row & Pick<LegRow, 'leg' | 'nth'> {
  const [leg, nth = '1'] = row.leg.split(' ');
  return { ...row, leg: leg === 'exit' ? 'exit' : 'entry', nth: Number(nth) };
}
