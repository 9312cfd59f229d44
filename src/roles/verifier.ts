// ROLE=verifier: what comes round by itself. Fills are verified, orders that nobody works on are rescued, the audit log is
// sealed, users are notified, and what is old is pruned. Any number may run: each piece of work is claimed by compare-and-set.

import { auditKeyOf } from '../app/audit/chain.ts';
import { openSealer, type Sealer } from '../app/audit/sealing.ts';
import { every } from '../app/background.ts';
import { prune } from '../app/operation/retention.ts';
import { hearFills } from '../app/orders/hear-fills.ts';
import { compareOwed } from '../app/orders/owed-comparisons.ts';
import { rescueOrders } from '../app/orders/rescue-orders.ts';
import { sweepGivenUp, sweepResting } from '../app/orders/sweep-resting.ts';
import { verifyDueFills } from '../app/orders/verify-fills.ts';
import { sweepProtections } from '../app/protection/sweep.ts';
import { keptHead } from '../data/audit/kept-head.ts';
import { appKeyOf } from './adapters.ts';
import { type Foundation, giveUpMs } from './foundation.ts';
import { openNotifying } from './notifying.ts';

const VERIFY_EVERY_MS = 200;
const RESCUE_EVERY_MS = 2_000;
const RESCUE_GRACE_MS = 5_000;
const COMPARE_EVERY_MS = 1_000;
const SWEEP_EVERY_MS = 1_000;
const SEAL_EVERY_MS = 1_000;
const ANNOUNCE_EVERY_MS = 3_600_000;
/** Whether somebody else is at it, or has been. */
const PRUNE_EVERY_MS = 60_000;

/** It seals once more before everything that writes entries is closed, and so behind it in the order of closing. */
export async function openSealing({ config, db, log, closers }: Foundation): Promise<Sealer> {
  const auditKey = auditKeyOf(appKeyOf(config));
  const memory = keptHead(config.data.dir, config.data.databaseUrl);
  const sealer = await openSealer({ db, auditKey, memory, log });
  closers.push(async () => {
    await sealer
      .seal()
      .catch((fault: unknown) =>
        log.error({ fault }, 'the audit log could not be sealed; it will be at the next start'),
      );
    sealer.announce();
  });
  return sealer;
}

export async function openVerifying(base: Foundation, sealer: Sealer): Promise<void> {
  const { config, log, roster, closers } = base;
  const { timings, tries, retention } = config;
  const stopping = new AbortController();
  const pruning = {
    ...{ ...base, retention, auditKey: auditKeyOf(appKeyOf(config)) },
    accessTokenMs: config.auth.accessTokenMs,
    alertIntervalMs: config.mail.alertIntervalMs,
  };
  const verifying = {
    ...base,
    rules: {
      retries: tries.fillRetries,
      requeueMs: timings.fillRequeueMs,
      giveUpMs: giveUpMs(config),
    },
    visibilityMs: timings.fillVisibilityMs,
  };
  const looking = { ...base, looking: verifying.rules, visibilityMs: verifying.visibilityMs };
  // Before anything new is taken: whatever an earlier process left unfinished.
  await rescueOrders(base, 0).catch((fault: unknown) => log.error({ fault }, 'the first rescue failed'));
  await sealer.seal().catch((fault: unknown) => log.error({ fault }, 'the first sealing failed'));
  sealer.announce();
  const rounds = [
    every(RESCUE_EVERY_MS, () => rescueOrders(base, RESCUE_GRACE_MS), log),
    every(VERIFY_EVERY_MS, () => verifyDueFills(verifying), log),
    every(
      COMPARE_EVERY_MS,
      () => compareOwed({ ...base, responseWaitMs: timings.fillVisibilityMs / 2 }),
      log,
    ),
    every(SWEEP_EVERY_MS, () => sweepProtections(base), log),
    every(SWEEP_EVERY_MS, () => sweepResting(looking), log),
    every(SWEEP_EVERY_MS, () => sweepGivenUp(looking), log),
    every(SEAL_EVERY_MS, () => sealer.seal(), log),
    every(PRUNE_EVERY_MS, () => prune(pruning, stopping.signal), log),
    every(ANNOUNCE_EVERY_MS, async () => sealer.announce(), log),
  ];
  const hearing = hearFills(looking, stopping.signal);
  openNotifying(base);
  // What a host had in its hands is not left to the next round.
  const forget = roster.onGone(() => {
    rescueOrders(base, 0).catch((fault: unknown) =>
      log.error({ fault }, 'a rescue failed; the next one comes'),
    );
  });
  closers.push(() => {
    forget();
    stopping.abort();
    return Promise.all([hearing, ...rounds.map((round) => round.stop())]);
  });
}
