// What an account should hold of an instrument by our own fills. A broker's positions may lag behind its fills, by seconds: whoever
// believes them then closes too little, opens twice, or says that nothing is held. So what is read is held against this before it
// is proof of anything.
//
//   base       the last position that agreed with our fills, or that was believed when they were old enough
//   fills      ours that are not in the base, each counted once however often it is seen
//   expected   base and fills, for as long as a position may lag behind the last of them; after that the broker is believed
//
// The worker that has the user keeps it up to date as it goes; its successor makes it anew from the orders that are saved, each with
// the position that it was planned on and how much of the legs that were open then is in that.

import { absolute, add, compare, type Decimal, sign, subtract, ZERO } from '../decimal.ts';
import { type ClientOrderId, millis } from '../ids.ts';
import { isOpenLeg, type Leg, mainLeg, type Order } from './order.ts';
import type { OtherLeg } from './other-legs.ts';
import { type Holding, positionAfter, signed } from './position.ts';

export interface Known {
  readonly quantity: Decimal;
  /** When the last fill was learnt; null: there was none. */
  readonly tradedAt: number | null;
  /** How much of each leg is in the quantity. */
  readonly counted: ReadonlyMap<ClientOrderId, Decimal>;
  /** So much more than our fills came to was held when it was believed: somebody else traded, or protection did, and nobody had seen it. */
  readonly unexplained?: Decimal;
}

const MOST_COUNTED = 16;

type Filled = Pick<Leg, 'clientOrderId' | 'side' | 'fillQuantity'>;

const filledOf = ({ fillQuantity }: Filled): Decimal => fillQuantity ?? ZERO;

/**
 * How much of an open leg is in a position that is believed now. What went to the market and has been in doubt for longer than a
 * position lags is in it, as far as it was filled at all: whoever learns of that fill later does not count it once more.
 */
export function countedIn(
  { leg, order }: { readonly leg: Leg; readonly order?: Pick<Order, 'priced'> },
  now: number,
  lagMs: number,
): Decimal {
  const isDoubtful = leg.status === 'unknown' && leg.sentAt !== null && now - millis(leg.sentAt) > lagMs;
  return isDoubtful && !order?.priced ? leg.quantity : filledOf(leg);
}

/**
 * The broker's position agrees with what was expected, or is believed. The fills of these legs are in it. It stays in force for
 * as long as before: a replica may agree by chance, with the moment before two fills that undo each other.
 */
export const agreedOn = (position: Decimal, known: Known | undefined, legs: readonly Filled[]): Known => ({
  quantity: position,
  tradedAt: known?.tradedAt ?? null,
  counted: counting([...(known?.counted ?? [])].slice(-MOST_COUNTED), legs),
});

/** One that was counted a while ago may be seen once more, also as it stood before. */
function counting(
  before: readonly (readonly [ClientOrderId, Decimal])[],
  legs: readonly Filled[],
): Map<ClientOrderId, Decimal> {
  const counted = new Map(before);
  for (const leg of legs) {
    const known = counted.get(leg.clientOrderId);
    if (known === undefined || compare(filledOf(leg), known) > 0)
      counted.set(leg.clientOrderId, filledOf(leg));
  }
  return counted;
}

/** A leg as it was seen, by whomever and however often: only what is new counts. */
export function withFill(known: Known, leg: Filled, at: number): Known {
  const more = subtract(filledOf(leg), known.counted.get(leg.clientOrderId) ?? ZERO);
  if (sign(more) <= 0) return known;
  return {
    ...known,
    quantity: add(known.quantity, signed(leg.side, more)),
    tradedAt: Math.max(at, known.tradedAt ?? at),
    counted: new Map(known.counted).set(leg.clientOrderId, filledOf(leg)),
  };
}

/**
 * Of a position that is about to be believed, with what was not explained before. What is open may have been filled a moment ago: a
 * difference is that then, and nobody else has traded.
 */
export function unexplainedIn(
  position: Decimal,
  known: Known | undefined,
  legs: readonly Filled[],
  isOpen: boolean,
): Decimal {
  if (known === undefined) return ZERO;
  const ours = legs.reduce((sum, leg) => withFill(sum, leg, 0), known);
  return withDifference(known, subtract(position, ours.quantity), isOpen);
}

const withDifference = ({ unexplained = ZERO }: Known, difference: Decimal, isOpen: boolean): Decimal =>
  isOpen && difference !== ZERO ? ZERO : add(unexplained, difference);

/**
 * What protection has closed by itself, as it was seen. Nobody looks for that whenever a position is read: one that was believed
 * before it was seen, and was not explained otherwise, has it in there already. A part of it has, where what is `shown` by now says
 * so, or where all of it would turn the position: what protects only reduces.
 */
export function withClosed(known: Known, legs: readonly Filled[], at: number, shown?: Decimal): Known {
  const { quantity, unexplained = ZERO } = known;
  const whole = legs.reduce((sum, leg) => withFill(sum, leg, at), known);
  const more = subtract(whole.quantity, quantity);
  const isMore = compare(absolute(more), absolute(unexplained)) > 0;
  const withoutPart = subtract(whole.quantity, unexplained);
  const turns = sign(quantity) === -sign(more) && sign(whole.quantity) === sign(more);
  if (more !== ZERO && sign(more) === sign(unexplained) && isMore && (turns || shown === withoutPart))
    return { ...whole, quantity: withoutPart, unexplained: ZERO };
  return legs.reduce((sum, leg) => withClosedBy(sum, leg, at), known);
}

function withClosedBy(known: Known, leg: Filled, at: number): Known {
  const { quantity, tradedAt, unexplained = ZERO } = known;
  const after = withFill(known, leg, at);
  const more = subtract(after.quantity, quantity);
  const isInIt =
    sign(more) !== 0 &&
    sign(more) === sign(unexplained) &&
    compare(absolute(more), absolute(unexplained)) <= 0;
  return isInIt ? { ...after, quantity, tradedAt, unexplained: subtract(unexplained, more) } : after;
}

/** null: nothing was filled of late, and the broker's word is all there is. */
export const expectedOf = (known: Known | undefined, now: number, lagMs: number): Decimal | null =>
  known && known.tradedAt !== null && now - known.tradedAt < lagMs ? known.quantity : null;

/** The one proof: what the broker says is held is what is held, as far as anybody can know. */
export const agrees = ({
  quantity,
  expected,
}: {
  readonly quantity: Decimal;
  readonly expected: Decimal | null;
}): boolean => expected === null || expected === quantity;

interface Read extends Holding {
  readonly expected: Decimal | null;
}

export interface Standing {
  readonly quantity: Decimal;
  /** How much of each leg that is open is in it; undefined: none is. */
  readonly counted: Order['counted'];
}

/** What is held: by our own fills, where the broker's word is another. */
export function standing(
  held: readonly Read[],
  others: readonly OtherLeg[],
  now: number,
  lagMs: number,
): Standing {
  const shown = held.map((each) => ({ ...each, explaining: explaining(each, others) }));
  const isShown = (other: OtherLeg) => shown.some((each) => each.explaining === other);
  const quantities = shown.map((each) =>
    each.expected === null || each.explaining ? each.quantity : each.expected,
  );
  const counted = (other: OtherLeg) => (isShown(other) ? other.leg.quantity : countedIn(other, now, lagMs));
  return { quantity: quantities.reduce(add, ZERO), counted: countedOf(others, counted) };
}

interface AfterClose {
  readonly known: Known | undefined;
  readonly instrument: string;
  readonly shown: Decimal;
  readonly open: readonly OtherLeg[];
}

/** The same after a close. A position that lags shows more then: what makes it less is another close, of which nobody has heard. */
export function afterClose(
  { known, instrument, shown, open }: AfterClose,
  now: number,
  lagMs: number,
): Standing {
  const expected = expectedOf(known, now, lagMs);
  const closes = open.filter(({ leg }) => leg.leg === 'exit');
  const unheard = explaining({ instrument, quantity: shown, expected }, closes);
  const isShown = expected === null || unheard !== undefined;
  const inOurs = ({ leg }: OtherLeg) => known?.counted.get(leg.clientOrderId) ?? filledOf(leg);
  const counted = (other: OtherLeg) => {
    if (other === unheard) return other.leg.quantity;
    return isShown ? countedIn(other, now, lagMs) : inOurs(other);
  };
  return { quantity: isShown ? shown : expected, counted: countedOf(open, counted) };
}

const countedOf = (legs: readonly OtherLeg[], counted: (other: OtherLeg) => Decimal): Order['counted'] =>
  legs.length === 0
    ? undefined
    : Object.fromEntries(legs.map((other) => [other.leg.clientOrderId, counted(other)]));

/** A leg that is open, as far as we know, and makes the whole difference between what is shown and what our fills come to: it was filled, and is in that. */
const explaining = (
  { instrument, quantity, expected }: Read,
  others: readonly OtherLeg[],
): OtherLeg | undefined =>
  expected === null || expected === quantity
    ? undefined
    : others.find(
        ({ leg }) =>
          isOpenLeg(leg) &&
          leg.instrument === instrument &&
          subtract(quantity, expected) === signed(leg.side, subtract(leg.quantity, filledOf(leg))),
      );

/**
 * From what is saved of an account and mode: orders of late, as a predecessor left them. By instrument. What a person settled was
 * traded long before, and is in every position. `wholeSince`: of those that were accepted before, some may not be among them.
 */
export function knownFrom(
  orders: readonly Order[],
  wholeSince = Number.NEGATIVE_INFINITY,
): Map<string, Known> {
  const known = new Map<string, Known>();
  // What a stop or a target has closed is known from its record on, however long ago the broker was given it.
  const sentAt = ({ legs, submittedAt }: Order) => {
    const first = Math.min(...legs.flatMap((leg) => (leg.sentAt ? [millis(leg.sentAt)] : [])));
    return Math.max(first, millis(submittedAt));
  };
  const sent = orders.filter((order) => Number.isFinite(sentAt(order)) && !order.settledBy);
  const last = new Map<string, Order>();
  for (const order of sent.toSorted((a, b) => sentAt(a) - sentAt(b))) {
    const instruments = new Set(order.legs.map(({ instrument }) => instrument));
    // Over several months it is a sum, and no month's own.
    const [instrument] = instruments;
    const before = instrument ? known.get(instrument) : undefined;
    const previous = instrument ? last.get(instrument) : undefined;
    // What was held between two orders is compared where nothing is missing between them.
    const compared = previous && millis(previous.submittedAt) >= wholeSince ? before : undefined;
    if (instrument && compared && isLearntLate(order, compared, previous)) {
      const closed = learnt(order).reduce((sum, leg) => withClosedBy(sum, leg, learntAt(leg)), compared);
      known.set(instrument, closed);
      continue;
    }
    if (instruments.size === 1 && instrument && order.positionBefore !== null) {
      const earlier = sent
        .filter((other) => other !== order && sentAt(other) <= sentAt(order))
        .flatMap(learnt)
        .filter((leg) => leg.instrument === instrument);
      // Of what was open when it was planned, it says how much was in the position: the rest came later.
      const inIt = earlier.map((leg) => ({
        ...leg,
        fillQuantity: order.counted?.[leg.clientOrderId] ?? leg.fillQuantity,
      }));
      const unexplained = compared && unexplainedBefore(order.positionBefore, compared, earlier, inIt);
      const base = agreedOn(
        order.positionBefore,
        { quantity: ZERO, tradedAt: before?.tradedAt ?? null, counted: new Map() },
        inIt,
      );
      known.set(
        instrument,
        earlier.reduce((sum, leg) => withFill(sum, leg, learntAt(leg)), {
          ...base,
          ...(unexplained && { unexplained }),
        }),
      );
    }
    for (const leg of learnt(order)) {
      const then = leg.instrument === null ? undefined : known.get(leg.instrument);
      if (leg.instrument !== null && then) known.set(leg.instrument, withFill(then, leg, learntAt(leg)));
    }
    if (instrument) last.set(instrument, order);
  }
  return known;
}

/** By what more than our fills was held when the order was planned. */
function unexplainedBefore(
  position: Decimal,
  known: Known,
  earlier: readonly Leg[],
  inIt: readonly Leg[],
): Decimal {
  const cameLater = earlier.map((leg, index) =>
    signed(leg.side, subtract(filledOf(leg), filledOf(inIt[index] ?? leg))),
  );
  const ours = cameLater.reduce(subtract, known.quantity);
  return withDifference(
    known,
    subtract(position, ours),
    cameLater.some((more) => more !== ZERO),
  );
}

/**
 * What the broker's own stop or target has closed is written down when it is learnt. That nothing is left on its side then says nothing of what
 * was held before it, where our orders have left nothing there by then, or the other side: it may have closed what they found gone.
 */
function isLearntLate(
  { exitReason, positionBefore, submittedAt, legs }: Order,
  { quantity }: Known,
  last: Order | undefined,
): boolean {
  if (!exitReason || positionBefore === null || sign(positionBefore) === sign(quantity)) return false;
  // After a close of ours, what it has closed was somebody else's.
  const hasTurned = last?.legs.some(
    (leg) => leg.leg === 'entry' && leg.side === legs[0]?.side && filledOf(leg) !== ZERO,
  );
  if (quantity === ZERO && !hasTurned) return false;
  const isBrokers = legs.every((leg) => leg.sentAt !== null && leg.sentAt < submittedAt);
  const after = legs.reduce((sum, leg) => add(sum, signed(leg.side, filledOf(leg))), positionBefore);
  return isBrokers && after === ZERO;
}

/** Of what rests the last part counts, and not the first. */
const learnt = ({ legs, tradedAt }: Order): readonly Leg[] =>
  tradedAt === undefined
    ? legs
    : legs.map((leg) => (leg.leg === 'entry' ? { ...leg, filledAt: tradedAt } : leg));

/**
 * What was held of each instrument after the last of these orders, the newest first, by our own record. What rested when that one was
 * planned may have been filled since. What protection closed may have been learnt late: where an older order stood on the other side
 * already, the close was before that.
 */
export function heldAfter(orders: readonly Order[]): Map<string, Decimal> {
  const held = new Map<string, Decimal>();
  /** Closed by protection, on that side, until an older order speaks against it. */
  const closed = new Map<string, number>();
  const legs = new Map(orders.flatMap((order) => order.legs.map((leg) => [leg.clientOrderId, leg])));
  for (const order of orders) {
    const instrument = mainLeg(order)?.instrument ?? order.symbol;
    const side = closed.get(instrument);
    if (held.has(instrument) && side === undefined) continue;
    const since = Object.entries(order.counted ?? {}).map(([id, was]) => {
      const leg = legs.get(id as ClientOrderId);
      const more = leg ? subtract(filledOf(leg), was) : ZERO;
      return leg && sign(more) > 0 ? signed(leg.side, more) : ZERO;
    });
    const after = since.reduce(add, positionAfter(order) ?? ZERO);
    if (side === undefined || sign(after) === -side) held.set(instrument, after);
    if (order.exitReason) closed.set(instrument, side ?? sign(order.positionBefore ?? ZERO));
    else closed.delete(instrument);
  }
  return held;
}

/** When we learnt of its fill, as far as that is saved. */
function learntAt({ filledAt, ackedAt, sentAt }: Leg): number {
  const at = filledAt ?? ackedAt ?? sentAt;
  return at === null ? Number.NEGATIVE_INFINITY : millis(at);
}
