// What to plan: what is held, less what other orders of ours take already, becomes the legs that are to be sent. What was sent
// before stays in the order as it is; whatever was only planned is planned anew, on the position as it is now.

import { absolute, add, compare, type Decimal, sign, subtract, ZERO } from '../decimal.ts';
import { agrees, standing } from './expected.ts';
import { clientOrderId, hasTraded, type Leg, type Order, type OrderIntent, unitsOf } from './order.ts';
import {
  directionOf,
  leavesSome,
  othersToAwait,
  pendingLeg,
  takeable,
  withoutOpening,
} from './other-legs.ts';
import { isExit, patienceOf } from './patience.ts';
import { filledBy, type Holding, planOrder } from './position.ts';
import { isShareToCompute } from './sizing.ts';
import type { Facts, Held, Rules } from './step.ts';

/** What an order is planned on; null: it is not known yet what is held, and nothing can be sent on the doubt. */
export function heldToPlanOn(
  order: Order,
  held: readonly Held[],
  { able }: Facts,
): readonly Holding[] | null {
  if (held.every(agrees)) return held;
  // Where the exchange clamps it, a close is sent at once for the more of both: for the less, something might stay open.
  const isPart = leavesSome(order.intent) || (order.sizing && isShareToCompute(order.sizing));
  if (!isExit(order) || !able.reduceOnly || isPart || wasRefused(order)) return null;
  const more = held.map((each) => larger(each, order.intent));
  return more.every((each) => each !== null) ? more : null;
}

/** The broker has had its word on what there is to close: now both have to agree. */
const wasRefused = ({ legs }: Order): boolean =>
  legs.some(({ leg, status }) => leg === 'exit' && (status === 'rejected' || status === 'cancelled'));

/** null: one says long, the other short, and who closes either has to know. */
function larger({ instrument, quantity, expected }: Held, intent: OrderIntent): Holding | null {
  if (expected === null || sign(expected) === 0) return { instrument, quantity };
  if (sign(quantity) * sign(expected) < 0) {
    const direction = directionOf(intent);
    if (direction === null) return null;
    return { instrument, quantity: sign(quantity) === (direction === 'long' ? 1 : -1) ? quantity : expected };
  }
  const isMore = compare(absolute(expected), absolute(quantity)) > 0;
  return { instrument, quantity: isMore ? expected : quantity };
}

export function plan(
  order: Order,
  held: readonly Holding[],
  instrument: string,
  facts: Facts,
  rules: Rules,
): Order {
  // Towards a target nothing is opened while a leg of our own may yet be filled: it may be what is missing.
  const intent = pendingLeg(facts, rules) ? withoutOpening(order.intent) : order.intent;
  const free = held.map((holding) => takeable(holding, order.intent, facts, rules));
  const sent = order.legs.filter(({ status }) => status !== 'planned');
  const taken = sent.filter(({ leg }) => leg === 'exit');
  const units = unitsOf(order);
  const wanted = isExit(order) ? subtract(units, filledOf(taken)) : units;
  const { legs } = planOrder(intent, wanted, free, instrument);
  const numbered = legs.map(({ leg, instrument: of, side, quantity }, index): Leg => {
    const before = [...sent, ...legs.slice(0, index)].filter((each) => each.leg === leg);
    const nth = before.length + 1;
    return {
      ...UNSENT,
      leg,
      nth,
      clientOrderId: clientOrderId(order.id, leg, nth),
      instrument: of,
      side,
      quantity,
    };
  });
  const next: Order = {
    ...onWhatStands(order, facts, rules),
    legs: [...sent, ...numbered],
    awaitsRest: false,
  };
  const closes = next.legs.some(({ leg }) => leg === 'exit');
  const opens = next.legs.some(({ leg }) => leg === 'entry');
  return { ...next, autoExit: closes && opens, awaitsRest: awaitsRest(next, wanted, numbered, facts) };
}

/** So that what it says was held before, with its own fills, is what is held now. */
export function onWhatStands(
  order: Order,
  { position, others, now }: Facts,
  { lagMs }: Pick<Rules, 'lagMs'>,
): Order {
  const { quantity, counted } = standing(position?.held ?? [], others, now, lagMs);
  return { ...order, positionBefore: subtract(quantity, filledBy(order.legs)), counted };
}

/** Who asks for an amount waits until it has got it, and then for nobody; who closes all, not for another close once it has its own part. */
function awaitsRest(order: Order, wanted: Decimal, planned: readonly Leg[], facts: Facts): boolean {
  const { intent } = order;
  if (!patienceOf(order).waitsForRest || !isExit(order)) return false;
  const isAmount = intent.operation === 'PLACE_EXIT_ORDER' && !intent.target;
  const takes = planned.reduce<Decimal>((sum, { quantity }) => add(sum, quantity), ZERO);
  const isSome = wanted !== ZERO || hasTraded(order);
  if (isAmount && isSome && compare(takes, wanted) >= 0) return false;
  const awaited = othersToAwait(order, facts);
  return awaited?.leg.leg === 'entry' || (awaited !== undefined && (isAmount || order.legs.length === 0));
}

const filledOf = (legs: readonly Leg[]): Decimal =>
  legs.reduce<Decimal>((sum, { fillQuantity }) => add(sum, fillQuantity ?? ZERO), ZERO);

const UNSENT = {
  brokerRef: null,
  status: 'planned',
  fillPrice: null,
  fillQuantity: null,
  fee: null,
  unitValue: null,
  sentAt: null,
  ackedAt: null,
  filledAt: null,
} as const satisfies Partial<Leg>;
