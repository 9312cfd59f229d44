// An exchange's perpetuals, once per process: loaded by whoever comes first while the others wait, looked through anew every few
// minutes while somebody is connected and where a symbol is missing, and shared by all its users. Orders are scaled by what is
// known of a contract, and no order waits for it: contract sizes and steps change, and contracts end, seldom and announced.

import Big from 'big.js';
import { absolute, type Decimal, decimal } from '../../domain/decimal.ts';
import { didYouMean, nearest } from '../../domain/nearest.ts';
import type { OrderError, RejectionCode } from '../../domain/orders/order.ts';
import { readSymbol } from '../../domain/signals/symbol.ts';
import { BrokerUnavailable } from '../broker.ts';
import { createShared } from '../shared.ts';
import type { Exchange } from './exchange.ts';
import type { Listed, Market } from './listing.ts';
import type { CcxtMarket } from './profile.ts';

export interface Markets {
  /** Those known; loads them where nobody has. */
  all(signal: AbortSignal): Promise<MarketList>;
  /** Looked through anew, unless that was a moment ago. */
  fresh(signal: AbortSignal): Promise<MarketList>;
  /** Of the last minutes, where the exchange lists them now, and else those known: for whoever connects. */
  young(signal: AbortSignal): Promise<MarketList>;
  /** From now on they are never older than some minutes, until what is given back is called. */
  keepYoung(): () => void;
  /** An order was. Where the exchange knows the contract otherwise than we do they are looked through anew, and nobody waits for it. */
  refused(code: RejectionCode): void;
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

const YOUNG_MS = 10 * 60_000;
const SOONEST_MS = 60_000;
/** What an order is refused for where its contract has changed, or has ended. */
const OF_CONTRACTS: readonly RejectionCode[] = ['invalid_quantity', 'invalid_symbol', 'market_closed'];
/** So long whoever connects waits for them: those known are good too. */
const PATIENCE_MS = 2_000;

export function createMarkets(
  exchange: Pick<Exchange, 'listMarkets'>,
  told: (fault: unknown) => unknown,
  youngMs = YOUNG_MS,
): Markets {
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

  const renew = (maxAgeMs: number) => void get(maxAgeMs, AbortSignal.timeout(SOONEST_MS)).catch(() => {});

  let connected = 0;
  let timer: NodeJS.Timeout | undefined;
  /** Twice in that time: what is found young enough by one is not yet too old for the next. */
  function renewAgain(): void {
    timer = setTimeout(() => {
      renew(youngMs / 2);
      renewAgain();
    }, youngMs / 2).unref();
  }

  return {
    async all(signal) {
      if (!list) return get(youngMs, signal);
      // Meanwhile the old ones are good.
      if (performance.now() - loadedAt > youngMs) renew(youngMs);
      return list;
    },
    fresh: (signal) => get(SOONEST_MS, signal),
    async young(signal) {
      const known = list;
      if (!known) return get(youngMs, signal);
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
      return get(youngMs, inTime).catch((fault: unknown) => {
        if (fault instanceof BrokerUnavailable) return known;
        throw fault;
      });
    },
    keepYoung() {
      if (connected++ === 0) renewAgain();
      let isLeft = false;
      return () => {
        if (isLeft) return;
        isLeft = true;
        if (--connected === 0) clearTimeout(timer);
      };
    },
    refused(code) {
      if (OF_CONTRACTS.includes(code)) renew(SOONEST_MS);
    },
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
