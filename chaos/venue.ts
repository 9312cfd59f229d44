// Where the accounts of a run trade: at the paper exchange, or at the same exchange in a broker's language, with that
// broker's connector in front of it. Everything else of a run is the same.

import { CompactEncrypt, importJWK } from 'jose';
import { findListing } from '../src/broker/paper/market.ts';
import { wordOf } from '../src/broker/shioaji/recognise.ts';
import { BROKERS, type BrokerName } from '../src/domain/brokers.ts';
import type { TimeInForce } from '../src/domain/capabilities.ts';
import {
  type PublicJwk,
  SEAL_ALGORITHM,
  SEAL_ENCRYPTION,
  sealingKey,
} from '../src/domain/identity/sealed.ts';
import type { AccountId, ClientOrderId, UserId } from '../src/domain/ids.ts';
import { canonicalSymbol, readSymbol } from '../src/domain/signals/symbol.ts';
import { SYMBOLS } from '../test/orders/kill-harness.ts';
import { stubOf } from '../test/stubs/stubs.ts';
import { PLAIN, type Traits } from './exchange-traits.ts';

export interface Venue {
  readonly broker: BrokerName;
  readonly isPaper: boolean;
  /** As the platform writes them. */
  readonly symbols: readonly string[];
  /** Quantities are multiples of it. */
  readonly unit: number;
  /** As it is with its users nearby. */
  readonly near: Traits;
  /** As it is with the others: what it takes is filled a moment later. */
  readonly far: Traits;
  /** Their second accounts are different again. */
  readonly second: { readonly near: Partial<Traits>; readonly far: Partial<Traits> };
  /** The engine's listing behind a symbol of ours. */
  listingOf(symbol: string): string;
  /** What the exchange knows a leg by; null: by our own id. */
  readonly nameOf: ((clientOrderId: ClientOrderId) => string) | null;
  /** It refuses what arrives later than it is told. */
  readonly refusesLate: boolean;
  /** How positions are protected there; null: they are not. */
  readonly stops: Stops | null;
  /** Entries wait there for a price. */
  readonly letsRest: boolean;
  /** Those that become orders once the price is there. */
  readonly stopEntries: boolean;
  readonly timesInForce: readonly TimeInForce[];
  /** Prices of a listing are multiples of it. */
  tickOf(listing: string): number;
  /** What the exchange is told of an account, besides its manners. */
  terms(account: AccountId, index: number): object;
  /** The credentials of an account, as its user seals them; null: it needs none. */
  seal(owner: { readonly id: AccountId; readonly userId: UserId }, key: PublicJwk): Promise<string | null>;
}

interface Stops {
  /** Of accounts that protect, in turn. */
  readonly kinds: readonly Partial<Traits>[];
  /** Of those without reduce-only. */
  readonly reserving: readonly Partial<Traits>[];
  /** Quantities of an account that protects are multiples of it, and above `least`. */
  readonly unit: number;
  readonly least: number;
}

const LIKE_BINANCE: Partial<Traits> = {
  manners: { secondStop: 'beside', endsWithPosition: false, stopsNeedPosition: false },
  able: { stop: 'sized', moves: 'replace' },
};
const LIKE_BYBIT: Partial<Traits> = {
  manners: { secondStop: 'instead' },
  able: { stop: 'position', moves: 'set' },
};
const LIKE_OKX: Partial<Traits> = { able: { stop: 'position', moves: 'amend' } };
const LIKE_ALPACA: Partial<Traits> = {
  reduceOnly: false,
  manners: { reserves: true, endsWithPosition: false, stopsNeedPosition: false },
  able: { stop: 'sized', moves: 'amend' },
};

/**
 * As most real exchanges are: an id is all that is answered, the fill comes a moment later, a second order under the same
 * id is a second order, ids are forgotten in time, and all accounts are counted together when it is too much.
 */
const DISTANT: Traits = {
  refusesDuplicates: false,
  reduceOnly: true,
  fillsAfterMs: { least: 50, most: 1_500 },
  forgetsIdsAfterMs: { least: 40_000, most: 60_000 },
  limits: 'the distant exchange',
};

const ON_PAPER: Venue = {
  broker: 'paper',
  isPaper: true,
  symbols: SYMBOLS,
  unit: 0.001,
  near: PLAIN,
  far: DISTANT,
  second: { near: { refusesDuplicates: false }, far: { reduceOnly: false } },
  listingOf: (symbol) => canonicalSymbol('paper', symbol),
  nameOf: null,
  refusesLate: true,
  stops: {
    kinds: [LIKE_BINANCE, LIKE_ALPACA, LIKE_OKX, LIKE_BYBIT],
    reserving: [LIKE_ALPACA],
    unit: 0.001,
    least: 0,
  },
  letsRest: true,
  stopEntries: true,
  // What is traded there has no sessions.
  timesInForce: ['gtc', 'ioc', 'fok'],
  tickOf: (listing) => Number(findListing(listing)?.tickSize ?? 1),
  terms: () => ({}),
  seal: async () => null,
};

type Market = Pick<Venue, 'symbols' | 'unit' | 'nameOf' | 'refusesLate'> & {
  /** Of symbols that are not themselves on the wire. */
  readonly listings: Readonly<Record<string, string>>;
};

const MARKETS: Readonly<Record<string, Market>> = {
  alpaca: {
    symbols: ['AAPL', 'NASDAQ:MSFT', 'NASDAQ:AMZN'],
    unit: 0.001,
    nameOf: null,
    refusesLate: false,
    listings: {},
  },
  shioaji: {
    symbols: ['TAIFEX:TXF1!', 'MXF1!'],
    unit: 1,
    nameOf: wordOf,
    refusesLate: false,
    listings: { 'TXF1!': 'TXF1!', 'MXF1!': 'MES1!' },
  },
};

const perpetuals = (exchange: string): Market => ({
  symbols: ['BTCUSDT.P', 'ETHUSDT.P', `${exchange.toUpperCase()}:SOLUSDT.P`],
  unit: 0.001,
  nameOf: null,
  refusesLate: true,
  listings: {},
});

export async function venueOf(name: string): Promise<Venue> {
  if (name === 'paper') return ON_PAPER;
  const { traits, markets } = await stubOf(name);
  const broker = name as BrokerName;
  const { capabilities: able } = BROKERS[broker];
  const { listings, ...market } = MARKETS[name] ?? perpetuals(name);
  return {
    broker,
    isPaper: false,
    stops: stopsAt(broker, market.unit),
    letsRest: able.timeInForce.length > 0,
    stopEntries: able.stopEntries,
    timesInForce: able.timeInForce,
    tickOf: (listing) =>
      Math.max(
        Number(findListing(listing)?.tickSize ?? 0),
        Number(markets?.find((each) => each.of === listing && !each.isSuspended)?.tick ?? 0),
      ),
    ...market,
    near: { ...traits, limits: name, fillsAfterMs: null },
    far: { ...traits, limits: name, fillsAfterMs: { least: 50, most: 1_500 } },
    // An order under a known id is taken, or refused while the first is open, as the broker pleases.
    second: { near: {}, far: {} },
    listingOf(symbol) {
      const { ticker } = readSymbol(symbol);
      const own = canonicalSymbol('paper', symbol);
      return listings[own] ?? markets?.find((each) => each.symbol === ticker)?.of ?? own;
    },
    terms: (account, index) => ({
      credentials: credentialsOf(broker, account),
      account_type: index % 2 === 1 && HAS_CLASSIC.has(name) ? 'classic' : 'unified',
    }),
    async seal({ id, userId }, key) {
      const credentials = credentialsOf(broker, id);
      const content = { user_id: userId, trading_account_id: id, credentials };
      const { kid } = sealingKey(key);
      return new CompactEncrypt(Buffer.from(JSON.stringify(content)))
        .setProtectedHeader({ alg: SEAL_ALGORITHM, enc: SEAL_ENCRYPTION, kid })
        .encrypt(await importJWK({ ...key }, SEAL_ALGORITHM));
    },
  };
}

/** Whole quantities where it takes stops for no others: apart from all that are not whole. */
function stopsAt(broker: BrokerName, unit: number): Stops | null {
  const { stop, wholeStops } = BROKERS[broker].capabilities;
  if (stop === 'none') return null;
  const quantities = wholeStops ? { unit: 1, least: 100_000 } : { unit, least: 0 };
  return { kinds: [{}], reserving: [{}], ...quantities };
}

/** Accounts of both types trade there. */
const HAS_CLASSIC: ReadonlySet<string> = new Set(['bybit', 'gate', 'bitget']);

const credentialsOf = (broker: BrokerName, account: AccountId): Record<string, string> =>
  Object.fromEntries(BROKERS[broker].credentials.map(({ field }) => [field, `${field}-${account}`]));
