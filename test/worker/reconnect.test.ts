// How a worker stays connected: a broker that cannot be reached, a connector that breaks, an account that changes.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import type { Parts } from '../../src/main.ts';
import { openWorld } from '../world.ts';
import { scriptedBroker, scriptedWorld } from './scripted-broker.ts';

describe('A broker that cannot be reached', () => {
  const down = () => Promise.reject(new BrokerUnavailable('connection refused'));

  for (const call of ['open', 'resolve', 'position', 'place'] as const) {
    test(`at ${call}, three times: the worker reconnects each time, and the order trades once`, async (t) => {
      const { broker, waits, world, trader } = await scriptedWorld(t);
      broker.script(call, down, 3);
      const { status, body } = await world.send(trader);
      assert.equal(status, 200);
      assert.equal(body.status, 'filled');
      assert.deepEqual(broker.trades(), ['buy 1']);
      assert.equal(broker.count('open'), 4);
      assert.deepEqual(waits, [100, 200, 400]);
    });

    test(`at ${call}, four times: failed with broker_unavailable, and nothing sent`, async (t) => {
      const { broker, world, trader } = await scriptedWorld(t);
      broker.script(call, down, 4);
      const { status, body } = await world.send(trader);
      assert.equal(status, 200);
      assert.equal(body.status, 'failed');
      assert.equal(body.error?.code, 'broker_unavailable');
      assert.match(body.error?.message ?? '', /connection refused/);
      assert.deepEqual(broker.trades(), []);
      const record = await world.order(trader, body.order_id);
      assert.equal(record.verification.state, 'none');
      const { body: next } = await world.send(trader);
      assert.equal(next.status, 'filled', 'the next request reconnects');
    });

    test(`at ${call}, four times: an exit makes its next round half a second later, and closes once`, async (t) => {
      const { broker, world, trader } = await scriptedWorld(t);
      broker.give(trader.account.id, 1);
      broker.script(call, down, 4);
      const { body } = await world.send(trader, { action: 'close_long' });
      assert.equal(body.status, 'filled', body.error?.message ?? '');
      assert.deepEqual(broker.trades(), ['sell 1']);
    });
  }

  test('until the deadline of an exit: it has expired, was not sent, and says what was in the way', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t, { env: { EXIT_DEADLINE_SECONDS: '1' } });
    broker.give(trader.account.id, 1);
    broker.script('position', down);
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.deepEqual([body.status, body.error?.code], ['expired', 'expired']);
    assert.match(body.error?.message ?? '', /connection refused/);
    assert.equal(broker.count('place'), 0);
  });

  test('a connection that broke is closed, and the next one is used', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('place', down, 1);
    await world.send(trader);
    const used = broker.calls.filter(({ call }) => call === 'place' || call === 'close');
    assert.deepEqual(
      used.map(({ call, connection }) => `${call} on ${connection}`),
      ['place on 1', 'close on 1', 'place on 2'],
    );
  });
});

describe('A connector that throws', () => {
  const broken = () => Promise.reject(new TypeError('undefined is not a function'));

  test('from place: the order is unknown and goes to fill verification; the worker lives on', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('place', broken, 1);
    const { status, body } = await world.send(trader);
    assert.equal(status, 200);
    assert.equal(body.status, 'unknown');
    assert.equal(broker.count('place'), 1, 'never sent again blindly');
    assert.equal((await world.order(trader, body.order_id)).verification.state, 'scheduled');
    assert.equal((await world.send(trader)).body.status, 'filled');
    assert.equal(broker.count('open'), 1);
  });

  test('from place, before it returns a promise: the order is unknown all the same', async (t) => {
    const broker = scriptedBroker(t);
    const brokers: Parts['brokers'] = {
      paper: async (account, signal) => ({
        ...(await broker.brokers.paper(account, signal)),
        place() {
          throw new TypeError('undefined is not a function');
        },
      }),
    };
    const world = await openWorld(t, { brokers, env: { RESPONSE_WAIT_SECONDS: '2' } });
    const { status, body } = await world.send(await world.makeTrader());
    assert.equal(status, 200);
    assert.equal(body.status, 'unknown');
  });

  for (const call of ['open', 'resolve', 'position'] as const)
    test(`from ${call}: as a broker that cannot be reached`, async (t) => {
      const { broker, world, trader } = await scriptedWorld(t, { env: { RESPONSE_WAIT_SECONDS: '2' } });
      broker.script(call, broken, 4);
      const { status, body } = await world.send(trader);
      assert.equal(status, 200);
      assert.equal(body.status, 'failed');
      assert.equal(body.error?.code, 'broker_unavailable');
      assert.deepEqual(broker.trades(), []);
      assert.equal((await world.send(trader)).body.status, 'filled');
    });
});

test('a call whose time is over is told so, and its connector has the last word', async (t) => {
  const { broker, world, trader } = await scriptedWorld(t, { env: { BROKER_TIMEOUT_SECONDS: '0.2' } });
  broker.script('position', async (_goodAnswer, _asked, signal) => {
    await once(signal, 'abort');
    throw new BrokerUnavailable('given up as asked');
  });
  const { body } = await world.send(trader);
  assert.equal(body.error?.code, 'broker_unavailable');
  assert.match(body.error?.message ?? '', /given up as asked/);
});

test('an account that changes is connected anew, the old connection closed', async (t) => {
  const { broker, world, trader } = await scriptedWorld(t);
  await world.send(trader);
  await world.setPaper(trader, { seed: 7 });
  await world.send(trader);
  assert.deepEqual(
    broker.calls
      .filter(({ call }) => ['open', 'close', 'place'].includes(call))
      .map(({ call, connection }) => `${call} ${connection}`),
    ['open 1', 'place 1', 'open 2', 'close 1', 'place 2'],
  );
  const last = broker.calls.findLast(({ call }) => call === 'open')?.asked as { paper: unknown };
  assert.deepEqual(last.paper, { latency_ms: 0, seed: 7 });
});
