// Reading of a broker costs what those who trade there need: it is answered from what is young, asked once for many, and bounded for
// each user. Whoever trades, or gets out, is never held back by it.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Halted } from '../../src/app/orders/halt.ts';
import { BrokerBusy } from '../../src/broker/broker.ts';
import type { Answer, Problem, Trader, World } from '../world.ts';
import { scriptedWorld } from './scripted-broker.ts';

interface Held {
  readonly items: readonly { readonly symbol: string; readonly quantity: number }[];
}

const read = <Body = Problem>(world: World, { account, ...who }: Trader, what: string) =>
  world.as<Body>({ account, ...who }, 'GET', `/trading/accounts/${account.id}/${what}`);

const quantities = async (world: World, trader: Trader): Promise<number[]> =>
  (await read<Held>(world, trader, 'positions')).body.items.map(({ quantity }) => quantity);

/** Each user may read so many times in a minute. */
const budgeted = (t: TestContext, reads: number) =>
  scriptedWorld(t, { env: { BROKER_READS_PER_MINUTE: `${reads}` } });

function assertLimited({ status, headers, body }: Answer<Problem>): void {
  assert.deepEqual([status, body.code], [429, 'rate_limited'], JSON.stringify(body));
  const seconds = Number(headers['retry-after']);
  assert.ok(seconds >= 1 && seconds <= 60, `after ${seconds} s`);
}

describe('What was read less than a second ago', () => {
  test('those who ask for the same at once are one question to the broker', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const held = broker.hold('balance');
    const asked = Array.from({ length: 20 }, () => read(world, trader, 'balance'));
    await held.reached;
    held.release();
    for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
    assert.equal(broker.count('balance'), 1);
  });

  test('an order empties it: the position is the one after the fill', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    assert.deepEqual(await quantities(world, trader), []);
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'filled');
    assert.deepEqual(await quantities(world, trader), [1]);
    assert.equal((await world.send(trader, { action: 'long_exit' })).body.status, 'filled');
    assert.deepEqual(await quantities(world, trader), []);
    assert.equal(broker.count('positions'), 3);
  });

  test('one that was asked before the order, and is answered after it, is not kept', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const held = broker.hold('positions', 'after');
    const before = quantities(world, trader);
    await held.reached;
    await world.send(trader, { action: 'long_entry' });
    assert.equal(broker.count('positions'), 1);
    const after = quantities(world, trader);
    held.release();
    assert.deepEqual([await before, await after], [[], [1]]);
  });

  test('a fill that is found later empties it', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t, {
      env: { FILL_FIRST_POLL_SECONDS: '3600' },
    });
    broker.fills = 'later';
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'placed');
    assert.deepEqual(await quantities(world, trader), []);
    broker.settle(broker.ledger[0], 'filled');
    const look = await world.as(trader, 'POST', `/trading/orders/${body.order_id}/look`);
    assert.equal(look.status, 202);
    await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status === 'filled',
    );
    assert.deepEqual(await quantities(world, trader), [1]);
  });

  test('an answer that there is none is not kept', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('balance', () => Promise.reject(new BrokerBusy('busy', 1, 'account')), 1);
    assert.equal((await read(world, trader, 'balance')).status, 503);
    await world.eventually(
      () => read(world, trader, 'balance'),
      ({ status }) => status === 200,
    );
  });

  test('what can be traded is the same for all: users who search at once are one question', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.listing = 'the same for all';
    const other = await world.makeTrader();
    const held = broker.hold('instruments');
    const first = read(world, trader, 'symbols?q=btc');
    await held.reached;
    const second = read(world, other, 'symbols?q=btc');
    await world.eventually(
      async () => broker.count('open'),
      (opened) => opened === 2,
    );
    held.release();
    assert.deepEqual([(await first).status, (await second).status], [200, 200]);
    assert.equal(broker.count('instruments'), 1);
  });
});

describe('What a user may read in a minute', () => {
  /** The connection's opening, and two more. */
  const THREE = ['symbols?q=a', 'symbols?q=b'];

  test('beyond it 429 with Retry-After, and the broker is not asked; nobody else notices', async (t) => {
    const { broker, world, trader } = await budgeted(t, 3);
    const other = await world.makeTrader();
    for (const what of THREE) assert.equal((await read(world, trader, what)).status, 200);
    const calls = broker.calls.length;
    for (const what of ['symbols?q=c', 'balance', 'positions'])
      assertLimited(await read(world, trader, what));
    const draft = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    assertLimited(await world.as<Problem>(trader, 'POST', '/trading/order/plan', draft));
    const path = `/trading/accounts/${trader.account.id}`;
    const message = JSON.stringify({ ...draft, timestamp: new Date().toISOString(), secret: trader.secret });
    assertLimited(await world.as<Problem>(trader, 'POST', `${path}/check`, { message }));
    assertLimited(await world.as<Problem>(trader, 'POST', `${path}/verify`));
    assert.equal(
      broker.calls.slice(calls).filter(({ call }) => call !== 'resolve').length,
      0,
      JSON.stringify(broker.calls.slice(calls)),
    );
    assert.equal((await read(world, other, 'balance')).status, 200);
  });

  test('who has read enough trades, closes, and is flattened by the kill switch', async (t) => {
    const { broker, world, trader } = await budgeted(t, 1);
    await read(world, trader, 'balance');
    assertLimited(await read(world, trader, 'balance'));
    for (const action of ['long_entry', 'long_exit', 'short_entry'])
      assert.equal((await world.send(trader, { action })).body.status, 'filled');
    const halt = await world.as<Halted>(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {
      flatten: true,
    });
    assert.deepEqual(
      [halt.status, halt.body.flatten_error, halt.body.flatten?.closed.length],
      [200, null, 1],
    );
    assert.equal(broker.position(trader.account.id), '0');
    assertLimited(await read(world, trader, 'balance'));
  });

  test('looks are counted, but for those at what may have to be closed', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t, {
      env: { BROKER_READS_PER_MINUTE: '1', FILL_FIRST_POLL_SECONDS: '3600' },
    });
    broker.give(trader.account.id, 5);
    broker.fills = 'later';
    const orders = [
      await world.send(trader, { action: 'long_entry', symbol: 'ETHUSDT' }),
      await world.send(trader, { action: 'long_exit' }),
    ];
    const [entry, exit] = orders.map(({ body }) => `/trading/orders/${body.order_id}/look`);
    assert.equal((await world.as(trader, 'POST', entry ?? '')).status, 202);
    assertLimited(await world.as<Problem>(trader, 'POST', entry ?? ''));
    assert.equal((await world.as(trader, 'POST', exit ?? '')).status, 202);
  });
});

describe('A gate that somebody’s reading has closed', () => {
  test('an exit of somebody else waits for it, and is made', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const reader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry' });
    broker.script('balance', () => Promise.reject(new BrokerBusy('too many requests', 400, 'address')), 1);
    const busy = await read(world, reader, 'balance');
    assert.deepEqual([busy.status, busy.body.code], [503, 'broker_unavailable']);
    const exit = await world.send(trader, { action: 'long_exit' });
    assert.deepEqual([exit.status, exit.body.status, exit.body.error], [200, 'filled', null]);
    assert.equal(broker.position(trader.account.id), '0');
  });
});
