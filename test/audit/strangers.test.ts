// What strangers do is counted, and told shortly: nobody fills the disk by being refused.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import { sql } from '../../src/data/engine/db.ts';
import { StrangerCount } from '../../src/domain/strangers.ts';
import { logbook, openWorld, type World } from '../world.ts';

const LONG = 'x'.repeat(4_000);
const STRANGER = '203.0.113.7';

/** What a stranger does: guesses at webhooks, pages, logins and keys. */
async function knock(world: World, count: number, ipOf: (index: number) => string = () => STRANGER) {
  for (let index = 0; index < count; index++) {
    const guesses = [
      { method: 'POST', url: `/webhook/${index}${LONG}/order`, body: '{"action":"buy"}' },
      { method: 'GET', url: `/wp-admin/${index}${LONG}` },
      {
        method: 'POST',
        url: '/auth/reset-password',
        body: { token: `${index}`, password: 'a staple, a horse' },
      },
      { method: 'GET', url: '/auth/session', headers: { authorization: `Bearer guess${index}` } },
    ] as const;
    const guess = guesses[index % guesses.length] as (typeof guesses)[number];
    const { status } = await world.request({
      ...guess,
      headers: { 'user-agent': LONG, ...('headers' in guess ? guess.headers : {}) },
      remoteAddress: ipOf(index),
    });
    assert.ok(status >= 400 && status < 500, `${status}`);
  }
}

interface Entry {
  readonly id: number;
  readonly user_id: string | null;
  readonly action: string;
  readonly ip_address: string;
  readonly user_agent: string | null;
  readonly request_path: string;
  readonly metadata: string;
}

const entriesOf = (world: World) =>
  world.db.all<Entry>(sql`select * from audit_logs where user_id is null order by id`);

describe('a thousand requests of one stranger', () => {
  test('leave some kilobytes in the operator’s log and in the audit log', async (t) => {
    let logged = 0;
    const log = pino(
      { level: 'info' },
      {
        write: (line: string) => {
          logged += line.length;
        },
      },
    );
    const world = await openWorld(t, { log });
    logged = 0;
    await knock(world, 1_000);
    const entries = await entriesOf(world);
    const audited = entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
    t.diagnostic(`${logged} bytes in the log, ${entries.length} audit entries of ${audited} bytes`);
    assert.ok(logged < 5_000, `${logged} bytes in the log`);
    assert.ok(audited < 20_000, `${audited} bytes in the audit log`);
  });
});

describe('what strangers did', () => {
  test('is told once a minute: how many, what they were told, from how many addresses and who was loudest', async (t) => {
    const { log, lines } = logbook();
    const world = await openWorld(t, { log });
    await knock(world, 200);
    await knock(world, 8, () => '203.0.113.8');
    await world.stop();

    const entries = await entriesOf(world);
    const own = entries.filter(({ action }) => action !== 'strangers_counted');
    // Half of what is sent has entries: 100 of the one, 4 of the other.
    assert.equal(own.filter(({ ip_address }) => ip_address === STRANGER).length, 30);
    assert.equal(own.filter(({ ip_address }) => ip_address === '203.0.113.8').length, 4);
    for (const { user_agent, request_path } of own)
      assert.ok((user_agent?.length ?? 0) <= 128 && request_path.length <= 128);
    const [counted, ...more] = entries.filter(({ action }) => action === 'strangers_counted');
    assert.equal(more.length, 0);
    assert.equal(counted?.ip_address, STRANGER);
    const { request_id: _, ...told } = JSON.parse(counted?.metadata ?? '');
    assert.deepEqual(told, {
      attempts: 70,
      codes: { webhook_not_found: 35, reset_token_invalid: 35 },
      addresses: 2,
      loudest: [
        { ip: STRANGER, count: 100 },
        { ip: '203.0.113.8', count: 4 },
      ],
    });

    assert.equal(lines.filter(({ msg }) => msg === 'request').length, 10);
    const rest = lines.find(({ msg }) => msg === 'requests of strangers');
    assert.equal(rest?.requests, 198);
    assert.deepEqual(Object.keys(rest?.codes ?? {}).toSorted(), [
      'not_found',
      'reset_token_invalid',
      'unauthenticated',
      'webhook_not_found',
    ]);
  });

  test('to a webhook whose URL they know is in its owner’s log: each attack, and beyond the rate a count', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '20' } });
    const trader = await world.makeTrader();
    for (let index = 0; index < 100; index++)
      await world.send(trader, { secret: 'guessed' }, { remoteAddress: STRANGER });
    await world.stop();
    const audits = await world.audits(trader);
    const times = (action: string) => audits.filter((entry) => entry.action === action).length;
    assert.deepEqual(
      [times('webhook_credential_attack'), times('webhook_order'), times('strangers_counted')],
      [20, 30, 1],
    );
    assert.deepEqual(JSON.parse(audits.at(-1)?.metadata ?? '').codes, { rate_limited: 50 });
  });

  for (const [what, refused, body] of [
    ['too large', 'payload_too_large', 'x'.repeat(16 * 1024 + 1)],
    ['for a user who is deactivated', 'user_deactivated', null],
  ] as const)
    test(`and what no limit counts, because it is ${what}, fills nobody’s disk either`, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader();
      if (body === null)
        await world.db.commit([sql`update users set is_active = ${false} where id = ${trader.user.id}`]);
      for (let index = 0; index < 100; index++) {
        const signal = body ?? world.signal(trader);
        const answer = await world.webhook<{ code: string }>(trader, signal, { remoteAddress: STRANGER });
        assert.equal(answer.body.code, refused);
      }
      const kept = await world.db.all<{ message: string | null }>(
        sql`select message from signals where code = ${refused}`,
      );
      assert.equal(kept.length, 30);
      assert.ok(kept.every(({ message }) => (message === null) === (body !== null)));
      await world.stop();
      const audits = await world.audits(trader);
      assert.equal(audits.length, 30 + 1);
      const { codes } = JSON.parse(audits.at(-1)?.metadata ?? '');
      assert.deepEqual([audits.at(-1)?.action, codes], ['strangers_counted', { [refused]: 70 }]);
    });
});

describe('what is no stranger’s', () => {
  test('has its line and its entry, but for what comes beyond the own limit: of that the first ten, and a count', async (t) => {
    const { log, lines } = logbook();
    const world = await openWorld(t, { log, env: { RATE_LIMIT_REQUESTS: '3' } });
    const trader = await world.makeTrader();
    for (let index = 0; index < 30; index++) await world.send(trader);
    for (let index = 0; index < 30; index++) await world.as(trader, 'GET', '/trading/orders/none');
    assert.equal((await world.audits(trader)).length, 3 + 10);
    const kept = await world.db.all(sql`select id from signals where code = 'rate_limited'`);
    assert.equal(kept.length, 10);
    // Refused webhooks are among those of which the first five have lines.
    assert.equal(lines.filter(({ msg }) => msg === 'request').length, 3 + 5 + 30);
    await world.stop();
    const counted = (await world.audits(trader)).at(-1);
    assert.equal(counted?.action, 'over_limit_counted');
    assert.deepEqual(JSON.parse(counted?.metadata ?? '').codes, { rate_limited: 17 });
  });

  test('is a fault of ours: it is always told', async (t) => {
    const { log, lines } = logbook();
    let isBroken = false;
    const world = await openWorld(t, {
      log,
      db: (opened) => ({
        ...opened,
        get: (statement) =>
          isBroken ? Promise.reject(new Error('broken on purpose')) : opened.get(statement),
      }),
    });
    isBroken = true;
    for (let index = 0; index < 20; index++)
      await world.request({ method: 'POST', url: '/webhook/x/order', body: '{}' });
    assert.equal(lines.filter(({ msg }) => msg === 'a request failed').length, 20);
    assert.equal(lines.filter(({ status }) => status === 500).length, 20);
  });
});

describe('the count', () => {
  test('is bounded, of one address, of all and in its memory, and begins anew when it is taken', () => {
    const count = new StrangerCount({ ofAddress: 2, inAll: 5, addresses: 4 });
    const round = () => Array.from({ length: 30 }, (_, index) => count.count(`${index % 10}`, 'x'));
    for (let times = 0; times < 2; times++) {
      assert.equal(round().filter(Boolean).length, 5);
      const untold = count.take();
      assert.deepEqual([untold?.count, untold?.addresses, untold?.kinds], [25, 4, { x: 25 }]);
    }
    assert.equal(count.take(), null);
  });
});
