// What stands in the columns of each list's CSV. A column may be added at the end; none changes its place.

import type { shown } from '../app/audit/security-events.ts';
import type { ShownSignal } from '../app/orders/read-signals.ts';
import type { ShownTrade } from '../app/orders/read-trades.ts';
import type { Performance } from '../domain/money/performance.ts';
import { ORDER_STATUSES } from '../domain/orders/order.ts';
import type { OrderSummary } from '../domain/orders/result.ts';
import type { Csv } from './csv.ts';

const field = <Row, Name extends keyof Row & string>(name: Name) =>
  [name, (row: Row): unknown => row[name]] as const;
const fields = <Row>(...names: readonly (keyof Row & string)[]) =>
  names.map((name) => field<Row, typeof name>(name));

export const ORDERS_CSV: Csv<OrderSummary> = {
  name: 'orders',
  columns: [
    ...fields<OrderSummary>(
      'order_id',
      'submitted_at',
      'trading_account_id',
      'broker_name',
      'source',
      'simulation',
      'symbol',
      'action',
      'operation',
      'order_type',
      'quantity',
      'status',
      'fill_price',
      'fill_quantity',
      'filled_at',
      'market_position',
      'target',
      'price',
      'slippage',
      'position_before',
      'auto_exit',
      'exit_quantity',
      'gap',
    ),
    ['error_code', ({ error }) => error?.code],
    ['error_message', ({ error }) => error?.message],
    ['broker_refs', ({ broker_refs }) => broker_refs.join(' ')],
    ['ignored', ({ ignored }) => ignored.join(' ')],
    ['verification', ({ verification }) => verification.state],
    ...fields<OrderSummary>('deadline_at', 'half_done', 'settled_by'),
    ...fields<OrderSummary>('exit_reason', 'caused_by', 'unprotected_ms'),
    ['protection', ({ protection }) => protection?.state],
    field<OrderSummary, 'quantity_type'>('quantity_type'),
    ['factor', ({ sizing }) => sizing?.factor],
    ['units', ({ sizing }) => sizing?.units],
    ...fields<OrderSummary>('limit_price', 'stop_price', 'time_in_force', 'expires_at', 'group_id'),
  ],
};

type Member = ShownSignal['orders'][number];

/** `account:order`, `account:why` of one that refused it, `account:sync` of one that reported. */
const memberIn = ({ trading_account_id, order_id, code }: Member): string =>
  `${trading_account_id}:${order_id ?? code ?? 'sync'}`;

export const SIGNALS_CSV: Csv<ShownSignal> = {
  name: 'signals',
  columns: [
    ...fields<ShownSignal>(
      'id',
      'arrived_at',
      'trading_account_id',
      'simulation',
      'symbol',
      'action',
      'quantity',
      'outcome',
      'code',
      'detail',
      'order_id',
      'order_status',
      'position_before',
      'fill_price',
      'slippage',
      'total_ms',
      'ip_address',
      'quantity_type',
      'group_id',
    ),
    ['accepted', ({ group_id, orders }) => group_id && orders.filter(({ code }) => code === null).length],
    ['refused', ({ group_id, orders }) => group_id && orders.filter(({ code }) => code !== null).length],
    ['members', ({ orders }) => orders.map(memberIn).join(' ')],
  ],
};

export const TRADES_CSV: Csv<ShownTrade> = {
  name: 'trades',
  columns: [
    ...fields<ShownTrade>(
      'id',
      'trading_account_id',
      'broker_name',
      'simulation',
      'real_money',
      'symbol',
      'side',
      'quantity',
      'opened_at',
      'closed_at',
      'held_ms',
      'entry_price',
      'exit_price',
      'profit',
      'currency',
      'fees',
      'fees_unknown',
      'slippage',
      'closed_by',
      'closed_elsewhere',
      'strategy',
    ),
    ['entry_order_ids', ({ entry_order_ids }) => entry_order_ids.join(' ')],
    ['exit_order_ids', ({ exit_order_ids }) => exit_order_ids.join(' ')],
  ],
};

export type AuditRow = ReturnType<typeof shown>;

export const AUDIT_CSV: Csv<AuditRow> = {
  name: 'audit-log',
  columns: fields<AuditRow>(
    'id',
    'created_at',
    'action',
    'success',
    'ip_address',
    'user_agent',
    'request_method',
    'request_path',
    'error_message',
    'resource_type',
    'resource_id',
    'metadata',
  ),
};

export const ATTACKS_CSV: Csv<AuditRow> = { ...AUDIT_CSV, name: 'security-attacks' };

type DayRow = Performance['days'][number];

export const performanceCsv = (currency: string | null): Csv<DayRow> => ({
  name: 'performance',
  columns: [
    ...fields<DayRow>('day', 'realised', 'slippage'),
    ['currency', () => currency],
    ['latency_p50_ms', ({ latency_ms }) => latency_ms.p50],
    ['latency_p90_ms', ({ latency_ms }) => latency_ms.p90],
    ['latency_p99_ms', ({ latency_ms }) => latency_ms.p99],
    ...ORDER_STATUSES.map(
      (status) => [`orders_${status}`, ({ orders }: DayRow) => orders[status] ?? 0] as const,
    ),
  ],
});
