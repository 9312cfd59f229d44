// Who reads leaves the processor to the orders of the same process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { orderComes, orders } from '../../src/data/engine/give-way.ts';

/** A thread that only reads, in pieces, as fast as it may; and how many pieces it has done. */
function openReader(t: { after(does: () => unknown): void }): () => number {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const work = `
    const { workerData: { done, orders, url } } = await import('node:worker_threads');
    const { giveWay, restBetweenPieces } = await import(url);
    restBetweenPieces(orders);
    for (;;) {
      const begun = performance.now();
      while (performance.now() - begun < 0.6);
      Atomics.add(done, 0, 1);
      giveWay();
    }`;
  const reader = new Worker(new URL(`data:text/javascript,${encodeURIComponent(work)}`), {
    workerData: { done, orders, url: new URL('../../src/data/engine/give-way.ts', import.meta.url).href },
  });
  t.after(() => reader.terminate());
  return () => Atomics.load(done, 0);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(1);
}

test('while orders come it works in few pieces, and goes on when they are done', async (t) => {
  const pieces = openReader(t);
  await until(() => pieces() > 10);

  const first = orderComes();
  const [begun, before] = [performance.now(), pieces()];
  while (performance.now() - begun < 300) {
    await pause(10);
    orderComes()();
  }
  const [ms, meanwhile] = [performance.now() - begun, pieces() - before];
  // Of 5 ms each, and as many as there is a moment between two looks at the clock for.
  assert.ok(meanwhile < ms / 5 + 3, `${meanwhile} pieces in ${ms.toFixed(0)} ms`);

  first();
  const after = pieces();
  await until(() => pieces() > after + 100);
});

test('an order that waits for its broker holds nobody back', async (t) => {
  const pieces = openReader(t);
  const done = orderComes();
  t.after(done);
  await pause(30);
  const [begun, before] = [performance.now(), pieces()];
  let most = 0;
  // On a busy machine some stretches are slow: one that is not tells.
  while (performance.now() - begun < 20_000 && most < 10) {
    const from = pieces();
    await pause(20);
    most = Math.max(most, pieces() - from);
  }
  assert.ok(most >= 10, `at most ${most} of ${pieces() - before} pieces in 20 ms`);
});
