// The `id` of the alert that an order came from: its sender's name for it, and so the strategy of what it opened.

import type { OrderId } from '../../domain/ids.ts';
import { join, type Reads, sql } from '../engine/db.ts';
import { among } from './signal-search.ts';

interface Row {
  readonly order_id: OrderId;
  readonly understood: string | null;
  readonly message: string | null;
}

/** Of those orders that came from an alert with one. */
export async function alertIdsOf(
  db: Reads,
  orders: Iterable<OrderId>,
): Promise<ReadonlyMap<OrderId, string>> {
  const ids = [...new Set(orders)];
  if (ids.length === 0) return new Map();
  const rows = await db.all<Row>(
    join(
      [
        sql`select order_id, understood, message from signals where order_id in (`,
        among(ids),
        sql`) union all select m.order_id, s.understood, s.message
            from signal_members m join signals s on s.id = m.signal_id where m.order_id in (`,
        among(ids),
        sql`)`,
      ],
      '',
    ),
  );
  return new Map(
    rows.flatMap(({ order_id, understood, message }): [OrderId, string][] => {
      // What arrived before ids were noted has them in its message alone.
      const id = idIn(understood) ?? idIn(message);
      return id === null ? [] : [[order_id, id]];
    }),
  );
}

function idIn(text: string | null): string | null {
  try {
    const { id } = JSON.parse(text ?? 'null') ?? {};
    return typeof id === 'string' && id !== '' ? id : null;
  } catch {
    return null;
  }
}
