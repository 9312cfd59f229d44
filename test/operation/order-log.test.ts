// One order's id finds all that was logged about it.

import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { logbook, openWorld, type Trader } from '../world.ts';

const named = (trader: Trader, order: string) => ({
  order_id: order,
  user_id: trader.user.id,
  trading_account_id: trader.account.id,
});

describe('The log', () => {
  test('tells of an order with its request, its account and its outcome, once at its end', async (t) => {
    const { log, lines } = logbook();
    const world = await openWorld(t, { log });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    const about = lines.filter(({ order_id }) => order_id === body.order_id);
    assert.deepEqual(
      about.map(({ msg, outcome }) => [msg, outcome]),
      [
        ['order ended', 'filled'],
        ['request', 'filled'],
      ],
    );
    const [ended, request] = about;
    assert.partialDeepStrictEqual(ended, {
      ...named(trader, body.order_id),
      broker: 'paper',
      host: `${hostname()}:${process.pid}`,
    });
    assert.equal(typeof ended?.ms, 'number');
    assert.partialDeepStrictEqual(request, { ...named(trader, body.order_id), status: 200 });
    assert.equal(ended?.request_id, request?.request_id);
  });

  test('tells of a refusal with whose webhook it was, and why', async (t) => {
    const { log, line } = logbook();
    const world = await openWorld(t, { log });
    const trader = await world.makeTrader();
    await world.send(trader, { secret: 'wrong' });
    assert.partialDeepStrictEqual(await line('request'), {
      user_id: trader.user.id,
      trading_account_id: trader.account.id,
      outcome: 'webhook_credential_attack',
      status: 401,
    });
  });

  test('tells who asks, where somebody is logged in', async (t) => {
    const { log, line } = logbook();
    const world = await openWorld(t, { log });
    const trader = await world.makeTrader();
    await world.as(trader, 'GET', '/trading/orders');
    assert.equal((await line('request')).user_id, trader.user.id);
  });

  test('tells of an order that is left to fill verification, and of the end that that found', async (t) => {
    const broker = scriptedBroker(t);
    const { log, lines, line } = logbook();
    const world = await openWorld(t, {
      log,
      brokers: broker.brokers,
      env: { FILL_FIRST_POLL_SECONDS: '0.01' },
    });
    broker.script('place', async (goodAnswer) => {
      await goodAnswer();
      return { outcome: 'unknown', reason: 'the line went dead' };
    });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    assert.equal(body.status, 'unknown');
    const ended = await line('order ended');
    assert.partialDeepStrictEqual(ended, { ...named(trader, body.order_id), outcome: 'filled' });
    const left = await line('order left to fill verification');
    assert.partialDeepStrictEqual(left, { ...named(trader, body.order_id), outcome: 'unknown' });
    assert.equal(left.request_id, ended.request_id);
    assert.equal(lines.filter(({ msg }) => msg === 'order ended').length, 1);
  });

  test('names a worker host as /deployment does', async (t) => {
    const { log, line } = logbook();
    const world = await openWorld(t, { log, env: { HOST_NAME: 'rack 7' } });
    const trader = await world.makeTrader({ isAdmin: true });
    await world.send(trader);
    const name = `rack 7:${process.pid}`;
    assert.equal((await line('worker host started')).host, name);
    assert.partialDeepStrictEqual(await line('worker started'), { host: name, user_id: trader.user.id });
    const { body } = await world.inSession<{ items: { host: string }[] }>(
      trader,
      'GET',
      '/deployment/workers',
    );
    assert.deepEqual(
      body.items.map(({ host }) => host),
      [name],
    );
  });
});
