// What a book trades: the paper exchange's own list, or the market of the account's broker, of which a simulation only
// takes the terms and the prices.

import type { Clock } from '../../domain/clock.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { Broker, Instrument, Market, Quote } from '../broker.ts';
import { describe, findListing, isListed, type Listing, listingAbroad, type Path, pathOf } from './market.ts';
import { invalidSymbol } from './rejections.ts';
import { type Moment, type Rules, sessionOf } from './rules.ts';

type Prices = Pick<Moment, 'quotes' | 'path' | 'isQuoted'>;

export interface Venue {
  resolve: Broker['resolve'];
  /** undefined: not listed. */
  listing(instrument: Instrument): Listing | undefined;
  /** Of our own list, and of these. */
  prices(listings: readonly Listing[], signal: AbortSignal): Promise<Prices>;
}

/** One decision asks for the same ones several times. */
function perSymbol<Value>(find: (listing: Listing) => Value): (listing: Listing) => Value {
  const known = new Map<string, Value>();
  return (listing) => {
    const value = known.get(listing.symbol) ?? find(listing);
    known.set(listing.symbol, value);
    return value;
  };
}

/** `last`: what somebody has set the price of a symbol to. */
export const ownVenue = (
  rules: Rules,
  clock: Clock,
  last: (symbol: string) => Decimal | undefined = () => undefined,
): Venue => ({
  async resolve(symbol) {
    const listing = findListing(symbol);
    if (!listing) return { rejection: invalidSymbol(symbol) };
    return describe(listing, clock.now(), sessionOf(listing, rules));
  },
  listing: ({ symbol }) => findListing(symbol),
  async prices() {
    const now = clock.now();
    const path = perSymbol((listing): Path => pathOf(listing, rules.settings.seed, last(listing.symbol)));
    return { quotes: perSymbol((listing) => path(listing).quote(now)), path, isQuoted: () => true };
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
    return {
      quotes: (listing) => (listing.abroad && abroad.get(listing.symbol)) ?? ours.quotes(listing),
      path: (listing) => (listing.abroad ? null : ours.path(listing)),
      isQuoted: ({ abroad: instrument, symbol }) => instrument === null || abroad.has(symbol),
    };
  },
});
