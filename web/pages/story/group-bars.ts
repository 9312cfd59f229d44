// Where the time of a group's signal went: once for all until the commit, and from there a bar for each leg of each member's order.

import type { components } from '../../api/schema.ts';
import { minus, plus } from '../../parts/exact.ts';
import { positionAfter } from '../../parts/happened.ts';
import { counted, figure } from '../../parts/numbers.ts';

type Order = components['schemas']['OrderRecord'];
type Leg = Order['legs'][number];

export interface Bar {
  readonly key: string;
  readonly name: string;
  readonly from: number;
  readonly at: number;
  readonly whose: 'ours' | 'theirs';
  /** Signed, after it; null: it is not known, or nobody's. */
  readonly position: number | null;
}

interface Named {
  /** As its owner calls it. */
  readonly account: string;
  readonly order: Order;
}

/** Those that answered first come first; a member's own stay together. */
export function groupBars(members: readonly Named[]): readonly Bar[] {
  const [first] = members;
  if (!first) return [];
  const { validated = 0, queued = validated } = first.order.trace;
  const ended = members.filter(({ order }) => order.trace.answered !== undefined);
  return [
    {
      ...{ key: 'arrived', name: 'Arrived, checked once for the group', whose: 'ours', position: null },
      ...{ from: 0, at: validated },
    },
    {
      ...{ key: 'judged', name: `Judged, ${counted(members.length, 'order')} recorded together` },
      ...{ whose: 'ours', position: null, from: validated, at: queued },
    },
    ...ended
      .toSorted((a, b) => (a.order.trace.answered ?? 0) - (b.order.trace.answered ?? 0))
      .flatMap((member) => barsOf(member, queued)),
  ];
}

function barsOf({ account, order }: Named, queued: number): Bar[] {
  const { order_id, submitted_at, trace, position_before } = order;
  const answered = Math.max(queued, trace.answered ?? queued);
  const sent = order.legs.filter(({ sent_at }) => sent_at !== null);
  if (sent.length < 2) {
    const [leg] = sent;
    const name = leg?.fill_quantity ? tradedInWords(leg) : order.status.replace('_', ' ');
    return [
      {
        ...{ key: order_id, name: `${account}, ${name}`, whose: 'theirs' },
        ...{ from: queued, at: answered, position: positionAfter(order) },
      },
    ];
  }
  let from = queued;
  let held = position_before;
  return sent.map((leg, index): Bar => {
    const end = leg.filled_at ?? leg.acked_at;
    const isLast = index === sent.length - 1;
    const told = isLast || end === null ? answered : Date.parse(end) - Date.parse(submitted_at);
    // Clocks of two machines may differ by a little: nothing ends before it began.
    const at = Math.min(answered, Math.max(from, told));
    const filled = leg.fill_quantity ?? 0;
    held = held === null ? null : leg.side === 'buy' ? plus(held, filled) : minus(held, filled);
    const name = filled > 0 ? tradedInWords(leg) : leg.status;
    const bar: Bar = {
      ...{ key: `${order_id} ${index}`, name: `${account}, ${name}`, whose: 'theirs' },
      ...{ from, at, position: held },
    };
    from = at;
    return bar;
  });
}

/** "closed short 0.1", "bought 0.2" */
function tradedInWords({ leg, side, fill_quantity }: Leg): string {
  const done =
    leg === 'exit' ? `closed ${side === 'buy' ? 'short' : 'long'}` : side === 'buy' ? 'bought' : 'sold';
  return `${done} ${figure(fill_quantity ?? 0)}`;
}
