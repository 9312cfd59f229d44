// Checking a password takes a core for a while: whoever sends many at once delays the next login by no more than a few of
// them, and is told to come back later.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import { createTurns } from '../../src/app/identity/turns.ts';
import { isDenial } from '../../src/domain/denial.ts';
import { countingHasher } from '../http/visitor.ts';
import { openWorld, PASSWORD, type Problem } from '../world.ts';

describe('turns', () => {
  test('are taken by so many at once, in the order of asking; so many wait, and the next is refused at once', async () => {
    const turns = createTurns({ atOnce: 2, waiting: 3 });
    const begun: number[] = [];
    const work = Array.from({ length: 5 }, () => Promise.withResolvers<string>());
    const answers = work.map(({ promise }, index) =>
      turns.take('one', () => {
        begun.push(index);
        return promise;
      }),
    );
    const refused = await turns.take('one', async () => 'never');
    assert.ok(typeof refused === 'object' && isDenial(refused));
    assert.deepEqual([refused.code, refused.retryAfter], ['passwords_busy', 1]);
    assert.deepEqual(begun, [0, 1]);
    work[1]?.resolve('second');
    assert.equal(await answers[1], 'second');
    assert.deepEqual(begun, [0, 1, 2]);
    // A place in the queue is free again.
    const late = turns.take('one', async () => 'late');
    for (const each of [0, 2, 3, 4]) work[each]?.resolve(`${each}`);
    assert.deepEqual(await Promise.all([answers[0], ...answers.slice(2)]), ['0', '2', '3', '4']);
    assert.equal(await late, 'late');
  });

  test('are given back by work that fails', async () => {
    const turns = createTurns({ atOnce: 1, waiting: 1 });
    for (let round = 0; round < 5; round++)
      await assert.rejects(
        turns.take('one', () => Promise.reject(new Error('broken'))) as Promise<unknown>,
        /broken/,
      );
    assert.equal(await turns.take('one', async () => 1), 1);
  });
});

describe('lines', () => {
  test('take turns: who asks again and again waits behind themselves', async () => {
    const turns = createTurns({ atOnce: 1, waiting: 20 });
    const begun: string[] = [];
    const held = Promise.withResolvers<void>();
    const taken = ['mallory', 'mallory', 'mallory', 'eve', 'eve', 'alice'].map((who) =>
      turns.take(who, async () => {
        begun.push(who);
        await held.promise;
      }),
    );
    held.resolve();
    await Promise.all(taken);
    assert.deepEqual(begun, ['mallory', 'mallory', 'eve', 'alice', 'mallory', 'eve']);
  });

  test('give way where there is no room left: the longest loses its last one', async () => {
    const turns = createTurns({ atOnce: 1, waiting: 4 });
    const held = Promise.withResolvers<string>();
    const loop = Array.from({ length: 6 }, () => turns.take('mallory', () => held.promise));
    const alice = turns.take('alice', () => held.promise);
    const refused = await Promise.all([loop[5], loop[4]]);
    for (const each of refused) assert.ok(typeof each === 'object' && isDenial(each));
    held.resolve('done');
    assert.equal(await alice, 'done');
    assert.deepEqual(await Promise.all(loop.slice(0, 4)), ['done', 'done', 'done', 'done']);
  });
});

describe('a flood of logins', () => {
  test('checks few passwords at a time, lets few wait, and refuses the others with 503, whatever the way in', async (t) => {
    const hasher = countingHasher();
    const world = await openWorld(t, { hasher });
    const { email } = await world.register();
    const { verify } = hasher;
    let atOnce = 0;
    let most = 0;
    const released = Promise.withResolvers<void>();
    hasher.verify = async (passwordHash, password) => {
      most = Math.max(most, ++atOnce);
      await released.promise;
      atOnce--;
      return verify(passwordHash, password);
    };
    const ask = (url: string, body: object) => world.request<Problem>({ method: 'POST', url, body });
    const flood = Array.from({ length: 200 }, () =>
      ask('/auth/login', { email: `${randomUUIDv7()}@example.com`, password: 'a wrong password' }),
    );
    const late = await Promise.race([
      ...flood,
      new Promise<never>((_, reject) => setTimeout(reject, 20_000, new Error('nobody was refused')).unref()),
    ]);
    assert.deepEqual(
      [late.status, late.body.code, late.headers['retry-after']],
      [503, 'passwords_busy', '1'],
    );

    // The owner too is refused for now, on every path, and not one of these counts as a failed try.
    for (let round = 0; round < 15; round++) {
      const refused = await ask('/auth/login', { email, password: PASSWORD });
      assert.deepEqual([refused.status, refused.body.code], [503, 'passwords_busy']);
    }
    const token = await ask('/auth/token', { grant_type: 'password', username: email, password: PASSWORD });
    assert.deepEqual([token.status, token.headers['retry-after']], [503, '1']);
    const register = await ask('/auth/register', { email: 'new@example.com', password: PASSWORD });
    assert.deepEqual([register.status, register.body.code], [503, 'passwords_busy']);
    // Who trades is not held back by it.
    assert.equal((await world.send(await world.makeTrader())).status, 200);

    released.resolve();
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    assert.ok(most <= 3, `${most} at once`);
    const served = statuses.filter((status) => status === 401).length;
    assert.ok(served <= 3 * 17 && served + statuses.filter((status) => status === 503).length === 200);
    assert.equal((await ask('/auth/login', { email, password: PASSWORD })).status, 200);
  });
});
