// What an exchange's refusal means. By its code where the profile knows it; by the kind of error that ccxt has for the code
// where it does not; never by that kind alone: an answer without a code of the exchange's own is no refusal, but unknown.

import type { Meaning, Profile, Refusal } from './profile.ts';
import type { Heard } from './wire.ts';

/** The names of ccxt's classes of errors, from a class up to its ancestors. */
export type Lineage = readonly string[];

/** In this order: the first that is among a class's ancestors. */
const BY_CLASS: readonly (readonly [string, Meaning])[] = [
  ['InsufficientFunds', 'insufficient_margin'],
  ['MarketClosed', 'market_closed'],
  ['OnMaintenance', 'market_closed'],
  ['ContractUnavailable', 'market_closed'],
  ['BadSymbol', 'invalid_symbol'],
  ['OrderNotFound', 'not_found'],
  ['DuplicateOrderId', 'duplicate'],
  ['PermissionDenied', 'permission'],
  ['AccountNotEnabled', 'permission'],
  ['AccountSuspended', 'permission'],
  ['AuthenticationError', 'credentials'],
  ['InvalidNonce', 'clock'],
  ['RateLimitExceeded', 'busy'],
  ['DDoSProtection', 'busy'],
  ['NetworkError', 'unsaid'],
  ['OperationFailed', 'unsaid'],
  ['BadResponse', 'unsaid'],
];

/** A code that nobody knows, in words that promise nothing. */
const DOUBT =
  /time[d ]?[- ]?out|system (?:error|busy|abnormal)|internal|unknown error|try again|server|service/i;

/** null: there is no refusal in the answer that could be believed. */
export function meaningOf(
  heard: Heard,
  profile: Pick<Profile, 'refusal' | 'codes' | 'refusedWithoutCode'>,
  lineageOf: (heard: Heard) => Lineage,
): (Refusal & { readonly meaning: Meaning }) | null {
  const refusal = profile.refusal(heard);
  // Whatever stands in the body: 429 is a refusal, and 418 is the one of who has asked too often for too long.
  const byStatus = heard.status === 429 || heard.status === 418 ? 'busy' : null;
  if (!refusal) {
    const meaning = byStatus ?? profile.refusedWithoutCode?.(heard) ?? null;
    return meaning && { meaning, code: String(heard.status), words: '' };
  }
  const known = Object.hasOwn(profile.codes, refusal.code) ? profile.codes[refusal.code] : undefined;
  const meaning = typeof known === 'function' ? known(refusal.words) : known;
  const isOfAccount = heard.status === 429 && meaning === 'account_busy';
  return {
    ...refusal,
    meaning: isOfAccount ? meaning : (byStatus ?? meaning ?? byKind(heard, refusal, lineageOf)),
  };
}

function byKind(heard: Heard, { words }: Refusal, lineageOf: (heard: Heard) => Lineage): Meaning {
  const lineage = lineageOf(heard);
  const kind = BY_CLASS.find(([name]) => lineage.includes(name))?.[1];
  if (kind) return kind;
  return heard.status >= 500 || DOUBT.test(words) ? 'unsaid' : 'refused';
}
