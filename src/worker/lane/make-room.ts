// A broker that keeps nothing beside an order of the other side refuses the stop for an entry of ours that rests. What protects comes
// before what opens: the entry is taken back, and the stop is placed.

import { isUnderWay, type Order, type Side } from '../../domain/orders/order.ts';
import { cancelledBy, openEntry } from '../../domain/orders/resting.ts';
import type { Line } from '../line/line.ts';
import { type TakingBack, takeBack } from './take-back.ts';

interface InTheWay {
  readonly instrument: string;
  /** Of what protects. */
  readonly side: Side;
}

/** true: something was in the way, and is not any more. */
export async function makeRoom(
  deps: TakingBack,
  line: Line,
  orders: readonly Order[],
  { instrument, side }: InTheWay,
): Promise<boolean> {
  const inTheWay = orders.filter((order) => {
    const entry = order.priced && !isUnderWay(order.status) ? openEntry(order) : undefined;
    return entry !== undefined && entry.side !== side && (entry.instrument ?? order.symbol) === instrument;
  });
  const taken = await takeBack(deps, line, inTheWay, () =>
    cancelledBy('the broker takes no stop of the position beside it'),
  );
  return taken.length > 0 && taken.every(({ isOver }) => isOver);
}
