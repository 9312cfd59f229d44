// Gate v4, USDT perpetuals. Sizes are in contracts, signed by the side; ids have "t-" in front. An order is found by ours while
// it is open and for 60 s after its end: then by the exchange's own id, in the list of finished ones, or by its fills.

import {
  absolute,
  add,
  compare,
  type Decimal,
  isWhole,
  negate,
  sign,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import type { Side } from '../../domain/orders/order.ts';
import { gateFeed } from './feeds.ts';
import { among, type Fill, isAnothers, isNobodysOfOurs, orderOfFills } from './orders.ts';
import {
  type Held,
  inUsdt,
  newOrder,
  orderNamed,
  type Page,
  type Profile,
  question,
  type Refusal,
  type SeenOrder,
} from './profile.ts';
import { amount, at, count, counted, each, isRow, present, type Row, text, unless, word } from './rows.ts';
import type { Heard } from './wire.ts';

const IDS = { client: 'text', own: 'id', prefix: 't-' };
const FILL_IDS = { ...IDS, own: 'order_id' };

const idOf = (row: unknown): string | null => {
  const words = text(row, 'text');
  return words?.startsWith('t-') ? words.slice(2) : (words ?? null);
};

export function readOrder(row: unknown): SeenOrder | undefined {
  const [ref, marketId, status] = [word(row, 'id'), text(row, 'contract'), text(row, 'status')];
  const [size, left] = [count(row, 'size'), count(row, 'left')];
  if (!ref || !marketId || !size || !left || sign(size) === 0) return undefined;
  if (status !== 'open' && status !== 'finished') return undefined;
  const quantity = absolute(size);
  if (compare(absolute(left), quantity) > 0) return undefined;
  const filled = subtract(quantity, absolute(left));
  return {
    ref,
    clientId: idOf(row),
    marketId,
    side: sign(size) > 0 ? 'buy' : 'sell',
    quantity,
    filled,
    price: sign(filled) > 0 ? (amount(row, 'fill_price') ?? null) : null,
    fee: null,
    fate: status === 'open' ? 'open' : 'ended',
    reason:
      status === 'open' ? null : `the order is finished as ${text(row, 'finish_as') ?? 'nothing known'}`,
    reduceOnly: at(row, 'is_reduce_only') === true || at(row, 'reduce_only') === true,
  };
}

/** Below zero to sell. A fraction of a contract is a text there. */
export function sizeOf({ side, contracts }: { readonly side: Side; readonly contracts: Decimal }) {
  const size = side === 'sell' ? negate(contracts) : contracts;
  return isWhole(size) ? Number(size) : size;
}

/** A close of whatever is held by then, such as a stop becomes: it has no size, and so no side. It opens nothing. */
export const closesAll = (row: Row): boolean => at(row, 'is_close') === true && count(row, 'size') === ZERO;

/** Of a list: null is passed over. */
const readListed = (row: Row): SeenOrder | null | undefined => (closesAll(row) ? null : readOrder(row));

export function readFill(row: Row): Fill | undefined {
  const [ref, size, price] = [word(row, 'order_id'), count(row, 'size'), amount(row, 'price')];
  if (!ref || !size || !price) return undefined;
  return { ref, clientId: idOf(row), quantity: absolute(size), price, fee: amount(row, 'fee') ?? null };
}

function readHeld(row: Row): Held | undefined {
  const [marketId, quantity, averagePrice] = [
    text(row, 'contract'),
    count(row, 'size'),
    amount(row, 'entry_price'),
  ];
  const mode = text(row, 'mode');
  if (!marketId || !quantity || !averagePrice || !mode) return undefined;
  return {
    marketId,
    quantity,
    averagePrice,
    lastPrice: amount(row, 'mark_price') ?? null,
    openProfit: amount(row, 'unrealised_pnl') ?? null,
    isHedged: mode !== 'single',
    marginMode: null,
  };
}

const refusal = ({ body }: Heard): Refusal | null => {
  const label = text(body, 'label');
  return label === undefined
    ? null
    : { code: label, words: text(body, 'message') ?? text(body, 'detail') ?? label };
};

const PAGE = 100;
const page = <T>(
  body: unknown,
  read: (row: Row) => T | null | undefined,
  offset: string | null,
): Page<T> | undefined => {
  const rows = each(body, read);
  if (!rows) return undefined;
  const next = rows.length < PAGE ? null : String(Number(offset ?? 0) + rows.length);
  return { rows: rows.filter((row) => row !== null), next };
};

export const gate: Profile = {
  name: 'gate',
  title: 'Gate',
  environments: {
    live: { exchange: 'gate', mode: 'live', stream: 'wss://fx-ws.gateio.ws/v4/ws/usdt' },
    testnet: { exchange: 'gate', mode: 'sandbox', stream: 'wss://ws-testnet.gate.com/v4/ws/futures/usdt' },
  },
  feed: gateFeed,
  options: (kind) => ({
    fetchMarkets: { types: ['swap'] },
    swap: { fetchMarkets: { settlementCurrencies: ['usdt'] } },
    unifiedAccount: kind === 'unified',
    defaultType: 'swap',
  }),
  // Without it what is told of a size ends at the point: 0.7 of a contract would be nothing.
  headers: { 'X-Gate-Size-Decimal': '1' },
  // ccxt takes every contract for whole.
  sizes: ({ info }) => {
    const least = at(info, 'enable_decimal') === true ? at(info, 'order_size_min') : undefined;
    return { step: least, min: least };
  },

  refusal,
  codes: {
    BALANCE_NOT_ENOUGH: 'insufficient_margin',
    FUTURES_BALANCE_NOT_ENOUGH: 'insufficient_margin',
    MARGIN_BALANCE_NOT_ENOUGH: 'insufficient_margin',
    INSUFFICIENT_AVAILABLE: 'insufficient_margin',
    LIQUIDATE_IMMEDIATELY: 'insufficient_margin',
    CONTRACT_IN_DELISTING: 'market_closed',
    CONTRACT_SUSPENDED: 'market_closed',
    MARKET_CLOSED: 'market_closed',
    TRADE_SUSPENDED: 'market_closed',
    CONTRACT_NOT_FOUND: 'invalid_symbol',
    INVALID_CURRENCY_PAIR: 'invalid_symbol',
    SIZE_TOO_LARGE: 'invalid_quantity',
    SIZE_TOO_SMALL: 'invalid_quantity',
    AMOUNT_TOO_LITTLE: 'invalid_quantity',
    AMOUNT_TOO_MUCH: 'invalid_quantity',
    INVALID_PRECISION: 'invalid_quantity',
    QUANTITY_NOT_ENOUGH: 'invalid_quantity',
    INVALID_PARAM_VALUE: (words) => {
      if (/contract|symbol|currency/i.test(words)) return 'invalid_symbol';
      return /size|amount|quantity/i.test(words) ? 'invalid_quantity' : undefined;
    },
    POSITION_DUAL_MODE: 'position_mode_mismatch',
    // It says so of a reduce-only order on nothing, in either mode.
    REDUCE_EXCEEDED: 'no_position',
    POSITION_EMPTY: 'no_position',
    POSITION_NOT_FOUND: 'no_position',
    INCREASE_POSITION: 'no_position',
    POSITION_IN_CLOSE: 'no_position',
    // What is signed is counted by user.
    TOO_FAST: 'account_busy',
    TOO_MANY_REQUESTS: 'account_busy',
    REQUEST_EXPIRED: 'clock',
    ORDER_EXPIRED: 'clock',
    INVALID_KEY: 'credentials',
    INVALID_CREDENTIALS: 'credentials',
    INVALID_SIGNATURE: 'credentials',
    AUTHENTICATION_FAILED: 'credentials',
    MISSING_REQUIRED_HEADER: 'credentials',
    IP_FORBIDDEN: 'address',
    READ_ONLY: 'permission',
    FORBIDDEN: 'permission',
    ACCOUNT_LOCKED: 'permission',
    SUB_ACCOUNT_LOCKED: 'permission',
    TRADE_RESTRICTED: 'permission',
    // The futures account does not exist until something was moved into it.
    USER_NOT_FOUND: 'account_type',
    REPEATED_CREATION: 'duplicate',
    DUPLICATE_TEXT: 'duplicate',
    ORDER_NOT_FOUND: 'not_found',
    CLIENT_ID_NOT_FOUND: 'not_found',
    ORDER_FINISHED: 'not_found',
    ORDER_CLOSED: 'not_found',
    ORDER_CANCELLED: 'not_found',
    INTERNAL: 'unsaid',
    SERVER_ERROR: 'unsaid',
    SERVER_TIMEOUT: 'unsaid',
    TOO_BUSY: 'unsaid',
  },
  delayMs: ({ headers }, now) => {
    const reset = Number(headers.get('x-gate-ratelimit-reset-timestamp') ?? '');
    // In seconds by its documents, and in milliseconds by some of its answers.
    const at = reset < 100_000_000_000 ? reset * 1000 : reset;
    return at > now ? at - now : null;
  },
  deadline: (_left, at) => ({ headers: { 'x-gate-exptime': String(at) } }),

  time: question('publicSpotGetTime', [], (body) => {
    const time = Number(word(body, 'server_time'));
    return time > 0 ? time : undefined;
  }),
  async identify({ ask, tell }) {
    // A key that may not ask who it is can trade all the same; what it may is proved by its futures account.
    const reply = await tell(DETAIL);
    await ask(ACCOUNT);
    return 'answer' in reply && word(reply.answer, 'key', 'mode') === '2' ? 'unified' : 'classic';
  },
  async standing({ ask, hear }) {
    const account = await ask(ACCOUNT);
    const detail = await hear(DETAIL);
    const addresses = at(detail, 'ip_whitelist');
    const keys = await hear(
      question('privateAccountGetMainKeys', [], (body) => each(body, (row): Row => row)),
    );
    const mayWithdraw = keys?.some((key) =>
      each(at(key, 'perms'), (row) => row)?.some((perm) => text(perm, 'name') === 'withdraw'),
    );
    return {
      isHedged:
        at(account, 'in_dual_mode') === true || (text(account, 'position_mode') ?? 'single') !== 'single',
      identity: word(detail, 'user_id'),
      problems: [],
      warnings: [
        ...(mayWithdraw
          ? ['A key of the account can withdraw: take off Withdraw on Gate’s API key page.']
          : []),
        ...(Array.isArray(addresses) && addresses.length === 0
          ? [
              'The key is not bound to an address: add this server’s to its IP whitelist on Gate’s API key page.',
            ]
          : []),
      ],
    };
  },
  howToSwitch: 'On Gate, Futures → Settings → Position Mode: choose One-way Mode',

  namesMarginMode: false,
  place(order) {
    // ccxt makes whole contracts of it, and of less than one an order without a size.
    return newOrder(order, readOrder, isWhole(order.contracts) ? {} : { size: sizeOf(order) });
  },
  lookUps: (order) => [
    orderNamed(order, readOrder),
    question('fetchClosedOrders', [order.market.symbol], (body) =>
      among(page(body, unless(isAnothers(IDS, order), readListed), null)?.rows, order),
    ),
    question('fetchMyTrades', [order.market.symbol, order.since], (body) =>
      orderOfFills(present(each(body, unless(isAnothers(FILL_IDS, order), readFill))), order),
    ),
  ],
  cancel: (ref, market) =>
    question('cancelOrder', [ref, market.symbol], (body) => (word(body, 'id') === ref ? true : undefined)),
  openOrders: (_kind, offset) =>
    question(
      'fetchOpenOrders',
      [undefined, undefined, undefined, { type: 'swap', ...(offset !== null && { offset }) }],
      (body) => page(body, unless(isNobodysOfOurs(IDS), readListed), offset),
    ),
  positions: (_market, _kind, offset) =>
    question('fetchPositions', offset === null ? [] : [undefined, { offset }], (body) =>
      page(body, counted('contract', readHeld), offset),
    ),
  balance: (kind) =>
    kind === 'unified'
      ? question('privateUnifiedGetAccounts', [], (body) => {
          const row = at(body, 'balances', 'USDT');
          const [equity, available] = [amount(row, 'equity'), amount(row, 'available')];
          const cash = available && add(available, amount(row, 'freeze') ?? ('0' as Decimal));
          return inUsdt(equity, cash, available);
        })
      : question('fetchBalance', [{ type: 'swap' }], (body) => {
          const [cash, profit, available] = [
            amount(body, 'total'),
            amount(body, 'unrealised_pnl'),
            amount(body, 'available'),
          ];
          return cash && profit && available
            ? { currency: 'USDT', equity: add(cash, profit), cash, available }
            : undefined;
        }),
  quote: (market) =>
    question('publicFuturesGetSettleTickers', [{ settle: 'usdt', contract: market.id }], (body) => {
      const row = at(body, 0);
      const [bid, ask] = [amount(row, 'highest_bid'), amount(row, 'lowest_ask')];
      return bid && ask && text(row, 'contract') === market.id ? { bid, ask } : undefined;
    }),
};

const DETAIL = question('privateAccountGetDetail', [], (body) =>
  isRow(body) && word(body, 'user_id') ? body : undefined,
);
const ACCOUNT = question('privateFuturesGetSettleAccounts', [{ settle: 'usdt' }], (body) =>
  isRow(body) && amount(body, 'total') && typeof at(body, 'in_dual_mode') === 'boolean' ? body : undefined,
);
