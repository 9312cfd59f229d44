// Bybit's API of version 5: JSON, signed in headers together with the time, the key and the window. Nearly everything is
// answered with 200 and a retCode. An order is answered with its ids and filled later; what has ended has nothing left,
// filled or not.

import {
  type Answer,
  type Dialect,
  isResting,
  type Office,
  type RefusalCode,
  type SeenOrder,
  type SeenPosition,
  type SeenStop,
  turnedAway,
  UUIDS,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import { absolute, multiply, sign, subtract, ZERO } from '../../src/domain/decimal.ts';
import { bybitStops, isLive, type StopOf, tellStop } from './bybit-stops.ts';
import { bybitStream } from './streams.ts';
import {
  type Call,
  COINS,
  header,
  hmac,
  listener,
  mayComeFrom,
  type Params,
  paramsOf,
  perpetuals,
  quantityOf,
  type Routes,
  visit,
} from './wire.ts';

const MARKETS = perpetuals((coin) => `${coin}USDT`);
const MOST_AHEAD_MS = 1_000;
const LIMIT = 20;

const told = (retCode: number, retMsg: string, result: object = {}): Answer => ({
  status: 200,
  body: { retCode, retMsg, result, retExtInfo: {}, time: Date.now() },
  headers: {
    'x-bapi-limit': `${LIMIT}`,
    'x-bapi-limit-status': `${LIMIT - 1}`,
    'x-bapi-limit-reset-timestamp': `${Date.now()}`,
  },
});
const said = (result: object): Answer => told(0, 'OK', result);
const listed = (list: readonly object[], category = 'linear'): Answer =>
  said({ category, list, nextPageCursor: '' });

const busy = (ms: number): Answer => ({
  ...told(10006, 'Too many visits. Exceeded the API Rate Limit.'),
  headers: {
    'x-bapi-limit': `${LIMIT}`,
    'x-bapi-limit-status': '0',
    'x-bapi-limit-reset-timestamp': `${Date.now() + ms}`,
  },
});

/** Of those that it has (PostOnly besides). */
const TIMES_IN_FORCE: Readonly<Record<string, 'gtc' | 'ioc' | 'fok'>> = {
  GTC: 'gtc',
  IOC: 'ioc',
  FOK: 'fok',
};

const LATE = 'invalid request, please check your server timestamp or recv_window param';

const REFUSALS: Record<RefusalCode, () => Answer> = {
  insufficient_margin: () => told(110007, 'ab not enough for new order'),
  market_closed: () => told(110074, 'This contract is not live'),
  invalid_symbol: () => told(10001, 'params error: symbol invalid'),
  below_minimum: () => told(110094, 'Order does not meet minimum order value 5USDT'),
  off_step: () => told(10001, 'Qty invalid'),
  invalid_quantity: () => told(10001, 'The number of contracts exceeds maximum limit allowed: too large'),
  broker_rate_limited: () => busy(2_000),
  position_mode_mismatch: () => told(10001, 'position idx not match position mode'),
  no_position: () => told(110017, 'current position is zero, cannot fix reduce-only order qty'),
  expired: () => told(10002, LATE),
  duplicate: () => told(110072, 'OrderLinkedID is duplicate'),
  would_trigger: () => told(110092, 'expect Rising, but trigger_price <= current'),
};

function stateOf({ status, fillQuantity, trigger, waitedFor }: SeenOrder): string {
  switch (status) {
    case 'placed':
      if (trigger !== null) return 'Untriggered';
      return waitedFor === null ? 'New' : 'Triggered';
    case 'partially_filled':
      return 'PartiallyFilled';
    case 'filled':
      return 'Filled';
    case 'cancelled':
      // One that is taken back before its price was there has a word of its own.
      if (trigger !== null) return 'Deactivated';
      return sign(fillQuantity) > 0 ? 'PartiallyFilledCanceled' : 'Cancelled';
    case 'failed':
      return 'Rejected';
  }
}

const capital = (side: string) => (side === 'buy' ? 'Buy' : 'Sell');

function tellOrder(order: SeenOrder, stop?: SeenStop) {
  const value = multiply(order.fillQuantity, order.fillPrice ?? ZERO);
  return {
    orderId: order.ref,
    orderLinkId: order.clientOrderId,
    blockTradeId: '',
    symbol: order.symbol,
    price: order.limit ?? '0',
    qty: order.quantity,
    side: capital(order.side),
    isLeverage: '',
    positionIdx: 0,
    orderStatus: stateOf(order),
    cancelType: order.status === 'cancelled' ? 'CancelByUser' : 'UNKNOWN',
    rejectReason: order.status === 'failed' ? 'EC_Others' : 'EC_NoError',
    avgPrice: order.fillPrice ?? '',
    // Nothing is left of what has ended, however much of it was filled.
    leavesQty: isResting(order) ? subtract(order.quantity, order.fillQuantity) : '0',
    leavesValue: '0',
    cumExecQty: order.fillQuantity,
    cumExecValue: value,
    cumExecFee: order.fee ?? '0',
    timeInForce: order.limit === null ? 'IOC' : 'GTC',
    orderType: order.limit === null ? 'Market' : 'Limit',
    stopOrderType: order.waitedFor === null ? '' : 'Stop',
    orderIv: '',
    triggerPrice: order.waitedFor ?? '',
    takeProfit: '',
    stopLoss: '',
    tpslMode: 'UNKNOWN',
    triggerDirection: order.waitedFor === null ? 0 : order.side === 'buy' ? 1 : 2,
    triggerBy: order.waitedFor === null ? '' : 'LastPrice',
    reduceOnly: order.reduceOnly,
    closeOnTrigger: false,
    cumFeeDetail: order.fee ? { USDT: order.fee } : {},
    createdTime: `${order.acceptedAt}`,
    updatedTime: `${order.updatedAt}`,
    ...(stop && tellStop(stop)),
  };
}

const tellTrade = (order: SeenOrder, stop?: SeenStop) => ({
  symbol: order.symbol,
  orderId: order.ref,
  orderLinkId: stop ? '' : order.clientOrderId,
  side: capital(order.side),
  orderPrice: order.limit ?? order.fillPrice ?? '0',
  orderQty: order.quantity,
  leavesQty: '0',
  orderType: order.limit === null ? 'Market' : 'Limit',
  stopOrderType: stop ? 'StopLoss' : 'UNKNOWN',
  createType: stop ? 'CreateByStopLoss' : 'CreateByUser',
  execFee: order.fee ?? '0',
  feeCurrency: 'USDT',
  execId: order.ref.replace(/^.{8}/, '0e0e0e0e'),
  execPrice: order.fillPrice ?? '0',
  execQty: order.fillQuantity,
  execType: 'Trade',
  execValue: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  execTime: `${order.updatedAt}`,
  isMaker: false,
});

const tellPosition = (position: SeenPosition, now: number) => ({
  positionIdx: 0,
  riskId: 1,
  riskLimitValue: '2000000',
  symbol: position.symbol,
  side: capital(sign(position.quantity) > 0 ? 'buy' : 'sell'),
  size: absolute(position.quantity),
  avgPrice: position.averagePrice,
  positionValue: absolute(multiply(position.quantity, position.averagePrice)),
  tradeMode: position.marginMode === 'isolated' ? 1 : 0,
  autoAddMargin: 0,
  positionStatus: 'Normal',
  leverage: '20',
  markPrice: position.lastPrice,
  liqPrice: '',
  bustPrice: '',
  positionIM: '0',
  positionMM: '0',
  tpslMode: 'Full',
  takeProfit: '',
  stopLoss: '',
  trailingStop: '0',
  unrealisedPnl: position.openProfit,
  cumRealisedPnl: '0',
  seq: 1,
  isReduceOnly: false,
  createdTime: `${now}`,
  updatedTime: `${now}`,
});

/** Flat symbols have their rows too: one, or one for each side. */
const tellFlat = (symbol: string, positionIdx: number) => ({
  ...tellPosition(
    {
      symbol,
      quantity: ZERO,
      averagePrice: ZERO,
      lastPrice: ZERO,
      openProfit: ZERO,
      marginMode: 'cross',
    },
    0,
  ),
  positionIdx,
  side: '',
  avgPrice: '0',
  positionValue: '',
});

const tellMarket = ({ symbol, step, min, minValue, tick, isSuspended }: (typeof MARKETS)[number]) => ({
  symbol,
  contractType: 'LinearPerpetual',
  status: isSuspended ? 'Closed' : 'Trading',
  baseCoin: symbol.slice(0, -4),
  quoteCoin: 'USDT',
  settleCoin: 'USDT',
  launchTime: '1585526400000',
  deliveryTime: '0',
  deliveryFeeRate: '',
  priceScale: '2',
  leverageFilter: { minLeverage: '1', maxLeverage: '100.00', leverageStep: '0.01' },
  priceFilter: { minPrice: tick, maxPrice: '1999999.8', tickSize: tick },
  lotSizeFilter: {
    maxOrderQty: '1000000',
    minOrderQty: min,
    qtyStep: step,
    postOnlyMaxOrderQty: '1000000',
    maxMktOrderQty: '1000000',
    minNotionalValue: minValue,
  },
  unifiedMarginTrade: true,
  fundingInterval: 480,
  copyTrading: 'none',
});

const tellSpot = (coin: string) => ({
  symbol: `${coin}USDT`,
  baseCoin: coin,
  quoteCoin: 'USDT',
  innovation: '0',
  status: 'Trading',
  marginTrading: 'both',
  lotSizeFilter: {
    basePrecision: '0.000001',
    quotePrecision: '0.00000001',
    minOrderQty: '0.000048',
    maxOrderQty: '71',
    minOrderAmt: '1',
    maxOrderAmt: '4000000',
  },
  priceFilter: { tickSize: '0.01' },
});

const INVERSE = {
  ...tellMarket(MARKETS[0] as (typeof MARKETS)[number]),
  symbol: 'BTCUSD',
  contractType: 'InversePerpetual',
  quoteCoin: 'USD',
  settleCoin: 'BTC',
  lotSizeFilter: { maxOrderQty: '1000000', minOrderQty: '1', qtyStep: '1' },
};

const isListed = (symbol: string | undefined) => MARKETS.some((market) => market.symbol === symbol);

function routesOf(office: Office): Routes {
  const ticker = (symbol: string) => {
    const { bid, ask } = office.quote(symbol);
    return {
      symbol,
      lastPrice: bid,
      indexPrice: bid,
      markPrice: bid,
      bid1Price: bid,
      bid1Size: '12',
      ask1Price: ask,
      ask1Size: '9',
      volume24h: '1000',
      turnover24h: '1000000',
    };
  };

  const instruments = ({ category, status, symbol }: Params) => {
    const lists: Record<string, () => readonly { symbol: string }[]> = {
      linear: () => MARKETS.map(tellMarket),
      spot: () => COINS.map(({ coin }) => tellSpot(coin)),
      inverse: () => [INVERSE],
    };
    const rows = status === 'PreLaunch' ? [] : (lists[category ?? '']?.() ?? []);
    return {
      category,
      list: rows.filter((row) => row.symbol === (symbol ?? row.symbol)),
      nextPageCursor: '',
    };
  };

  function place(call: Call): Visit {
    const { holder, params, signedAt } = call;
    const { category, symbol = '', side = '', orderType, qty, orderLinkId = crypto.randomUUID() } = params;
    if (category !== 'linear') return turnedAway(told(10001, 'params error: category only supports linear'));
    const { price, timeInForce = orderType === 'Limit' ? 'GTC' : 'IOC' } = params;
    const isLimit = orderType === 'Limit';
    if (!isLimit && orderType !== 'Market') return turnedAway(told(10001, 'OrderType invalid'));
    if (isLimit && !(Number(price) > 0)) return turnedAway(told(10001, 'params error: price invalid'));
    const force = TIMES_IN_FORCE[timeInForce];
    if (isLimit && !force) return turnedAway(told(10001, 'params error: timeInForce invalid'));
    if (params.stopLoss || params.takeProfit)
      return turnedAway(told(10001, 'this stub keeps stops of positions only'));
    if (!/^(Buy|Sell)$/.test(side)) return turnedAway(told(10001, 'Side invalid'));
    // With a trigger it is a conditional order, under the same ids: it waits for the price to rise to it (1), or to fall (2).
    const { triggerPrice, triggerDirection, triggerBy = 'LastPrice' } = params;
    if (triggerPrice && triggerDirection !== (side === 'Buy' ? '1' : '2'))
      return turnedAway(told(10001, 'this stub has no conditional order that waits the other way'));
    if (triggerPrice && (!(Number(triggerPrice) > 0) || triggerBy !== 'LastPrice'))
      return turnedAway(told(10001, 'params error: triggerPrice invalid'));
    if (!/^[A-Za-z0-9_-]{1,36}$/.test(orderLinkId))
      return turnedAway(told(10001, 'params error: OrderLinkId invalid'));
    if (!(Number(qty) > 0)) return turnedAway(told(10001, 'Qty invalid'));
    return {
      what: 'order',
      account: holder.account,
      order: {
        clientOrderId: orderLinkId,
        symbol,
        side: side === 'Buy' ? 'buy' : 'sell',
        quantity: quantityOf(qty),
        reduceOnly: params.reduceOnly === 'true',
        sendBefore: signedAt + call.windowMs,
        isHedged: (params.positionIdx ?? '0') !== '0',
        ...(isLimit && force && { limit: quantityOf(price), timeInForce: force }),
        ...(triggerPrice && { trigger: quantityOf(triggerPrice) }),
      },
      tell: (taken) =>
        taken.outcome === 'refused'
          ? taken.code === 'would_trigger' && side === 'Sell'
            ? told(110093, 'expect Falling, but trigger_price >= current')
            : REFUSALS[taken.code]()
          : said({ orderId: taken.order.ref, orderLinkId: taken.order.clientOrderId }),
    };
  }

  /** By either id; without one, all that there are. What the realtime list forgets, history has. */
  async function search({ holder, params }: Call, isHistory = true): Promise<readonly SeenOrder[]> {
    const { orderId, orderLinkId, symbol } = params;
    const { account } = holder;
    const isIt = (order: SeenOrder) =>
      order.symbol === (symbol ?? order.symbol) &&
      order.ref === (orderId || order.ref) &&
      order.clientOrderId === (orderLinkId || order.clientOrderId);
    if (orderId)
      return [await office.findByRef(account, orderId)].filter((order) => order !== null).filter(isIt);
    if (!orderLinkId || isHistory) return (await office.orders(account)).filter(isIt);
    return [await office.find(account, orderLinkId)].filter((order) => order !== null).filter(isIt);
  }

  const stops = bybitStops(office, { said, told, isListed, busy: REFUSALS.broker_rate_limited });
  const stopsByOrder = async ({ holder }: Call): Promise<StopOf> => {
    const byOrder = await stops.byOrder(holder.account);
    return ({ ref }) => byOrder.get(ref);
  };

  async function trades(call: Call): Promise<readonly object[]> {
    const stopOf = await stopsByOrder(call);
    const filled = (await search(call)).filter(
      ({ fillPrice, updatedAt }) => fillPrice && updatedAt >= Number(call.params.startTime ?? 0),
    );
    return filled.map((order) => tellTrade(order, stopOf(order)));
  }

  const orders = (call: Call, isHistory: boolean): Visit => {
    const { category, symbol, settleCoin, orderId, orderLinkId, openOnly, limit } = call.params;
    const isNamed = Boolean(orderId || orderLinkId);
    if (category !== 'linear') return turnedAway(told(10001, 'Illegal category'));
    if (symbol !== undefined && !isListed(symbol)) return turnedAway(told(10001, 'symbol invalid'));
    if (!symbol && !settleCoin && !isNamed)
      return turnedAway(
        told(10001, 'Missing some parameters that must be filled in, symbol or settleCoin or baseCoin'),
      );
    // What has ended a while ago: of a unified account with 1, of a classic one with 2.
    const isClosedToo = openOnly === (call.holder.standing.accountType === 'unified' ? '1' : '2');
    if (limit !== undefined && !(Number(limit) >= 1 && Number(limit) <= 50))
      return turnedAway(told(10001, 'params error: limit invalid'));
    const isShown = (order: SeenOrder) =>
      isHistory ? !isResting(order) : isResting(order) || isNamed || isClosedToo;
    return visit('look_up', call, async () => {
      const stopOf = await stopsByOrder(call);
      const rows = (await search(call, isHistory))
        .filter(isShown)
        .map((order) => tellOrder(order, stopOf(order)));
      // A stop is found by the exchange's id alone.
      if (orderLinkId) return listed(rows);
      const own = await stops.listed(
        call.holder.account,
        (stop) =>
          stop.symbol === (symbol ?? stop.symbol) &&
          stop.ref === (orderId || stop.ref) &&
          (isHistory ? !isLive(stop) : isLive(stop) || isNamed || isClosedToo),
      );
      return listed([...rows, ...own].slice(0, limit === undefined ? undefined : Number(limit)));
    });
  };

  async function positionRows({ holder, params }: Call) {
    const { symbol } = params;
    const held = [];
    for (const each of await office.positions(holder.account))
      held.push({
        ...tellPosition(each, office.now()),
        stopLoss: await stops.priceIn(holder.account, each.symbol),
      });
    if (symbol === undefined) return held;
    if (holder.standing.positionMode === 'hedged') return [tellFlat(symbol, 1), tellFlat(symbol, 2)];
    const own = held.filter((row) => row.symbol === symbol);
    return own.length > 0 ? own : [tellFlat(symbol, 0)];
  }

  async function balance({ holder, params }: Call): Promise<Answer> {
    const type = holder.standing.accountType === 'unified' ? 'UNIFIED' : 'CONTRACT';
    if (params.accountType !== type) return told(10001, `accountType only support ${type}.`);
    const { equity, cash, available } = await office.balance(holder.account);
    const coin = {
      coin: 'USDT',
      equity,
      usdValue: equity,
      walletBalance: cash,
      free: '',
      locked: '0',
      borrowAmount: '0',
      availableToWithdraw: available,
      unrealisedPnl: subtract(equity, cash),
      totalOrderIM: '0',
      totalPositionIM: subtract(equity, available),
    };
    const total = { totalEquity: equity, totalWalletBalance: cash, totalAvailableBalance: available };
    return said({ list: [{ accountType: type, ...total, coin: [coin] }] });
  }

  return {
    open: {
      'GET /v5/market/time': () => ({
        timeSecond: `${Math.floor(office.now() / 1000)}`,
        timeNano: `${office.now()}000000`,
      }),
      'GET /v5/market/instruments-info': instruments,
      'GET /v5/market/tickers': ({ category, symbol }) => ({
        category,
        list: MARKETS.filter((each) => each.symbol === (symbol ?? each.symbol)).map((each) =>
          ticker(each.symbol),
        ),
      }),
    },
    asked: {
      'POST /v5/order/create': place,
      'POST /v5/position/trading-stop': stops.set,
      'GET /v5/order/realtime': (call) => orders(call, false),
      'GET /v5/order/history': (call) => orders(call, true),
      'GET /v5/execution/list': (call) => visit('look_up', call, async () => listed(await trades(call))),
      'POST /v5/order/cancel': (call) =>
        visit('cancel', call, async () => {
          const [order] = call.params.orderId || call.params.orderLinkId ? await search(call) : [];
          const isDone = order && (await office.cancel(call.holder.account, order.ref));
          if (!isDone) return told(110001, 'order not exists or too late to cancel');
          return said({ orderId: order.ref, orderLinkId: order.clientOrderId });
        }),
      'GET /v5/position/list': (call) =>
        call.params.symbol !== undefined && !isListed(call.params.symbol)
          ? turnedAway(told(10001, 'params error: symbol invalid'))
          : visit('positions', call, async () => listed(await positionRows(call))),
      // ccxt asks for it with the markets.
      'GET /v5/asset/coin/query-info': (call) => visit('other', call, () => said({ rows: [] })),
      'GET /v5/account/wallet-balance': (call) => visit('other', call, () => balance(call)),
      'GET /v5/account/info': (call) =>
        visit('other', call, () => {
          const { accountType, marginMode } = call.holder.standing;
          return said({
            marginMode: marginMode === 'isolated' ? 'ISOLATED_MARGIN' : 'REGULAR_MARGIN',
            updatedTime: '1697078946000',
            unifiedMarginStatus: accountType === 'unified' ? 6 : 1,
            dcpStatus: 'OFF',
            timeWindow: 10,
            smpGroup: 0,
            isMasterTrader: false,
            spotHedgingStatus: 'OFF',
          });
        }),
      'GET /v5/user/query-api': (call) =>
        visit('other', call, () => {
          const { apiKey, permissions, addresses, accountType } = call.holder.standing;
          const mayTrade = permissions.includes('trade');
          return said({
            id: '13770661',
            note: 'fillpath',
            apiKey,
            readOnly: mayTrade ? 0 : 1,
            secret: '',
            permissions: {
              ContractTrade: mayTrade ? ['Order', 'Position'] : [],
              Spot: [],
              Wallet: permissions.includes('withdraw') ? ['AccountTransfer', 'Withdraw'] : [],
              Options: [],
              Derivatives: mayTrade ? ['DerivativesTrade'] : [],
              Exchange: [],
            },
            ips: addresses ?? ['*'],
            type: 1,
            unified: 0,
            uta: accountType === 'unified' ? 1 : 0,
            userID: 24600000,
            isMaster: true,
          });
        }),
    },
    trading: ['POST /v5/order/create', 'POST /v5/order/cancel', 'POST /v5/position/trading-stop'],
  };
}

const BAD_KEY = told(10003, 'API key is invalid.');

function authenticate(office: Office, request: WireRequest): Call | Answer {
  const key = header(request, 'x-bapi-api-key');
  const timestamp = header(request, 'x-bapi-timestamp');
  const window = header(request, 'x-bapi-recv-window') || '5000';
  const holder = office.holderOf(key);
  const params = paramsOf(request);
  if (!holder || !params) return BAD_KEY;
  const signed = timestamp + key + window + (request.method === 'POST' ? request.body : request.search);
  if (hmac('sha256', holder.standing.apiSecret, signed, 'hex') !== header(request, 'x-bapi-sign'))
    return told(10004, `error sign! origin_string[${signed}]`);
  const signedAt = Number(timestamp);
  const now = office.now();
  if (!(signedAt < now + MOST_AHEAD_MS && now - signedAt <= Number(window)))
    return told(
      10002,
      `${LATE}. req_timestamp[${timestamp}],server_timestamp[${now}],recv_window[${window}]`,
    );
  if (!mayComeFrom(holder, request.address))
    return told(10010, "Unmatched IP, please check your API key's bound IP addresses.");
  return { holder, params, signedAt, windowMs: Number(window) };
}

export const bybit: Dialect = {
  roots: ['v5'],
  traits: {
    refusesDuplicates: 'while_open',
    reduceOnly: true,
    fillsAfterMs: { least: 5, most: 150 },
    forgetsIdsAfterMs: null,
    limits: 'bybit',
  },
  manners: () => ({ secondStop: 'instead' }),
  stream: bybitStream((order) => tellOrder(order)),
  markets: MARKETS,
  refs: UUIDS,
  idFields: ['orderId', 'orderLinkId'],
  busy,
  down: (problem) => told(10016, `Server error: ${problem}`),
  denied: BAD_KEY,
  sample: said({ orderId: '00000000-0000-0000-0000-000000000000', orderLinkId: 'none' }),
  open: (office) =>
    listener(routesOf(office), {
      authenticate: (request) => authenticate(office, request),
      said,
      forbidden: told(10005, 'Permission denied, please check your API key permissions.'),
      unknown: (route) => ({ status: 404, body: { problem: `there is no ${route} in this stub` } }),
    }),
};
