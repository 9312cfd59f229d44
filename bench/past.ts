// A user's past, written where the service would have written it, in a second instead of the minute that trading it takes.

import { randomBytes } from 'node:crypto';
import type { Db, Statement } from '../src/data/engine/db.ts';
import { insertOrder, saveOrder } from '../src/data/orders/orders.ts';
import { insertSignal } from '../src/data/orders/signals.ts';
import { type Decimal, decimal } from '../src/domain/decimal.ts';
import { earliestId, type OrderId, timestamp } from '../src/domain/ids.ts';
import { clientOrderId, NO_NOTES, type Order } from '../src/domain/orders/order.ts';
import type { Trader } from '../test/orders/kill-harness.ts';

const SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'];
/** So that thousands of them are of today, except shortly after midnight. */
const APART_MS = 2_000;
/** Every so-many-th order is refused by the broker, and beside every so-many-th a signal by us. */
const REJECTED = 20;
const REFUSED = 10;
const AT_ONCE = 1_000;

/** An entry and its exit in turn, one signal each, up to now: in the end nothing is held. */
export async function writePast(db: Db, trader: Trader, orders: number): Promise<void> {
  const begun = Date.now() - orders * APART_MS;
  for (let from = 0; from < orders; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, orders - from) }, (_, n) => from + n);
    await db.commit(some.flatMap((n) => oneOf(trader, n, begun + n * APART_MS)));
  }
}

function oneOf(trader: Trader, n: number, at: number): Statement[] {
  const order = orderOf(trader, n, at);
  const signal = {
    userId: order.userId,
    accountId: order.accountId,
    simulation: false,
    symbol: order.symbol,
    action: order.action,
    quantity: order.quantity,
    totalMs: null,
    ip: '203.0.113.7',
    message: JSON.stringify({ action: order.action, symbol: order.symbol, quantity: 0.01 }),
    understood: { action: order.action, symbol: order.symbol, quantity: 0.01 },
    ignored: [],
  };
  const accepted = insertSignal({
    ...signal,
    ...{ id: idOf(at), arrivedAt: timestamp(at), outcome: 'order', orderId: order.id },
    ...{ code: null, detail: null, refusedBy: null },
  });
  const written = [insertOrder(order, null), ...saveOrder(order), accepted];
  if (n % REFUSED !== 0) return written;
  const refused = insertSignal({
    ...signal,
    ...{ id: idOf(at + 1), arrivedAt: timestamp(at + 1), outcome: 'refused', orderId: null },
    ...{
      code: 'webhook_timestamp_expired',
      detail: 'The signal is older than its account allows.',
      refusedBy: 'age',
    },
  });
  return [...written, refused];
}

function orderOf({ user, account }: Trader, n: number, at: number): Order {
  const id = idOf(at) as OrderId;
  const isEntry = n % 2 === 0;
  // An exit goes where its entry went: both or neither.
  const isRejected = Math.floor(n / 2) % REJECTED === 1;
  const quantity = decimal('0.01');
  const price = decimal((60_000 + (n % 977) / 10).toFixed(1));
  return {
    ...{ id, version: 1, userId: user.id, accountId: account.id, brokerName: 'paper', source: 'webhook' },
    requestId: null,
    ...{ simulation: false, symbol: SYMBOLS[Math.floor(n / 2) % SYMBOLS.length] ?? '' },
    ...{ action: isEntry ? 'buy' : 'sell', orderType: isEntry ? null : 'exit', quantity, guards: [] },
    intent: isEntry
      ? { operation: 'PLACE_ENTRY_ORDER', side: 'buy' }
      : { operation: 'PLACE_EXIT_ORDER', direction: 'long' },
    notes: { ...NO_NOTES, price },
    status: isRejected ? 'rejected' : 'filled',
    error: isRejected ? { code: 'insufficient_margin', message: 'The account has too little margin.' } : null,
    positionBefore: isEntry ? decimal(0) : quantity,
    ...{ autoExit: false, awaitsRest: false, exitError: null, credentialsVersion: isRejected ? null : 1 },
    legs: isRejected ? [] : [legOf(id, isEntry, quantity, price, at)],
    submittedAt: timestamp(at),
    deadlineAt: timestamp(at + 60_000),
    filledAt: isRejected ? null : timestamp(at + 20),
    trace: { validated: 1, queued: 1, taken: 3, sent: 4, acked: 20, answered: 22 },
  };
}

const legOf = (id: OrderId, isEntry: boolean, quantity: Decimal, price: Decimal, at: number) => {
  const leg = isEntry ? ('entry' as const) : ('exit' as const);
  return {
    ...{ leg, nth: 1, clientOrderId: clientOrderId(id, leg), brokerRef: id, quantity },
    ...{ side: isEntry ? ('buy' as const) : ('sell' as const), status: 'filled' as const },
    ...{ fillPrice: price, fillQuantity: quantity, fee: decimal('0.05'), unitValue: decimal(1) },
    ...{
      instrument: null,
      sentAt: timestamp(at + 4),
      ackedAt: timestamp(at + 20),
      filledAt: timestamp(at + 20),
    },
  };
};

/** As if it had been made then: lists are in the order of their ids. */
const idOf = (at: number): string => earliestId(at).slice(0, -12) + randomBytes(6).toString('hex');
