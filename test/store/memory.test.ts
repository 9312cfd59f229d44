import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { storeContract } from '../contracts/store.ts';

let now = Date.parse('2026-11-02T09:00:00Z');
const clock = { now: () => now };
const advance = (ms: number) => {
  now += ms;
};

storeContract({ name: 'memory', open: async () => openMemoryStore({ clock }), advance });

describe('store: memory, beyond the contract', () => {
  const AT_ONCE = { timeoutMs: 0 };

  test('a queue ends its longest time after the last push, whoever takes from it', async () => {
    const store = openMemoryStore({ clock });
    await store.push('q', '1', 100);
    advance(50);
    for (const message of ['2', '3']) await store.push('q', message, 100);
    advance(99);
    assert.equal(await store.take('q', AT_ONCE), '1');
    assert.equal(await store.take('q', AT_ONCE), '2');
    advance(1);
    assert.equal(await store.take('q', AT_ONCE), null);
  });

  test('those who wait are served in the order in which they came', async () => {
    const store = openMemoryStore({ clock });
    const taken = [1, 2, 3].map(() => store.take('q', {}));
    for (const message of ['1', '2', '3']) await store.push('q', message, 100);
    assert.deepEqual(await Promise.all(taken), ['1', '2', '3']);
  });

  test('a push for a shorter time does not shorten the time of the messages before it', async () => {
    const store = openMemoryStore({ clock });
    await store.push('q', 'long', 100);
    await store.push('q', 'short', 10);
    advance(99);
    assert.equal(await store.queueLength('q'), 2);
  });

  test('fences keep growing over a restart', async () => {
    const first = await openMemoryStore({ clock }).acquireLease('key', 'a', 100);
    advance(1000);
    const second = await openMemoryStore({ clock }).acquireLease('key', 'b', 100);
    assert.ok(first && second && second.fence > first.fence);
  });

  test('a wait longer than any timer does not end at once', async () => {
    const store = openMemoryStore({ clock });
    const taken = store.take('q', { timeoutMs: Number.MAX_SAFE_INTEGER });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.push('q', 'message', 100);
    assert.equal(await taken, 'message');
  });

  test('no timer is left once a wait has ended, whatever ended it', async () => {
    const store = openMemoryStore({ clock });
    const controller = new AbortController();
    const { signal } = controller;
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const waits = [
      store.take('served', { timeoutMs: 60_000, signal }),
      store.take('aborted', { timeoutMs: 60_000, signal }),
      store.take('closed', { timeoutMs: 60_000 }),
    ];
    assert.equal(timers(), before + 3);
    await store.push('served', 'message', 100);
    controller.abort();
    await store.close();
    assert.deepEqual(await Promise.all(waits), ['message', null, null]);
    assert.equal(timers(), before);
  });

  test('memory follows what is alive, not what has ever been', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const store: Store = openMemoryStore({ clock });
    const fill = async (rounds: number, round: string) => {
      for (let index = 0; index < rounds; index++) {
        const key = `a key of about the usual length ${round} ${index}`;
        await store.claim(key, 10);
        await store.countInWindow(key, 60, 10);
        await store.acquireLease(key, 'holder', 10);
        await store.push(key, 'message', 10);
        await store.take(`${key} reply`, AT_ONCE);
        advance(1);
      }
    };
    await fill(5_000, 'warm');
    collect();
    const before = process.memoryUsage().heapUsed;
    await fill(50_000, 'full');
    collect();
    const grown = process.memoryUsage().heapUsed - before;
    // Kept, these would be more than 40 MB.
    assert.ok(grown < 5_000_000, `the heap grew by ${grown} bytes`);
  });
});
