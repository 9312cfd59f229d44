// A switch that a call does not know is refused, and never just left out: who rehearses, or stops, must not trade in
// earnest because of a spelling. The routes are the server's own table, so a new one cannot be forgotten.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import type { Route } from '../../src/http/guards.ts';
import { makeSession, SIGNED } from '../accounts/credentials.ts';
import { openWorld, type Problem, type Trader } from '../world.ts';

/** Pages, their files and probes: whatever somebody hangs onto their address, nothing is decided by it. */
const IGNORES_IT = /^\/(docs(\/.*)?|health(\/live)?|metrics)$/;

const order = ({ account }: Trader) => ({
  trading_account_id: account.id,
  action: 'buy',
  symbol: 'BTCUSDT',
  quantity: 1,
});

describe('a query parameter that a call does not know', () => {
  test('is refused by every route of the API, which names it', async (t) => {
    const world = await openWorld(t, { env: { ...SIGNED, RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader({ isAdmin: true });
    const { bearer } = await makeSession(world, trader.user);
    const ask = ({ method, url }: Route, query: string) =>
      world.request<Problem & { error_description?: string }>({
        method: method as 'GET',
        url: `${url.replace(':token', trader.account.webhookToken).replace(/:\w+/g, trader.account.id)}?${query}`,
        headers: bearer,
        ...(method === 'GET' ? {} : { body: {} }),
      });
    await world.server.ready();
    const routes = world.server.routeTable.filter(({ method }) => method !== 'HEAD');
    for (const route of routes) {
      const known = Object.keys(route.query?.properties ?? {});
      const wrong = [
        'simulate=true',
        'SIMULATION=1',
        '__proto__=1',
        ...known.map((name) => `${name.toUpperCase()}=1`),
      ];
      for (const query of wrong) {
        const { status, body } = await ask(route, query);
        const call = `${route.method} ${route.url}?${query}`;
        if (IGNORES_IT.test(route.url)) {
          assert.equal(status, 200, call);
          continue;
        }
        assert.equal(status, 400, call);
        const [name = ''] = query.split('=');
        assert.ok(
          (body.detail ?? body.error_description ?? '').includes(name),
          `${call}: ${JSON.stringify(body)}`,
        );
      }
    }
    assert.ok(routes.length > 50);
  });

  test('never trades: POST /trading/order?simulation=true, where simulation is a field of the body', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const query of [
      'simulation=true',
      'Simulation=true',
      'simulation',
      'dry_run=1',
      'simulation[]=true',
    ]) {
      const answer = await world.as<Problem>(trader, 'POST', `/trading/order?${query}`, order(trader));
      assert.deepEqual([answer.status, answer.body.code], [400, 'request_invalid'], query);
    }
    const { body } = await world.as<Problem>(trader, 'POST', '/trading/order?simulation=true', order(trader));
    assert.match(body.detail, /^"simulation" .*field of the body/);
    assert.deepEqual(await world.orders(trader), []);
  });

  test('halts nothing by half: POST …/halt?flatten=true is refused as a whole, and says where flatten belongs', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const url = `/trading/accounts/${trader.account.id}/halt?flatten=true`;
    const { status, body } = await world.as<Problem>(trader, 'POST', url);
    assert.deepEqual([status, body.code], [400, 'request_invalid']);
    assert.match(body.detail, /^"flatten" .*field of the body/);
    const row = await world.db.get<{ halted: number }>(
      sql`select halted from trading_accounts where id = ${trader.account.id}`,
    );
    assert.equal(Boolean(row?.halted), false);
  });

  test('on a webhook is a payload that is invalid: after the address, before the symbol, in the audit log', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { allowedSymbols: ['ETHUSDT'] });
    for (const query of [
      '?simulate=true',
      '?Simulation=true',
      '?simulation=true&x=',
      '?simulation[]=1',
      '?dry',
    ]) {
      const { status, body } = await world.send<Problem>(trader, {}, { query });
      assert.deepEqual([status, body.code], [400, 'webhook_payload_invalid'], query);
      assert.ok(!body.detail.includes('allowed list'), body.detail);
    }
    const { body } = await world.send<Problem>(trader, {}, { query: '?simulate=true' });
    assert.match(body.detail, /simulate/);
    const last = (await world.audits(trader)).at(-1);
    assert.deepEqual([last?.action, last?.success], ['webhook_payload_invalid', 0]);
    assert.equal(JSON.parse(last?.metadata ?? '{}').attack_type, 'malformed_payload');
    assert.equal(last?.resource_id, trader.account.id);
    await world.allowIps(trader, '203.0.113.1');
    const blocked = await world.send<Problem>(trader, {}, { query: '?simulate=true' });
    assert.equal(blocked.body.code, 'webhook_ip_blocked');
    assert.deepEqual(await world.orders(trader), []);
  });

  test('is refused by nobody who has not been let in: an unknown token and a missing session come first', async (t) => {
    const world = await openWorld(t);
    const strange = await world.request({
      method: 'POST',
      url: '/webhook/nobody/order?simulate=1',
      body: {},
    });
    assert.equal(strange.status, 404);
    assert.equal((await world.request({ method: 'GET', url: '/trading/accounts?x=1' })).status, 401);
    assert.equal((await world.request({ method: 'GET', url: '/nowhere?x=1' })).status, 404);
  });
});

describe('a query parameter that is given twice', () => {
  test('is refused, even with the same value', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const query of [
      'limit=5&limit=5',
      'status=filled&status=filled',
      'limit=&limit=5',
      'l%69mit=5&limit=5',
    ]) {
      const { status, body } = await world.as<Problem>(trader, 'GET', `/trading/orders?${query}`);
      assert.deepEqual([status, body.code], [400, 'request_invalid'], query);
      assert.match(body.detail, /^"(limit|status)" is given twice/);
    }
    const twice = await world.send<Problem>(trader, {}, { query: '?simulation=true&simulation=true' });
    assert.deepEqual([twice.status, twice.body.code], [400, 'webhook_payload_invalid']);
    assert.match(twice.body.detail, /simulation.*twice/);
    assert.deepEqual(await world.orders(trader), []);
  });
});

describe('the documentation', () => {
  test('says that unknown parameters are refused, and lists the refusal at every route that makes it', async (t) => {
    const world = await openWorld(t);
    const { body } = await world.request<{
      info: { description: string };
      paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    }>({ method: 'GET', url: '/openapi.json' });
    assert.match(body.info.description, /query parameter .*refused with 400/);
    for (const [path, calls] of Object.entries(body.paths))
      for (const [method, { responses }] of Object.entries(calls))
        assert.equal('400' in responses, !IGNORES_IT.test(path), `${method} ${path}`);
  });
});
