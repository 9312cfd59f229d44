// An order with its quantity in units, once it is known what is held and how the market stands.

import { type Decimal, decimal, sign } from '../decimal.ts';
import { priceOf } from '../protection/level.ts';
import { asksForStop, isGiven, type OrderWish } from '../protection/wish.ts';
import type { Order, OrderError, OrderIntent } from './order.ts';
import { type Holding, heldOn } from './position.ts';
import { type SizingMarket, sized } from './sizing.ts';

/** How the market of its instrument stands, and the account. */
export interface OrderMarket
  extends Pick<SizingMarket, 'equity' | 'currency' | 'unitValue' | 'step' | 'least'> {
  readonly quote: { readonly bid: Decimal; readonly ask: Decimal } | null;
  readonly tick: Decimal;
  /** The broker keeps stops for whole quantities only. */
  readonly wholeStops: boolean;
}

const ONE = decimal(1);

export function sizedBy(
  order: Order,
  held: readonly Holding[],
  market: OrderMarket | null,
): Order | OrderError {
  const { sizing, intent, symbol, wish } = order;
  if (
    !sizing ||
    intent.target ||
    intent.operation === 'CLOSE_POSITION' ||
    intent.operation === 'PROTECT_POSITION'
  )
    return order;
  if (market === null)
    return {
      code: 'sizing_failed',
      message: `How much to trade cannot be computed: nothing is known of the market of ${symbol}.`,
    };
  const side = sideOf(intent);
  const price = market.quote && (side === 'buy' ? market.quote.ask : market.quote.bid);
  const isWhole =
    intent.operation === 'PLACE_ENTRY_ORDER' &&
    market.wholeStops &&
    wish !== undefined &&
    asksForStop(wish.fromFlat);
  const computed = sized(sizing, symbol, {
    ...market,
    step: isWhole ? ONE : market.step,
    price,
    held: intent.operation === 'PLACE_EXIT_ORDER' ? heldOn(held, intent.direction) : null,
    stop:
      price === null || intent.operation !== 'PLACE_ENTRY_ORDER'
        ? null
        : stopOf(wish, intent.side, price, held, market.tick),
  });
  return 'code' in computed ? computed : { ...order, sizing: computed };
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
