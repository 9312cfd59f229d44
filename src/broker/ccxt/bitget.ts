// Bitget, USDT perpetuals, of classic accounts (v2) and unified ones (v3): the same exchange in two languages, each with
// endpoints, words and codes of its own. An order is answered with its ids only, a reduce-only one perhaps with ours alone.

import { negate, sign, subtract, ZERO } from '../../domain/decimal.ts';
import { keyStanding } from './bitget-key.ts';
import { dataOf, IDS, listOf, PRODUCT, page, readOrder } from './bitget-rows.ts';
import { bitgetFeed } from './feeds.ts';
import { acknowledged, among, type Fill, isAnothers, isNobodysOfOurs, orderOfFills } from './orders.ts';
import {
  type AccountKind,
  type Held,
  inUsdt,
  NO_USDT,
  newOrder,
  orderNamed,
  type Profile,
  question,
  type Refusal,
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
} from './rows.ts';
import type { Heard } from './wire.ts';

function readFill(row: Row): Fill | undefined {
  const ref = text(row, 'orderId');
  const quantity = exact(row, 'execQty') ?? exact(row, 'baseVolume');
  const price = amount(row, 'execPrice') ?? amount(row, 'price');
  if (!ref || !quantity || !price) return undefined;
  return { ref, clientId: text(row, 'clientOid') ?? null, quantity, price, fee: null };
}

const MARGIN_MODES = { crossed: 'cross', cross: 'cross', isolated: 'isolated' } as const;

function readHeld(row: Row): Held | undefined {
  const [marketId, size] = [text(row, 'symbol'), exact(row, 'total')];
  const side = text(row, 'holdSide') ?? text(row, 'posSide');
  const mode = text(row, 'posMode') ?? text(row, 'holdMode');
  const marginMode = oneOf(MARGIN_MODES, text(row, 'marginMode'));
  if (!marketId || !size || !mode || !marginMode || (side !== 'long' && side !== 'short')) return undefined;
  const averagePrice = amount(row, 'openPriceAvg') ?? amount(row, 'avgPrice');
  if (sign(size) !== 0 && !averagePrice) return undefined;
  return {
    marketId,
    quantity: side === 'short' ? negate(size) : size,
    averagePrice: averagePrice ?? ZERO,
    lastPrice: amount(row, 'markPrice') ?? null,
    openProfit: amount(row, 'unrealizedPL') ?? amount(row, 'unrealisedPnl') ?? null,
    isHedged: isHedgeMode(mode),
    marginMode,
  };
}

const OPEN_ORDER = unless(isNobodysOfOurs(IDS), readOrder);

/** In dollars. */
function worthOf(account: unknown) {
  const [equity, effective] = [amount(account, 'accountEquity'), amount(account, 'effEquity')];
  return {
    equity,
    cash: equity && subtract(equity, amount(account, 'unrealisedPnl') ?? ZERO),
    available: effective && subtract(effective, amount(account, 'imr') ?? ZERO),
  };
}

const isHedgeMode = (word: string): boolean => word === 'hedge_mode' || word === 'double_hold';

const refusal = ({ body }: Heard): Refusal | null => {
  const code = text(body, 'code');
  return code === undefined || code === '00000' || !/^\d{3,6}$/.test(code)
    ? null
    : { code, words: text(body, 'msg') ?? '' };
};

export const bitget: Profile = {
  name: 'bitget',
  title: 'Bitget',
  environments: {
    live: { exchange: 'bitget', mode: 'live', stream: 'wss://ws.bitget.com/v2/ws/private' },
    demo: { exchange: 'bitget', mode: 'sandbox', stream: 'wss://wspap.bitget.com/v2/ws/private' },
  },
  feed: bitgetFeed,
  options: (kind) => ({
    fetchMarkets: { types: ['swap'] },
    uta: kind === 'unified',
    defaultType: 'swap',
    defaultSubType: 'linear',
  }),
  // It would ask for five more kinds of contracts, none of which is traded here.
  prepare(ccxt) {
    for (const [method, kind] of [
      ['publicMixGetV2MixMarketContracts', 'productType'],
      ['publicUtaGetV3MarketInstruments', 'category'],
    ] as const) {
      const asked = ccxt[method] as (params: Row) => Promise<unknown>;
      ccxt[method] = async (params: Row) => (params[kind] === PRODUCT ? asked(params) : { data: [] });
    }
  },
  // ccxt makes the step of the digits alone, which is too fine where it is a multiple. So it makes the tick, of a unified account.
  sizes: ({ info }) => ({
    step: text(info, 'quantityMultiplier') ?? text(info, 'sizeMultiplier'),
    tick: text(info, 'priceMultiplier'),
  }),

  refusal,
  codes: {
    '40711': 'insufficient_margin',
    '40712': 'insufficient_margin',
    '40754': 'insufficient_margin',
    '40762': 'insufficient_margin',
    '43012': 'insufficient_margin',
    '25202': 'insufficient_margin',
    '25203': 'insufficient_margin',
    '25219': 'insufficient_margin',
    // For a moment: its servers are upgraded.
    '40200': 'unavailable',
    '40308': 'market_closed',
    '40844': 'market_closed',
    '41114': 'market_closed',
    '43115': 'market_closed',
    '45043': 'market_closed',
    '25101': 'market_closed',
    '25102': 'market_closed',
    '25103': 'market_closed',
    '25105': 'market_closed',
    '25106': 'market_closed',
    '25108': 'market_closed',
    '40034': 'invalid_symbol',
    '40102': 'invalid_symbol',
    '40072': 'invalid_symbol',
    '40309': 'invalid_symbol',
    '40845': 'invalid_symbol',
    '25100': 'invalid_symbol',
    '25104': 'invalid_symbol',
    '40108': 'invalid_quantity',
    '40808': 'invalid_quantity',
    '43006': 'invalid_quantity',
    '43038': 'invalid_quantity',
    '45110': 'invalid_quantity',
    '45111': 'invalid_quantity',
    '45112': 'invalid_quantity',
    '45113': 'invalid_quantity',
    '25207': 'invalid_quantity',
    '25208': 'invalid_quantity',
    '25610': 'invalid_quantity',
    '25611': 'invalid_quantity',
    '40017': (words) => (/size|qty|quantity/i.test(words) ? 'invalid_quantity' : undefined),
    '400172': (words) => (/size|qty|quantity/i.test(words) ? 'invalid_quantity' : undefined),
    '25200': (words) => (/size|qty|quantity/i.test(words) ? 'invalid_quantity' : undefined),
    '40774': 'position_mode_mismatch',
    '25236': 'position_mode_mismatch',
    '25237': 'position_mode_mismatch',
    '22002': 'no_position',
    '40757': 'no_position',
    '45003': 'no_position',
    '45005': 'no_position',
    '45006': 'no_position',
    '25225': 'no_position',
    '25226': 'no_position',
    '25227': 'no_position',
    '25231': 'no_position',
    '25232': 'no_position',
    '25574': 'no_position',
    // What is signed is counted by user.
    '429': 'account_busy',
    '25004': 'account_busy',
    '40004': 'clock',
    '40005': 'clock',
    '40008': 'clock',
    '40001': 'credentials',
    '40002': 'credentials',
    '40003': 'credentials',
    '40006': 'credentials',
    '40009': 'credentials',
    '40011': 'credentials',
    '40012': 'credentials',
    '40036': 'credentials',
    '40037': 'credentials',
    '40041': 'credentials',
    // A key of another environment.
    '40099': 'credentials',
    '40018': 'address',
    '40038': 'address',
    '40014': 'permission',
    '40016': 'permission',
    '40031': 'permission',
    '40040': 'permission',
    '40301': 'permission',
    '25620': 'permission',
    '40084': 'account_type',
    '40085': 'account_type',
    '25245': 'account_type',
    '40786': 'duplicate',
    '45034': 'duplicate',
    '43118': 'duplicate',
    '25212': 'duplicate',
    '40708': (words) => (/client/i.test(words) ? 'duplicate' : undefined),
    '40109': 'not_found',
    '40768': 'not_found',
    '43001': 'not_found',
    '22001': 'not_found',
    '25204': 'not_found',
    // "Request timed out", which ccxt takes for wrong credentials.
    '40010': 'unsaid',
    '40015': 'unsaid',
    '40604': 'unsaid',
    '40725': 'unsaid',
    '25000': 'unsaid',
    '25001': 'unsaid',
    '25003': 'unsaid',
  },
  // It refuses what was signed more than 30 s ago: an order that must not come later is signed as if it were older.
  deadline: (left) => ({ agedMs: Math.max(0, 30_000 - left) }),

  time: question('publicCommonGetV2PublicTime', [], (body) => {
    const time = Number(text(dataOf(body), 'serverTime'));
    return time > 0 ? time : undefined;
  }),
  async identify({ ask, tell }): Promise<AccountKind> {
    const unified = await tell(SETTINGS);
    if ('answer' in unified) return 'unified';
    // What was refused may be the key, and not the kind of account: the other language tells.
    const classic = await tell(ACCOUNT);
    if ('answer' in classic) return 'classic';
    // It is a unified one after all: the first refusal is the one to be told.
    return classic.refused === 'account_type' && unified.refused !== 'account_type'
      ? ask(SETTINGS).then(() => 'unified')
      : ask(ACCOUNT).then(() => 'classic');
  },
  async standing(asking, kind) {
    const mode =
      kind === 'unified'
        ? text(await asking.ask(SETTINGS), 'holdMode')
        : text(await asking.ask(ACCOUNT), 'posMode');
    return { isHedged: isHedgeMode(mode ?? ''), ...(await keyStanding(asking, kind)) };
  },
  howToSwitch: 'On Bitget, Futures → Preferences → Position mode: choose One-way mode',

  namesMarginMode: true,
  marginModeSet: (market, kind) =>
    kind === 'unified'
      ? question('privateUtaGetV3AccountSettings', [], (body) => {
          const configured = each(listOf(body, 'symbolConfigList'), named('symbol'));
          const own = configured?.find((row) => text(row, 'symbol') === market.id);
          return configured && (oneOf(MARGIN_MODES, text(own, 'marginMode')) ?? null);
        })
      : question(
          'privateMixGetV2MixAccountAccount',
          [{ symbol: market.id, productType: PRODUCT, marginCoin: 'USDT' }],
          (body) => oneOf(MARGIN_MODES, text(dataOf(body), 'marginMode')),
        ),
  place(order, kind) {
    const { market, side, contracts: quantity, reduceOnly, marginMode } = order;
    // What ccxt passes on as it stands is to be in the exchange's own words.
    const own = kind === 'unified' && marginMode === 'cross' ? { marginMode: 'crossed' } : {};
    return newOrder(
      order,
      (body): SeenOrder | undefined => {
        const data = dataOf(body);
        const [ref, clientId] = [text(data, 'orderId') ?? null, text(data, 'clientOid')];
        if (!clientId || (ref === null && !reduceOnly)) return undefined;
        return acknowledged({ ref, clientId, marketId: market.id, side, quantity, reduceOnly });
      },
      own,
    );
  },
  lookUps(order, kind) {
    const { market, since } = order;
    const isUnified = kind === 'unified';
    const listed = <T>(list: unknown, read: (row: Row) => T | undefined) =>
      present(each(list, unless(isAnothers(IDS, order), read)));
    return [
      orderNamed(order, (body) => readOrder(dataOf(body))),
      question('fetchCanceledAndClosedOrders', [market.symbol, since], (body) =>
        among(listed(listOf(body, isUnified ? 'list' : 'entrustedList'), readOrder), order),
      ),
      question('fetchMyTrades', [market.symbol, since], (body) =>
        orderOfFills(listed(listOf(body, isUnified ? 'list' : 'fillList'), readFill), order),
      ),
    ];
  },
  cancel: (ref, market) =>
    question('cancelOrder', [ref, market.symbol], (body) =>
      text(dataOf(body), 'orderId') === ref ? true : undefined,
    ),
  openOrders: (kind, after) =>
    kind === 'unified'
      ? question(
          'fetchOpenOrders',
          [undefined, undefined, undefined, { type: 'swap', ...(after !== null && { cursor: after }) }],
          (body) =>
            page(each(listOf(body, 'list'), OPEN_ORDER), { of: 100, next: text(dataOf(body), 'cursor') }),
        )
      : question(
          'fetchOpenOrders',
          [undefined, undefined, undefined, { type: 'swap', ...(after !== null && { idLessThan: after }) }],
          (body) =>
            page(each(listOf(body, 'entrustedList'), OPEN_ORDER), {
              of: 100,
              next: text(dataOf(body), 'endId'),
            }),
        ),
  positions: (_market, kind) =>
    question('fetchPositions', [], (body) => {
      const held = kind === 'unified' ? listOf(body, 'list') : dataOf(body);
      const rows = each(held, counted('symbol', readHeld));
      return rows && { rows, next: null };
    }),
  balance: (kind) =>
    question('fetchBalance', [], (body) => {
      const rows =
        kind === 'unified'
          ? each(listOf(body, 'assets'), named('coin'))
          : each(dataOf(body), named('marginCoin'));
      const row = rows?.find((one) => (text(one, 'coin') ?? text(one, 'marginCoin')) === 'USDT');
      if (!rows) return undefined;
      if (!row) return kind === 'unified' ? withoutUsdt('Bitget', worthOf(dataOf(body))) : NO_USDT;
      const equity = amount(row, 'equity') ?? amount(row, 'accountEquity');
      // Of a classic account `available` leaves out what positions take.
      const available = amount(row, 'crossedMaxAvailable') ?? amount(row, 'available');
      const cash =
        amount(row, 'balance') ?? (equity && subtract(equity, amount(row, 'unrealizedPL') ?? ZERO));
      return inUsdt(equity, cash, available);
    }),
  quote: (market, kind) =>
    question(
      kind === 'unified' ? 'publicUtaGetV3MarketTickers' : 'publicMixGetV2MixMarketTicker',
      [{ symbol: market.id, [kind === 'unified' ? 'category' : 'productType']: PRODUCT }],
      (body) => {
        const row = at(dataOf(body), 0);
        const bid = amount(row, 'bid1Price') ?? amount(row, 'bidPr');
        const ask = amount(row, 'ask1Price') ?? amount(row, 'askPr');
        return bid && ask && text(row, 'symbol') === market.id ? { bid, ask } : undefined;
      },
    ),
  capabilities: (kind) => (kind === 'unified' ? { moves: 'amend', stopEntries: false } : { moves: 'set' }),
};

const SETTINGS = question('privateUtaGetV3AccountSettings', [], (body) => {
  const settings = dataOf(body);
  return isRow(settings) && text(settings, 'holdMode') ? settings : undefined;
});
const ACCOUNT = question(
  'privateMixGetV2MixAccountAccount',
  [{ symbol: 'BTCUSDT', productType: PRODUCT, marginCoin: 'USDT' }],
  (body) => {
    const account = dataOf(body);
    return isRow(account) && text(account, 'posMode') ? account : undefined;
  },
);
