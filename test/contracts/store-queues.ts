// The part of the store's contract about queues and replies.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Shared } from './store-shared.ts';

const LONG = 60_000;
const SHORT = 40;
const DEADLINE = 5_000;
const AT_ONCE = { timeoutMs: 0 };

export function queueContract(shared: Shared): void {
  const { store, newKey, holdsAfter } = shared;
  replyContract(shared);
  describe('queues', () => {
    test('first in, first out', async () => {
      const queue = newKey();
      for (const message of ['one', 'two', '', 'three']) await store().push(queue, message, LONG);
      assert.equal(await store().queueLength(queue), 4);
      for (const message of ['one', 'two', '', 'three'])
        assert.equal(await store().take(queue, AT_ONCE), message);
      assert.equal(await store().queueLength(queue), 0);
      assert.equal(await store().take(queue, AT_ONCE), null);
    });

    test('a taker waits until a message comes, with a timeout or without', async () => {
      for (const options of [{ timeoutMs: DEADLINE }, {}]) {
        const queue = newKey();
        const taken = store().take(queue, options);
        await nextTurn();
        await store().push(queue, 'late', LONG);
        assert.equal(await taken, 'late');
        assert.equal(await store().queueLength(queue), 0);
      }
    });

    test('a taker gives up after its time', async () => {
      const start = performance.now();
      assert.equal(await store().take(newKey(), { timeoutMs: SHORT }), null);
      assert.ok(performance.now() - start >= SHORT - 2);
    });

    test('a taker gives up when the signal aborts, and leaves no listener behind', async () => {
      const queue = newKey();
      const { signal, abort } = abortable();
      const taken = [store().take(queue, { signal }), store().take(queue, { signal, timeoutMs: LONG })];
      await nextTurn();
      abort();
      assert.deepEqual(await Promise.all(taken), [null, null]);
      await store().push(queue, 'kept', LONG);
      assert.equal(await store().take(queue, { signal }), null, 'an aborted signal takes nothing');
      assert.equal(await store().take(queue, AT_ONCE), 'kept');
      assert.equal(getEventListeners(signal, 'abort').length, 0);
    });

    test('a taker that got its message leaves no listener behind', async () => {
      const queue = newKey();
      const { signal } = abortable();
      for (let round = 0; round < 20; round++) {
        const taken = store().take(queue, { signal, timeoutMs: LONG });
        await store().push(queue, `${round}`, LONG);
        assert.equal(await taken, `${round}`);
      }
      assert.equal(getEventListeners(signal, 'abort').length, 0);
    });

    test('who leaves the line is not served, those before and after are', async () => {
      const queue = newKey();
      const { signal, abort } = abortable();
      const taken = [{}, { signal }, {}].map((options) => store().take(queue, options));
      await nextTurn();
      abort();
      assert.equal(await taken[1], null);
      await store().push(queue, 'one', LONG);
      await store().push(queue, 'two', LONG);
      assert.deepEqual(new Set(await Promise.all(taken)), new Set(['one', 'two', null]));
    });

    test('a taker that timed out, or was aborted, swallows no message', async () => {
      for (let round = 0; round < 100; round++) {
        const queue = newKey();
        const { signal, abort } = abortable();
        // All within the same millisecond or so: whichever wins, the message is with the taker or in the queue.
        const taken = store().take(queue, round % 2 === 0 ? { timeoutMs: 1 } : { signal });
        if (round % 2 === 1) setTimeout(abort, 1);
        await pause(1);
        const [got] = await Promise.all([taken, store().push(queue, 'precious', LONG)]);
        assert.equal(got ?? (await store().take(queue, AT_ONCE)), 'precious');
        assert.equal(await store().queueLength(queue), 0);
      }
    });

    test('many producers, many takers: each message once, in the order of its producer', async () => {
      const queue = newKey();
      const [producers, each, takers] = [10, 100, 8];
      const { signal, abort } = abortable();
      const received: string[][] = [];
      let missing = producers * each;
      const take = async () => {
        const mine: string[] = [];
        received.push(mine);
        for (;;) {
          const message = await store().take(queue, { signal, timeoutMs: DEADLINE });
          if (message === null) return;
          mine.push(message);
          if (--missing === 0) abort();
          if (mine.length % 7 === 0) await nextTurn();
        }
      };
      const produce = async (producer: number) => {
        for (let index = 0; index < each; index++) {
          await store().push(queue, `${producer}:${index}`, LONG);
          if (index % (producer + 2) === 0) await nextTurn();
        }
      };
      await Promise.all([
        ...Array.from({ length: takers }, take),
        ...Array.from({ length: producers }, (_, producer) => produce(producer)),
      ]);
      const all = received.flat();
      assert.equal(all.length, producers * each);
      assert.equal(new Set(all).size, producers * each, 'a message was delivered twice');
      for (const mine of received)
        for (let producer = 0; producer < producers; producer++) {
          const order = mine.filter((message) => message.startsWith(`${producer}:`)).map((m) => +m.slice(2));
          assert.deepEqual(
            order,
            order.toSorted((left, right) => left - right),
          );
        }
    });

    test('who has been served and waits again gets what came meanwhile, and what comes later', async () => {
      const queue = newKey();
      const waits = () => store().take(queue, { timeoutMs: DEADLINE });
      for (let round = 0; round < 50; round++) {
        const taken = waits();
        if (round % 2 === 0) await nextTurn();
        await store().push(queue, `one ${round}`, LONG);
        assert.equal(await taken, `one ${round}`);
        // Nobody waits at this moment.
        if (round % 3 !== 0) await store().push(queue, `two ${round}`, LONG);
        if (round % 5 === 0) await pause(2);
        if (round % 3 !== 0) assert.equal(await waits(), `two ${round}`);
      }
      assert.equal(await store().take(queue, AT_ONCE), null);
    });

    test('a queue that nobody takes from ends with its time', async () => {
      const queue = newKey();
      await store().push(queue, 'forgotten', SHORT);
      await holdsAfter(
        SHORT,
        () => store().push(queue, 'too', SHORT),
        async () => (await store().queueLength(queue)) === 0,
      );
      assert.equal(await store().take(queue, AT_ONCE), null);
      await store().push(queue, 'new', LONG);
      assert.equal(await store().take(queue, AT_ONCE), 'new');
    });
  });
}

function replyContract({ store, newKey }: Shared): void {
  describe('replies', () => {
    test('a reply reaches whoever waits at its address, and nobody else', async () => {
      const [one, two] = [1, 2].map(() => store().expectReply({ timeoutMs: LONG }));
      assert.ok(one && two && one.address !== two.address);
      const text = 'ü"\\/\n\u0000 {} 台北 🙂\n';
      await store().reply(two.address, text);
      assert.equal(await two.reply, text);
      await store().reply(one.address, '');
      assert.equal(await one.reply, '');
    });

    test('what comes after an answer, or to an address of nobody, is lost', async () => {
      const { address, reply } = store().expectReply({ timeoutMs: LONG });
      await store().reply(`reply:{${newKey()}}:1`, 'nobody waits for it');
      await store().reply(address, 'first');
      // Answers that are on their way at the same time may overtake each other between the nodes of a cluster.
      assert.equal(await reply, 'first');
      const next = store().expectReply({ timeoutMs: LONG });
      await store().reply(address, 'second');
      await store().reply(next.address, 'of the next');
      assert.equal(await next.reply, 'of the next');
      assert.equal(await reply, 'first');
    });

    test('who waits gives up after the time, or at once when told to', async () => {
      const start = performance.now();
      assert.equal(await store().expectReply({ timeoutMs: SHORT }).reply, null);
      assert.ok(performance.now() - start >= SHORT - 2);
      const { reply, cancel } = store().expectReply({ timeoutMs: LONG });
      cancel();
      assert.equal(await reply, null);
    });
  });
}

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
