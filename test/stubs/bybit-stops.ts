// Bybit's stop of a position: set, moved and removed by one call, which names neither an id nor a side. Inside it is a conditional
// order that the exchange keeps as large as the position, and takes away with it. Partial stops, targets and trailing stops are
// not kept here.

import {
  type Answer,
  type Office,
  type SeenOrder,
  type SeenPosition,
  type SeenStop,
  type StopRefusalCode,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { absolute, type Decimal, multiply, sign } from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { type Call, quantityOf, visit } from './wire.ts';

const PRICES = { LastPrice: 'last', MarkPrice: 'mark' } as const;

/** As an order of the exchange's own: nobody gave it an id. */
export const tellStop = (stop: SeenStop) => ({
  orderLinkId: '',
  stopOrderType: 'StopLoss',
  createType: 'CreateByStopLoss',
  triggerPrice: stop.price,
  triggerBy: stop.triggerBy === 'mark' ? 'MarkPrice' : 'LastPrice',
  triggerDirection: stop.side === 'sell' ? 2 : 1,
  tpslMode: 'Full',
  reduceOnly: true,
  closeOnTrigger: true,
});

const UNFILLED: Record<SeenStop['status'], readonly [status: string, cancelType: string]> = {
  standing: ['Untriggered', 'UNKNOWN'],
  triggered: ['Triggered', 'UNKNOWN'],
  cancelled: ['Deactivated', 'CancelByTpSlTsClear'],
  expired: ['Deactivated', 'CancelByTpSlTsClear'],
  rejected: ['Rejected', 'UNKNOWN'],
};

/** Of one that became no order, as far as lists of orders tell of it. */
const tellUnfilled = (stop: SeenStop, size: Decimal) => {
  const [orderStatus, cancelType] = UNFILLED[stop.status];
  return {
    orderId: stop.ref,
    symbol: stop.symbol,
    price: '0',
    qty: size,
    side: stop.side === 'buy' ? 'Buy' : 'Sell',
    positionIdx: 0,
    orderStatus,
    cancelType,
    rejectReason: stop.status === 'rejected' ? 'EC_NoImmediateQtyToFill' : 'EC_NoError',
    avgPrice: '',
    leavesQty: stop.status === 'standing' ? size : '0',
    cumExecQty: '0',
    cumExecValue: '0',
    cumExecFee: '0',
    timeInForce: 'IOC',
    orderType: 'Market',
    createdTime: `${stop.acceptedAt}`,
    updatedTime: `${stop.updatedAt}`,
    ...tellStop(stop),
  };
};

interface Speech {
  said(result: object): Answer;
  told(retCode: number, retMsg: string): Answer;
  busy(): Answer;
  isListed(symbol: string | undefined): boolean;
}

export function bybitStops(office: Office, { said, told, busy, isListed }: Speech) {
  const scaled = (price: Decimal) => multiply(price, '10000' as Decimal);

  function passed(stop: { readonly symbol: string; readonly side: string; readonly price: Decimal }): Answer {
    const { bid } = office.quote(stop.symbol);
    const rule = stop.side === 'sell' ? 'Buy position should lower than' : 'Sell position should greater';
    return told(10001, `StopLoss:${scaled(stop.price)} set for ${rule} base_price:${scaled(bid)}??LastPrice`);
  }

  const REFUSALS: Record<Exclude<StopRefusalCode, 'would_trigger'>, () => Answer> = {
    no_position: () => told(10001, 'can not set tp/sl/ts for zero position'),
    reserved: () => told(110017, 'current position is zero, cannot fix reduce-only order qty'),
    second: () => told(110061, 'TP/SL set more than 20'),
    invalid_symbol: () => told(10001, 'params error: symbol invalid'),
    off_tick: () => told(10001, 'StopLoss invalid'),
    off_step: () => told(10001, 'StopLoss invalid'),
    market_closed: () => told(110074, 'This contract is not live'),
    broker_rate_limited: busy,
    duplicate: () => told(110072, 'OrderLinkedID is duplicate'),
    not_found: () => told(110001, 'order not exists or too late to cancel'),
    refused: () => told(110061, 'TP/SL set more than 20'),
  };
  const UNCHANGED = () => told(34040, 'not modified');

  const isOfPosition = (stop: SeenStop, symbol: string) =>
    stop.symbol === symbol && stop.status === 'standing' && stop.quantity === null;

  async function heldIn(account: AccountId, symbol: string): Promise<SeenPosition | undefined> {
    return (await office.positions(account)).find((position) => position.symbol === symbol);
  }

  const standingIn = async (account: AccountId, symbol: string): Promise<SeenStop | undefined> =>
    (await office.stops(account)).find((stop) => isOfPosition(stop, symbol));

  async function set(call: Call): Promise<Visit> {
    const { account } = call.holder;
    const { category, symbol = '', positionIdx, tpslMode, stopLoss, slOrderType } = call.params;
    const { slTriggerBy = 'LastPrice' } = call.params;
    const not = (msg: string) => turnedAway(told(10001, msg));
    if (category !== 'linear') return not('params error: category only supports linear and inverse');
    if (!isListed(symbol)) return not('params error: symbol invalid');
    if (tpslMode === undefined && slOrderType !== undefined)
      return not('slOrderType can not have a value when tpSlMode is empty');
    if (tpslMode !== 'Full') return not('this stub keeps stops of whole positions only');
    if (positionIdx !== '0' || call.holder.standing.positionMode === 'hedged')
      return not('position idx not match position mode');
    if (!(Number(stopLoss) >= 0)) return not('params error: StopLoss invalid');
    if (slOrderType !== undefined && slOrderType !== 'Market') return not('slOrderType invalid');
    if (!(slTriggerBy in PRICES)) return not('slTriggerBy invalid');
    // By its documents a 0 removes the target that somebody has set, and there is none here to lose.
    for (const other of ['takeProfit', 'trailingStop', 'slSize', 'slLimitPrice'])
      if (call.params[other] !== undefined) return not(`${other} is not kept in this stub`);
    const [held, standing] = [await heldIn(account, symbol), await standingIn(account, symbol)];
    if (!held) return visit('other', call, REFUSALS.no_position);
    const price = quantityOf(stopLoss);
    const triggerBy = PRICES[slTriggerBy as keyof typeof PRICES];
    if (sign(price) === 0) return standing ? remove(call, standing) : visit('other', call, UNCHANGED);
    if (standing?.price === price && standing.triggerBy === triggerBy) return visit('other', call, UNCHANGED);
    const stop = {
      clientOrderId: standing?.clientOrderId ?? crypto.randomUUID(),
      symbol,
      side: sign(held.quantity) > 0 ? 'sell' : 'buy',
      quantity: null,
      price,
      triggerBy,
      ...(standing && { moves: standing.ref }),
    } as const;
    return {
      what: 'stop',
      account,
      stop,
      tell(taken) {
        if (taken.outcome === 'accepted') return said({});
        return taken.code === 'would_trigger' ? passed(stop) : REFUSALS[taken.code]();
      },
    };
  }

  const remove = (call: Call, { ref }: SeenStop): Visit =>
    visit('other', call, async () =>
      (await office.removeStop(call.holder.account, ref)) ? said({}) : UNCHANGED(),
    );

  return {
    set,
    /** Of a position's row. */
    priceIn: async (account: AccountId, symbol: string) => (await standingIn(account, symbol))?.price ?? '',
    /** Which stop an order was, by the order's id. */
    async byOrder(account: AccountId): Promise<ReadonlyMap<string, SeenStop>> {
      const fired = (await office.stops(account)).flatMap((stop) =>
        stop.order ? [{ stop, order: stop.order }] : [],
      );
      return new Map(fired.map(({ stop, order }): [string, SeenStop] => [order.ref, stop]));
    },
    /** Those that are no orders yet, or never became one, as lists of orders tell of them. */
    async listed(account: AccountId, isShown: (stop: SeenStop) => boolean): Promise<readonly object[]> {
      const stops = (await office.stops(account)).filter((stop) => stop.order === null && isShown(stop));
      const sizes = new Map(
        (await office.positions(account)).map((held) => [held.symbol, absolute(held.quantity)]),
      );
      return stops.map((stop) =>
        tellUnfilled(stop, stop.quantity ?? sizes.get(stop.symbol) ?? ('0' as Decimal)),
      );
    },
  };
}

/** A stop that has not ended: it is in the list of what is live. */
export const isLive = ({ status }: SeenStop): boolean => status === 'standing' || status === 'triggered';

export type StopOf = (order: SeenOrder) => SeenStop | undefined;
