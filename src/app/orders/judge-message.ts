// What a webhook's message says, and what its own checks say of it: the payload, the symbol, its age and its secret. The
// webhook stops at the first refusal; whoever asks beforehand is told all of them.

import type { Account } from '../../data/accounts.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { type BodyReading, proofIn, readSignal, type Signal } from '../../domain/signal.ts';
import { isAllowedSymbol } from '../../domain/symbol.ts';
import { isFresh, isSameSecret } from '../../domain/webhook.ts';
import type { Check } from '../../domain/webhook-checks.ts';
import type { SecretBox } from '../secret-box.ts';

export interface Refused {
  readonly check: Check;
  readonly denial: Denial;
  /** For the audit entry. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface Judged {
  /** null: it could not be understood. */
  readonly signal: Signal | null;
  /** In the contract's order. */
  readonly refusals: readonly Refused[];
}

export interface JudgeDeps {
  readonly secrets: SecretBox;
  /** When the database was restored from a backup: it has forgotten which signals of before were taken. 0: it was not. */
  readonly restoredAt?: number;
}

export function judgeMessage(
  deps: JudgeDeps,
  account: Account,
  reading: BodyReading,
  { simulation, now }: { readonly simulation: boolean; readonly now: number },
): Judged {
  const read = readSignal(reading, { simulation, follow: account.outOfSync === 'follow' });
  const signal = 'signal' in read ? read.signal : null;
  const refusals: Refused[] = [];
  if ('problem' in read) refusals.push(malformed(read.problem));
  if (signal && !isAllowedSymbol(account.brokerName, account.allowedSymbols, signal.symbol))
    refusals.push(notAllowed(signal.symbol));
  if (!simulation) {
    const { timestamp, secret } = proofIn(reading);
    const attack = timestamp === null ? null : tooOld(deps, timestamp, now, account.maxRequestAge);
    if (attack) refusals.push(attack);
    if (!isSecretOf(deps, account, secret ?? ''))
      refusals.push({
        check: 'secret',
        denial: deny('webhook_credential_attack'),
        metadata: { attack_type: 'wrong_secret' },
      });
  }
  return { signal, refusals };
}

export const malformed = (detail: string): Refused => ({
  check: 'payload',
  denial: deny('webhook_payload_invalid', { detail }),
  metadata: { attack_type: 'malformed_payload' },
});

const notAllowed = (symbol: string): Refused => ({
  check: 'symbol',
  denial: deny('webhook_payload_invalid', {
    detail: `The symbol ${symbol} is not in the account's allowed list.`,
  }),
  metadata: { attack_type: 'symbol_not_allowed' },
});

function tooOld(
  { restoredAt = 0 }: JudgeDeps,
  timestamp: number,
  now: number,
  maxRequestAge: number,
): Refused | null {
  if (isFresh(timestamp, now, maxRequestAge) && timestamp > restoredAt) return null;
  return {
    check: 'age',
    denial: deny('webhook_timestamp_expired'),
    metadata: { attack_type: 'expired_timestamp', request_age_seconds: (now - timestamp) / 1000 },
  };
}

export const isSecretOf = (
  { secrets }: { readonly secrets: SecretBox },
  { id, webhookSecret }: Account,
  given: string,
): boolean => isSameSecret(given, secrets.open(webhookSecret, id));
