// The futures of a unified account at Bitget (v3). Its refusals have codes of their own, a reduce-only order is acknowledged
// without an id of the exchange, and the step of a market stands beside a precision that is finer.

import {
  type Answer,
  isResting,
  type Office,
  type RefusalCode,
  type SeenOrder,
  type SeenPosition,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { absolute, multiply, negate, sign, ZERO } from '../../src/domain/decimal.ts';
import { unifiedStops } from './bitget-unified-stops.ts';
import { isListed, isPrice, MARKETS, OFF_TICK, REFUSALS, refused, said } from './bitget-words.ts';
import { among, type Call, COINS, type Params, quantityOf, type Routes, visit } from './wire.ts';

const OWN_REFUSALS: Partial<Record<RefusalCode, () => Answer>> = {
  insufficient_margin: () => refused(25203, 'Insufficient margin'),
  no_position: () => refused(25227, 'No position to close'),
  duplicate: () => refused(25212, 'Duplicate clientOid'),
};
const NO_ORDER = () => refused(25204, 'Order does not exist');

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'live',
  partially_filled: 'partially_filled',
  filled: 'filled',
  cancelled: 'cancelled',
  failed: 'cancelled',
};

const feesOf = ({ fee }: SeenOrder) => [{ feeCoin: 'USDT', fee: fee ? negate(fee) : '0' }];

export const tellOrder = (order: SeenOrder) => ({
  orderId: order.ref,
  clientOid: order.clientOrderId,
  category: 'USDT-FUTURES',
  symbol: order.symbol,
  orderType: order.limit === null ? 'market' : 'limit',
  side: order.side,
  price: order.limit ?? '0',
  qty: order.quantity,
  amount: '0',
  cumExecQty: order.fillQuantity,
  cumExecValue: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  avgPrice: order.fillPrice ?? '0',
  timeInForce: order.limit === null ? 'ioc' : 'gtc',
  orderStatus: STATES[order.status],
  posSide: 'net',
  holdMode: 'one_way_mode',
  reduceOnly: order.reduceOnly ? 'yes' : 'no',
  feeDetail: feesOf(order),
  cancelReason: order.reason ?? '',
  execType: 'normal',
  stpMode: 'none',
  createdTime: `${order.acceptedAt}`,
  updatedTime: `${order.updatedAt}`,
});

const tellFill = (order: SeenOrder) => ({
  execId: order.ref,
  orderId: order.ref,
  clientOid: order.clientOrderId,
  category: 'USDT-FUTURES',
  symbol: order.symbol,
  orderType: 'market',
  side: order.side,
  execPrice: order.fillPrice ?? '0',
  execQty: order.fillQuantity,
  execValue: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  tradeScope: 'taker',
  feeDetail: feesOf(order),
  createdTime: `${order.updatedAt}`,
  updatedTime: `${order.updatedAt}`,
  execPnl: '0',
});

const tellPosition = (position: SeenPosition, now: number) => ({
  category: 'USDT-FUTURES',
  symbol: position.symbol,
  marginCoin: 'USDT',
  holdMode: 'one_way_mode',
  posSide: sign(position.quantity) > 0 ? 'long' : 'short',
  marginMode: position.marginMode === 'cross' ? 'crossed' : 'isolated',
  positionBalance: '1',
  available: absolute(position.quantity),
  frozen: '0',
  total: absolute(position.quantity),
  leverage: '20',
  curRealisedPnl: '0',
  avgPrice: position.averagePrice,
  positionStatus: 'normal',
  unrealisedPnl: position.openProfit,
  liquidationPrice: '0',
  mmr: '0.01',
  markPrice: position.lastPrice,
  breakEvenPrice: position.averagePrice,
  createdTime: `${now}`,
  updatedTime: `${now}`,
});

const tellInstrument = ({ symbol, step, min, minValue, tick, isSuspended }: (typeof MARKETS)[number]) => ({
  symbol,
  category: 'USDT-FUTURES',
  baseCoin: symbol.slice(0, -4),
  quoteCoin: 'USDT',
  type: 'perpetual',
  status: isSuspended ? 'offline' : 'online',
  minOrderQty: min,
  maxOrderQty: '1000000',
  minOrderAmount: minValue,
  pricePrecision: `${tick.length - tick.indexOf('.') - 1}`,
  // Finer than the step.
  quantityPrecision: '4',
  quantityMultiplier: step,
  priceMultiplier: tick,
  takerFeeRate: '0.0006',
  makerFeeRate: '0.0002',
  minLeverage: '1',
  maxLeverage: '125',
  launchTime: '',
});

const tellSpot = (coin: string) => ({
  ...tellInstrument(MARKETS[0] as (typeof MARKETS)[number]),
  symbol: `${coin}USDT`,
  category: 'SPOT',
  baseCoin: coin,
  type: undefined,
});

const INVERSE = {
  ...tellInstrument(MARKETS[0] as (typeof MARKETS)[number]),
  symbol: 'BTCUSD',
  category: 'COIN-FUTURES',
  quoteCoin: 'USD',
};

export function unifiedRoutes(office: Office): Routes {
  const instruments = ({ category = '' }: Params) => {
    const lists: Record<string, () => object[]> = {
      'USDT-FUTURES': () => MARKETS.map(tellInstrument),
      'COIN-FUTURES': () => [INVERSE],
      SPOT: () => COINS.map(({ coin }) => tellSpot(coin)),
    };
    return lists[category]?.() ?? [];
  };

  const ticker = (symbol: string) => {
    const { bid, ask } = office.quote(symbol);
    return {
      category: 'USDT-FUTURES',
      symbol,
      lastPrice: bid,
      bid1Price: bid,
      bid1Size: '12',
      ask1Price: ask,
      ask1Size: '9',
      ts: `${office.now()}`,
    };
  };

  function place(call: Call): Visit {
    const { holder, params, signedAt, windowMs } = call;
    const { category, symbol = '', side = '', orderType, qty, price } = params;
    const { clientOid = crypto.randomUUID().replaceAll('-', ''), timeInForce = 'gtc' } = params;
    const wrong = (what: string) => turnedAway(refused(40017, `Parameter verification failed ${what}`));
    if (category !== 'USDT-FUTURES') return wrong('category');
    if (orderType !== 'market' && orderType !== 'limit') return wrong('orderType');
    if (orderType === 'limit' && !price) return wrong('price');
    if (orderType === 'limit' && !isPrice(price, symbol)) return turnedAway(OFF_TICK());
    const force = timeInForce as 'gtc' | 'ioc' | 'fok';
    if (orderType === 'limit' && !/^(gtc|ioc|fok)$/.test(timeInForce)) return wrong('timeInForce');
    if (side !== 'buy' && side !== 'sell') return wrong('side');
    if (!/^[.A-Z:/a-z0-9_-]{1,32}$/.test(clientOid)) return wrong('clientOid');
    if (!(Number(qty) > 0)) return wrong('qty');
    const reduceOnly = params.reduceOnly?.toLowerCase() === 'yes';
    const { marginMode } = params;
    return {
      what: 'order',
      account: holder.account,
      order: {
        clientOrderId: clientOid,
        symbol,
        side,
        quantity: quantityOf(qty),
        reduceOnly,
        sendBefore: signedAt + windowMs,
        isHedged: params.posSide === 'long' || params.posSide === 'short',
        ...(marginMode && { marginMode: marginMode === 'isolated' ? 'isolated' : 'cross' }),
        ...(orderType === 'limit' && { limit: quantityOf(price), timeInForce: force }),
      },
      tell(taken) {
        if (taken.outcome === 'refused') return (OWN_REFUSALS[taken.code] ?? REFUSALS[taken.code])();
        const { ref, clientOrderId } = taken.order;
        return said({ orderId: reduceOnly ? '' : ref, clientOid: clientOrderId });
      },
    };
  }

  async function find({ holder, params }: Call): Promise<SeenOrder | null> {
    const { orderId, clientOid = '' } = params;
    return orderId ? office.findByRef(holder.account, orderId) : office.find(holder.account, clientOid);
  }

  const list = (call: Call, isShown: (order: SeenOrder) => boolean, tell: (order: SeenOrder) => object) =>
    visit('look_up', call, async () => {
      const { symbol, orderId } = call.params;
      const orders = among(await office.orders(call.holder.account), { symbol });
      const rows = orders.filter((order) => isShown(order) && order.ref === (orderId ?? order.ref)).map(tell);
      return said({ list: rows, cursor: null });
    });

  const stops = unifiedStops(office);

  return {
    open: {
      'GET /api/v3/market/instruments': instruments,
      'GET /api/v3/market/tickers': ({ symbol }) =>
        MARKETS.filter((each) => each.symbol === (symbol ?? each.symbol)).map((each) => ticker(each.symbol)),
    },
    asked: {
      ...stops.asked,
      'POST /api/v3/trade/place-order': place,
      'GET /api/v3/trade/order-info': (call) =>
        visit('look_up', call, async () => {
          const order = await find(call);
          return order ? said(tellOrder(order)) : NO_ORDER();
        }),
      'GET /api/v3/trade/unfilled-orders': (call) => list(call, isResting, tellOrder),
      'GET /api/v3/trade/history-orders': (call) => list(call, (order) => !isResting(order), tellOrder),
      'GET /api/v3/trade/fills': (call) => list(call, ({ fillPrice }) => fillPrice !== null, tellFill),
      'POST /api/v3/trade/cancel-order': (call) =>
        visit('cancel', call, async () => {
          const order = await find(call);
          const isDone = order && (await office.cancel(call.holder.account, order.ref));
          return isDone ? said({ orderId: order.ref, clientOid: order.clientOrderId }) : NO_ORDER();
        }),
      'GET /api/v3/position/current-position': (call) =>
        call.params.symbol !== undefined && !isListed(call.params.symbol)
          ? turnedAway(REFUSALS.invalid_symbol())
          : visit('positions', call, async () => {
              const held = await office.positions(call.holder.account);
              const rows = held.map((position) => tellPosition(position, office.now()));
              return said({ list: rows.filter(({ symbol }) => symbol === (call.params.symbol ?? symbol)) });
            }),
      'GET /api/v3/account/settings': (call) =>
        visit('other', call, () =>
          said({
            uid: '100000',
            accountMode: 'unified',
            assetMode: 'multi_assets',
            holdMode: call.holder.standing.positionMode === 'hedged' ? 'hedge_mode' : 'one_way_mode',
            stpMode: 'none',
            symbolConfigList: MARKETS.map(({ symbol }) => ({
              category: 'USDT-FUTURES',
              symbol,
              marginMode: call.holder.standing.marginMode === 'cross' ? 'crossed' : 'isolated',
              leverage: '20',
            })),
            coinConfigList: [],
          }),
        ),
      'GET /api/v3/account/info': (call) =>
        visit('other', call, () => {
          const { permissions, addresses } = call.holder.standing;
          const mayTrade = permissions.includes('trade');
          return said({
            uid: '100000',
            inviterId: '',
            parentId: '',
            channelCode: '',
            channel: '',
            ips: addresses?.join(',') ?? '',
            permType: mayTrade ? 'read-and-write' : 'read-only',
            permissions: ['uta_mgt', 'uta_trade', ...(permissions.includes('withdraw') ? ['withdraw'] : [])],
            regisTime: '1246566789000',
          });
        }),
      'GET /api/v3/account/assets': (call) =>
        visit('other', call, async () => {
          const { equity, cash, available } = await office.balance(call.holder.account);
          const usdt = {
            coin: 'USDT',
            equity,
            usdValue: equity,
            balance: cash,
            available,
            debt: '0',
            locked: '0',
          };
          return said({ accountEquity: equity, usdtEquity: equity, assets: [usdt] });
        }),
    },
    trading: ['POST /api/v3/trade/place-order', 'POST /api/v3/trade/cancel-order', ...stops.trading],
  };
}
