// A process of the service that somebody starts again, with the key of before, after it was seen that nobody is at work.

import assert from 'node:assert/strict';
import { auditKeyOf } from '../../src/app/audit/chain.ts';
import { openSealer } from '../../src/app/audit/sealing.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';

/** The same database; just before each unit that process has sealed one more entry of the audit log. */
export async function sealedMeanwhile(db: Db, appKey: Buffer): Promise<Db> {
  const log = { info() {}, error: () => assert.fail('the sealer refuses') };
  const memory = { keep: async () => {}, recall: async () => null };
  const restarted = await openSealer({ db, auditKey: auditKeyOf(appKey), memory, log });
  return {
    ...db,
    async commit(unit) {
      await db.commit([
        sql`insert into audit_logs (user_id, action, success, metadata, created_at)
            values (null, 'login', ${true}, '{}', '2026-01-01T00:00:00.000Z')`,
      ]);
      await restarted.seal();
      return db.commit(unit);
    },
  };
}
