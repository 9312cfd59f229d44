// A user's orders from the first one on, in the order of their submission: for what can only be counted from the beginning. In
// steps, each by an index and short, so that nobody waits behind it; and not for ever.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountId, OrderId, Timestamp, UserId } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';
import { join, ListTooSlow, type Reads, sql } from './db.ts';
import { ordersByIds } from './orders.ts';

/** With their legs, and counted in the same turn: some ten milliseconds. */
const STEP = 100;
/** Longer than a list, which shows one page: this reads all of them, a few milliseconds at a time. */
const MOST_MS = 10_000;

export async function* ordersFromTheFirst(
  db: Reads,
  user: UserId,
  { accountId, simulation, to }: { accountId?: AccountId; simulation: boolean; to?: Timestamp },
): AsyncGenerator<readonly Order[]> {
  const begun = performance.now();
  const conditions = [
    sql`user_id = ${user}`,
    ...(accountId === undefined ? [] : [sql`trading_account_id = ${accountId}`]),
    ...(to === undefined ? [] : [sql`submitted_at <= ${to}`]),
  ];
  let last: { readonly order_id: OrderId; readonly submitted_at: Timestamp } | null = null;
  for (;;) {
    const behind = last ? [sql`(submitted_at, order_id) > (${last.submitted_at}, ${last.order_id})`] : [];
    // The mode is looked at here: a step is over so many rows, whichever of them fit.
    const seen: { order_id: OrderId; submitted_at: Timestamp; simulation: number | boolean }[] = await db.all(
      join(
        [
          sql`select order_id, submitted_at, simulation from order_history where`,
          join([...conditions, ...behind], ' and '),
          sql`order by submitted_at, order_id limit ${STEP}`,
        ],
        ' ',
      ),
    );
    const ids = seen.filter((row) => Boolean(row.simulation) === simulation).map(({ order_id }) => order_id);
    const orders = new Map((await ordersByIds(db, ids)).map((order) => [order.id, order]));
    yield ids.flatMap((id) => orders.get(id) ?? []);
    last = seen.at(-1) ?? null;
    if (seen.length < STEP) return;
    if (performance.now() - begun > MOST_MS) throw new ListTooSlow('too many orders to count');
    await nextTurn();
  }
}
