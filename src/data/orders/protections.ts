// protections: what is wanted of each, as it was saved last. A change compares its version and sets the next one; an order that fills
// only adds itself to those whose wish is to be taken in, and the next pass of its worker does that.

import { randomUUIDv7 } from 'node:crypto';
import type { BrokerName } from '../../domain/brokers.ts';
import { type Decimal, subtract, ZERO } from '../../domain/decimal.ts';
import {
  type AccountId,
  millis,
  type OrderId,
  type Timestamp,
  timestamp,
  type UserId,
} from '../../domain/ids.ts';
import { type Direction, hasEnded, hasTraded, type Leg, type Order } from '../../domain/orders/order.ts';
import { positionAfter } from '../../domain/orders/position.ts';
import { fillOf } from '../../domain/orders/result.ts';
import { opensAnew } from '../../domain/protection/adopt.ts';
import type { Protection, ProtectionState } from '../../domain/protection/protection.ts';
import type { HistoryLine } from '../../domain/protection/told.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';
import { spellingsAt } from './spellings.ts';
import { noteAllStopped, noteStopped } from './strategies.ts';

/** What only the decision reads, as it is at first. */
const UNTOUCHED = {
  adopted: null,
  heard: [],
  unpriced: [],
  stop: null,
  targets: [],
  trail: null,
  breakEven: null,
  timeStopAt: null,
  revision: 1,
  legs: [],
  refused: null,
  restoredAt: [],
  targetsRestoredAt: [],
  expiredAt: [],
  movedAt: null,
  heldAt: null,
  targetsAgainAt: null,
  suspendedAt: null,
  closesFor: null,
  closing: null,
  isResumed: false,
  credentialsVersion: null,
} satisfies Partial<Protection>;

type Body = Pick<Protection, keyof typeof UNTOUCHED>;

export interface ProtectionRow {
  id: string;
  version: number;
  user_id: UserId;
  trading_account_id: AccountId;
  broker_name: BrokerName;
  simulation: number | boolean;
  symbol: string;
  instrument: string;
  side: Direction;
  state: ProtectionState;
  reason: string | null;
  set_by: OrderId;
  wanted_by: string | null;
  body: string | null;
  unprotected_since: Timestamp | null;
  unprotected_ms: number | null;
  seen_at: Timestamp | null;
  due_at: Timestamp | null;
  created_at: Timestamp;
  ended_at: Timestamp | null;
}

/**
 * In the unit that saves what is known of an entry: from its first fill on, or where nobody knows whether it was filled, its wish is
 * wanted. Nothing, where the order has none.
 */
export function wantProtection(order: Order, id: string | null): Statement[] {
  const place = opened(order);
  if (!place) return [];
  const { instrument, side, at } = place;
  return [
    id === null
      ? wantedFor(order, instrument, side, at)
      : must('protection', made(order, { id, instrument, side, at })),
  ];
}

/** The same, where nothing is kept for the position: who asks need not read it. null: the order has no wish, or opened nothing. */
export function firstProtection(order: Order): Order['protectedAs'] | null {
  const place = opened(order);
  return place && { id: randomUUIDv7(), since: place.at };
}

/** As it is made with the fill of its order, before anybody looks after it; null: nobody knows that it still is. */
export function untouchedProtection(order: Order): Protection | null {
  const { protectedAs } = order;
  const place = protectedAs && opened(order);
  if (!protectedAs || !place) return null;
  const { id, since } = protectedAs;
  const { userId, accountId, brokerName, simulation, symbol } = order;
  return {
    ...UNTOUCHED,
    ...{ id, version: 1, userId, accountId, brokerName, simulation, symbol },
    ...{ instrument: place.instrument, side: place.side, state: 'armed', reason: null },
    ...{ wantedBy: [order.id], setBy: order.id, unprotectedSince: since, unprotectedMs: null },
    ...{ seenAt: null, dueAt: since },
  };
}

interface Opened {
  readonly instrument: string;
  readonly side: Direction;
  readonly at: Timestamp;
}

/** null: it asks for nothing, or nothing of it can be held. */
function opened(order: Order): Opened | null {
  const entry = order.legs.findLast(({ leg }) => leg === 'entry');
  if (!order.wish || !entry || entry.instrument === null || !mayBeHeld(entry)) return null;
  const side = entry.side === 'buy' ? 'long' : 'short';
  return { instrument: entry.instrument, side, at: knownAt(entry, order) };
}

const mayBeHeld = ({ status, fillQuantity }: Leg): boolean =>
  status === 'unknown' || (fillQuantity !== null && fillQuantity !== '0');

const knownAt = ({ filledAt, ackedAt, sentAt }: Leg, { submittedAt }: Order): Timestamp =>
  filledAt ?? ackedAt ?? sentAt ?? submittedAt;

/** An entry that asks for nothing, and opened a position where another one was protected: that one's protection is not its own. */
function noteOpened(order: Order): Statement[] {
  const entry = order.legs.findLast(({ leg }) => leg === 'entry');
  if (order.wish || !entry || !mayBeHeld(entry) || !opensAnew(order)) return [];
  const side: Direction = entry.side === 'buy' ? 'long' : 'short';
  return [
    sql`update protections set version = version + 1,
          wanted_by = case when wanted_by is null then ${order.id} else wanted_by || ' ' || ${order.id} end
        where trading_account_id = ${order.accountId} and instrument = ${entry.instrument}
          and simulation = ${order.simulation} and side = ${side} and ended_at is null`,
  ];
}

/** What is so besides, once this is known of an order, whoever finds it out. */
export const knownOf = (order: Order): Statement[] => [
  ...noteOpened(order),
  ...(order.exitReason && hasEnded(order.status) ? stoppedBy(order) : []),
];

/** Where there is one for the position, the order is added to those that it is wanted by. */
export const wantedFor = (order: Order, instrument: string, side: Direction, at: Timestamp): Statement =>
  join(
    [
      made(order, { id: randomUUIDv7(), instrument, side, at }),
      sql`on conflict (trading_account_id, instrument, simulation, side) where ended_at is null do update
        set version = protections.version + 1, due_at = excluded.due_at,
          wanted_by = case when protections.wanted_by is null then excluded.wanted_by
            else protections.wanted_by || ' ' || excluded.wanted_by end`,
    ],
    ' ',
  );

const made = (order: Order, { id, instrument, side, at }: Opened & { readonly id: string }): Statement =>
  sql`insert into protections (id, version, user_id, trading_account_id, broker_name, simulation, symbol, instrument, side,
        state, set_by, wanted_by, unprotected_since, due_at, created_at)
      values (${id}, 1, ${order.userId}, ${order.accountId}, ${order.brokerName}, ${order.simulation},
        ${order.symbol}, ${instrument}, ${side}, 'armed', ${order.id}, ${order.id}, ${at}, ${at}, ${at})`;

/** Guarded by `protection`: its version is compared, and the next one set. */
export function saveProtection(protection: Protection, now: Timestamp): Statement {
  const { id, version, state, reason, setBy, wantedBy, unprotectedSince, unprotectedMs, seenAt, dueAt } =
    protection;
  const body = Object.fromEntries(Object.keys(UNTOUCHED).map((key) => [key, protection[key as keyof Body]]));
  const isOver = state === 'ended' || state === 'left';
  return must(
    'protection',
    sql`update protections set version = ${version + 1}, state = ${state}, reason = ${reason}, set_by = ${setBy},
          wanted_by = ${wantedBy.join(' ') || null}, body = ${JSON.stringify(body)}, unprotected_since = ${unprotectedSince},
          unprotected_ms = ${unprotectedMs}, seen_at = ${seenAt}, due_at = ${isOver ? null : dueAt},
          ended_at = ${isOver ? now : null}
        where id = ${id} and version = ${version}`,
  );
}

export const noteProtection = (id: string, at: Timestamp, { what, from, to, by }: HistoryLine): Statement =>
  sql`insert into protection_history (protection_id, at, what, from_price, to_price, by_whom)
      values (${id}, ${at}, ${what}, ${from}, ${to}, ${by})`;

/**
 * What a protection's close has taken of what its strategy holds. `counted`: so much of it was said while it rested. `at`: when that was held last;
 * what an order of ours closes was held when it was decided on.
 */
export function stoppedBy(order: Order, counted: Decimal = ZERO, at = order.submittedAt): Statement[] {
  const { quantity } = fillOf(order);
  const { intent } = order;
  if (quantity === null || quantity === ZERO || intent.operation !== 'CLOSE_POSITION') return [];
  const side = intent.direction;
  if (side === null) return [];
  const isAll = positionAfter(order) === ZERO;
  return [noteStopped(strategyOf(order), side, { quantity: subtract(quantity, counted), isAll }, at)];
}

/** What targets have filled that rest, and nobody has said yet. */
export const partlyStopped = (protection: Protection, now: Timestamp): Statement[] =>
  protection.legs.flatMap(({ filled, counted = ZERO }) =>
    filled === counted
      ? []
      : [
          noteStopped(
            strategyOf(protection),
            protection.side,
            { quantity: subtract(filled, counted), isAll: false },
            now,
          ),
        ],
  );

/** Nothing is left, and protection closed the last of it then. */
export const stoppedOutBy = (protection: Protection, at: Timestamp): Statement =>
  noteAllStopped(strategyOf(protection), protection.side, at);

const strategyOf = ({
  accountId,
  brokerName,
  symbol,
  simulation,
}: Pick<Order, 'accountId' | 'brokerName' | 'symbol' | 'simulation'>) => ({
  accountId,
  symbol: canonicalSymbol(brokerName, symbol),
  simulation,
});

type Closed = Pick<
  Order,
  'userId' | 'accountId' | 'brokerName' | 'simulation' | 'symbol' | 'intent' | 'submittedAt' | 'legs'
>;

/** No order lives so long. */
const LIFE_MS = 86_400_000;

/** Who traded last in the instrument, by our own record; of an order that opens, or has traded itself, since it was accepted. */
export async function closedBy(db: Reads, order: Closed): Promise<'protection' | 'somebody'> {
  const { userId, accountId, simulation, intent, submittedAt } = order;
  const earliest = timestamp(millis(submittedAt) - LIFE_MS);
  const since =
    intent.operation === 'PLACE_ENTRY_ORDER' || hasTraded(order)
      ? sql`and submitted_at >= ${earliest} and (submitted_at >= ${submittedAt} or filled_at >= ${submittedAt})`
      : sql``;
  // `is true`: else SQLite takes the account's index, and passes over all of its orders in other symbols.
  const last = (spelling: string) =>
    join(
      [
        sql`select * from (select source, submitted_at, order_id from order_history
            where user_id = ${userId} and symbol = ${spelling} and (trading_account_id = ${accountId}) is true
              and simulation = ${simulation} and fill_quantity is not null and filled_at is not null`,
        since,
        sql`order by submitted_at desc, order_id desc limit 1) as last`,
      ],
      ' ',
    );
  const each = join((await spellingsAt(db, order)).map(last), ' union all ');
  const newest = sql`order by submitted_at desc, order_id desc limit 1`;
  const row = await db.get<{ source: string }>(join([each, newest], ' '));
  return row?.source === 'protection' ? 'protection' : 'somebody';
}

/** With the order that set it, too: nobody else writes this of an order. */
export const noteUnprotected = ({ setBy, unprotectedMs }: Protection): Statement =>
  sql`update order_history set unprotected_ms = ${unprotectedMs} where order_id = ${setBy}`;

/** The user's that are kept, of all accounts or of one. */
export function keptProtections(
  db: Reads,
  user: UserId,
  account: AccountId | null = null,
): Promise<Protection[]> {
  const own = account === null ? sql`` : sql`and trading_account_id = ${account}`;
  return protectionsWhere(
    db,
    join([sql`where user_id = ${user}`, own, sql`and ended_at is null order by created_at, id`], ' '),
  );
}

/** The broker's names of what protection has closed on the account since. */
export async function protectiveRefs(
  db: Reads,
  user: UserId,
  account: AccountId,
  since: Timestamp,
): Promise<string[]> {
  const rows = await db.all<{ broker_ref: string }>(
    sql`select l.broker_ref from order_history o join order_legs l on l.order_id = o.order_id
        where o.user_id = ${user} and o.trading_account_id = ${account} and o.source = 'protection'
          and o.submitted_at >= ${since} and l.broker_ref is not null`,
  );
  return rows.map(({ broker_ref }) => broker_ref);
}

/** Something of the account is kept. */
export const isProtected = async (db: Reads, account: AccountId): Promise<boolean> =>
  (await db.get(
    sql`select id from protections where trading_account_id = ${account} and ended_at is null limit 1`,
  )) !== undefined;

/** Users with one that is due, each once. */
export async function usersWithDueProtection(db: Db, now: Timestamp, limit: number): Promise<UserId[]> {
  const rows = await db.all<{ user_id: UserId }>(
    sql`select user_id from protections where ended_at is null and due_at <= ${now} group by user_id limit ${limit}`,
  );
  return rows.map((row) => row.user_id);
}

/** Guarded by `claimed`: somebody else was first. Its version stays: what a worker has in hand is still its own. */
export const claimDueProtections = (user: UserId, due: Timestamp, until: Timestamp): Statement =>
  must(
    'claimed',
    sql`update protections set due_at = ${until} where user_id = ${user} and ended_at is null and due_at <= ${due}`,
  );

/** Its version stays, as above. */
export const putOffProtections = (user: UserId, account: AccountId, until: Timestamp): Statement =>
  sql`update protections set due_at = ${until}
      where user_id = ${user} and trading_account_id = ${account} and ended_at is null and due_at < ${until}`;

export async function protectionsWhere(db: Reads, where: Statement): Promise<Protection[]> {
  const rows = await db.all<ProtectionRow>(join([sql`select * from protections`, where], ' '));
  return rows.map(toProtection);
}

export const toProtection = (row: ProtectionRow): Protection => ({
  ...UNTOUCHED,
  ...(row.body === null ? {} : (JSON.parse(row.body) as Partial<Body>)),
  id: row.id,
  version: row.version,
  userId: row.user_id,
  accountId: row.trading_account_id,
  brokerName: row.broker_name,
  simulation: Boolean(row.simulation),
  symbol: row.symbol,
  instrument: row.instrument,
  side: row.side,
  state: row.state,
  reason: row.reason,
  wantedBy: [...new Set((row.wanted_by ?? '').split(' ').filter(Boolean))] as OrderId[],
  setBy: row.set_by,
  unprotectedSince: row.unprotected_since,
  unprotectedMs: row.unprotected_ms,
  seenAt: row.seen_at,
  dueAt: row.due_at,
});
