// Binance USD-M futures. Ids are unique among open orders only; an order is found by ours for 3 days where it ended
// unfilled, for 90 otherwise. The answer to an order is the order itself.

import { average, type Decimal, sign } from '../../domain/decimal.ts';
import { binanceFeed } from './feeds.ts';
import { among, isAnothers, isNobodysOfOurs } from './orders.ts';
import {
  type Held,
  inUsdt,
  lastPage,
  newOrder,
  orderNamed,
  type Profile,
  question,
  type Refusal,
  type SeenOrder,
} from './profile.ts';
import {
  amount,
  at,
  counted,
  each,
  exact,
  isRow,
  named,
  oneOf,
  present,
  type Row,
  text,
  unless,
  word,
} from './rows.ts';
import type { Heard } from './wire.ts';

const FATES = {
  PENDING_NEW: 'open',
  NEW: 'open',
  PARTIALLY_FILLED: 'open',
  PENDING_CANCEL: 'open',
  // Liquidations, which stand in the user's own list.
  NEW_INSURANCE: 'open',
  NEW_ADL: 'open',
  FILLED: 'ended',
  CANCELED: 'ended',
  EXPIRED: 'ended',
  EXPIRED_IN_MATCH: 'ended',
  REJECTED: 'failed',
} as const;

const IDS = { client: 'clientOrderId', own: 'orderId' };

export function readOrder(row: unknown): SeenOrder | undefined {
  const [ref, marketId, status] = [word(row, 'orderId'), text(row, 'symbol'), text(row, 'status')];
  const [quantity, filled] = [exact(row, 'origQty'), exact(row, 'executedQty')];
  const side = oneOf({ BUY: 'buy', SELL: 'sell' }, text(row, 'side'));
  const fate = oneOf(FATES, status);
  if (!ref || !marketId || !quantity || !filled || !side || !fate) return undefined;
  return {
    ref,
    clientId: text(row, 'clientOrderId') ?? null,
    marketId,
    side,
    quantity,
    filled,
    price: averageOf(row, filled),
    fee: null,
    fate,
    reason: fate === 'open' ? null : `the order is ${status}`,
    reduceOnly: at(row, 'reduceOnly') === true,
  };
}

/** The average may come as nothing, with what was paid in all beside it. */
function averageOf(row: unknown, filled: Decimal): Decimal | null {
  if (sign(filled) <= 0) return null;
  const price = amount(row, 'avgPrice');
  if (price && sign(price) > 0) return price;
  const paid = amount(row, 'cumQuote');
  return paid && sign(paid) > 0 ? average(paid, filled) : null;
}

function readHeld(row: Row): Held | undefined {
  const [marketId, quantity, averagePrice] = [
    text(row, 'symbol'),
    exact(row, 'positionAmt'),
    amount(row, 'entryPrice'),
  ];
  const side = text(row, 'positionSide');
  if (!marketId || !quantity || !averagePrice || !side) return undefined;
  return {
    marketId,
    quantity,
    averagePrice,
    lastPrice: amount(row, 'markPrice') ?? null,
    openProfit: amount(row, 'unRealizedProfit') ?? null,
    isHedged: side !== 'BOTH',
    marginMode: null,
  };
}

/** By its documents. What goes to another of its hosts is counted there. */
const WEIGHTS: Readonly<Record<string, number>> = {
  fapiPrivateV3GetBalance: 5,
  createOrder: 0,
  fapiPrivatePostAlgoOrder: 0,
  fetchPositionMode: 30,
  fetchPositions: 5,
  fetchBalance: 5,
  fetchOpenOrders: 40,
  fetchOrders: 5,
  fapiPublicGetTickerBookTicker: 2,
  fapiPublicGetKlines: 2,
  sapiGetAccountApiRestrictions: 0,
};

const refusal = ({ status, body, text: said }: Heard): Refusal | null => {
  // Of an address that it does not serve: in its JSON the code is 0, and its edge has none.
  if (status === 451) return { code: '451', words: text(body, 'msg') ?? said };
  const code = word(body, 'code');
  if (code === undefined || !/^-?\d+$/.test(code)) return null;
  const isError = code.startsWith('-') || status >= 400;
  return isError && code !== '200' && code !== '0' ? { code, words: text(body, 'msg') ?? '' } : null;
};

export const binance: Profile = {
  name: 'binance',
  title: 'Binance',
  environments: {
    live: { exchange: 'binanceusdm', mode: 'live', stream: 'wss://fstream.binance.com/private/ws' },
    testnet: {
      exchange: 'binanceusdm',
      mode: 'sandbox',
      stream: 'wss://fstream.binancefuture.com/private/ws',
    },
    demo: { exchange: 'binanceusdm', mode: 'demo', stream: 'wss://demo-fstream.binance.com/private/ws' },
  },
  feed: binanceFeed,
  options: () => ({
    fetchMarkets: { types: ['linear'] },
    warnOnFetchOpenOrdersWithoutSymbol: false,
    // Asked for before every list of positions otherwise, and only to compute what nobody reads here.
    leverageBrackets: {},
    portfolioMargin: false,
    // ccxt advises demo trading instead; who has keys of the testnet knows what they are for.
    disableFuturesSandboxWarning: true,
  }),
  rowKept: ['orderTypes'],

  refusal,
  codes: {
    '-2019': 'insufficient_margin',
    '-2018': 'insufficient_margin',
    '-2024': 'no_position',
    '-2022': 'no_position',
    '-4118': 'no_position',
    '-4141': 'market_closed',
    '-4140': 'market_closed',
    '-1122': 'market_closed',
    '-2016': 'market_closed',
    '-1121': 'invalid_symbol',
    '-4144': 'invalid_symbol',
    '-1111': 'invalid_quantity',
    '-1013': 'invalid_quantity',
    '-4003': 'invalid_quantity',
    '-4004': 'invalid_quantity',
    '-4005': 'invalid_quantity',
    '-4023': 'invalid_quantity',
    '-4164': 'invalid_quantity',
    '-4061': 'position_mode_mismatch',
    '-4062': 'position_mode_mismatch',
    '-1003': 'busy',
    // Too many orders, which are counted by account; requests by address.
    '-1015': 'account_busy',
    // Refused by the exchange's own word: it is overloaded, and has done nothing.
    '-1008': 'busy',
    '-1021': 'clock',
    '-5028': 'clock',
    '-2014': 'credentials',
    '-1022': 'credentials',
    '-2008': 'credentials',
    '-2015': 'address',
    '-1005': 'address',
    '-1011': 'address',
    '-2017': 'permission',
    '-1002': 'permission',
    '-4116': 'duplicate',
    '-2013': 'not_found',
    '-2011': 'not_found',
    // ccxt takes these for a lack of permission: what is refused is this order, and another may be taken.
    '-4087': 'refused',
    '-4088': 'refused',
    '-4192': 'refused',
    '-4400': 'refused',
    '-4401': 'refused',
    // Each carries a code and says nothing of whether the order was taken.
    '-1000': 'unsaid',
    '-1001': 'unsaid',
    '-1006': 'unsaid',
    '-1007': 'unsaid',
    '-1016': 'unsaid',
    '451': 'unavailable',
  },
  // By its documents: with this message nothing was done, with any other it is not known. In its own JSON only: a proxy
  // says the same in words of its own, and may have passed the order on.
  refusedWithoutCode: ({ status, body }) =>
    status === 503 && text(body, 'msg') === 'Service Unavailable.' ? 'busy' : null,
  delayMs: ({ headers, body }, now) => {
    const seconds = Number(headers.get('retry-after') ?? '');
    // Of a ban it says until when, in ms, and perhaps in words alone.
    const until = Number(/banned until (\d{13})\b/.exec(text(body, 'msg') ?? '')?.[1] ?? 0);
    const delay = Math.max(seconds > 0 ? seconds * 1000 : 0, until - now);
    return delay > 0 ? delay : null;
  },
  weightOf: (method) => WEIGHTS[method] ?? 1,
  usedWeight: (headers) => {
    const used = Number(headers.get('x-mbx-used-weight-1m') ?? '');
    return used > 0 ? used : null;
  },
  deadline: (left) => ({ windowMs: Math.min(left, 60_000) }),

  time: question('fapiPublicGetTime', [], (body) => {
    const time = Number(word(body, 'serverTime'));
    return time > 0 ? time : undefined;
  }),
  async identify({ ask }) {
    await ask(POSITION_MODE);
    return 'classic';
  },
  async standing({ ask, hear }, _kind, environment) {
    const isHedged = await ask(POSITION_MODE);
    const identity = (await hear(ALIAS)) ?? undefined;
    if (environment !== 'live') return { isHedged, identity, problems: [], warnings: [] };
    const restrictions = question('sapiGetAccountApiRestrictions', [], (body) =>
      isRow(body) ? body : undefined,
    );
    const key: Row = (await hear(restrictions)) ?? {};
    return {
      isHedged,
      identity,
      problems:
        key.enableFutures === false
          ? ['The key may not trade futures: enable "Enable Futures" for it in Binance’s API Management.']
          : [],
      warnings: [
        ...(key.enableWithdrawals === true
          ? ['The key can withdraw: take off "Enable Withdrawals" in Binance’s API Management.']
          : []),
        ...(key.ipRestrict === false
          ? ['The key is not bound to an address: restrict it to trusted IPs in Binance’s API Management.']
          : []),
      ],
    };
  },
  howToSwitch: 'On Binance, Futures → Preferences → Position Mode: choose One-way Mode',

  namesMarginMode: false,
  place: (order) => newOrder(order, readOrder),
  lookUps: (order) => [
    orderNamed(order, readOrder),
    question('fetchOrders', [order.market.symbol, order.since], (body) =>
      among(present(each(body, unless(isAnothers(IDS, order), readOrder))), order),
    ),
  ],
  cancel: (ref, market) =>
    question('cancelOrder', [ref, market.symbol], (body) =>
      word(body, 'orderId') === ref ? true : undefined,
    ),
  openOrders: () =>
    question('fetchOpenOrders', [], (body) =>
      lastPage(present(each(body, unless(isNobodysOfOurs(IDS), readOrder)))),
    ),
  positions: () =>
    question('fetchPositions', [], (body) => lastPage(each(body, counted('symbol', readHeld)))),
  balance: () =>
    question('fetchBalance', [{ type: 'swap' }], (body) => {
      const [equity, cash, available] = [
        amount(body, 'totalMarginBalance'),
        amount(body, 'totalWalletBalance'),
        amount(body, 'availableBalance'),
      ];
      const isWhole = each(at(body, 'assets'), named('asset')) !== undefined;
      return isWhole ? inUsdt(equity, cash, available) : undefined;
    }),
  quote: (market) =>
    question('fapiPublicGetTickerBookTicker', [{ symbol: market.id }], (body) => {
      const [bid, ask] = [amount(body, 'bidPrice'), amount(body, 'askPrice')];
      return bid && ask && text(body, 'symbol') === market.id ? { bid, ask } : undefined;
    }),
};

/** The same for every key of the account. */
const ALIAS = question('fapiPrivateV3GetBalance', [], (body) => text(body, 0, 'accountAlias'));
const POSITION_MODE = question('fetchPositionMode', [], (body) => {
  const dual = at(body, 'dualSidePosition');
  return typeof dual === 'boolean' ? dual : undefined;
});
