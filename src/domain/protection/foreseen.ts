// What would protect the position of an order that is only planned.

import { absolute, type Decimal, sign, ZERO } from '../decimal.ts';
import type { Order, OrderError } from '../orders/order.ts';
import { plannedPosition } from '../orders/position.ts';
import { opensAnew } from './adopt.ts';
import { type Market, type PlannedLeg, planProtection, whyAgainstMarket } from './planned.ts';
import type { Protection } from './protection.ts';
import { asksForStop, type OrderWish, type Wish } from './wish.ts';

/** What is told of the instrument and its market beside a plan. */
export interface PlannedIn extends Market {
  readonly tick: Decimal;
  readonly step: Decimal;
  /** The least quantity of an order. */
  readonly least: Decimal;
  /** Of what is held; null: nothing is. */
  readonly averagePrice: Decimal | null;
  /** What is wanted of that already. A worker of the release before says nothing of it. */
  readonly kept?: Pick<Protection, 'stop' | 'trail'> | null;
}

export interface Foreseen {
  /** null: it is not known where they would stand. */
  readonly legs: readonly PlannedLeg[] | null;
  /** What is made by us, and stands nowhere: in words. */
  readonly also: readonly string[];
  /** Why the order would be refused for it. */
  readonly error: OrderError | null;
}

const NOTHING: Foreseen = { legs: [], also: [], error: null };

/** `market`: null where nobody could tell. */
export function foreseen(planned: Order, market: PlannedIn | null): Foreseen {
  const asked = askedOf(planned);
  if (!asked || planned.status === 'rejected') return NOTHING;
  if (market === null) return { ...NOTHING, legs: null };
  const { wish, position } = asked;
  const side = sign(position) < 0 ? 'short' : 'long';
  const entry =
    planned.intent.operation === 'PROTECT_POSITION'
      ? market.averagePrice
      : side === 'long'
        ? market.ask
        : market.bid;
  if (entry === null) return { ...NOTHING, legs: null };
  const { tick, step, least, kept = null } = market;
  const plan = planProtection(wish, { side, entry, held: absolute(position), tick, step, least, kept });
  if ('problem' in plan) return { ...NOTHING, error: { code: 'invalid_protection', message: plan.problem } };
  const against = whyAgainstMarket(plan.legs, side, market);
  return { ...plan, error: against === null ? null : { code: 'invalid_protection', message: against } };
}

/** From flat with the account's defaults; what is added to keeps what it has, but for what the order says. */
function askedOf(planned: Order): { readonly wish: Wish; readonly position: Decimal } | null {
  const { wish, legs, intent } = planned;
  if (!wish) return null;
  const isProtect = intent.operation === 'PROTECT_POSITION';
  if (!isProtect && !legs.some(({ leg }) => leg === 'entry')) return null;
  const position = isProtect ? (planned.positionBefore ?? ZERO) : plannedPosition(planned);
  if (sign(position) === 0) return null;
  return { wish: !isProtect && opensAnew(planned) ? wish.fromFlat : wish.own, position };
}

/** A stop comes with the entry, or stands for what it adds to and is not removed by it. `kept`: of its account. */
export function hasStop(entry: Order, kept: readonly Protection[]): boolean {
  const { own, fromFlat } = entry.wish ?? NO_WISH;
  if (opensAnew(entry)) return asksForStop(fromFlat);
  if (asksForStop(own)) return true;
  const leg = entry.legs.findLast((each) => each.leg === 'entry');
  const side = leg?.side === 'sell' ? 'short' : 'long';
  return kept.some(
    (each) =>
      each.instrument === leg?.instrument &&
      each.simulation === entry.simulation &&
      each.side === side &&
      // What trails keeps the stop that it has come to.
      (own.stop === 'none' ? each.trail !== null && own.trail !== 'none' : each.stop !== null),
  );
}

const NO_WISH: OrderWish = { own: {}, fromFlat: {} };
