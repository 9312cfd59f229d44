// Why a signal was refused, in words: what was found. The API's detail says what to do about it, and stands with the check.

import type { components } from '../api/schema.ts';

type Signal = components['schemas']['SignalSummary'];

/** The API's titles of these refusals. Others say what was found in their detail. */
const FOUND: Readonly<Record<string, string>> = {
  account_halted: 'The account is halted',
  credentials_not_verified: 'The broker credentials are not verified',
  daily_limit_reached: 'The daily order limit is reached',
  group_disabled: 'The group is disabled',
  payload_too_large: 'The message is too large',
  platform_certificate_missing: 'The platform’s certificate is missing',
  plan_simulation_only: 'This plan is limited to simulation',
  rate_limited: 'Too many requests',
  terms_not_accepted: 'The current terms of service are not accepted',
  user_deactivated: 'This user is deactivated',
  webhook_credential_attack: 'The webhook secret is wrong',
  webhook_ip_blocked: 'This address is not allowed',
  webhook_replay_attack: 'This signal was received before',
  webhook_timestamp_expired: 'The signal was too old, or from the future',
};
/** Where it came from is the point. */
const FROM_WHERE = new Set([
  'platform_certificate_missing',
  'webhook_credential_attack',
  'webhook_ip_blocked',
]);

export function reasonOf({
  code,
  detail,
  ip_address,
}: Pick<Signal, 'code' | 'detail' | 'ip_address'>): string {
  const found = FOUND[code ?? ''];
  if (found === undefined) return (detail ?? 'Refused').trim().replace(/\.$/, '');
  return FROM_WHERE.has(code ?? '') ? `${found}, from ${ip_address}` : found;
}
