// What each exchange tells by itself: where its private stream of order updates is, what must be said there before it tells,
// and which orders a message names. No more is read: what a stream says is never believed, it makes somebody look.
//
// Not through ccxt.pro: it keeps keys, subscriptions and orders in its object, which is then one for each user, and prints
// what it cannot read together with the address, which is a secret at Binance. What it sends is the same.

import { createHmac } from 'node:crypto';
import type { OrderHint } from '../broker.ts';
import type { Said } from '../stream.ts';
import { type Feed, question } from './profile.ts';
import { at, each, type Row, text, word } from './rows.ts';
import type { Credentials } from './wire.ts';

const sign = (algorithm: 'sha256' | 'sha512', encoding: 'hex' | 'base64', secret: string, words: string) =>
  createHmac(algorithm, secret).update(words).digest(encoding);

const seconds = (now: number): number => Math.floor(now / 1000);

const ordersIn = (rows: unknown, hints: (row: Row) => OrderHint | readonly OrderHint[]): Said | undefined => {
  const orders = each(rows, hints)?.flat();
  return orders && { orders };
};

export const binanceFeed: Feed = {
  async open({ asking, stream }) {
    const key = await asking.ask(question('fapiPrivatePostListenKey', [], (body) => text(body, 'listenKey')));
    return { url: `${stream}?listenKey=${encodeURIComponent(key)}`, words: [] };
  },
  read(message) {
    const event = text(message, 'e');
    if (event === 'listenKeyExpired') return { over: true };
    const order = at(message, 'o');
    if (event === 'ALGO_UPDATE')
      return {
        orders: [{ clientOrderId: text(order, 'caid') ?? null, brokerRef: word(order, 'aid') ?? null }],
      };
    if (event !== 'ORDER_TRADE_UPDATE') return undefined;
    return {
      orders: [{ clientOrderId: text(order, 'c') ?? null, brokerRef: word(order, 'i') ?? null }],
    };
  },
  ping: () => null,
};

/** So long after it was signed Bybit takes a login. */
const LOGIN_MS = 10_000;

export const bybitFeed: Feed = {
  open: ({ stream, credentials: { apiKey, secret } }) => ({
    url: stream,
    words: [
      (now) => {
        const expires = Math.round(now) + LOGIN_MS;
        const signature = sign('sha256', 'hex', secret, `GET/realtime${expires}`);
        return { op: 'auth', args: [apiKey, expires, signature] };
      },
      () => ({ op: 'subscribe', args: ['order'] }),
    ],
  }),
  read(message) {
    const op = text(message, 'op');
    if (op === 'auth' || op === 'subscribe')
      return at(message, 'success') === true ? { agreed: true } : { refused: word(message, 'retCode') ?? op };
    if (text(message, 'topic') !== 'order') return undefined;
    return ordersIn(at(message, 'data'), (row) => ({
      clientOrderId: text(row, 'orderLinkId') ?? null,
      brokerRef: text(row, 'orderId') ?? null,
    }));
  },
  ping: () => JSON.stringify({ op: 'ping' }),
};

/** OKX and Bitget say it alike, but for what is signed. */
const login =
  ({ apiKey, secret, passphrase }: Credentials, path: string) =>
  (now: number): object => {
    const timestamp = `${seconds(now)}`;
    const signature = sign('sha256', 'base64', secret, `${timestamp}GET${path}`);
    return { op: 'login', args: [{ apiKey, passphrase, timestamp, sign: signature }] };
  };

const readEvent = (message: unknown): Said | undefined => {
  const [event, code] = [text(message, 'event'), word(message, 'code')];
  if (event === 'error') return { refused: code ?? event };
  if (event === 'login') return code === undefined || code === '0' ? { agreed: true } : { refused: code };
  return event === 'subscribe' ? { agreed: true } : undefined;
};

export const okxFeed: Feed = {
  open: ({ stream, credentials }) => ({
    url: stream,
    words: [
      login(credentials, '/users/self/verify'),
      () => ({ op: 'subscribe', args: [{ channel: 'orders', instType: 'SWAP' }] }),
    ],
  }),
  read(message) {
    if (text(message, 'arg', 'channel') !== 'orders' || at(message, 'data') === undefined)
      return readEvent(message);
    return ordersIn(at(message, 'data'), (row) => {
      const [ours, own] = [text(row, 'clOrdId') ?? null, text(row, 'ordId') ?? null];
      // What waited for a price is known by its ids of then, and its order has others.
      const [waited, algo] = [text(row, 'algoClOrdId') ?? null, text(row, 'algoId') ?? null];
      return [
        { clientOrderId: ours, brokerRef: own },
        ...((waited ?? algo) ? [{ clientOrderId: waited, brokerRef: algo }] : []),
      ];
    });
  },
  ping: () => 'ping',
};

export const bitgetFeed: Feed = {
  open: ({ stream, credentials, kind }) => ({
    url: kind === 'unified' ? stream.replace('/v2/', '/v3/') : stream,
    words: [
      login(credentials, '/user/verify'),
      () => ({
        op: 'subscribe',
        args: [
          kind === 'unified'
            ? { instType: 'UTA', topic: 'order' }
            : { instType: 'USDT-FUTURES', channel: 'orders', instId: 'default' },
        ],
      }),
    ],
  }),
  read(message) {
    const channel = text(message, 'arg', 'channel') ?? text(message, 'arg', 'topic');
    if (!['orders', 'order'].includes(channel ?? '') || at(message, 'data') === undefined)
      return readEvent(message);
    return ordersIn(at(message, 'data'), (row) => ({
      clientOrderId: text(row, 'clientOid') ?? null,
      brokerRef: text(row, 'orderId') ?? null,
    }));
  },
  ping: () => 'ping',
};

const GATE_ORDERS = 'futures.orders';

export const gateFeed: Feed = {
  async open({ asking, stream, credentials: { apiKey, secret } }) {
    const user = await asking.ask(
      question('privateFuturesGetSettleAccounts', [{ settle: 'usdt' }], (body) => word(body, 'user')),
    );
    return {
      url: stream,
      words: [
        (now) => {
          const time = seconds(now);
          const signed = `channel=${GATE_ORDERS}&event=subscribe&time=${time}`;
          return {
            time,
            channel: GATE_ORDERS,
            event: 'subscribe',
            payload: [user, '!all'],
            auth: { method: 'api_key', KEY: apiKey, SIGN: sign('sha512', 'hex', secret, signed) },
          };
        },
      ],
    };
  },
  read(message) {
    if (text(message, 'channel') !== GATE_ORDERS) return undefined;
    const refused = word(message, 'error', 'code');
    if (refused !== undefined) return { refused };
    if (text(message, 'event') === 'subscribe')
      return text(message, 'result', 'status') === 'success' ? { agreed: true } : { refused: 'subscribe' };
    return ordersIn(at(message, 'result'), (row) => ({
      clientOrderId: text(row, 'text')?.replace(/^t-/, '') ?? null,
      brokerRef: word(row, 'id') ?? null,
    }));
  },
  ping: (now) => JSON.stringify({ time: seconds(now), channel: 'futures.ping' }),
};
