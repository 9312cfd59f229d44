// protections, as they are looked at: those of orders, a user's list, and what was done about one.

import { type Decimal, decimalOrNull } from '../../domain/decimal.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Direction, Order } from '../../domain/orders/order.ts';
import type { Protection, ProtectionState } from '../../domain/protection/protection.ts';
import type { HistoryLine } from '../../domain/protection/told.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { join, LIST_MS, ListTooSlow, type Reads, type Statement, sql } from '../engine/db.ts';
import { inSteps, PASSED_OVER } from '../engine/steps.ts';
import { type ProtectionRow, toProtection } from './protections.ts';

/** Where an order's protection is to be found: for what it opened, or, of a `protect`, for what was held under its symbol. */
interface Place {
  readonly order: Order;
  readonly side: Direction;
  /** null: it does not say. */
  readonly instrument: string | null;
  /** It began before that, and was not over by this. */
  readonly begun: Timestamp;
  readonly notOver: Timestamp;
}

function placeOf(order: Order): Place | null {
  if (!order.wish) return null;
  if (order.intent.operation === 'PROTECT_POSITION') {
    const { positionBefore, filledAt } = order;
    if (positionBefore === null || filledAt === null) return null;
    const side = positionBefore.startsWith('-') ? 'short' : 'long';
    return { order, side, instrument: null, begun: filledAt, notOver: filledAt };
  }
  const entry = order.legs.findLast(({ leg }) => leg === 'entry');
  if (!entry || entry.instrument === null || entry.sentAt === null) return null;
  const { sentAt, ackedAt, filledAt, instrument } = entry;
  const begun = [sentAt, ackedAt, filledAt].reduce<Timestamp>(
    (last, at) => (at !== null && at > last ? at : last),
    sentAt,
  );
  return { order, side: entry.side === 'buy' ? 'long' : 'short', instrument, begun, notOver: sentAt };
}

/** Of those orders that asked for one and have it: the one that stands, or that was over last. Nothing is read for the others. */
export async function protectionsOfOrders(
  db: Reads,
  orders: readonly Order[],
): Promise<Map<OrderId, Protection>> {
  const places = orders.flatMap((order) => placeOf(order) ?? []);
  if (places.length === 0) return new Map();
  const each = places.map(
    ({ order: { accountId, simulation }, side, instrument, begun, notOver }) =>
      sql`(trading_account_id = ${accountId} and instrument = coalesce(${instrument}, instrument) and simulation = ${simulation}
           and side = ${side} and created_at <= ${begun} and (ended_at is null or ended_at >= ${notOver}))`,
  );
  const rows = await db.all<ProtectionRow>(
    join(
      [sql`select * from protections where`, join(each, ' or '), sql`order by created_at desc, id desc`],
      ' ',
    ),
  );
  return new Map(
    places.flatMap((place) => {
      const row = rows.find((each) => isFor(place, each));
      return row ? [[place.order.id, toProtection(row)] as const] : [];
    }),
  );
}

/** The one that stands for what the order has opened; however many have ended, few rows are read. */
export async function standingProtection(db: Reads, order: Order): Promise<Protection | null> {
  const place = placeOf(order);
  if (!place) return null;
  const rows = await db.all<ProtectionRow>(
    sql`select * from protections where trading_account_id = ${order.accountId} and ended_at is null`,
  );
  const row = rows.find((each) => isFor(place, each));
  return row ? toProtection(row) : null;
}

function isFor({ order, side, instrument, begun, notOver }: Place, row: ProtectionRow): boolean {
  const isItsBook =
    row.trading_account_id === order.accountId &&
    Boolean(row.simulation) === order.simulation &&
    row.side === side &&
    row.created_at <= begun &&
    (row.ended_at === null || row.ended_at >= notOver);
  if (!isItsBook) return false;
  if (instrument !== null) return row.instrument === instrument;
  const canonical = (symbol: string) => canonicalSymbol(order.brokerName, symbol);
  return (
    row.set_by === order.id ||
    [row.symbol, row.instrument].some((symbol) => canonical(symbol) === canonical(order.symbol))
  );
}

export interface ProtectionFilter {
  readonly accountId?: AccountId;
  readonly symbol?: string;
  readonly simulation?: boolean;
  readonly side?: Direction;
  readonly state?: ProtectionState;
}

export interface ListedProtection {
  readonly id: string;
  readonly protection: Protection;
  readonly createdAt: Timestamp;
  readonly endedAt: Timestamp | null;
}

const listed = (row: ProtectionRow): ListedProtection => ({
  id: row.id,
  protection: toProtection(row),
  createdAt: row.created_at,
  endedAt: row.ended_at,
});

/** Newest first; `after` is the last one of the page before. What does not fit is passed over in steps. */
export async function listProtections(
  db: Reads,
  user: UserId,
  { filter, after, limit }: { filter: ProtectionFilter; after: string | null; limit: number },
): Promise<ListedProtection[]> {
  const begun = performance.now();
  const others = conditionsOf(filter);
  const step = others.length === 0 ? limit : PASSED_OVER;
  type Seen = ProtectionRow & { fits: number | boolean };
  const read = (last: string | null) =>
    db.all<Seen>(
      join(
        [
          sql`select *,`,
          others.length === 0 ? sql`true` : join(others, ' and '),
          sql`as fits from protections where user_id = ${user}`,
          ...(last === null
            ? []
            : [
                sql`and (created_at, id) < (select created_at, id from protections where id = ${last} and user_id = ${user})`,
              ]),
          sql`order by created_at desc, id desc limit ${step}`,
        ],
        ' ',
      ),
    );
  const rows: ProtectionRow[] = [];
  for await (const seen of inSteps<readonly Seen[]>((last) => read(last?.at(-1)?.id ?? after))) {
    rows.push(...seen.filter(({ fits }) => fits));
    if (rows.length >= limit || seen.length < step) break;
    if (performance.now() - begun > LIST_MS) throw new ListTooSlow('too many protections to look through');
  }
  return rows.slice(0, limit).map(listed);
}

const conditionsOf = ({ accountId, symbol, simulation, side, state }: ProtectionFilter): Statement[] => [
  ...(accountId === undefined ? [] : [sql`trading_account_id = ${accountId}`]),
  ...(symbol === undefined ? [] : [sql`symbol = ${symbol}`]),
  ...(simulation === undefined ? [] : [sql`simulation = ${simulation}`]),
  ...(side === undefined ? [] : [sql`side = ${side}`]),
  ...(state === undefined ? [] : [sql`state = ${state}`]),
];

export async function findListed(db: Reads, user: UserId, id: string): Promise<ListedProtection | null> {
  const row = await db.get<ProtectionRow>(
    sql`select * from protections where id = ${id} and user_id = ${user}`,
  );
  return row ? listed(row) : null;
}

/** With whose it is: for who runs the service, and may have to call somebody. */
export interface OwnedProtection extends ListedProtection {
  readonly email: string;
  readonly accountName: string;
}

type OwnedRow = ProtectionRow & { readonly email: string; readonly account_name: string };
const OWNED = sql`select p.*, u.email, a.name as account_name from protections p
  join users u on u.id = p.user_id join trading_accounts a on a.id = p.trading_account_id`;
const owned = (row: OwnedRow): OwnedProtection => ({
  ...listed(row),
  email: row.email,
  accountName: row.account_name,
});

/** Everybody's that are kept, newest first; `after` is the last one of the page before. */
export async function keptOfAll(
  db: Reads,
  { state, after, limit }: { state: ProtectionState | null; after: string | null; limit: number },
): Promise<OwnedProtection[]> {
  const rows = await db.all<OwnedRow>(
    join(
      [
        OWNED,
        sql`where p.ended_at is null`,
        ...(state === null ? [] : [sql`and p.state = ${state}`]),
        ...(after === null ? [] : [sql`and p.id < ${after}`]),
        sql`order by p.id desc limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map(owned);
}

export async function findOwned(db: Reads, id: string): Promise<OwnedProtection | null> {
  const row = await db.get<OwnedRow>(join([OWNED, sql`where p.id = ${id}`], ' '));
  return row ? owned(row) : null;
}

/** One that is followed for long has many. */
const MOST_LINES = 500;

/** The last of them, in the order in which they were written. */
export async function historyOf(
  db: Reads,
  id: string,
): Promise<readonly (HistoryLine & { readonly at: Timestamp })[]> {
  const rows = await db.all<{
    at: Timestamp;
    what: string;
    from_price: string | null;
    to_price: string | null;
    by_whom: string | null;
  }>(
    sql`select at, what, from_price, to_price, by_whom from protection_history
        where protection_id = ${id} order by id desc limit ${MOST_LINES}`,
  );
  return rows.toReversed().map((row) => ({
    at: row.at,
    what: row.what,
    from: decimalOrNull(row.from_price),
    to: decimalOrNull(row.to_price),
    by: row.by_whom,
  }));
}

/** What one was worth at a price of 1 when the account last traded it; null: not known. */
export async function unitValueOf(
  db: Reads,
  { userId, accountId, symbol, instrument }: Protection,
): Promise<Decimal | null> {
  const row = await db.get<{ unit_value: string }>(
    sql`select l.unit_value from order_history o join order_legs l on l.order_id = o.order_id
        where o.user_id = ${userId} and o.symbol = ${symbol} and o.trading_account_id = ${accountId}
          and l.instrument = ${instrument} and l.unit_value is not null
        order by o.submitted_at desc, o.order_id desc limit 1`,
  );
  return decimalOrNull(row?.unit_value ?? null);
}
