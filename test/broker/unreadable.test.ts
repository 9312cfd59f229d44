// Replies that nobody could read: what is kept of them tells what a broker changed, and nobody's secret.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { openUnreadable, readUnreadable, type Unreadable } from '../../src/app/operation/unreadable.ts';
import { callOf, unreadableReply } from '../../src/broker/unreadable.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { journey } from './journey.ts';

const masked = (text: string, secrets: readonly string[] = []) =>
  unreadableReply({
    method: 'GET',
    url: 'https://broker.example/v1/x?signature=ab',
    status: 200,
    text,
    secrets,
  }).reply;

describe('what is kept of a reply', () => {
  test('names the call without the names in it: orders, symbols, ids, what was signed', () => {
    for (const [url, call] of [
      ['https://fapi.binance.com/fapi/v3/positionRisk?timestamp=1&signature=ab', 'GET /fapi/v3/positionRisk'],
      [
        'https://api.gateio.ws/api/v4/futures/usdt/orders/t-fe00000000000001',
        'GET /api/v4/futures/usdt/orders/…',
      ],
      [
        'https://api.gateio.ws/api/v4/futures/usdt/positions/BTC_USDT',
        'GET /api/v4/futures/usdt/positions/…',
      ],
      ['https://api.alpaca.markets/v2/orders/61e69015-8549-4bfd-b9c3-01e75843f47d', 'GET /v2/orders/…'],
      ['https://data.alpaca.markets/v2/stocks/AAPL/quotes/latest', 'GET /v2/stocks/…/quotes/latest'],
      ['https://api.alpaca.markets/v2/orders:by_client_order_id', 'GET /v2/orders:by_client_order_id'],
    ] as const)
      assert.equal(callOf('GET', url), call);
  });

  test('has no key, no name of a person or an account, and no address', () => {
    const reply = masked(
      '{"uid":"1000002","userId":77,"account_id":"1234567","email":"ada@example.com","ips":["203.0.113.7"],"accountAlias":"FzFz","note":"key a-key-0001 of ada@example.com","orderId":"881","status":"FROZEN","sign":"abc"}',
      ['a-key-0001'],
    );
    for (const secret of ['1000002', '77', '1234567', 'ada@', '203.0.113.7', 'FzFz', 'a-key-0001', 'abc'])
      assert.ok(!reply.includes(secret), `${secret} in ${reply}`);
    for (const kept of ['"orderId":"881"', '"status":"FROZEN"', '"uid"', '"account_id"'])
      assert.ok(reply.includes(kept), `${kept} in ${reply}`);
  });

  test('is cut where it is long', () => assert.equal(masked('{} '.repeat(5_000)).length, 2_001));
});

async function kept(t: TestContext) {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await migrate(db, Date.now());
  const told: string[] = [];
  const counters = { ...UNCOUNTED, replyUnreadable: (...of: string[]) => void told.push(of.join(' ')) };
  const log = { warn: (fields: object) => assert.fail(JSON.stringify(fields)) };
  let now = Date.parse('2026-11-17T12:00:00Z');
  const clock = { now: () => now };
  const open = () => openUnreadable({ db, clock, counters, log });
  const pass = (ms: number) => {
    now += ms;
  };
  return { db, told, open, pass };
}

describe('what brokers said and nobody could read', () => {
  test('is counted each time, and of each broker the last 20 are kept', async (t) => {
    const { db, told, open, pass } = await kept(t);
    for (let nth = 1; nth <= 25; nth++) {
      const unreadable = open();
      unreadable.tell('bybit', { call: 'GET /a', status: 200, reply: `reply ${nth}` });
      await unreadable.close();
      pass(1_000);
    }
    const other = open();
    other.tell('okx', { call: 'POST /b', status: 400, reply: 'one' });
    other.tell('okx', { call: 'POST /b', status: 400, reply: 'two' });
    await other.close();
    const { counts, replies } = await readUnreadable({ db });
    assert.deepEqual(
      counts.map(({ broker, call, times }) => [broker, call, times]),
      [
        ['okx', 'POST /b', 2],
        ['bybit', 'GET /a', 25],
      ],
    );
    const ofBybit = replies.filter(({ broker }) => broker === 'bybit');
    assert.deepEqual(
      [ofBybit.length, ofBybit.at(0)?.reply, ofBybit.at(-1)?.reply],
      [20, 'reply 25', 'reply 6'],
    );
    assert.equal(told.filter((of) => of === 'bybit GET /a').length, 25);
    assert.equal(told.filter((of) => of === 'okx POST /b').length, 2);
  });

  test('is over when it has not come again for 30 days', async (t) => {
    const { db, open, pass } = await kept(t);
    const first = open();
    first.tell('bybit', { call: 'GET /a', status: 200, reply: 'old' });
    await first.close();
    pass(31 * 24 * 3_600_000);
    const second = open();
    second.tell('okx', { call: 'GET /b', status: 200, reply: 'new' });
    await second.close();
    const { counts, replies } = await readUnreadable({ db });
    assert.deepEqual(
      [counts.map(({ broker }) => broker), replies.map(({ reply }) => reply)],
      [['okx'], ['new']],
    );
  });

  test('is shown to the operator, and to nobody else', async (t) => {
    const server = createServer((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"account":{"state":"fine"},"key":"a-key-of-nobody"}'),
    );
    t.after(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { world, openAccount, putKeys, verify } = await journey(t, { broker: 'alpaca', url });
    const owner = await openAccount();
    await putKeys(owner, { api_key: 'a-key-of-nobody', api_secret: 'a-secret-of-nobody' });
    assert.equal((await verify(owner)).status, 503);
    let shown: Unreadable = { counts: [], replies: [] };
    for (const start = Date.now(); shown.counts.length === 0; ) {
      assert.ok(Date.now() - start < 20_000, 'it was not kept');
      const answer = await world.as<Unreadable>(owner, 'GET', '/deployment/unreadable-replies');
      assert.equal(answer.status, 200);
      shown = answer.body;
    }
    assert.deepEqual([shown.counts[0]?.broker, shown.counts[0]?.call], ['alpaca', 'GET /v2/account']);
    assert.match(shown.replies[0]?.reply ?? '', /"state":"fine"/);
    assert.ok(!JSON.stringify(shown).includes('a-key-of-nobody'));
    const stranger = await world.makeTrader();
    assert.equal((await world.as(stranger, 'GET', '/deployment/unreadable-replies')).status, 403);
    const metrics = await world.request<string>({ method: 'GET', url: '/metrics' });
    assert.match(
      String(metrics.body),
      /fillpath_unreadable_replies_total\{broker="alpaca",call="GET \/v2\/account"\} \d/,
    );
  });
});
