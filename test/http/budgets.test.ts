// What one user asks for has a size and a number, so that the reads of one never stand before the orders of another.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ShownAccount } from '../../src/app/accounts/accounts.ts';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, type Problem } from '../world.ts';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

const LONG = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(64, 'X'));

describe('an account’s allowed symbols', () => {
  test('are at most 100: 409 where it is made and where it is changed, and what is there stays', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const most = { name: 'A', broker: 'paper', allowed_symbols: LONG };
    const made = await world.as<ShownAccount>(trader, 'POST', '/trading/accounts', most);
    assert.equal(made.status, 201);
    const allowed_symbols = [...LONG, 'BTCUSDT'];
    const refusals = [
      await world.as<Problem>(trader, 'POST', '/trading/accounts', { ...most, allowed_symbols }),
      await world.as<Problem>(trader, 'PATCH', `/trading/accounts/${made.body.id}`, { allowed_symbols }),
    ];
    for (const { status, body } of refusals) {
      assert.deepEqual([status, body.code], [409, 'too_many']);
      assert.match(body.detail, /100/);
    }
    const { body } = await world.as<ShownAccount>(trader, 'GET', `/trading/accounts/${made.body.id}`);
    assert.deepEqual(body.allowed_symbols, LONG);
  });
});

describe('what a user may make', () => {
  const plans = {
    free: { simulation_only: true, daily_orders: 5 },
    small: { simulation_only: false, daily_orders: null, accounts: 3, api_keys: 2, allowed_ips: 1 },
  };

  test('is what the plan has room for, and what is above it stays', async (t) => {
    const world = await openWorld(t, { env: { PLANS: JSON.stringify(plans) } });
    const trader = await world.makeTrader({ plan: 'small' });
    const makes = [
      ['/trading/accounts', { name: 'A', broker: 'paper' }, 2],
      ['/settings/api-keys', { name: 'A' }, 1],
      ['/settings/allowed-ips', { ip_address: '127.0.0.1' }, 1],
    ] as const;
    for (const [url, body, room] of makes) {
      for (let made = 0; made < room; made++)
        assert.equal((await world.inSession(trader, 'POST', url, body)).status, 201, url);
      const next = url.endsWith('ips') ? { ip_address: '127.0.0.2' } : body;
      const refused = await world.inSession<Problem>(trader, 'POST', url, next);
      assert.deepEqual([refused.status, refused.body.code], [409, 'too_many'], url);
    }
    const shown = await world.request<Page<object>>({ method: 'GET', url: '/public/plans' });
    assert.deepEqual(shown.body.items[1], { name: 'small', ...plans.small });
    // A plan that has lapsed takes nothing away.
    await world.db.commit([sql`update users set plan = 'free' where id = ${trader.user.id}`]);
    const list = await world.as<Page<object>>(trader, 'GET', '/trading/accounts');
    assert.equal(list.body.items.length, 3);
  });

  test('is little where the plan only simulates and does not say, for anybody can have it', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader({ plan: 'free' });
    const make = () => world.as<Problem>(trader, 'POST', '/trading/accounts', { name: 'A', broker: 'paper' });
    for (let made = 1; made < 20; made++) assert.equal((await make()).status, 201);
    assert.equal((await make()).body.code, 'too_many');
  });
});

describe('a page', () => {
  test('ends where it has its bytes, and the next one goes on there', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    // From before there was a limit: 500 symbols each.
    const symbols = JSON.stringify(Array.from({ length: 5 }, () => LONG).flat());
    const now = timestamp(world.clock.now());
    await world.db.commit(
      Array.from(
        { length: 60 },
        () => sql`insert into trading_accounts (id, user_id, name, broker_name, environment, webhook_token, webhook_secret,
            max_request_age, allowed_symbols, broker_credentials_verified, halted, connection_version, paper, created_at)
          values (${randomUUIDv7()}, ${trader.user.id}, 'Old', 'paper', 'live', ${randomUUIDv7()}, 'x', 300,
            ${symbols}, ${true}, ${false}, 1, '{}', ${now})`,
      ),
    );
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const query: string = `?limit=200${cursor ? `&cursor=${cursor}` : ''}`;
      const { body } = await world.as<Page<ShownAccount>>(trader, 'GET', `/trading/accounts${query}`);
      assert.ok(JSON.stringify(body).length < 600 * 1024);
      assert.ok(body.items.length > 0);
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    assert.ok(pages > 2);
    assert.deepEqual([seen.length, new Set(seen).size], [61, 61]);
  });
});

describe('the reads of one user at once', () => {
  test('are so many: the next is 429, others are served, and what acts is not held back', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const held = broker.hold('positions');
    const url = `/trading/accounts/${trader.account.id}`;
    const reads = Array.from({ length: 24 }, () => world.as(trader, 'GET', `${url}/positions`));
    await held.reached;
    const refused = await world.as<Problem>(trader, 'GET', url);
    assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_at_once']);
    assert.equal(refused.headers['retry-after'], '1');
    const other = await world.makeTrader();
    assert.equal((await world.as(other, 'GET', '/trading/accounts')).status, 200);
    assert.equal((await world.as(trader, 'POST', `${url}/halt`)).status, 200);
    assert.equal((await world.as(trader, 'POST', `${url}/resume`)).status, 200);
    assert.equal((await world.request({ method: 'GET', url: '/public/plans' })).status, 200);
    held.release();
    for (const { status } of await Promise.all(reads)) assert.equal(status, 200);
    for (let round = 0; round < 60; round++)
      assert.equal((await world.as(trader, 'GET', url)).status, 200, `${round}`);
  });
});
