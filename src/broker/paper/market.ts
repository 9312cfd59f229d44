// The paper exchange's list of contracts and their prices. A price is a pure function of seed, symbol and time: there
// is no feed to keep, every process sees the same market, and a test can ask for any moment.

import { setImmediate } from 'node:timers/promises';
import Big from 'big.js';
import { type Candle, type CandleSpan, INTERVAL_MS } from '../../domain/candles.ts';
import { type Decimal, decimal, multiply, ZERO } from '../../domain/decimal.ts';
import { timestamp } from '../../domain/ids.ts';
import { type InstrumentSearch, searchInstruments } from '../../domain/instrument-search.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import type { Instrument, Quote } from '../broker.ts';
import { AROUND_THE_CLOCK, type Session, US_STOCKS } from './session.ts';

export interface Listing {
  readonly symbol: string;
  readonly description: string;
  readonly contractSize: Decimal;
  /** What one unit of the quote currency is worth in the book's, the US dollar: fixed, for there is no rate feed. */
  readonly currencyRate: Decimal;
  readonly tickSize: Decimal;
  readonly quantityStep: Decimal;
  readonly minQuantity: Decimal;
  /** Of the traded value. */
  readonly feeRate: Decimal;
  /** Initial margin, of the position's value. */
  readonly marginRate: Decimal;
  readonly basePrice: number;
  /** How far the walk strays from the base price at most, as a part of it. */
  readonly swing: number;
  readonly session: Session;
  /** Of another broker's market, as it was described there; its prices come from there too. */
  readonly abroad: Instrument | null;
}

/** No order and no position may be larger: with the finest step that is 15 digits, which a double carries exactly. */
export const MAX_QUANTITY = decimal(1e9);

const DOLLAR = decimal(1);
const TAIWAN_DOLLAR = decimal('0.03125');

const listing = (
  symbol: string,
  description: string,
  { price, tick, step, size = 1, rate = DOLLAR }: Terms,
  kind: Pick<Listing, 'feeRate' | 'marginRate' | 'swing' | 'session'>,
): Listing => ({
  abroad: null,
  symbol,
  description,
  contractSize: decimal(size),
  currencyRate: rate,
  tickSize: decimal(tick),
  quantityStep: decimal(step),
  minQuantity: decimal(step),
  basePrice: price,
  ...kind,
});

interface Terms {
  readonly price: number;
  readonly tick: number;
  readonly step: number;
  readonly size?: number;
  readonly rate?: Decimal;
}

// The margin rates let the default 100,000 hold one of each at the same time.
const CRYPTO = {
  feeRate: decimal('0.0005'),
  marginRate: decimal('0.05'),
  swing: 0.08,
  session: AROUND_THE_CLOCK,
};
const FUTURE = {
  feeRate: decimal('0.00002'),
  marginRate: decimal('0.05'),
  swing: 0.03,
  session: AROUND_THE_CLOCK,
};
const STOCK = { feeRate: decimal('0.0001'), marginRate: decimal('0.5'), swing: 0.06, session: US_STOCKS };

const LISTINGS: readonly Listing[] = [
  listing('BTCUSDT', 'Bitcoin / Tether', { price: 100_000, tick: 0.1, step: 0.00001 }, CRYPTO),
  listing('ETHUSDT', 'Ether / Tether', { price: 3500, tick: 0.01, step: 0.0001 }, CRYPTO),
  listing('SOLUSDT', 'Solana / Tether', { price: 180, tick: 0.01, step: 0.001 }, CRYPTO),
  listing('BNBUSDT', 'BNB / Tether', { price: 650, tick: 0.01, step: 0.001 }, CRYPTO),
  listing('XRPUSDT', 'XRP / Tether', { price: 2.2, tick: 0.0001, step: 0.1 }, CRYPTO),
  listing('DOGEUSDT', 'Dogecoin / Tether', { price: 0.2, tick: 0.00001, step: 1 }, CRYPTO),
  listing('ADAUSDT', 'Cardano / Tether', { price: 0.8, tick: 0.0001, step: 1 }, CRYPTO),
  listing('LINKUSDT', 'Chainlink / Tether', { price: 18, tick: 0.001, step: 0.01 }, CRYPTO),
  listing('AVAXUSDT', 'Avalanche / Tether', { price: 30, tick: 0.001, step: 0.01 }, CRYPTO),
  listing('LTCUSDT', 'Litecoin / Tether', { price: 110, tick: 0.01, step: 0.001 }, CRYPTO),
  listing('ES1!', 'E-mini S&P 500, front month', { price: 6000, tick: 0.25, step: 1, size: 50 }, FUTURE),
  listing(
    'MES1!',
    'Micro E-mini S&P 500, front month',
    { price: 6000, tick: 0.25, step: 1, size: 5 },
    FUTURE,
  ),
  listing('NQ1!', 'E-mini Nasdaq-100, front month', { price: 21_000, tick: 0.25, step: 1, size: 20 }, FUTURE),
  listing('CL1!', 'WTI crude oil, front month', { price: 70, tick: 0.01, step: 1, size: 1000 }, FUTURE),
  listing('GC1!', 'Gold, front month', { price: 2700, tick: 0.1, step: 1, size: 100 }, FUTURE),
  listing(
    'TXF1!',
    'TAIEX futures, front month',
    { price: 22_000, tick: 1, step: 1, size: 200, rate: TAIWAN_DOLLAR },
    FUTURE,
  ),
  listing('AAPL', 'Apple Inc.', { price: 230, tick: 0.01, step: 0.001 }, STOCK),
  listing('MSFT', 'Microsoft Corporation', { price: 430, tick: 0.01, step: 0.001 }, STOCK),
  listing('NVDA', 'NVIDIA Corporation', { price: 140, tick: 0.01, step: 0.001 }, STOCK),
  listing('TSLA', 'Tesla, Inc.', { price: 300, tick: 0.01, step: 0.001 }, STOCK),
];

const BY_SYMBOL: ReadonlyMap<string, Listing> = new Map(LISTINGS.map((listing) => [listing.symbol, listing]));
const BY_NAME: readonly Listing[] = LISTINGS.toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1));

/** By the platform's symbol, or by our own. */
export const findListing = (symbol: string): Listing | undefined =>
  BY_SYMBOL.get(canonicalSymbol('paper', symbol));

/** Whether it is of our own list, and not only of the same name. */
export function isListed(instrument: Instrument): boolean {
  const listing = BY_SYMBOL.get(instrument.symbol);
  return listing !== undefined && TERMS.every((term) => listing[term] === instrument[term]);
}

const TERMS = ['description', 'contractSize', 'quantityStep', 'minQuantity', 'tickSize'] as const;

/** What is not known of it costs nothing: it is only thought of. */
export function listingAbroad(instrument: Instrument): Listing {
  const { symbol, description, contractSize, quantityStep, minQuantity, tickSize } = instrument;
  const terms = { symbol, description, contractSize, quantityStep, minQuantity, tickSize };
  const free = { currencyRate: DOLLAR, feeRate: ZERO, marginRate: ZERO };
  return { ...terms, ...free, basePrice: 0, swing: 0, session: AROUND_THE_CLOCK, abroad: instrument };
}

export const searchListings = (search: InstrumentSearch): readonly Listing[] =>
  searchInstruments(BY_NAME, search);

export function describe(listing: Listing, now: number, session: Session = listing.session): Instrument {
  const { symbol, description, contractSize, currencyRate, quantityStep, minQuantity, tickSize } = listing;
  const open = session.isOpen(now);
  const nextOpen = open ? null : timestamp(session.nextOpen(now));
  const terms = { symbol, description, contractSize, currencyRate, quantityStep, minQuantity, tickSize };
  return { ...terms, open, nextOpen };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Slow waves carry far, fast ones ripple; the weights add up to 1. */
const WAVES: readonly { readonly period: number; readonly weight: number }[] = [
  { period: 30 * 24 * HOUR, weight: 0.55 },
  { period: 2 * 24 * HOUR, weight: 0.25 },
  { period: 3 * HOUR, weight: 0.12 },
  { period: 10 * MINUTE, weight: 0.06 },
  { period: 20 * SECOND, weight: 0.02 },
];

/** A price from the first moment to the last, whichever is asked for. In ticks: whole numbers. */
export interface Path {
  /** The last price, which is the bid. */
  bid(at: number): number;
  ask(at: number): number;
  quote(at: number): Quote;
}

/** Floats draw the walk; what comes out is a whole number of ticks, exactly. `last`: somebody has set the price. */
export function pathOf(listing: Listing, seed: number, last?: Decimal): Path {
  const { symbol, tickSize, basePrice, swing } = listing;
  const waves = WAVES.map(({ period, weight }, index) => ({
    period,
    weight,
    noise: noise(`${seed}:${symbol}:${index}`),
  }));
  const set = last === undefined ? null : Math.max(1, Number(new Big(last).div(tickSize).toFixed(0)));
  const bid = (at: number): number => {
    if (set !== null) return set;
    let walk = 0;
    for (const { period, weight, noise } of waves) walk += weight * noise(at / period);
    return Math.round((basePrice * (1 + swing * walk)) / Number(tickSize));
  };
  const spread = (at: number): number =>
    1 + Math.floor(3 * unit(`${seed}:${symbol}:spread:${Math.floor(at / SECOND)}`));
  return {
    bid,
    ask: (at) => bid(at) + spread(at),
    quote(at) {
      const ticks = bid(at);
      return { bid: onTick(listing, ticks), ask: onTick(listing, ticks + spread(at)) };
    },
  };
}

const onTick = ({ tickSize }: Listing, ticks: number): Decimal => multiply(tickSize, decimal(`${ticks}`));

/** How often a price is looked at for one candle. */
const LOOKS = 8;
/** Then whoever trades in this process has its turn. */
const CANDLES_AT_ONCE = 50;

/**
 * The bids along its path. What opens and closes a candle is the quote of that very moment; its high and low are of moments evenly
 * between, so that a quote which nobody looked at may be a little beyond them. What is over never changes: nothing of it is kept.
 */
export async function candlesOf(
  listing: Listing,
  path: Pick<Path, 'bid'>,
  { interval, from, to }: CandleSpan,
  now: number,
): Promise<Candle[]> {
  const each = INTERVAL_MS[interval];
  const candles: Candle[] = [];
  // What closes one opens the next.
  let last = path.bid(from);
  let close = onTick(listing, last);
  for (let at = from; at < Math.min(to, now); at += each) {
    const lasts = Math.min(each, now - at);
    const open = close;
    let [high, low] = [last, last];
    for (let look = 1; look <= LOOKS; look++) {
      last = path.bid(at + (lasts * look) / LOOKS);
      if (last > high) high = last;
      if (last < low) low = last;
    }
    close = onTick(listing, last);
    candles.push({ at, open, high: onTick(listing, high), low: onTick(listing, low), close });
    if (candles.length % CANDLES_AT_ONCE === 0) await setImmediate();
  }
  return candles;
}

export const quote = (listing: Listing, seed: number, now: number, last?: Decimal): Quote =>
  pathOf(listing, seed, last).quote(now);

/** Between -1 and 1: hashed values at the whole numbers, smoothly joined. Who goes along it asks for each of them once. */
function noise(key: string): (at: number) => number {
  const begun = hashed(`${key}:`);
  const value = (cell: number): number => finished(hashed(`${cell}`, begun));
  let cell = Number.NaN;
  let [left, right] = [0, 0];
  return (at) => {
    const floor = Math.floor(at);
    if (floor !== cell) {
      left = floor === cell + 1 ? right : value(floor);
      right = value(floor + 1);
      cell = floor;
    }
    const part = at - cell;
    const eased = part * part * (3 - 2 * part);
    return 2 * (left + (right - left) * eased) - 1;
  };
}

/** From 0 up to, and never, 1; the same for the same key everywhere. */
export const unit = (key: string): number => finished(hashed(key));

/** FNV-1a, which goes on with what follows from where it has come. */
function hashed(text: string, begun = 0x811c9dc5): number {
  let hash = begun;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

/** Mixes the last bytes in. */
function finished(begun: number): number {
  let hash = Math.imul(begun ^ (begun >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
