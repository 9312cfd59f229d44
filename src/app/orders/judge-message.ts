// What a webhook's message says, and what its own checks say of it: the payload, the symbol, its age and its secret. The
// webhook stops at the first refusal; whoever asks beforehand is told all of them.

import type { Account } from '../../data/accounts/accounts.ts';
import type { Target } from '../../data/orders/targets.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type Denial, deny, ruleOf } from '../../domain/denial.ts';
import { NO_SYMBOLS, type SymbolMap, symbolFor } from '../../domain/groups.ts';
import { type OrderId, type Timestamp, timestamp } from '../../domain/ids.ts';
import { isEntry } from '../../domain/orders/entitlement.ts';
import type { OrderIntent } from '../../domain/orders/order.ts';
import { type BodyReading, readSignal, type Signal } from '../../domain/signals/signal.ts';
import { isAllowedSymbol } from '../../domain/signals/symbol.ts';
import { isFresh } from '../../domain/signals/webhook.ts';
import type { Check } from '../../domain/signals/webhook-checks.ts';
import { filledIn, unsupported } from '../protection/wished.ts';
import type { SecretBox } from '../secret-box.ts';
import { refusalOf } from './entitled.ts';
import { kindRefusal } from './priced.ts';

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

/** By what a signal is known to be the owner's: the account's own, or its group's. */
export interface Lock {
  readonly id: string;
  /** Encrypted under APP_KEY. */
  readonly webhookSecret: string;
  readonly maxRequestAge: number;
}

/** An account that a signal is for: the webhook's own, or a member of its group. */
export interface Addressee {
  readonly target: Target;
  /** What it trades of what the signal says: its multiplier, times what its group has for it. */
  readonly factor: Decimal;
  readonly symbols: SymbolMap;
}

/** As its account understands it, and whether it takes it: the payload, what is to protect it, and the symbol. */
export function readFor(
  { account, symbols, factor }: Omit<Addressee, 'target'> & { readonly account: Account },
  reading: BodyReading,
  simulation: boolean,
): Judged {
  const follow = account.outOfSync === 'follow';
  const meant = (symbol: string) => symbolFor(account.brokerName, symbols, symbol);
  const read = readSignal(reading, {
    ...{ simulation, follow },
    filledIn: (wish, symbol) => filledIn(account, wish, meant(symbol)),
  });
  const said = 'signal' in read ? read.signal : null;
  const signal = said && symbols !== NO_SYMBOLS ? { ...said, symbol: meant(said.symbol) } : said;
  const refusals: Refused[] = [];
  if ('problem' in read) refusals.push(malformed(read.problem));
  const unkept = signal && (unsupported(account, signal, factor) ?? kindRefusal(account, signal));
  if (unkept) refusals.push({ check: 'payload', denial: unkept, metadata: {} });
  if (signal && !leaves(signal) && !isListed(account, signal)) refusals.push(notAllowed(signal.symbol));
  return { signal, refusals };
}

/** Levels 2 and 3: its age and its secret. In simulation neither is asked for. */
export function unproven(
  deps: JudgeDeps,
  lock: Lock,
  { proof }: BodyReading,
  { simulation, now }: { readonly simulation: boolean; readonly now: number },
): readonly Refused[] {
  if (simulation) return [];
  const { timestamp: said, digest } = proof;
  const attack = said === null ? null : tooOld(deps, said, now, lock.maxRequestAge);
  const refusals = attack ? [attack] : [];
  if (digest === null || !isSecretOf(deps, lock, digest))
    refusals.push({
      check: 'secret',
      denial: deny('webhook_credential_attack'),
      metadata: { attack_type: 'wrong_secret' },
    });
  return refusals;
}

const isListed = ({ brokerName, allowedSymbols }: Account, { symbol }: Signal): boolean =>
  isAllowedSymbol(brokerName, allowedSymbols, symbol);

/** What is taken off the list can still be left: the list holds back entries, and reports. */
const leaves = ({ action, intent }: Signal): boolean => action !== 'sync' && !isEntry(intent);

/** An exit that may open what is missing, as the account follows, needs an entry's rights for that; else it only closes. */
export function intentOf(
  deps: Parameters<typeof refusalOf>[0],
  target: Target,
  signal: Signal,
  simulation: boolean,
): OrderIntent {
  const { intent, action } = signal;
  if (!intent.target || isEntry(intent) || (action !== 'buy' && action !== 'sell')) return intent;
  const entry = { operation: 'PLACE_ENTRY_ORDER', side: action } as const;
  const mayOpen =
    isListed(target.account, signal) && !refusalOf(deps, { ...target, intent: entry, simulation });
  return mayOpen ? intent : { ...intent, target: { ...intent.target, opens: action } };
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
    advice: 'Add it to the account’s allowed symbols, or send one of them.',
  }),
  metadata: { attack_type: 'symbol_not_allowed' },
});

function tooOld(
  { restoredAt = 0 }: JudgeDeps,
  said: number,
  now: number,
  maxRequestAge: number,
): Refused | null {
  const isYoung = isFresh(said, now, maxRequestAge);
  if (isYoung && said > restoredAt) return null;
  return {
    check: 'age',
    denial: deny('webhook_timestamp_expired', {
      advice: isYoung ? beforeRestore(said, restoredAt) : apart(said, now, maxRequestAge),
    }),
    metadata: { attack_type: 'expired_timestamp', request_age_seconds: (now - said) / 1000 },
  };
}

/** Of the same signal, however long ago. */
export const becameBefore = ({ id, submittedAt }: { id: OrderId; submittedAt: Timestamp }): string =>
  `It came before, and became order ${id} of ${submittedAt}. The same signal is executed once.`;

/** What came before is forgotten, so that nobody knows whether it was traded. */
const beforeRestore = (said: number, restoredAt: number): string =>
  `The signal says ${timestamp(said)}, and the service’s data was restored at ${timestamp(restoredAt)}: ` +
  'whether an earlier signal was traded is not known. See what your broker holds, and send a new signal if it is still wanted.';

/** Whose clock is wrong, and by how much, is seen from the two times alone. */
function apart(said: number, now: number, maxRequestAge: number): string {
  const seconds = Math.round(Math.abs(now - said) / 100) / 10;
  return (
    `The signal says ${timestamp(said)}, and this service’s clock said ${timestamp(now)} when it arrived: ` +
    `it is ${seconds} s ${said < now ? 'old' : 'ahead'}, and the account accepts only signals less than ${maxRequestAge} s from that clock. ` +
    ruleOf('webhook_timestamp_expired').advice
  );
}

export const isSecretOf = (
  { secrets }: { readonly secrets: SecretBox },
  { id, webhookSecret }: Pick<Lock, 'id' | 'webhookSecret'>,
  digest: Uint8Array,
): boolean => secrets.opensTo(digest, webhookSecret, id);
