// The four levels of the webhook's validation, row by row as the spec's table has them.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { randomToken } from '../../src/app/secret-box.ts';
import { DatabaseUnavailable, type Db, sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Answer, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const SIMULATED = { query: '?simulation=true' };
const codeOf = ({ body }: Answer<unknown>) => (body as Partial<Problem>).code;

async function lastAudit(world: World, trader: Trader) {
  const entry = (await world.audits(trader)).at(-1);
  assert.ok(entry, 'there is an audit entry');
  return { ...entry, metadata: JSON.parse(entry.metadata) as Record<string, unknown> };
}

const traded = async (world: World, { account }: Trader) => (await world.paperOrders(account.id)).length;

describe('level 1: the token maps to an account and a user', () => {
  test('every unknown token gets the same 404, whatever else is wrong with the request', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const deleted = await world.addAccount(trader);
    await world.db.commit([
      sql`update trading_accounts set deleted_at = ${timestamp(Date.now())} where id = ${deleted.account.id}`,
    ]);
    const known = trader.account.webhookToken;
    const genuine = JSON.stringify(world.signal(trader));
    const rows: [name: string, token: string, body: string, query?: string][] = [
      ['a random one', randomToken(), genuine],
      ['one of a single character', 'x', genuine],
      ['none', '', genuine],
      ['a very long one', 'x'.repeat(5000), genuine],
      ['a known one in the other case', swapCase(known), genuine],
      ['a known one and a character more', `${known}x`, genuine],
      ['a known one and a space more', `${known}%20`, genuine],
      ['the token of a deleted account', deleted.account.webhookToken, genuine],
      ['one with a NUL and a slash in it', 'a%00b%2Fc', genuine],
      ['SQL', encodeURIComponent("' or 1=1 --"), genuine],
      ['with a body that is no JSON', randomToken(), 'no JSON'],
      ['with an unreadable simulation flag', randomToken(), genuine, '?simulation=maybe'],
      ['in simulation', randomToken(), genuine, '?simulation=true'],
    ];
    const looks: unknown[] = [];
    for (const [name, token, body, query = ''] of rows) {
      const url = `/webhook/${token}/order${query}`;
      const answer = await world.request<Problem>({ method: 'POST', url, body });
      assert.equal(answer.status, 404, name);
      assert.equal(answer.body.code, 'webhook_not_found', name);
      const { date: _, ...headers } = answer.headers;
      looks.push({ headers, body: { ...answer.body, request_id: '' } });
      assert.deepEqual(looks.at(-1), looks[0], name);
    }

    const entries = await world.db.all<{ action: string; success: number; metadata: string }>(
      sql`select * from audit_logs where user_id is null order by id`,
    );
    assert.equal(entries.length, rows.length);
    for (const { action, success, metadata } of entries) {
      assert.deepEqual([action, success], ['webhook_order', 0]);
      assert.equal(JSON.parse(metadata).code, 'webhook_not_found');
    }
    assert.equal(await traded(world, trader), 0);
  });

  test('a deactivated user gets 403, real and simulated', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({ isActive: false });
    for (const delivery of [{}, SIMULATED]) {
      const answer = await world.send<Problem>(trader, {}, delivery);
      assert.deepEqual([answer.status, answer.body.code], [403, 'user_deactivated']);
      const { action, success, metadata } = await lastAudit(world, trader);
      assert.deepEqual([action, success, metadata.code], ['webhook_order', 0, 'user_deactivated']);
    }
    assert.deepEqual(await world.orders(trader), []);
  });

  test('a token that was regenerated stops at once', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).status, 200);
    await world.db.commit([
      sql`update trading_accounts set webhook_token = ${randomToken()} where id = ${trader.account.id}`,
    ]);
    assert.equal((await world.send(trader)).status, 404);
  });
});

describe('level 2: the age is below max_request_age', () => {
  const rows: [name: string, maxRequestAge: number, ageMs: number, passes: boolean][] = [
    ['made now', 300, 0, true],
    ['299.999 s old', 300, 299_999, true],
    ['300 s old', 300, 300_000, false],
    ['299.999 s ahead', 300, -299_999, true],
    ['300 s ahead', 300, -300_000, false],
    ['a day old', 300, 86_400_000, false],
    ['a year ahead', 300, -31_536_000_000, false],
    ['9.999 s old on an account of 10 s', 10, 9_999, true],
    ['10 s old on an account of 10 s', 10, 10_000, false],
    ['10 s ahead on an account of 10 s', 10, -10_000, false],
    ['an hour less a millisecond old on an account of an hour', 3600, 3_599_999, true],
    ['an hour old on an account of an hour', 3600, 3_600_000, false],
  ];
  for (const [name, maxRequestAge, ageMs, passes] of rows) {
    test(`a signal ${name} ${passes ? 'trades' : 'is refused with 401'}`, async (t) => {
      const clock = settableClock();
      const world = await openWorld(t, { clock });
      const trader = await world.makeTrader({}, { maxRequestAge });
      const old = { timestamp: timestamp(clock.now() - ageMs) };
      const answer = await world.webhook<Problem>(trader, world.signal(trader, old));
      assert.equal(answer.status, passes ? 200 : 401);
      assert.equal(await traded(world, trader), passes ? 1 : 0);
      if (passes) return;
      assert.deepEqual(
        [answer.body.code, answer.body.detail],
        ['webhook_timestamp_expired', 'Request expired'],
      );
      // Whose clock is wrong is seen from both times, by how much, and what the account takes.
      for (const said of [
        old.timestamp,
        timestamp(clock.now()),
        `${Math.abs(ageMs) / 1000} s ${ageMs > 0 ? 'old' : 'ahead'}`,
        `less than ${maxRequestAge} s`,
      ])
        assert.ok(answer.body.advice.includes(said), answer.body.advice);
      const entry = await lastAudit(world, trader);
      assert.deepEqual(
        [entry.action, entry.success, entry.error_message, entry.resource_type, entry.resource_id],
        ['webhook_timestamp_expired', 0, 'Request expired', 'account', trader.account.id],
      );
      const { request_id, ...metadata } = entry.metadata;
      assert.equal(request_id, answer.body.request_id);
      assert.deepEqual(metadata, {
        code: 'webhook_timestamp_expired',
        attack_type: 'expired_timestamp',
        trading_account_id: trader.account.id,
        request_age_seconds: ageMs / 1000,
      });
      // Bypassed in simulation.
      assert.equal((await world.webhook(trader, world.signal(trader, old), SIMULATED)).status, 200);
    });
  }

  test('the age is the same in every spelling of a timestamp', async (t) => {
    const clock = settableClock(Date.parse('2026-07-15T19:00:00Z'));
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const spellings: [fresh: unknown, stale: unknown][] = [
      ['2026-07-15T18:55:01Z', '2026-07-15T18:55:00Z'],
      ['2026-07-15T18:55:01', '2026-07-15T18:55:00'],
      ['2026-07-16T03:55:01+09:00', '2026-07-16T03:55:00+09:00'],
      ['2026-07-15 11:55:01-0700', '2026-07-15 11:55:00-0700'],
      [1784141701, 1784141700],
      ['1784141702', '1784141700'],
      [1784141700001, 1784141700000],
      ['1784141700002', '1784141700000'],
    ];
    for (const [fresh, stale] of spellings) {
      const statuses = await Promise.all(
        [fresh, stale].map((made) => world.webhook(trader, world.signal(trader, { timestamp: made }))),
      );
      assert.deepEqual(
        statuses.map(({ status }) => status),
        [200, 401],
        String(fresh),
      );
    }
  });

  test('a signal from the future is not remembered by its refusal: it trades when its time has come', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const early = world.signal(trader, { timestamp: timestamp(clock.now() + 400_000) });
    assert.equal((await world.webhook(trader, early)).status, 401);
    clock.advance(200_000);
    assert.equal((await world.webhook(trader, early)).status, 200);
    assert.equal(await traded(world, trader), 1);
  });
});

describe('level 3: the secret is the account’s', () => {
  const rows: [name: string, wrong: (right: string, other: string) => string][] = [
    ['another one', () => randomToken()],
    ['an empty one', () => ''],
    ['the right one in the other case', swapCase],
    ['the right one and a space', (right) => `${right} `],
    ['the right one less a character', (right) => right.slice(0, -1)],
    ['that of another user', (_, other) => other],
    ['a lone surrogate', () => '\ud800'],
  ];
  test('a wrong secret is 401, webhook_credential_attack, and trades nothing', async (t) => {
    const world = await openWorld(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    for (const [name, wrong] of rows) {
      await t.test(name, async () => {
        const fields = { secret: wrong(trader.secret, other.secret) };
        const answer = await world.send<Problem>(trader, fields);
        assert.deepEqual([answer.status, answer.body.code], [401, 'webhook_credential_attack']);
        const { action, success, metadata } = await lastAudit(world, trader);
        assert.deepEqual([action, success], ['webhook_credential_attack', 0]);
        assert.deepEqual(
          [metadata.attack_type, metadata.trading_account_id],
          ['wrong_secret', trader.account.id],
        );
        const said = JSON.stringify([answer.body, await lastAudit(world, trader)]);
        assert.ok(!said.includes(trader.secret) && !said.includes(other.secret), 'nobody learns a secret');
        // Bypassed in simulation.
        assert.equal((await world.send(trader, fields, SIMULATED)).status, 200);
      });
    }
    assert.equal(await traded(world, trader), 0);
  });

  test('a secret that was regenerated stops at once, and the new one passes', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const secret = randomToken();
    await world.db.commit([
      sql`update trading_accounts set webhook_secret = ${world.secrets.seal(secret, trader.account.id)} where id = ${trader.account.id}`,
    ]);
    assert.equal(codeOf(await world.send(trader)), 'webhook_credential_attack');
    assert.equal((await world.send(trader, { secret })).status, 200);
  });
});

describe('level 4: a signal that was received before', () => {
  /** The spec's own words, apart from our code. */
  const fingerprintOf = ({ user, secret }: Trader, signal: Record<string, unknown>) =>
    createHash('sha256')
      .update(`${user.id}:${signal.action}:${signal.symbol}:1:${signal.timestamp}:${secret}`)
      .digest('hex')
      .slice(0, 32);

  for (const [mode, delivery] of Object.entries({ real: {}, simulated: SIMULATED })) {
    test(`${mode}: 1, 1.0 and "1" are one signal, and payload_hash is its fingerprint`, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader();
      const signal = world.signal(trader);
      const { status, body: order } = await world.webhook(trader, signal, delivery);
      assert.equal(status, 200);
      for (const quantity of ['1', '1.0', '"1"', '"1.000"', '10e-1', '" 1 "', '0.1e1']) {
        const body = JSON.stringify({ ...signal, quantity: 0 }).replace(':0', `:${quantity}`);
        const answer = await world.webhook<Problem>(trader, body, delivery);
        assert.deepEqual([answer.status, answer.body.code], [409, 'webhook_replay_attack'], quantity);
        const { action, success, metadata } = await lastAudit(world, trader);
        assert.deepEqual([action, success], ['webhook_replay_attack', 0]);
        assert.equal(metadata.payload_hash, fingerprintOf(trader, signal));
        const isNamed = answer.body.detail.includes(`became order ${order.order_id} of 20`);
        assert.equal(isNamed, mode === 'real');
        assert.equal(metadata.trading_account_id, trader.account.id);
      }
      assert.equal((await world.orders(trader)).length, 1);
    });

    test(`${mode}: another quantity, action, symbol, time or account is another signal`, async (t) => {
      const clock = settableClock();
      const world = await openWorld(t, { clock });
      const trader = await world.makeTrader();
      const second = await world.addAccount(trader);
      const signal = world.signal(trader, { quantity: 0.1 });
      for (const change of [
        {},
        { quantity: 0.2 },
        { action: 'sell' },
        { symbol: 'ETHUSDT' },
        { timestamp: timestamp(clock.now() + 1) },
      ])
        assert.equal((await world.webhook(trader, { ...signal, ...change }, delivery)).status, 200);
      assert.equal((await world.webhook(second, signal, delivery)).status, 200);
      assert.equal((await world.orders(trader)).length, 6);
    });
  }

  test('of twenty copies at one moment one trades', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.webhook(trader, signal)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal(answers.filter(({ status }) => status === 409).length, 19);
    assert.equal(await traded(world, trader), 1);
  });

  test('simulated signals without a timestamp are never replays, however many in one millisecond', async (t) => {
    const world = await openWorld(t, { clock: settableClock() });
    const trader = await world.makeTrader();
    const { timestamp: _, ...signal } = world.signal(trader);
    const { secret: __, ...bare } = signal;
    const bodies = Array.from({ length: 40 }, (_, index) => (index % 2 ? signal : bare));
    const answers = await Promise.all(bodies.map((body) => world.webhook(trader, body, SIMULATED)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ body }) => body.order_id)).size, 40);
  });

  test('a simulated signal is remembered for max_request_age, and not longer', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, { maxRequestAge: 120 });
    const signal = world.signal(trader);
    const statuses: number[] = [];
    for (const wait of [0, 119_999, 1]) {
      clock.advance(wait);
      statuses.push((await world.webhook(trader, signal, SIMULATED)).status);
    }
    assert.deepEqual(statuses, [200, 409, 200]);
  });

  test('a rehearsal does not use up the real signal, nor the real one the rehearsal', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const [first, second] of [
      [SIMULATED, {}],
      [{}, SIMULATED],
    ]) {
      const signal = world.signal(trader, {
        timestamp: timestamp(Date.now() + (first === SIMULATED ? 1 : 2)),
      });
      assert.equal((await world.webhook(trader, signal, first)).status, 200);
      assert.equal((await world.webhook(trader, signal, second)).status, 200);
      for (const delivery of [first, second])
        assert.equal(codeOf(await world.webhook(trader, signal, delivery)), 'webhook_replay_attack');
    }
    assert.equal(await traded(world, trader), 2);
    assert.equal((await world.paperOrders(`sim:${trader.account.id}`)).length, 2);
  });

  test('a simulated signal of the year 9999 is remembered for twice max_request_age, and not longer', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, { maxRequestAge: 120 });
    const signal = world.signal(trader, { timestamp: '9999-12-31T23:59:59Z' });
    const statuses: number[] = [];
    for (const wait of [0, 239_999, 1]) {
      clock.advance(wait);
      statuses.push((await world.webhook(trader, signal, SIMULATED)).status);
    }
    assert.deepEqual(statuses, [200, 409, 200]);
  });

  test('a real signal from the future outlives the store’s memory, and is a replay still', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const signal = world.signal(trader, { timestamp: timestamp(clock.now() + 299_000) });
    assert.equal((await world.webhook(trader, signal)).status, 200);
    clock.advance(598_000);
    assert.equal(codeOf(await world.webhook(trader, signal)), 'webhook_replay_attack');
    assert.equal(await traded(world, trader), 1);
  });

  test('after a restart that forgot the store a replay is 409 still, and nothing trades', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    assert.equal((await world.webhook(trader, signal)).status, 200);
    const position = await world.position(trader.account.id, 'BTCUSDT');
    await world.restart();
    for (const _ of [1, 2]) {
      assert.equal(codeOf(await world.webhook(trader, signal)), 'webhook_replay_attack');
      const { action, metadata } = await lastAudit(world, trader);
      assert.deepEqual(
        [action, metadata.payload_hash],
        ['webhook_replay_attack', fingerprintOf(trader, signal)],
      );
    }
    assert.equal(await traded(world, trader), 1);
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), position);
    assert.equal((await world.orders(trader)).length, 1);
  });

  test('a replay is one also where nobody can say which order the first became', async (t) => {
    const unreadable = (opened: Db): Db => ({
      ...opened,
      get: (query) =>
        query.parts[0]?.startsWith('select order_id, submitted_at from order_history')
          ? Promise.reject(new DatabaseUnavailable('too slow'))
          : opened.get(query),
    });
    const world = await openWorld(t, { db: unreadable });
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    assert.equal((await world.webhook(trader, signal)).status, 200);
    assert.equal(codeOf(await world.webhook(trader, signal)), 'webhook_replay_attack', 'by the store');
    await world.restart();
    assert.equal(codeOf(await world.webhook(trader, signal)), 'webhook_replay_attack', 'by its row');
    assert.equal((await lastAudit(world, trader)).metadata.payload_hash, fingerprintOf(trader, signal));
  });

  test('a refusal that could not be written down is no decision: sent again, the signal trades', async (t) => {
    let isFull = false;
    const full = (opened: Db): Db => ({
      ...opened,
      commit: (unit) =>
        isFull ? Promise.reject(new DatabaseUnavailable('the disk is full')) : opened.commit(unit),
    });
    const world = await openWorld(t, { db: full });
    const trader = await world.makeTrader();
    const account = `/trading/accounts/${trader.account.id}`;
    await world.as(trader, 'POST', `${account}/halt`, { flatten: false });
    const signal = world.signal(trader);
    isFull = true;
    assert.equal(codeOf(await world.webhook(trader, signal)), 'database_unavailable');
    isFull = false;
    await world.as(trader, 'POST', `${account}/resume`);
    assert.equal((await world.webhook(trader, signal)).status, 200);
  });

  test('no replay of an accepted signal trades, at any moment of its age, in any spelling', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock, env: { RATE_LIMIT_REQUESTS: '100000' } });
    const arbitrary = fc.record({
      action: fc.constantFrom('buy', 'sell', 'long_entry', 'short_exit', 'close_long', 'close_short'),
      symbol: fc.constantFrom('BTCUSDT', 'BINANCE:ETHUSDT.P', 'ES1!', 'NOSUCH'),
      quantity: fc.integer({ min: 1, max: 9 }),
      offset: fc.integer({ min: -299_999, max: 299_999 }),
      replays: fc.array(
        fc.record({
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          isText: fc.boolean(),
          forgets: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ action, symbol, quantity, offset, replays }) => {
        const trader = await world.makeTrader();
        const made = clock.now() + offset;
        const signal = world.signal(trader, { action, symbol, quantity, timestamp: timestamp(made) });
        assert.equal((await world.webhook(trader, signal)).status, 200);
        const before = await world.paperOrders(trader.account.id);
        for (const { at, isText, forgets } of replays) {
          clock.advance(Math.floor((made + 299_999 - clock.now()) * at));
          if (forgets) await world.restart();
          const copy = isText ? { ...signal, quantity: `${quantity}.00` } : signal;
          assert.equal(codeOf(await world.webhook(trader, copy)), 'webhook_replay_attack');
        }
        assert.deepEqual(await world.paperOrders(trader.account.id), before);
        assert.equal((await world.orders(trader)).length, 1);
      }),
      { numRuns: 25 },
    );
  });
});

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('');
}
