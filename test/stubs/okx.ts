// OKX's API of version 5: JSON, signed in headers over the time, the method, the path with its query, and the body. Amounts
// are in contracts (ctVal of the coin each). An order is answered with its ids, and each one of a batch has a code of its own.

import {
  type Answer,
  type Dialect,
  isResting,
  NUMBERS,
  type Office,
  type SeenOrder,
  type SeenPosition,
  type Taken,
  turnedAway,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import { negate, sign } from '../../src/domain/decimal.ts';
import { plainOffice } from './conditional.ts';
import { okxStops } from './okx-stops.ts';
import {
  busy,
  failed,
  isListed,
  isPrice,
  MARKETS,
  NO_SYMBOL,
  OFF_TICK,
  REFUSALS,
  refused,
  said,
} from './okx-words.ts';
import { okxStream } from './streams.ts';
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
  quantityOf,
  type Routes,
  visit,
} from './wire.ts';

const WINDOW_MS = 30_000;

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'live',
  partially_filled: 'partially_filled',
  filled: 'filled',
  cancelled: 'canceled',
  failed: 'canceled',
};

const tellOrder = (order: SeenOrder, marginMode: string) => ({
  instType: 'SWAP',
  instId: order.symbol,
  tgtCcy: '',
  ccy: '',
  ordId: order.ref,
  clOrdId: order.clientOrderId,
  tag: '',
  px: order.limit ?? '',
  sz: order.quantity,
  pnl: '0',
  ordType: order.limit === null ? 'market' : 'limit',
  side: order.side,
  posSide: 'net',
  tdMode: marginMode,
  accFillSz: order.fillQuantity,
  fillPx: order.fillPrice ?? '',
  tradeId: order.fillPrice ? '1' : '',
  fillSz: order.fillQuantity,
  fillTime: order.fillPrice ? `${order.updatedAt}` : '',
  state: STATES[order.status],
  avgPx: order.fillPrice ?? '',
  lever: '20',
  feeCcy: 'USDT',
  fee: order.fee ? negate(order.fee) : '0',
  rebateCcy: 'USDT',
  rebate: '0',
  category: 'normal',
  reduceOnly: `${order.reduceOnly}`,
  cancelSource: isResting(order) || order.status === 'filled' ? '' : '1',
  cancelSourceReason: order.reason ?? '',
  uTime: `${order.updatedAt}`,
  cTime: `${order.acceptedAt}`,
});

const tellFill = (order: SeenOrder) => ({
  instType: 'SWAP',
  instId: order.symbol,
  tradeId: `${Number(order.ref) % 1e9}`,
  ordId: order.ref,
  clOrdId: order.clientOrderId,
  billId: order.ref,
  tag: '',
  fillPx: order.fillPrice ?? '0',
  fillSz: order.fillQuantity,
  side: order.side,
  posSide: 'net',
  execType: 'T',
  feeCcy: 'USDT',
  fee: order.fee ? negate(order.fee) : '0',
  ts: `${order.updatedAt}`,
  fillTime: `${order.updatedAt}`,
});

const tellPosition = (position: SeenPosition, now: number) => ({
  instType: 'SWAP',
  instId: position.symbol,
  mgnMode: position.marginMode,
  posId: '307173036051017730',
  posSide: 'net',
  pos: position.quantity,
  posCcy: '',
  availPos: position.quantity,
  avgPx: position.averagePrice,
  upl: position.openProfit,
  uplRatio: '0',
  lever: '20',
  liqPx: '',
  markPx: position.lastPrice,
  last: position.lastPrice,
  imr: position.marginMode === 'cross' ? '1' : '',
  margin: position.marginMode === 'isolated' ? '1' : '',
  mgnRatio: '100',
  mmr: '0.1',
  notionalUsd: '1',
  adl: '1',
  ccy: 'USDT',
  cTime: `${now}`,
  uTime: `${now}`,
});

const tellMarket = ({ symbol, contractSize, step, min, tick, isSuspended }: (typeof MARKETS)[number]) => ({
  instType: 'SWAP',
  instId: symbol,
  uly: symbol.replace('-SWAP', ''),
  instFamily: symbol.replace('-SWAP', ''),
  category: '1',
  baseCcy: '',
  quoteCcy: '',
  settleCcy: 'USDT',
  ctVal: contractSize,
  ctMult: '1',
  ctValCcy: symbol.split('-')[0],
  optType: '',
  stk: '',
  listTime: '1611916828000',
  expTime: '',
  lever: '100',
  tickSz: tick,
  lotSz: step,
  minSz: min,
  ctType: 'linear',
  alias: '',
  state: isSuspended ? 'suspend' : 'live',
  maxLmtSz: '100000000',
  maxMktSz: '35000',
});

const INVERSE = {
  ...tellMarket(MARKETS[0] as (typeof MARKETS)[number]),
  instId: 'BTC-USD-SWAP',
  uly: 'BTC-USD',
  instFamily: 'BTC-USD',
  settleCcy: 'BTC',
  ctVal: '100',
  ctValCcy: 'USD',
  ctType: 'inverse',
};

const tellSpot = (coin: string) => ({
  ...tellMarket(MARKETS[0] as (typeof MARKETS)[number]),
  instType: 'SPOT',
  instId: `${coin}-USDT`,
  uly: '',
  instFamily: '',
  baseCcy: coin,
  quoteCcy: 'USDT',
  settleCcy: '',
  ctVal: '',
  ctMult: '',
  ctValCcy: '',
  ctType: '',
  lotSz: '0.00000001',
  minSz: '0.00001',
});

/** With a price, how long it rests stands in the type. */
const TIMES_IN_FORCE: Readonly<Record<string, 'gtc' | 'ioc' | 'fok'>> = {
  limit: 'gtc',
  ioc: 'ioc',
  fok: 'fok',
};

function routesOf(everything: Office): Routes {
  const office = plainOffice(everything);
  const instruments = ({ instType, instId }: Params) => {
    const lists: Record<string, () => { instId: string }[]> = {
      SWAP: () => [...MARKETS.map(tellMarket), INVERSE],
      SPOT: () => COINS.map(({ coin }) => tellSpot(coin)),
    };
    return (lists[instType ?? '']?.() ?? []).filter((row) => row.instId === (instId ?? row.instId));
  };

  const ticker = (symbol: string) => {
    const { bid, ask } = office.quote(symbol);
    return {
      instType: 'SWAP',
      instId: symbol,
      last: bid,
      lastSz: '1',
      askPx: ask,
      askSz: '12',
      bidPx: bid,
      bidSz: '9',
      open24h: bid,
      high24h: ask,
      low24h: bid,
      volCcy24h: '1',
      vol24h: '1',
      ts: `${office.now()}`,
    };
  };
  const tickers = ({ instId }: Params) =>
    MARKETS.filter(({ symbol }) => symbol === (instId ?? symbol)).map(({ symbol }) => ticker(symbol));

  function place(call: Call): Visit {
    const { holder, params, signedAt, windowMs } = call;
    const { instId = '', side = '', ordType, sz, px } = params;
    const { clOrdId = crypto.randomUUID().replaceAll('-', '') } = params;
    const wrong = (code: number, text: string) => turnedAway(failed(params, code, text));
    if (holder.standing.accountType === 'classic')
      return wrong(51010, "You can't complete this request under your current account mode.");
    const force = TIMES_IN_FORCE[ordType ?? ''];
    if (ordType !== 'market' && !force) return wrong(51000, 'Parameter ordType error');
    if (force && !px) return wrong(51204, 'The price for the limit order cannot be empty.');
    if (force && !isPrice(px, instId)) return wrong(...OFF_TICK);
    if (side !== 'buy' && side !== 'sell') return wrong(51000, 'Parameter side error');
    if (!/^[A-Za-z0-9]{1,32}$/.test(clOrdId)) return wrong(51000, 'Parameter clOrdId error');
    if (!(Number(sz) > 0)) return wrong(51000, 'Parameter sz error');
    if (params.tdMode !== 'cross' && params.tdMode !== 'isolated')
      return wrong(51000, 'Parameter tdMode error');
    return {
      what: 'order',
      account: holder.account,
      order: {
        clientOrderId: clOrdId,
        symbol: instId,
        side,
        quantity: quantityOf(sz),
        reduceOnly: params.reduceOnly === 'true',
        sendBefore: signedAt + windowMs,
        isHedged: (params.posSide ?? 'net') !== 'net',
        marginMode: params.tdMode,
        ...(force && { limit: quantityOf(px), timeInForce: force }),
      },
      tell: (taken) => tellTaken(params, taken),
    };
  }

  async function find({ holder, params }: Call): Promise<SeenOrder | null> {
    const { ordId, clOrdId = '', instId } = params;
    const order = await (ordId
      ? office.findByRef(holder.account, ordId)
      : office.find(holder.account, clOrdId));
    return order?.symbol === instId ? order : null;
  }

  const list = (call: Call, isShown: (order: SeenOrder) => boolean, tell: (order: SeenOrder) => object) =>
    visit('look_up', call, async () => {
      const { instId, ordId } = call.params;
      const orders = among(await office.orders(call.holder.account), { symbol: instId });
      return said(orders.filter((order) => isShown(order) && order.ref === (ordId ?? order.ref)).map(tell));
    });
  const telling = (call: Call) => (order: SeenOrder) => tellOrder(order, call.holder.standing.marginMode);
  const finished = (call: Call) => list(call, (order) => !isResting(order), telling(call));
  const fills = (call: Call) => list(call, ({ fillQuantity }) => sign(fillQuantity) > 0, tellFill);
  const stops = okxStops(everything);

  return {
    open: {
      'GET /api/v5/public/time': () => ({ ts: `${office.now()}` }),
      'GET /api/v5/public/instruments': instruments,
      'GET /api/v5/market/ticker': tickers,
      'GET /api/v5/market/tickers': tickers,
    },
    asked: {
      ...stops.asked,
      'POST /api/v5/trade/order': place,
      'POST /api/v5/trade/batch-orders': place,
      'GET /api/v5/trade/order': (call) => {
        const { instId, ordId, clOrdId } = call.params;
        if (!isListed(instId)) return turnedAway(NO_SYMBOL);
        if (!ordId && !clOrdId) return turnedAway(refused(200, 51000, 'Parameter ordId or clOrdId error'));
        return visit('look_up', call, async () => {
          const order = await find(call);
          return order ? said(telling(call)(order)) : refused(200, 51603, 'Order does not exist');
        });
      },
      'GET /api/v5/trade/orders-pending': (call) => list(call, isResting, telling(call)),
      'GET /api/v5/trade/orders-history': finished,
      'GET /api/v5/trade/orders-history-archive': finished,
      'GET /api/v5/trade/fills': fills,
      'GET /api/v5/trade/fills-history': fills,
      'POST /api/v5/trade/cancel-order': (call) =>
        visit('cancel', call, async () => {
          const order = await find(call);
          const isDone = order && (await office.cancel(call.holder.account, order.ref));
          if (!isDone)
            return failed(
              call.params,
              51400,
              'Cancellation failed as the order has been filled, canceled or does not exist.',
            );
          return said({
            clOrdId: order.clientOrderId,
            ordId: order.ref,
            ts: `${office.now()}`,
            sCode: '0',
            sMsg: '',
          });
        }),
      'GET /api/v5/account/positions': (call) =>
        visit('positions', call, async () => {
          const wanted = call.params.instId?.split(',');
          const held = await office.positions(call.holder.account);
          const rows = held.map((position) => tellPosition(position, office.now()));
          return said(rows.filter(({ instId }) => wanted?.includes(instId) ?? true));
        }),
      'GET /api/v5/account/balance': (call) =>
        visit('other', call, async () => {
          const { equity, cash, available } = await office.balance(call.holder.account);
          const detail = {
            ccy: 'USDT',
            eq: equity,
            cashBal: cash,
            availEq: available,
            availBal: available,
            frozenBal: '0',
            upl: '0',
            uTime: `${office.now()}`,
          };
          return said({ totalEq: equity, uTime: `${office.now()}`, details: [detail] });
        }),
      'GET /api/v5/account/config': (call) =>
        visit('other', call, () => {
          const { positionMode, accountType, permissions, addresses } = call.holder.standing;
          const words = { read: 'read_only', trade: 'trade', withdraw: 'withdraw' };
          return said({
            uid: '44705892343619584',
            mainUid: '44705892343619584',
            acctLv: accountType === 'classic' ? '1' : '2',
            posMode: positionMode === 'hedged' ? 'long_short_mode' : 'net_mode',
            autoLoan: false,
            greeksType: 'PA',
            level: 'Lv1',
            ctIsoMode: 'automatic',
            mgnIsoMode: 'automatic',
            label: 'fillpath',
            roleType: '0',
            perm: permissions.map((permission) => words[permission]).join(','),
            ip: addresses?.join(',') ?? '',
          });
        }),
      // ccxt asks for it with the markets.
      'GET /api/v5/asset/currencies': (call) => visit('other', call, () => said([])),
    },
    trading: [
      'POST /api/v5/trade/order',
      'POST /api/v5/trade/batch-orders',
      'POST /api/v5/trade/cancel-order',
      ...stops.trading,
    ],
  };
}

function tellTaken(params: Params, taken: Taken): Answer {
  if (taken.outcome === 'refused') {
    if (taken.code === 'broker_rate_limited')
      return refused(200, 50061, "You've reached the maximum order rate limit for this account.");
    return failed(params, ...REFUSALS[taken.code]);
  }
  const { clientOrderId, ref, acceptedAt } = taken.order;
  return said({
    clOrdId: clientOrderId,
    ordId: ref,
    tag: '',
    ts: `${acceptedAt}`,
    sCode: '0',
    sMsg: 'Order placed',
  });
}

const BAD_KEY = refused(401, 50119, "API key doesn't exist");

function authenticate(office: Office, request: WireRequest): Call | Answer {
  const { method, path, search, body } = request;
  const key = header(request, 'ok-access-key');
  const timestamp = header(request, 'ok-access-timestamp');
  const expTime = header(request, 'exptime');
  const holder = office.holderOf(key);
  const params = paramsOf(request);
  if (!key) return refused(401, 50103, 'Request header OK-ACCESS-KEY cannot be empty.');
  if (!holder || !params) return BAD_KEY;
  const { apiSecret, passphrase, isDemo } = holder.standing;
  if ((header(request, 'x-simulated-trading') === '1') !== isDemo)
    return refused(401, 50101, 'APIKey does not match current environment.');
  if (header(request, 'ok-access-passphrase') !== passphrase)
    return refused(401, 50105, 'Request header OK-ACCESS-PASSPHRASE incorrect.');
  const now = office.now();
  const signedAt = Date.parse(timestamp);
  if (!(Math.abs(now - signedAt) <= WINDOW_MS)) return refused(401, 50102, 'Timestamp request expired');
  const signed = timestamp + method + path + (search && `?${search}`) + body;
  if (hmac('sha256', apiSecret, signed, 'base64') !== header(request, 'ok-access-sign'))
    return refused(401, 50113, 'Invalid Sign');
  if (!mayComeFrom(holder, request.address))
    return refused(
      401,
      50110,
      `Your IP ${request.address} is not included in your API key's ${key} IP whitelist.`,
    );
  if (expTime && Number(expTime) < now)
    return refused(200, 50036, "The expTime can't be earlier than the current system time.");
  return { holder, params, body, signedAt: now, windowMs: (expTime ? Number(expTime) : FOR_EVER) - now };
}

export const okx: Dialect = {
  roots: ['api'],
  traits: {
    refusesDuplicates: 'while_open',
    reduceOnly: true,
    fillsAfterMs: { least: 5, most: 150 },
    forgetsIdsAfterMs: null,
    limits: 'okx',
  },
  manners: () => ({ secondStop: 'refused' }),
  stream: okxStream((order, { standing }) => tellOrder(order, standing.marginMode)),
  markets: MARKETS,
  refs: NUMBERS,
  idFields: ['ordId', 'clOrdId', 'algoId', 'algoClOrdId'],
  busy,
  // A code that means: nobody knows.
  down: () => refused(503, 50013, 'Systems are busy. Please try again later.'),
  denied: BAD_KEY,
  sample: said({ clOrdId: 'none', ordId: '1', tag: '', ts: '1', sCode: '0', sMsg: '' }),
  open: (office) =>
    listener(routesOf(office), {
      authenticate: (request) => authenticate(office, request),
      said,
      forbidden: refused(401, 50120, "This API key doesn't have permission to use this function"),
      unknown: (route) => refused(404, 50404, `there is no ${route} in this stub`),
    }),
};
