// What orders that were filled since ask for becomes what is wanted of a position's protection.

import type { Instrument, Position } from '../../broker/broker.ts';
import { type Decimal, sign, ZERO } from '../../domain/decimal.ts';
import { millis, type OrderId } from '../../domain/ids.ts';
import { hasEnded, type Order } from '../../domain/orders/order.ts';
import { fillOf } from '../../domain/orders/result.ts';
import {
  adopt,
  adoptBehind,
  anew,
  beginsAnew,
  firstFillOf,
  type Ground,
  isBehind,
  opensAnew,
  sentAt,
  stopAlone,
  toTakeIn,
} from '../../domain/protection/adopt.ts';
import { isAwaiting, type Protection } from '../../domain/protection/protection.ts';
import { mayWantStop } from '../../domain/protection/undecided.ts';
import { countsFromEntry, type Wish } from '../../domain/protection/wish.ts';
import type { Line } from '../line/line.ts';
import type { WorkerProtections } from '../protections.ts';

interface TakenIn {
  /** The same object where nothing changes. */
  readonly protection: Protection;
  /** One that asks for a stop may be in the position, nobody knows, and nobody who came after it has said what is wanted. */
  readonly isUndecided: boolean;
}

/** Of an order whose fate nobody knows the position decides. */
export async function takenIn(
  protections: Pick<WorkerProtections, 'orders'>,
  line: Pick<Line, 'positions'>,
  { symbol, tickSize: tick }: Instrument,
  first: Protection,
  rules: { readonly giveUpMs: number },
): Promise<TakenIn> {
  if (!isAwaiting(first)) return { protection: first, isUndecided: false };
  const { adopted, unpriced = [] } = first;
  const wantedBy = [...first.wantedBy, ...unpriced];
  const ids = adopted && !wantedBy.includes(adopted.order) ? [...wantedBy, adopted.order] : wantedBy;
  const orders = await protections.orders(ids);
  // Until it is known what became of one, the position decides, and then its own fill once more.
  const isOpen = (id: OrderId) => orders.some((each) => each.id === id && !hasEnded(each.status));
  const open = first.wantedBy.filter(isOpen);
  let protection: Protection = { ...first, wantedBy: open, unpriced: [] };
  const last = orders.find((each) => each.id === adopted?.order);
  for (const order of toTakeIn({ ...first, wantedBy }, orders)) {
    if (isBehind(order, last)) {
      const price = isEntry(order) ? entryOf(order) : await priceOf(order);
      const isLate = price === null && !isEntry(order);
      protection = isLate ? awaiting(protection, order) : behind(protection, order, last, price, tick);
      continue;
    }
    const before = orders.find((each) => each.id === protection.adopted?.order);
    // The position was closed before it: what protected that one is nobody's wish any more.
    if (beginsAnew(order, before)) {
      const isInDoubt = before !== undefined && mayHaveMet(before, order, rules);
      protection = begunBy(order, isInDoubt ? stopAlone(protection) : anew(protection));
    }
    if (!order.wish || isNeverFilled(order) || isAddYetToFill(order, protection)) continue;
    const price = await priceOf(order);
    protection =
      price === null
        ? awaiting(protection, order)
        : adopt(protection, wishOf(order), groundOf(order, price, tick));
  }
  protection = { ...protection, heard: protection.heard.filter(isOpen) };
  const decided = orders.find((each) => each.id === protection.adopted?.order);
  return {
    protection: JSON.stringify(protection) === JSON.stringify(first) ? first : protection,
    isUndecided: orders.some((order) => mayWantStop(order, first.instrument) && !isBehind(order, decided)),
  };

  /** From which its distances count; null: nobody knows by now. */
  async function priceOf(order: Order): Promise<Decimal | null> {
    const price = entryOf(order);
    if (price !== null) return price;
    const held = await shownOf(line, symbol, first);
    if (held === null) return null;
    if (held.averagePrice !== ZERO) return held.averagePrice;
    return hasEnded(order.status) && !countsFromEntry(wishOf(order)) ? ZERO : null;
  }
}

/** What was filled, or judged by what was held, is shown late: its wish waits. One that may yet be filled is wanted by its own id. */
function awaiting(protection: Protection, { id, status, filledAt }: Order): Protection {
  if (!hasEnded(status)) return protection;
  const { unpriced = [], heldAt = null } = protection;
  const isNewer = filledAt !== null && (heldAt === null || millis(filledAt) > millis(heldAt));
  return { ...protection, unpriced: [...unpriced, id], heldAt: isNewer ? filledAt : heldAt };
}

/**
 * Nobody knows what became of it: who was sent soon after it may have found nothing held, and added to the same position. After a while it
 * arrives no more, and as long again later positions show what it brought: who found nothing held then has met nothing.
 */
const mayHaveMet = (before: Order, order: Order, { giveUpMs }: { readonly giveUpMs: number }): boolean =>
  !hasEnded(before.status) && entryOf(before) === null && sentAt(order) - sentAt(before) < 2 * giveUpMs;

/** It may ask for nothing: what was sent before it and is not known yet waits behind it all the same. */
function begunBy(order: Order, protection: Protection): Protection {
  const isAwaited = protection.wantedBy.some((id) => id !== order.id);
  return isAwaited && !order.wish
    ? { ...protection, adopted: { order: order.id, entry: entryOf(order) ?? ZERO } }
    : protection;
}

/** It has ended, and another one that was sent after it was taken in first. */
function behind(
  protection: Protection,
  order: Order,
  last: Order,
  price: Decimal | null,
  tick: Decimal,
): Protection {
  const isOfBefore = beginsAnew(last, order);
  const later = wishOf(last);
  if (price !== null && !isOfBefore)
    return adoptBehind(protection, wishOf(order), later, groundOf(order, price, tick));
  // It is not there: the stop that waited for it goes, where the one that began the position since asks for none.
  return isOfBefore && later.stop === undefined && later.trail === undefined
    ? { ...protection, stop: null }
    : protection;
}

const wishOf = (order: Order): Wish =>
  (opensAnew(order) ? order.wish?.fromFlat : order.wish?.own) ?? NOTHING_ASKED;
const NOTHING_ASKED: Wish = {};

const groundOf = (order: Order, entry: Decimal, tick: Decimal): Ground => ({
  ...{ order: order.id, entry, tick },
  filledAt: millis(order.filledAt ?? firstFillOf(order) ?? order.submittedAt),
});

/** What is held is somebody else's. */
const isNeverFilled = (order: Order): boolean =>
  isEntry(order) && hasEnded(order.status) && order.status !== 'filled' && entryOf(order) === null;

/** What has a stop already keeps that one until something of what is added is known to be filled: it may be nearer to the market. */
const isAddYetToFill = (order: Order, { stop, adopted }: Protection): boolean =>
  stop !== null &&
  adopted?.order !== order.id &&
  !opensAnew(order) &&
  isEntry(order) &&
  entryOf(order) === null;

/** Others trade nothing, and speak of what is held. */
const isEntry = ({ legs }: Order): boolean => legs.some(({ leg }) => leg === 'entry');

/** At which price it was filled so far; null: nothing is known to be. */
function entryOf(order: Order): Decimal | null {
  const { price, quantity } = fillOf(order);
  return quantity !== null && sign(quantity) > 0 ? price : null;
}

/** By the broker's word, where ours says nothing. */
async function shownOf(
  line: Pick<Line, 'positions'>,
  symbol: string,
  { side }: Protection,
): Promise<Position | null> {
  const held = (await line.positions()).find((position) => position.symbol === symbol);
  return held && sign(held.quantity) === (side === 'long' ? 1 : -1) ? held : null;
}
