// What a user has to do, or has to know: each thing once, as a whole sentence with its figures, the worst first. Red is for
// money that is, or may be, where neither the user nor the strategy knows; amber for what somebody has to do.

import { BROKERS, type BrokerName } from '../brokers.ts';
import { ZERO } from '../decimal.ts';
import type { AccountId, OrderId, Timestamp } from '../ids.ts';
import { isHalfDone } from '../orders/half-done.ts';
import { type Leg, mainLeg, type Order } from '../orders/order.ts';
import { sizeSaid } from '../orders/sizing.ts';

/** The worst first. */
export const TROUBLES = [
  'dead_letter',
  'unknown_order',
  'unprotected',
  'protection_not_restored',
  'failed_reversal',
  'drift_excess',
  'drift_missing',
  'protection_unwatched',
  'protection_left',
  'credentials_refused',
  'credentials_not_verified',
  'credentials_missing',
  'terms_not_accepted',
  'silence',
  'key_can_withdraw',
  'notification_dead',
] as const;
type TroubleKind = (typeof TROUBLES)[number];

/** What it is called when it is over. */
export const ENDED_KINDS = [
  'unknown_order',
  'unprotected',
  'failed_reversal',
  'drift',
  'credentials',
  'terms',
  'silence',
] as const;
export type EndedKind = (typeof ENDED_KINDS)[number];

export const SEVERITIES = ['risk', 'act'] as const;

const AT_RISK: ReadonlySet<TroubleKind> = new Set([
  'dead_letter',
  'unknown_order',
  'unprotected',
  'protection_not_restored',
  'failed_reversal',
  'drift_excess',
]);

export interface Trouble {
  readonly kind: TroubleKind;
  readonly severity: (typeof SEVERITIES)[number];
  readonly since: Timestamp | null;
  readonly title: string;
  readonly detail: string;
  readonly order_id?: OrderId;
  readonly trading_account_id?: AccountId;
  readonly symbol?: string;
  readonly protection_id?: string;
  readonly strategy_position?: number;
  readonly broker_position?: number | null;
  readonly attempts?: number;
  readonly most_attempts?: number;
  readonly next_at?: Timestamp | null;
}

type Told = Omit<Trouble, 'severity'>;
export const trouble = (told: Told): Trouble => ({
  ...told,
  severity: AT_RISK.has(told.kind) ? 'risk' : 'act',
});

/** Those of one kind as they came; what began at no known time comes last. */
export const worstFirst = (troubles: readonly Trouble[]): Trouble[] =>
  troubles.toSorted(
    (a, b) =>
      TROUBLES.indexOf(a.kind) - TROUBLES.indexOf(b.kind) ||
      (a.since ?? LATEST).localeCompare(b.since ?? LATEST),
  );
const LATEST = '9999';

/** An account as far as its troubles need it. */
export interface TroubledAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly brokerName: BrokerName;
}

// Orders

/** How an order's fill is followed up. */
export interface Following {
  readonly attempts: number;
  readonly mostAttempts: number;
  /** null: nobody asks any more. */
  readonly nextAt: Timestamp | null;
  readonly lastReason: string | null;
}

const aboutOrder = (order: Order) => ({
  since: order.submittedAt,
  order_id: order.id,
  trading_account_id: order.accountId,
  symbol: order.symbol,
});

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export function unknownOrder(order: Order, account: TroubledAccount, following: Following): Trouble {
  const { title: broker } = BROKERS[account.brokerName];
  const { attempts, mostAttempts, nextAt } = following;
  const about = { kind: 'unknown_order', ...aboutOrder(order) } as const;
  const tries = { attempts, most_attempts: mostAttempts, next_at: nextAt };
  // It has no leg: it waited in a restored backup, and says itself what to look for.
  if (nextAt === null)
    return trouble({
      ...about,
      ...tries,
      title: `Is ${asked(order)} or not? On ${account.name} nobody knows.`,
      detail:
        `${order.error?.message ?? ''} Nobody asks ${broker} about it by itself: check there, and record on its story what became of it.`.trim(),
    });
  return trouble({
    ...about,
    ...tries,
    title: `Is ${asked(order)} or not? On ${account.name} the answer was lost.`,
    detail:
      `${closedBefore(order)}The answer of ${broker} to ${sent(order)} was lost. The order is not sent again. ` +
      `${broker} is asked what became of it: ${attempts} of ${mostAttempts} tries made.`,
  });
}

export function deadLetter(order: Order, account: TroubledAccount, following: Following): Trouble {
  const { attempts, mostAttempts, lastReason } = following;
  const reason = lastReason === null ? '' : `, the last time because ${lastReason.replace(/[.\s]+$/, '')}`;
  return trouble({
    kind: 'dead_letter',
    ...aboutOrder(order),
    title: `Is ${asked(order)} or not? On ${account.name} it could not be found out.`,
    detail:
      `${closedBefore(order)}${BROKERS[account.brokerName].title} was asked ${times(attempts)} and could not say how it ended${reason}. ` +
      `It is shown as ${order.status}, as it was last seen, and nobody asks again by itself. Look now, or check at your broker and record on its story what became of it.`,
    attempts,
    most_attempts: mostAttempts,
    next_at: null,
  });
}

/** The account is not where the signal wanted it: flat, or as it was before, or in between. */
export const failedReversal = (order: Order, account: TroubledAccount): Trouble =>
  trouble({
    kind: 'failed_reversal',
    ...aboutOrder(order),
    title: isHalfDone(order)
      ? `${order.symbol} on ${account.name} was closed, but not reversed.`
      : `${order.symbol} on ${account.name} was to be reversed, but is not.`,
    detail: isHalfDone(order)
      ? `${closedBefore(order)}The entry, ${sent(order)}, is ${openedOf(order)}. ${order.error?.message ?? ''}`.trim()
      : (order.error?.message ?? 'The close was sent, the entry was not.'),
  });

/** Of a reversal's entry. */
function openedOf(order: Order): string {
  const filled = mainLeg(order)?.fillQuantity ?? ZERO;
  return filled === ZERO ? 'not' : `filled for ${filled} only`;
}

/** "0.2 BTCUSDT.P sold" */
function asked(order: Order): string {
  const leg = mainLeg(order);
  const done = leg === undefined ? 'traded' : leg.side === 'buy' ? 'bought' : 'sold';
  return `${leg?.quantity ?? sizeSaid(order)} ${order.symbol} ${done}`;
}

const sent = (order: Order): string => {
  const leg = mainLeg(order);
  return leg ? `${leg.side} ${leg.quantity}` : order.action;
};

/** Of a reversal whose close is known. */
const closedBefore = (order: Order): string =>
  order.legs
    .filter((leg) => leg !== mainLeg(order) && leg.status === 'filled')
    .map((close) => `The close, ${close.side} ${close.quantity}, is filled${at(close)}. `)
    .join('');

const at = ({ fillPrice }: Leg): string => (fillPrice === null ? '' : ` at ${fillPrice}`);

// Accounts

export type CredentialsState = 'verified' | 'refused' | 'not_verified' | 'missing';

export function credentialsState(account: {
  readonly verified: boolean;
  readonly hasCredentials: boolean;
  readonly checkedAt: Timestamp | null;
}): CredentialsState {
  if (account.verified) return 'verified';
  if (!account.hasCredentials) return 'missing';
  return account.checkedAt === null ? 'not_verified' : 'refused';
}

export function credentialsTrouble(
  account: TroubledAccount,
  found: {
    readonly state: CredentialsState;
    readonly since: Timestamp | null;
    /** So many signals since then. */
    readonly refused: number;
    /** They were verified before: who gets out is let through. */
    readonly wereGood: boolean;
  },
): Trouble | null {
  const { state, since, refused, wereGood } = found;
  if (state === 'verified') return null;
  const about = { since, trading_account_id: account.id };
  const { title: broker } = BROKERS[account.brokerName];
  if (state === 'missing')
    return trouble({
      ...about,
      kind: 'credentials_missing',
      title: `${account.name} has no credentials yet.`,
      detail: `Enter those of ${broker}. Until then only simulated orders are accepted.`,
    });
  if (state === 'not_verified')
    return trouble({
      ...about,
      kind: 'credentials_not_verified',
      title: `${account.name}: the credentials are not verified.`,
      detail: `Verify them at ${broker}. Until then only simulated orders are accepted.`,
    });
  const signals =
    refused === 0 ? '' : `${refused} ${refused === 1 ? 'signal was' : 'signals were'} refused since. `;
  return trouble({
    ...about,
    kind: 'credentials_refused',
    title: `${account.name}: the broker refuses the credentials.`,
    detail: wereGood
      ? `${signals}Entries are refused until credentials are verified. Exits, closes and flatten are still tried at ${broker}, once each.`
      : `${signals}Nothing from this account can be sent to ${broker} until new ones are verified.`,
  });
}

export const silence = (
  account: TroubledAccount,
  { since, lastAt, silenceAfter }: { since: Timestamp; lastAt: Timestamp | null; silenceAfter: number },
): Trouble =>
  trouble({
    kind: 'silence',
    since: lastAt ?? since,
    trading_account_id: account.id,
    title: `${account.name}: no signal has come for a while.`,
    detail: `No genuine signal has come for more than ${span(silenceAfter)}. Check whether the alert is still active on the charting platform.`,
  });

/** Of seconds, for a person. */
export function span(seconds: number): string {
  if (seconds % 3600 === 0) return seconds === 3600 ? 'an hour' : `${seconds / 3600} hours`;
  if (seconds % 60 === 0) return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`;
  return `${seconds} seconds`;
}

/** By the broker's warnings when the key was verified. */
export function withdrawalTrouble(
  account: TroubledAccount,
  { since, warnings }: { readonly since: Timestamp | null; readonly warnings: readonly string[] },
): Trouble | null {
  const warning = warnings.find((text) => /\bcan withdraw\b/.test(text));
  if (warning === undefined) return null;
  return trouble({
    kind: 'key_can_withdraw',
    since,
    trading_account_id: account.id,
    title: `${account.name}: a key can withdraw.`,
    detail: `Fillpath never withdraws. ${warning}`,
  });
}

/** `lastError` is ours; the name its owner's, who may have laid it out over lines. */
export const deadDestination = ({
  name,
  since,
  lastError,
}: {
  readonly name: string;
  readonly since: Timestamp;
  readonly lastError: string | null;
}): Trouble =>
  trouble({
    kind: 'notification_dead',
    since,
    title: `Notifications no longer arrive at ${name.replace(/\s+/g, ' ')}.`,
    detail: `${lastError ?? 'Nothing could be delivered there for a day.'} Send a test there, or remove it; trading is not affected.`,
  });

export const termsTrouble = ({
  version,
  publishedAt,
}: {
  readonly version: string;
  readonly publishedAt: Timestamp;
}): Trouble =>
  trouble({
    kind: 'terms_not_accepted',
    since: publishedAt,
    title: 'The current terms of service are not accepted.',
    detail: `Read version ${version} and accept it. Until then real entries are refused.`,
  });
