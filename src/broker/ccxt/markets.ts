// An exchange's perpetuals, once per process: loaded by whoever comes first while the others wait, looked through anew once a
// day and where a symbol is missing, and shared by all its users.

import Big from 'big.js';
import { absolute, type Decimal, decimal } from '../../domain/decimal.ts';
import { didYouMean, nearest } from '../../domain/nearest.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import { readSymbol } from '../../domain/signals/symbol.ts';
import { createShared } from '../shared.ts';
import type { Exchange } from './exchange.ts';
import type { Listed, Market } from './listing.ts';
import type { CcxtMarket } from './profile.ts';

export interface Markets {
  /** Those known; loads them where nobody has. */
  all(signal: AbortSignal): Promise<MarketList>;
  /** Looked through anew, unless that was a moment ago. */
  fresh(signal: AbortSignal): Promise<MarketList>;
}

export interface MarketList {
  /** By the name that an alert can send. */
  readonly byName: ReadonlyMap<string, Market>;
  readonly byId: ReadonlyMap<string, Market>;
  /** The ids of all that the exchange lists, of those too that are not traded here. */
  readonly listed: ReadonlySet<string>;
  /** In order. */
  readonly names: readonly string[];
}

const DAY_MS = 24 * 60 * 60_000;
const SOONEST_MS = 60_000;

export function createMarkets(exchange: Exchange, told: (fault: unknown) => unknown): Markets {
  const shared = createShared<MarketList>();
  let list: MarketList | null = null;
  let loadedAt = 0;

  async function load(signal: AbortSignal): Promise<MarketList> {
    try {
      list = listOf(await exchange.listMarkets(signal));
      loadedAt = performance.now();
      return list;
    } catch (fault) {
      throw told(fault);
    }
  }

  const get = (maxAgeMs: number, signal: AbortSignal) => shared.get('', load, { signal, maxAgeMs });

  return {
    async all(signal) {
      if (!list) return get(DAY_MS, signal);
      // Meanwhile the old ones are good.
      if (performance.now() - loadedAt > DAY_MS) get(DAY_MS, AbortSignal.timeout(SOONEST_MS)).catch(() => {});
      return list;
    },
    fresh: (signal) => get(SOONEST_MS, signal),
  };
}

const listOf = ({ markets, ids }: Pick<Listed, 'markets' | 'ids'>): MarketList => ({
  byName: new Map(markets.map((market) => [market.instrument.symbol, market])),
  byId: new Map(markets.map((market) => [market.id, market])),
  listed: new Set(ids),
  names: markets.map(({ instrument }) => instrument.symbol),
});

export function findMarket({ byName }: MarketList, symbol: string): Market | undefined {
  const { ticker, market } = readSymbol(symbol);
  return market.kind === 'perpetual' ? byName.get(`${ticker}.P`) : undefined;
}

/** Looked for among those of now, where it is not among those known. */
export async function marketOf(
  markets: Markets,
  symbol: string,
  signal: AbortSignal,
): Promise<Market | null> {
  const known = findMarket(await markets.all(signal), symbol);
  return known ?? findMarket(await markets.fresh(signal), symbol) ?? null;
}

/** Those of now, where one of the rows is of a market that was not listed when they were looked through. */
export async function marketsOf(
  markets: Markets,
  rows: readonly { readonly marketId: string }[],
  signal: AbortSignal,
): Promise<MarketList> {
  const known = await markets.all(signal);
  return rows.every(({ marketId }) => known.listed.has(marketId)) ? known : markets.fresh(signal);
}

/** Of a quantity in the base asset, also of one beside the step. */
export const contractsOf = (quantity: Decimal, { contractSize }: CcxtMarket): Decimal =>
  decimal(new Big(absolute(quantity)).div(contractSize));

/** Spot is never traded as a perpetual: who leaves `.P` out is told its name, and nothing is guessed. */
export function unknownSymbol({ byName, names }: MarketList, symbol: string, title: string): OrderError {
  const { ticker } = readSymbol(symbol);
  const perpetual = `${ticker}.P`;
  const hint = byName.has(perpetual)
    ? ` Only perpetuals are traded there: send ${perpetual} for this one.`
    : didYouMean(nearest(perpetual, names));
  return {
    code: 'invalid_symbol',
    message: `The symbol ${symbol} is not found in the broker contracts of ${title}.${hint}`,
  };
}
