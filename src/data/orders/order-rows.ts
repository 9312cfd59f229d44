// An order's row and those of its legs, and how an order is read from them.

import type { BrokerName } from '../../domain/brokers.ts';
import { decimal, decimalOrNull } from '../../domain/decimal.ts';
import type { AccountId, ClientOrderId, GroupId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type {
  Action,
  ExitOrderResult,
  Leg,
  LegKey,
  LegName,
  LegStatus,
  Order,
  OrderStatus,
  OrderType,
  Side,
  Source,
} from '../../domain/orders/order.ts';
import { NO_NOTES } from '../../domain/orders/order.ts';
import type { Priced } from '../../domain/orders/priced.ts';
import type { Sizing } from '../../domain/orders/sizing.ts';
import type { ExitReason } from '../../domain/protection/protection.ts';
import { type OrderWish, wishFromJson, wishJson } from '../../domain/protection/wish.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';

export interface OrderRow {
  order_id: OrderId;
  version: number;
  user_id: UserId;
  trading_account_id: AccountId;
  broker_name: BrokerName;
  source: Source;
  simulation: number | boolean;
  symbol: string;
  action: Action;
  order_type: OrderType | null;
  intent: string;
  quantity: string;
  status: OrderStatus;
  error: string | null;
  submitted_at: Timestamp;
  deadline_at: Timestamp;
  filled_at: Timestamp | null;
  auto_exit: number | boolean;
  awaits_rest: number | boolean;
  position_before: string | null;
  counted: string | null;
  exit_order_result: string | null;
  trace: string;
  credentials_version: number | null;
  notes: string | null;
  guards: string | null;
  settled_by: 'user' | null;
  request_id: string | null;
  wish: string | null;
  sizing: string | null;
  priced: string | null;
  ending: string | null;
  traded_at: Timestamp | null;
  exit_reason: ExitReason | null;
  caused_by: OrderId | null;
  unprotected_ms: number | null;
  group_id: GroupId | null;
}

export interface LegRow {
  order_id: OrderId;
  leg: LegKey;
  client_order_id: ClientOrderId;
  broker_ref: string | null;
  side: Side;
  quantity: string;
  status: LegStatus;
  fill_price: string | null;
  fill_quantity: string | null;
  fee: string | null;
  instrument: string | null;
  unit_value: string | null;
  sent_at: Timestamp | null;
  acked_at: Timestamp | null;
  filled_at: Timestamp | null;
}

export async function ordersWhere(db: Reads, where: Statement): Promise<Order[]> {
  const rows = await db.all<OrderRow>(
    join(
      [
        sql`select order_id, version, user_id, trading_account_id, broker_name, source, simulation, symbol, action,
              order_type, intent, quantity, status, error, submitted_at, deadline_at, filled_at, auto_exit, awaits_rest,
              position_before, counted, exit_order_result, trace, credentials_version, notes, guards, request_id, settled_by,
              wish, sizing, priced, ending, traded_at, exit_reason, caused_by, unprotected_ms, group_id
            from order_history`,
        where,
      ],
      ' ',
    ),
  );
  return withLegs(db, rows);
}

export async function withLegs(db: Reads, rows: readonly OrderRow[]): Promise<Order[]> {
  // What is still queued was never planned, and has no legs.
  const planned = rows.filter((row) => row.status !== 'queued');
  const legs = await legsOf(
    db,
    planned.map((row) => row.order_id),
  );
  return rows.map((row) => toOrder(row, legs.get(row.order_id) ?? []));
}

async function legsOf(db: Reads, ids: readonly OrderId[]): Promise<Map<OrderId, Leg[]>> {
  const legs = new Map<OrderId, Leg[]>();
  if (ids.length === 0) return legs;
  const rows = await db.all<LegRow>(
    join(
      [sql`select * from order_legs where order_id in (`, listOf(ids), sql`) order by order_id, position`],
      '',
    ),
  );
  for (const row of rows) {
    const [name, nth = '1'] = row.leg.split(' ');
    const leg: Leg = {
      leg: name as LegName,
      nth: Number(nth),
      clientOrderId: row.client_order_id,
      brokerRef: row.broker_ref,
      side: row.side,
      quantity: decimal(row.quantity),
      status: row.status,
      fillPrice: decimalOrNull(row.fill_price),
      fillQuantity: decimalOrNull(row.fill_quantity),
      fee: decimalOrNull(row.fee),
      instrument: row.instrument,
      unitValue: decimalOrNull(row.unit_value),
      sentAt: row.sent_at,
      ackedAt: row.acked_at,
      filledAt: row.filled_at,
    };
    const known = legs.get(row.order_id);
    if (known) known.push(leg);
    else legs.set(row.order_id, [leg]);
  }
  return legs;
}

function toOrder(row: OrderRow, legs: Leg[]): Order {
  const exit = row.exit_order_result === null ? null : (JSON.parse(row.exit_order_result) as ExitOrderResult);
  return {
    id: row.order_id,
    version: row.version,
    requestId: row.request_id,
    userId: row.user_id,
    accountId: row.trading_account_id,
    brokerName: row.broker_name,
    source: row.source,
    simulation: Boolean(row.simulation),
    symbol: row.symbol,
    action: row.action,
    orderType: row.order_type,
    intent: JSON.parse(row.intent) as Order['intent'],
    quantity: decimal(row.quantity),
    notes: row.notes === null ? NO_NOTES : (JSON.parse(row.notes) as Order['notes']),
    guards: row.guards === null ? [] : (JSON.parse(row.guards) as Order['guards']),
    status: row.status,
    error: row.error === null ? null : (JSON.parse(row.error) as Order['error']),
    positionBefore: decimalOrNull(row.position_before),
    ...(row.counted === null ? {} : { counted: JSON.parse(row.counted) as Order['counted'] }),
    autoExit: Boolean(row.auto_exit),
    awaitsRest: Boolean(row.awaits_rest),
    legs,
    credentialsVersion: row.credentials_version,
    exitError: exit?.error ?? null,
    submittedAt: row.submitted_at,
    deadlineAt: row.deadline_at,
    filledAt: row.filled_at,
    trace: JSON.parse(row.trace) as Order['trace'],
    ...(row.settled_by === null ? {} : { settledBy: row.settled_by }),
    ...(row.wish === null ? {} : { wish: wishOf(row.wish) }),
    ...(row.sizing === null ? {} : { sizing: JSON.parse(row.sizing) as Sizing }),
    ...(row.priced === null ? {} : { priced: JSON.parse(row.priced) as Priced }),
    ...(row.traded_at === null ? {} : { tradedAt: row.traded_at }),
    ...(row.ending === null ? {} : { ending: JSON.parse(row.ending) as NonNullable<Order['ending']> }),
    ...(row.exit_reason === null ? {} : { exitReason: row.exit_reason }),
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    ...(row.group_id === null ? {} : { groupId: row.group_id }),
    ...(row.unprotected_ms === null ? {} : { unprotectedMs: row.unprotected_ms }),
  };
}

export const wishText = ({ own, fromFlat }: OrderWish): string =>
  JSON.stringify({ own: wishJson(own), from_flat: wishJson(fromFlat) });

function wishOf(text: string): OrderWish {
  const { own, from_flat } = JSON.parse(text) as { own: unknown; from_flat: unknown };
  return { own: wishFromJson(own), fromFlat: wishFromJson(from_flat) };
}

export const listOf = (ids: readonly OrderId[]): Statement =>
  join(
    ids.map((id) => sql`${id}`),
    ', ',
  );
