// Who guesses is locked out, and nobody else is: a device that its user has logged in with before tries apart.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { countingHasher, type LoggedIn, type Visitor } from '../http/visitor.ts';
import { openWorld, PASSWORD, type Problem, settableClock, type World } from '../world.ts';

const MINUTE = 60_000;
const WRONG = 'not the one that it is';

const open = (t: TestContext, parts: Parameters<typeof openWorld>[1] = {}) =>
  openWorld(t, { hasher: countingHasher(), ...parts });

const tryFrom = (visitor: Visitor, email: string, password: string) =>
  visitor.call<Problem & LoggedIn>('POST', '/auth/login', { email, password });

/** Of a browser that has never been here. */
async function guess(world: World, email: string, times: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < times; n++) statuses.push((await tryFrom(world.visitor(), email, WRONG)).status);
  return statuses;
}

const LOCKED = [...Array.from({ length: 10 }, () => 401), 429];

describe('a device that its user has logged in with before', () => {
  test('gets in while strangers guess, for as long as they like', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const device = await world.login();
    const { email } = device.user;
    assert.equal((await device.call('POST', '/auth/logout')).status, 204);
    for (let round = 0; round < 4; round++) {
      assert.deepEqual(await guess(world, email, 11), LOCKED);
      assert.equal((await tryFrom(world.visitor(), email, PASSWORD)).status, 429, 'a stranger, though right');
      assert.equal((await tryFrom(device, email, PASSWORD)).status, 200);
      // Its success has not given the strangers another ten.
      assert.deepEqual(await guess(world, email, 1), [429]);
      clock.advance(15 * MINUTE);
    }
  });

  test('is locked by its own wrong guesses, and by nobody else’s; its success forgives them', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const [device, other] = [await world.login(), world.visitor()];
    const { email } = device.user;
    await tryFrom(other, email, PASSWORD);
    for (let n = 0; n < 9; n++) assert.equal((await tryFrom(device, email, WRONG)).status, 401);
    assert.equal((await tryFrom(device, email, PASSWORD)).status, 200);
    for (let n = 0; n < 10; n++) assert.equal((await tryFrom(device, email, WRONG)).status, 401);
    const locked = await tryFrom(device, email, PASSWORD);
    assert.deepEqual([locked.status, locked.body.code], [429, 'login_locked']);
    assert.equal(locked.headers['retry-after'], '900');
    assert.equal((await tryFrom(other, email, PASSWORD)).status, 200);
    assert.equal((await tryFrom(world.visitor(), email, PASSWORD)).status, 200);
    clock.advance(15 * MINUTE);
    assert.equal((await tryFrom(device, email, PASSWORD)).status, 200);
  });

  test('has ten tries however often it has logged in, and ten at one moment', async (t) => {
    const hasher = countingHasher();
    const world = await open(t, { hasher });
    const device = await world.login();
    const { email } = device.user;
    const tokens = [device.cookie('known_device') ?? ''];
    for (let n = 0; n < 3; n++) {
      await tryFrom(device, email, PASSWORD);
      tokens.push(device.cookie('known_device') ?? '');
    }
    hasher.verified = [];
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        world.request({
          method: 'POST',
          url: '/auth/login',
          body: { email, password: WRONG },
          headers: { cookie: `known_device=${tokens[index % tokens.length]}` },
        }),
      ),
    );
    assert.equal(hasher.verified.length, 10);
  });

  test('is known to that user alone, by a token that opens nothing and that nobody can make', async (t) => {
    const world = await open(t);
    const [mine, theirs] = [await world.login(), await world.login()];
    await guess(world, theirs.user.email, 10);
    const others = [
      mine.cookie('known_device'),
      theirs.cookie('access_token'),
      theirs.cookie('refresh_token'),
      `${theirs.cookie('known_device')}x`,
      'nonsense',
    ];
    for (const token of others) {
      const headers = { cookie: `known_device=${token}` };
      const body = { email: theirs.user.email, password: PASSWORD };
      const answer = await world.request({ method: 'POST', url: '/auth/login', body, headers });
      assert.equal(answer.status, 429, token ?? '');
    }
    const token = theirs.cookie('known_device');
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { cookie: `access_token=${token}` },
      { cookie: `known_device=${token}` },
    ])
      assert.equal((await world.request({ method: 'GET', url: '/auth/session', headers })).status, 401);
  });

  test('is forgotten with the password that it knew', async (t) => {
    const mails: Mail[] = [];
    const mailer = { send: async (mail: Mail) => void mails.push(mail) };
    const world = await open(t, { mailer });
    const device = await world.login();
    const { email } = device.user;
    await world.request({ method: 'POST', url: '/auth/forgot-password', body: { email } });
    await world.eventually(
      async () => mails.length,
      (count) => count === 1,
    );
    const token = /token=([\w-]+)/.exec(mails[0]?.text ?? '')?.[1];
    const password = 'a mule, a rivet, an accumulator';
    const body = { token, password };
    assert.equal((await world.request({ method: 'POST', url: '/auth/reset-password', body })).status, 204);
    await guess(world, email, 10);
    assert.equal((await tryFrom(device, email, password)).status, 429);
  });

  test('tries apart at the second step too', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const device = await world.login();
    const { email } = device.user;
    await guess(world, email, 10);
    await device.call('POST', '/auth/totp/enrol', { password: PASSWORD });
    await world.db.commit([sql`update second_factors set confirmed_at = '2026-07-15T00:00:00.000Z'`]);
    const { body } = await device.call<{ login_token: string }>('POST', '/auth/login', {
      email,
      password: PASSWORD,
    });
    const second = (visitor: Visitor) =>
      visitor.call<Problem>('POST', '/auth/login/totp', { login_token: body.login_token, code: '000000' });
    assert.equal((await second(world.visitor())).status, 429);
    for (let n = 0; n < 9; n++) assert.equal((await second(device)).status, 401);
    assert.equal((await second(device)).status, 429);
  });
});

describe('whoever has a session', () => {
  test('proves the password while strangers guess', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    await guess(world, visitor.user.email, 11);
    const enrolled = await visitor.call('POST', '/auth/totp/enrol', { password: PASSWORD });
    assert.equal(enrolled.status, 200);
  });
});

describe('tries in the database', () => {
  test('are an exact window: the eleventh waits for the first to be a quarter of an hour old', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const email = 'nobody@example.com';
    for (let n = 0; n < 10; n++) {
      assert.deepEqual(await guess(world, email, 1), [401]);
      clock.advance(MINUTE);
    }
    for (let n = 0; n < 3; n++) {
      const locked = await tryFrom(world.visitor(), email, WRONG);
      assert.deepEqual([locked.status, locked.headers['retry-after']], [429, '300']);
    }
    clock.advance(5 * MINUTE - 1);
    assert.deepEqual(await guess(world, email, 1), [429]);
    clock.advance(1);
    assert.deepEqual(await guess(world, email, 2), [401, 429]);
    clock.advance(MINUTE);
    assert.deepEqual(await guess(world, email, 2), [401, 429]);
  });

  test('name no address', async (t) => {
    const world = await open(t);
    await guess(world, 'nobody@example.com', 1);
    const rows = await world.db.all(sql`select * from tries`);
    assert.equal(rows.length, 1);
    assert.doesNotMatch(JSON.stringify(rows), /nobody/);
  });

  test('outlive a restart', async (t) => {
    const world = await open(t);
    await guess(world, 'nobody@example.com', 10);
    await world.restart();
    assert.deepEqual(await guess(world, 'nobody@example.com', 1), [429]);
  });
});

describe('wrong passwords at /auth/token', () => {
  const MALLORY = '203.0.113.66';
  const spray = (world: World, email: string, password = WRONG, remoteAddress = MALLORY) =>
    world.request<{ error: string; error_description: string }>({
      method: 'POST',
      url: '/auth/token',
      body: { grant_type: 'password', username: email, password },
      remoteAddress,
    });

  test('are ten of one address over all accounts in 15 minutes; a right one counts for nothing and forgives none', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const [own, other] = [await world.register(), await world.register()];
    for (let n = 0; n < 9; n++) {
      assert.equal((await spray(world, `user-${n}@example.com`)).status, 400);
      for (let right = 0; right < 3; right++)
        assert.equal((await spray(world, own.email, PASSWORD)).status, 200);
    }
    assert.equal((await spray(world, other.email)).status, 400);
    const locked = await spray(world, own.email, PASSWORD);
    assert.deepEqual([locked.status, locked.body.error], [429, 'temporarily_unavailable']);
    assert.match(locked.body.error_description, /from your address/);
    assert.equal(locked.headers['retry-after'], '900');
    assert.equal((await spray(world, own.email, PASSWORD, '198.51.100.1')).status, 200, 'another address');
    assert.equal((await tryFrom(world.visitor(), own.email, PASSWORD)).status, 200, 'a login');
    clock.advance(15 * MINUTE);
    assert.equal((await spray(world, own.email, PASSWORD)).status, 200);
  });

  test('are not those that wait to be found right: twelve of those at once lock nobody out', async (t) => {
    const world = await open(t, { clock: settableClock() });
    const { email } = await world.register();
    const answers = await Promise.all(Array.from({ length: 12 }, () => spray(world, email, PASSWORD)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  });

  test('are no more than ten when sixty come at once', async (t) => {
    const hasher = countingHasher();
    const world = await open(t, { hasher, clock: settableClock() });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => spray(world, `user-${n}@example.com`)),
    );
    const wrong = answers.filter(({ status }) => status === 400).length;
    assert.ok(
      wrong <= 10 && hasher.verified.length <= 10,
      `${wrong} tried, ${hasher.verified.length} checked`,
    );
  });

  test('count together for a /64 of IPv6, and are counted for the alarm', async (t) => {
    const world = await open(t);
    for (let n = 0; n < 11; n++)
      await spray(world, `user-${n}@example.com`, WRONG, `2001:db8:1:2::${n.toString(16)}`);
    assert.equal((await spray(world, 'one@example.com', WRONG, '2001:db8:1:2:ffff::1')).status, 429);
    assert.equal((await spray(world, 'one@example.com', WRONG, '2001:db8:1:3::1')).status, 400);
    const { body } = await world.request<string>({ method: 'GET', url: '/metrics' });
    assert.match(body, /fillpath_denials_total\{code="invalid_credentials"\} 11\n/);
    assert.match(body, /fillpath_denials_total\{code="login_locked"\} 2\n/);
  });
});
