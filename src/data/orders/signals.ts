// signals: every arrival at a user's webhooks.

import { type Decimal, decimal } from '../../domain/decimal.ts';
import type { AccountId, GroupId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { QuantityType } from '../../domain/orders/sizing.ts';
import type { Check, SignalOutcome } from '../../domain/signals/webhook-checks.ts';
import { realMoneyAmong, realMoneyOf } from '../accounts/accounts.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';
import { inSteps, PASSED_OVER } from '../engine/steps.ts';
import { ordersByIds } from './orders.ts';
import { among, type SignalFilter, searchFor } from './signal-search.ts';

export interface ArrivedSignal {
  readonly id: string;
  readonly userId: UserId;
  readonly accountId: AccountId;
  readonly arrivedAt: Timestamp;
  readonly simulation: boolean;
  /** Null where it could not be read. */
  readonly symbol: string | null;
  readonly action: string | null;
  readonly quantity: Decimal | null;
  readonly outcome: SignalOutcome;
  readonly code: string | null;
  readonly detail: string | null;
  readonly refusedBy: Check | null;
  readonly orderId: OrderId | null;
  /** Until it was answered; of an order, its own trace tells. */
  readonly totalMs: number | null;
  readonly ip: string;
  readonly message: string | null;
  readonly understood: object | null;
  readonly ignored: readonly string[];
}

export const insertSignal = (signal: ArrivedSignal): Statement =>
  sql`insert into signals (id, user_id, trading_account_id, arrived_at, simulation, symbol, action, quantity, outcome,
        code, detail, refused_by, order_id, total_ms, ip_address, message, understood, ignored)
      values (${signal.id}, ${signal.userId}, ${signal.accountId}, ${signal.arrivedAt}, ${signal.simulation},
        ${signal.symbol}, ${signal.action}, ${signal.quantity}, ${signal.outcome}, ${signal.code}, ${signal.detail},
        ${signal.refusedBy}, ${signal.orderId}, ${signal.totalMs}, ${signal.ip}, ${signal.message},
        ${signal.understood && JSON.stringify(signal.understood)},
        ${signal.ignored.length > 0 ? JSON.stringify(signal.ignored) : null})`;

/** What became of a group's signal at one of its members. */
export interface SignalMember {
  readonly accountId: AccountId;
  readonly orderId: OrderId | null;
  /** Why it was refused. */
  readonly code: string | null;
  readonly detail: string | null;
}

/** Guarded by `fingerprint`, where it has one: a group's real signal is taken once, whichever members took it. */
export const insertGroupSignal = (
  signal: ArrivedSignal,
  of: {
    readonly groupId: GroupId;
    readonly fingerprint: string | null;
    readonly members: readonly SignalMember[];
  },
): Statement[] => [
  must(
    'fingerprint',
    sql`insert into signals (id, user_id, trading_account_id, arrived_at, simulation, symbol, action, quantity, outcome,
          code, detail, refused_by, order_id, total_ms, ip_address, message, understood, ignored, group_id, fingerprint)
        values (${signal.id}, ${signal.userId}, ${signal.accountId}, ${signal.arrivedAt}, ${signal.simulation},
          ${signal.symbol}, ${signal.action}, ${signal.quantity}, ${signal.outcome}, ${signal.code}, ${signal.detail},
          ${signal.refusedBy}, ${signal.orderId}, ${signal.totalMs}, ${signal.ip}, ${signal.message},
          ${signal.understood && JSON.stringify(signal.understood)},
          ${signal.ignored.length > 0 ? JSON.stringify(signal.ignored) : null}, ${of.groupId}, ${of.fingerprint})
        on conflict (group_id, fingerprint) where group_id is not null and fingerprint is not null do nothing`,
  ),
  ...(of.members.length === 0
    ? []
    : [
        join(
          [
            sql`insert into signal_members (signal_id, position, trading_account_id, arrived_at, simulation, order_id, code,
                  detail) values`,
            join(
              of.members.map(
                ({ accountId, orderId, code, detail }, position) =>
                  sql`(${signal.id}, ${position}, ${accountId}, ${signal.arrivedAt}, ${signal.simulation}, ${orderId},
                        ${code}, ${detail})`,
              ),
              ', ',
            ),
          ],
          ' ',
        ),
      ]),
];

type MemberRow = {
  readonly signal_id: string;
  readonly trading_account_id: AccountId;
  readonly order_id: OrderId | null;
  readonly code: string | null;
  readonly detail: string | null;
};

const toMember = (row: MemberRow): SignalMember => ({
  accountId: row.trading_account_id,
  orderId: row.order_id,
  code: row.code,
  detail: row.detail,
});

/** What a group's real signal became, however long ago; null: it was not taken. */
export async function groupTookBefore(
  db: Db,
  group: GroupId,
  fingerprint: string,
): Promise<{ readonly arrivedAt: Timestamp; readonly members: SignalMember[] } | null> {
  const rows = await db.all<MemberRow & { readonly arrived_at: Timestamp }>(
    sql`select m.*, s.arrived_at from signals s join signal_members m on m.signal_id = s.id
        where s.group_id = ${group} and s.fingerprint = ${fingerprint} order by m.position`,
  );
  const [first] = rows;
  return first ? { arrivedAt: first.arrived_at, members: rows.map(toMember) } : null;
}

/** Of one account, or group: so many of the last are looked through for a message. */
const LOOKED_THROUGH = 200;

/** Whose it is. */
export type Webhook = { readonly userId: UserId } & (
  | { readonly accountId: AccountId }
  | { readonly groupId: GroupId }
);

/** A message that came to the webhook of late, as it is shown: the secret masked. */
export async function hasArrived(
  db: { readonly lists: Reads },
  of: Webhook,
  message: string,
): Promise<boolean> {
  const there = 'groupId' in of ? sql`group_id = ${of.groupId}` : sql`trading_account_id = ${of.accountId}`;
  const row = await db.lists.get(
    join(
      [
        sql`select 1 as found from (select message from signals where user_id = ${of.userId} and`,
        there,
        sql`order by arrived_at desc, id desc limit ${LOOKED_THROUGH}) as last
            where message in (${message}, ${message.trim()}) limit 1`,
      ],
      ' ',
    ),
  );
  return row !== undefined && row !== null;
}

/** With its order, where it became one. */
export interface ListedSignal {
  readonly id: string;
  readonly signal: ArrivedSignal;
  readonly order: Order | null;
  /** What its quantity counts. */
  readonly quantityType: QuantityType;
  /** Of a group's: what became of it at each member. */
  readonly groupId: GroupId | null;
  readonly members: readonly SignalMember[];
  /** Whether its account, or any of them, trades real money. */
  readonly isRealAccount: boolean;
}

interface SignalRow {
  id: string;
  user_id: UserId;
  trading_account_id: AccountId;
  arrived_at: Timestamp;
  simulation: number | boolean;
  symbol: string | null;
  action: string | null;
  quantity: string | null;
  outcome: SignalOutcome;
  code: string | null;
  detail: string | null;
  refused_by: Check | null;
  order_id: OrderId | null;
  total_ms: number | null;
  ip_address: string;
  message: string | null;
  understood: string | null;
  ignored: string | null;
  group_id: GroupId | null;
}

interface SeenRow extends SignalRow {
  fits: number | boolean;
}

const NEWEST_FIRST = sql`order by arrived_at desc, id desc`;
/** A page is looked for so long; then it is what was found, and the next goes on from there. */
const PAGE_MS = 400;

/**
 * Newest first; `after` is the last one of the page before. Without their messages, which can be large. Of several filters one
 * leads, by its index; what the others, orders and accounts tell is no index's: signals that do not fit are passed over in steps. `lookedBackTo`: the last one that was looked
 * at, where there may be more behind it.
 */
export async function listSignals(
  db: Reads,
  user: UserId,
  { filter, after, limit }: { filter: SignalFilter; after: string | null; limit: number },
): Promise<{ readonly found: ListedSignal[]; readonly lookedBackTo: string | null }> {
  const begun = performance.now();
  const realAccounts = filter.realMoney === undefined ? new Set<AccountId>() : await realMoneyOf(db, user);
  if (filter.realMoney && realAccounts.size === 0) return { found: [], lookedBackTo: null };
  const { sources, fits } = await searchFor(db, user, filter, realAccounts);
  const step = fits.length === 0 ? limit : PASSED_OVER;
  const from = (conditions: readonly Statement[], last: string | null) =>
    join(
      [
        sql`select id, user_id, trading_account_id, arrived_at, simulation, symbol, action, quantity, outcome, code, detail,
              refused_by, order_id, total_ms, ip_address, null as message, null as understood, null as ignored,
              group_id from signals where`,
        join([...conditions, ...(last === null ? [] : [behind(user, last)])], ' and '),
        NEWEST_FIRST,
        sql`limit ${step}`,
      ],
      ' ',
    );
  const next = (last: string | null) => {
    const [only, ...others] = sources.map((conditions) => from(conditions, last));
    if (!only || others.length === 0) return only ?? from([], last);
    const each = [only, ...others].map((source, nth) =>
      join([sql`select * from (`, source, nth === 0 ? sql`) as one` : sql`) as other`], ''),
    );
    return join([join(each, ' union all '), NEWEST_FIRST, sql`limit ${step}`], ' ');
  };
  // Whether one fits is asked of the few that were read: of all that there are, PostgreSQL would look through all orders first.
  const read = (last: string | null) =>
    db.all<SeenRow>(
      join(
        [
          sql`select signals.*,`,
          fits.length === 0 ? sql`true` : join(fits, ' and '),
          sql`as fits from (`,
          next(last),
          sql`) as signals`,
          NEWEST_FIRST,
        ],
        ' ',
      ),
    );
  const rows: SignalRow[] = [];
  let lookedBackTo: string | null = null;
  for await (const seen of inSteps<readonly SeenRow[]>((last) => read(last?.at(-1)?.id ?? after))) {
    rows.push(...seen.filter((row) => row.fits));
    if (rows.length >= limit || seen.length < step) break;
    if (performance.now() - begun <= PAGE_MS) continue;
    lookedBackTo = seen.at(-1)?.id ?? null;
    break;
  }
  return { found: await withOrders(db, rows.slice(0, limit)), lookedBackTo };
}

const behind = (user: UserId, last: string): Statement =>
  sql`(arrived_at, id) < (select arrived_at, id from signals where id = ${last} and user_id = ${user})`;

export async function findSignal(db: Reads, user: UserId, id: string): Promise<ListedSignal | null> {
  const rows = await db.all<SignalRow>(sql`select * from signals where id = ${id} and user_id = ${user}`);
  const [found] = await withOrders(db, rows);
  return found ?? null;
}

async function withOrders(db: Reads, rows: readonly SignalRow[]): Promise<ListedSignal[]> {
  const ids = rows.flatMap(({ order_id }) => order_id ?? []);
  const orders = new Map((await ordersByIds(db, ids)).map((order) => [order.id, order]));
  const members = await membersOf(
    db,
    rows.filter(({ group_id }) => group_id !== null).map(({ id }) => id),
  );
  const types = await quantityTypesOf(db, rows);
  const reached = (row: SignalRow) => [
    row.trading_account_id,
    ...(members.get(row.id) ?? []).map(({ accountId }) => accountId),
  ];
  const real = await realMoneyAmong(db, rows.flatMap(reached));
  return rows.map((row) => ({
    id: row.id,
    quantityType: types.get(row.id) ?? 'units',
    groupId: row.group_id,
    members: members.get(row.id) ?? [],
    isRealAccount: reached(row).some((account) => real.has(account)),
    signal: toSignal(row),
    order: (row.order_id && orders.get(row.order_id)) || null,
  }));
}

/** Of those that count something else than units. Read here: a database may take no field out of what strangers wrote into another. */
async function quantityTypesOf(
  db: Reads,
  rows: readonly SignalRow[],
): Promise<ReadonlyMap<string, QuantityType>> {
  const ids = rows.flatMap(({ id, quantity }) => (quantity === null ? [] : [id]));
  if (ids.length === 0) return new Map();
  const found = await db.all<Pick<SignalRow, 'id' | 'understood'>>(
    join([sql`select id, understood from signals where id in (`, among(ids), sql`)`], ''),
  );
  const typeIn = (understood: string | null): QuantityType | undefined =>
    (JSON.parse(understood ?? 'null') as { quantity_type?: QuantityType } | null)?.quantity_type;
  return new Map(
    found.flatMap(({ id, understood }) => {
      const type = typeIn(understood);
      return type ? [[id, type]] : [];
    }),
  );
}

async function membersOf(db: Reads, signals: readonly string[]): Promise<Map<string, SignalMember[]>> {
  if (signals.length === 0) return new Map();
  const rows = await db.all<MemberRow>(
    join(
      [
        sql`select * from signal_members where signal_id in (`,
        among(signals),
        sql`) order by signal_id, position`,
      ],
      '',
    ),
  );
  const bySignal = Map.groupBy(rows, ({ signal_id }) => signal_id);
  return new Map([...bySignal].map(([id, each]) => [id, each.map(toMember)]));
}

const toSignal = (row: SignalRow): ArrivedSignal => ({
  id: row.id,
  userId: row.user_id,
  accountId: row.trading_account_id,
  arrivedAt: row.arrived_at,
  simulation: Boolean(row.simulation),
  symbol: row.symbol,
  action: row.action,
  quantity: row.quantity === null ? null : decimal(row.quantity),
  outcome: row.outcome,
  code: row.code,
  detail: row.detail,
  refusedBy: row.refused_by,
  orderId: row.order_id,
  totalMs: row.total_ms,
  ip: row.ip_address,
  message: row.message,
  understood: row.understood === null ? null : (JSON.parse(row.understood) as object),
  ignored: row.ignored === null ? [] : (JSON.parse(row.ignored) as string[]),
});
