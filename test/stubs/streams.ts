// The exchanges' private streams: how one logs in there, what one subscribes to, and how an order is told. Signatures, times
// and the order of the words are checked as the exchanges do.

import type { Office, SeenOrder, StreamDialect, StreamTalk } from '../../chaos/exchange-dialect.ts';
import type { Holder } from '../../chaos/exchange-standing.ts';
import { plainly } from './conditional.ts';
import { hmac } from './wire.ts';

type Clerk = Pick<Office, 'now' | 'holderOf'>;
type Row = (order: SeenOrder, holder: Holder) => object;
type Message = Readonly<Record<string, unknown>>;

const CONNECTION = 'd0a1b2c3';

function read(message: string): Message {
  try {
    const told: unknown = JSON.parse(message);
    return typeof told === 'object' && told !== null ? (told as Message) : {};
  } catch {
    return {};
  }
}

interface Door {
  /** Who logs in with it; null: nobody does. */
  login(message: Message): { readonly holder: Holder | null } | null;
  /** Whether it asks for orders. */
  isSubscription(message: Message): boolean;
  loggedIn(message: Message): object;
  subscribed(message: Message): object;
  refused(message: Message, why: 'login' | 'first' | 'channel'): object;
  /** null: it is no ping. */
  pong(text: string, message: Message): string | object | null;
  tell(order: SeenOrder, holder: Holder): object;
}

/** First a login, then a subscription; whatever else is said is refused. */
function talk({ login, isSubscription, loggedIn, subscribed, refused, pong, tell }: Door): StreamTalk {
  let holder: Holder | null = null;
  let isListening = false;
  return {
    hear(text) {
      const message = read(text);
      const answer = pong(text, message);
      if (answer !== null) return [answer];
      const who = login(message);
      if (who) {
        holder = who.holder;
        return [holder ? loggedIn(message) : refused(message, 'login')];
      }
      if (!holder) return [refused(message, 'first')];
      if (!isSubscription(message)) return [refused(message, 'channel')];
      isListening = true;
      return [subscribed(message)];
    },
    account: () => (isListening ? (holder?.account ?? null) : null),
    tell: (order) => (holder ? tell(order, holder) : {}),
  };
}

const argsOf = (message: Message): readonly unknown[] => (Array.isArray(message.args) ? message.args : []);

export const bybitStream = (row: Row): StreamDialect => ({
  isAt: (path) => path === '/v5/private',
  open: (clerk) =>
    talk({
      login(message) {
        if (message.op !== 'auth') return null;
        const [key, expires, signature] = argsOf(message).map(String);
        const holder = clerk.holderOf(key ?? '');
        const expected = hmac('sha256', holder?.standing.apiSecret ?? '', `GET/realtime${expires}`, 'hex');
        return { holder: signature === expected && Number(expires) > clerk.now() ? holder : null };
      },
      isSubscription: (message) => message.op === 'subscribe' && argsOf(message).includes('order'),
      loggedIn: () => ({ success: true, ret_msg: '', op: 'auth', conn_id: CONNECTION }),
      subscribed: () => ({ success: true, ret_msg: '', op: 'subscribe', conn_id: CONNECTION }),
      refused: ({ op }, why) => ({
        success: false,
        ret_msg: why === 'first' ? 'Request not authorized' : 'Params Error',
        op,
        conn_id: CONNECTION,
      }),
      pong: (_text, { op }) =>
        op === 'ping' ? { req_id: '', op: 'pong', args: [`${clerk.now()}`], conn_id: CONNECTION } : null,
      tell: (order, holder) => ({
        id: CONNECTION,
        topic: 'order',
        creationTime: clerk.now(),
        data: [{ category: 'linear', ...row(order, holder) }],
      }),
    }),
});

const LOGIN_WINDOW_MS = 30_000;

/** OKX and Bitget log in alike. */
function loginOf(clerk: Clerk, path: string, message: Message): { readonly holder: Holder | null } | null {
  if (message.op !== 'login') return null;
  const [args] = argsOf(message) as readonly [Readonly<Record<string, string>>?];
  const holder = clerk.holderOf(args?.apiKey ?? '');
  if (!args || !holder) return { holder: null };
  const { apiSecret, passphrase } = holder.standing;
  const isSigned = hmac('sha256', apiSecret, `${args.timestamp}GET${path}`, 'base64') === args.sign;
  const isNow = Math.abs(clerk.now() - Number(args.timestamp) * 1000) <= LOGIN_WINDOW_MS;
  return { holder: isSigned && isNow && args.passphrase === passphrase ? holder : null };
}

const pong = (text: string): string | null => (text === 'ping' ? 'pong' : null);

export const okxStream = (row: Row): StreamDialect => ({
  isAt: (path) => path === '/ws/v5/private',
  open(clerk) {
    let arg: unknown;
    return talk({
      login: (message) => loginOf(clerk, '/users/self/verify', message),
      isSubscription(message) {
        [arg] = argsOf(message);
        const { channel, instType } = (arg ?? {}) as Message;
        return message.op === 'subscribe' && channel === 'orders' && /^(SWAP|ANY)$/.test(String(instType));
      },
      loggedIn: () => ({ event: 'login', msg: '', code: '0', connId: CONNECTION }),
      subscribed: () => ({ event: 'subscribe', arg, connId: CONNECTION }),
      refused: (_message, why) => {
        const [code, msg] = {
          login: ['60009', 'Login failed.'],
          first: ['60011', 'Please log in'],
          channel: ['60018', 'Wrong URL or channel, instType doesn’t exist.'],
        }[why] as [string, string];
        return { event: 'error', code, msg, connId: CONNECTION };
      },
      pong,
      // Of algo orders it tells in another channel.
      tell(order, holder) {
        const known = plainly(order);
        return { arg, data: known ? [row(known, holder)] : [] };
      },
    });
  },
});

export const bitgetStream = (rows: { readonly classic: Row; readonly unified: Row }): StreamDialect => ({
  isAt: (path) => /^\/v[23]\/ws\/private$/.test(path),
  open(clerk, { path }) {
    const kind = path.startsWith('/v3') ? 'unified' : 'classic';
    let arg: unknown;
    return talk({
      login(message) {
        const who = loginOf(clerk, '/user/verify', message);
        return who?.holder && who.holder.standing.accountType !== kind ? { holder: null } : who;
      },
      isSubscription(message) {
        [arg] = argsOf(message);
        const { instType, channel, topic, instId } = (arg ?? {}) as Message;
        const asked = kind === 'unified' ? [instType, topic] : [instType, channel, instId];
        const offered = kind === 'unified' ? ['UTA', 'order'] : ['USDT-FUTURES', 'orders', 'default'];
        return message.op === 'subscribe' && asked.join() === offered.join();
      },
      loggedIn: () => ({ event: 'login', code: 0 }),
      subscribed: () => ({ event: 'subscribe', arg }),
      refused: (_message, why) => ({
        event: 'error',
        code: { login: 30005, first: 30004, channel: 30001 }[why],
        msg: 'error',
      }),
      pong,
      tell: (order, holder) => ({
        action: 'snapshot',
        arg,
        data: [rows[kind](order, holder)],
        ts: clerk.now(),
      }),
    });
  },
});

const GATE_WINDOW_MS = 60_000;

/** `row`: with decimals, where the handshake asks for them. */
export const gateStream = (
  user: number,
  row: (order: SeenOrder, hasDecimals: boolean) => unknown,
): StreamDialect => ({
  isAt: (path) => path === '/v4/ws/usdt' || path === '/v4/ws/futures/usdt',
  open(clerk, { headers }) {
    let holder: Holder | null = null;
    const hasDecimals = headers['x-gate-size-decimal'] === '1';
    const head = (channel: unknown, event: unknown) => ({
      time: Math.floor(clerk.now() / 1000),
      time_ms: clerk.now(),
      conn_id: CONNECTION,
      channel,
      event,
    });
    return {
      hear(text) {
        const { channel, event, time, auth, payload } = read(text);
        if (channel === 'futures.ping') return [{ ...head('futures.pong', ''), result: null }];
        const { KEY, SIGN } = (auth ?? {}) as Message;
        const asking = clerk.holderOf(String(KEY));
        const signed = `channel=${channel}&event=${event}&time=${time}`;
        const isSigned = hmac('sha512', asking?.standing.apiSecret ?? '', signed, 'hex') === SIGN;
        const isNow = Math.abs(clerk.now() - Number(time) * 1000) <= GATE_WINDOW_MS;
        const isOrders = channel === 'futures.orders' && event === 'subscribe';
        const [who, what] = Array.isArray(payload) ? payload.map(String) : [];
        const isOwn = who === `${user}` && /^(!all|\w+_USDT)$/.test(what ?? '');
        if (!asking || !isSigned || !isNow)
          return [{ ...head(channel, event), payload, error: { code: 4, message: 'authentication fail' } }];
        if (!isOrders || !isOwn)
          return [{ ...head(channel, event), payload, error: { code: 2, message: 'invalid argument' } }];
        holder = asking;
        return [{ ...head(channel, event), payload, result: { status: 'success' } }];
      },
      account: () => holder?.account ?? null,
      tell: (order) => ({
        ...head('futures.orders', 'update'),
        result: holder ? [row(order, hasDecimals)] : [],
      }),
    };
  },
});

/** A key of its own that is asked for over HTTP; who has it need not log in. */
export const listenKeyOf = ({ apiKey }: Holder['standing']): string =>
  Buffer.from(`listen ${apiKey}`).toString('hex');

export const binanceStream = (row: Row): StreamDialect => ({
  isAt: (path) => path === '/private/ws',
  open(clerk, { query }) {
    const [, apiKey = ''] =
      /^listen (.*)$/.exec(Buffer.from(query.get('listenKey') ?? '', 'hex').toString()) ?? [];
    const holder = clerk.holderOf(apiKey);
    return {
      hear: () => [],
      account: () => holder?.account ?? null,
      tell(order) {
        const known = plainly(order);
        const at = { E: clerk.now(), T: order.updatedAt };
        if (known) return { e: 'ORDER_TRADE_UPDATE', ...at, o: holder ? row(known, holder) : {} };
        const { clientOrderId: caid, ref, symbol: s, status } = order;
        const X = status === 'placed' ? 'NEW' : 'CANCELED';
        return { e: 'ALGO_UPDATE', ...at, o: { caid, aid: Number(ref), at: 'CONDITIONAL', s, X } };
      },
    };
  },
});

export const alpacaStream = (row: Row): StreamDialect => ({
  isAt: (path) => path === '/stream',
  open: (clerk) =>
    talk({
      login(message) {
        if (message.action !== 'authenticate') return null;
        const { key_id, secret_key } = (message.data ?? {}) as Message;
        const holder = clerk.holderOf(String(key_id));
        return { holder: holder?.standing.apiSecret === secret_key ? holder : null };
      },
      isSubscription: ({ action, data }) =>
        action === 'listen' && JSON.stringify(data) === '{"streams":["trade_updates"]}',
      loggedIn: () => ({ stream: 'authorization', data: { status: 'authorized', action: 'authenticate' } }),
      subscribed: () => ({ stream: 'listening', data: { streams: ['trade_updates'] } }),
      refused: (_message, why) =>
        why === 'channel'
          ? { stream: 'listening', data: { streams: [] } }
          : { stream: 'authorization', data: { status: 'unauthorized', action: 'authenticate' } },
      pong: () => null,
      tell: (order, holder) => ({
        stream: 'trade_updates',
        data: {
          event: order.status === 'filled' ? 'fill' : order.status === 'placed' ? 'new' : order.status,
          timestamp: new Date(order.updatedAt).toISOString(),
          order: row(order, holder),
        },
      }),
    }),
});
