// A broker that keeps nothing beside an order of the other side refuses the stop for an entry of ours that rests, or is not yet filled whole.
// What protects comes before what opens: the entry is taken back, and the stop is placed.

import { millis } from '../../domain/ids.ts';
import { isUnderWay, type Leg, type Order, type Side } from '../../domain/orders/order.ts';
import { cancelledBy, openEntry, rests } from '../../domain/orders/resting.ts';
import type { Room } from '../../domain/protection/step.ts';
import type { Line } from '../line/line.ts';
import { type TakingBack, takeBack } from './take-back.ts';

interface InTheWay {
  readonly instrument: string;
  /** Of what protects. */
  readonly side: Side;
}

/** What is at the market is mostly filled by then. */
const FILLED_MS = 3_000;

export async function makeRoom(
  deps: TakingBack,
  line: Line,
  orders: readonly Order[],
  { instrument, side }: InTheWay,
): Promise<Room> {
  const inTheWay = orders.filter((order) => {
    const entry = isUnderWay(order.status) ? undefined : openEntry(order);
    return entry !== undefined && entry.side !== side && (entry.instrument ?? order.symbol) === instrument;
  });
  const mayBeFilled = ({ sentAt }: Leg) => sentAt !== null && deps.clock.now() - millis(sentAt) < FILLED_MS;
  if (inTheWay.some((order) => !order.priced && rests(order) && order.legs.some(mayBeFilled)))
    return 'awaited';
  const taken = await takeBack(deps, line, inTheWay, () =>
    cancelledBy('the broker takes no stop of the position beside it'),
  );
  if (taken.some(({ order, isOver, isOutOfReach }) => !isOver && !isOutOfReach && rests(order)))
    return 'awaited';
  // One that was over before makes no room.
  const open = taken.filter(({ wasOver }) => !wasOver);
  return open.length > 0 && open.every(({ isOver }) => isOver) ? 'made' : 'none';
}
