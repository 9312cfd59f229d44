// The prices of the account whose positions are protected: set by the demo, and by nobody else.

/** Where the account's prices begin; each symbol has its part. */
export const FIRST_PRICES = {
  /** Reaches its first target, and then its stop stands at the entry. */
  XRPUSDT: 2.2,
  /** Its stop follows the price until it turns. */
  SOLUSDT: 180,
  /** Is stopped out. */
  LTCUSDT: 110,
  /** Is waited for by an entry that rests. */
  ADAUSDT: 0.8,
} as const;
export type PricedSymbol = keyof typeof FIRST_PRICES;

/** The account's market: it outlives a start of the service, as the account's settings do. */
export interface Market {
  /** By a part of it; all of the prices then. */
  move(symbol: PricedSymbol, part: number): Readonly<Record<PricedSymbol, number>>;
  price(symbol: PricedSymbol): number;
}

export function createMarket(): Market {
  const prices: Record<PricedSymbol, number> = { ...FIRST_PRICES };
  return {
    price: (symbol) => prices[symbol],
    move(symbol, part) {
      prices[symbol] = Number((prices[symbol] * (1 + part)).toPrecision(6));
      return { ...prices };
    },
  };
}
