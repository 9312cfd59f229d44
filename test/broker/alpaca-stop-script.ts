// Stops at Alpaca as a script tells of them: what is held, what stands, and a connection to ask about it.

import assert from 'node:assert/strict';
import type { SentStop, StopOrder, StopOutcome } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { json, opened, order, refusal, type Said } from './alpaca-script.ts';
import { NO_HURRY } from './paper-desk.ts';

export const FIRST = 'fs0000000000000000000001' as ClientOrderId;
export const SECOND = 'fs0000000000000000000002' as ClientOrderId;
export const TARGET = 'fp0000000000000000000001' as ClientOrderId;
export const BY_ID = 'GET /v2/orders:by_client_order_id';

export const HELD = {
  asset_id: 'a',
  symbol: 'AAPL',
  asset_class: 'us_equity',
  qty: '3',
  side: 'long',
  avg_entry_price: '180',
};

/** As Alpaca tells of one. */
export const STOP = {
  id: 'aaaaaaaa-0000-4000-8000-000000000001',
  client_order_id: FIRST as string,
  symbol: 'AAPL',
  side: 'sell',
  qty: '3',
  filled_qty: '0',
  filled_avg_price: null as string | null,
  order_class: '',
  type: 'stop',
  time_in_force: 'gtc',
  limit_price: null,
  stop_price: '170' as string | null,
  status: 'new',
  replaced_by: null as string | null,
  replaces: null,
  legs: null as object[] | null,
};
export const MOVED = {
  ...STOP,
  id: 'aaaaaaaa-0000-4000-8000-000000000002',
  client_order_id: SECOND,
  stop_price: '175',
};
/** Beside a target: Alpaca names it, and it waits. */
export const LEG = {
  ...STOP,
  id: 'bbbbbbbb-0000-4000-8000-000000000002',
  client_order_id: '0c3f7d2e-5a5b-4c53-9a3d-0a3d3ad0c0de',
  order_class: 'oco',
  status: 'held',
};
export const OCO = {
  ...LEG,
  id: 'bbbbbbbb-0000-4000-8000-000000000001',
  client_order_id: TARGET as string,
  type: 'limit',
  limit_price: '200',
  stop_price: null,
  status: 'new',
};
export const WITH_LEG = { ...OCO, legs: [LEG] };
export const at = (method: string, { id }: { readonly id: string }) => `${method} /v2/orders/${id}`;

export const stop = (more: Partial<StopOrder> = {}): StopOrder => ({
  clientOrderId: FIRST,
  instrument: order().instrument,
  side: 'sell',
  quantity: decimal(3),
  price: decimal(170),
  triggerBy: 'last',
  ...more,
});

export const sentAs = (clientOrderId: ClientOrderId, more: Partial<SentStop> = {}): SentStop => ({
  clientOrderId,
  brokerRef: null,
  symbol: 'AAPL',
  side: 'sell',
  quantity: decimal(3),
  price: decimal(170),
  sentAt: timestamp(0),
  ...more,
});

/** Holds three shares, unless it is said otherwise. */
export async function desk(answers: Record<string, Said> = {}) {
  const { connection, asked, sent } = await opened({
    'GET /v2/positions': json([HELD]),
    'POST /v2/orders': json({ ...STOP, status: 'pending_new' }),
    ...answers,
  });
  const stops = connection.stops ?? assert.fail('it keeps stops');
  return {
    asked,
    sent,
    broker: connection,
    place: (more: Partial<StopOrder> = {}) => stops.place(stop(more), NO_HURRY),
    move: (from: SentStop, more: Partial<StopOrder> = {}) =>
      (stops.move ?? assert.fail('it moves them'))(
        from,
        stop({ clientOrderId: SECOND, price: decimal(175), ...more }),
        NO_HURRY,
      ),
    remove: (from: SentStop) => stops.remove(from, NO_HURRY),
    find: (from: SentStop) => stops.find(from, NO_HURRY),
    standing: () => stops.standing(order().instrument, NO_HURRY),
    /** What was sent with this method. */
    bodies: (method: string) =>
      sent.filter(({ what }) => what.startsWith(`${method} `)).map(({ body }) => body),
  };
}

export const isRejected = (outcome: StopOutcome, why: string, words: RegExp): void => {
  assert.equal(outcome.outcome, 'rejected', JSON.stringify(outcome));
  const rejected = outcome as Extract<StopOutcome, { outcome: 'rejected' }>;
  assert.equal(rejected.why, why, rejected.words);
  assert.match(rejected.words, words);
};

export const silences: readonly Said[] = [
  refusal(500, null, 'internal server error'),
  refusal(504, 50410000, 'timeout'),
  () => new Response('<html>down for maintenance</html>', { status: 200 }),
  json({}),
  () =>
    Promise.reject(
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }),
    ),
];
