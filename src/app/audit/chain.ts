// Proves the audit log whole. From its sealing on, changing, removing or inserting an entry is found here. Cutting off
// the end together with the head is found by a head that was kept elsewhere: the sealer keeps one, and writes it to the
// operator's log; `audit head` prints one. Where the beginning was pruned, the chain begins at a checkpoint of ours.

import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  type Checkpoint,
  countEntries,
  nextPosition,
  readCheckpoint,
  readHead,
  type SealedEntry,
  sealedEntries,
  straySeal,
} from '../../data/audit/chain.ts';
import type { Db } from '../../data/engine/db.ts';
import { untilDone } from '../../data/engine/steps.ts';
import { type ChainHead, checkpointMac, GENESIS, nextHead } from '../../domain/audit-chain.ts';
import type { Timestamp } from '../../domain/ids.ts';
import { type ChainKeys, keyAt, readChainKeys } from './eras.ts';

export interface ChainDeps {
  readonly db: Db;
  readonly auditKey: Buffer;
}

/** A key of its own, so that no use of APP_KEY can stand in for another. */
export const auditKeyOf = (appKey: Buffer): Buffer =>
  createHmac('sha256', appKey).update('audit-chain').digest();

const READ_AT_ONCE = 500;

export interface ChainReport {
  /** Empty: the log is whole. */
  readonly problems: readonly string[];
  readonly head: ChainHead;
  readonly unsealed: number;
  /** When the first of those was written. */
  readonly unsealedSince: Timestamp | null;
  /** Where the chain begins: what stood before it was pruned. */
  readonly begins: ChainHead;
}

/** After the first break nothing behind it can be trusted, so the first one is reported, and the head's state. */
export async function verifyAuditLog(
  chain: ChainDeps,
  keptHeads: readonly ChainHead[],
): Promise<ChainReport> {
  for (;;) {
    const checkpoint = await readCheckpoint(chain.db);
    const report = await verifyFrom(chain, checkpoint, keptHeads);
    // What was pruned while we walked is missing, and rightly so.
    if (report.problems.length === 0 || (await readCheckpoint(chain.db))?.hash === checkpoint?.hash)
      return report;
  }
}

async function verifyFrom(
  { db, auditKey }: ChainDeps,
  checkpoint: Checkpoint | null,
  kept: readonly ChainHead[],
): Promise<ChainReport> {
  const begins: ChainHead = checkpoint ?? GENESIS;
  const keys = await readChainKeys(db, auditKey);
  const keptHeads = [...kept, ...(keys?.eras ?? [])];
  const report = { problems: [] as string[], begins, unsealed: 0, unsealedSince: null };
  const { problems } = report;
  // Read first: what is sealed while we walk only lies behind it.
  const stored = await readHead(db);
  if (checkpoint && !isOurs(auditKey, checkpoint))
    problems.push(`the checkpoint at entry ${begins.entries} was not made by us${OR_ANOTHER_KEY}`);
  if (!keys) problems.push(`the record of former keys was not made by us${OR_ANOTHER_KEY}`);
  const stray = await straySeal(db, begins.entries);
  if (stray) problems.push(misplaced(stray));
  if (!keys || problems.length > 0) return { ...report, head: begins };

  const compare = (head: ChainHead) => {
    if (keptHeads.some((kept) => kept.entries === head.entries && kept.hash !== head.hash))
      problems.push(`entry ${head.entries} is not the one of the kept head`);
    if (stored.entries === head.entries && stored.hash !== head.hash)
      problems.push(`the stored head, at entry ${head.entries}, was changed`);
  };
  let head = begins;
  if (checkpoint) compare(head);
  await untilDone(async () => {
    // By places and not by their number: whatever stands at one of them is in the page.
    const page = await sealedEntries(db, head.entries, head.entries + READ_AT_ONCE);
    for (const sealed of page) {
      const next = nextLink(keys, head, sealed);
      if (typeof next === 'string') {
        problems.push(next);
        return false;
      }
      head = next;
      compare(head);
    }
    if (page.length > 0) return true;
    const next = await nextPosition(db, head.entries);
    if (next === null) return false;
    if (next !== head.entries + 1) problems.push(missing(head.entries + 1, next - 1));
    return problems.length === 0;
  });
  if (problems.length > 0) return { ...report, head };

  const now = await readHead(db);
  if (stored.entries > head.entries)
    problems.push(
      `the chain ends at entry ${head.entries}, though ${stored.entries} were sealed: the end is missing`,
    );
  else if (now.entries < head.entries)
    problems.push(
      `the stored head says ${now.entries} entries, the chain has ${head.entries}: it was changed`,
    );
  for (const kept of keptHeads)
    if (kept.entries > head.entries)
      problems.push(
        `the kept head has ${kept.entries} entries, the chain only ${head.entries}: the end is missing`,
      );
  const counts = await countEntries(db, { ...head, sealedUpTo: stored.sealedUpTo });
  const chained = head.entries - begins.entries;
  if (counts.sealed !== chained)
    problems.push(`the chain has ${chained} entries, but ${counts.sealed} in the log have a place in it`);
  if (counts.stray !== null)
    problems.push(`entry id ${counts.stray} is not sealed, though all around it are: it was slipped in`);
  return { ...report, unsealed: counts.unsealed, unsealedSince: counts.since, head };
}

export function isOurs(auditKey: Buffer, checkpoint: Checkpoint): boolean {
  const [ours, theirs] = [checkpointMac(auditKey, checkpoint), checkpoint.mac].map((mac) => Buffer.from(mac));
  return ours !== undefined && ours.length === theirs?.length && timingSafeEqual(ours, theirs);
}

/** The head with one more entry; a text: what is wrong with that entry. */
export function nextLink(keys: ChainKeys, head: ChainHead, sealed: SealedEntry): ChainHead | string {
  const place = head.entries + 1;
  if (sealed.position > place) return missing(place, sealed.position - 1);
  if (sealed.position !== place) return misplaced(sealed);
  if (sealed.entry === null) return missing(place, place);
  const next = nextHead(keyAt(keys, place), head, sealed.entry);
  if (keys.eras.some((era) => era.entries === place && era.hash !== next.hash))
    return `entry ${place} of the chain is not the one at which APP_KEY was replaced`;
  if (sealed.hash === next.hash) return next;
  const otherwise = place === 1 ? OR_ANOTHER_KEY : '';
  return `entry ${place} of the chain (id ${sealed.entryId}) was changed${otherwise}`;
}

const OR_ANOTHER_KEY = ', or APP_KEY is not the one that it was sealed with';

const missing = (first: number, last: number): string =>
  `entries ${first} to ${last} of the chain are missing`;

const misplaced = ({ entryId, position }: { entryId: number; position: number | null }): string =>
  `entry id ${entryId} stands at the place ${position} of the chain, where none belongs`;
