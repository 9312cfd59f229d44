// Alert mails on classified attacks: after the answer, best-effort, at most one per user in half an hour. Whatever
// fails here is logged and never reaches a request.

import { claimAlert } from '../../data/audit/alerts.ts';
import type { Db } from '../../data/engine/db.ts';
import { type DenialCode, ruleOf } from '../../domain/denial.ts';
import { timestamp, type UserId } from '../../domain/ids.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Afterwards } from '../background.ts';
import { alertMail } from './mails.ts';

export interface AlertDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly mailer: Mailer;
  readonly later: Afterwards;
  readonly alertIntervalMs: number;
  readonly baseUrl: string;
}

export interface Attack {
  readonly code: DenialCode;
  readonly user: { readonly id: UserId; readonly email: string };
  /** Null where no account was named. */
  readonly accountName: string | null;
  readonly ip: string;
  readonly detail: string;
}

/** Does nothing for a denial that is no classified attack with an alert. */
export function alertUser(deps: AlertDeps, attack: Attack): void {
  const { alert, audit: attackType } = ruleOf(attack.code);
  if (!alert || !attackType) return;
  const at = deps.clock.now();
  deps.later.begin(async () => {
    // In the database, so that all processes together, and a restarted one, send one.
    const claim = claimAlert(attack.user.id, timestamp(at), timestamp(at - deps.alertIntervalMs));
    if ((await deps.db.commit([claim])) !== null) return;
    const { baseUrl, alertIntervalMs: intervalMs } = deps;
    const words = alertMail({ ...attack, attackType, at: timestamp(at), baseUrl, intervalMs });
    await deps.mailer.send({ to: attack.user.email, purpose: 'alert', ...words });
  });
}
