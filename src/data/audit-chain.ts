// The chain's place in the database. An entry is written without a hash, in the unit of what it tells about, and is
// sealed afterwards: so the chain orders nothing on the hot path.

import { type ChainedEntry, type ChainHead, GENESIS } from '../domain/audit-chain.ts';
import { type Db, join, must, type Statement, sql } from './db.ts';

const HEAD = 'audit_logs';

type EntryRow = Omit<ChainedEntry, 'success'> & { success: number | boolean };

export interface SealedEntry extends ChainedEntry {
  readonly chain_position: number;
  readonly chain_hash: string;
}

const toEntry = <Row extends EntryRow>(row: Row) => ({ ...row, success: Boolean(row.success) });

export async function readHead(db: Db): Promise<ChainHead> {
  const row = await db.get<ChainHead>(sql`select entries, hash from audit_chain where name = ${HEAD}`);
  return row ?? GENESIS;
}

/** In the order in which they were written; one that was committed late comes later. */
export async function unsealedEntries(db: Db, limit: number): Promise<ChainedEntry[]> {
  const rows = await db.all<EntryRow>(
    sql`select * from audit_logs where chain_position is null order by id limit ${limit}`,
  );
  return rows.map(toEntry);
}

interface Seal {
  readonly entry: ChainedEntry;
  readonly head: ChainHead;
}

/** Guarded by `head`: of two sealers one wins, and no entry is sealed twice. */
export function sealEntries(before: ChainHead, sealed: readonly Seal[]): Statement[] {
  const head = sealed.at(-1)?.head ?? before;
  return [
    must(
      'head',
      before.entries === 0
        ? sql`insert into audit_chain (name, entries, hash) values (${HEAD}, ${head.entries}, ${head.hash})
              on conflict (name) do nothing`
        : sql`update audit_chain set entries = ${head.entries}, hash = ${head.hash}
              where name = ${HEAD} and entries = ${before.entries} and hash = ${before.hash}`,
    ),
    ...chunks(sealed).map((seals) => must('entry', setSeals(seals))),
  ];
}

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

function setSeals(seals: readonly Seal[]): Statement {
  const rows = seals.map(
    ({ entry, head }) => sql`(cast(${entry.id} as bigint), cast(${head.entries} as bigint), ${head.hash})`,
  );
  return join(
    [
      sql`update audit_logs set chain_position = seal.column2, chain_hash = seal.column3 from (values `,
      join(rows, ', '),
      // The plus keeps SQLite from going through all unsealed entries for each one.
      sql`) as seal where audit_logs.id = seal.column1 and +audit_logs.chain_position is null`,
    ],
    '',
  );
}

export async function sealedEntries(db: Db, after: number, limit: number): Promise<SealedEntry[]> {
  const rows = await db.all<Omit<SealedEntry, 'success'> & { success: number | boolean }>(
    sql`select * from audit_logs where chain_position > ${after} order by chain_position limit ${limit}`,
  );
  return rows.map(toEntry);
}

export async function countUnsealed(db: Db): Promise<number> {
  const row = await db.get<{ entries: number }>(
    sql`select count(*) as entries from audit_logs where chain_position is null`,
  );
  return row?.entries ?? 0;
}
