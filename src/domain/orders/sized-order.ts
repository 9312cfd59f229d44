// How much an order trades, beyond what it was sent with: taken with a factor when it is accepted, and computed in units once it is
// known what is held and how the market stands.

import { absolute, type Decimal, downTo, multiply, negate, ONE, sign, ZERO } from '../decimal.ts';
import { priceOf } from '../protection/level.ts';
import { asksForStop, isGiven, type OrderWish } from '../protection/wish.ts';
import type { Order, OrderError, OrderIntent } from './order.ts';
import { type Holding, heldOn } from './position.ts';
import { type QuantityType, type Sizing, type SizingMarket, sized, sizingOf, unitOf } from './sizing.ts';

export interface Asked {
  readonly intent: OrderIntent;
  readonly quantity: Decimal;
  readonly quantityType: QuantityType;
}

/** An order's intent and size as it is accepted: both are saved with it, so that nothing that is set later changes it. */
export interface Taken {
  readonly intent: OrderIntent;
  /** null: it trades what it says. */
  readonly sizing: Sizing | null;
}

/**
 * What an order makes of a signal that it takes with this factor: its account's multiplier, times whatever else it is taken with.
 * A target goes there times the factor. Who closes everything has nothing to multiply.
 */
export function takenWith(factor: Decimal, { intent, quantity, quantityType }: Asked): Taken {
  const { target, operation } = intent;
  if (!target)
    return {
      intent,
      sizing:
        operation === 'PLACE_ENTRY_ORDER' || operation === 'PLACE_EXIT_ORDER'
          ? sizingOf(quantityType, quantity, factor)
          : null,
    };
  if (factor === ONE || target.position === ZERO) return { intent, sizing: null };
  return {
    intent: { ...intent, target: { ...target, position: multiply(target.position, factor) } },
    sizing: sizingOf('units', absolute(target.position), factor),
  };
}

/** How the market of its instrument stands, and the account. */
export interface OrderMarket
  extends Pick<SizingMarket, 'equity' | 'currency' | 'unitValue' | 'step' | 'least'> {
  readonly quote: { readonly bid: Decimal; readonly ask: Decimal } | null;
  readonly tick: Decimal;
  /** The broker keeps stops for whole quantities only. */
  readonly wholeStops: boolean;
}

/** Computed once: what is saved of it stands. */
export function sizedBy(
  order: Order,
  held: readonly Holding[],
  market: OrderMarket | null,
): Order | OrderError {
  const { sizing, intent, symbol, wish } = order;
  if (!sizing || sizing.units !== null) return order;
  if (market === null)
    return {
      code: 'sizing_failed',
      message: `How much to trade cannot be computed: nothing is known of the market of ${symbol}.`,
    };
  const isEntry = intent.operation === 'PLACE_ENTRY_ORDER';
  const isWhole = isEntry && market.wholeStops && wish !== undefined && asksForStop(wish.fromFlat);
  const { step, least } = isWhole ? { step: ONE, least: ONE } : market;
  if (intent.target) return towardsTarget(order, sizing, held, { step, least });
  // What is held is asked for, and in which steps it may be traded.
  if (intent.operation === 'CLOSE_POSITION' || intent.operation === 'PROTECT_POSITION')
    return { ...order, sizing: { ...sizing, step } };
  const price = market.quote && (sideOf(intent) === 'buy' ? market.quote.ask : market.quote.bid);
  const computed = sized(sizing, symbol, {
    ...market,
    step,
    least,
    price,
    held: intent.operation === 'PLACE_EXIT_ORDER' ? heldOn(held, intent.direction) : null,
    stop: price === null || !isEntry ? null : stopOf(wish, intent.side, price, held, market.tick),
  });
  return 'code' in computed ? computed : { ...order, sizing: computed };
}

/** The target, rounded towards nothing. Who opens nothing by it is told; whoever holds something closes what is too much. */
function towardsTarget(
  order: Order,
  sizing: Sizing,
  held: readonly Holding[],
  { step, least }: Pick<OrderMarket, 'step' | 'least'>,
): Order | OrderError {
  const { intent, symbol } = order;
  const { target } = intent;
  if (!target) return order;
  const exact = absolute(target.position);
  const units = downTo(exact, step);
  const words = `${sizing.asked} times ${sizing.factor}`;
  const isLess = units !== downTo(multiply(sizing.asked, sizing.factor), step);
  const reason = isLess ? `${words}, less what protection has closed,` : words;
  if (units === ZERO && exact !== ZERO && held.every(({ quantity }) => quantity === ZERO))
    return {
      code: 'invalid_quantity',
      message: `${reason} is ${exact} ${unitOf(symbol)}; the least is ${least}.`,
    };
  const position = sign(target.position) < 0 ? negate(units) : units;
  return {
    ...order,
    intent: { ...intent, target: { ...target, position } },
    sizing: { ...sizing, units, step, text: `${reason} is ${units} ${unitOf(symbol)}.` },
  };
}

const sideOf = (intent: OrderIntent) => {
  if (intent.operation === 'PLACE_ENTRY_ORDER') return intent.side;
  return 'direction' in intent && intent.direction === 'short' ? 'buy' : 'sell';
};

/** Where the stop would stand if it were filled at this price; who adds to a position has the order's own alone. */
function stopOf(
  wish: OrderWish | undefined,
  side: 'buy' | 'sell',
  entry: Decimal,
  held: readonly Holding[],
  tick: Decimal,
): Decimal | null {
  if (!wish) return null;
  const direction = side === 'buy' ? 'long' : 'short';
  const { stop, trail } = sign(heldOn(held, direction)) > 0 ? wish.own : wish.fromFlat;
  const level = isGiven(stop) ? stop : isGiven(trail) ? trail.distance : null;
  return level === null ? null : priceOf(level, { leg: 'stop', side: direction, entry, tick });
}
