// Binance's conditional orders, which its futures take at the Algo Service since December 2025, under ids of their own; at the
// plain endpoint they are refused. One that triggers becomes a plain order, named by actualOrderId. Of the conditional types only
// STOP_MARKET orders that reduce are taken here.

import {
  type Answer,
  type Office,
  type SeenStop,
  type StopRefusalCode,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { type Call, quantityOf, type Routes, visit } from './wire.ts';

/** How the exchange speaks, whatever it is asked. */
interface Speech {
  said(body: object): Answer;
  refused(status: number, code: number, msg: string): Answer;
  missing(name: string): Answer;
  readonly busy: Answer;
  readonly badSymbol: Answer;
  isListed(symbol: string | undefined): boolean;
}

const PATH = '/fapi/v1/algoOrder';

const STATES: Record<SeenStop['status'], string> = {
  standing: 'NEW',
  triggered: 'FINISHED',
  cancelled: 'CANCELED',
  expired: 'EXPIRED',
  rejected: 'REJECTED',
};

const stateOf = ({ status, order }: SeenStop): string => {
  if (status !== 'triggered') return STATES[status];
  if (order === null) return 'TRIGGERING';
  return order.status === 'placed' || order.status === 'partially_filled' ? 'TRIGGERED' : 'FINISHED';
};

/** As it was asked for; `tellSeen` has besides what has become of it. */
const tellPlaced = (stop: SeenStop) => ({
  algoId: Number(stop.ref),
  clientAlgoId: stop.clientOrderId,
  algoType: 'CONDITIONAL',
  orderType: 'STOP_MARKET',
  symbol: stop.symbol,
  side: stop.side.toUpperCase(),
  positionSide: 'BOTH',
  timeInForce: 'GTC',
  quantity: stop.quantity ?? '0.000',
  algoStatus: stateOf(stop),
  triggerPrice: stop.price,
  price: '0.00',
  icebergQuantity: null,
  selfTradePreventionMode: 'EXPIRE_MAKER',
  workingType: stop.triggerBy === 'mark' ? 'MARK_PRICE' : 'CONTRACT_PRICE',
  priceMatch: 'NONE',
  closePosition: stop.quantity === null,
  priceProtect: false,
  reduceOnly: true,
  createTime: stop.acceptedAt,
  updateTime: stop.updatedAt,
  triggerTime: stop.status === 'triggered' || stop.status === 'rejected' ? stop.updatedAt : 0,
  goodTillDate: 0,
});

const tellSeen = (stop: SeenStop) => ({
  ...tellPlaced(stop),
  actualOrderId: stop.order?.ref ?? '',
  actualPrice: stop.order?.fillPrice ?? '0.00000',
  tpTriggerPrice: '0.000',
  tpPrice: '0.000',
  slTriggerPrice: '0.000',
  slPrice: '0.000',
  tpOrderType: '',
});

export function binanceStops(
  office: Office,
  { said, refused, missing, busy, badSymbol, isListed }: Speech,
): Pick<Routes, 'asked' | 'trading'> {
  const REFUSALS: Record<StopRefusalCode, Answer> = {
    would_trigger: refused(400, -2021, 'Order would immediately trigger.'),
    no_position: refused(400, -2022, 'ReduceOnly Order is rejected.'),
    reserved: refused(400, -2022, 'ReduceOnly Order is rejected.'),
    second: refused(
      400,
      -4130,
      'An open stop or take profit order with GTE and closePosition in the direction is existing.',
    ),
    invalid_symbol: badSymbol,
    off_tick: refused(400, -4014, 'Price not increased by tick size.'),
    off_step: refused(400, -1111, 'Precision is over the maximum defined for this asset.'),
    market_closed: refused(400, -4141, 'Symbol is closed.'),
    broker_rate_limited: busy,
    duplicate: refused(400, -4116, 'ClientOrderId is duplicated.'),
    not_found: refused(400, -2011, 'Unknown order sent.'),
    refused: refused(400, -4045, 'Reach max stop order limit.'),
  };

  function place(call: Call): Visit {
    const { holder, params } = call;
    const { symbol = '', side = '', type, quantity, triggerPrice } = params;
    const { clientAlgoId = crypto.randomUUID(), workingType = 'CONTRACT_PRICE' } = params;
    const isWhole = params.closePosition === 'true';
    const not = (code: number, msg: string) => turnedAway(refused(400, code, msg));
    if (params.algoType !== 'CONDITIONAL') return turnedAway(missing('algoType'));
    if (!isListed(symbol)) return turnedAway(badSymbol);
    if (!/^(BUY|SELL)$/.test(side)) return not(-1117, 'Invalid side.');
    if (type !== 'STOP_MARKET') return not(-1116, 'Invalid orderType.');
    if (!triggerPrice) return turnedAway(missing('triggerPrice'));
    if (!(Number(triggerPrice) > 0)) return not(-4006, 'Stop price less than zero.');
    if (!/^(MARK_PRICE|CONTRACT_PRICE)$/.test(workingType)) return not(-1130, 'Invalid workingType.');
    if (!/^[.A-Z:/a-z0-9_-]{1,36}$/.test(clientAlgoId)) return not(-4015, 'Client order id is not valid.');
    if (isWhole && (quantity || params.reduceOnly === 'true'))
      return not(-1106, "Parameter 'quantity' sent when not required.");
    if (!isWhole && !quantity) return turnedAway(missing('quantity'));
    if (!isWhole && !(Number(quantity) > 0)) return not(-4003, 'Quantity less than or equal to zero.');
    // With neither it would open: no such thing rests in this stub.
    if (!isWhole && params.reduceOnly !== 'true') return not(-1000, 'this stub keeps only stops that reduce');
    if ((params.positionSide ?? 'BOTH') !== 'BOTH' || holder.standing.positionMode === 'hedged')
      return not(-4061, "Order's position side does not match user's setting.");
    return {
      what: 'stop',
      account: holder.account,
      stop: {
        clientOrderId: clientAlgoId,
        symbol,
        side: side === 'BUY' ? 'buy' : 'sell',
        quantity: isWhole ? null : quantityOf(quantity),
        price: quantityOf(triggerPrice),
        triggerBy: workingType === 'MARK_PRICE' ? 'mark' : 'last',
      },
      tell: (taken) => (taken.outcome === 'refused' ? REFUSALS[taken.code] : said(tellPlaced(taken.stop))),
    };
  }

  /** By the exchange's id where there is one. */
  async function find({ holder, params }: Call): Promise<SeenStop | null> {
    const { algoId, clientAlgoId } = params;
    const stops = await office.stops(holder.account);
    return stops.find((stop) => (algoId ? stop.ref === algoId : stop.clientOrderId === clientAlgoId)) ?? null;
  }

  const named = (call: Call, answer: () => Promise<Answer>): Visit =>
    call.params.algoId || call.params.clientAlgoId
      ? visit('look_up', call, answer)
      : turnedAway(missing('algoId'));

  const list = (call: Call, isShown: (stop: SeenStop) => boolean): Visit =>
    visit('look_up', call, async () => {
      const { symbol, algoId } = call.params;
      const stops = await office.stops(call.holder.account);
      const own = stops.filter((stop) => stop.symbol === (symbol ?? stop.symbol));
      return said(own.filter((stop) => isShown(stop) && stop.ref === (algoId ?? stop.ref)).map(tellSeen));
    });

  return {
    asked: {
      [`POST ${PATH}`]: place,
      [`GET ${PATH}`]: (call) =>
        named(call, async () => {
          const stop = await find(call);
          return stop ? said(tellSeen(stop)) : refused(400, -2013, 'Order does not exist.');
        }),
      [`DELETE ${PATH}`]: (call) =>
        named(call, async () => {
          const stop = await find(call);
          const isDone = stop && (await office.removeStop(call.holder.account, stop.ref));
          if (!isDone) return REFUSALS.not_found;
          return said({
            algoId: Number(stop.ref),
            clientAlgoId: stop.clientOrderId,
            code: '200',
            msg: 'success',
          });
        }),
      'GET /fapi/v1/openAlgoOrders': (call) => list(call, ({ status }) => status === 'standing'),
      'GET /fapi/v1/allAlgoOrders': (call) =>
        isListed(call.params.symbol) ? list(call, () => true) : turnedAway(missing('symbol')),
    },
    trading: [`POST ${PATH}`, `DELETE ${PATH}`],
  };
}
