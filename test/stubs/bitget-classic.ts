// The futures of a classic account at Bitget (v2): sizes in the coin, margin modes "crossed" and "isolated", reduce-only as YES
// and NO, and lists that have names of their own.

import {
  type Answer,
  isResting,
  type Office,
  type SeenOrder,
  type SeenPosition,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { absolute, multiply, negate, sign, ZERO } from '../../src/domain/decimal.ts';
import { readOrder, taking, wrong } from './bitget-classic-orders.ts';
import { classicStops } from './bitget-classic-stops.ts';
import { isListed, MARKETS, REFUSALS, refused, said } from './bitget-words.ts';
import { plainOffice } from './conditional.ts';
import { among, type Call, COINS, type Params, type Routes, visit } from './wire.ts';

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'live',
  partially_filled: 'partially_filled',
  filled: 'filled',
  cancelled: 'canceled',
  failed: 'canceled',
};

export const tellOrder = (order: SeenOrder, marginMode: string) => ({
  symbol: order.symbol,
  size: order.quantity,
  orderId: order.ref,
  clientOid: order.clientOrderId,
  baseVolume: order.fillQuantity,
  fee: order.fee ? negate(order.fee) : '0',
  price: order.limit ?? '',
  priceAvg: order.fillPrice ?? '',
  state: STATES[order.status],
  status: STATES[order.status],
  side: order.side,
  force: 'gtc',
  totalProfits: '0',
  posSide: 'net',
  marginCoin: 'USDT',
  quoteVolume: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  orderType: order.limit === null ? 'market' : 'limit',
  leverage: '20',
  marginMode: marginMode === 'cross' ? 'crossed' : 'isolated',
  reduceOnly: order.reduceOnly ? 'YES' : 'NO',
  enterPointSource: 'API',
  tradeSide: order.side === 'buy' ? 'buy_single' : 'sell_single',
  posMode: 'one_way_mode',
  orderSource: order.limit === null ? 'market' : 'normal',
  cancelReason: order.reason ?? '',
  cTime: `${order.acceptedAt}`,
  uTime: `${order.updatedAt}`,
});

const tellFill = (order: SeenOrder) => ({
  tradeId: order.ref,
  symbol: order.symbol,
  orderId: order.ref,
  price: order.fillPrice ?? '0',
  baseVolume: order.fillQuantity,
  quoteVolume: multiply(order.fillQuantity, order.fillPrice ?? ZERO),
  feeDetail: [
    {
      deduction: 'no',
      feeCoin: 'USDT',
      totalDeductionFee: '',
      totalFee: order.fee ? negate(order.fee) : '0',
    },
  ],
  side: order.side,
  profit: '0',
  enterPointSource: 'api',
  tradeSide: order.side === 'buy' ? 'buy_single' : 'sell_single',
  posMode: 'one_way_mode',
  tradeScope: 'taker',
  cTime: `${order.updatedAt}`,
});

const tellPosition = (position: SeenPosition, now: number) => ({
  marginCoin: 'USDT',
  symbol: position.symbol,
  holdSide: sign(position.quantity) > 0 ? 'long' : 'short',
  openDelegateSize: '0',
  marginSize: '1',
  available: absolute(position.quantity),
  locked: '0',
  total: absolute(position.quantity),
  leverage: '20',
  achievedProfits: '0',
  openPriceAvg: position.averagePrice,
  marginMode: position.marginMode === 'cross' ? 'crossed' : 'isolated',
  posMode: 'one_way_mode',
  unrealizedPL: position.openProfit,
  liquidationPrice: '0',
  keepMarginRate: '0.005',
  markPrice: position.lastPrice,
  marginRatio: '0.01',
  breakEvenPrice: position.averagePrice,
  cTime: `${now}`,
  uTime: `${now}`,
});

const decimals = (step: string) => `${step.includes('.') ? step.length - step.indexOf('.') - 1 : 0}`;

const tellContract = ({ symbol, step, min, minValue, tick, isSuspended }: (typeof MARKETS)[number]) => ({
  symbol,
  baseCoin: symbol.slice(0, -4),
  quoteCoin: 'USDT',
  buyLimitPriceRatio: '0.05',
  sellLimitPriceRatio: '0.05',
  feeRateUpRatio: '0.005',
  makerFeeRate: '0.0002',
  takerFeeRate: '0.0006',
  openCostUpRatio: '0.01',
  supportMarginCoins: ['USDT'],
  minTradeNum: min,
  priceEndStep: '1',
  volumePlace: decimals(step),
  pricePlace: decimals(tick),
  sizeMultiplier: step,
  symbolType: 'perpetual',
  minTradeUSDT: minValue,
  maxSymbolOrderNum: '200',
  symbolStatus: isSuspended ? 'maintain' : 'normal',
  offTime: '-1',
  limitOpenTime: '-1',
  launchTime: '',
  fundInterval: '8',
  minLever: '1',
  maxLever: '125',
});

const INVERSE = {
  ...tellContract(MARKETS[0] as (typeof MARKETS)[number]),
  symbol: 'BTCUSD',
  quoteCoin: 'USD',
  supportMarginCoins: ['BTC', 'ETH'],
};

const tellSpot = (coin: string) => ({
  symbol: `${coin}USDT`,
  baseCoin: coin,
  quoteCoin: 'USDT',
  minTradeAmount: '0',
  maxTradeAmount: '10000000000',
  takerFeeRate: '0.002',
  makerFeeRate: '0.002',
  pricePrecision: '2',
  quantityPrecision: '6',
  quotePrecision: '8',
  status: 'online',
  minTradeUSDT: '1',
});

/** Which permissions the key has, in codes: contract orders and positions, withdrawals, to read and to write. */
const authoritiesOf = (permissions: readonly string[]) => [
  ...['coor', 'cpor'],
  ...(permissions.includes('trade') ? ['coow', 'cpow'] : []),
  ...(permissions.includes('withdraw') ? ['wwow'] : []),
];

export function classicRoutes(everything: Office): Routes {
  const office = plainOffice(everything);
  const contracts = ({ productType = '' }: Params) => {
    const lists: Record<string, () => object[]> = {
      'USDT-FUTURES': () => MARKETS.map(tellContract),
      'COIN-FUTURES': () => [INVERSE],
    };
    return lists[productType.toUpperCase()]?.() ?? [];
  };

  const ticker = (symbol: string) => {
    const { bid, ask } = office.quote(symbol);
    return {
      symbol,
      lastPr: bid,
      askPr: ask,
      bidPr: bid,
      bidSz: '12',
      askSz: '9',
      high24h: ask,
      low24h: bid,
      ts: `${office.now()}`,
      markPrice: bid,
      indexPrice: bid,
    };
  };
  const tickers = ({ symbol }: Params) =>
    MARKETS.filter((each) => each.symbol === (symbol ?? each.symbol)).map((each) => ticker(each.symbol));

  function place(call: Call): Visit {
    const order = readOrder(call);
    if ('what' in order) return order;
    const timeInForce = (call.params.force ?? 'gtc').toLowerCase() as 'gtc' | 'ioc' | 'fok';
    if (order.limit && !/^(gtc|ioc|fok)$/.test(timeInForce)) return wrong('force');
    return taking(call, order.limit ? { ...order, timeInForce } : order);
  }

  async function find({ holder, params }: Call): Promise<SeenOrder | null> {
    const { orderId, clientOid = '', symbol } = params;
    const order = await (orderId
      ? office.findByRef(holder.account, orderId)
      : office.find(holder.account, clientOid));
    return order?.symbol === symbol ? order : null;
  }

  const list = (
    call: Call,
    name: string,
    isShown: (order: SeenOrder) => boolean,
    tell: (order: SeenOrder) => object,
  ) =>
    visit('look_up', call, async () => {
      const { symbol, orderId, clientOid } = call.params;
      const orders = among(await office.orders(call.holder.account), { symbol }).filter(
        (order) =>
          isShown(order) &&
          order.ref === (orderId ?? order.ref) &&
          order.clientOrderId === (clientOid ?? order.clientOrderId),
      );
      return said({ [name]: orders.map(tell), endId: orders.at(-1)?.ref ?? null });
    });
  const telling = (call: Call) => (order: SeenOrder) => tellOrder(order, call.holder.standing.marginMode);

  const positions = (call: Call) =>
    visit('positions', call, async () => {
      const held = await office.positions(call.holder.account);
      const rows = held.map((position) => tellPosition(position, office.now()));
      return said(rows.filter(({ symbol }) => symbol === (call.params.symbol ?? symbol)));
    });

  async function accountOf({ holder }: Call) {
    const { equity, cash, available } = await office.balance(holder.account);
    return {
      marginCoin: 'USDT',
      locked: '0',
      // What positions take is not taken off here.
      available: cash,
      crossedMaxAvailable: available,
      isolatedMaxAvailable: available,
      maxTransferOut: available,
      accountEquity: equity,
      usdtEquity: equity,
      unrealizedPL: '0',
    };
  }

  async function account(call: Call): Promise<Answer> {
    const { positionMode, marginMode } = call.holder.standing;
    return said({
      ...(await accountOf(call)),
      marginMode: marginMode === 'cross' ? 'crossed' : 'isolated',
      posMode: positionMode === 'hedged' ? 'hedge_mode' : 'one_way_mode',
    });
  }

  const stops = classicStops(everything);

  return {
    open: {
      'GET /api/v2/public/time': () => ({ serverTime: `${office.now()}` }),
      'GET /api/v2/mix/market/contracts': contracts,
      'GET /api/v2/mix/market/ticker': tickers,
      'GET /api/v2/mix/market/tickers': tickers,
      'GET /api/v2/spot/public/symbols': () => COINS.map(({ coin }) => tellSpot(coin)),
      'GET /api/v2/spot/public/coins': () => [],
      'GET /api/v2/margin/currencies': () => [],
    },
    asked: {
      ...stops.asked,
      'POST /api/v2/mix/order/place-order': place,
      'GET /api/v2/mix/order/detail': (call) =>
        isListed(call.params.symbol)
          ? visit('look_up', call, async () => {
              const order = await find(call);
              return order
                ? said(telling(call)(order))
                : refused(40109, 'The data of the order cannot be found, please confirm the order number');
            })
          : turnedAway(REFUSALS.invalid_symbol()),
      'GET /api/v2/mix/order/orders-pending': (call) => list(call, 'entrustedList', isResting, telling(call)),
      'GET /api/v2/mix/order/orders-history': (call) =>
        list(call, 'entrustedList', (order) => !isResting(order), telling(call)),
      'GET /api/v2/mix/order/fills': (call) =>
        list(call, 'fillList', ({ fillPrice }) => fillPrice !== null, tellFill),
      'POST /api/v2/mix/order/cancel-order': (call) =>
        visit('cancel', call, async () => {
          const order = await find(call);
          const isDone = order && (await office.cancel(call.holder.account, order.ref));
          if (!isDone) return refused(40768, 'Order does not exist');
          return said({ orderId: order.ref, clientOid: order.clientOrderId });
        }),
      'GET /api/v2/mix/position/all-position': positions,
      'GET /api/v2/mix/position/single-position': positions,
      'GET /api/v2/mix/account/accounts': (call) =>
        visit('other', call, async () => said([await accountOf(call)])),
      'GET /api/v2/mix/account/account': (call) => visit('other', call, () => account(call)),
      'GET /api/v2/spot/account/info': (call) =>
        visit('other', call, () => {
          const { permissions, addresses } = call.holder.standing;
          return said({
            userId: '100000',
            inviterId: '',
            ips: addresses?.join(',') ?? '',
            authorities: authoritiesOf(permissions),
            parentId: 100000,
            traderType: 'not_trader',
            regisTime: '1246566789000',
          });
        }),
    },
    trading: ['POST /api/v2/mix/order/place-order', 'POST /api/v2/mix/order/cancel-order', ...stops.trading],
  };
}
