// Two processes, one store: the contract of those that can be shared.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Store } from '../../src/store/store.ts';
import { sharedJournalContract } from './store-journals.ts';
import type { Shared } from './store-shared.ts';

const LONG = 60_000;
const DEADLINE = 30_000;

export function sharingContract({
  store,
  newKey,
  openAnother,
}: Shared & { readonly openAnother: () => Promise<Store> }): void {
  describe('two that share it', () => {
    let other: Store;
    before(async () => {
      other = await openAnother();
    });
    after(() => other.close());

    sharedJournalContract(store, () => other, newKey);

    test('what one has claimed or begun, the other has not', async () => {
      const [claimed, begun] = [newKey(), newKey()];
      assert.equal(await store().claim(claimed, LONG), true);
      assert.equal(await other.claim(claimed, LONG), false);
      assert.equal(await store().begin(begun, LONG), 'begun');
      assert.equal(await other.begin(begun, LONG), 'under_way');
      await store().finish(begun, LONG);
      assert.equal(await other.begin(begun, LONG), 'done');
    });

    test('they count calls together', async () => {
      const key = newKey();
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          (index % 2 === 0 ? store() : other).countInWindow(key, 50, LONG),
        ),
      );
      assert.equal(answers.filter(({ allowed }) => allowed).length, 50);
    });

    test('a lease of one is seen by the other, who gets it after that with a larger fence', async () => {
      const key = newKey();
      const lease = await store().acquireLease(key, 'a', LONG);
      assert.ok(lease);
      assert.deepEqual(await other.leaseHolder(key), lease);
      assert.equal(await other.acquireLease(key, 'b', LONG), null);
      await store().releaseLease(key, lease);
      const next = await other.acquireLease(key, 'b', LONG);
      assert.ok(next && next.fence > lease.fence);
    });

    test('who is there for one is there for the other', async () => {
      const group = newKey();
      await store().announce(group, 'a', 'here', LONG);
      assert.deepEqual(
        (await other.announced(group)).map(({ name, says }) => [name, says]),
        [['a', 'here']],
      );
    });

    test('a message of one wakes a taker of the other', async () => {
      const queue = newKey();
      for (let round = 0; round < 20; round++) {
        const taken = store().take(queue, { timeoutMs: DEADLINE });
        // Some are pushed before the taker waits, some while it begins to, and some when it does.
        for (let turn = 0; turn < round % 4; turn++) await store().ping();
        await other.push(queue, `${round}`, LONG);
        assert.equal(await taken, `${round}`);
      }
    });

    test('takers of both: each message goes to one of them', async () => {
      const queue = newKey();
      const ending = new AbortController();
      const received: string[] = [];
      const serve = async (from: Store) => {
        for (;;) {
          const message = await from.take(queue, { signal: ending.signal });
          if (message === null) return;
          received.push(message);
          if (received.length === 500) ending.abort();
        }
      };
      const serving = [store(), other, store(), other].map(serve);
      await Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          (index % 3 === 0 ? store() : other).push(queue, `${index}`, LONG),
        ),
      );
      await Promise.all(serving);
      assert.equal(new Set(received).size, 500);
    });

    test('who asks and who answers: a thousand questions, each with an address of its own for the answer', async () => {
      const ending = new AbortController();
      const questions = newKey();
      const answering = (async () => {
        for (;;) {
          const replyTo = await other.take(questions, { signal: ending.signal });
          if (replyTo === null) return;
          await other.reply(replyTo, `to ${replyTo}`);
        }
      })();
      await Promise.all(
        Array.from({ length: 1000 }, async () => {
          const { address, reply } = store().expectReply({ timeoutMs: LONG });
          await store().push(questions, address, LONG);
          assert.equal(await reply, `to ${address}`);
        }),
      );
      ending.abort();
      await answering;
    });

    test('one process waits at a thousand queues, in one group or each in its own', async () => {
      for (const name of [newKey(), `{${newKey()}}`]) {
        const queues = Array.from({ length: 1000 }, (_, index) => `${name}:${index}`);
        const taken = queues.map((queue) => store().take(queue, { timeoutMs: LONG }));
        await store().ping();
        await Promise.all(queues.map((queue) => other.push(queue, `for ${queue}`, LONG)));
        assert.deepEqual(
          await Promise.all(taken),
          queues.map((queue) => `for ${queue}`),
        );
      }
    });
  });
}
