// Binance's USD-M futures: a form in the address or the body, signed whole, with the time and the window in it. A market
// order is answered with its fill where the client asks for the RESULT. Ids are unique among open orders.

import {
  type Answer,
  type Dialect,
  isResting,
  NUMBERS,
  type Office,
  type RefusalCode,
  type SeenOrder,
  type SeenPosition,
  type Taken,
  turnedAway,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import { absolute, decimal, multiply, ZERO } from '../../src/domain/decimal.ts';
import { tellKlines } from './binance-klines.ts';
import { binanceStops } from './binance-stops.ts';
import { plainOffice } from './conditional.ts';
import { binanceStream, listenKeyOf } from './streams.ts';
import {
  among,
  type Call,
  COINS,
  header,
  hmac,
  listener,
  mayComeFrom,
  openly,
  type Params,
  paramsOf,
  perpetuals,
  quantityOf,
  type Routes,
  visit,
} from './wire.ts';

const MARKETS = perpetuals((coin) => `${coin}USDT`);
const RECV_WINDOW_MS = 5_000;
const MOST_AHEAD_MS = 1_000;

const said = (body: object): Answer => ({
  status: 200,
  body,
  headers: { 'x-mbx-used-weight-1m': '17', 'x-mbx-order-count-1m': '3' },
});
const refused = (status: number, code: number, msg: string): Answer => ({ status, body: { code, msg } });

const busy = (ms: number): Answer => ({
  ...refused(429, -1003, 'Too many requests; current limit of IP is 2400 requests per minute.'),
  headers: { 'retry-after': `${Math.ceil(ms / 1000)}`, 'x-mbx-used-weight-1m': '2401' },
});

const BAD_KEY = refused(401, -2015, 'Invalid API-key, IP, or permissions for action');
const NO_ORDER = refused(400, -2013, 'Order does not exist.');
const BAD_SYMBOL = refused(400, -1121, 'Invalid symbol.');
const missing = (name: string) =>
  refused(400, -1102, `Mandatory parameter '${name}' was not sent, was empty/null, or malformed.`);

const REFUSALS: Record<RefusalCode, Answer> = {
  insufficient_margin: refused(400, -2019, 'Margin is insufficient.'),
  market_closed: refused(400, -4141, 'Symbol is closed.'),
  invalid_symbol: BAD_SYMBOL,
  below_minimum: refused(
    400,
    -4164,
    "Order's notional must be no smaller than 5 (unless you choose reduce only).",
  ),
  off_step: refused(400, -1111, 'Precision is over the maximum defined for this asset.'),
  invalid_quantity: refused(400, -4005, 'Quantity greater than max quantity.'),
  broker_rate_limited: busy(2_000),
  position_mode_mismatch: refused(400, -4061, "Order's position side does not match user's setting."),
  no_position: refused(400, -2022, 'ReduceOnly Order is rejected.'),
  expired: refused(400, -5028, 'Timestamp for this request is outside of the ME recvWindow.'),
  duplicate: refused(400, -4116, 'ClientOrderId is duplicated.'),
  would_trigger: refused(400, -2021, 'Order would immediately trigger.'),
};

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'NEW',
  partially_filled: 'PARTIALLY_FILLED',
  filled: 'FILLED',
  cancelled: 'CANCELED',
  failed: 'REJECTED',
};

const typeOf = ({ limit }: SeenOrder): string => (limit === null ? 'MARKET' : 'LIMIT');

const tellOrder = (order: SeenOrder) => ({
  orderId: Number(order.ref),
  symbol: order.symbol,
  status: STATES[order.status],
  clientOrderId: order.clientOrderId,
  price: order.limit ?? '0.00',
  avgPrice: order.fillPrice ?? '0.00000',
  origQty: order.quantity,
  executedQty: order.fillQuantity,
  cumQuote: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  timeInForce: 'GTC',
  type: typeOf(order),
  reduceOnly: order.reduceOnly,
  closePosition: false,
  side: order.side.toUpperCase(),
  positionSide: 'BOTH',
  stopPrice: '0.00',
  workingType: 'CONTRACT_PRICE',
  priceProtect: false,
  origType: typeOf(order),
  priceMatch: 'NONE',
  selfTradePreventionMode: 'EXPIRE_MAKER',
  goodTillDate: 0,
  updateTime: order.updatedAt,
});

/** As the stream tells it: each name is a letter. */
const tellUpdate = (order: SeenOrder) => ({
  s: order.symbol,
  c: order.clientOrderId,
  S: order.side.toUpperCase(),
  o: typeOf(order),
  f: 'GTC',
  q: order.quantity,
  p: order.limit ?? '0',
  ap: order.fillPrice ?? '0',
  sp: '0',
  x: order.status === 'placed' ? 'NEW' : order.status === 'cancelled' ? 'CANCELED' : 'TRADE',
  X: STATES[order.status],
  i: Number(order.ref),
  l: order.fillQuantity,
  z: order.fillQuantity,
  L: order.fillPrice ?? '0',
  N: 'USDT',
  n: order.fee ?? '0',
  T: order.updatedAt,
  t: 1,
  m: false,
  R: order.reduceOnly,
  wt: 'CONTRACT_PRICE',
  ot: typeOf(order),
  ps: 'BOTH',
  cp: false,
  rp: '0',
});

/** When it is placed or cancelled, and when it is asked for. */
const tellChanged = (order: SeenOrder) => ({ ...tellOrder(order), cumQty: order.fillQuantity });
const tellSeen = (order: SeenOrder) => ({ ...tellOrder(order), time: order.acceptedAt });

const tellTrade = (order: SeenOrder) => ({
  symbol: order.symbol,
  id: Number(order.ref) % 1e9,
  orderId: Number(order.ref),
  side: order.side.toUpperCase(),
  price: order.fillPrice ?? '0',
  qty: order.fillQuantity,
  realizedPnl: '0',
  quoteQty: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  commission: order.fee ?? '0',
  commissionAsset: 'USDT',
  time: order.updatedAt,
  positionSide: 'BOTH',
  buyer: order.side === 'buy',
  maker: false,
});

function tellPosition(position: SeenPosition, now: number) {
  const notional = multiply(position.quantity, position.lastPrice);
  const margin = multiply(absolute(notional), decimal('0.05'));
  const isolated = position.marginMode === 'isolated' ? margin : '0';
  return {
    symbol: position.symbol,
    positionSide: 'BOTH',
    positionAmt: position.quantity,
    entryPrice: position.averagePrice,
    breakEvenPrice: position.averagePrice,
    markPrice: position.lastPrice,
    unRealizedProfit: position.openProfit,
    liquidationPrice: '0',
    isolatedMargin: isolated,
    notional,
    marginAsset: 'USDT',
    isolatedWallet: isolated,
    initialMargin: margin,
    maintMargin: multiply(margin, decimal('0.1')),
    positionInitialMargin: margin,
    openOrderInitialMargin: '0',
    adl: 1,
    bidNotional: '0',
    askNotional: '0',
    updateTime: now,
  };
}

const tellMarket = ({ symbol, step, min, minValue, tick, isSuspended }: (typeof MARKETS)[number]) => ({
  symbol,
  pair: symbol,
  contractType: 'PERPETUAL',
  deliveryDate: 4_133_404_800_000,
  onboardDate: 1_569_398_400_000,
  status: isSuspended ? 'SETTLING' : 'TRADING',
  maintMarginPercent: '2.5000',
  requiredMarginPercent: '5.0000',
  baseAsset: symbol.slice(0, -4),
  quoteAsset: 'USDT',
  marginAsset: 'USDT',
  pricePrecision: 8,
  quantityPrecision: 8,
  baseAssetPrecision: 8,
  quotePrecision: 8,
  underlyingType: 'COIN',
  underlyingSubType: ['PoW'],
  triggerProtect: '0.0500',
  liquidationFee: '0.012500',
  marketTakeBound: '0.05',
  filters: [
    { filterType: 'PRICE_FILTER', minPrice: tick, maxPrice: '4529764', tickSize: tick },
    { filterType: 'LOT_SIZE', minQty: min, maxQty: '1000000', stepSize: step },
    { filterType: 'MARKET_LOT_SIZE', minQty: min, maxQty: '1000000', stepSize: step },
    { filterType: 'MAX_NUM_ORDERS', limit: 200 },
    { filterType: 'MIN_NOTIONAL', notional: minValue },
  ],
  orderTypes: ['LIMIT', 'MARKET'],
  timeInForce: ['GTC', 'IOC', 'FOK', 'GTX', 'GTD'],
});

const tellSpot = (coin: string) => ({
  symbol: `${coin}USDT`,
  status: 'TRADING',
  baseAsset: coin,
  baseAssetPrecision: 8,
  quoteAsset: 'USDT',
  quotePrecision: 8,
  orderTypes: ['LIMIT', 'MARKET'],
  isSpotTradingAllowed: true,
  isMarginTradingAllowed: true,
  filters: [
    { filterType: 'PRICE_FILTER', minPrice: '0.01', maxPrice: '1000000', tickSize: '0.01' },
    { filterType: 'LOT_SIZE', minQty: '0.00001', maxQty: '9000', stepSize: '0.00001' },
  ],
  permissions: ['SPOT'],
});

const INVERSE = {
  symbol: 'BTCUSD_PERP',
  pair: 'BTCUSD',
  contractType: 'PERPETUAL',
  deliveryDate: 4_133_404_800_000,
  onboardDate: 1_597_042_800_000,
  contractStatus: 'TRADING',
  contractSize: 100,
  marginAsset: 'BTC',
  baseAsset: 'BTC',
  quoteAsset: 'USD',
  pricePrecision: 1,
  quantityPrecision: 0,
  baseAssetPrecision: 8,
  quotePrecision: 8,
  filters: [
    { filterType: 'PRICE_FILTER', minPrice: '1000', maxPrice: '4520958', tickSize: '0.1' },
    { filterType: 'LOT_SIZE', minQty: '1', maxQty: '1000000', stepSize: '1' },
  ],
};

/** Of those that it has (GTX and GTD besides). */
const TIMES_IN_FORCE: Readonly<Record<string, 'gtc' | 'ioc' | 'fok'>> = {
  GTC: 'gtc',
  IOC: 'ioc',
  FOK: 'fok',
};

const isListed = (symbol: string | undefined) => MARKETS.some((market) => market.symbol === symbol);

function routesOf(all: Office): Routes {
  const office = plainOffice(all);
  const bookTicker = ({ symbol, isSuspended }: { symbol: string; isSuspended: boolean }) => {
    const { bid, ask } = office.quote(symbol);
    const quantity = isSuspended ? '0' : '12.5';
    return {
      symbol,
      bidPrice: bid,
      bidQty: quantity,
      askPrice: ask,
      askQty: quantity,
      time: office.now(),
      lastUpdateId: 1,
    };
  };

  /** By the exchange's id where there is one, as Binance does; of another symbol it is not found. */
  async function find({ holder, params }: Call): Promise<SeenOrder | null> {
    const { orderId, origClientOrderId: id = '', symbol } = params;
    const found = await (orderId
      ? office.findByRef(holder.account, orderId)
      : office.find(holder.account, id));
    return found?.symbol === symbol ? found : null;
  }

  const named = (
    call: Call,
    answer: () => Promise<Answer>,
    what: 'look_up' | 'cancel' = 'look_up',
  ): Visit => {
    const { symbol, orderId, origClientOrderId } = call.params;
    if (!isListed(symbol)) return turnedAway(BAD_SYMBOL);
    if (!orderId && !origClientOrderId) return turnedAway(missing('orderId'));
    return visit(what, call, answer);
  };

  function place(call: Call): Visit {
    const { holder, params, signedAt } = call;
    const { symbol = '', side = '', type, quantity, newClientOrderId = crypto.randomUUID() } = params;
    const { price, timeInForce } = params;
    if (/^(STOP|TAKE_PROFIT|TRAILING_STOP)/.test(type ?? ''))
      return turnedAway(
        refused(
          400,
          -4120,
          'Order type not supported for this endpoint. Please use the Algo Order API endpoints instead.',
        ),
      );
    if (type !== 'MARKET' && type !== 'LIMIT') return turnedAway(refused(400, -1116, 'Invalid orderType.'));
    const isLimit = type === 'LIMIT';
    if (isLimit && !timeInForce) return turnedAway(missing('timeInForce'));
    const force = TIMES_IN_FORCE[timeInForce ?? 'GTC'];
    if (isLimit && !force) return turnedAway(refused(400, -1115, 'Invalid timeInForce.'));
    if (isLimit && !price) return turnedAway(missing('price'));
    if (isLimit && !(Number(price) > 0)) return turnedAway(refused(400, -4001, 'Price less than 0.'));
    if (!isLimit && (price || timeInForce))
      return turnedAway(refused(400, -1106, "Parameter 'price' sent when not required."));
    if (!/^(BUY|SELL)$/.test(side)) return turnedAway(refused(400, -1117, 'Invalid side.'));
    if (!/^[.A-Z:/a-z0-9_-]{1,36}$/.test(newClientOrderId))
      return turnedAway(refused(400, -4015, 'Client order id is not valid.'));
    if (!quantity) return turnedAway(missing('quantity'));
    if (!(Number(quantity) > 0))
      return turnedAway(refused(400, -4003, 'Quantity less than or equal to zero.'));
    return {
      what: 'order',
      account: holder.account,
      order: {
        clientOrderId: newClientOrderId,
        symbol,
        side: side === 'BUY' ? 'buy' : 'sell',
        quantity: quantityOf(quantity),
        reduceOnly: params.reduceOnly === 'true',
        sendBefore: signedAt + call.windowMs,
        isHedged: (params.positionSide ?? 'BOTH') !== 'BOTH',
        ...(isLimit && force && { limit: quantityOf(price), timeInForce: force }),
      },
      tell: (taken) => tellTaken(taken, params.newOrderRespType === 'RESULT'),
    };
  }

  const positions = (call: Call) =>
    visit('positions', call, async () => {
      const { holder, params } = call;
      const held = await office.positions(holder.account);
      const rows = held.map((position) => tellPosition(position, office.now()));
      return said(rows.filter(({ symbol }) => symbol === (params.symbol ?? symbol)));
    });

  async function assetOf({ holder }: Call) {
    const { equity, cash, available } = await office.balance(holder.account);
    return {
      asset: 'USDT',
      walletBalance: cash,
      unrealizedProfit: `${Number(equity) - Number(cash)}`,
      marginBalance: equity,
      maintMargin: '0',
      initialMargin: `${Number(equity) - Number(available)}`,
      positionInitialMargin: `${Number(equity) - Number(available)}`,
      openOrderInitialMargin: '0',
      crossWalletBalance: cash,
      crossUnPnl: `${Number(equity) - Number(cash)}`,
      availableBalance: available,
      maxWithdrawAmount: available,
      updateTime: office.now(),
    };
  }

  const account = (call: Call) =>
    visit('other', call, async () => {
      const asset = await assetOf(call);
      const total = {
        totalInitialMargin: asset.initialMargin,
        totalMaintMargin: '0',
        totalWalletBalance: asset.walletBalance,
        totalUnrealizedProfit: asset.unrealizedProfit,
        totalMarginBalance: asset.marginBalance,
        totalPositionInitialMargin: asset.positionInitialMargin,
        totalOpenOrderInitialMargin: '0',
        totalCrossWalletBalance: asset.crossWalletBalance,
        totalCrossUnPnl: asset.crossUnPnl,
        availableBalance: asset.availableBalance,
        maxWithdrawAmount: asset.maxWithdrawAmount,
      };
      return said({ ...total, assets: [asset], positions: [] });
    });

  const balance = (call: Call) =>
    visit('other', call, async () => {
      const { asset, walletBalance, crossWalletBalance, crossUnPnl, availableBalance, ...rest } =
        await assetOf(call);
      const { maxWithdrawAmount, updateTime } = rest;
      const alias = { accountAlias: 'SgsR', asset, balance: walletBalance, crossWalletBalance, crossUnPnl };
      return said([{ ...alias, availableBalance, maxWithdrawAmount, marginAvailable: true, updateTime }]);
    });

  const stops = binanceStops(all, {
    ...{ said, refused, missing, isListed },
    refusal: ({ code }) => REFUSALS[code],
    busy: REFUSALS.broker_rate_limited,
    badSymbol: BAD_SYMBOL,
  });

  return {
    open: {
      'GET /fapi/v1/ping': () => ({}),
      'GET /fapi/v1/time': () => ({ serverTime: office.now() }),
      'GET /fapi/v1/exchangeInfo': () => ({
        timezone: 'UTC',
        serverTime: office.now(),
        rateLimits: [
          { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: 2400 },
          { rateLimitType: 'ORDERS', interval: 'MINUTE', intervalNum: 1, limit: 1200 },
        ],
        exchangeFilters: [],
        assets: [{ asset: 'USDT', marginAvailable: true, autoAssetExchange: '-10000' }],
        symbols: MARKETS.map(tellMarket),
      }),
      'GET /dapi/v1/exchangeInfo': () => ({ timezone: 'UTC', serverTime: office.now(), symbols: [INVERSE] }),
      'GET /api/v3/exchangeInfo': () => ({
        timezone: 'UTC',
        serverTime: office.now(),
        symbols: COINS.map(({ coin }) => tellSpot(coin)),
      }),
      'GET /fapi/v1/ticker/bookTicker': ({ symbol }: Params) => {
        const market = MARKETS.find((each) => each.symbol === symbol);
        return market ? bookTicker(market) : MARKETS.map(bookTicker);
      },
    },
    asked: {
      ...stops.asked,
      'POST /fapi/v1/order': place,
      'GET /fapi/v1/order': (call) =>
        named(call, async () => {
          const order = await find(call);
          return order ? said(tellSeen(order)) : NO_ORDER;
        }),
      'DELETE /fapi/v1/order': (call) =>
        named(
          call,
          async () => {
            const order = await find(call);
            const isDone = order && (await office.cancel(call.holder.account, order.ref));
            if (!isDone) return refused(400, -2011, 'Unknown order sent.');
            return said(tellChanged({ ...order, status: 'cancelled' }));
          },
          'cancel',
        ),
      [`POST ${LISTEN_KEY}`]: (call) =>
        visit('other', call, () => said({ listenKey: listenKeyOf(call.holder.standing) })),
      'GET /fapi/v1/openOrders': (call) =>
        visit('look_up', call, async () => {
          const orders = among(await office.orders(call.holder.account), { symbol: call.params.symbol });
          return said(orders.filter(isResting).map(tellSeen));
        }),
      'GET /fapi/v1/allOrders': (call) =>
        isListed(call.params.symbol)
          ? visit('look_up', call, async () => {
              const orders = among(await office.orders(call.holder.account), { symbol: call.params.symbol });
              return said(orders.map(tellSeen).reverse());
            })
          : turnedAway(missing('symbol')),
      'GET /fapi/v1/userTrades': (call) =>
        isListed(call.params.symbol)
          ? visit('look_up', call, async () => {
              const { symbol, orderId } = call.params;
              const orders = among(await office.orders(call.holder.account), { symbol });
              const filled = orders.filter(({ ref, fillPrice }) => fillPrice && ref === (orderId ?? ref));
              return said(filled.map(tellTrade).reverse());
            })
          : turnedAway(missing('symbol')),
      'GET /fapi/v3/positionRisk': positions,
      'GET /fapi/v2/positionRisk': positions,
      'GET /fapi/v3/account': account,
      'GET /fapi/v2/account': account,
      'GET /fapi/v3/balance': balance,
      'GET /fapi/v2/balance': balance,
      'GET /fapi/v1/positionSide/dual': (call) =>
        visit('other', call, () =>
          said({ dualSidePosition: call.holder.standing.positionMode === 'hedged' }),
        ),
      'GET /fapi/v1/leverageBracket': (call) =>
        visit('other', call, () => said(MARKETS.map(({ symbol }) => ({ symbol, brackets: [BRACKET] })))),
      'GET /fapi/v1/accountConfig': (call) =>
        visit('other', call, () => {
          const { permissions, positionMode } = call.holder.standing;
          return said({
            feeTier: 0,
            canTrade: permissions.includes('trade'),
            canDeposit: true,
            canWithdraw: permissions.includes('withdraw'),
            dualSidePosition: positionMode === 'hedged',
            updateTime: 0,
            multiAssetsMargin: false,
            tradeGroupId: -1,
          });
        }),
      'GET /fapi/v1/symbolConfig': (call) =>
        visit('other', call, () =>
          said(
            MARKETS.filter(({ symbol }) => symbol === (call.params.symbol ?? symbol)).map(({ symbol }) => ({
              symbol,
              marginType: call.holder.standing.marginMode === 'cross' ? 'CROSSED' : 'ISOLATED',
              isAutoAddMargin: false,
              leverage: 20,
              maxNotionalValue: '1000000',
            })),
          ),
        ),
      // ccxt asks for these with the markets.
      'GET /sapi/v1/capital/config/getall': (call) => visit('other', call, () => said([])),
      'GET /sapi/v1/margin/allPairs': (call) => visit('other', call, () => said([])),
      'GET /sapi/v1/margin/isolated/allPairs': (call) => visit('other', call, () => said([])),
      'GET /sapi/v1/account/apiRestrictions': (call) =>
        visit('other', call, () => {
          const { permissions, addresses } = call.holder.standing;
          return said({
            ipRestrict: addresses !== null,
            createTime: 1_623_840_271_000,
            enableReading: true,
            enableWithdrawals: permissions.includes('withdraw'),
            enableInternalTransfer: false,
            enableMargin: false,
            enableFutures: permissions.includes('trade'),
            permitsUniversalTransfer: false,
            enableVanillaOptions: false,
            enableSpotAndMarginTrading: false,
            enablePortfolioMarginTrading: false,
          });
        }),
    },
    trading: ['POST /fapi/v1/order', 'DELETE /fapi/v1/order', ...stops.trading],
  };
}

const BRACKET = {
  bracket: 1,
  initialLeverage: 20,
  notionalCap: 1e12,
  notionalFloor: 0,
  maintMarginRatio: 0.005,
  cum: 0,
};

/** Without RESULT the fill is not waited for. */
function tellTaken(taken: Taken, isAwaited: boolean): Answer {
  if (taken.outcome === 'refused') return REFUSALS[taken.code];
  const { order } = taken;
  if (isAwaited) return said(tellChanged(order));
  return said(tellChanged({ ...order, status: 'placed', fillQuantity: ZERO, fillPrice: null }));
}

const KLINES = '/fapi/v1/klines';
const LISTEN_KEY = '/fapi/v1/listenKey';

/** The one who asks, or what he is told at the door. */
function authenticate(office: Office, request: WireRequest): Call | Answer {
  const key = header(request, 'x-mbx-apikey');
  if (!key) return refused(401, -2014, 'API-key format invalid.');
  const holder = office.holderOf(key);
  const params = paramsOf(request);
  if (!holder || !params || !mayComeFrom(holder, request.address)) return BAD_KEY;
  const { timestamp } = params;
  // The one that is not signed.
  if (request.path === LISTEN_KEY)
    return { holder, params, signedAt: office.now(), windowMs: RECV_WINDOW_MS };
  if (!timestamp) return missing('timestamp');
  // What is signed is the address's part and the body's, one after the other, up to the signature.
  const [signed = '', signature] = (request.search + request.body).split(/&?signature=/);
  if (!signature) return missing('signature');
  if (hmac('sha256', holder.standing.apiSecret, signed, 'hex') !== signature)
    return refused(400, -1022, 'Signature for this request is not valid.');
  const signedAt = Number(timestamp);
  const windowMs = Number(params.recvWindow ?? RECV_WINDOW_MS);
  const now = office.now();
  if (signedAt > now + MOST_AHEAD_MS)
    return refused(400, -1021, "Timestamp for this request was 1000ms ahead of the server's time.");
  if (now - signedAt > windowMs)
    return refused(400, -1021, 'Timestamp for this request is outside of the recvWindow.');
  return { holder, params, signedAt, windowMs };
}

export const binance: Dialect = {
  roots: ['fapi', 'dapi', 'sapi', 'api'],
  traits: {
    refusesDuplicates: 'while_open',
    reduceOnly: true,
    fillsAfterMs: null,
    forgetsIdsAfterMs: null,
    limits: 'binance',
  },
  // By its documents margin is looked at when a stop triggers: assumed of the position too.
  manners: () => ({ endsWithPosition: false, stopsNeedPosition: false }),
  stream: binanceStream(tellUpdate),
  markets: MARKETS,
  refs: NUMBERS,
  idFields: ['orderId', 'clientOrderId', 'algoId', 'clientAlgoId'],
  busy,
  down: (problem) => refused(503, -1016, problem),
  denied: BAD_KEY,
  sample: said({
    orderId: 1,
    symbol: 'BTCUSDT',
    status: 'NEW',
    clientOrderId: 'none',
    origQty: '1',
    executedQty: '0',
  }),
  open(office) {
    const listen = listener(routesOf(office), {
      authenticate: (request) => authenticate(office, request),
      said,
      forbidden: BAD_KEY,
      unknown: (route) => refused(404, -1000, `there is no ${route} in this stub`),
    });
    const speech = { said, refused, missing, badSymbol: BAD_SYMBOL };
    return (request) =>
      request.path === KLINES
        ? openly(() => tellKlines(office, MARKETS, paramsOf(request) ?? {}, speech))
        : listen(request);
  },
};
