// What a book trades: the paper exchange's own list, or the market of the account's broker, of which a simulation only
// takes the terms and the prices.

import type { Clock } from '../../domain/clock.ts';
import type { Broker, Instrument, Market, Quote } from '../broker.ts';
import type { Quotes } from './book.ts';
import { invalidSymbol, type Rules, sessionOf } from './engine.ts';
import { describe, findListing, isListed, type Listing, listingAbroad, quote } from './market.ts';

export interface Venue {
  resolve: Broker['resolve'];
  /** undefined: not listed. */
  listing(instrument: Instrument): Listing | undefined;
  /** Of our own list, and of these. */
  prices(listings: readonly Listing[], signal: AbortSignal): Promise<Quotes>;
}

export const ownVenue = (rules: Rules, clock: Clock): Venue => ({
  async resolve(symbol) {
    const listing = findListing(symbol);
    if (!listing) return { rejection: invalidSymbol(symbol) };
    return describe(listing, clock.now(), sessionOf(listing, rules));
  },
  listing: ({ symbol }) => findListing(symbol),
  async prices() {
    const now = clock.now();
    return (listing) => quote(listing, rules.settings.seed, now);
  },
});

/** Where the account's broker can be asked, what it has; our own list where it cannot. */
export const venueAt = (market: Market, own: Venue): Venue => ({
  async resolve(symbol, signal) {
    const found = await market.resolve(symbol, signal);
    if (found === null) return own.resolve(symbol, signal);
    // A simulation has no closing time.
    return 'rejection' in found ? found : { ...found, open: true, nextOpen: null };
  },
  // The paper broker's instruments are those of our own list, and priced apart from its settings.
  listing: (instrument) => (isListed(instrument) ? own.listing(instrument) : listingAbroad(instrument)),
  async prices(listings, signal) {
    const ours = await own.prices([], signal);
    const abroad = new Map<string, Quote>();
    for (const { abroad: instrument } of listings)
      if (instrument) abroad.set(instrument.symbol, await market.quote(instrument, signal));
    return (listing) => (listing.abroad && abroad.get(listing.symbol)) ?? ours(listing);
  },
});
