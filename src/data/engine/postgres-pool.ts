// Connections to PostgreSQL: how each begins, and what becomes of the texts that the server sends.

import { Pool } from 'pg';
import { decimal } from '../../domain/decimal.ts';
import type { Query } from './postgres-statements.ts';

export const CONNECT_MS = 5_000;

const SESSION = `
  set time zone 'UTC'; set datestyle = 'ISO';
  set statement_timeout = '10s'; set lock_timeout = '3s'; set idle_in_transaction_session_timeout = '10s';
  -- committed means durable, whatever the server's default is
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

const STANDBY = 'select pg_is_in_recovery() as standby';

export function openPool(
  url: string,
  opening: { max: number; waitMs: number; session: string; readOnly: boolean },
): Pool {
  const { max, waitMs, session, readOnly } = opening;
  const pool = new Pool({
    connectionString: url,
    max,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 300_000,
    fallback_application_name: 'fillpath',
    types: { getTypeParser: ((oid: number) => PARSERS[oid] ?? String) as never },
    async onConnect(client) {
      // A pooler in front takes the connection, and is silent until a server is free for it.
      const ask = (text: string) =>
        client.query<{ standby: boolean }>({ text, query_timeout: waitMs } as Query);
      const [found] = await Promise.all([ask(STANDBY), ask(`${SESSION};${session}`)]);
      // What is read there may be of before: sessions that were ended, accounts that were halted, orders that were sent.
      if (found.rows[0]?.standby && !readOnly) throw new Error('the server is a standby, and no primary');
    },
  });
  // A connection lost while idle: the pool has dropped it already. One lost while in use fails its queries besides.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Private to this pool. What is not here stays the text that the server sends: uuid, text, json. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't', // bool
  20: Number, // int8: counts and serial numbers, never near 2^53
  21: Number, // int2
  23: Number, // int4
  1184: readTime, // timestamptz
  1700: decimal, // numeric
};

/** "2026-11-05 09:30:00.12+00" → "2026-11-05T09:30:00.120Z" */
function readTime(text: string): string {
  // A pooler between us and the server may have lost the session's time zone.
  if (!text.endsWith('+00')) return new Date(text.replace(/([+-]\d\d)$/, '$1:00')).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
}
