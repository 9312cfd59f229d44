// What every store must do, whatever it is made of. A store whose clock the test can move is tested to the
// millisecond; one that lives in real time gets short times and is asked again until it agrees.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { type Lease, type Store, StoreUnavailable } from '../../src/store/store.ts';
import { journalContract } from './store-journals.ts';
import { onceContract } from './store-once.ts';
import { presenceContract } from './store-presence.ts';
import { queueContract } from './store-queues.ts';
import type { Shared } from './store-shared.ts';
import { sharingContract } from './store-sharing.ts';

export interface StoreUnderTest {
  readonly name: string;
  open(): Promise<Store>;
  /** Moves the clock of every open store, where it can be moved. */
  advance?(ms: number): void;
  /** A second store that shares everything with the first, as in another process; where it can be shared. */
  openAnother?(): Promise<Store>;
}

/** Long enough never to end within a test. */
const LONG = 60_000;
/** Short enough to wait for in real time. */
const SHORT = 40;
const DEADLINE = 5_000;

export function storeContract(adapter: StoreUnderTest): void {
  const needsItsClock = adapter.advance ? {} : { skip: 'the clock of this store cannot be moved' };

  describe(`store: ${adapter.name}`, () => {
    let store: Store;
    before(async () => {
      store = await adapter.open();
    });
    after(() => store.close());

    // A store may be shared with other tests and earlier runs.
    const newKey = () => `test:${randomUUID()}`;

    const advance = (ms: number) => {
      assert.ok(adapter.advance);
      adapter.advance(ms);
    };

    /**
     * After `start`, it does not hold before the time has passed, and holds then. The question must not change the
     * answer.
     */
    const holdsAfter = async <T>(ms: number, start: () => Promise<T>, holds: () => Promise<boolean>) => {
      const startedAt = performance.now();
      const started = await start();
      if (adapter.advance) {
        advance(ms - 1);
        assert.equal(await holds(), false, `held ${ms - 1} ms after, which is too early`);
        advance(1);
        assert.equal(await holds(), true, `did not hold ${ms} ms after`);
        return started;
      }
      while (!(await holds())) {
        assert.ok(performance.now() - startedAt < ms + DEADLINE, `did not hold long after ${ms} ms`);
        await pause(5);
      }
      // Its clock is not ours: a millisecond is not a mistake.
      assert.ok(performance.now() - startedAt > ms - 2, 'held too early');
      return started;
    };

    const shared: Shared = { store: () => store, newKey, holdsAfter };
    onceContract(shared);
    journalContract(shared);

    describe('the sliding window', () => {
      test('allows the limit, refuses the rest and says when to come back', async () => {
        const key = newKey();
        for (let call = 0; call < 3; call++)
          assert.deepEqual(await store.countInWindow(key, 3, LONG), { allowed: true, retryAfterMs: 0 });
        const refused = await store.countInWindow(key, 3, LONG);
        assert.equal(refused.allowed, false);
        assert.ok(refused.retryAfterMs > LONG - DEADLINE && refused.retryAfterMs <= LONG);
        assert.equal((await store.countInWindow(newKey(), 3, LONG)).allowed, true);
      });

      test('a burst of many at once: exactly the limit is allowed', async () => {
        const key = newKey();
        const answers = await Promise.all(
          Array.from({ length: 500 }, () => store.countInWindow(key, 60, LONG)),
        );
        assert.equal(answers.filter((answer) => answer.allowed).length, 60);
      });

      test('opens again a window after the first call, however often it refused since', async () => {
        const key = newKey();
        const isAllowed = async () => (await store.countInWindow(key, 1, SHORT)).allowed;
        assert.equal(await holdsAfter(SHORT, isAllowed, isAllowed), true);
      });

      test('a lower limit than before is held at once', async () => {
        const key = newKey();
        for (let call = 0; call < 5; call++) await store.countInWindow(key, 5, LONG);
        assert.equal((await store.countInWindow(key, 2, LONG)).allowed, false);
        assert.equal((await store.countInWindow(key, 6, LONG)).allowed, true);
      });

      test('a limit of zero allows nothing', async () => {
        const answer = await store.countInWindow(newKey(), 0, LONG);
        assert.equal(answer.allowed, false);
        assert.ok(answer.retryAfterMs > 0);
      });

      test('agrees with a plain list of times, call by call', needsItsClock, async () => {
        const call = fc.record({
          ms: fc.integer({ min: 0, max: 60 }),
          limit: fc.integer({ min: 1, max: 9 }),
        });
        const windows = fc.integer({ min: 1, max: 200 });
        await fc.assert(
          fc.asyncProperty(
            windows,
            fc.array(call, { maxLength: 60, size: 'max' }),
            async (windowMs, calls) => {
              const key = newKey();
              let now = 0;
              const allowed: number[] = [];
              // The limit is another one now and then: an operator may change it.
              for (const [index, { ms }] of calls.entries()) {
                const limit = calls[index - (index % 10)]?.limit ?? 1;
                advance(ms);
                now += ms;
                const inWindow = allowed.filter((time) => time > now - windowMs);
                const frees = inWindow.at(-limit);
                assert.deepEqual(
                  await store.countInWindow(key, limit, windowMs),
                  frees === undefined
                    ? { allowed: true, retryAfterMs: 0 }
                    : { allowed: false, retryAfterMs: frees + windowMs - now },
                );
                if (frees === undefined) allowed.push(now);
              }
            },
          ),
        );
      });
    });

    describe('leases', () => {
      const acquire = async (key: string, holder: string, ttlMs = LONG): Promise<Lease> => {
        const lease = await store.acquireLease(key, holder, ttlMs);
        assert.ok(lease, `${holder} did not get the lease`);
        assert.equal(lease.holder, holder);
        return lease;
      };

      /** A lease that has ended by then. */
      const acquireAndLose = (key: string, holder: string) =>
        holdsAfter(
          SHORT,
          () => acquire(key, holder, SHORT),
          async () => (await store.leaseHolder(key)) === null,
        );

      test('one holds it, and everybody can see who', async () => {
        const key = newKey();
        assert.equal(await store.leaseHolder(key), null);
        const lease = await acquire(key, 'a');
        assert.deepEqual(await store.leaseHolder(key), lease);
        assert.equal(await store.acquireLease(key, 'b', LONG), null);
      });

      test('its holder may acquire it again and keeps the fence', async () => {
        const key = newKey();
        const lease = await acquire(key, 'a');
        assert.deepEqual(await acquire(key, 'a'), lease);
        assert.equal(await store.renewLease(key, lease, LONG), true);
      });

      test('once released it is free, and the next fence is larger', async () => {
        const key = newKey();
        const first = await acquire(key, 'a');
        await store.releaseLease(key, first);
        assert.equal(await store.leaseHolder(key), null);
        const second = await acquire(key, 'b');
        assert.ok(second.fence > first.fence);
      });

      test('it ends with its time, and the fence grows even so', async () => {
        const key = newKey();
        const first = await acquireAndLose(key, 'a');
        assert.equal(await store.renewLease(key, first, LONG), false, 'lost is lost, even to nobody');
        const second = await acquire(key, 'b');
        assert.ok(second.fence > first.fence);
      });

      test('a holder who lost it and has it again holds a new one', async () => {
        const key = newKey();
        const first = await acquireAndLose(key, 'a');
        const second = await acquire(key, 'a');
        assert.ok(second.fence > first.fence);
        assert.equal(await store.renewLease(key, first, LONG), false);
        assert.equal(await store.renewLease(key, second, LONG), true);
      });

      test('renewing prolongs it', async () => {
        const key = newKey();
        const lease = await acquire(key, 'a', LONG);
        const renewed = await holdsAfter(
          SHORT,
          () => store.renewLease(key, lease, SHORT),
          async () => (await store.leaseHolder(key)) === null,
        );
        assert.equal(renewed, true);
      });

      test('neither a loser nor a stranger can renew or release it', async () => {
        const key = newKey();
        const lost = await acquire(key, 'a');
        await store.releaseLease(key, lost);
        const held = await acquire(key, 'b');
        for (const lease of [lost, { holder: 'a', fence: held.fence }, { holder: 'b', fence: lost.fence }]) {
          assert.equal(await store.renewLease(key, lease, LONG), false);
          await store.releaseLease(key, lease);
          assert.deepEqual(await store.leaseHolder(key), held);
        }
      });

      test('it is taken from one who is gone, if it is still that very lease', async () => {
        const key = newKey();
        const gone = await acquire(key, 'a');
        const stale = { holder: 'a', fence: gone.fence - 1 };
        const stranger = { holder: 'c', fence: gone.fence };
        for (const instead of [stale, stranger, null, undefined])
          assert.equal(await store.acquireLease(key, 'b', LONG, instead), null);
        const taken = await store.acquireLease(key, 'b', LONG, gone);
        assert.ok(taken && taken.holder === 'b' && taken.fence > gone.fence);
        assert.deepEqual(await store.leaseHolder(key), taken);
        assert.equal(await store.renewLease(key, gone, LONG), false);
        assert.equal(await store.acquireLease(key, 'c', LONG, gone), null, 'it has gone to another');
        await store.releaseLease(key, taken);
        assert.ok(await store.acquireLease(key, 'c', LONG, gone), 'free is free');
      });

      test('of many who take it from one who is gone, one gets it', async () => {
        const key = newKey();
        const gone = await acquire(key, 'a');
        const leases = await Promise.all(
          Array.from({ length: 20 }, (_, index) => store.acquireLease(key, `holder ${index}`, LONG, gone)),
        );
        assert.equal(leases.filter((lease) => lease !== null).length, 1);
      });

      test('however many contend, two never hold it at once, and fences only grow', async () => {
        const key = newKey();
        const fences: number[] = [];
        let holders = 0;
        const contend = async (holder: string) => {
          for (let held = 0; held < 10; ) {
            const lease = await store.acquireLease(key, holder, LONG);
            if (lease) {
              assert.equal(++holders, 1, 'two hold the lease');
              fences.push(lease.fence);
              await nextTurn();
              holders--;
              held++;
              await store.releaseLease(key, lease);
            }
            await nextTurn();
          }
        };
        await Promise.all(Array.from({ length: 20 }, (_, index) => contend(`holder ${index}`)));
        assert.equal(fences.length, 200);
        assert.ok(fences.every((fence, index) => index === 0 || fence > (fences[index - 1] ?? 0)));
      });

      test('agrees with a plain model, whatever is called in whatever order', needsItsClock, async () => {
        const call = fc.record({
          what: fc.constantFrom('acquire', 'renew', 'release', 'wait'),
          holder: fc.constantFrom('a', 'b', 'c'),
          ms: fc.integer({ min: 1, max: 50 }),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(call, { maxLength: 60, size: 'max' }), async (calls) => {
            const key = newKey();
            const latest = new Map<string, Lease>();
            let now = 0;
            let fence = 0;
            let held: Lease | null = null;
            let until = 0;
            for (const { what, holder, ms } of calls) {
              const mine = latest.get(holder);
              const isMine: boolean = mine !== undefined && held === mine;
              if (what === 'wait') {
                advance(ms);
                now += ms;
              } else if (what === 'acquire') {
                const lease = await store.acquireLease(key, holder, ms);
                if (held === null) {
                  assert.ok(lease && lease.fence > fence);
                  fence = lease.fence;
                  latest.set(holder, lease);
                  held = lease;
                } else assert.deepEqual(lease, isMine ? held : null);
                if (lease) until = now + ms;
              } else if (mine && what === 'renew') {
                assert.equal(await store.renewLease(key, mine, ms), isMine);
                if (isMine) until = now + ms;
              } else if (mine) {
                await store.releaseLease(key, mine);
                if (isMine) held = null;
              }
              if (until <= now) held = null;
              assert.deepEqual(await store.leaseHolder(key), held);
            }
          }),
        );
      });
    });

    test('what is asked in one turn about one user is answered as if asked one after the other', async () => {
      const user = newKey();
      const [once, window, lease, queue] = ['once', 'window', 'lease', 'queue'].map(
        (kind) => `${kind}:{${user}}`,
      ) as [string, string, string, string];
      for (let round = 0; round < 3; round++) {
        const [begun, again, count, none, held, holder, other, , length, taken] = await Promise.all([
          store.begin(once, LONG),
          store.begin(once, LONG),
          store.countInWindow(window, 1, LONG),
          store.leaseHolder(lease),
          store.acquireLease(lease, 'a', LONG),
          store.leaseHolder(lease),
          store.acquireLease(lease, 'b', LONG),
          store.push(queue, 'one', LONG),
          store.queueLength(queue),
          store.take(queue, { timeoutMs: DEADLINE }),
        ]);
        assert.deepEqual([begun, again, none, other], ['begun', 'under_way', null, null]);
        assert.equal(count.allowed, round === 0);
        assert.deepEqual(holder, held);
        assert.deepEqual([length, taken], [1, 'one']);
        await Promise.all([store.release(once), held && store.releaseLease(lease, held)]);
      }
    });

    queueContract(shared);
    presenceContract(shared);
    if (adapter.openAnother) sharingContract({ ...shared, openAnother: adapter.openAnother });

    test('answers a ping', () => store.ping());

    test('closing ends every wait, and afterwards nothing answers', async () => {
      const closing = await adapter.open();
      const queue = newKey();
      const waits = [
        closing.take(queue, {}),
        closing.take(queue, { timeoutMs: LONG }),
        closing.expectReply({ timeoutMs: LONG }).reply,
      ];
      await nextTurn();
      await closing.close();
      waits.push(closing.expectReply({ timeoutMs: LONG }).reply);
      assert.deepEqual(await Promise.all(waits), [null, null, null, null]);
      await closing.close();
      const calls: readonly (() => Promise<unknown>)[] = [
        () => closing.claim(queue, LONG),
        () => closing.release(queue),
        () => closing.begin(queue, LONG),
        () => closing.prolong(queue, LONG),
        () => closing.finish(queue, LONG),
        () => closing.countInWindow(queue, 1, LONG),
        () => closing.acquireLease(queue, 'a', LONG),
        () => closing.renewLease(queue, { holder: 'a', fence: 1 }, LONG),
        () => closing.releaseLease(queue, { holder: 'a', fence: 1 }),
        () => closing.leaseHolder(queue),
        () => closing.push(queue, 'lost', LONG),
        () => closing.take(queue, { timeoutMs: 0 }),
        () => closing.queueLength(queue),
        () => closing.announce(queue, 'a', '', LONG),
        () => closing.withdraw(queue, 'a'),
        () => closing.announced(queue),
        () => closing.reply(queue, ''),
        () => closing.tally(queue, 'a', LONG),
        () => closing.tallied(queue),
        () => closing.ping(),
      ];
      for (const call of calls) await assert.rejects(call, StoreUnavailable);
    });
  });
}
