// Binance's conditional orders, which its futures take at the Algo Service since December 2025, under ids of their own; at the
// plain endpoint they are refused. One that triggers becomes a plain order, named by actualOrderId. Of the conditional types only
// STOP_MARKET orders that reduce are taken here, and STOP_MARKET and STOP (with a limit) that open.

import {
  type Answer,
  type Office,
  type SeenOrder,
  type SeenStop,
  type StopRefusalCode,
  type Taken,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { conditionals, endWaiting, hasTriggered, madeRef } from './conditional.ts';
import { type Call, quantityOf, type Routes, visit } from './wire.ts';

/** How the exchange speaks, whatever it is asked. */
interface Speech {
  said(body: object): Answer;
  refused(status: number, code: number, msg: string): Answer;
  missing(name: string): Answer;
  readonly busy: Answer;
  readonly badSymbol: Answer;
  isListed(symbol: string | undefined): boolean;
  /** Of an order that is not taken. */
  refusal(taken: Extract<Taken, { outcome: 'refused' }>): Answer;
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

/** An entry that waits, in the same words. */
const entryState = (order: SeenOrder): string => {
  const isOver = order.status !== 'placed' && order.status !== 'partially_filled';
  if (hasTriggered(order)) return isOver ? 'FINISHED' : 'TRIGGERED';
  return order.status === 'cancelled' ? 'CANCELED' : isOver ? 'REJECTED' : 'NEW';
};

const tellEntry = (order: SeenOrder) => ({
  algoId: Number(order.ref),
  clientAlgoId: order.clientOrderId,
  algoType: 'CONDITIONAL',
  orderType: order.limit === null ? 'STOP_MARKET' : 'STOP',
  symbol: order.symbol,
  side: order.side.toUpperCase(),
  positionSide: 'BOTH',
  timeInForce: 'GTC',
  quantity: order.quantity,
  algoStatus: entryState(order),
  triggerPrice: order.waitedFor,
  price: order.limit ?? '0.00',
  icebergQuantity: null,
  selfTradePreventionMode: 'EXPIRE_MAKER',
  workingType: 'CONTRACT_PRICE',
  priceMatch: 'NONE',
  closePosition: false,
  priceProtect: false,
  reduceOnly: order.reduceOnly,
  createTime: order.acceptedAt,
  updateTime: order.updatedAt,
  triggerTime: hasTriggered(order) ? order.updatedAt : 0,
  goodTillDate: 0,
});

const tellSeenEntry = (order: SeenOrder) => ({
  ...tellEntry(order),
  actualOrderId: hasTriggered(order) ? madeRef(order.ref) : '',
  actualPrice: order.fillPrice ?? '0.00000',
  tpTriggerPrice: '0.000',
  tpPrice: '0.000',
  slTriggerPrice: '0.000',
  slPrice: '0.000',
  tpOrderType: '',
});

export function binanceStops(
  office: Office,
  { said, refused, missing, busy, badSymbol, isListed, refusal }: Speech,
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
    const isLimit = type === 'STOP';
    if (type !== 'STOP_MARKET' && !isLimit) return not(-1116, 'Invalid orderType.');
    if (isLimit && !params.price) return turnedAway(missing('price'));
    if (!isLimit && params.price) return not(-1106, "Parameter 'price' sent when not required.");
    if (!triggerPrice) return turnedAway(missing('triggerPrice'));
    if (!(Number(triggerPrice) > 0)) return not(-4006, 'Stop price less than zero.');
    if (!/^(MARK_PRICE|CONTRACT_PRICE)$/.test(workingType)) return not(-1130, 'Invalid workingType.');
    if (!/^[.A-Z:/a-z0-9_-]{1,36}$/.test(clientAlgoId)) return not(-4015, 'Client order id is not valid.');
    if (isWhole && (quantity || params.reduceOnly === 'true'))
      return not(-1106, "Parameter 'quantity' sent when not required.");
    if (!isWhole && !quantity) return turnedAway(missing('quantity'));
    if (!isWhole && !(Number(quantity) > 0)) return not(-4003, 'Quantity less than or equal to zero.');
    if ((params.positionSide ?? 'BOTH') !== 'BOTH' || holder.standing.positionMode === 'hedged')
      return not(-4061, "Order's position side does not match user's setting.");
    if (!isWhole && params.reduceOnly !== 'true') return placeEntry(call, clientAlgoId);
    if (isLimit) return not(-1000, 'this stub keeps no stop that rests when it has triggered');
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

  function placeEntry(call: Call, clientOrderId: string): Visit {
    const { holder, params, signedAt, windowMs } = call;
    const { symbol = '', side, quantity, triggerPrice, price, type, timeInForce = 'GTC' } = params;
    if (!/^(GTC|IOC|FOK)$/.test(timeInForce)) return turnedAway(refused(400, -1115, 'Invalid timeInForce.'));
    // By the mark price it would wait for another: this stub's entries wait for the last one.
    if (params.workingType === 'MARK_PRICE') return turnedAway(refused(400, -1130, 'Invalid workingType.'));
    return {
      what: 'order',
      account: holder.account,
      order: {
        ...{ clientOrderId, symbol, side: side === 'BUY' ? 'buy' : 'sell', reduceOnly: false },
        ...{ quantity: quantityOf(quantity), sendBefore: signedAt + windowMs },
        trigger: quantityOf(triggerPrice),
        ...(type === 'STOP' && { limit: quantityOf(price) }),
      },
      tell: (taken) => (taken.outcome === 'refused' ? refusal(taken) : said(tellEntry(taken.order))),
    };
  }

  async function findEntry({ holder, params }: Call): Promise<SeenOrder | null> {
    const { algoId, clientAlgoId } = params;
    const all = await conditionals(office, holder.account);
    return all.find((each) => (algoId ? each.ref === algoId : each.clientOrderId === clientAlgoId)) ?? null;
  }

  const deleted = ({ ref, clientOrderId }: Pick<SeenStop, 'ref' | 'clientOrderId'>): Answer =>
    said({ algoId: Number(ref), clientAlgoId: clientOrderId, code: '200', msg: 'success' });

  /** By the exchange's id where there is one. */
  async function find({ holder, params }: Call): Promise<SeenStop | null> {
    const { algoId, clientAlgoId } = params;
    const stops = await office.stops(holder.account);
    return stops.find((stop) => (algoId ? stop.ref === algoId : stop.clientOrderId === clientAlgoId)) ?? null;
  }

  const named = (call: Call, answer: () => Promise<Answer>, what: 'look_up' | 'cancel' = 'look_up'): Visit =>
    call.params.algoId || call.params.clientAlgoId
      ? visit(what, call, answer)
      : turnedAway(missing('algoId'));

  const list = (call: Call, isAll: boolean): Visit =>
    visit('look_up', call, async () => {
      const { symbol, algoId } = call.params;
      const isAsked = (each: { readonly symbol: string; readonly ref: string }) =>
        each.symbol === (symbol ?? each.symbol) && each.ref === (algoId ?? each.ref);
      const stops = (await office.stops(call.holder.account)).filter(isAsked);
      const entries = (await conditionals(office, call.holder.account)).filter(isAsked);
      return said([
        ...stops.filter(({ status }) => isAll || status === 'standing').map(tellSeen),
        ...entries.filter((entry) => isAll || entryState(entry) === 'NEW').map(tellSeenEntry),
      ]);
    });

  return {
    asked: {
      [`POST ${PATH}`]: place,
      [`GET ${PATH}`]: (call) =>
        named(call, async () => {
          const stop = await find(call);
          if (stop) return said(tellSeen(stop));
          const entry = await findEntry(call);
          return entry ? said(tellSeenEntry(entry)) : refused(400, -2013, 'Order does not exist.');
        }),
      [`DELETE ${PATH}`]: (call) =>
        named(
          call,
          async () => {
            const { account } = call.holder;
            const stop = await find(call);
            if (stop && (await office.removeStop(account, stop.ref))) return deleted(stop);
            const entry = stop ? null : await findEntry(call);
            const isEnded = entry && (await endWaiting(office, account, entry));
            return isEnded ? deleted(entry) : REFUSALS.not_found;
          },
          'cancel',
        ),
      'GET /fapi/v1/openAlgoOrders': (call) => list(call, false),
      'GET /fapi/v1/allAlgoOrders': (call) =>
        isListed(call.params.symbol) ? list(call, true) : turnedAway(missing('symbol')),
    },
    trading: [`POST ${PATH}`, `DELETE ${PATH}`],
  };
}
