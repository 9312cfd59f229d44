// Gate's futures in USDT: JSON, signed in headers over the method, the path, the query as it reads, a digest of the body and
// the time in seconds. Sizes are contracts, below zero to sell: whole ones, but where the contract takes decimals, and told as
// whole numbers, cut at the point, to whoever does not ask for decimals (X-Gate-Size-Decimal). The client's id is a text that begins with "t-", and
// found for 60 s after the order's end; nobody refuses a second order under it.

import {
  type Answer,
  type Dialect,
  isResting,
  NUMBERS,
  type Office,
  type RefusalCode,
  type SeenOrder,
  type SeenPosition,
  type StopTaken,
  type Taken,
  turnedAway,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import {
  absolute,
  type Decimal,
  decimal,
  isWhole,
  negate,
  sign,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import { gateStops } from './gate-stops.ts';
import { gateStream } from './streams.ts';
import {
  among,
  type Call,
  COINS,
  FOR_EVER,
  header,
  hmac,
  listener,
  mayComeFrom,
  type Params,
  paramsOf,
  perpetuals,
  quantityOf,
  type Routes,
  sha512,
  visit,
} from './wire.ts';

/** Finer than Gate's for the second and the third: chaos tells its orders apart by quantities. */
const SIZES = {
  BTC: 0.0001,
  ETH: 0.01,
  SOL: 0.001,
  BNB: 0.001,
  XRP: 10,
  DOGE: 10,
  ADA: 10,
  LINK: 1,
  AVAX: 1,
  LTC: 0.1,
};
const ONE = decimal(1);
/** Those that take decimals, and how fine. */
const DECIMALS: Readonly<Record<string, Decimal>> = { ETH_USDT: decimal('0.1') };
const MARKETS = perpetuals((coin) => `${coin}_USDT`, SIZES).map((market) => {
  const step = DECIMALS[market.symbol] ?? ONE;
  return { ...market, step, min: step };
});
const WINDOW_MS = 60_000;
const FUTURES = '/api/v4/futures/usdt';

const limits = (remaining: number, resetAt: number) => ({
  'x-gate-ratelimit-limit': '200',
  'x-gate-ratelimit-requests-remain': `${remaining}`,
  // In seconds.
  'x-gate-ratelimit-reset-timestamp': `${Math.floor(resetAt / 1000)}`,
});
const said = (body: object): Answer => ({ status: 200, body, headers: limits(199, Date.now()) });
const refused = (status: number, label: string, message: string): Answer => ({
  status,
  body: { label, message },
});

const busy = (ms: number): Answer => ({
  ...refused(429, 'TOO_MANY_REQUESTS', 'Request Rate limit Exceeded(399995), please try again later'),
  headers: limits(0, Date.now() + ms),
});

const NO_ORDER = refused(404, 'ORDER_NOT_FOUND', 'Order not found');

const REFUSALS: Record<RefusalCode, () => Answer> = {
  insufficient_margin: () => refused(400, 'INSUFFICIENT_AVAILABLE', 'available margin is insufficient'),
  market_closed: () =>
    refused(400, 'CONTRACT_IN_DELISTING', 'contract is delisting, only reduce-only orders are allowed'),
  invalid_symbol: () => refused(400, 'CONTRACT_NOT_FOUND', 'contract not found'),
  below_minimum: () => refused(400, 'SIZE_TOO_SMALL', 'order size is below the minimum'),
  off_step: () => refused(400, 'INVALID_PARAM_VALUE', 'invalid argument: size'),
  invalid_quantity: () => refused(400, 'SIZE_TOO_LARGE', 'order size is above the maximum'),
  broker_rate_limited: () => busy(2_000),
  position_mode_mismatch: () => refused(400, 'POSITION_DUAL_MODE', 'operation forbidden in dual-mode'),
  no_position: () => refused(400, 'POSITION_EMPTY', 'empty position'),
  expired: () => refused(400, 'REQUEST_EXPIRED', 'the request came after its x-gate-exptime'),
  duplicate: () => refused(400, 'REPEATED_CREATION', 'the text is known'),
  // Its orders wait for no price.
  would_trigger: () => refused(400, 'INVALID_PARAM_VALUE', 'invalid argument: price'),
};

/** Below zero to sell. */
const signed = (side: string, quantity: SeenOrder['quantity']) =>
  side === 'buy' ? quantity : negate(quantity);

const FINISHED: Record<SeenOrder['status'], string> = {
  placed: '',
  partially_filled: '',
  filled: 'filled',
  cancelled: 'cancelled',
  failed: 'cancelled',
};

/** A reduce-only order that found less than it wanted says so in a word of its own. */
const finishOf = ({ status, reduceOnly, reason }: SeenOrder) =>
  status === 'cancelled' && reduceOnly && reason?.startsWith('nothing') ? 'reduce_only' : FINISHED[status];

const USER = 100000;

/** `isClose`: a stop of the whole position became it. */
const tellOrder = (order: SeenOrder, isClose = false) => ({
  id: Number(order.ref),
  user: USER,
  contract: order.symbol,
  create_time: order.acceptedAt / 1000,
  ...(!isResting(order) && { finish_time: order.updatedAt / 1000, finish_as: finishOf(order) }),
  status: isResting(order) ? 'open' : 'finished',
  // Assumed: a close of whatever is held has no size, even when it has ended.
  size: isClose ? ZERO : signed(order.side, order.quantity),
  iceberg: 0,
  left: isClose ? ZERO : signed(order.side, subtract(order.quantity, order.fillQuantity)),
  price: order.limit ?? '0',
  fill_price: order.fillPrice ?? '0',
  mkfr: '-0.00025',
  tkfr: '0.00075',
  tif: order.limit === null ? 'ioc' : 'gtc',
  refu: 0,
  is_reduce_only: order.reduceOnly,
  is_close: isClose,
  is_liq: false,
  text: `t-${order.clientOrderId}`,
});

const tellTrade = (order: SeenOrder) => ({
  id: Number(order.ref) % 1e9,
  trade_id: `${Number(order.ref) % 1e9}`,
  create_time: order.updatedAt / 1000,
  contract: order.symbol,
  order_id: order.ref,
  size: signed(order.side, order.fillQuantity),
  close_size: 0,
  price: order.fillPrice ?? '0',
  role: 'taker',
  text: `t-${order.clientOrderId}`,
  fee: order.fee ?? '0',
  point_fee: '0',
});

const tellPosition = (position: SeenPosition, isHedged: boolean, now: number) => ({
  user: USER,
  contract: position.symbol,
  size: position.quantity,
  // Cross margin is a leverage of none.
  leverage: position.marginMode === 'cross' ? '0' : '20',
  cross_leverage_limit: position.marginMode === 'cross' ? '20' : '0',
  risk_limit: '1000000',
  leverage_max: '100',
  maintenance_rate: '0.005',
  value: '1',
  margin: '1',
  entry_price: position.averagePrice,
  liq_price: '0',
  mark_price: position.lastPrice,
  initial_margin: '1',
  maintenance_margin: '0.1',
  unrealised_pnl: position.openProfit,
  realised_pnl: '0',
  pending_orders: 0,
  close_order: null,
  mode: isHedged ? (sign(position.quantity) > 0 ? 'dual_long' : 'dual_short') : 'single',
  open_time: Math.floor(now / 1000),
  update_time: Math.floor(now / 1000),
});

const tellContract = ({ symbol, contractSize, tick, step, isSuspended }: (typeof MARKETS)[number]) => ({
  name: symbol,
  type: 'direct',
  quanto_multiplier: contractSize,
  leverage_min: '1',
  leverage_max: '100',
  maintenance_rate: '0.005',
  mark_type: 'index',
  mark_price: '100',
  index_price: '100',
  last_price: '100',
  order_price_round: tick,
  mark_price_round: tick,
  order_price_deviate: '0.5',
  order_size_min: step,
  order_size_max: '1000000000',
  enable_decimal: symbol in DECIMALS,
  taker_fee_rate: '0.00075',
  maker_fee_rate: '-0.00025',
  orders_limit: 100,
  enable_bonus: true,
  enable_credit: true,
  in_delisting: isSuspended,
  status: isSuspended ? 'delisting' : 'trading',
  create_time: 1_546_905_600,
});

const INVERSE = {
  ...tellContract(MARKETS[0] as (typeof MARKETS)[number]),
  name: 'BTC_USD',
  type: 'inverse',
  quanto_multiplier: '0',
};

const tellPair = (coin: string) => ({
  id: `${coin}_USDT`,
  base: coin,
  quote: 'USDT',
  fee: '0.2',
  min_base_amount: '0.001',
  min_quote_amount: '3',
  amount_precision: 4,
  precision: 2,
  trade_status: 'tradable',
  sell_start: 0,
  buy_start: 0,
});

function routesOf(office: Office): Routes {
  const ticker = (symbol: string) => {
    const { bid, ask } = office.quote(symbol);
    return {
      contract: symbol,
      last: bid,
      change_percentage: '0',
      total_size: '1',
      volume_24h: '1',
      mark_price: bid,
      index_price: bid,
      highest_bid: bid,
      highest_size: '12',
      lowest_ask: ask,
      lowest_size: '9',
    };
  };

  function place(call: Call): Visit {
    const { holder, params, signedAt, windowMs } = call;
    const {
      contract = '',
      size,
      price,
      tif = 'gtc',
      text = `t-${crypto.randomUUID().slice(0, 18)}`,
    } = params;
    const wrong = (what: string) =>
      turnedAway(refused(400, 'INVALID_PARAM_VALUE', `invalid argument: ${what}`));
    const quantity = quantityOf(size);
    const limit = quantityOf(price);
    const isLimit = sign(limit) !== 0;
    if (price === undefined || sign(limit) < 0) return wrong('price');
    // At the market it does not rest.
    if ((!isLimit || tif !== 'gtc') && tif !== 'ioc' && tif !== 'fok') return wrong('tif');
    if (!/^t-[\w.-]{1,28}$/.test(text)) return wrong('text');
    if (sign(quantity) === 0 || (!isWhole(quantity) && !(contract in DECIMALS))) return wrong('size');
    return {
      what: 'order',
      account: holder.account,
      order: {
        clientOrderId: text.slice(2),
        symbol: contract,
        side: sign(quantity) > 0 ? 'buy' : 'sell',
        quantity: absolute(quantity),
        reduceOnly: params.reduce_only === 'true',
        sendBefore: signedAt + windowMs,
        ...(isLimit && { limit, timeInForce: tif as 'gtc' | 'ioc' | 'fok' }),
      },
      tell: (taken) => (taken.outcome === 'refused' ? REFUSALS[taken.code]() : said(tellOrder(taken.order))),
    };
  }

  const find = ({ holder, params: { order_id: id = '' } }: Call): Promise<SeenOrder | null> =>
    id.startsWith('t-') ? office.find(holder.account, id.slice(2)) : office.findByRef(holder.account, id);

  /** Which orders were stops of the whole position. */
  async function closesOf({ holder }: Call): Promise<(order: SeenOrder) => boolean> {
    const stops = (await office.stops(holder.account)).filter(({ quantity }) => quantity === null);
    const refs = new Set(stops.flatMap(({ order }) => order?.ref ?? []));
    return ({ ref }) => refs.has(ref);
  }

  const list = (
    call: Call,
    isShown: (order: SeenOrder) => boolean,
    tell: (order: SeenOrder, isClose: boolean) => object,
  ) =>
    visit('look_up', call, async () => {
      const { contract, order } = call.params;
      const orders = among(await office.orders(call.holder.account), { symbol: contract });
      const isClose = await closesOf(call);
      return said(
        orders
          .filter((each) => isShown(each) && each.ref === (order ?? each.ref))
          .map((each) => tell(each, isClose(each))),
      );
    });
  const trades = (call: Call) => list(call, ({ fillPrice }) => fillPrice !== null, tellTrade);

  const positions = (call: Call, tell: (rows: readonly object[]) => Answer) =>
    visit('positions', call, async () => {
      const { account, standing } = call.holder;
      const held = await office.positions(account);
      const wanted = held.filter(({ symbol }) => symbol === (call.params.contract ?? symbol));
      return tell(
        wanted.map((position) => tellPosition(position, standing.positionMode === 'hedged', office.now())),
      );
    });

  async function account({ holder }: Call): Promise<Answer> {
    const { equity, cash, available } = await office.balance(holder.account);
    return said({
      total: cash,
      unrealised_pnl: subtract(equity, cash),
      position_margin: '0',
      order_margin: '0',
      available,
      point: '0',
      user: USER,
      currency: 'USDT',
      in_dual_mode: holder.standing.positionMode === 'hedged',
      position_mode: holder.standing.positionMode === 'hedged' ? 'dual' : 'single',
      enable_credit: holder.standing.accountType === 'unified',
      position_initial_margin: '0',
      maintenance_margin: '0',
      bonus: '0',
    });
  }

  async function unified({ holder }: Call): Promise<Answer> {
    if (holder.standing.accountType !== 'unified')
      return refused(400, 'USER_NOT_FOUND', 'the user has no unified account');
    const { equity, available } = await office.balance(holder.account);
    const usdt = { available, freeze: subtract(equity, available), borrowed: '0', interest: '0', equity };
    return said({
      user_id: 100000,
      locked: false,
      balances: { USDT: usdt },
      unified_account_total_equity: equity,
    });
  }

  const stops = gateStops(office, {
    path: `${FUTURES}/price_orders`,
    user: USER,
    ...{ said, refused },
    busy: REFUSALS.broker_rate_limited,
    isListed: (contract) => MARKETS.some(({ symbol }) => symbol === contract),
    takesDecimals: (contract) => contract in DECIMALS,
  });

  return {
    open: {
      'GET /api/v4/spot/time': () => ({ server_time: office.now() }),
      'GET /api/v4/spot/currency_pairs': () => COINS.map(({ coin }) => tellPair(coin)),
      'GET /api/v4/spot/currencies': () => [],
      'GET /api/v4/margin/currency_pairs': () => [],
      'GET /api/v4/options/underlyings': () => [],
      'GET /api/v4/delivery/usdt/contracts': () => [],
      'GET /api/v4/delivery/btc/contracts': () => [],
      'GET /api/v4/futures/btc/contracts': () => [INVERSE],
      [`GET ${FUTURES}/contracts`]: () => MARKETS.map(tellContract),
      [`GET ${FUTURES}/tickers`]: ({ contract }: Params) =>
        MARKETS.filter(({ symbol }) => symbol === (contract ?? symbol)).map(({ symbol }) => ticker(symbol)),
    },
    asked: {
      ...stops.asked,
      [`POST ${FUTURES}/orders`]: place,
      [`GET ${FUTURES}/orders/`]: (call) =>
        visit('look_up', call, async () => {
          const order = await find(call);
          return order ? said(tellOrder(order, (await closesOf(call))(order))) : NO_ORDER;
        }),
      [`DELETE ${FUTURES}/orders/`]: (call) =>
        visit('cancel', call, async () => {
          const order = await find(call);
          if (!order) return NO_ORDER;
          const isDone = await office.cancel(call.holder.account, order.ref);
          if (!isDone) return refused(400, 'ORDER_FINISHED', 'order finished');
          return said(tellOrder({ ...order, status: 'cancelled', updatedAt: office.now() }));
        }),
      [`GET ${FUTURES}/orders`]: (call) => {
        const { status } = call.params;
        if (status !== 'open' && status !== 'finished')
          return turnedAway(refused(400, 'INVALID_PARAM_VALUE', 'invalid argument: status'));
        return list(call, (order) => isResting(order) === (status === 'open'), tellOrder);
      },
      [`GET ${FUTURES}/orders_timerange`]: (call) => list(call, (order) => !isResting(order), tellOrder),
      [`GET ${FUTURES}/my_trades`]: trades,
      [`GET ${FUTURES}/my_trades_timerange`]: trades,
      [`GET ${FUTURES}/positions`]: (call) => positions(call, said),
      [`GET ${FUTURES}/positions/`]: (call) =>
        positions(call, ([row]) =>
          row ? said(row) : refused(404, 'POSITION_NOT_FOUND', 'Position not found'),
        ),
      [`GET ${FUTURES}/accounts`]: (call) => visit('other', call, () => account(call)),
      'GET /api/v4/unified/accounts': (call) => visit('other', call, () => unified(call)),
      'GET /api/v4/account/detail': (call) =>
        visit('other', call, () => {
          const { addresses, accountType } = call.holder.standing;
          return said({
            user_id: 100000,
            ip_whitelist: addresses ?? [],
            currency_pairs: [],
            key: { mode: accountType === 'unified' ? 2 : 1 },
            tier: 0,
          });
        }),
      'GET /api/v4/account/main_keys': (call) =>
        visit('other', call, () => {
          const { addresses, accountType, permissions } = call.holder.standing;
          const perms = [
            { name: 'futures', read_only: !permissions.includes('trade') },
            ...(permissions.includes('withdraw') ? [{ name: 'withdraw', read_only: false }] : []),
          ];
          return said([
            {
              user_id: '100000',
              mode: accountType === 'unified' ? 2 : 1,
              name: 'fillpath',
              state: 1,
              perms,
              ip_whitelist: addresses ?? [],
              currency_pairs: [],
            },
          ]);
        }),
    },
    trading: [`POST ${FUTURES}/orders`, `DELETE ${FUTURES}/orders/`, ...stops.trading],
  };
}

/** `/futures/usdt/orders/1` is an order, `/futures/usdt/positions/BTC_USDT` a position. */
function placeOf(path: string): { path: string; params: Params } {
  const [, base, what, name] = /^(.*\/(orders|price_orders|positions)\/)([^/]+)$/.exec(path) ?? [];
  if (!base || !name) return { path, params: {} };
  const key = what === 'positions' ? 'contract' : 'order_id';
  return { path: base, params: { [key]: decodeURIComponent(name) } };
}

/** What is a size, wherever it stands. The rest of it is told as a number to whoever asks for no decimals. */
const SIZES_TOLD = ['size', 'left', 'iceberg', 'close_size', 'order_size_min', 'order_size_max'];

function cut(value: unknown, key = ''): unknown {
  if (SIZES_TOLD.includes(key) && typeof value === 'string') return Math.trunc(Number(value));
  if (Array.isArray(value)) return value.map((part) => cut(part));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part, name)]));
}

const cutAnswer = (answer: Answer): Answer => ({ ...answer, body: cut(answer.body) as object });

function cutVisit(visit: Visit): Visit {
  if (visit.what === 'order') return { ...visit, tell: (taken: Taken) => cutAnswer(visit.tell(taken)) };
  if (visit.what === 'stop') return { ...visit, tell: (taken: StopTaken) => cutAnswer(visit.tell(taken)) };
  return { ...visit, answer: async () => cutAnswer(await visit.answer()) };
}

const BAD_KEY = refused(401, 'INVALID_KEY', 'Invalid key provided');

function authenticate(office: Office, request: WireRequest): Call | Answer {
  const { method, path, search, body } = request;
  const timestamp = header(request, 'timestamp');
  const expiry = header(request, 'x-gate-exptime');
  const holder = office.holderOf(header(request, 'key'));
  const params = paramsOf(request);
  if (!timestamp || !header(request, 'sign'))
    return refused(401, 'MISSING_REQUIRED_HEADER', 'Missing required header: Timestamp, SIGN');
  if (!holder || !params) return BAD_KEY;
  const now = office.now();
  if (!(Math.abs(now - Number(timestamp) * 1000) <= WINDOW_MS))
    return refused(403, 'REQUEST_EXPIRED', 'gap between request Timestamp and server time exceeds 60');
  const text = [method, path, decodeURIComponent(search), sha512(body), timestamp].join('\n');
  if (hmac('sha512', holder.standing.apiSecret, text, 'hex') !== header(request, 'sign'))
    return refused(401, 'INVALID_SIGNATURE', 'Signature mismatch');
  if (!mayComeFrom(holder, request.address))
    return refused(403, 'IP_FORBIDDEN', `the IP ${request.address} is not in the key's whitelist`);
  if (expiry && Number(expiry) < now) return REFUSALS.expired();
  return { holder, params, body, signedAt: now, windowMs: (expiry ? Number(expiry) : FOR_EVER) - now };
}

export const gate: Dialect = {
  roots: ['api'],
  traits: {
    refusesDuplicates: false,
    reduceOnly: true,
    fillsAfterMs: null,
    forgetsIdsAfterMs: { least: 60_000, most: 60_000 },
    limits: 'gate',
  },
  // Its price orders are looked at when they trigger, and end as failed where nothing is held then.
  manners: () => ({ secondStop: 'refused', endsWithPosition: false, stopsNeedPosition: false }),
  stream: gateStream(USER, (order, hasDecimals) => (hasDecimals ? tellOrder(order) : cut(tellOrder(order)))),
  markets: MARKETS,
  refs: NUMBERS,
  idFields: ['id', 'id_string', 'text'],
  busy,
  down: (problem) => refused(503, 'SERVER_ERROR', problem),
  denied: BAD_KEY,
  sample: said({ id: 1, contract: 'BTC_USDT', status: 'open', size: 1, left: 1, text: 't-none' }),
  open(office) {
    const listen = listener(routesOf(office), {
      place: placeOf,
      authenticate: (request) => authenticate(office, request),
      said,
      forbidden: refused(403, 'READ_ONLY', 'the key may only read'),
      unknown: (route) => refused(404, 'NOT_FOUND', `there is no ${route} in this stub`),
    });
    return async (request) => {
      const asked = await listen(request);
      return header(request, 'x-gate-size-decimal') === '1' ? asked : cutVisit(asked);
    };
  },
};
