// How little a trial trades: the smallest order that the market takes and that everything can be tried with, and prices far from the
// market, at which nothing is meant to happen.

import {
  add,
  average,
  compare,
  type Decimal,
  decimal,
  downTo,
  isWhole,
  larger,
  multiply,
  ONE,
  subtract,
} from '../decimal.ts';

/** What is known of the market, as of Instrument. */
export interface TrialMarket {
  readonly quantityStep: Decimal;
  readonly minQuantity: Decimal;
  readonly minValue?: Decimal;
  readonly tickSize: Decimal;
  /** Of one, at a price of 1, in the account's currency. */
  readonly unitValue: Decimal;
  /** In what it is quoted in. */
  readonly contractSize: Decimal;
}

export interface TrialPlan {
  readonly quantity: Decimal;
  /** A limit to buy that is not meant to fill. */
  readonly farLimit: Decimal;
  /** Of the stop, as it is placed and as it is moved. */
  readonly stop: Decimal;
  readonly movedStop: Decimal;
  /** What is bought, in the account's currency. */
  readonly value: Decimal;
  /** About what the round trip costs: the spread, and fees as they usually are. */
  readonly cost: Decimal;
}

/** Within the bands that exchanges allow, and further than a price goes while a trial takes its seconds. */
const [FAR, STOP, MOVED] = [decimal('0.97'), decimal('0.95'), decimal('0.96')];
/** Of the value, for the buy and for the sell. */
const USUAL_FEE = decimal('0.001');

export function planTrial(
  market: TrialMarket,
  { bid, ask }: { readonly bid: Decimal; readonly ask: Decimal },
  { wholeStops, asked }: { readonly wholeStops: boolean; readonly asked: Decimal | null },
): TrialPlan {
  const at = (share: Decimal) => larger(market.tickSize, downTo(multiply(bid, share), market.tickSize));
  const farLimit = at(FAR);
  const quantity = asked ?? smallestOf(market, farLimit, wholeStops);
  const worth = (price: Decimal) => multiply(multiply(quantity, price), market.unitValue);
  const value = worth(ask);
  const fees = multiply(multiply(value, USUAL_FEE), decimal(2));
  return {
    ...{ quantity, farLimit, value },
    stop: at(STOP),
    movedStop: at(MOVED),
    cost: add(worth(subtract(ask, bid)), fees),
  };
}

/** Large enough at the lowest price that it is sent with. */
function smallestOf(market: TrialMarket, price: Decimal, isWholeOnly: boolean): Decimal {
  const { quantityStep: step, minQuantity, minValue, contractSize } = market;
  const least = upTo(larger(minQuantity, step), step);
  const one = multiply(price, contractSize);
  const worth = minValue === undefined ? least : upTo(average(minValue, one), step);
  // A division is rounded: one step more where it fell short by that.
  const enough =
    minValue !== undefined && compare(multiply(worth, one), minValue) < 0 ? add(worth, step) : worth;
  const smallest = larger(least, enough);
  return isWholeOnly && !isWhole(smallest) ? upTo(smallest, ONE) : smallest;
}

function upTo(amount: Decimal, step: Decimal): Decimal {
  const below = downTo(amount, step);
  return compare(below, amount) === 0 ? below : add(below, step);
}
