// The chain's place in the database. An entry is written without a seal, in the unit of what it tells about, and is
// sealed afterwards: so the chain orders nothing on the hot path. A seal is a row of its own, and is never changed.

import { type ChainedEntry, type ChainHead, GENESIS } from '../../domain/audit-chain.ts';
import type { Timestamp } from '../../domain/ids.ts';
import { type Db, join, must, type Statement, sql } from '../engine/db.ts';

const HEAD = 'audit_seals';

export interface StoredHead extends ChainHead {
  /** Every entry up to this id is sealed. */
  readonly sealedUpTo: number;
}

export async function readHead(db: Db): Promise<StoredHead> {
  const row = await db.get<ChainHead & { sealed_up_to: number }>(
    sql`select entries, hash, sealed_up_to from audit_chain where name = ${HEAD}`,
  );
  return row
    ? { entries: row.entries, hash: row.hash, sealedUpTo: row.sealed_up_to }
    : { ...GENESIS, sealedUpTo: 0 };
}

/** More than one where somebody took away what keeps a place to one seal. */
export async function sealsAt(db: Db, position: number): Promise<string[]> {
  const rows = await db.all<{ hash: string }>(
    sql`select hash from audit_seals where position = ${position} limit 2`,
  );
  return rows.map(({ hash }) => hash);
}

type EntryRow = Omit<ChainedEntry, 'success'> & { success: number | boolean };

/** In the order in which they were written; one that was committed late comes later. */
export async function unsealedEntries(db: Db, after: number, limit: number): Promise<ChainedEntry[]> {
  const rows = await db.all<EntryRow>(
    sql`select id, user_id, action, success, ip_address, user_agent, request_path, request_method, error_message,
          resource_type, resource_id, metadata, created_at
        from audit_logs a
        where id > ${after} and not exists (select 1 from audit_seals s where s.entry_id = a.id)
        order by id limit ${limit}`,
  );
  return rows.map((row) => ({ ...row, success: Boolean(row.success) }));
}

/** Entries are looked at for when the first unsealed one was written; of what is far behind, more is not needed. */
const NEAR = 1_000;

/** When the first entry that waits for its seal was written; null: none waits. */
export async function oldestUnsealed(db: Db): Promise<Timestamp | null> {
  const row = await db.get<{ created_at: Timestamp }>(
    sql`select created_at from (
          select id, created_at from audit_logs
          where id > coalesce((select sealed_up_to from audit_chain where name = ${HEAD}), 0)
          order by id limit ${NEAR}) as a
        where not exists (select 1 from audit_seals s where s.entry_id = a.id) order by id limit 1`,
  );
  return row?.created_at ?? null;
}

/**
 * The newest entry that can be seen, and which transactions are under way. PostgreSQL numbers entries before it shows
 * them: one may appear behind others that have a larger number. It does so no later than its transaction ends.
 */
export interface Sight {
  readonly newest: number;
  /** Transactions that begin after this look have this number or a larger one. */
  readonly next: number;
  /** All with smaller numbers have ended. */
  readonly oldest: number;
}

export async function sightOf(db: Db): Promise<Sight> {
  const sight = await db.get<Sight>(
    db.dialect === 'sqlite'
      ? sql`select coalesce(max(id), 0) as newest, 0 as next, 0 as oldest from audit_logs`
      : sql`select coalesce(max(id), 0) as newest,
              cast(cast(pg_snapshot_xmax(pg_current_snapshot()) as text) as bigint) as next,
              cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint) as oldest
            from audit_logs`,
  );
  return sight ?? { newest: 0, next: 0, oldest: 0 };
}

interface Seal {
  readonly entry: ChainedEntry;
  readonly head: ChainHead;
}

/** Guarded by `head`: of two sealers one wins; and by `entry`: no entry, and no place, is sealed twice. */
export function sealEntries(before: ChainHead, sealed: readonly Seal[], sealedUpTo: number): Statement[] {
  const { entries, hash } = sealed.at(-1)?.head ?? before;
  return [
    must(
      'head',
      before.entries === 0
        ? sql`insert into audit_chain (name, entries, hash, sealed_up_to)
              values (${HEAD}, ${entries}, ${hash}, ${sealedUpTo}) on conflict (name) do nothing`
        : sql`update audit_chain set entries = ${entries}, hash = ${hash}, sealed_up_to = ${sealedUpTo}
              where name = ${HEAD} and entries = ${before.entries} and hash = ${before.hash}`,
    ),
    ...chunks(sealed).map((seals) => must('entry', insertSeals(seals))),
  ];
}

/** Guarded by `head`: nothing is sealed behind this one before the unit is committed. */
export const holdHead = ({ entries, hash }: ChainHead): Statement[] =>
  entries === 0
    ? // There is no row to hold: one of our own keeps the first sealer out, and is gone with the unit.
      [
        must(
          'head',
          sql`insert into audit_chain (name, entries, hash, sealed_up_to) values (${HEAD}, 0, ${hash}, 0)
              on conflict (name) do nothing`,
        ),
        sql`delete from audit_chain where name = ${HEAD} and entries = 0`,
      ]
    : [
        must(
          'head',
          sql`select 1 from audit_chain where name = ${HEAD} and entries = ${entries} and hash = ${hash}`,
        ),
      ];

/** Many in one statement, which is ten times faster; of few sizes, so that there are few texts to prepare. */
const CHUNKS = [100, 10, 1];

function chunks(sealed: readonly Seal[]): (readonly Seal[])[] {
  const made: (readonly Seal[])[] = [];
  for (let at = 0; at < sealed.length; at += made.at(-1)?.length ?? 1) {
    const size = CHUNKS.find((each) => each <= sealed.length - at) ?? 1;
    made.push(sealed.slice(at, at + size));
  }
  return made;
}

function insertSeals(seals: readonly Seal[]): Statement {
  const rows = seals.map(({ entry, head }) => sql`(${head.entries}, ${entry.id}, ${head.hash})`);
  return join([sql`insert into audit_seals (position, entry_id, hash) values `, join(rows, ', ')], '');
}

// To be verified: everything is read by what stands in the rows, and nothing is taken from what an index promises.

export interface SealedEntry {
  readonly position: number;
  readonly entryId: number;
  readonly hash: string;
  /** null: the entry is gone. */
  readonly entry: ChainedEntry | null;
}

/** All that stand at these places; where somebody took the indexes away, any number of them at one place. */
export async function sealedEntries(db: Db, after: number, upTo: number): Promise<SealedEntry[]> {
  const rows = await db.all<
    EntryRow & { position: number; entry_id: number; hash: string; id: number | null }
  >(
    sql`select s.position, s.entry_id, s.hash, a.id, a.user_id, a.action, a.success, a.ip_address, a.user_agent,
          a.request_path, a.request_method, a.error_message, a.resource_type, a.resource_id, a.metadata, a.created_at
        from audit_seals s left join audit_logs a on a.id = s.entry_id
        where s.position > ${after} and s.position <= ${upTo} order by s.position, s.entry_id`,
  );
  return rows.map(({ position, entry_id, hash, ...row }) => ({
    position,
    entryId: entry_id,
    hash,
    entry: row.id === null ? null : { ...row, success: Boolean(row.success) },
  }));
}

/** The first seal behind this place; null: there is none. */
export async function nextPosition(db: Db, after: number): Promise<number | null> {
  const row = await db.get<{ position: number }>(
    sql`select position from audit_seals where position > ${after} order by position limit 1`,
  );
  return row?.position ?? null;
}

/** A seal at or before the place at which the chain begins, or at none. */
export async function straySeal(db: Db, from: number): Promise<{ position: number; entryId: number } | null> {
  const row = await db.get<{ position: number; entry_id: number }>(
    sql`select position, entry_id from audit_seals where position <= ${from} or position is null
        order by position limit 1`,
  );
  return row ? { position: row.position, entryId: row.entry_id } : null;
}

const COUNTED_AT_ONCE = 10_000;

export interface Counts {
  /** With a seal up to the head's place. */
  readonly sealed: number;
  /** Without any. */
  readonly unsealed: number;
  /** When the first of those was written. */
  readonly since: Timestamp | null;
  /** The id of one of those, where all have a seal: it was not there when they got them. */
  readonly stray: number | null;
}

interface CountedPage extends Counts {
  readonly last: number | null;
}

export async function countEntries(db: Db, { entries, sealedUpTo }: StoredHead): Promise<Counts> {
  let [sealed, unsealed]: [number, number] = [0, 0];
  let since: Timestamp | null = null;
  let stray: number | null = null;
  for (let after: number | null = Number.MIN_SAFE_INTEGER; after !== null; ) {
    // Up to and with the last id of a page, however often it stands there: nothing hides at its end.
    const page: CountedPage | undefined = await db.get<CountedPage>(
      sql`select max(id) as last, count(case when place <= ${entries} then 1 end) as sealed,
            count(case when place is null then 1 end) as unsealed,
            min(case when place is null then created_at end) as since,
            min(case when place is null and id <= ${sealedUpTo} then id end) as stray
          from (select id, created_at, (select min(position) from audit_seals s where s.entry_id = a.id) as place
            from audit_logs a
            where id > ${after} and id <= coalesce((select id from audit_logs where id > ${after}
              order by id limit 1 offset ${COUNTED_AT_ONCE - 1}), ${Number.MAX_SAFE_INTEGER})) as page`,
    );
    sealed += page?.sealed ?? 0;
    unsealed += page?.unsealed ?? 0;
    since ??= page?.since ?? null;
    stray ??= page?.stray ?? null;
    after = page?.last ?? null;
  }
  return { sealed, unsealed, since, stray };
}

// Pruning

export interface Checkpoint extends ChainHead {
  readonly mac: string;
}

/** Where the chain begins; null: with its first entry. */
export async function readCheckpoint(db: Db): Promise<Checkpoint | null> {
  const row = await db.get<{ position: number; hash: string; mac: string }>(
    sql`select position, hash, mac from audit_checkpoints order by position desc limit 1`,
  );
  return row ? { entries: row.position, hash: row.hash, mac: row.mac } : null;
}

/** Under another key. Guarded by `checkpoint`: the chain was not cut further meanwhile. */
export const signCheckpoint = ({ entries }: ChainHead, mac: string): Statement =>
  must('checkpoint', sql`update audit_checkpoints set mac = ${mac} where position = ${entries}`);

/** The chain begins behind the checkpoint from now on. Guarded by `checkpoint`: nobody else has cut it there. */
export function cutChain(
  { entries, hash, mac }: Checkpoint,
  entryIds: readonly number[],
  now: Timestamp,
): Statement[] {
  const ids = join(
    entryIds.map((id) => sql`${id}`),
    ', ',
  );
  return [
    must(
      'checkpoint',
      sql`insert into audit_checkpoints (position, hash, mac, made_at) values (${entries}, ${hash}, ${mac}, ${now})
          on conflict (position) do nothing`,
    ),
    sql`delete from audit_checkpoints where position < ${entries}`,
    sql`delete from audit_seals where position <= ${entries}`,
    join([sql`delete from audit_logs where id in (`, ids, sql`)`], ''),
  ];
}
