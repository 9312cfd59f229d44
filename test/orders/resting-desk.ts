// What the tests of resting entries share, under a clock that stands still: a paper account whose price stands where it is set, and a
// scripted broker where entries rest until they are settled.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Capabilities } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderId } from '../../src/domain/ids.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
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

export type ScriptedDesk = Awaited<ReturnType<typeof scriptedDesk>>;

export async function scriptedDesk(
  t: TestContext,
  { env = {}, able = {} }: { env?: Record<string, string>; able?: Partial<Capabilities> } = {},
) {
  const clock = settableClock();
  const kinds = { stopEntries: true, timeInForce: ['gtc', 'day', 'ioc', 'fok'] } as const;
  const broker = scriptedBroker(t, { ...kinds, ...able });
  const world = await openWorld(t, { clock, brokers: broker.brokers, wait: async () => {}, env });
  const trader = await world.makeTrader();
  broker.fills = 'later';
  return {
    ...{ clock, broker, world, trader },
    /** For a month, unless it is said otherwise. */
    rests: async (fields: Record<string, unknown> = {}, on: Trader = trader) => {
      const { body } = await world.send(on, { limit_price: 90, expires_in: 30 * 86_400, ...fields });
      assert.equal(body.status, 'placed', JSON.stringify(body));
      return body.order_id as OrderId;
    },
    /** Once fill verification has found it so. */
    found: async (id: string, status: string, filled: number) => {
      clock.advance(31_000);
      return world.eventually(
        () => world.order(trader, id),
        (order) => order.status === status && order.fill_quantity === filled,
      );
    },
    /** The broker does not show it for so long that it is a dead letter; nor any other, until its scripts are forgotten. */
    givesUp: async (id: string) => {
      broker.script('find', async () => null);
      for (let nth = 1; nth <= 4; nth++) {
        clock.advance(31_000);
        await world.eventually(
          () => world.order(trader, id),
          ({ verification }) => verification.attempts === nth,
        );
      }
      assert.equal((await world.order(trader, id)).verification.state, 'dead_letter');
    },
  };
}
