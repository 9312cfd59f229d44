// Prices that the control room sets for everybody, and the clock by which what waits for a price is looked at.

import { type Db, sql } from '../src/data/engine/db.ts';
import { type Decimal, decimal } from '../src/domain/decimal.ts';

export async function exchangePrices(db: Db) {
  const rows = await db.all<{ symbol: string; price: string }>(
    sql`select symbol, price from exchange_prices`,
  );
  const prices = new Map(rows.map(({ symbol, price }) => [symbol, decimal(price)]));
  return {
    last: (symbol: string): Decimal | undefined => prices.get(symbol),

    /** null: it goes its own way again. */
    async set(changes: ReadonlyMap<string, Decimal | null>): Promise<void> {
      for (const [symbol, price] of changes) {
        if (price === null) prices.delete(symbol);
        else prices.set(symbol, price);
      }
      await db.commit([
        sql`delete from exchange_prices`,
        ...[...prices].map(
          ([symbol, price]) => sql`insert into exchange_prices (symbol, price) values (${symbol}, ${price})`,
        ),
      ]);
    },
  };
}

/** Of two accounts' settings, as JSON. */
export function haveOtherPrices(before: string | null, after: string): boolean {
  const pricesIn = (settings: string | null) => {
    const { price = null, seed = null } = (settings === null ? null : JSON.parse(settings)) ?? {};
    return JSON.stringify([price, seed]);
  };
  return pricesIn(before) !== pricesIn(after);
}

/** Does it once a second, one after the other, until it is stopped. */
export function eachSecond(task: () => Promise<unknown>): { stop(): Promise<void> } {
  let underWay: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    underWay ??= task()
      .catch(() => undefined)
      .finally(() => {
        underWay = null;
      });
  }, 1_000);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
