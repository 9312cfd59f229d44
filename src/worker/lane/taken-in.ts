// What orders that were filled since ask for becomes what is wanted of a position's protection.

import type { Instrument } from '../../broker/broker.ts';
import { absolute, compare, type Decimal, sign, ZERO } from '../../domain/decimal.ts';
import { millis, type OrderId } from '../../domain/ids.ts';
import { hasEnded, type Order } from '../../domain/orders/order.ts';
import { fillOf } from '../../domain/orders/result.ts';
import { adopt, anew, beginsAnew, firstFillOf, opensAnew, toTakeIn } from '../../domain/protection/adopt.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import type { Line } from '../line/line.ts';
import type { WorkerProtections } from '../protections.ts';

/** The same object where nothing changes. Of an order whose fate nobody knows the position decides. */
export async function takenIn(
  protections: Pick<WorkerProtections, 'orders'>,
  line: Pick<Line, 'positions'>,
  { symbol, tickSize: tick }: Instrument,
  first: Protection,
): Promise<Protection> {
  if (first.wantedBy.length === 0) return first;
  const { wantedBy, adopted } = first;
  const ids = adopted && !wantedBy.includes(adopted.order) ? [...wantedBy, adopted.order] : wantedBy;
  const orders = await protections.orders(ids);
  // Until it is known what became of one, the position decides, and then its own fill once more.
  const isOpen = (id: OrderId) => orders.some((each) => each.id === id && !hasEnded(each.status));
  let protection: Protection = { ...first, wantedBy: wantedBy.filter(isOpen) };
  for (const order of toTakeIn(first, orders)) {
    const before = orders.find((each) => each.id === protection.adopted?.order);
    // The position was closed before it: what protected that one is nobody's wish any more.
    if (beginsAnew(order, before)) {
      if (before && mayBeFilled(before)) protection = stillWantedBy(protection, order.id);
      else protection = anew(protection);
    }
    if (!order.wish || isNeverFilled(order)) continue;
    const price = entryOf(order) ?? (await averageOf(line, symbol, first));
    if (price === null) continue;
    const filledAt = millis(order.filledAt ?? firstFillOf(order) ?? order.submittedAt);
    const wish = opensAnew(order) ? order.wish.fromFlat : order.wish.own;
    protection = adopt(protection, wish, { order: order.id, entry: price, tick, filledAt });
  }
  return JSON.stringify(protection) === JSON.stringify(first) ? first : protection;
}

/** Nobody knows: whoever was sent after it may have found nothing held, and added to the same position. */
const mayBeFilled = (order: Order): boolean => !hasEnded(order.status) && entryOf(order) === null;

/** Whether it began anew is judged once that is known. */
const stillWantedBy = (protection: Protection, order: OrderId): Protection =>
  protection.wantedBy.includes(order)
    ? protection
    : { ...protection, wantedBy: [...protection.wantedBy, order] };

/** What is held is somebody else's. */
const isNeverFilled = (order: Order): boolean =>
  order.legs.some(({ leg }) => leg === 'entry') &&
  hasEnded(order.status) &&
  order.status !== 'filled' &&
  entryOf(order) === null;

/** At which price it was filled so far; null: nothing is known to be. */
function entryOf(order: Order): Decimal | null {
  const { price, quantity } = fillOf(order);
  return quantity !== null && sign(quantity) > 0 ? price : null;
}

/** By the broker's word, where ours says nothing. */
async function averageOf(
  line: Pick<Line, 'positions'>,
  symbol: string,
  { side }: Protection,
): Promise<Decimal | null> {
  const held = (await line.positions()).find((position) => position.symbol === symbol);
  if (!held || sign(held.quantity) !== (side === 'long' ? 1 : -1)) return null;
  return compare(absolute(held.averagePrice), ZERO) > 0 ? held.averagePrice : null;
}
