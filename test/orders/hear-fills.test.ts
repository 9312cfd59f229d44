// What workers have heard at their brokers, at the verifiers' end: no account keeps another one waiting.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type HearDeps, hearFills } from '../../src/app/orders/hear-fills.ts';
import type { OrderId } from '../../src/domain/ids.ts';
import type { Look } from '../../src/domain/orders/fill.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { restingBroker } from './fill-desk.ts';

/** Two accounts' orders rest; a verifier of its own hears these words, and its looks are answered by the test. */
async function openHearing(t: TestContext, wordsOf: (orders: Record<string, OrderId>) => OrderId[]) {
  const { world, trader } = await restingBroker(t);
  const other = await world.addAccount(trader);
  const orders: Record<string, OrderId> = {};
  for (const [name, sender] of Object.entries({ first: trader, second: trader, other })) {
    const { body } = await world.send(sender, { quantity: Object.keys(orders).length + 1 });
    assert.equal(body.status, 'placed');
    orders[name] = body.order_id;
  }
  const stopping = new AbortController();
  const words = wordsOf(orders);
  const looks: string[] = [];
  const answering = Promise.withResolvers<Look>();
  const ask = (_user: unknown, { orderId }: { orderId: OrderId }) => {
    looks.push(Object.keys(orders).find((name) => orders[name] === orderId) ?? '');
    return answering.promise;
  };
  const ended = Promise.withResolvers<null>();
  stopping.signal.addEventListener('abort', () => ended.resolve(null));
  const deps = {
    ...{ db: world.db, clock: world.clock, store: openMemoryStore({ clock: world.clock }) },
    pool: { ensure: async () => true },
    mailbox: { ask, nextWanted: () => Promise.resolve(words.shift() ?? ended.promise) },
    looking: { requeueMs: 1, giveUpMs: 60_000 },
    ...{ visibilityMs: 60_000, changes: { ofOrder() {} }, counters: {}, log: { info() {}, warn() {} } },
    // Who waits here for its turn waits until the end.
    wait: () => ended.promise,
  } as unknown as HearDeps;
  const hearing = hearFills(deps, stopping.signal);
  const answer = () => answering.resolve({ seen: 'failure', reason: 'the broker does not answer' });
  t.after(() => {
    stopping.abort();
    answer();
    return hearing;
  });
  const lookedAt = (count: number) =>
    world.eventually(
      async () => looks.length,
      (made) => made >= count,
    );
  return { looks, answer, lookedAt };
}

test('however many words there are of one account, those of another are heard', async (t) => {
  const { looks, lookedAt } = await openHearing(t, ({ first, second, other }) => [
    ...Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? first : second) as OrderId),
    other as OrderId,
  ]);
  await lookedAt(2);
  assert.deepEqual(looks.toSorted(), ['first', 'other']);
});

test('an account is looked at in turn, and many words of an order that waits for its turn are one look', async (t) => {
  const { looks, answer, lookedAt } = await openHearing(t, ({ first, second, other }) => [
    ...Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? first : second) as OrderId),
    other as OrderId,
  ]);
  await lookedAt(2);
  answer();
  await lookedAt(4);
  // The first one again: what was heard during its look may have come after the broker's answer.
  assert.deepEqual(
    looks.filter((name) => name !== 'other'),
    ['first', 'second', 'first'],
  );
});
