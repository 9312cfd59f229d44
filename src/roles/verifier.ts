// ROLE=verifier: what comes round by itself. Fills are verified, orders that nobody works on are rescued, and the audit
// log is sealed. Any number may run: each piece of work is claimed by compare-and-set.

import { auditKeyOf, sealAuditLog } from '../app/audit/chain.ts';
import { every } from '../app/background.ts';
import { rescueOrders } from '../app/orders/rescue-orders.ts';
import { verifyDueFills } from '../app/orders/verify-fills.ts';
import { appKeyOf } from './adapters.ts';
import { type Foundation, giveUpMs } from './foundation.ts';

const VERIFY_EVERY_MS = 200;
const RESCUE_EVERY_MS = 2_000;
const RESCUE_GRACE_MS = 5_000;
const SEAL_EVERY_MS = 1_000;

/** Before everything that writes entries is closed, and so behind it in the order of closing. */
export function sealAtTheEnd({ config, db, log, closers }: Foundation): void {
  const auditKey = auditKeyOf(appKeyOf(config));
  closers.push(() =>
    sealAuditLog({ db, auditKey }).catch((fault: unknown) =>
      log.error({ fault }, 'the audit log could not be sealed; it will be at the next start'),
    ),
  );
}

export async function openVerifying(base: Foundation): Promise<void> {
  const { config, db, log, roster, closers } = base;
  const { timings, tries } = config;
  const auditKey = auditKeyOf(appKeyOf(config));
  const verifying = {
    ...base,
    rules: {
      retries: tries.fillRetries,
      requeueMs: timings.fillRequeueMs,
      giveUpMs: giveUpMs(config),
    },
    visibilityMs: timings.fillVisibilityMs,
  };
  // Before anything new is taken: whatever an earlier process left unfinished.
  await rescueOrders(base, 0).catch((fault: unknown) => log.error({ fault }, 'the first rescue failed'));
  const rounds = [
    every(RESCUE_EVERY_MS, () => rescueOrders(base, RESCUE_GRACE_MS), log),
    every(VERIFY_EVERY_MS, () => verifyDueFills(verifying), log),
    every(SEAL_EVERY_MS, () => sealAuditLog({ db, auditKey }), log),
  ];
  // What a host had in its hands is not left to the next round.
  const forget = roster.onGone(() => {
    rescueOrders(base, 0).catch((fault: unknown) =>
      log.error({ fault }, 'a rescue failed; the next one comes'),
    );
  });
  closers.push(() => {
    forget();
    return Promise.all(rounds.map((round) => round.stop()));
  });
}
