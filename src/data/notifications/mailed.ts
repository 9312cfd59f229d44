// When mails went to an address: so many times of the last day as decide whether another may go.

import type { Timestamp } from '../../domain/ids.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';

export interface Mailed {
  /** In milliseconds. */
  readonly times: readonly number[];
  readonly version: number;
}

export async function readMailed(db: Db, addressHash: string): Promise<Mailed | null> {
  const row = await db.get<{ times: string; version: number }>(
    sql`select times, version from mailed where address_hash = ${addressHash}`,
  );
  return row ? { times: JSON.parse(row.times) as number[], version: row.version } : null;
}

/** Guarded by `unchanged`: of those who mail at one moment, one after the other counts. */
export const writeMailed = (
  addressHash: string,
  { before, times, at }: { before: Mailed | null; times: readonly number[]; at: Timestamp },
): Statement =>
  must(
    'unchanged',
    before === null
      ? sql`insert into mailed (address_hash, times, version, last_at)
            values (${addressHash}, ${JSON.stringify(times)}, ${1}, ${at}) on conflict (address_hash) do nothing`
      : sql`update mailed set times = ${JSON.stringify(times)}, version = ${before.version + 1}, last_at = ${at}
            where address_hash = ${addressHash} and version = ${before.version}`,
  );
