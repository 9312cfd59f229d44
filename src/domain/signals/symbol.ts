// Symbols as the charting platform writes them: BINANCE:BTCUSDT.P, TAIFEX_DLY:TXF1!, AAPL. Only the spelling is read here;
// what it means at a broker is its connector's to say. Two spellings that are one instrument at the account's broker have
// one canonical form there.

import { BROKERS, type BrokerName } from '../brokers.ts';

/** No white space, no control characters: what no instrument's name has and no database must be asked to store. */
export const SYMBOL = /^[^\s\p{C}]{1,64}$/u;
export const isSymbol = (text: string): boolean => SYMBOL.test(text);

type Market =
  | { readonly kind: 'spot' }
  /** `.P` */
  | { readonly kind: 'perpetual' }
  /** `1!` is the front month, `2!` the one after it. */
  | { readonly kind: 'continuous'; readonly month: number };

/** All in upper case. */
export interface PlatformSymbol {
  /** Whose chart it is; null: not named. */
  readonly exchange: string | null;
  /** The chart shows delayed data: the exchange is written with `_DL` or `_DLY`. The instrument is the same. */
  readonly isDelayed: boolean;
  /** Without what the market adds to it. */
  readonly ticker: string;
  readonly market: Market;
}

const SPELLING = /^(?:(?<exchange>[^:]*?)(?<delayed>_DLY?)?:)?(?<name>.*)$/s;

export function readSymbol(symbol: string): PlatformSymbol {
  const { exchange, delayed, name = '' } = SPELLING.exec(symbol.toUpperCase())?.groups ?? {};
  return { exchange: exchange ?? null, isDelayed: delayed !== undefined, ...readName(name) };
}

function readName(name: string): Pick<PlatformSymbol, 'ticker' | 'market'> {
  if (name.endsWith('.P')) return { ticker: name.slice(0, -2), market: { kind: 'perpetual' } };
  const [, ticker, month] = /^(.+)([1-9])!$/s.exec(name) ?? [];
  return ticker === undefined
    ? { ticker: name, market: { kind: 'spot' } }
    : { ticker, market: { kind: 'continuous', month: Number(month) } };
}

export function canonicalSymbol(broker: BrokerName, symbol: string): string {
  const { ticker, market } = readSymbol(symbol);
  switch (market.kind) {
    case 'spot':
      return ticker;
    case 'perpetual':
      return BROKERS[broker].quirks.perpetualIsSpot ? ticker : `${ticker}.P`;
    case 'continuous':
      return `${ticker}${market.month}!`;
  }
}

/** An empty list leaves the decision to the broker. */
export function isAllowedSymbol(broker: BrokerName, allowed: readonly string[], symbol: string): boolean {
  if (allowed.length === 0) return true;
  const wanted = canonicalSymbol(broker, symbol);
  return allowed.some((entry) => canonicalSymbol(broker, entry) === wanted);
}

/** A continuous future: what it means changes with the months. */
export const rolls = (symbol: string): boolean => symbol.endsWith('!');
