// Which orders at a broker are ours, by our id or, where the broker does not repeat it, by its own.

import type { ClientOrderId, OrderId, UserId } from '../../domain/ids.ts';
import { join, type Reads, sql } from '../engine/db.ts';

interface AtBroker {
  readonly clientOrderId: ClientOrderId | null;
  readonly brokerRef: string;
}

/** By whichever of both names is known. */
export async function ordersOf(
  db: Reads,
  user: UserId,
  orders: readonly AtBroker[],
): Promise<(order: AtBroker) => OrderId | null> {
  if (orders.length === 0) return () => null;
  const among = (values: readonly string[]) =>
    join(
      values.map((value) => sql`${value}`),
      ', ',
    );
  const named = orders.flatMap(({ clientOrderId }) => clientOrderId ?? []);
  const rows = await db.all<{ order_id: OrderId; client_order_id: string; broker_ref: string | null }>(
    join(
      [
        sql`select l.order_id, l.client_order_id, l.broker_ref from order_legs l
              join order_history o on o.order_id = l.order_id where o.user_id = ${user} and (l.broker_ref in (`,
        among(orders.map(({ brokerRef }) => brokerRef)),
        sql`)`,
        ...(named.length > 0 ? [sql`or l.client_order_id in (`, among(named), sql`)`] : []),
        sql`)`,
      ],
      ' ',
    ),
  );
  const byName = new Map(rows.map((row) => [row.client_order_id, row.order_id]));
  const byReference = new Map(rows.map((row) => [row.broker_ref, row.order_id]));
  return ({ clientOrderId, brokerRef }) =>
    (clientOrderId === null ? byReference.get(brokerRef) : byName.get(clientOrderId)) ?? null;
}
