// Scripts on PostgreSQL: one process at a time, held apart by a lock of the session that runs them. The server takes it
// back with the session, however that ends; and a session ends only with the statement that it was at, so that nobody meets
// an index that a process which has died is still building.

import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient, QueryConfig } from 'pg';
import { type Db, type Scripts, ScriptsUnderWay, type Statement } from './db.ts';

/** Any number, the same in every process and every version. */
const LOCK = 4_019_775_210;
const LOCK_MS = 50;
/** They take as long as they take. */
const SESSION = `set statement_timeout = 0; set lock_timeout = 0; reset plan_cache_mode;
  reset enable_seqscan; reset enable_hashjoin; reset enable_mergejoin`;
/** A server that can do so looks whether we are still there: what we began ends soon after us, and so does the lock. */
const STILL_THERE = "set client_connection_check_interval = '2s'";

export function scriptsOn({
  connect,
  queryOf,
  fault,
}: {
  connect(): Promise<PoolClient>;
  queryOf(statement: Statement): QueryConfig;
  fault(error: unknown): Error;
}): Db['scripts'] {
  const telling = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error) => {
      throw fault(error);
    });

  async function lock(client: PoolClient, waitMs: number): Promise<void> {
    const giveUpAt = performance.now() + waitMs;
    // Asked for again and again: one that waits within a statement is itself waited for by an index that is being built
    // beside others, in the script that holds the lock.
    const attempt = `select pg_try_advisory_lock(${LOCK}) as held`;
    for (;;) {
      const { rows } = await telling(client.query<{ held: boolean }>(attempt));
      if (rows[0]?.held) return;
      if (performance.now() > giveUpAt)
        throw new ScriptsUnderWay(`Others have run scripts for more than ${waitMs} ms.`);
      await sleep(LOCK_MS);
    }
  }

  return async (waitMs, work) => {
    const client = await telling(connect());
    const all = async <Row>(query: Statement) =>
      (await telling(client.query<Row & object>(queryOf(query)))).rows as Row[];
    const scripts: Scripts = {
      all,
      get: async <Row>(query: Statement) => (await all<Row>(query))[0],
      async script(text) {
        try {
          await client.query(text);
        } catch (error) {
          await client.query('rollback').catch(() => {});
          throw fault(error);
        }
      },
    };
    try {
      await telling(client.query(SESSION));
      await client.query(STILL_THERE).catch(() => {});
      await lock(client, waitMs);
      return await work(scripts);
    } finally {
      // The session ends, and with it its settings and its lock.
      client.release(true);
    }
  };
}
