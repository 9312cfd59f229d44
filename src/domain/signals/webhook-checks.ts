// The webhook's checks by their names, in the contract's order: which of them a refusal comes from, and what that says of
// the others.

import type { DenialCode } from '../denial.ts';

export const CHECKS = [
  'size',
  'token',
  'user',
  'rate',
  'ip',
  'certificate',
  'payload',
  'symbol',
  'age',
  'secret',
  'replay',
  'halt',
  'plan',
  'terms',
  'credentials',
  'daily_limit',
  'worker',
] as const;
export type Check = (typeof CHECKS)[number];

/** What became of an arrival. */
export const SIGNAL_OUTCOMES = ['order', 'refused', 'sync'] as const;
export type SignalOutcome = (typeof SIGNAL_OUTCOMES)[number];

export interface CheckVerdict {
  readonly check: Check;
  readonly outcome: 'passed' | 'refused' | 'not_reached';
  readonly detail: string | null;
}

const BY_CODE: { readonly [Code in DenialCode]?: Check } = {
  payload_too_large: 'size',
  webhook_not_found: 'token',
  user_deactivated: 'user',
  rate_limited: 'rate',
  webhook_ip_blocked: 'ip',
  platform_certificate_missing: 'certificate',
  webhook_payload_invalid: 'payload',
  protection_unsupported: 'payload',
  order_kind_unsupported: 'payload',
  webhook_timestamp_expired: 'age',
  webhook_credential_attack: 'secret',
  webhook_replay_attack: 'replay',
  account_halted: 'halt',
  group_disabled: 'halt',
  plan_simulation_only: 'plan',
  terms_not_accepted: 'terms',
  credentials_not_verified: 'credentials',
  daily_limit_reached: 'daily_limit',
};

/** A refusal that no other check has made is one of ours: the worker, the queue or the database was away. */
export const checkOf = (code: DenialCode): Check => BY_CODE[code] ?? 'worker';

/** The first refusal ends a request: what comes before it passed, what comes after it was not reached. */
export function verdictsUpTo(refused: Check | null, detail: string | null): CheckVerdict[] {
  const end = refused === null ? CHECKS.length : CHECKS.indexOf(refused);
  return CHECKS.map((check, index) => {
    if (index === end) return { check, outcome: 'refused', detail };
    return { check, outcome: index < end ? 'passed' : 'not_reached', detail: null };
  });
}
