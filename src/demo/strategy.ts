// A strategy as a charting platform runs one: it buys what fell and sells what rose, and its alerts say where it stands. The
// paper market swings around a price, so that more of its trades are won than lost, as long as it is patient.

import type { Chance } from './chance.ts';

/** The price of a symbol at a time. */
export type Chart = (symbol: string, at: number) => number;

/** Without the secret, which is the account's. */
export type Alert = Readonly<Record<string, unknown>>;

export interface Strategy {
  /** Moves against the price of the last `lookbackMs`, or says that it stays where it is. */
  decide(at: number, lookbackMs: number): Alert;
  /** Moves to so many units. */
  moveTo(units: number, at: number): Alert;
  sync(at: number): Alert;
}

/** How long before its arrival a signal is made. */
const ON_ITS_WAY_MS = 400;

export function createStrategy(
  {
    name,
    symbol,
    ticker,
    unit,
  }: { readonly name: string; readonly symbol: string; readonly ticker: string; readonly unit: number },
  { chart, chance }: { readonly chart: Chart; readonly chance: Chance },
): Strategy {
  let units = 0;

  const size = (of: number) => Number((Math.abs(of) * unit).toFixed(8));
  const side = (of: number) => (of === 0 ? 'flat' : of > 0 ? 'long' : 'short');
  const made = (at: number) => {
    const when = at - ON_ITS_WAY_MS;
    return { price: chart(symbol, when), timestamp: new Date(when).toISOString() };
  };

  function moveTo(target: number, at: number): Alert {
    const before = units;
    units = target;
    return {
      action: target > before ? 'buy' : 'sell',
      symbol: ticker,
      quantity: size(target - before),
      market_position: side(target),
      market_position_size: size(target),
      prev_market_position: side(before),
      prev_market_position_size: size(before),
      id: name,
      ...made(at),
    };
  }

  const sync = (at: number): Alert => ({
    action: 'sync',
    symbol: ticker,
    market_position: side(units),
    market_position_size: size(units),
    ...made(at),
  });

  return {
    moveTo,
    sync,
    decide(at, lookbackMs) {
      const fell = chart(symbol, at) < chart(symbol, at - lookbackMs);
      const luck = chance.unit();
      const target = luck < 0.2 ? 0 : (fell ? 1 : -1) * (luck < 0.7 ? 1 : 2);
      return target === units ? sync(at) : moveTo(target, at);
    },
  };
}
