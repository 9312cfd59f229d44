// Orders as they were filled, for what is counted of them.

import { decimal } from '../../src/domain/decimal.ts';
import { type AccountId, type OrderId, timestamp, type UserId } from '../../src/domain/ids.ts';
import { clientOrderId, type Leg, NO_NOTES, type Order, type Side } from '../../src/domain/orders/order.ts';

export const DAY = 24 * 3_600_000;
export const START = Date.parse('2026-03-02T00:00:00Z');
let orders = 0;

export interface Traded {
  readonly side: Side;
  readonly quantity: number | string;
  readonly price: number | string;
  readonly fee?: number | string;
  readonly unitValue?: number;
  /** Milliseconds after the start; without it, when the order was submitted. */
  readonly filledAt?: number | null;
}

const legOf = (id: OrderId, name: Leg['leg'], at: number, traded: Traded): Leg => ({
  leg: name,
  nth: 1,
  clientOrderId: clientOrderId(id, name),
  brokerRef: 'x',
  side: traded.side,
  quantity: decimal(traded.quantity),
  status: 'filled',
  fillPrice: decimal(traded.price),
  fillQuantity: decimal(traded.quantity),
  fee: traded.fee === undefined ? null : decimal(traded.fee),
  instrument: null,
  unitValue: decimal(traded.unitValue ?? 1),
  sentAt: timestamp(START + at),
  ackedAt: timestamp(START + at),
  filledAt: traded.filledAt === null ? null : timestamp(START + (traded.filledAt ?? at)),
});

/** Submitted so many milliseconds after the start; with two trades it is a reversal. */
export function order(at: number, trades: readonly Traded[], more: Partial<Order> = {}): Order {
  const id = `order-${String(++orders).padStart(8, '0')}` as OrderId;
  return {
    id,
    version: 1,
    requestId: null,
    userId: 'user' as UserId,
    accountId: 'account' as AccountId,
    brokerName: 'paper',
    source: 'webhook',
    simulation: false,
    symbol: 'BTCUSDT',
    action: 'buy',
    orderType: 'entry',
    intent: { operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
    quantity: decimal(1),
    notes: NO_NOTES,
    guards: [],
    status: 'filled',
    error: null,
    positionBefore: null,
    autoExit: trades.length > 1,
    awaitsRest: false,
    legs: trades.map((traded, index) => legOf(id, index < trades.length - 1 ? 'exit' : 'entry', at, traded)),
    credentialsVersion: 1,
    exitError: null,
    submittedAt: timestamp(START + at),
    deadlineAt: timestamp(START + at + 60_000),
    filledAt: null,
    trace: {},
    ...more,
  };
}

export const buy = (quantity: number, price: number, more: Partial<Traded> = {}): Traded => ({
  side: 'buy',
  quantity,
  price,
  ...more,
});
export const sell = (quantity: number, price: number, more: Partial<Traded> = {}): Traded => ({
  ...buy(quantity, price, more),
  side: 'sell',
});
