// What the tests of resting entries share: a paper account whose price stands where it is set, under a clock that stands still.

import type { TestContext } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openWorld, settableClock, type Trader } from '../world.ts';

export const PRICE = 60_000;

export async function restingDesk(t: TestContext, { paper = {}, account = {}, env = {} } = {}) {
  const clock = settableClock();
  const world = await openWorld(t, { clock, env });
  const price = (at: number) => ({ price: { BTCUSDT: at } });
  const trader = await world.makeTrader(
    {},
    { paper: { latency_ms: 0, starting_cash: 1_000_000, ...price(PRICE), ...paper }, ...account },
  );
  const held = async (of: Trader = trader, query = '') => {
    const url = `/trading/accounts/${of.account.id}/positions${query}`;
    const { body } = await world.as<{ items: { quantity: number }[] }>(of, 'GET', url);
    return body.items[0]?.quantity ?? 0;
  };
  return {
    ...{ clock, world, trader, held },
    entry: (fields: Record<string, unknown> = {}, query = '') =>
      world.send(trader, { limit_price: 59_000, ...fields }, query ? { query } : {}),
    read: (id: string) => world.order(trader, id),
    /** Once it is so. */
    until: (id: string, isSo: (order: OrderRecord) => boolean) =>
      world.eventually(() => world.order(trader, id), isSo),
    /** Where the market is from now on. */
    moves: async (at: number) => {
      const url = `/trading/accounts/${trader.account.id}`;
      const { status, body } = await world.as(trader, 'PATCH', url, { paper: price(at) });
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    /** What the exchange has that has not ended. */
    atExchange: async () =>
      (
        await world.db.all<{ client_order_id: string }>(
          sql`select client_order_id from paper_orders where status in ('placed', 'partially_filled')`,
        )
      ).map(({ client_order_id }) => client_order_id),
  };
}
