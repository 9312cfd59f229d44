// Between a dialect and the desk: symbols, quantities and ids of the wire on one side, the engine's on the other.

import type { PaperOrder } from '../src/broker/paper/ledger.ts';
import { candlesOf, findListing, pathOf } from '../src/broker/paper/market.ts';
import { isOfStop } from '../src/broker/paper/settle.ts';
import {
  average,
  compare,
  type Decimal,
  decimal,
  isOnStep,
  multiply,
  rounded,
  ZERO,
} from '../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, millis, timestamp } from '../src/domain/ids.ts';
import { type Desk, PATIENT } from './exchange-desk.ts';
import {
  type AskedOrder,
  type AskedStop,
  type Dialect,
  type Listed,
  type Office,
  REFUSALS,
  type RefusalCode,
  type SeenOrder,
  type SeenStop,
  type StopRefusalCode,
  type StopTaken,
  type StopVisit,
  type Taken,
} from './exchange-dialect.ts';
import type { Arrival, StopArrival } from './exchange-journal.ts';
import type { Standing } from './exchange-standing.ts';
import type { StopAndOrder } from './exchange-stops.ts';

type StopRefused = Extract<StopTaken, { outcome: 'refused' }>;

const STRAY = { quantity: decimal(5), averagePrice: decimal(100), lastPrice: decimal(100), openProfit: ZERO };

/** In front of the digest in the engine's references. */
const PREFIX = 'paper-';

/** Of a careless account's copies, what they were sent under. */
export const sentUnder = (id: string): string => id.replace(/#\d+$/, '');

export function openOffice(desk: Desk, { markets, refs }: Dialect, aheadMs: () => number) {
  /** By the exchange's clock. */
  const now = () => Date.now() + aheadMs();
  const listed = (symbol: string): Listed | undefined =>
    markets ? markets.find((each) => each.symbol === symbol) : itself(symbol);
  const listedOf = (engine: string): Listed | undefined =>
    markets ? markets.find((each) => each.of === engine && !each.isSuspended) : itself(engine);
  /** Of what was sent to wait for a price, by its id and symbol: the engine forgets it when the price is there. */
  const triggers = new Map<string, Decimal>();
  const digest = (brokerRef: string) => brokerRef.slice(PREFIX.length);

  function pricesOf(symbol: string) {
    const listing = findListing(listed(symbol)?.of ?? '');
    if (!listing) throw new Error(`the paper engine has nothing behind ${symbol}`);
    return { listing, path: pathOf(listing, SEED, desk.lastPrice(listing.symbol)) };
  }

  function seen(order: PaperOrder): SeenOrder {
    const { symbol = order.symbol, contractSize = decimal(1) } = listedOf(order.symbol) ?? {};
    return {
      clientOrderId: clientIdOf(order),
      ref: refs.tell(digest(order.brokerRef)),
      symbol,
      side: order.side,
      quantity: average(order.quantity, contractSize),
      reduceOnly: order.reduceOnly,
      status: order.status,
      fillQuantity: average(order.fillQuantity, contractSize),
      fillPrice: order.fillPrice,
      fee: order.fee && rounded(order.fee),
      reason: order.reason,
      limit: order.limit,
      trigger: order.trigger,
      waitedFor: triggers.get(`${clientIdOf(order)} ${order.symbol}`) ?? order.trigger,
      acceptedAt: millis(order.acceptedAt),
      updatedAt: millis(order.updatedAt),
    };
  }

  /** What a stop became has no id of the client's: the exchange makes one up. */
  const clientIdOf = ({ clientOrderId, brokerRef }: PaperOrder): string =>
    isOfStop(clientOrderId) ? `auto${digest(brokerRef)}` : sentUnder(clientOrderId);

  function seenStop({ stop, order }: StopAndOrder): SeenStop {
    const { symbol = stop.symbol, contractSize = ONE } = listedOf(stop.symbol) ?? {};
    return {
      clientOrderId: sentUnder(stop.clientOrderId),
      ref: refs.tell(digest(stop.brokerRef)),
      symbol,
      side: stop.side,
      quantity: stop.quantity && average(stop.quantity, contractSize),
      price: stop.price,
      triggerBy: stop.triggerBy,
      status: stop.status,
      order: seenOrNull(order),
      reason: stop.reason,
      acceptedAt: millis(stop.acceptedAt),
      updatedAt: millis(stop.updatedAt),
    };
  }

  const seenOrNull = (order: PaperOrder | null) => (order ? seen(order) : null);

  function refused(
    code: RefusalCode,
    message: string,
    more: Partial<Extract<Taken, { outcome: 'refused' }>> = {},
  ): Taken {
    return { outcome: 'refused', code, message, error: null, order: null, ...more };
  }

  function isTooLittle(quantity: Decimal, { symbol, min, minValue, contractSize }: Listed): boolean {
    const value = multiply(multiply(quantity, contractSize), office.quote(symbol).ask);
    return compare(quantity, min) < 0 || compare(value, minValue) < 0;
  }

  /** What the engine need not be asked for. */
  function refusalOf(order: AskedOrder, standing: Standing): Taken | null {
    const market = listed(order.symbol);
    if (!market) return refused('invalid_symbol', `${order.symbol} is not traded here`);
    if (market.isSuspended) return refused('market_closed', `${order.symbol} is suspended`);
    if ((standing.positionMode === 'hedged') !== (order.isHedged ?? false))
      return refused('position_mode_mismatch', `the account is ${standing.positionMode}`);
    if (markets && !isOnStep(order.quantity, market.step))
      return refused('off_step', `${order.quantity} is not a multiple of ${market.step}`);
    if (!order.reduceOnly && isTooLittle(order.quantity, market))
      return refused(
        'below_minimum',
        `${order.quantity} is less than ${market.min}, or than ${market.minValue}`,
      );
    for (const price of [order.limit, order.trigger])
      if (markets && price !== undefined && !isOnStep(price, market.tick))
        return refused('off_step', `the price ${price} is not a multiple of ${market.tick}`);
    if (order.reduceOnly && order.marginMode && order.marginMode !== standing.marginMode)
      return refused('no_position', `nothing is held with ${order.marginMode} margin`);
    return null;
  }

  const stopRefused = (code: StopRefusalCode, message: string): StopRefused => ({
    outcome: 'refused',
    code,
    message,
    stop: null,
  });

  function stopRefusalOf(stop: AskedStop, standing: Standing): StopRefused | null {
    const market = listed(stop.symbol);
    if (!market) return stopRefused('invalid_symbol', `${stop.symbol} is not traded here`);
    if (market.isSuspended) return stopRefused('market_closed', `${stop.symbol} is suspended`);
    if (!isOnStep(stop.price, market.tick))
      return stopRefused('off_tick', `${stop.price} is not a multiple of ${market.tick}`);
    if (stop.quantity !== null && !isOnStep(stop.quantity, market.step))
      return stopRefused('off_step', `${stop.quantity} is not a multiple of ${market.step}`);
    if (stop.marginMode && stop.marginMode !== standing.marginMode)
      return stopRefused('no_position', `nothing is held with ${stop.marginMode} margin`);
    return null;
  }

  const stopAt = (account: AccountId, ref: string) =>
    desk.stops.byReference(account, PREFIX + (refs.read(ref) ?? '-'));

  const office: Office = {
    now,
    holderOf: desk.holderOf,
    find: async (account, id) => seenOrNull(await desk.find(account, id as ClientOrderId)),
    async findByRef(account, ref) {
      const beginning = refs.read(ref);
      return beginning === null ? null : seenOrNull(await desk.findByReference(account, PREFIX + beginning));
    },
    orders: async (account) => (await desk.orders(account)).map(seen),
    async cancel(account, ref) {
      const order = await desk.findByReference(account, PREFIX + (refs.read(ref) ?? '-'));
      if (!order || (order.status !== 'placed' && order.status !== 'partially_filled')) return false;
      await desk
        .brokerOf(account)
        .cancel({ clientOrderId: null, brokerRef: order.brokerRef, symbol: '' }, PATIENT);
      return true;
    },
    stops: async (account) => (await desk.stops.last(account)).map(seenStop),
    async removeStop(account, ref) {
      const stop = await stopAt(account, ref);
      return stop !== null && desk.stops.remove(account, stop);
    },
    async positions(account) {
      const { marginMode, stray } = desk.registered(account).standing;
      const held = (await desk.positions(account)).flatMap((position) => {
        const market = listedOf(position.symbol);
        if (!market) return [];
        return {
          symbol: market.symbol,
          quantity: average(position.quantity, market.contractSize),
          averagePrice: position.averagePrice,
          lastPrice: position.lastPrice ?? ZERO,
          openProfit: position.openProfit ?? ZERO,
          marginMode,
        };
      });
      return stray ? [...held, { ...STRAY, symbol: stray, marginMode }] : held;
    },
    balance: (account) => desk.brokerOf(account).balance(PATIENT),
    quote: (symbol) => pricesOf(symbol).path.quote(now()),
    candles(symbol, span) {
      const { listing, path } = pricesOf(symbol);
      return candlesOf(listing, path, span, now());
    },
  };

  return {
    office,
    seen,

    /** The engine's reference, as it stands on the wire. */
    refOf: (brokerRef: string) => refs.tell(digest(brokerRef)),

    /** As the engine and the journal have it. */
    arrivalOf(
      { account, asker, arrivedAt }: { account: AccountId; asker: string | null; arrivedAt: number },
      order: AskedOrder,
    ): Arrival {
      const market = listed(order.symbol);
      return {
        account,
        asker,
        arrivedAt,
        clientOrderId: order.clientOrderId as ClientOrderId,
        symbol: market?.of ?? order.symbol,
        side: order.side,
        quantity: multiply(order.quantity, market?.contractSize ?? decimal(1)),
        reduceOnly: order.reduceOnly,
        sendBefore: timestamp(order.sendBefore - aheadMs()),
        ...(order.limit !== undefined && { limit: order.limit }),
        ...(order.trigger !== undefined && { trigger: order.trigger }),
        ...(order.timeInForce !== undefined && { timeInForce: order.timeInForce }),
        ...(order.stop !== undefined && { stop: order.stop }),
      };
    },

    async stopArrivalOf(
      { account, asker, arrivedAt }: { account: AccountId; asker: string | null; arrivedAt: number },
      { moves, ...stop }: StopVisit['stop'],
    ): Promise<StopArrival> {
      const market = listed(stop.symbol);
      const contractSize = market?.contractSize ?? ONE;
      const moved = moves === undefined ? null : await stopAt(account, moves);
      return {
        ...{ account, asker, arrivedAt },
        clientOrderId: stop.clientOrderId as ClientOrderId,
        // What is no id of the exchange's is the client's.
        ...(moves !== undefined && { moves: moved?.clientOrderId ?? (moves as ClientOrderId) }),
        symbol: market?.of ?? stop.symbol,
        side: stop.side,
        quantity: stop.quantity && multiply(stop.quantity, contractSize),
        price: stop.price,
        triggerBy: stop.triggerBy,
      };
    },

    /** `isAnswered` is false where the account's settings lose the answers about stops. */
    async takeStop(
      arrival: StopArrival,
      stop: AskedStop,
    ): Promise<{ taken: StopTaken; isNew: boolean; isAnswered: boolean }> {
      const refusal = markets && stopRefusalOf(stop, desk.registered(arrival.account).standing);
      if (refusal) {
        await desk.stops.note(arrival, 'rejected', refusal.code);
        return { taken: refusal, isNew: false, isAnswered: true };
      }
      const placed = await desk.stops.take(arrival);
      if ('refusal' in placed) {
        const { code, words } = placed.refusal;
        return { taken: stopRefused(code, words), isNew: false, isAnswered: true };
      }
      const { outcome, isAnswered } = placed;
      const known = seenStop({ stop: placed.stop, order: null });
      if (outcome === 'accepted') return { taken: { outcome, stop: known }, isNew: true, isAnswered };
      const taken = { ...stopRefused('duplicate', `${stop.clientOrderId} is known`), stop: known };
      return { taken, isNew: false, isAnswered };
    },

    /** `isAnswered` is false where the account's settings lose every answer. */
    async take(
      arrival: Arrival,
      order: AskedOrder,
    ): Promise<{ taken: Taken; isNew: boolean; isAnswered: boolean }> {
      const refusal = markets && refusalOf(order, desk.registered(arrival.account).standing);
      if (refusal?.outcome === 'refused') {
        await desk.note(arrival, 'rejected', refusal.code);
        return { taken: refusal, isNew: false, isAnswered: true };
      }
      if (arrival.trigger) triggers.set(`${arrival.clientOrderId} ${arrival.symbol}`, arrival.trigger);
      const placed = await desk.take(arrival);
      if ('rejection' in placed) {
        const { code, message } = placed.rejection;
        const taken = refused(refusalCode(code), message, { error: placed.rejection });
        return { taken, isNew: false, isAnswered: true };
      }
      const { outcome, isAnswered } = placed;
      const known = seen(placed.order);
      if (outcome === 'accepted') return { taken: { outcome, order: known }, isNew: true, isAnswered };
      const taken = refused('duplicate', `${order.clientOrderId} is known`, { order: known });
      return { taken, isNew: false, isAnswered };
    },
  };
}

/** Of what parts orders are filled in, of what trades behind one of the dialect's markets, in the engine's units. */
export function partStepOf({ markets }: Dialect, listing: string): Decimal | undefined {
  const market = markets?.find((each) => each.of === listing && !each.isSuspended);
  return market && multiply(market.part ?? market.step, market.contractSize);
}

/** Of prices that are nobody's in particular. */
const SEED = 1;

const ONE: Decimal = decimal(1);
const itself = (symbol: string): Listed => ({
  symbol,
  of: symbol,
  contractSize: ONE,
  step: ZERO,
  min: ZERO,
  minValue: ZERO,
  tick: ZERO,
  isSuspended: false,
});

function refusalCode(code: string): RefusalCode {
  // Its ticks were looked at before.
  if (code === 'invalid_price') return 'would_trigger';
  const known = REFUSALS.find((each) => each === code);
  if (!known) throw new Error(`the engine refused an order for ${code}`);
  return known;
}
