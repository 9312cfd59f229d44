// Hosts that fall silent, come back, join and leave: who has their users then, and who is told.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import type { AccountId, UserId } from '../../src/domain/ids.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { createHosts, hostQueue } from '../../src/worker/host/hosts.ts';
import { leaseOf } from '../../src/worker/host/pool.ts';
import { watchReach } from '../../src/worker/host/reach.ts';
import { beatMs, HOSTS } from '../../src/worker/host/roster.ts';
import { surplus } from '../../src/worker/host/spread.ts';
import { stopwatch } from '../stopwatch.ts';
import { openHost, openWays, severable, sharedStore } from './hosts-desk.ts';

const LEASE = { leaseMs: 300 };
const SILENT = 'a worker host fell silent: others take its users';
const newUser = () => randomUUIDv7() as UserId;
const POSITIONS = { kind: 'positions', accountId: randomUUIDv7() as AccountId, simulation: false } as const;

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUp = performance.now() + 60_000;
  while (!(await holds())) {
    assert.ok(performance.now() < giveUp, `waited in vain for ${holds}`);
    await pause(5);
  }
}

describe('A host that falls silent', () => {
  test('loses its users to the next that starts them, at once also where nobody has heard of it', async (t) => {
    const store = sharedStore();
    const process = severable(store);
    openHost(t, process.store, LEASE);
    const [one, two] = [newUser(), newUser()];
    const early = openWays(t, store, LEASE);
    for (const user of [one, two]) assert.equal(await early.pool.ensure(user), true);
    const holder = await early.pool.hostOf(one);
    assert.equal(holder, early.roster.hosts()[0]?.id);
    const gone = new Promise((resolve) => early.roster.onGone(resolve));
    process.cutOff();
    assert.equal(await gone, holder);
    assert.equal(await early.pool.hostOf(one), null);

    const heir = openHost(t, store, { ...LEASE, name: 'two' });
    assert.equal(await early.pool.ensure(one), true);
    const late = openWays(t, store, LEASE);
    const passed = stopwatch();
    assert.equal(await late.pool.ensure(two), true);
    assert.ok(passed() < 4_000, 'it did not wait for an answer of the silent one');
    assert.deepEqual(
      heir.workers.map(({ user }) => user),
      [one, two],
    );
  });

  test('is followed by another for whoever waits for an answer of its workers', async (t) => {
    const store = sharedStore();
    const process = severable(store);
    const dying = openHost(t, process.store, { ...LEASE, manner: 'swallows' });
    const { pool, mailbox } = openWays(t, store, LEASE);
    const user = newUser();
    await pool.ensure(user);
    const answer = mailbox.ask(user, POSITIONS, 10_000);
    // The request is in the hands of one who will not answer it.
    await until(async () => dying.workers.length === 1 && (await mailbox.waiting(user)) === 0);
    openHost(t, store, { ...LEASE, name: 'two', manner: 'answers' });
    process.cutOff();
    assert.deepEqual(await answer, { unavailable: 'two' });
  });

  test('is told of once, by its name, and counted once, however many notice', async (t) => {
    const store = sharedStore();
    const process = severable(store);
    openHost(t, process.store, { ...LEASE, name: 'vm-1:4711' });
    const watchers = Array.from({ length: 4 }, () => openWays(t, store, LEASE));
    const users = [newUser(), newUser(), newUser()];
    for (const user of users) await watchers[0]?.pool.ensure(user);
    const hosts = createHosts({ store });
    assert.equal(await hosts.lost(), 0);
    await until(() => watchers.every(({ roster }) => roster.hosts()[0]?.workers === users.length));
    const seen = watchers.map(({ roster }) => new Promise((resolve) => roster.onGone(resolve)));
    process.cutOff();
    await Promise.all(seen);
    await until(async () => (await hosts.lost()) > 0);
    const told = watchers.flatMap(({ lines }) => lines.filter(({ msg }) => msg === SILENT));
    assert.deepEqual(
      told.map(({ host, users }) => [host, users]),
      [['vm-1:4711', users.length]],
    );
    assert.equal(await hosts.lost(), 1);
  });

  test('and speaks again keeps the users that nobody took, and gives up the others', async (t) => {
    const store = sharedStore();
    const process = severable(store);
    const sleeper = openHost(t, process.store, LEASE);
    const { pool, roster } = openWays(t, store, LEASE);
    const [kept, taken] = [newUser(), newUser()];
    for (const user of [kept, taken]) await pool.ensure(user);
    const lease = await store.leaseHolder(leaseOf(kept));
    // Nobody misses whom they never heard of.
    await until(() => roster.hosts().length === 1);
    const gone = new Promise((resolve) => roster.onGone(resolve));
    process.cutOff();
    await gone;
    const heir = openHost(t, store, { ...LEASE, name: 'two' });
    await pool.ensure(taken);
    process.heal();
    await until(() => sleeper.host.users() === 1);
    assert.deepEqual(await store.leaseHolder(leaseOf(kept)), lease);
    assert.equal(await pool.hostOf(kept), lease?.holder);
    assert.equal(heir.host.users(), 1);
    assert.notEqual(await pool.hostOf(taken), lease?.holder);
  });
});

describe('Nobody is missed', () => {
  test('who leaves in good order', async (t) => {
    const store = sharedStore();
    const { host } = openHost(t, store, LEASE);
    const { pool, roster, lines } = openWays(t, store, LEASE);
    const user = newUser();
    await pool.ensure(user);
    await until(() => roster.hosts().length === 1);
    const gone = new Promise((resolve) => roster.onGone(resolve));
    await host.stop();
    await gone;
    // Whatever is to be said about it has been said by the time that the store has answered once more.
    await store.ping();
    await pause(20);
    assert.deepEqual(lines, []);
    assert.equal(await createHosts({ store }).lost(), 0);
    assert.equal(await store.leaseHolder(leaseOf(user)), null);
  });

  test('where the store has forgotten everything, and is told again', async (t) => {
    const store = sharedStore();
    const { host } = openHost(t, store, LEASE);
    const { pool, roster, lines } = openWays(t, store, LEASE);
    const user = newUser();
    await pool.ensure(user);
    await until(() => roster.hosts().length === 1);
    for (let round = 0; round < 3; round++) {
      for (const { name } of await store.announced(HOSTS)) await store.withdraw(HOSTS, name);
      const lease = await store.leaseHolder(leaseOf(user));
      if (lease) await store.releaseLease(leaseOf(user), lease);
      await until(async () => (await store.leaseHolder(leaseOf(user))) !== null);
      await pause(LEASE.leaseMs / 2);
    }
    assert.equal(host.users(), 1);
    assert.equal(roster.hosts().length, 1);
    assert.deepEqual(lines, []);
  });

  test('by a process that could not hear: the store was away, and has forgotten everybody meanwhile', async (t) => {
    const store = sharedStore();
    openHost(t, store, LEASE);
    let announced: Store['announced'] = store.announced;
    const { roster, lines } = openWays(t, { ...store, announced: (group) => announced(group) }, LEASE);
    await until(() => roster.hosts().length === 1);
    const hangs = Promise.withResolvers<never[]>();
    announced = () => hangs.promise;
    await pause(2 * LEASE.leaseMs);
    announced = store.announced;
    hangs.resolve([]);
    // Looks that are made from now on find the host again, before it is given up.
    let looks = 0;
    announced = async (group) => {
      looks++;
      return store.announced(group);
    };
    await until(() => looks > 3);
    assert.equal(roster.hosts().length, 1);
    assert.deepEqual(lines, []);
  });
});

test('A store that is away is not asked in a hurry', async (t) => {
  const store = sharedStore();
  openHost(t, store, LEASE);
  let isAway = false;
  let looks = 0;
  const { roster } = openWays(
    t,
    {
      ...store,
      async announced(group) {
        looks++;
        if (isAway) throw new StoreUnavailable();
        return store.announced(group);
      },
    },
    LEASE,
  );
  await until(() => roster.hosts().length === 1);
  isAway = true;
  looks = 0;
  await pause(3 * LEASE.leaseMs);
  assert.ok(looks <= 16, `${looks} looks within the time of three leases`);
});

describe('A host with many users', () => {
  test('says that it is there for all of them at once, and prolongs few leases at a time', async (t) => {
    // Its beats come when the test says so: a slow machine takes them for silence.
    t.mock.timers.enable({ apis: ['setInterval'] });
    const leaseMs = 60_000;
    const store = sharedStore();
    let beats = 0;
    let leases = 0;
    const counted: Store = {
      ...store,
      announce(...args) {
        beats++;
        return store.announce(...args);
      },
      acquireLease(...args) {
        leases++;
        return store.acquireLease(...args);
      },
    };
    const { host } = openHost(t, counted, { leaseMs });
    const { pool, roster } = openWays(t, store);
    await Promise.all(Array.from({ length: 2_000 }, () => pool.ensure(newUser())));
    assert.equal(host.users(), 2_000);
    // What it says of the last one who came is no beat.
    await until(() => roster.hosts()[0]?.workers === 2_000);
    [beats, leases] = [0, 0];
    for (let beat = 1; beat <= 4; beat++) {
      t.mock.timers.tick(beatMs(leaseMs));
      await until(() => beats === beat);
    }
    // All of them within minutes, and so a third in one.
    await until(() => leases >= 590);
    assert.ok(leases <= 600, `${leases} leases prolonged in ${beats} beats`);
  });

  test('lets those that come at once begin side by side, and ends them all when it stops meanwhile', async (t) => {
    const store = sharedStore();
    const slow = Promise.withResolvers<void>();
    const first = openHost(t, store, { ready: slow.promise });
    const { pool } = openWays(t, store);
    const ensured = Array.from({ length: 12 }, () => pool.ensure(newUser()));
    await until(() => first.workers.length === 12);
    slow.resolve();
    assert.deepEqual(await Promise.all(ensured), Array(12).fill(true));

    const stuck = openHost(t, store, { name: 'two', ready: new Promise(() => {}) });
    await first.host.stop();
    const user = newUser();
    const last = pool.ensure(user);
    await until(() => stuck.workers.length === 1);
    await stuck.host.stop();
    assert.equal(stuck.host.users(), 0);
    assert.equal(await store.leaseHolder(leaseOf(user)), null);
    assert.equal(await last, true, 'it was told that somebody has the user, and finds out when it asks');
  });

  test('that are handed to it answers for itself while they begin, and lets them begin side by side', async (t) => {
    const store = sharedStore();
    const ready = Promise.withResolvers<void>();
    const { workers } = openHost(t, store, { ...LEASE, ready: ready.promise });
    const { roster } = openWays(t, store, LEASE);
    await until(() => roster.hosts().length === 1);
    const id = roster.hosts()[0]?.id ?? '';
    const users = [newUser(), newUser(), newUser()];
    for (const user of users)
      await store.push(hostQueue(id), JSON.stringify({ kind: 'take', user, replyTo: null }), 10_000);
    const hosts = createHosts({ store });
    await until(() => workers.length === users.length);
    assert.equal((await hosts.workers({ after: null, limit: 10 })).length, users.length);
    ready.resolve();
  });

  test('gives idle ones to a host that joins, a few at a time, and never one that is at work', async (t) => {
    const store = sharedStore();
    const first = openHost(t, store, { ...LEASE, name: 'one' });
    const { pool } = openWays(t, store, LEASE);
    const users = Array.from({ length: 12 }, newUser);
    for (const user of users) await pool.ensure(user);
    const [busy, recent] = users as [UserId, UserId];
    for (const worker of first.workers) {
      worker.busy = worker.user === busy;
      if (worker.user === recent) worker.lastActiveAt = Date.now();
    }
    const second = openHost(t, store, { ...LEASE, name: 'two' });
    await until(() => second.host.users() >= 4);
    // It has stopped there: fair enough, and no coming and going.
    await pause(1_500);
    assert.equal(first.host.users() + second.host.users(), 12);
    assert.ok(Math.abs(first.host.users() - second.host.users()) <= 4);
    const moved = second.workers.map(({ user }) => user);
    assert.ok(!moved.includes(busy) && !moved.includes(recent));
    assert.equal(new Set(moved).size, moved.length);
    for (const user of moved) assert.equal(await pool.ensure(user), true);
  });

  test('moves them until all have about the same, however many hosts there are, and then no more', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3_000 }), { minLength: 2, maxLength: 6 }), (start) => {
        const workers = [...start];
        const total = workers.reduce((sum, count) => sum + count, 0);
        const round = () =>
          workers.map((mine, index) => {
            const others = workers.map((count, id) => ({ id: `${id}`, workers: count, draining: false }));
            const move = surplus(
              mine,
              others.filter(({ id }) => id !== `${index}`),
            );
            if (!move) return 0;
            assert.ok(move.users >= 1 && move.users <= (mine - (workers[Number(move.to)] ?? 0)) / 2);
            workers[index] = mine - move.users;
            workers[Number(move.to)] = (workers[Number(move.to)] ?? 0) + move.users;
            return move.users;
          });
        let rounds = 0;
        while (round().some((moved) => moved > 0)) assert.ok(++rounds < 2_000, 'it never ends');
        assert.equal(
          workers.reduce((sum, count) => sum + count, 0),
          total,
        );
        const most = Math.max(...workers);
        assert.ok(most - Math.min(...workers) <= Math.max(4, most * 0.2));
      }),
      { numRuns: 200 },
    );
    assert.equal(surplus(100, []), null);
    assert.equal(surplus(100, [{ id: 'a', workers: 0, draining: true }]), null);
  });
});

describe('A host that does not reach the database', () => {
  const cutOff = () => {
    let cut = true;
    return {
      isCut: () => cut,
      heal: () => {
        cut = false;
      },
    };
  };

  test('gives its users to one that does, also those at work, and leaves those to it that come', async (t) => {
    const store = sharedStore();
    const first = openHost(t, store, { ...LEASE, name: 'one' });
    const { pool } = openWays(t, store, LEASE);
    const users = Array.from({ length: 3 }, newUser);
    for (const user of users) await pool.ensure(user);
    for (const worker of first.workers) worker.busy = true;
    const reach = cutOff();
    const second = openHost(t, store, { ...LEASE, name: 'two', reach });
    await first.host.stop();
    for (const user of users) assert.equal(await pool.ensure(user), true);
    assert.equal(second.host.users(), 3, 'there is no other');

    const third = openHost(t, store, { ...LEASE, name: 'three' });
    await until(() => third.host.users() === 3 && second.host.users() === 0);
    for (const worker of third.workers) worker.busy = true;
    const late = Array.from({ length: 5 }, newUser);
    for (const user of late) assert.equal(await pool.ensure(user), true);
    assert.deepEqual([second.host.users(), third.host.users()], [0, 8]);

    reach.heal();
    const { roster } = openWays(t, store, LEASE);
    await until(() => roster.hosts().filter(({ draining }) => !draining).length === 2);
  });

  test('begins with those who were active last: something waits for them', async (t) => {
    const store = sharedStore();
    const reach = cutOff();
    const first = openHost(t, store, { ...LEASE, name: 'one', reach });
    const { pool } = openWays(t, store, LEASE);
    const users = Array.from({ length: 25 }, newUser);
    for (const user of users) await pool.ensure(user);
    for (const worker of first.workers) worker.lastActiveAt = users.indexOf(worker.user);
    const second = openHost(t, store, { ...LEASE, name: 'two' });
    await until(() => second.host.users() === 25);
    const moved = second.workers.map(({ user }) => users.indexOf(user));
    assert.ok(Math.min(...moved.slice(0, 20)) === 5, `${moved}`);
  });

  test('keeps them where nobody does', async (t) => {
    const store = sharedStore();
    const hosts = ['one', 'two'].map((name) => openHost(t, store, { ...LEASE, name, reach: cutOff() }));
    const { pool } = openWays(t, store, LEASE);
    const users = Array.from({ length: 6 }, newUser);
    for (const user of users) assert.equal(await pool.ensure(user), true);
    const where = () => hosts.map(({ workers }) => workers.map(({ user }) => user));
    const before = where();
    await pause(2_500);
    assert.deepEqual(where(), before);
  });

  test('is cut off after several questions without an answer, refused or not, until one is answered', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let answer: () => Promise<void> = async () => {};
    const reach = watchReach(() => answer());
    t.after(() => reach.stop());
    const seconds = async (count: number) => {
      for (let second = 0; second < count; second++) {
        t.mock.timers.tick(1_000);
        await new Promise(setImmediate);
      }
    };
    await seconds(20);
    assert.equal(reach.isCut(), false);
    answer = () => Promise.reject(new Error('too many clients already'));
    await seconds(4);
    assert.equal(reach.isCut(), false, 'a hiccup');
    await seconds(4);
    assert.equal(reach.isCut(), true);
    const silent = Promise.withResolvers<void>();
    answer = () => silent.promise;
    await seconds(5);
    assert.equal(reach.isCut(), true);
    silent.resolve();
    await seconds(1);
    assert.equal(reach.isCut(), false);
  });
});

describe('A host that gets no answer when it claims a user', () => {
  /** Its first claims are made all the same, and it does not hear of that. */
  function deaf(store: Store, claims: number): Store {
    let left = claims;
    return {
      ...store,
      async acquireLease(...claim) {
        const lease = await store.acquireLease(...claim);
        if (left-- > 0) throw new StoreUnavailable('Redis did not answer in time');
        return lease;
      },
    };
  }

  test('asks again: the lease is its own by then, and the user has his worker', async (t) => {
    const store = sharedStore();
    const { host, workers } = openHost(t, deaf(store, 2), { manner: 'answers' });
    const { pool, mailbox } = openWays(t, store);
    const user = newUser();
    assert.equal(await pool.ensure(user), true);
    assert.deepEqual(await mailbox.ask(user, POSITIONS, 10_000), { unavailable: 'one' });
    assert.equal(workers.length, 1);
    assert.equal(host.users(), 1);
  });

  test('asks no more when it stops, and the next one has the user', async (t) => {
    const store = sharedStore();
    const { host, lines } = openHost(t, deaf(store, Number.POSITIVE_INFINITY));
    const { pool } = openWays(t, store);
    const user = newUser();
    assert.equal(await pool.ensure(user), true, 'by its lease');
    await until(() => lines.some(({ msg }) => msg === 'a lease is asked for again: no answer came'));
    await host.stop();
    const { workers } = openHost(t, store, { name: 'two' });
    assert.equal(await openWays(t, store).pool.ensure(user), true);
    assert.equal(workers.length, 1);
  });
});

test('A user whose worker has ended while the store was away is free for the next one as soon as the store is back', async (t) => {
  const store = sharedStore();
  let isAway = true;
  const reached: Store = {
    ...store,
    async releaseLease(...lease) {
      if (isAway) throw new StoreUnavailable('Redis did not answer in time');
      return store.releaseLease(...lease);
    },
  };
  const { workers, lines } = openHost(t, reached);
  const { pool } = openWays(t, store);
  const user = newUser();
  assert.equal(await pool.ensure(user), true);
  workers[0]?.end();
  await until(() => lines.some(({ msg }) => msg === 'a lease was not given back yet'));
  assert.notEqual(await pool.hostOf(user), null);
  isAway = false;
  await until(async () => (await pool.hostOf(user)) === null);
  assert.equal(await pool.ensure(user), true);
  assert.equal(workers.length, 2);
});
