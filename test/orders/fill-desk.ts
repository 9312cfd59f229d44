// What the tests of fill verification share: orders that rest at a broker, under a clock that stands still.

import type { TestContext } from 'node:test';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import type { Store } from '../../src/store/store.ts';
import { scriptedWorld } from '../worker/scripted-broker.ts';
import { logbook, openWorld, settableClock, type Trader, type World } from '../world.ts';

export const FIRST_POLL = 2_500;
export const REQUEUE = 30_000;

/** The record, once this many polls are made. */
export const polled = (world: World, trader: Trader, id: string, attempts: number): Promise<OrderRecord> =>
  world.eventually(
    () => world.order(trader, id),
    ({ verification }) => verification.attempts === attempts,
  );

/** The record, once verification has come to its end: by the first poll, or by the second one. */
export async function verified(
  world: World,
  trader: Trader,
  id: string,
  clock: { advance(ms: number): void },
): Promise<OrderRecord> {
  clock.advance(FIRST_POLL);
  await world.eventually(
    () => world.order(trader, id),
    ({ verification: { state, attempts } }) => state === 'done' || attempts === 1,
  );
  clock.advance(REQUEUE);
  return world.eventually(
    () => world.order(trader, id),
    ({ verification }) => verification.state === 'done',
  );
}

/** A paper account whose orders rest, under a clock that stands still, and one order of it. */
export async function restingOrder(t: TestContext, paper: Record<string, unknown> = { fill: 'never' }) {
  const clock = settableClock();
  const { log, lines, line } = logbook();
  const world = await openWorld(t, { clock, log });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, ...paper } });
  const { body } = await world.send(trader, { quantity: 4 });
  return { clock, lines, line, world, trader, body };
}

/** A scripted broker whose orders rest. */
export async function restingBroker(
  t: TestContext,
  options: { env?: Record<string, string>; store?: Store; log?: ReturnType<typeof logbook>['log'] } = {},
) {
  const clock = settableClock();
  const { broker, world, trader } = await scriptedWorld(t, { clock, ...options });
  broker.fills = 'later';
  return { clock, broker, world, trader };
}
