// With which words the paper exchange says no.

import { type Decimal, sign, ZERO } from '../../domain/decimal.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { Rehearsal } from '../../domain/paper-settings.ts';
import { inCents, type Margin, ownNeed } from './book.ts';
import type { Listing } from './market.ts';
import type { Moment } from './rules.ts';

export const invalidSymbol = (symbol: string): OrderError => ({
  code: 'invalid_symbol',
  message: `The symbol ${symbol} is not found in the broker contracts.`,
});

export const insufficientMargin = ({ needed, available }: Margin): OrderError => ({
  code: 'insufficient_margin',
  message: `Insufficient margin: the order needs ${inCents(needed, 'up')} and ${inCents(
    sign(available) > 0 ? available : ZERO,
    'down',
  )} is available. Add funds, close a position or send a smaller quantity.`,
});

export function marketClosed(listing: Listing, now: number): OrderError {
  const hours = listing.session.hours(now);
  return {
    code: 'market_closed',
    message: `The market for ${listing.symbol} is closed (${hours.session}, ${hours.timezone}). It opens next at ${hours.next_open}.`,
    market_hours: hours,
  };
}

export const RETRY_AFTER_SECONDS = 2;

/** The rejection that the settings ask for, with what belongs to it. */
export function rehearse(
  code: Rehearsal | null,
  quantity: Decimal,
  listing: Listing,
  { quotes, now }: Pick<Moment, 'quotes' | 'now'>,
): OrderError | null {
  switch (code) {
    case null:
      return null;
    case 'insufficient_margin':
      return insufficientMargin({ needed: ownNeed(listing, quantity, quotes), available: ZERO });
    case 'market_closed':
      return marketClosed(listing, now);
    case 'invalid_symbol':
      return invalidSymbol(listing.symbol);
    case 'broker_rate_limited':
      return {
        code,
        message: `The broker limits the rate of requests. Try again in ${RETRY_AFTER_SECONDS} seconds.`,
        retry_after: RETRY_AFTER_SECONDS,
      };
    case 'position_mode_mismatch':
      return {
        code,
        message:
          'The account is in hedge mode at the broker. Switch it to one-way mode there, then try again.',
      };
  }
}
