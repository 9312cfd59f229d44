// Seals the audit log, and proves it whole. An entry is sealed within about a second of its writing, and before the
// service stops; from then on changing, removing or inserting an entry is found by `verifyAuditLog`. Cutting off the
// end together with the head is found by a head that was kept elsewhere: print one with `audit head`.

import { createHmac } from 'node:crypto';
import { countUnsealed, readHead, sealEntries, sealedEntries, unsealedEntries } from '../data/audit-chain.ts';
import type { Db } from '../data/db.ts';
import { type ChainHead, GENESIS, nextHead } from '../domain/audit-chain.ts';

export interface ChainDeps {
  readonly db: Db;
  readonly auditKey: Buffer;
}

/** A key of its own, so that no use of APP_KEY can stand in for another. */
export const auditKeyOf = (appKey: Buffer): Buffer =>
  createHmac('sha256', appKey).update('audit-chain').digest();

const BATCH = 500;

/** Seals what has been written so far. Any number of processes may try; one of them does it. */
export async function sealAuditLog({ db, auditKey }: ChainDeps): Promise<void> {
  for (;;) {
    const [before, entries] = await Promise.all([readHead(db), unsealedEntries(db, BATCH)]);
    if (entries.length === 0) return;
    let head = before;
    const sealed = entries.map((entry) => {
      head = nextHead(auditKey, head, entry);
      return { entry, head };
    });
    // Lost to another sealer: it has done the work.
    if ((await db.commit(sealEntries(before, sealed))) !== null) return;
    if (entries.length < BATCH) return;
  }
}

export interface ChainReport {
  /** Empty: the log is whole. */
  readonly problems: readonly string[];
  readonly head: ChainHead;
  readonly unsealed: number;
}

/** After the first break nothing behind it can be trusted, so the first one is reported, and the head's state. */
export async function verifyAuditLog(
  { db, auditKey }: ChainDeps,
  keptHead: ChainHead | null,
): Promise<ChainReport> {
  const problems: string[] = [];
  // Read first: what is sealed while we walk only lies behind it.
  const stored = await readHead(db);
  let head: ChainHead = GENESIS;
  let seen = GENESIS;
  walk: for (;;) {
    const entries = await sealedEntries(db, seen.entries, BATCH);
    for (const entry of entries) {
      head = nextHead(auditKey, seen, entry);
      if (entry.chain_position !== head.entries) {
        problems.push(`entries ${head.entries} to ${entry.chain_position - 1} of the chain are missing`);
        break walk;
      }
      if (entry.chain_hash !== head.hash) {
        problems.push(`entry ${head.entries} of the chain (id ${entry.id}) was changed`);
        break walk;
      }
      if (keptHead?.entries === head.entries && keptHead.hash !== head.hash)
        problems.push(`entry ${head.entries} is not the one of the kept head`);
      if (stored.entries === head.entries && stored.hash !== head.hash)
        problems.push(`the stored head, at entry ${head.entries}, was changed`);
      seen = head;
    }
    if (entries.length < BATCH) break;
  }
  if (problems.length === 0) {
    if (stored.entries > seen.entries)
      problems.push(
        `the chain ends at entry ${seen.entries}, though ${stored.entries} were sealed: the end is missing`,
      );
    if (keptHead && keptHead.entries > seen.entries)
      problems.push(
        `the kept head has ${keptHead.entries} entries, the chain only ${seen.entries}: the end is missing`,
      );
  }
  return { problems, head: seen, unsealed: await countUnsealed(db) };
}
