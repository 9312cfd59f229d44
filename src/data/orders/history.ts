// A user's orders in the order of their submission: from the first one on, for what can only be counted from the beginning; of
// a day; or back from it. In steps, each by an index and short, so that nobody waits behind it; and not for ever. Only what is counted is read.

import type { BrokerName } from '../../domain/brokers.ts';
import { decimalOrNull } from '../../domain/decimal.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { CountedLeg, CountedOrder } from '../../domain/money/books.ts';
import type { DayOrder } from '../../domain/money/day.ts';
import {
  type LegKey,
  NO_NOTES,
  type Order,
  type OrderStatus,
  type Side,
  type Source,
} from '../../domain/orders/order.ts';
import type { ExitReason } from '../../domain/protection/protection.ts';
import { join, ListTooSlow, type Reads, type Statement, sql } from '../engine/db.ts';
import { inSteps } from '../engine/steps.ts';

const STEP = 100;
/** Of which hardly anything is read. */
const VERSIONS = 500;
/** Longer than a list, which shows one page: this reads all of them, a few milliseconds at a time. */
const MOST_MS = 10_000;

/** Of one question, however many histories it is about: beyond it, it is refused. */
export interface Allowance {
  readonly until: number;
}
export const newAllowance = (): Allowance => ({ until: performance.now() + MOST_MS });

function refuseBeyond({ until }: Allowance): void {
  if (performance.now() > until) throw new ListTooSlow('too many orders to count');
}

/** An order, and one of its legs; nulls where it has none. */
interface Row {
  readonly order_id: OrderId;
  readonly version: number;
  readonly submitted_at: Timestamp;
  readonly trading_account_id: AccountId;
  readonly broker_name: BrokerName;
  readonly source: Source;
  readonly simulation: number | boolean;
  readonly symbol: string;
  readonly status: OrderStatus;
  readonly error: string | null;
  readonly position_before: string | null;
  readonly trace: string;
  readonly notes: string | null;
  readonly exit_reason: ExitReason | null;
  readonly traded_at: Timestamp | null;
  readonly is_priced: number | boolean;
  readonly leg: LegKey | null;
  readonly side: Side | null;
  readonly fill_price: string | null;
  readonly fill_quantity: string | null;
  readonly fee: string | null;
  readonly instrument: string | null;
  readonly unit_value: string | null;
  readonly sent_at: Timestamp | null;
  readonly acked_at: Timestamp | null;
  readonly filled_at: Timestamp | null;
}

/** In the order of submission. */
export type Place = Pick<Order, 'id' | 'submittedAt'>;

/** `stands`: another one where anything about the order has changed. */
export type HistoryOrder = CountedOrder & { readonly stands: string };

/** `after`: not from the first one on, but behind that one. */
export async function* ordersFromTheFirst(
  db: Reads,
  user: UserId,
  {
    accountId,
    simulation,
    to,
    after,
    allowance,
  }: {
    accountId?: AccountId;
    simulation: boolean;
    to?: Timestamp;
    after?: Place | null;
    allowance?: Allowance;
  },
): AsyncGenerator<readonly HistoryOrder[]> {
  const conditions = [
    sql`user_id = ${user}`,
    ...(accountId === undefined ? [] : [sql`trading_account_id = ${accountId}`]),
    ...(to === undefined ? [] : [sql`submitted_at <= ${to}`]),
    ...(after ? [beyond(after, true)] : []),
  ];
  for await (const orders of steps(db, conditions, 'onwards', allowance))
    yield orders.filter((order) => order.simulation === simulation);
}

interface VersionRow extends Pick<Row, 'order_id' | 'submitted_at' | 'version' | 'simulation'> {}

/** Of how the orders up to there stand, and nothing else of them. */
export async function* versionsUpTo(
  db: Reads,
  {
    user,
    accountId,
    simulation,
  }: { readonly user: UserId; readonly accountId: AccountId; readonly simulation: boolean },
  last: Place | null,
  allowance: Allowance,
): AsyncGenerator<readonly string[]> {
  if (last === null) return;
  refuseBeyond(allowance);
  const read = (before: VersionRow | undefined) =>
    db.all<VersionRow>(
      join(
        [
          sql`select order_id, submitted_at, version, simulation from order_history
              where user_id = ${user} and trading_account_id = ${accountId}
                and (submitted_at, order_id) <= (${last.submittedAt}, ${last.id})`,
          ...(before ? [sql`and`, beyond(placeOf(before), true)] : []),
          sql`order by submitted_at, order_id limit ${VERSIONS}`,
        ],
        ' ',
      ),
    );
  for await (const rows of inSteps<readonly VersionRow[]>((step) => read(step?.at(-1)))) {
    yield rows.filter((row) => Boolean(row.simulation) === simulation).map(standsOf);
    if (rows.length < VERSIONS) return;
    refuseBeyond(allowance);
  }
}

export const ordersSince = (
  db: Reads,
  user: UserId,
  account: AccountId,
  from: Timestamp,
): AsyncGenerator<readonly DayOrder[]> =>
  steps(
    db,
    [sql`user_id = ${user}`, sql`trading_account_id = ${account}`, sql`submitted_at >= ${from}`],
    'onwards',
  );

/** The newest first. */
export const ordersBefore = (
  db: Reads,
  user: UserId,
  account: AccountId,
  before: Timestamp,
): AsyncGenerator<readonly DayOrder[]> =>
  steps(
    db,
    [sql`user_id = ${user}`, sql`trading_account_id = ${account}`, sql`submitted_at < ${before}`],
    'back',
  );

async function* steps(
  db: Reads,
  conditions: readonly Statement[],
  direction: 'onwards' | 'back',
  allowance = newAllowance(),
): AsyncGenerator<readonly (DayOrder & HistoryOrder)[]> {
  refuseBeyond(allowance);
  const isOnwards = direction === 'onwards';
  const order = isOnwards
    ? sql`order by submitted_at, order_id`
    : sql`order by submitted_at desc, order_id desc`;
  const read = (last: Row | null) => {
    const place: Statement[] = last === null ? [] : [beyond(placeOf(last), isOnwards)];
    // The mode is looked at afterwards: a step is over so many orders, whichever of them fit.
    return db.all<Row>(
      join(
        [
          sql`select o.order_id, o.version, o.submitted_at, o.trading_account_id, o.broker_name, o.source, o.simulation, o.symbol,
                o.status, o.error, o.position_before, o.trace, o.notes, o.exit_reason, o.traded_at, o.priced is not null as is_priced, l.leg, l.side, l.fill_price, l.fill_quantity, l.fee,
                l.instrument, l.unit_value, l.sent_at, l.acked_at, l.filled_at
              from (select * from order_history where`,
          join([...conditions, ...place], ' and '),
          order,
          sql`limit ${STEP}) o left join order_legs l on l.order_id = o.order_id`,
          isOnwards
            ? sql`order by o.submitted_at, o.order_id, l.position`
            : sql`order by o.submitted_at desc, o.order_id desc, l.position`,
        ],
        ' ',
      ),
    );
  };
  for await (const rows of inSteps<readonly Row[]>((last) => read(last?.at(-1) ?? null))) {
    const byOrder = [...Map.groupBy(rows, (row) => row.order_id).values()];
    yield byOrder.flatMap((legs) => (legs[0] ? toCounted(legs[0], legs) : []));
    if (byOrder.length < STEP) return;
    refuseBeyond(allowance);
  }
}

const placeOf = ({ order_id, submitted_at }: Pick<Row, 'order_id' | 'submitted_at'>): Place => ({
  id: order_id,
  submittedAt: submitted_at,
});

const beyond = ({ submittedAt, id }: Place, isOnwards: boolean): Statement =>
  isOnwards
    ? sql`(submitted_at, order_id) > (${submittedAt}, ${id})`
    : sql`(submitted_at, order_id) < (${submittedAt}, ${id})`;

const standsOf = ({ order_id, version }: Pick<Row, 'order_id' | 'version'>): string =>
  `${order_id} ${version}`;

const toCounted = (order: Row, rows: readonly Row[]): DayOrder & HistoryOrder => ({
  id: order.order_id,
  stands: standsOf(order),
  accountId: order.trading_account_id,
  brokerName: order.broker_name,
  source: order.source,
  simulation: Boolean(order.simulation),
  wasUnreachable: order.error?.includes('"broker_unavailable"') ?? false,
  isPriced: Boolean(order.is_priced),
  symbol: order.symbol,
  status: order.status,
  submittedAt: order.submitted_at,
  positionBefore: decimalOrNull(order.position_before),
  trace: JSON.parse(order.trace) as Order['trace'],
  notes: order.notes === null ? NO_NOTES : (JSON.parse(order.notes) as Order['notes']),
  legs: rows.flatMap((row) => toLeg(row) ?? []),
  ...(order.exit_reason === null ? {} : { exitReason: order.exit_reason }),
  ...(order.traded_at === null ? {} : { tradedAt: order.traded_at }),
});

const toLeg = (row: Row): CountedLeg | null =>
  row.side && {
    leg: row.leg?.startsWith('entry') ? 'entry' : 'exit',
    side: row.side,
    fillPrice: decimalOrNull(row.fill_price),
    fillQuantity: decimalOrNull(row.fill_quantity),
    fee: decimalOrNull(row.fee),
    instrument: row.instrument,
    unitValue: decimalOrNull(row.unit_value),
    sentAt: row.sent_at,
    ackedAt: row.acked_at,
    filledAt: row.filled_at,
  };
