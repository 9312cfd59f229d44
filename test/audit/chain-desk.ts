// A database with an audit log to be attacked: two connections to it, as two processes have them, and what a stranger
// at a SQL prompt needs.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from '../../src/app/audit/audit.ts';
import { auditKeyOf } from '../../src/app/audit/chain.ts';
import { openSealer } from '../../src/app/audit/sealing.ts';
import type { HeadMemory } from '../../src/data/audit/kept-head.ts';
import { type Db, type Statement, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import type { ChainHead } from '../../src/domain/audit-chain.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import { startPostgres } from '../servers/postgres.ts';
import { logbook } from '../world.ts';

export const USER = '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10' as UserId;
export const NOW = Date.parse('2026-07-15T19:00:00Z');
export const auditKey = auditKeyOf(Buffer.alloc(32, 7));

/** One database, two connections to it: as two processes have them. */
export interface Place {
  readonly dbs: readonly [Db, Db];
  /** Of a server. */
  readonly url?: string;
  close(): Promise<void>;
}

async function openSqlitePlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-chain-'));
  const file = join(dir, 'fillpath.sqlite');
  const dbs = [openSqlite({ file }), openSqlite({ file })] as const;
  return {
    dbs,
    async close() {
      for (const db of dbs) await db.close();
      rmSync(dir, { recursive: true });
    },
  };
}

async function openPostgresPlace(): Promise<Place> {
  const server = await startPostgres();
  const dbs = [await openPostgres(server), await openPostgres(server)] as const;
  return {
    dbs,
    url: server.url,
    async close() {
      for (const db of dbs) await db.close();
      await server.stop();
    },
  };
}

const withUser = (open: () => Promise<Place>) => async () => {
  const place = await open();
  const [db] = place.dbs;
  await migrate(db, NOW);
  await db.commit([
    sql`insert into users (id, email, password_hash, is_admin, is_active, plan, created_at)
        values (${USER}, 'a@example.com', '', ${false}, ${true}, 'free', ${timestamp(NOW)})`,
  ]);
  return place;
};

export const PLACES = [
  ['SQLite', withUser(openSqlitePlace)],
  ['PostgreSQL', withUser(openPostgresPlace)],
] as const;

export const entry = (index: number): Statement =>
  audit(
    {
      requestId: `request ${index}`,
      ip: '203.0.113.7',
      userAgent: `agent ${index}`,
      path: `/${index}`,
      method: 'POST',
    },
    {
      userId: USER,
      action: 'webhook_order',
      failure: index % 2 === 0 ? null : 'because',
      resource: { type: 'order', id: `order ${index}` },
      metadata: { index, text: 'é "quoted" \u2028 \\ 日本' },
    },
    NOW + index,
  );

/** `text` with ids and values in it as they are: a stranger at a SQL prompt. */
export const raw = (text: string): Statement => ({ parts: [text], values: [] });

/** A file elsewhere, as far as the database is concerned. */
export function headMemory(head: ChainHead | null = null): HeadMemory & { head: ChainHead | null } {
  const memory = {
    head,
    recall: async () => memory.head,
    async keep(kept: ChainHead) {
      memory.head = kept;
    },
  };
  return memory;
}

/** A sealer as a process has one, and the log that its operator reads. */
export async function sealerOf(db: Db, memory = headMemory()) {
  const { log, lines } = logbook();
  const sealer = await openSealer({ db, auditKey, memory, log });
  return { ...sealer, memory, lines };
}
