// OKX v5, swaps. Sizes are in contracts of ctVal. An order is answered with its ids only, and the refusal of one stands in its
// row: the answer's own code says no more than that all failed. Some codes carry no decision: what they leave is unknown.

import { multiply, sign, subtract, ZERO } from '../../domain/decimal.ts';
import { okxFeed } from './feeds.ts';
import { CONFIG, dataOf, feeOf, readOrder } from './okx-rows.ts';
import { acknowledged, among, type Fill, isAnothers, isNobodysOfOurs, orderOfFills } from './orders.ts';
import {
  type Held,
  heldIn,
  inUsdt,
  lastPage,
  newOrder,
  orderNamed,
  type Page,
  type Profile,
  question,
  type Refusal,
  type SeenOrder,
  withoutUsdt,
} from './profile.ts';
import { amount, at, counted, each, exact, named, oneOf, present, type Row, text, unless } from './rows.ts';
import type { Heard } from './wire.ts';

function readFill(row: Row): Fill | undefined {
  const [ref, quantity, price] = [text(row, 'ordId'), exact(row, 'fillSz'), amount(row, 'fillPx')];
  if (!ref || !quantity || !price) return undefined;
  return { ref, clientId: text(row, 'clOrdId') ?? null, quantity, price, fee: feeOf(row, 'feeCcy') };
}

const IDS = { client: 'clOrdId', own: 'ordId' };
const MARGIN_MODES = { cross: 'cross', isolated: 'isolated' } as const;

function readHeld(row: Row): Held | undefined {
  const [marketId, quantity, side] = [text(row, 'instId'), exact(row, 'pos'), text(row, 'posSide')];
  const marginMode = oneOf(MARGIN_MODES, text(row, 'mgnMode'));
  const type = text(row, 'instType');
  const isSwap = type === 'SWAP';
  if (!type || !marketId || !quantity || !side || (isSwap && !marginMode)) return undefined;
  const averagePrice = amount(row, 'avgPx');
  if (sign(quantity) !== 0 && isSwap && !averagePrice) return undefined;
  return {
    marketId,
    quantity,
    averagePrice: averagePrice ?? ZERO,
    lastPrice: amount(row, 'last') ?? amount(row, 'markPx') ?? null,
    openProfit: amount(row, 'upl') ?? null,
    isHedged: side !== 'net',
    marginMode: marginMode ?? null,
  };
}

/** In dollars. Without a word of what is available each currency stands for itself, and there is nothing in USDT. */
function worthOf(account: unknown) {
  const equity = amount(account, 'totalEq');
  return {
    equity,
    cash: equity && subtract(equity, amount(account, 'upl') ?? ZERO),
    available: amount(account, 'availEq') ?? ZERO,
  };
}

/** The row's own code, where there is one: without it "all failed" (1) and "some did" (2) say nothing of an order. */
const refusal = ({ body }: Heard): Refusal | null => {
  const code = text(body, 'code');
  if (code === undefined || !/^\d+$/.test(code)) return null;
  const row = at(body, 'data', 0);
  const own = text(row, 'sCode');
  if (own !== undefined && own !== '0') return { code: own, words: text(row, 'sMsg') ?? '' };
  return ['0', '1', '2'].includes(code) ? null : { code, words: text(body, 'msg') ?? '' };
};

const PAGE = 100;

export const okx: Profile = {
  name: 'okx',
  title: 'OKX',
  environments: {
    live: { exchange: 'okx', mode: 'live', stream: 'wss://ws.okx.com:8443/ws/v5/private' },
    demo: { exchange: 'okx', mode: 'sandbox', stream: 'wss://wspap.okx.com:8443/ws/v5/private' },
    live_eea: { exchange: 'myokx', mode: 'live', stream: 'wss://wseea.okx.com:8443/ws/v5/private' },
    demo_eea: { exchange: 'myokx', mode: 'sandbox', stream: 'wss://wseeapap.okx.com:8443/ws/v5/private' },
  },
  feed: okxFeed,
  options: () => ({ fetchMarkets: { types: ['swap'] }, defaultType: 'swap' }),
  sizes: ({ info }) => {
    const [value, multiplier] = [exact(info, 'ctVal'), exact(info, 'ctMult')];
    return {
      contractSize: value && multiplier && sign(multiplier) > 0 ? multiply(value, multiplier) : value,
    };
  },

  refusal,
  codes: {
    '51008': 'insufficient_margin',
    '51119': 'insufficient_margin',
    '51127': 'insufficient_margin',
    '51131': 'insufficient_margin',
    '51021': 'market_closed',
    '51022': 'market_closed',
    '51027': 'market_closed',
    '51028': 'market_closed',
    '51029': 'market_closed',
    '51124': 'market_closed',
    // For a moment: a funding fee is settled, or its service is away.
    '51030': 'unavailable',
    '50001': 'unavailable',
    '51001': 'invalid_symbol',
    '51015': 'invalid_symbol',
    '51000': (words) => {
      if (/posSide/i.test(words)) return 'position_mode_mismatch';
      if (/instId/i.test(words)) return 'invalid_symbol';
      return /\bsz\b/i.test(words) ? 'invalid_quantity' : undefined;
    },
    '51005': 'invalid_quantity',
    '51007': 'invalid_quantity',
    '51020': 'invalid_quantity',
    '51100': 'invalid_quantity',
    '51118': 'invalid_quantity',
    '51120': 'invalid_quantity',
    '51121': 'invalid_quantity',
    '51150': 'invalid_quantity',
    '51202': 'invalid_quantity',
    '51203': 'invalid_quantity',
    '51023': 'no_position',
    '51112': 'no_position',
    '51134': 'no_position',
    '51169': 'no_position',
    '51170': 'no_position',
    '51205': 'no_position',
    // What is signed is counted by user, and orders by sub-account; what comes without a code is its edge's word.
    '50011': 'account_busy',
    '50061': 'account_busy',
    '50040': 'account_busy',
    '50102': 'clock',
    '50112': 'clock',
    '50036': 'clock',
    '50037': 'clock',
    '50100': 'credentials',
    '50101': 'credentials',
    '50103': 'credentials',
    '50104': 'credentials',
    '50105': 'credentials',
    '50111': 'credentials',
    '50113': 'credentials',
    '50114': 'credentials',
    '50119': 'credentials',
    '50110': 'address',
    '50035': 'address',
    '50030': 'permission',
    '50120': 'permission',
    '50027': 'permission',
    '51010': 'account_type',
    '51016': 'duplicate',
    '51603': 'not_found',
    '51400': 'not_found',
    '51401': 'not_found',
    '51402': 'not_found',
    '51405': 'not_found',
    '51410': 'not_found',
    '50004': 'unsaid',
    '50013': 'unsaid',
    '50026': 'unsaid',
    '51054': 'unsaid',
    '51149': 'unsaid',
    '51412': 'unsaid',
  },
  // Of whatever else an account asks for it takes several times as much.
  weightOf: (method) => (method === 'fetchPositions' || method === 'fetchBalance' ? 1 : 0),
  deadline: (_left, at) => ({ headers: { expTime: String(at) } }),

  time: question('publicGetPublicTime', [], (body) => {
    const time = Number(text(dataOf(body), 0, 'ts'));
    return time > 0 ? time : undefined;
  }),
  async identify({ ask }) {
    await ask(CONFIG);
    return 'unified';
  },
  async standing({ ask }) {
    const config = await ask(CONFIG);
    const may = text(config, 'perm')?.split(',');
    return {
      isHedged: text(config, 'posMode') === 'long_short_mode',
      identity: text(config, 'uid'),
      problems: [
        ...(may && !may.includes('trade')
          ? ['The key may only read: give it the permission Trade on OKX’s API page.']
          : []),
        ...(text(config, 'acctLv') === '1'
          ? [
              'The account is in Spot mode, which has no perpetuals: switch its account mode to Futures mode on OKX.',
            ]
          : []),
      ],
      warnings: [
        ...(may?.includes('withdraw') ? ['The key can withdraw: take off Withdraw on OKX’s API page.'] : []),
        ...(at(config, 'ip') === ''
          ? ['The key is not bound to an address: link it to this server’s IP on OKX’s API page.']
          : []),
      ],
    };
  },
  howToSwitch: 'On OKX, Trade → Settings → Order placement mode: choose One-way mode (Net)',

  namesMarginMode: true,
  place: (order) =>
    newOrder(order, (body): SeenOrder | undefined => {
      const { market, side, contracts: quantity, reduceOnly } = order;
      const row = at(dataOf(body), 0);
      const [ref, clientId] = [text(row, 'ordId'), text(row, 'clOrdId')];
      if (text(row, 'sCode') !== '0' || !ref || !clientId) return undefined;
      return acknowledged({ ref, clientId, marketId: market.id, side, quantity, reduceOnly });
    }),
  lookUps: (order) => [
    // Without a row it says neither that there is one nor that there is none.
    orderNamed(order, (body) => readOrder(at(dataOf(body), 0))),
    question('privateGetTradeOrdersHistory', [{ instId: order.market.id, instType: 'SWAP' }], (body) =>
      among(present(each(dataOf(body), unless(isAnothers(IDS, order), readOrder))), order),
    ),
    question('fetchMyTrades', [order.market.symbol, order.since], (body) =>
      orderOfFills(present(each(dataOf(body), unless(isAnothers(IDS, order), readFill))), order),
    ),
  ],
  cancel: (ref, market) =>
    question('cancelOrder', [ref, market.symbol], (body) => {
      const row = at(dataOf(body), 0);
      return text(row, 'sCode') === '0' && text(row, 'ordId') === ref ? true : undefined;
    }),
  openOrders: (_kind, after) =>
    question(
      'fetchOpenOrders',
      [undefined, undefined, undefined, { instType: 'SWAP', ...(after !== null && { after }) }],
      (body): Page<SeenOrder> | undefined => {
        const data = dataOf(body);
        const rows = present(each(data, unless(isNobodysOfOurs(IDS), readOrder)));
        if (!rows || !Array.isArray(data)) return undefined;
        return { rows, next: data.length < PAGE ? null : (text(data.at(-1), 'ordId') ?? null) };
      },
    ),
  positions: (market) =>
    question('fetchPositions', market ? [[market.symbol]] : [], (body) => {
      // Margin, dated futures and options too, which are not traded here and are held all the same.
      return lastPage(heldIn(market, each(dataOf(body), counted('instId', readHeld))));
    }),
  balance: () =>
    question('fetchBalance', [], (body) => {
      const details = each(at(dataOf(body), 0, 'details'), named('ccy'));
      if (!details) return undefined;
      const row = details.find((detail) => text(detail, 'ccy') === 'USDT');
      if (!row) return withoutUsdt('OKX', worthOf(at(dataOf(body), 0)));
      const [equity, cash] = [amount(row, 'eq'), amount(row, 'cashBal')];
      const available = amount(row, 'availEq') ?? amount(row, 'availBal') ?? cash;
      return inUsdt(equity, cash, available);
    }),
  quote: (market) =>
    question('publicGetMarketTicker', [{ instId: market.id }], (body) => {
      const row = at(dataOf(body), 0);
      const [bid, ask] = [amount(row, 'bidPx'), amount(row, 'askPx')];
      return bid && ask && text(row, 'instId') === market.id ? { bid, ask } : undefined;
    }),
};
