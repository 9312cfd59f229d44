// What the tests of recovery share: a process that stands still at some point of an order, and the next one on the
// same data.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Capabilities } from '../../src/broker/broker.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { type Held, type ScriptedBroker, scriptedBroker } from '../worker/scripted-broker.ts';
import { logbook, openWorld, settableClock } from '../world.ts';

export interface Death {
  readonly broker: ScriptedBroker;
  /** The next wait of the process stands still. */
  holdWait(): Held;
  /** The next message to the worker is lost. */
  loseMessage(): null;
}

/** Its worker is done with it. */
const isSettled = ({ status }: OrderRecord) => status !== 'queued' && status !== 'executing';

/** A process that takes one signal and stands still where it is led; its order is left as it is in the database. */
export async function die(
  t: TestContext,
  lead: (death: Death) => Held | null,
  options: {
    position?: number;
    capabilities?: Partial<Capabilities>;
    env?: Record<string, string>;
    /** What the signal says besides. */
    says?: object;
  } = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'fillpath-recovery-'));
  const broker = scriptedBroker(t, options.capabilities);
  const held: Held[] = [];
  t.after(() => {
    for (const each of held) each.release();
  });
  const { log, line } = logbook();
  const store = lossyStore();
  let heldWait: { reached(): void; released: Promise<void> } | null = null;
  const wait = async () => {
    const { reached, released } = heldWait ?? {};
    heldWait = null;
    reached?.();
    await released;
  };
  // Its clock stands still with it: of what comes later, nothing ever falls due for it.
  const clock = settableClock();
  const env = { RESPONSE_WAIT_SECONDS: '0.05', ...options.env };
  const first = await openWorld(t, { dataDir, clock, log, store, wait, env, brokers: broker.brokers });
  const removeData = () => rmSync(dataDir, { recursive: true, force: true });
  let isContinued = false;
  t.after(() => {
    if (!isContinued) removeData();
  });
  const trader = await first.makeTrader();
  broker.give(trader.account.id, options.position ?? 0);
  // Its worker is there, so that the order comes to it by its message, or not at all.
  const rehearsal = await first.send(trader, {}, { query: '?simulation=true' });
  await first.eventually(() => first.order(trader, rehearsal.body.order_id), isSettled);
  // What that looked at the broker with is not for the next order.
  await first.setPaper(trader, { seed: 2 });

  const point = lead({
    broker,
    holdWait() {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      heldWait = { reached: reached.resolve, released: released.promise };
      const hold = { reached: reached.promise, release: released.resolve };
      held.push(hold);
      return hold;
    },
    loseMessage: () => store.loseNext(),
  });
  const { status, body } = await first.send(trader, { action: 'long_entry', quantity: 1, ...options.says });
  assert.equal(status, 202);
  await point?.reached;

  return {
    broker,
    first,
    clock,
    trader,
    left: body,
    /** The next process, so much later; and the order once its worker is done with it. */
    async nextProcess(laterMs = 0) {
      // As the operating system does with the lock of a process that has died.
      rmSync(join(dataDir, 'lock'), { force: true });
      isContinued = true;
      const laterClock = settableClock(clock.now() + laterMs);
      const later = { dataDir, clock: laterClock, wait: async () => {}, brokers: broker.brokers };
      const second = await openWorld(t, later);
      t.after(removeData);
      const order = await second.eventually(() => second.order(trader, body.order_id), isSettled);
      return { second, clock: laterClock, order };
    },
    /** The first process goes on after all, and learns that its order is in other hands. */
    async wakeUp() {
      point?.release();
      await line('another worker has taken the order over');
    },
  };
}

function lossyStore(): Store & { loseNext(): null } {
  const store = openMemoryStore({ clock: { now: () => Date.now() } });
  let toLose = 0;
  return {
    ...store,
    async push(queue, message, ttlMs) {
      if (toLose > 0 && queue.startsWith('work:')) toLose--;
      else await store.push(queue, message, ttlMs);
    },
    loseNext() {
      toLose++;
      return null;
    },
  };
}
