// The prices of the exchange, which wander, and jump now and then: through stops, and to targets.

import { setTimeout as sleep } from 'node:timers/promises';
import { findListing } from '../src/broker/paper/market.ts';
import type { ExchangeControl } from './exchange-client.ts';

const LEAST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 1_500;
/** In percent of the price: as a rule, and where it jumps. */
const STEP = 0.25;
const JUMP = 2;
const JUMPS = 0.04;
/** From where it began, in percent: from there it turns back. */
const FURTHEST = 6;

interface MarketOptions {
  readonly exchange: Pick<ExchangeControl, 'setPrices'>;
  /** The engine's. */
  readonly listings: readonly string[];
  readonly random: () => number;
}

export async function startMarket({ exchange, listings, random }: MarketOptions) {
  const closing = new AbortController();
  const first = new Map(listings.map((name) => [name, findListing(name)?.basePrice ?? 100]));
  const prices = new Map(first);

  function wander(): void {
    for (const [name, begun] of first) {
      const price = prices.get(name) ?? begun;
      const strayed = (price / begun - 1) * 100;
      const most = random() < JUMPS ? JUMP : STEP;
      const step = (random() * 2 - 1) * most;
      const isTooFar = Math.abs(strayed + step) > FURTHEST;
      const next = price * (1 + (isTooFar ? -step : step) / 100);
      const tick = Number(findListing(name)?.tickSize ?? 1);
      prices.set(name, Number((Math.round(next / tick) * tick).toFixed(6)));
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      wander();
      await exchange.setPrices(Object.fromEntries(prices));
      const ms = LEAST_PAUSE_MS + random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS);
      await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  await exchange.setPrices(Object.fromEntries(prices));
  const running = run();
  return {
    priceOf: (listing: string): number | null => prices.get(listing) ?? null,
    /** They stay where they are. */
    async stop(): Promise<void> {
      closing.abort();
      await running;
    },
  };
}
