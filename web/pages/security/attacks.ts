// The refused attempts: how they are counted by day, which day stands out, and in which words each is told.

import type { components } from '../../api/schema.ts';
import { counted } from '../../parts/numbers.ts';

export type Attack = components['schemas']['SecurityAttack'];
type AttackType = Attack['type'];

export const DAYS = 30;
const DAY_MS = 86_400_000;

/** Somebody who has no business here; the rest is what the wire and a wrong clock do too. */
const OF_STRANGERS: ReadonlySet<AttackType> = new Set([
  'webhook_credential_attack',
  'webhook_ip_blocked',
  'csrf_validation_failed',
]);

export interface AttackDay {
  /** Its local midnight. */
  readonly start: number;
  readonly strangers: number;
  readonly others: number;
}

/** Local midnights, oldest first; a day of 23 or 25 hours is one day. */
export function midnights(now: number, days = DAYS): readonly number[] {
  const today = new Date(now);
  return Array.from({ length: days }, (_, index) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1 - index)).getTime(),
  );
}

export const firstMidnight = (now: number): number => midnights(now)[0] ?? now - DAYS * DAY_MS;

export function byDay(attacks: readonly Attack[], now: number): readonly AttackDay[] {
  const starts = midnights(now);
  const days = starts.map((start) => ({ start, strangers: 0, others: 0 }));
  for (const { created_at, type } of attacks) {
    const at = Date.parse(created_at);
    const day = days.findLast(({ start }) => start <= at);
    if (day) day[OF_STRANGERS.has(type) ? 'strangers' : 'others'] += 1;
  }
  return days;
}

const IN_WORDS: Readonly<Record<AttackType, string>> = {
  webhook_credential_attack: 'The webhook secret is wrong',
  webhook_ip_blocked: 'Sent from an address that is not allowed',
  webhook_timestamp_expired: 'The signal was too old',
  webhook_replay_attack: 'This signal was received before',
  webhook_payload_invalid: 'The message cannot be understood',
  csrf_validation_failed: 'A page that is not ours asked in your name',
};

/** One, and several of them. */
const COUNTED: Readonly<Record<AttackType, readonly [string, string]>> = {
  webhook_credential_attack: ['wrong secret', 'wrong secrets'],
  webhook_ip_blocked: ['from an address not allowed', 'from addresses not allowed'],
  webhook_timestamp_expired: ['old signal', 'old signals'],
  webhook_replay_attack: ['repetition', 'repetitions'],
  webhook_payload_invalid: ['unreadable message', 'unreadable messages'],
  csrf_validation_failed: ['forged request', 'forged requests'],
};

export function inWords({ type, metadata }: Pick<Attack, 'type' | 'metadata'>): string {
  const age = metadata['request_age_seconds'];
  if (type === 'webhook_timestamp_expired' && typeof age === 'number') {
    const span = spanInWords(Math.abs(age) * 1000);
    return age >= 0 ? `The signal was ${span} old` : `The signal was dated ${span} ahead`;
  }
  return IN_WORDS[type] ?? type;
}

/** Its entry is written a moment after its signal arrived. */
const BEFORE_MS = 5_000;
const AFTER_MS = 1_000;

/** Where the list of signals shows what was sent; null: it was no signal. */
export function whatItSent({ type, created_at }: Pick<Attack, 'type' | 'created_at'>) {
  if (!type.startsWith('webhook_')) return null;
  const at = Date.parse(created_at);
  return {
    code: type,
    from: new Date(at - BEFORE_MS).toISOString(),
    to: new Date(at + AFTER_MS).toISOString(),
  };
}

/** Fewer are no event. */
const LEAST_TO_STAND_OUT = 5;

/** The day that stands out, in words: the most frequent kind, in how long, from how many addresses. */
export function standsOut(
  attacks: readonly Attack[],
  now: number,
): { readonly day: number; readonly text: string } | null {
  const days = byDay(attacks, now);
  const sums = days.map(({ strangers, others }) => strangers + others);
  const most = Math.max(...sums);
  const all = sums.reduce((sum, count) => sum + count, 0);
  if (most < LEAST_TO_STAND_OUT || most * 2 < all) return null;
  const day = sums.indexOf(most);
  const start = days[day]?.start ?? 0;
  const end = days[day + 1]?.start ?? Number.POSITIVE_INFINITY;
  const then = attacks.filter(({ created_at }) => {
    const at = Date.parse(created_at);
    return at >= start && at < end;
  });
  const kinds = Object.entries(Object.groupBy(then, ({ type }) => type)).toSorted(
    ([, a], [, b]) => (b?.length ?? 0) - (a?.length ?? 0),
  );
  const [type, those = []] = kinds[0] ?? [];
  if (!type) return null;
  const times = those.map(({ created_at }) => Date.parse(created_at));
  const span = Math.max(...times) - Math.min(...times);
  const senders = new Set(those.map(({ ip_address }) => ip_address)).size;
  // A newer service may have a type that this page does not know.
  const [one, many] = COUNTED[type as AttackType] ?? ['attempt', 'attempts'];
  const what = `${those.length} ${those.length === 1 ? one : many}`;
  const from = senders === 1 ? 'from one address' : `from ${senders} addresses`;
  return { day, text: `${what} in ${spanInWords(span)}, ${from}` };
}

function spanInWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 600) return `${Math.max(1, seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** The page's answer. `isAll` false: there are more than could be counted. */
export function answerOf(count: number, isAll: boolean): { readonly count: string; readonly rest: string } {
  if (count === 0) return { count: 'No attempt', rest: ` had to be refused in ${DAYS} days` };
  const said = `${isAll ? '' : 'More than '}${counted(count, 'attempt')}`;
  return { count: `${said} refused`, rest: ` in ${DAYS} days, none got through` };
}
