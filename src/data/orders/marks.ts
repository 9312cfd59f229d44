// Which state of an order was seen, without reading all of it: for those who want to know what has changed.

import type { OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { OrderStatus } from '../../domain/orders/order.ts';
import type { Verification } from '../../domain/orders/result.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';
import { type CheckState, shownVerification } from './fill-checks.ts';

export interface OrderMark {
  /** Another one where anything that is shown of the order has changed. */
  readonly state: string;
  /** It may change yet. */
  readonly isOpen: boolean;
}

export const NOT_VERIFIED: Verification = { state: 'none', attempts: 0, next_at: null };

export const markOf = (
  { version, status }: { readonly version: number; readonly status: OrderStatus },
  { state, attempts, next_at }: Verification,
): OrderMark => ({
  state: `${version} ${state} ${attempts} ${next_at}`,
  isOpen: status === 'queued' || status === 'executing' || state === 'scheduled' || state === 'dead_letter',
});

/** Of each kind; nobody has more of them in so short a time. */
const MOST = 500;

interface MarkRow {
  order_id: OrderId;
  version: number;
  status: OrderStatus;
  state: CheckState | null;
  attempts: number;
  next_at: Timestamp;
}

const COLUMNS = sql`select o.order_id, o.version, o.status, c.state, c.attempts, c.next_at`;
const ORDERS = sql`from order_history o left join fill_checks c on c.order_id = o.order_id where o.user_id =`;

/** The user's orders that are open, those accepted since then, and those that are named; each by its own index. */
export async function orderMarks(
  db: Reads,
  user: UserId,
  { since, named }: { readonly since: Timestamp; readonly named: readonly OrderId[] },
): Promise<Map<OrderId, OrderMark>> {
  const ofUser = (condition: Statement) => join([COLUMNS, ORDERS, sql`${user} and`, condition], ' ');
  const queries = [
    // In no order: SQLite would go through all that the user ever had by their time.
    ofUser(sql`o.status in ('queued', 'executing') limit ${MOST}`),
    ofUser(sql`o.submitted_at >= ${since} order by o.submitted_at desc limit ${MOST}`),
    join(
      [
        COLUMNS,
        sql`from fill_checks c join order_history o on o.order_id = c.order_id
            where c.user_id = ${user} and c.state <> 'done' and o.user_id = ${user}
            order by c.order_id desc limit ${MOST}`,
      ],
      ' ',
    ),
  ];
  if (named.length > 0) {
    const ids = join(
      named.slice(0, MOST).map((id) => sql`${id}`),
      ', ',
    );
    queries.push(ofUser(join([sql`o.order_id in (`, ids, sql`)`], '')));
  }
  const rows = await Promise.all(queries.map((query) => db.all<MarkRow>(query)));
  return new Map(rows.flat().map((row) => [row.order_id, markOf(row, verificationIn(row))]));
}

const verificationIn = ({ state, attempts, next_at }: MarkRow): Verification =>
  state === null ? NOT_VERIFIED : shownVerification({ state, attempts, next_at });
