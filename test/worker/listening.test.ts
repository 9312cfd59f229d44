// What a broker tells by itself makes a look come now, and nothing else: it is never believed, never waited for, and whatever
// goes wrong with it is not noticed by anybody who trades.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BrokerUnavailable, CredentialsRejected, type OrderHint } from '../../src/broker/broker.ts';
import type { AccountId, OrderId } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import type { Connections } from '../../src/worker/line/connections.ts';
import type { Line } from '../../src/worker/line/line.ts';
import { createListening, type ListeningDeps } from '../../src/worker/line/listening.ts';
import { openWorld } from '../world.ts';
import { scriptedBroker } from './scripted-broker.ts';

/** The checks of the queue come in an hour: what is known sooner was heard. */
const AN_HOUR = { FILL_FIRST_POLL_SECONDS: '3600', FILL_REQUEUE_SECONDS: '3600' };
const AT_ONCE = { FILL_FIRST_POLL_SECONDS: '0.05', FILL_REQUEUE_SECONDS: '0.05' };

async function restingOrder(
  t: TestContext,
  env: Record<string, string>,
  tells: true | (() => Promise<void>),
) {
  const broker = scriptedBroker(t);
  broker.fills = 'later';
  broker.tells = tells;
  const world = await openWorld(t, { brokers: broker.brokers, env, wait: async () => {} });
  const trader = await world.makeTrader();
  const { body } = await world.send(trader, { action: 'long_entry' });
  assert.equal(body.status, 'placed');
  const [order] = broker.ledger;
  assert.ok(order);
  return { broker, world, trader, order, id: body.order_id, account: trader.account.id };
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const start = Date.now(); !(await isSo()); await sleep(5))
    assert.ok(Date.now() - start < 60_000, 'it does not happen');
}

describe('What a broker tells', () => {
  for (const name of ['clientOrderId', 'brokerRef'] as const)
    test(`a fill that is told by its ${name} is known at once`, async (t) => {
      const { broker, world, trader, order, id, account } = await restingOrder(t, AN_HOUR, true);
      await until(() => broker.ears.has(account));
      broker.settle(order, 'filled');
      const hint: OrderHint = { clientOrderId: null, brokerRef: null };
      const named = name === 'brokerRef' ? order.state.brokerRef : order.clientOrderId;
      broker.ears.get(account)?.({ ...hint, [name]: named });
      await until(async () => (await world.order(trader, id)).status === 'filled');
      assert.equal((await world.order(trader, id)).verification.state, 'done');
    });

  test('a fill that came before anybody listened is found when the stream opens', async (t) => {
    const { broker, world, trader, order, id } = await restingOrder(t, AN_HOUR, () =>
      Promise.reject(new BrokerUnavailable('it was cut')),
    );
    await until(() => broker.streams > 0);
    broker.settle(order, 'filled');
    broker.tells = true;
    await until(async () => (await world.order(trader, id)).status === 'filled');
  });

  test('what is told is not believed: the broker is asked, and what it says counts', async (t) => {
    const { broker, world, trader, order, id, account } = await restingOrder(t, AN_HOUR, true);
    await until(() => broker.ears.has(account));
    const before = broker.count('find');
    broker.ears.get(account)?.({ clientOrderId: order.clientOrderId, brokerRef: null });
    await until(() => broker.count('find') > before);
    const { status, verification } = await world.order(trader, id);
    assert.deepEqual([status, verification.attempts], ['placed', 0], 'no try is used up by it');
  });

  test('no stream is opened for what is filled while its sender waits', async (t) => {
    const broker = scriptedBroker(t);
    broker.tells = true;
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'filled');
    broker.fills = 'later';
    await world.send(trader, { action: 'long_entry' }, { query: '?simulation=true' });
    assert.equal(broker.streams, 0);
  });

  for (const [words, fault] of [
    ['breaks', () => Promise.reject(new BrokerUnavailable('it was cut'))],
    ['refuses the login', () => Promise.reject(new CredentialsRejected('no'))],
    [
      'throws what it likes',
      () => {
        throw new TypeError('undefined is not a function');
      },
    ],
    ['ends without a word', async () => {}],
  ] as const)
    test(`a stream that ${words} is not noticed: fills are looked for, and the credentials stay good`, async (t) => {
      const { broker, world, trader, order, id } = await restingOrder(t, AT_ONCE, fault);
      await until(() => broker.streams > 0);
      broker.settle(order, 'filled');
      await until(async () => (await world.order(trader, id)).status === 'filled');
      assert.equal(broker.count('open'), 1, 'the connection is as it was');
      broker.fills = 'at once';
      assert.equal((await world.send(trader, { action: 'close_long' })).body.status, 'filled');
    });
});

/** Listening by itself, at a line that a test holds. */
function heard(t: TestContext, times: ListeningDeps['times'] = {}, line: Partial<Line> = {}) {
  const asked: OrderId[] = [];
  const warnings: object[] = [];
  const streams: { tell(hint: OrderHint | null): void; readonly signal: AbortSignal }[] = [];
  const watched = {
    busyMs: () => 0,
    watch(tell: (hint: OrderHint | null) => void, signal: AbortSignal) {
      streams.push({ tell, signal });
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    ...line,
  } as Line;
  const use: Connections['use'] = (_target, task) => task(watched);
  const listening = createListening({
    connections: { use },
    askForLook: async (order) => void asked.push(order),
    clock: Date,
    log: { warn: (context) => void warnings.push(context) },
    times: { spacingMs: 10, lingerMs: 10, firstRetryMs: 1, ...times },
  });
  t.after(() => listening.close());
  return { listening, asked, warnings, streams };
}

const resting = (id: string, status = 'placed'): Order =>
  ({
    id: id as OrderId,
    accountId: 'account' as AccountId,
    simulation: false,
    legs: [{ leg: 'entry', clientOrderId: `client-${id}`, brokerRef: `ref-${id}`, status }],
  }) as unknown as Order;

const about = (id: string): OrderHint => ({ clientOrderId: `client-${id}`, brokerRef: null });

/** Whoever is not heard of is looked at soon. */
const UNHEARD = { unheardMs: 5, firstRetryMs: 60_000 };

const MANY = [...'abcdefghijklmnopqrst'];

describe('Listening', () => {
  test('one stream serves all orders of an account, and is closed a while after the last of them', async (t) => {
    const { listening, streams } = heard(t);
    for (const id of ['a', 'b', 'a']) listening.note(resting(id));
    await until(() => streams.length === 1);
    listening.note(resting('a', 'filled'));
    await sleep(30);
    assert.equal(streams[0]?.signal.aborted, false, 'b still waits');
    listening.forget(resting('b'));
    await until(() => streams[0]?.signal.aborted === true);
    listening.note(resting('c'));
    await until(() => streams.length === 2);
  });

  test('an order that comes while it lingers keeps it open', async (t) => {
    const { listening, streams } = heard(t, { lingerMs: 50 });
    listening.note(resting('a'));
    await until(() => streams.length === 1);
    listening.forget(resting('a'));
    listening.note(resting('b'));
    await sleep(100);
    assert.deepEqual([streams.length, streams[0]?.signal.aborted], [1, false]);
  });

  test('a thousand fills of one order are few looks, the last of them after the last fill', async (t) => {
    const { listening, asked, streams } = heard(t, { spacingMs: 250 });
    listening.note(resting('a'));
    await until(() => streams.length === 1);
    for (let fills = 0; fills < 1_000; fills++) streams[0]?.tell(about('a'));
    await until(() => asked.length === 2);
    await sleep(300);
    assert.equal(asked.length, 2);
  });

  test('of all that wait when a stream opens a few are looked at at once, and no more', async (t) => {
    const { listening, asked, streams } = heard(t, { burst: 3, paceMs: 60_000 });
    for (const id of MANY) listening.note(resting(id));
    await until(() => streams.length === 1);
    streams[0]?.tell(null);
    await until(() => asked.length === 3);
    // Again, and by their names: nothing is looked at sooner for it.
    streams[0]?.tell(null);
    for (const id of MANY) streams[0]?.tell(about(id));
    await sleep(50);
    assert.equal(asked.length, 3);
  });

  test('each of them is looked at once in the end', async (t) => {
    const { listening, asked, streams } = heard(t, { burst: 3, paceMs: 2 });
    for (const id of MANY) listening.note(resting(id));
    await until(() => streams.length === 1);
    streams[0]?.tell(null);
    await until(() => asked.length === MANY.length);
    await sleep(20);
    assert.deepEqual(asked.toSorted(), MANY.toSorted());
  });

  test('one of which something was told comes before those of which nobody knows', async (t) => {
    const { listening, asked, streams } = heard(t, { burst: 2, paceMs: 250 });
    for (const id of MANY) listening.note(resting(id));
    await until(() => streams.length === 1);
    streams[0]?.tell(null);
    await until(() => asked.length === 2);
    streams[0]?.tell(about('t'));
    await until(() => asked.length === 3);
    assert.equal(asked[2], 't');
  });

  test('one account’s looks keep no other account waiting', async (t) => {
    const { listening, asked, streams } = heard(t, { burst: 1, paceMs: 60_000 });
    for (const id of MANY) listening.note(resting(id));
    await until(() => streams.length === 1);
    streams[0]?.tell(null);
    await until(() => asked.length === 1);
    listening.note({ ...resting('other'), accountId: 'another' as AccountId });
    await until(() => streams.length === 2);
    streams[1]?.tell(null);
    await until(() => asked.length === 2);
    assert.equal(asked[1], 'other');
  });

  test('a word of an order that nobody waits for, or of none, makes no look', async (t) => {
    const { listening, asked, streams } = heard(t);
    listening.note(resting('a'));
    await until(() => streams.length === 1);
    streams[0]?.tell(about('b'));
    streams[0]?.tell({ clientOrderId: null, brokerRef: null });
    streams[0]?.tell(about('a'));
    await until(() => asked.length > 0);
    assert.deepEqual(asked, ['a']);
  });

  test('a look waits until the broker takes questions again', async (t) => {
    let busyMs = 40;
    const { listening, asked, streams } = heard(t, {}, { busyMs: () => busyMs });
    listening.note(resting('a'));
    await until(() => streams.length === 1);
    streams[0]?.tell(about('a'));
    assert.deepEqual(asked, []);
    busyMs = 0;
    await until(() => asked.length === 1);
  });

  test('what nobody looks at any more is not waited for for ever', async (t) => {
    const { listening, streams } = heard(t, { waitMs: 20 });
    listening.note(resting('a'));
    await until(() => streams[0]?.signal.aborted === true);
  });

  test('a stream that fails again and again is opened more and more seldom, and told of once', async (t) => {
    let opened = 0;
    const watch = () => {
      opened++;
      return Promise.reject(new BrokerUnavailable('it was cut'));
    };
    const { listening, warnings } = heard(t, { firstRetryMs: 4, longestRetryMs: 40 }, { watch });
    listening.note(resting('a'));
    await until(() => opened > 4);
    assert.equal(warnings.length, 1);
    assert.deepEqual(warnings[0], { account: 'account', reason: 'it was cut' });
  });

  test('a broker that tells nothing is asked for no stream twice', async (t) => {
    const uses: unknown[] = [];
    const listening = createListening({
      connections: {
        use: (target, task) => {
          uses.push(target);
          return task({ busyMs: () => 0 } as Line);
        },
      },
      askForLook: async () => {},
      clock: Date,
      log: { warn: () => {} },
    });
    t.after(() => listening.close());
    listening.note(resting('a'));
    await sleep(10);
    listening.note(resting('b'));
    await sleep(10);
    assert.equal(uses.length, 1);
  });

  for (const [words, line] of [
    ['tells nothing', { watch: undefined }],
    ['has cut the stream', { watch: () => Promise.reject(new BrokerUnavailable('it was cut')) }],
    ['has not opened the stream yet', {}],
  ] as const)
    test(`an order that asks for protection is looked at again and again where the broker ${words}`, async (t) => {
      const { listening, asked } = heard(t, { ...UNHEARD, awayMs: 1 }, line as Partial<Line>);
      listening.note(resting('without'));
      listening.note({ ...resting('with'), wish: {} } as Order);
      await until(() => asked.length >= 3);
      assert.deepEqual(new Set(asked), new Set(['with']));
      listening.note({ ...resting('late'), wish: {} } as Order);
      await until(() => asked.includes('late' as OrderId));
      for (const id of ['with', 'late']) listening.forget(resting(id));
      const { length } = asked;
      await sleep(30);
      assert.equal(asked.length, length, 'nothing of it is looked at afterwards');
    });

  test('it is not asked for again before the last look has come back, or was away for long', async (t) => {
    const { listening, asked } = heard(t, UNHEARD, {});
    const order = { ...resting('a'), wish: {} } as Order;
    listening.note(order);
    await until(() => asked.length === 1);
    await sleep(40);
    assert.equal(asked.length, 1);
    listening.note(order);
    await until(() => asked.length === 2);
  });

  for (const [words, more] of [
    [
      'has only its close open',
      { legs: [{ leg: 'exit', clientOrderId: 'x', brokerRef: null, status: 'placed' }] },
    ],
    [
      'is in doubt since an hour',
      { legs: [{ leg: 'entry', status: 'unknown', sentAt: '2026-01-01T00:00:00Z' }] },
    ],
  ] as const)
    test(`one that ${words} has nothing to protect, and waits for its time`, async (t) => {
      const { listening, asked } = heard(t, UNHEARD, {});
      listening.note({ ...resting('a'), wish: {}, ...more } as unknown as Order);
      listening.note({ ...resting('b'), wish: {} } as Order);
      await until(() => asked.length === 1);
      await sleep(30);
      assert.deepEqual(asked, ['b']);
    });

  test('nobody is asked with credentials that were refused', async (t) => {
    const watch = () => Promise.reject(new CredentialsRejected('no'));
    const { listening, asked, warnings } = heard(t, UNHEARD, { watch });
    listening.note({ ...resting('a'), wish: {} } as Order);
    await until(() => warnings.length === 1);
    await sleep(40);
    assert.deepEqual(asked, []);
  });

  test('while the stream is open, nobody looks for what is not told', async (t) => {
    const { listening, asked, streams } = heard(t, { unheardMs: 15 });
    listening.note({ ...resting('a'), wish: {} } as Order);
    await until(() => streams.length === 1);
    streams[0]?.tell(null);
    await until(() => asked.length === 1);
    await sleep(60);
    assert.equal(asked.length, 1);
  });

  test('closing ends every stream at once, and nothing is listened for afterwards', async (t) => {
    const { listening, streams } = heard(t);
    listening.note(resting('a'));
    await until(() => streams.length === 1);
    listening.close();
    assert.equal(streams[0]?.signal.aborted, true);
    listening.note(resting('b'));
    await sleep(10);
    assert.equal(streams.length, 1);
  });
});

test('Of an account that is held, what happened is told apart from what may have while nobody listened', async () => {
  const heard: (string | null)[] = [];
  const line = {
    watch(tell: (hint: OrderHint | null) => void) {
      tell(null);
      tell({ clientOrderId: 'a stop', brokerRef: null } as unknown as OrderHint);
      return new Promise<void>(() => {});
    },
  } as unknown as Line;
  const listening = createListening({
    connections: { use: (_target, task) => task(line) } as Pick<Connections, 'use'>,
    askForLook: async () => {},
    onHint: (_account, hint) => heard.push(hint === null ? null : hint.clientOrderId),
    clock: Date,
    log: { warn() {} },
  });
  listening.hold('one' as AccountId, true);
  await until(() => heard.length === 2);
  listening.close();
  assert.deepEqual(heard, [null, 'a stop']);
});
