// An address is its user's once a link that was mailed to it was followed; and no address gets more than a few mails.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { withAnother } from '../../src/domain/told/mail-bound.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { countingHasher, type LoggedIn, type ShownUser } from '../http/visitor.ts';
import { openWorld, PASSWORD, type Problem, settableClock, type World } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const VICTIM = 'victim@example.com';
const OWN_PASSWORD = 'the real owner of it all';

async function open(t: TestContext, env: Record<string, string> = { VERIFY_EMAIL: 'true' }) {
  const mails: Mail[] = [];
  const mailer = {
    async send(mail: Mail) {
      mails.push(mail);
    },
  };
  const clock = settableClock();
  const world = await openWorld(t, { env, hasher: countingHasher(), mailer, clock });
  return { world, mails, clock };
}

const register = (world: World, email = VICTIM, password = PASSWORD) =>
  world.request<{ user: ShownUser } & Problem>({
    method: 'POST',
    url: '/auth/register',
    body: { email, password, accept_terms: true },
  });

const follow = (world: World, mail: Mail | undefined) =>
  world.request<Problem>({
    method: 'POST',
    url: '/auth/verify-email',
    body: { token: /\/verify-email\?token=([\w-]{43})\s/.exec(mail?.text ?? '')?.[1] ?? 'none' },
  });

const arrived = (world: World, mails: readonly Mail[], count: number) =>
  world.eventually(
    async () => mails.length,
    (seen) => seen >= count,
  );

const enters = async (world: World, email: string, password: string) =>
  (await world.visitor().call<LoggedIn>('POST', '/auth/login', { email, password })).status;

interface OwnSession {
  readonly email_verified: boolean;
}

const DESTINATION = { kind: 'webhook', name: 'Mine', events: ['fill'], url: 'https://hooks.example.com/x' };

describe('an address that nobody has confirmed', () => {
  test('has rehearsals and paper accounts, and no second factor, API key or destination', async (t) => {
    const { world, mails } = await open(t);
    assert.equal((await register(world)).status, 201);
    const visitor = await world.login({ email: VICTIM });
    assert.equal((await visitor.call<OwnSession>('GET', '/auth/session')).body.email_verified, false);
    for (const [url, body] of [
      ['/auth/totp/enrol', { password: PASSWORD }],
      ['/auth/totp/confirm', { code: '123456' }],
      ['/settings/api-keys', { name: 'mine' }],
      ['/settings/notifications', DESTINATION],
    ] as const) {
      const answer = await visitor.call<Problem>('POST', url, body);
      assert.deepEqual([answer.status, answer.body.code], [403, 'email_not_verified'], url);
    }
    const account = await visitor.call('POST', '/trading/accounts', { name: 'Paper', broker: 'paper' });
    assert.equal(account.status, 201);
    await arrived(world, mails, 1);
    assert.equal((await follow(world, mails[0])).status, 204);
    assert.equal((await visitor.call<OwnSession>('GET', '/auth/session')).body.email_verified, true);
    assert.equal((await visitor.call('POST', '/settings/api-keys', { name: 'mine' })).status, 201);
    assert.equal((await visitor.call('POST', '/settings/notifications', DESTINATION)).status, 201);
    const again = await visitor.call<Problem>('POST', '/auth/verify-email/resend');
    assert.deepEqual([again.status, again.body.code], [409, 'email_already_verified']);
  });

  test('gets no mail but the link: no reset, no change of the password, no alert, no notice', async (t) => {
    const { world, mails } = await open(t);
    await register(world);
    await arrived(world, mails, 1);
    const visitor = await world.login({ email: VICTIM });
    const change = { current_password: PASSWORD, password: OWN_PASSWORD };
    assert.equal((await visitor.call('POST', '/auth/password', change)).status, 204);
    const made = await visitor.call<{ webhook_token: string }>('POST', '/trading/accounts', {
      ...{ name: 'Paper', broker: 'paper' },
    });
    await world.request({
      method: 'POST',
      url: `/webhook/${made.body.webhook_token}/order`,
      body: {
        action: 'buy',
        symbol: 'BTCUSDT',
        quantity: 1,
        timestamp: new Date().toISOString(),
        secret: 'x',
      },
    });
    await world.request({ method: 'POST', url: '/auth/forgot-password', body: { email: VICTIM } });
    await world.eventually(
      () => world.db.all(sql`select id from audit_logs where action = 'forgot_password'`),
      (entries) => entries.length === 1,
    );
    await world.stop();
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      ['Confirm your address'],
    );
  });

  test('is had by whoever follows a link first, and what others made under it is gone', async (t) => {
    const { world, mails } = await open(t);
    const first = await register(world);
    const thief = await world.login({ email: VICTIM });
    const made = await thief.call<{ id: string; webhook_token: string }>('POST', '/trading/accounts', {
      ...{ name: 'Paper', broker: 'paper' },
    });
    const other = await thief.call<{ id: string }>('POST', '/trading/accounts', {
      ...{ name: 'Other', broker: 'paper' },
    });
    const group = await thief.call<{ webhook_token: string }>('POST', '/trading/groups', {
      name: 'Both',
      members: [made, other].map(({ body: { id } }) => ({ trading_account_id: id })),
    });
    assert.equal(group.status, 201);
    const second = await register(world, VICTIM, OWN_PASSWORD);
    assert.equal(second.status, 201);
    assert.deepEqual(Object.keys(second.body.user), Object.keys(first.body.user));
    assert.equal(await enters(world, VICTIM, OWN_PASSWORD), 401);
    await arrived(world, mails, 2);
    assert.deepEqual(
      mails.map(({ to }) => to),
      [VICTIM, VICTIM],
    );
    assert.equal((await follow(world, mails[1])).status, 204);

    assert.equal((await thief.call('GET', '/auth/session')).status, 401);
    assert.equal(await enters(world, VICTIM, PASSWORD), 401);
    const owner = await world.login({ email: VICTIM, password: OWN_PASSWORD });
    assert.equal(owner.user.id, second.body.user.id);
    const { body } = await owner.call<{ items: object[] }>('GET', '/trading/accounts');
    assert.deepEqual(body.items, []);
    for (const { webhook_token } of [made.body, group.body]) {
      const url = `/webhook/${webhook_token}/order`;
      const webhook = await world.request<Problem>({ method: 'POST', url, body: {} });
      assert.equal(webhook.body.code, 'webhook_not_found');
    }
    const left = await world.db.all(sql`select * from group_members`);
    assert.deepEqual(left, [], 'what is deleted is a member of nothing');
    for (const mail of mails) {
      const late = await follow(world, mail);
      assert.deepEqual([late.status, late.body.code], [400, 'verify_token_invalid']);
    }
    const taken = await register(world, VICTIM, 'yet another password');
    assert.deepEqual([taken.status, taken.body.code], [409, 'email_taken']);
  });

  test('leaves nothing behind that a worker would be told to look after: what stood at brokers is named', async (t) => {
    const PLANS = '{"free": {"simulation_only": false, "daily_orders": 100}}';
    const { world, mails, clock } = await open(t, { VERIFY_EMAIL: 'true', PLANS });
    await register(world);
    const thief = await world.login({ email: VICTIM });
    const paper = { latency_ms: 0, price: { BTCUSDT: 60_000 } };
    const order = async (simulation: boolean, more: object) => {
      const { body: account } = await thief.call<{ id: string }>('POST', '/trading/accounts', {
        ...{ name: 'Paper', broker: 'paper', paper },
      });
      const sent = await thief.call<{ status: string }>('POST', '/trading/order', {
        ...{ trading_account_id: account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1, simulation },
        ...more,
      });
      assert.ok(['filled', 'placed'].includes(sent.body.status), JSON.stringify(sent.body));
    };
    await order(false, { stop_loss: 50_000 });
    await order(true, { stop_loss: 50_000 });
    await order(false, { limit_price: 40_000 });
    await world.eventually(
      () => world.db.all(sql`select id from protections where state = 'standing'`),
      ({ length }) => length === 2,
    );
    // The fills of those at the market are verified by now: nothing of their accounts is under way.
    clock.advance(3_000);
    await world.eventually(
      () => world.db.all(sql`select order_id from fill_checks where state <> 'done' and attempts = 0`),
      ({ length }) => length <= 1,
    );
    await register(world, VICTIM, OWN_PASSWORD);
    await arrived(world, mails, 2);
    assert.equal((await follow(world, mails[1])).status, 204);
    const kept = await world.db.all(sql`select id from protections where ended_at is null`);
    assert.deepEqual(kept, []);
    const lost = await world.db.get<{ metadata: string }>(
      sql`select metadata from audit_logs where action = 'address_lost'`,
    );
    const { left } = JSON.parse(lost?.metadata ?? '{}') as { left: { kind: string; price: number }[] };
    assert.deepEqual(
      left.map(({ kind, price }) => [kind, price]),
      [
        ['stop', 50_000],
        ['entry', 40_000],
      ],
    );
    await world.eventually(
      () => world.db.all<{ status: string }>(sql`select status from order_history where priced is not null`),
      ([entry]) => entry?.status === 'cancelled',
    );
  });

  test('is not had by another registration once its first user has confirmed it', async (t) => {
    const { world, mails } = await open(t);
    await register(world);
    await register(world, VICTIM, OWN_PASSWORD);
    await arrived(world, mails, 2);
    assert.equal((await follow(world, mails[0])).status, 204);
    assert.equal((await follow(world, mails[1])).status, 400);
    assert.equal(await enters(world, VICTIM, PASSWORD), 200);
  });

  test('keeps nobody whom an administrator deactivated from staying so', async (t) => {
    const { world } = await open(t);
    assert.equal((await register(world)).status, 201);
    await world.db.commit([sql`update users set is_active = ${false} where email = ${VICTIM}`]);
    const taken = await register(world, VICTIM, OWN_PASSWORD);
    assert.deepEqual([taken.status, taken.body.code], [409, 'email_taken']);
  });

  test('is confirmed by a link of the last 24 hours, of which another can be asked for', async (t) => {
    const { world, mails, clock } = await open(t);
    await register(world);
    await arrived(world, mails, 1);
    clock.advance(24 * HOUR);
    assert.equal((await follow(world, mails[0])).status, 400);
    const visitor = await world.login({ email: VICTIM });
    assert.equal((await visitor.call('POST', '/auth/verify-email/resend')).status, 202);
    await arrived(world, mails, 2);
    assert.equal((await follow(world, mails[1])).status, 204);
    assert.equal((await follow(world, mails[1])).status, 400);
  });
});

describe('who counts as confirmed', () => {
  test('whoever registers where nobody is asked, also once somebody is', async (t) => {
    const { world } = await open(t, {});
    const visitor = await world.login();
    assert.equal((await visitor.call<OwnSession>('GET', '/auth/session')).body.email_verified, true);
    assert.equal((await visitor.call('POST', '/settings/api-keys', { name: 'mine' })).status, 201);
    const [row] = await world.db.all<{ email_verified: unknown }>(
      sql`select email_verified from users where email = ${visitor.user.email}`,
    );
    assert.ok(row?.email_verified);
  });

  test('everybody, where the operator has turned it off since', async (t) => {
    const { world } = await open(t, {});
    const visitor = await world.login();
    await world.db.commit([sql`update users set email_verified = ${false}`]);
    assert.equal((await visitor.call<OwnSession>('GET', '/auth/session')).body.email_verified, true);
    assert.equal((await visitor.call('POST', '/settings/api-keys', { name: 'mine' })).status, 201);
  });

  test('the first admin, and users of a program from before', async (t) => {
    const { world } = await open(t);
    const body = { email: 'admin@example.com', password: PASSWORD };
    assert.equal((await world.request({ method: 'POST', url: '/setup/admin', body })).status, 201);
    const admin = await world.login({ email: 'admin@example.com' });
    assert.equal((await admin.call<OwnSession>('GET', '/auth/session')).body.email_verified, true);
    await world.db.commit([
      sql`insert into users (id, email, password_hash, is_admin, is_active, plan, created_at)
          select '01990000-0000-7000-8000-000000000001', 'old@example.com', password_hash, is_admin, is_active, plan, created_at
          from users`,
    ]);
    const old = await world.login({ email: 'old@example.com' });
    assert.equal((await old.call<OwnSession>('GET', '/auth/session')).body.email_verified, true);
  });
});

describe('mails to an address', () => {
  test('are 5 in any hour and 20 in any day', () => {
    let times: readonly number[] = [];
    const sent: number[] = [];
    for (let minute = 0; minute < 3 * 24 * 60; minute++) {
      const next = withAnother(times, minute * MINUTE);
      if (!next) continue;
      times = next;
      sent.push(minute);
    }
    const most = (span: number) =>
      Math.max(...sent.map((from) => sent.filter((at) => at >= from && at < from + span).length));
    assert.deepEqual([most(60), most(24 * 60), sent.length], [5, 20, 60]);
    assert.ok(times.length <= 20);
  });

  test('are dropped and counted beyond that, but for alerts', async (t) => {
    const { world, mails, clock } = await open(t, {});
    const visitor = await world.login();
    const [from, to] = [PASSWORD, OWN_PASSWORD];
    for (let n = 0; n < 8; n++) {
      const [current_password, password] = n % 2 === 0 ? [from, to] : [to, from];
      assert.equal(
        (await visitor.call('POST', '/auth/password', { current_password, password })).status,
        204,
      );
    }
    const dropped = async () =>
      Number(
        /notifications_total\{channel="mail",outcome="dropped"\} (\d+)/.exec(
          (await world.request<string>({ method: 'GET', url: '/metrics' })).body,
        )?.[1] ?? 0,
      );
    await world.eventually(dropped, (count) => count === 3);
    assert.equal(mails.length, 5);
    const made = await visitor.call<{ webhook_token: string }>('POST', '/trading/accounts', {
      ...{ name: 'Paper', broker: 'paper' },
    });
    await world.request({
      method: 'POST',
      url: `/webhook/${made.body.webhook_token}/order`,
      body: {
        ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 1, secret: 'wrong' },
        timestamp: new Date(clock.now()).toISOString(),
      },
    });
    await arrived(world, mails, 6);
    assert.match(mails[5]?.subject ?? '', /Security alert/);
    clock.advance(HOUR);
    const later = await world.login({ email: visitor.user.email });
    await later.call('POST', '/auth/password', { current_password: from, password: to });
    await arrived(world, mails, 7);
  });
});
