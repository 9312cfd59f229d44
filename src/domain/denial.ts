// A refusal of ours: which one of the table, and what it says in this case.

import { DENIALS, type DenialRule } from './denials.ts';

export type DenialCode = keyof typeof DENIALS;

export interface Denial {
  readonly code: DenialCode;
  /** What is wrong and, unless that says it by itself, what to do. */
  readonly detail: string;
  /** What to do. */
  readonly advice: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** What a 429 or a 503 says where nothing better is known. */
const DEFAULT_RETRY_AFTER = 5;

/** What the place that denies knows better than the table. Its own advice becomes part of the detail. */
type Known = Partial<Pick<Denial, 'detail' | 'advice' | 'retryAfter'>>;

export function deny(code: DenialCode, known: Known = {}): Denial {
  const { status, advice } = ruleOf(code);
  const retryAfter = known.retryAfter ?? (status === 429 || status === 503 ? DEFAULT_RETRY_AFTER : undefined);
  return {
    code,
    detail:
      known.detail === undefined ? detailOf(ruleOf(code), known.advice) : joined(known.detail, known.advice),
    advice: known.advice ?? advice,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

export const ruleOf = (code: DenialCode): DenialRule => DENIALS[code];

export const detailOf = ({ detail, reason, advice }: DenialRule, better = advice): string =>
  detail ?? (reason ? joined(reason, better) : better);

const joined = (reason: string, advice = ''): string => (advice ? `${reason} ${advice}` : reason);

/** What the owner reads of it later: the spec's fixed words alone would not say enough. */
export const toldOf = ({ code, detail, advice }: Denial): string =>
  ruleOf(code).detail === undefined ? detail : `${detail}. ${advice}`;

/** Why it was refused, for the log of it: the advice alone would not say that. */
export function whyRefused({ code, detail }: Denial): string {
  const { title } = ruleOf(code);
  return detail === title ? detail : `${title}. ${detail}`;
}

/** Ours, not the sender's, and nothing came of it: the platform repeats an alert that got a 5xx, and that repeat must trade. */
export const isOurFault = ({ code }: Denial): boolean =>
  ruleOf(code).status >= 500 && code !== 'outcome_unknown';

export const isDenial = (value: object): value is Denial => 'code' in value && 'detail' in value;

/** The classified events of the spec, by their audit action. */
export const SECURITY_EVENTS = [
  'webhook_ip_blocked',
  'webhook_timestamp_expired',
  'webhook_credential_attack',
  'webhook_replay_attack',
  'webhook_payload_invalid',
  'csrf_validation_failed',
] as const;
export type SecurityEvent = (typeof SECURITY_EVENTS)[number];
