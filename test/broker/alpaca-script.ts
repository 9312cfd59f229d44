// Alpaca as a script: as it is on a good day, but for what a test gives it to say.

import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import type { BrokerOrder } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../../src/domain/ids.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';
import { patient } from './patient.ts';

export const KEYS = { api_key: 'PKTESTTESTTEST', api_secret: 'a-secret-of-somebody' };
export const ID = 'fe0123456789012345678901' as ClientOrderId;

export const ACCOUNT = {
  id: 'e6fe16f3-64a4-4921-8928-cadf02f92f98',
  status: 'ACTIVE',
  currency: 'USD',
  cash: '4000.32',
  equity: '103820.56',
  buying_power: '262113.632',
  account_blocked: false,
  trading_blocked: false,
  trade_suspended_by_user: false,
  shorting_enabled: true,
};
export const CLOCK = {
  timestamp: '2026-11-17T10:15:22-05:00',
  is_open: true,
  next_open: '2026-11-18T09:30:00-05:00',
  next_close: '2026-11-17T16:00:00-05:00',
};
const ASSET = { class: 'us_equity', name: 'Apple', status: 'active', tradable: true, fractionable: true };
export const ORDER = {
  id: '61e69015-8549-4bfd-b9c3-01e75843f47d',
  client_order_id: ID,
  symbol: 'AAPL',
  side: 'buy',
  qty: '1',
  filled_qty: '0',
  filled_avg_price: null,
  status: 'pending_new',
};

export type Said = (init: RequestInit) => Response | Promise<Response>;
export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Said =>
  () =>
    Response.json(body, { status, headers });
export const refusal = (status: number, code: number | null, message: string): Said =>
  json({ ...(code !== null && { code }), message }, status);

/** Alpaca as it is on a good day, but for what is given, by "GET /v2/clock". */
export async function opened(answers: Record<string, Said> = {}, environment = 'live') {
  const asked: string[] = [];
  /** What was sent along, by the call. */
  const sent: { readonly what: string; readonly query: string; readonly body: unknown }[] = [];
  const good: Record<string, Said> = {
    'GET /v2/account': json(ACCOUNT),
    'GET /v2/clock': json(CLOCK),
    'GET /v2/assets': json([
      { ...ASSET, id: 'a', symbol: 'AAPL' },
      { ...ASSET, id: 'b', symbol: 'GME', fractionable: false },
      { ...ASSET, id: 'c', symbol: 'OLD', tradable: false },
    ]),
    'GET /v2/positions': json([]),
    'POST /v2/orders': json(ORDER),
    'GET /v2/orders:by_client_order_id': refusal(404, 40410000, `order not found for ${ID}`),
  };
  const open = openAlpaca({
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url);
      const what = `${init.method ?? 'GET'} ${pathname}`;
      asked.push(what);
      const text = init.body ? await new Response(init.body).text() : '';
      sent.push({ what, query: search.slice(1), body: text ? JSON.parse(text) : null });
      const answer = { ...good, ...answers }[what];
      return answer
        ? answer(text ? { ...init, body: text } : init)
        : new Response('nothing', { status: 404 });
    },
  });
  const account = { id: 'a' as AccountId, environment, paper: null, credentials: KEYS };
  const connection = await open(account, NO_HURRY);
  return { asked, sent, connection, broker: patient(connection) };
}

export const order = (more: Partial<BrokerOrder> = {}): BrokerOrder => ({
  clientOrderId: ID,
  instrument: {
    symbol: 'AAPL',
    description: 'Apple',
    contractSize: decimal(1),
    quantityStep: decimal('0.000000001'),
    minQuantity: decimal('0.000000001'),
    tickSize: decimal('0.01'),
    open: true,
    nextOpen: null,
  },
  side: 'buy',
  quantity: decimal(1),
  reduceOnly: false,
  sendBefore: NEVER,
  ...more,
});
