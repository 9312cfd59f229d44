// Now and then somebody takes a stop of ours away at the exchange, or moves it, and tells nobody.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Desk } from './desks.ts';
import type { ExchangeControl } from './exchange-client.ts';

const LEAST_PAUSE_MS = 300;
const MOST_PAUSE_MS = 2_500;
/** So often a stop is put back: after that somebody means it. */
const MOST_TIMES = 3;

interface HandsOptions {
  readonly exchange: Pick<ExchangeControl, 'stops' | 'moveStop' | 'removeStop'>;
  readonly desks: readonly Desk[];
  readonly random: () => number;
}

export function startHands({ exchange, desks, random }: HandsOptions) {
  const closing = new AbortController();
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  /** By account and symbol. */
  const touched = new Map<string, number>();
  const counts = { removed: 0, moved: 0 };

  async function touch(account: string): Promise<void> {
    const times = (symbol: string) => touched.get(`${account} ${symbol}`) ?? 0;
    // Before anybody has connected there are none.
    const all = await exchange.stops(account).catch(() => []);
    const stops = all.filter(({ symbol }) => times(symbol) < MOST_TIMES);
    if (stops.length === 0) return;
    const { ref, symbol, side } = pick(stops);
    touched.set(`${account} ${symbol}`, times(symbol) + 1);
    if (random() < 0.6) {
      counts.removed += (await exchange.removeStop(account, ref)).removed;
      return;
    }
    // Further from the market as a rule, and at times nearer.
    const away = side === 'sell' ? -1 : 1;
    const percent = away * (random() < 0.7 ? 1 + random() : -0.1);
    if (await exchange.moveStop(account, ref, percent)) counts.moved++;
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted && desks.length > 0) {
      await touch(pick(desks).trader.account.id);
      const ms = LEAST_PAUSE_MS + random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS);
      await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  /** One stop of each position. */
  async function takeEach(account: string): Promise<void> {
    const bySymbol = Map.groupBy(await exchange.stops(account).catch(() => []), ({ symbol }) => symbol);
    for (const [symbol, [stop]] of bySymbol)
      if (stop && (touched.get(`${account} ${symbol}`) ?? 0) < MOST_TIMES)
        counts.removed += (await exchange.removeStop(account, stop.ref)).removed;
  }

  const running = run();
  return {
    /** Once nothing else happens: only who looks by itself can notice. */
    async takeLast(): Promise<void> {
      for (const { trader } of desks) await takeEach(trader.account.id);
    },
    async stop(): Promise<{ readonly removed: number; readonly moved: number }> {
      closing.abort();
      await running;
      return counts;
    },
  };
}
