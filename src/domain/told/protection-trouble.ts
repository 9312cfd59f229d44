// What a user has to do about a position whose stop does not stand, or which nobody can look at.

import { BROKERS } from '../brokers.ts';
import { isNotListed, NOT_VERIFIED } from '../protection/credentials.ts';
import type { Protection } from '../protection/protection.ts';
import { isGivenUp } from '../protection/recognise.ts';
import { isUnprotected } from '../protection/told.ts';
import { positionOf, stopped, whyUnprotected } from './protection-words.ts';
import { type Trouble, type TroubledAccount, trouble } from './trouble.ts';

/** Of those that data/orders/protections-troubled.ts finds. null: there is nothing to do. */
export function protectionTrouble(
  protection: Protection,
  account: TroubledAccount,
  now: number,
): Trouble | null {
  const { state, unprotectedSince, seenAt } = protection;
  const about = {
    order_id: protection.setBy,
    trading_account_id: account.id,
    symbol: protection.symbol,
    protection_id: protection.id,
  };
  if (isUnprotected(protection)) {
    const isFoughtOver = state === 'unprotected' && isGivenUp(protection.restoredAt, now);
    return trouble({
      ...about,
      kind: isFoughtOver ? 'protection_not_restored' : 'unprotected',
      since: unprotectedSince,
      title: isFoughtOver
        ? `The stop of ${positionOf(protection)} on ${account.name} is taken away again and again, and not put back any more.`
        : `${capital(positionOf(protection))} on ${account.name} has no stop.`,
      detail: whyUnprotected(protection, isFoughtOver),
    });
  }
  const { title: broker } = BROKERS[account.brokerName];
  if (state === 'armed' || state === 'suspended')
    return trouble({
      ...about,
      kind: 'unprotected',
      since: unprotectedSince ?? seenAt,
      title: `${capital(positionOf(protection))} on ${account.name} may have no stop.`,
      detail:
        `${state === 'armed' ? 'It is to have one' : 'Its stop was taken away for an order'}, and no worker of this service has looked ` +
        `after it since then: whether the stop was placed${state === 'armed' ? '' : ' again'} is not known. ` +
        `Look at the position at ${broker}, and set the stop there or close the position if there is none.`,
    });
  if (state === 'left')
    return trouble({
      ...about,
      kind: 'protection_left',
      since: seenAt,
      title: `The protection of ${positionOf(protection)} on ${account.name} is not being watched.`,
      detail:
        `${protection.reason ?? ''} Check at ${broker}, then resume it: what is in place there counts; ` +
        `what is missing is placed${stopAt(protection)}, and if nothing is held any more, it is removed. Until then nothing is placed, moved or cancelled.`,
    });
  if (state !== 'unwatched') return null;
  return trouble({
    ...about,
    kind: 'protection_unwatched',
    since: seenAt,
    title: `The stop of ${positionOf(protection)} on ${account.name} is not being watched.`,
    detail: whyUnwatched(protection, broker),
  });
}

function whyUnwatched(protection: Protection, broker: string): string {
  const { reason, stop } = protection;
  const stands =
    `The stop${stop ? ` at ${stop.price}` : ''} stands there as it was last seen; ` +
    'it is not moved, resized or put back.';
  if (isNotListed(protection)) return `${stopped(reason ?? '')} ${stands} Look at the position at ${broker}.`;
  const isNew = reason === NOT_VERIFIED;
  const why = isNew ? NOT_VERIFIED : `${broker} refuses the credentials.`;
  return `${why} ${stands} ${isNew ? 'Verify them' : 'Enter new credentials'}, and until they are verified look at it at ${broker}.`;
}

const stopAt = ({ stop }: Protection): string => (stop ? ` (a stop at ${stop.price})` : '');

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
