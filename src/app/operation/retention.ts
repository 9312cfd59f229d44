// Nothing grows for ever. What has expired is always pruned; audit entries and orders after as many days as the operator
// says. In small steps, each a unit of its own with a pause behind it: no order waits for it.
//
// An order takes its fingerprint with it, and the signal could come again only if it were fresh: orders are kept for a
// day at the least, and level 2 refuses a signal that is older than max_request_age, an hour at the most.

import { cutChain, readCheckpoint, sealedEntries, straySeal } from '../../data/audit/chain.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import {
  type Batch,
  expiredClaims,
  expiredResets,
  expiredTokens,
  notePruned,
  notePruningBegun,
  oldAlerts,
  oldDayCounts,
  oldDayEquity,
  oldDeliveries,
  oldIdempotencyKeys,
  oldMailed,
  oldMarks,
  oldNotices,
  oldOrders,
  oldPaperStops,
  oldSignals,
  oldTries,
  oldWatches,
  revokedApiKeys,
  silentStrategies,
  surplusStrategies,
} from '../../data/engine/pruning.ts';
import { type ChainHead, checkpointMac, GENESIS } from '../../domain/audit-chain.ts';
import { earliestId, type OrderId, timestamp } from '../../domain/ids.ts';
import { MAILS_LIFE_MS } from '../../domain/told/mail-bound.ts';
import type { Store } from '../../store/store.ts';
import { isOurs, nextLink } from '../audit/chain.ts';
import { readChainKeys } from '../audit/eras.ts';
import { TRIES_LIFE_MS } from '../identity/tries.ts';

export interface RetentionDeps {
  readonly db: Db;
  readonly store: Pick<Store, 'claim'>;
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  readonly log: { error(context: object, text: string): void };
  readonly auditKey: Buffer;
  /** null: for ever. */
  readonly retention: {
    readonly auditMs: number | null;
    readonly orderMs: number | null;
    readonly signalMs: number;
  };
  readonly accessTokenMs: number;
  readonly alertIntervalMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** One process prunes in this time, whichever comes first. */
const ROUND_MS = 10 * MINUTE_MS;
/** Shorter: the next round finds nobody at it. What is left then, it finds too. */
const LONGEST_MS = 5 * MINUTE_MS;
const ROWS = 500;
/** Of what has more to it than a row. */
const FEW_ROWS = 200;
const PAUSE_MS = 50;

/** A key is good for 24 hours. */
const KEY_LIFE_MS = 25 * HOUR_MS;
/** Nobody sees a key that was revoked; the audit log tells of it. */
const REVOKED_LIFE_MS = 30 * DAY_MS;
const NOTICES_LIFE_MS = 30 * DAY_MS;
/** Only today's count is asked for. */
const COUNTS_LIFE_MS = 40 * DAY_MS;

/** By then a strategy that speaks has spoken again. */
const SILENT_LIFE_MS = 30 * DAY_MS;
/** Of one account and mode: more symbols than anybody trades there. */
const MOST_STRATEGIES = 200;

/** null: there is nothing more to do. */
type Next = () => Promise<Batch | null>;

export async function prune(deps: RetentionDeps, signal: AbortSignal): Promise<void> {
  const { db, store, clock, wait, log } = deps;
  if (!(await store.claim('retention', ROUND_MS))) return;
  const begun = performance.now();
  let isWhole = true;
  for (const [what, next] of Object.entries(kindsOf(deps))) {
    try {
      for (let batch = await next(); batch !== null; batch = await next()) {
        if (batch.rows > 0) {
          const unit = [...batch.unit, notePruned(what, batch.rows, timestamp(clock.now()))];
          // A failed guard: somebody else was faster, and the next round sees what is left.
          if ((await db.commit(unit)) !== null) break;
        }
        if (signal.aborted || performance.now() - begun > LONGEST_MS) return;
        await wait(PAUSE_MS);
      }
    } catch (fault) {
      isWhole = false;
      log.error({ fault, what }, 'what is old could not be pruned; it will be tried again');
    }
  }
  // What fails in every round is to alarm somebody; from the first round on.
  const now = timestamp(clock.now());
  await db.commit([isWhole ? notePruned('rounds', 1, now) : notePruningBegun('rounds', now)]);
}

function kindsOf(deps: RetentionDeps): Record<string, Next> {
  const { db, clock, retention } = deps;
  const now = clock.now();
  const ago = (ms: number) => timestamp(now - ms);
  const { auditMs, orderMs, signalMs } = retention;
  return {
    idempotency_keys: until(() => oldIdempotencyKeys(db, ago(KEY_LIFE_MS), ROWS)),
    // Its last access token may outlive a refresh token.
    refresh_tokens: until(() => expiredTokens(db, ago(deps.accessTokenMs), ROWS)),
    tries: until(() => oldTries(db, ago(TRIES_LIFE_MS), ROWS)),
    password_resets: until(() => expiredResets(db, ago(0), ROWS)),
    email_claims: until(() => expiredClaims(db, ago(0), ROWS)),
    mailed: until(() => oldMailed(db, ago(MAILS_LIFE_MS), ROWS)),
    alert_mails: until(() => oldAlerts(db, ago(deps.alertIntervalMs + DAY_MS), ROWS)),
    api_keys: until(() => revokedApiKeys(db, ago(REVOKED_LIFE_MS), ROWS)),
    daily_order_counts: until(() => oldDayCounts(db, ago(COUNTS_LIFE_MS).slice(0, 10), ROWS)),
    day_equity: until(() => oldDayEquity(db, ago(COUNTS_LIFE_MS).slice(0, 10), ROWS)),
    notices: until(() => oldNotices(db, ago(NOTICES_LIFE_MS), ROWS)),
    notification_deliveries: until(() => oldDeliveries(db, ago(NOTICES_LIFE_MS), ROWS)),
    notification_marks: until(() => oldMarks(db, ago(NOTICES_LIFE_MS), ROWS)),
    notification_orders: until(() => oldWatches(db, ago(NOTICES_LIFE_MS), ROWS)),
    strategy_positions: until(() => silentStrategies(db, ago(SILENT_LIFE_MS), ROWS)),
    surplus_strategies: until(() => surplusStrategies(db, MOST_STRATEGIES, ROWS)),
    signals: until(() => oldSignals(db, ago(signalMs), ROWS)),
    ...(orderMs === null
      ? {}
      : {
          orders: ordersBefore(db, now - orderMs),
          paper_stops: until(() => oldPaperStops(db, ago(orderMs), FEW_ROWS)),
        }),
    ...(auditMs === null ? {} : { audit_entries: () => oldEntries(deps, now - auditMs) }),
  };
}

const until =
  (read: () => Promise<Batch>): Next =>
  async () => {
    const batch = await read();
    return batch.rows === 0 ? null : batch;
  };

function ordersBefore(db: Db, beforeMs: number): Next {
  let after: OrderId | null = earliestId(0) as OrderId;
  return async () => {
    if (after === null) return null;
    const [beforeId, before] = [earliestId(beforeMs) as OrderId, timestamp(beforeMs)];
    const batch: Awaited<ReturnType<typeof oldOrders>> = await oldOrders(db, {
      after,
      beforeId,
      before,
      limit: FEW_ROWS,
    });
    after = batch.last;
    return batch;
  };
}

/**
 * The chain is cut behind the last of the old entries that come first in it. What goes is verified before, and the
 * checkpoint says so: else who can write to the database could have their changes pruned, by dating entries back.
 */
async function oldEntries({ db, auditKey, clock }: RetentionDeps, beforeMs: number): Promise<Batch | null> {
  const checkpoint = await readCheckpoint(db);
  if (checkpoint && !isOurs(auditKey, checkpoint)) throw new Error('The checkpoint was not made by us.');
  const keys = await readChainKeys(db, auditKey);
  if (!keys) throw new Error('The record of former keys was not made by us.');
  const from: ChainHead = checkpoint ?? GENESIS;
  if (await straySeal(db, from.entries)) throw new Error('There are seals where none belong.');
  const before = timestamp(beforeMs);
  const ids: number[] = [];
  let head = from;
  for (const sealed of await sealedEntries(db, from.entries, from.entries + FEW_ROWS)) {
    const next = nextLink(keys, head, sealed);
    if (typeof next === 'string')
      throw new Error(`The audit log is not whole, and is left as it is: ${next}.`);
    if (!sealed.entry || sealed.entry.created_at >= before) break;
    head = next;
    ids.push(sealed.entryId);
  }
  if (ids.length === 0) return null;
  const cut: Statement[] = cutChain(
    { ...head, mac: checkpointMac(auditKey, head) },
    ids,
    timestamp(clock.now()),
  );
  return { rows: ids.length, unit: cut };
}
