// A user's orders, newest first, by any filter. However long the history is, a page costs little: every filter has an
// index that ends with the order of the list, and begins with the user. Of several filters one leads, by its index, and
// what the others leave out is passed over in steps, so that even then nobody waits behind a list.

import { type AccountId, isUuid, type OrderId, type Timestamp, type UserId } from '../../domain/ids.ts';
import { type Order, type OrderStatus, SOURCES, type Source } from '../../domain/orders/order.ts';
import { join, LIST_MS, ListTooSlow, type Reads, type Statement, sql } from '../engine/db.ts';
import { inSteps, PASSED_OVER } from '../engine/steps.ts';
import { ordersByIds } from './orders.ts';
import { anyOf, spelledLike, symbolsOf } from './spellings.ts';

export interface OrderFilter {
  readonly accountId?: AccountId;
  readonly status?: OrderStatus;
  readonly source?: Source;
  /** As it was sent. */
  readonly symbol?: string;
  /** A symbol, in whichever spelling it was sent. */
  readonly instrument?: string;
  readonly simulation?: boolean;
  readonly from?: Timestamp;
  readonly to?: Timestamp;
  /** An id of ours or a reference of the broker's, as it is; or how a symbol begins. */
  readonly search?: string;
}

interface Found {
  readonly order_id: OrderId;
  readonly submitted_at: Timestamp;
}

interface Seen extends Found {
  readonly fits: number | boolean;
}

/** `after` is the last order of the page before; one that the user does not have is behind everything. */
export async function listOrders(
  db: Reads,
  user: UserId,
  { filter, after, limit }: { filter: OrderFilter; after: OrderId | null; limit: number },
): Promise<Order[]> {
  const begun = performance.now();
  const found = filter.search === undefined ? null : await searched(db, user, filter.search);
  if (found?.length === 0) return [];
  const { instrument } = filter;
  const spelled = instrument === undefined ? null : await spelledLike(db, user, instrument, 'orders');
  const { leading, others } = orderSearch(user, filter, { found, spelled });
  const ids: OrderId[] = [];
  const first = after === null ? null : await placeOf(db, user, after);
  if (after !== null && first === null) return [];
  const step = others.length === 0 ? limit : PASSED_OVER;
  const read = (last: readonly Seen[] | null) =>
    db.all<Seen>(searchStep(leading, others, last?.at(-1) ?? first, step));
  for await (const seen of inSteps<readonly Seen[]>(read)) {
    ids.push(...seen.filter(({ fits }) => fits).map(({ order_id }) => order_id));
    if (ids.length >= limit || seen.length < step) break;
    if (performance.now() - begun > LIST_MS) throw new ListTooSlow('too many orders to look through');
  }
  const orders = new Map((await ordersByIds(db, ids.slice(0, limit))).map((order) => [order.id, order]));
  return ids.flatMap((id) => orders.get(id) ?? []);
}

async function placeOf(db: Reads, user: UserId, order: OrderId): Promise<Found | null> {
  const row = await db.get<Found>(
    sql`select order_id, submitted_at from order_history where order_id = ${order} and user_id = ${user}`,
  );
  return row ?? null;
}

interface OrderSearch {
  /** Each is found by an index; together they are all that may fit. */
  readonly leading: readonly Statement[];
  readonly others: readonly Statement[];
}

/** What tells most comes first: a symbol more than a status, a status more than an account. */
function orderSearch(
  user: UserId,
  filter: OrderFilter,
  { found, spelled }: Readonly<Record<'found' | 'spelled', readonly Statement[] | null>>,
): OrderSearch {
  const { accountId, status, source, symbol, simulation, from, to } = filter;
  const times = [
    ...(from === undefined ? [] : [sql`submitted_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`submitted_at <= ${to}`]),
  ];
  const bySource = source !== undefined || simulation !== undefined;
  // One index for both: where one of them may be anything, each of its few values is looked for.
  const sources = (source === undefined ? SOURCES : [source]).flatMap((each) =>
    (simulation === undefined ? [false, true] : [simulation]).map(
      (simulated) => sql`source = ${each} and simulation = ${simulated}`,
    ),
  );
  const [first, ...rest] = [
    ...(found === null ? [] : [found]),
    ...(symbol === undefined ? [] : [[sql`symbol = ${symbol}`]]),
    ...(spelled === null ? [] : [spelled]),
    ...(status === undefined ? [] : [[sql`status = ${status}`]]),
    ...(accountId === undefined ? [] : [[sql`trading_account_id = ${accountId}`]]),
    ...(bySource ? [sources] : []),
  ];
  const own = sql`user_id = ${user}`;
  return {
    leading: (first ?? [sql`true`]).map((condition) => join([own, condition, ...times], ' and ')),
    others: rest.map(anyOf),
  };
}

/** Orders that one reference of a broker's can mean, and symbols that begin alike. */
const MOST_FOUND = 200;
const MOST_SYMBOLS = 50;

/** Of what the user may have meant, each by an index; no order is in two of them. */
async function searched(db: Reads, user: UserId, text: string): Promise<Statement[]> {
  const named = await db.all<{ order_id: OrderId }>(
    join(
      [
        ...(isUuid(text.toLowerCase())
          ? [
              sql`select order_id from order_history where order_id = ${text.toLowerCase()} and user_id = ${user}`,
            ]
          : []),
        sql`select l.order_id from order_legs l join order_history o on o.order_id = l.order_id
            where l.client_order_id = ${text} and o.user_id = ${user}`,
        sql`select * from (select l.order_id from order_legs l join order_history o on o.order_id = l.order_id
            where l.broker_ref = ${text} and o.user_id = ${user} limit ${MOST_FOUND}) as referred`,
      ],
      ' union ',
    ),
  );
  const ids = named.map(({ order_id }) => sql`${order_id}`);
  if (ids.length > 0) return [join([sql`order_id in (`, join(ids, ', '), sql`)`], '')];
  const begins = text.toLowerCase();
  return (await symbolsOf(db, user))
    .filter((symbol) => {
      const lower = symbol.toLowerCase();
      return lower.startsWith(begins) || lower.slice(lower.lastIndexOf(':') + 1).startsWith(begins);
    })
    .slice(0, MOST_SYMBOLS)
    .map((symbol) => sql`symbol = ${symbol}`);
}

/** The next orders that the index gives, with a mark on those that fit the other filters too. */
function searchStep(
  leading: readonly Statement[],
  others: readonly Statement[],
  last: Found | null,
  limit: number,
): Statement {
  const fits = others.length === 0 ? sql`true` : join(others, ' and ');
  const behind = last ? [sql`and (submitted_at, order_id) < (${last.submitted_at}, ${last.order_id})`] : [];
  const order = sql`order by submitted_at desc, order_id desc limit ${limit}`;
  const arms = leading.map((condition) =>
    join(
      [
        sql`select order_id, submitted_at,`,
        fits,
        sql`as fits from order_history where`,
        condition,
        ...behind,
        order,
      ],
      ' ',
    ),
  );
  const [only, ...more] = arms;
  if (only && more.length === 0) return only;
  const each = arms.map((arm) => join([sql`select * from (`, arm, sql`) as arm`], ''));
  return join([join(each, ' union all '), order], ' ');
}
