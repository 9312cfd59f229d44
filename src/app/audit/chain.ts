// Seals the audit log, and proves it whole. An entry is sealed within about a second of its writing, and before the
// service stops; from then on changing, removing or inserting an entry is found by `verifyAuditLog`. Cutting off the
// end together with the head is found by a head that was kept elsewhere: print one with `audit head`.

import { createHmac } from 'node:crypto';
import {
  countUnsealed,
  readHead,
  type SealedEntry,
  sealEntries,
  sealedEntries,
  unsealedEntries,
} from '../../data/audit-chain.ts';
import type { Db } from '../../data/db.ts';
import { type ChainHead, GENESIS, nextHead } from '../../domain/audit-chain.ts';

export interface ChainDeps {
  readonly db: Db;
  readonly auditKey: Buffer;
}

/** A key of its own, so that no use of APP_KEY can stand in for another. */
export const auditKeyOf = (appKey: Buffer): Buffer =>
  createHmac('sha256', appKey).update('audit-chain').digest();

const READ_AT_ONCE = 500;
/** Fewer: what is being committed meanwhile waits for it. */
const SEALED_AT_ONCE = 200;

/** Seals what has been written so far. Any number of processes may try; one of them does it. */
export async function sealAuditLog({ db, auditKey }: ChainDeps): Promise<void> {
  for (;;) {
    // The head first: while it stands, nobody has sealed any of the entries.
    const before = await readHead(db);
    const entries = await unsealedEntries(db, SEALED_AT_ONCE);
    if (entries.length === 0) return;
    let head = before;
    const sealed = entries.map((entry) => {
      head = nextHead(auditKey, head, entry);
      return { entry, head };
    });
    if ((await db.commit(sealEntries(before, sealed))) !== null) {
      // Lost to another sealer, which has done the work; unless there was none.
      if ((await readHead(db)).hash !== before.hash) return;
      throw new Error(
        'The audit log was changed by somebody else and is sealed no further: run `audit verify`.',
      );
    }
    if (entries.length < SEALED_AT_ONCE) return;
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
  // From the very first: an entry at a place before 1 is in the table all the same.
  let after = Number.MIN_SAFE_INTEGER;
  walk: for (;;) {
    const entries = await sealedEntries(db, after, READ_AT_ONCE);
    for (const entry of entries) {
      const next = nextHead(auditKey, head, entry);
      const problem = breach(entry, next);
      if (problem !== null) {
        problems.push(problem);
        break walk;
      }
      if (keptHead?.entries === next.entries && keptHead.hash !== next.hash)
        problems.push(`entry ${next.entries} is not the one of the kept head`);
      if (stored.entries === next.entries && stored.hash !== next.hash)
        problems.push(`the stored head, at entry ${next.entries}, was changed`);
      head = next;
      after = next.entries;
    }
    if (entries.length < READ_AT_ONCE) break;
  }
  if (problems.length === 0) {
    const sealed = await readHead(db);
    if (stored.entries > head.entries)
      problems.push(
        `the chain ends at entry ${head.entries}, though ${stored.entries} were sealed: the end is missing`,
      );
    else if (sealed.entries < head.entries)
      problems.push(
        `the stored head says ${sealed.entries} entries, the chain has ${head.entries}: it was changed`,
      );
    if (keptHead && keptHead.entries > head.entries)
      problems.push(
        `the kept head has ${keptHead.entries} entries, the chain only ${head.entries}: the end is missing`,
      );
  }
  return { problems, head, unsealed: await countUnsealed(db) };
}

/** Null: the entry is the one that was sealed at this place. */
function breach(entry: SealedEntry, { entries: place, hash }: ChainHead): string | null {
  if (entry.chain_position > place)
    return `entries ${place} to ${entry.chain_position - 1} of the chain are missing`;
  if (entry.chain_position !== place)
    return `entry id ${entry.id} stands at the place ${entry.chain_position} of the chain, where none belongs`;
  if (entry.chain_hash === hash) return null;
  const otherwise = place === 1 ? ', or APP_KEY is not the one that it was sealed with' : '';
  return `entry ${place} of the chain (id ${entry.id}) was changed${otherwise}`;
}
