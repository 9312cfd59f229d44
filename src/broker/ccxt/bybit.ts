// Bybit v5, linear perpetuals. An order is answered with its ids only. It is looked for among the last 500 (which a restart
// of the exchange forgets), then in the history, then among the executions.

import { average, type Decimal, negate, sign, ZERO } from '../../domain/decimal.ts';
import { bybitFeed } from './feeds.ts';
import { acknowledged, among, type Fill, isAnothers, isNobodysOfOurs, only, orderOfFills } from './orders.ts';
import {
  type AccountKind,
  type Held,
  heldIn,
  inUsdt,
  lastPage,
  NO_USDT,
  newOrder,
  type Page,
  type Profile,
  question,
  type SeenOrder,
  withoutUsdt,
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

const FATES = {
  Created: 'open',
  New: 'open',
  PartiallyFilled: 'open',
  Untriggered: 'open',
  Triggered: 'open',
  Filled: 'ended',
  Cancelled: 'ended',
  PartiallyFilledCanceled: 'ended',
  Deactivated: 'ended',
  Rejected: 'failed',
} as const;
const SIDES = { Buy: 'buy', Sell: 'sell' } as const;
const IDS = { client: 'orderLinkId', own: 'orderId' };

export function readOrder(row: unknown): SeenOrder | undefined {
  const [ref, marketId, status] = [text(row, 'orderId'), text(row, 'symbol'), text(row, 'orderStatus')];
  const [quantity, filled] = [exact(row, 'qty'), exact(row, 'cumExecQty')];
  const side = oneOf(SIDES, text(row, 'side'));
  const fate = oneOf(FATES, status);
  if (!ref || !marketId || !quantity || !filled || !side || !fate) return undefined;
  const isFilled = sign(filled) > 0;
  const why = text(row, 'rejectReason');
  return {
    ref,
    clientId: text(row, 'orderLinkId') ?? null,
    marketId,
    side,
    quantity,
    filled,
    price: isFilled ? averageOf(row, filled) : null,
    fee: isFilled ? (amount(row, 'cumExecFee') ?? null) : null,
    fate,
    reason: fate === 'open' ? null : why && why !== 'EC_NoError' ? why : `the order is ${status}`,
    reduceOnly: at(row, 'reduceOnly') === true,
  };
}

/** A stop or a target of the position itself: it opens nothing, and is no order yet. Of a list: null is passed over. */
const readListed = (row: Row): SeenOrder | null | undefined =>
  at(row, 'closeOnTrigger') === true && text(row, 'orderStatus') === 'Untriggered' ? null : readOrder(row);

function averageOf(row: unknown, filled: Decimal): Decimal | null {
  const price = amount(row, 'avgPrice');
  if (price && sign(price) > 0) return price;
  const paid = amount(row, 'cumExecValue');
  return paid && sign(paid) > 0 ? average(paid, filled) : null;
}

function readHeld(row: Row): Held | undefined {
  const [marketId, size, place] = [text(row, 'symbol'), exact(row, 'size'), word(row, 'positionIdx')];
  if (!marketId || !size || !place) return undefined;
  const side = at(row, 'side');
  if (sign(size) !== 0 && side !== 'Buy' && side !== 'Sell') return undefined;
  const averagePrice = amount(row, 'avgPrice') ?? amount(row, 'entryPrice');
  if (sign(size) !== 0 && !averagePrice) return undefined;
  return {
    marketId,
    quantity: side === 'Sell' ? negate(size) : size,
    averagePrice: averagePrice ?? ZERO,
    lastPrice: amount(row, 'markPrice') ?? null,
    openProfit: amount(row, 'unrealisedPnl') ?? null,
    isHedged: place !== '0',
    marginMode: null,
  };
}

function readFill(row: Row): Fill | undefined {
  const [ref, quantity, price] = [text(row, 'orderId'), exact(row, 'execQty'), amount(row, 'execPrice')];
  if (!ref || !quantity || !price) return undefined;
  return {
    ref,
    clientId: text(row, 'orderLinkId') ?? null,
    quantity,
    price,
    fee: amount(row, 'execFee') ?? null,
  };
}

export const listOf = (body: unknown): unknown =>
  word(body, 'retCode') === '0' ? at(body, 'result', 'list') : undefined;

const PAGE = 20;
/** The exchange gives a place to go on from even where nothing follows. */
const page = <T>(body: unknown, read: (row: Row) => T | null | undefined): Page<T> | undefined => {
  const rows = each(listOf(body), read);
  if (!rows) return undefined;
  const next = rows.length < PAGE ? null : (text(body, 'result', 'nextPageCursor') ?? null);
  return { rows: rows.filter((row) => row !== null), next };
};

const HELD = counted('symbol', readHeld);

/** By its documents a market that is asked for has a row, whether or not anything is held there. */
const heldInOne = (market: { readonly id: string }, body: unknown): readonly Held[] | undefined => {
  const rows = heldIn(market, each(listOf(body), HELD));
  return rows && rows.length > 0 ? rows : undefined;
};

const isEmptyObject = (value: unknown): boolean => isRow(value) && Object.keys(value).length === 0;

export const bybit: Profile = {
  name: 'bybit',
  title: 'Bybit',
  environments: {
    live: { exchange: 'bybit', mode: 'live', stream: 'wss://stream.bybit.com/v5/private' },
    testnet: { exchange: 'bybit', mode: 'sandbox', stream: 'wss://stream-testnet.bybit.com/v5/private' },
    demo: { exchange: 'bybit', mode: 'demo', stream: 'wss://stream-demo.bybit.com/v5/private' },
  },
  feed: bybitFeed,
  options: (kind) => ({
    fetchMarkets: { types: ['linear'] },
    enableUnifiedMargin: false,
    enableUnifiedAccount: kind === 'unified',
    unifiedMarginStatus: 6,
    defaultType: 'swap',
  }),

  refusal: ({ body }) => {
    const code = word(body, 'retCode') ?? word(body, 'ret_code');
    return code === undefined || code === '0'
      ? null
      : { code, words: text(body, 'retMsg') ?? text(body, 'ret_msg') ?? '' };
  },
  codes: {
    // "parameter error" is what it says of many things.
    '10001': (words) => {
      if (/position idx not match/i.test(words)) return 'position_mode_mismatch';
      if (/symbol/i.test(words)) return 'invalid_symbol';
      return /qty|quantity|size/i.test(words) ? 'invalid_quantity' : undefined;
    },
    '110004': 'insufficient_margin',
    '110006': 'insufficient_margin',
    '110007': 'insufficient_margin',
    '110012': 'insufficient_margin',
    '110044': 'insufficient_margin',
    '110045': 'insufficient_margin',
    '110051': 'insufficient_margin',
    '110052': 'insufficient_margin',
    '110053': 'insufficient_margin',
    '110017': 'no_position',
    '110034': 'no_position',
    '110025': 'position_mode_mismatch',
    '110066': 'market_closed',
    '110074': 'market_closed',
    // For a moment: it settles.
    '110063': 'unavailable',
    '110094': 'invalid_quantity',
    '12137': 'invalid_quantity',
    '10029': 'invalid_symbol',
    // By account; 10018 and a 403 by address.
    '10006': 'account_busy',
    '10018': 'busy',
    '10429': 'busy',
    '429': 'busy',
    '10002': 'clock',
    '-1': 'clock',
    '10003': 'credentials',
    '10004': 'credentials',
    '10007': 'credentials',
    '33004': 'credentials',
    '-2015': 'credentials',
    '10009': 'address',
    '10010': 'address',
    '10005': 'permission',
    '10008': 'permission',
    '10024': 'permission',
    '10027': 'permission',
    '10020': 'account_type',
    '10028': 'account_type',
    '100028': 'account_type',
    '110072': 'duplicate',
    '110001': 'not_found',
    '110008': 'not_found',
    '110010': 'not_found',
    // ccxt takes these for a lack of permission: what is refused is this order, and another may be taken.
    '110068': 'refused',
    '110069': 'refused',
    '30011': 'refused',
    '30012': 'refused',
    '30013': 'refused',
    '10000': 'unsaid',
    '10016': 'unsaid',
    '5004': 'unsaid',
    '10014': 'duplicate',
  },
  // 403 is a ban of the address for ten minutes, or a country that is not served: only its words tell.
  refusedWithoutCode: ({ status, text: words }) => {
    if (status !== 403) return null;
    return /too frequent|rate limit|too many/i.test(words) ? 'busy' : 'unavailable';
  },
  delayMs: ({ status, headers }, now) => {
    if (status === 403) return 10 * 60_000;
    const reset = Number(headers.get('x-bapi-limit-reset-timestamp') ?? '');
    return reset > now ? reset - now : null;
  },
  deadline: (left) => ({ windowMs: Math.min(left, 60_000) }),

  time: question('publicGetV5MarketTime', [], (body) => {
    const time = Number(text(body, 'result', 'timeNano')?.slice(0, -6) ?? word(body, 'time'));
    return time > 0 ? time : undefined;
  }),
  async identify({ ask }, environment) {
    if (environment === 'demo') {
      // Demo accounts are unified, and have no answer to who they are.
      await ask(WALLET);
      return 'unified';
    }
    const key = await ask(KEY);
    return word(key, 'uta') === '1' || word(key, 'unified') === '1' ? 'unified' : 'classic';
  },
  async standing({ ask, hear }, _kind, environment) {
    const rows = await ask(
      question('privateGetV5PositionList', [{ category: 'linear', symbol: 'BTCUSDT' }], (body) =>
        heldInOne({ id: 'BTCUSDT' }, body),
      ),
    );
    const key: Row = (environment === 'demo' ? null : await hear(KEY)) ?? {};
    const wallet = at(key, 'permissions', 'Wallet');
    const contract = at(key, 'permissions', 'ContractTrade');
    const addresses = at(key, 'ips');
    return {
      isHedged: rows.some((row) => row.isHedged),
      identity: word(key, 'userID'),
      problems:
        word(key, 'readOnly') === '1' ||
        (Array.isArray(contract) && contract.length > 0 && !contract.includes('Order'))
          ? [
              'The key may only read: give it Read-Write with Orders and Positions of Contract in Bybit’s API Management.',
            ]
          : [],
      warnings: [
        ...(Array.isArray(wallet) && wallet.includes('Withdraw')
          ? ['The key can withdraw: take off "Withdrawal" in Bybit’s API Management.']
          : []),
        ...(Array.isArray(addresses) && (addresses.length === 0 || addresses.includes('*'))
          ? ['The key is not bound to an address: bind it to this server’s in Bybit’s API Management.']
          : []),
      ],
    };
  },
  howToSwitch: 'On Bybit, Derivatives → Preferences → Position Mode: choose One-Way Mode',

  namesMarginMode: false,
  place: (order) =>
    newOrder(order, (body): SeenOrder | undefined => {
      const { market, side, contracts: quantity, reduceOnly } = order;
      const ref = text(body, 'result', 'orderId');
      const clientId = text(body, 'result', 'orderLinkId');
      if (word(body, 'retCode') !== '0' || !ref || !clientId) return undefined;
      return acknowledged({ ref, clientId, marketId: market.id, side, quantity, reduceOnly });
    }),
  lookUps(order) {
    const { market, clientOrderId, ref, since } = order;
    const named = ref === null ? { orderLinkId: clientOrderId } : { orderId: ref };
    const listed = <T>(body: unknown, read: (row: Row) => T | undefined) =>
      present(each(listOf(body), unless(isAnothers(IDS, order), read)));
    const ours = (body: unknown) => among(only(listed(body, readOrder), order), order);
    return [
      question('privateGetV5OrderRealtime', [{ symbol: market.id, ...named, category: 'linear' }], ours),
      question('fetchCanceledAndClosedOrders', [market.symbol, undefined, undefined, named], ours),
      question('fetchMyTrades', [market.symbol, since, undefined, named], (body) =>
        orderOfFills(only(listed(body, readFill), order), order),
      ),
    ];
  },
  cancel: (ref, market) =>
    question('cancelOrder', [ref, market.symbol], (body) =>
      word(body, 'retCode') === '0' && text(body, 'result', 'orderId') === ref ? true : undefined,
    ),
  openOrders: (_kind, cursor) =>
    question(
      'fetchOpenOrders',
      [undefined, undefined, undefined, { type: 'swap', ...(cursor !== null && { cursor }) }],
      (body) => page(body, unless(isNobodysOfOurs(IDS), readListed)),
    ),
  positions: (market, _kind, cursor) =>
    question(
      'privateGetV5PositionList',
      [
        market
          ? { symbol: market.id, category: 'linear' }
          : { settleCoin: 'USDT', category: 'linear', ...(cursor !== null && { cursor }) },
      ],
      (body) => (market ? lastPage(heldInOne(market, body)) : page(body, HELD)),
    ),
  balance: (kind) => BALANCE(kind),
  quote: (market) =>
    question('publicGetV5MarketTickers', [{ category: 'linear', symbol: market.id }], (body) => {
      const row = at(listOf(body), 0);
      const [bid, ask] = [amount(row, 'bid1Price'), amount(row, 'ask1Price')];
      return bid && ask && text(row, 'symbol') === market.id ? { bid, ask } : undefined;
    }),
};

const KEY = question('privateGetV5UserQueryApi', [], (body) => {
  const key = word(body, 'retCode') === '0' ? at(body, 'result') : undefined;
  return isRow(key) && !isEmptyObject(key) ? key : undefined;
});

const walletOf = <T>(kind: AccountKind, read: (account: unknown, coins: readonly Row[]) => T | undefined) =>
  question(
    'privateGetV5AccountWalletBalance',
    [{ accountType: kind === 'unified' ? 'UNIFIED' : 'CONTRACT' }],
    (body) => {
      const account = at(listOf(body), 0);
      const coins = each(at(account, 'coin'), named('coin'));
      return coins && read(account, coins);
    },
  );

/** That there is one. */
const WALLET = walletOf('unified', () => true);

const BALANCE = (kind: AccountKind) =>
  walletOf(kind, (account, coins) => {
    const coin = coins.find((row) => text(row, 'coin') === 'USDT');
    if (!coin && kind === 'classic') return NO_USDT;
    if (!coin)
      return withoutUsdt('Bybit', {
        equity: amount(account, 'totalEquity'),
        cash: amount(account, 'totalWalletBalance'),
        available: amount(account, 'totalAvailableBalance'),
      });
    const [equity, cash] = [amount(coin, 'equity'), amount(coin, 'walletBalance')];
    const available =
      amount(account, 'totalAvailableBalance') ?? amount(coin, 'availableToWithdraw') ?? equity;
    return inUsdt(equity, cash, available);
  });
