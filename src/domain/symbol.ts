// Symbols arrive as the charting platform writes them (BINANCE:BTCUSDT.P, ES1!, AAPL); each broker has its own
// reading. Two spellings that are one instrument at the account's broker have one canonical form.

import type { BrokerName } from './brokers.ts';

/** No white space, no control characters: what no instrument's name has and no database must be asked to store. */
export const SYMBOL = /^[^\s\p{C}]{1,64}$/u;
export const isSymbol = (text: string): boolean => SYMBOL.test(text);

const canonical: Record<BrokerName, (symbol: string) => string> = {
  // Takes any EXCHANGE: prefix and .P suffix off, in any case: on paper the perpetual and the spot are one.
  paper: (symbol) =>
    symbol
      .toUpperCase()
      .replace(/^[^:]*:/, '')
      .replace(/\.P$/, ''),
};

export const canonicalSymbol = (broker: BrokerName, symbol: string): string => canonical[broker](symbol);

/** An empty list leaves the decision to the broker. */
export function isAllowedSymbol(broker: BrokerName, allowed: readonly string[], symbol: string): boolean {
  if (allowed.length === 0) return true;
  const wanted = canonicalSymbol(broker, symbol);
  return allowed.some((entry) => canonicalSymbol(broker, entry) === wanted);
}
