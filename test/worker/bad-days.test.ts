// Defects of the core that were found by attacking it: each of these tests failed once.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  BrokerBusy,
  type Brokers,
  BrokerUnavailable,
  type Capabilities,
  CredentialsRejected,
} from '../../src/broker/broker.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { DatabaseUnavailable, sql } from '../../src/data/engine/db.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type AccountId, type OrderId, timestamp, type UserId } from '../../src/domain/ids.ts';
import { NO_NOTES, type Order } from '../../src/domain/orders/order.ts';
import { UNTRACED } from '../../src/domain/tracing.ts';
import type { Execution } from '../../src/worker/lane/execution.ts';
import { createResting } from '../../src/worker/lane/resting.ts';
import { openTrades } from '../../src/worker/lane/trades.ts';
import { workOff } from '../../src/worker/lane/work-off.ts';
import { createConnections } from '../../src/worker/line/connections.ts';
import { createGates } from '../../src/worker/line/gate.ts';
import { createRates } from '../../src/worker/line/rates.ts';
import { die } from '../orders/recovery-desk.ts';
import { stopwatch } from '../stopwatch.ts';
import { logbook, openWorld, settableClock, type Trader, type World } from '../world.ts';
import { scriptedBroker } from './scripted-broker.ts';

const pass = async () => {};
const reallyWait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('What was certainly not sent', () => {
  test('does not stand as if it had been: no leg of it is left', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.script('place', () => Promise.reject(new BrokerUnavailable('connection reset')));
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual([body.status, body.error?.code], ['failed', 'broker_unavailable']);
    const legs = await world.db.all(sql`select status from order_legs where order_id = ${body.order_id}`);
    assert.deepEqual(legs, []);
  });
});

describe('Stuck', () => {
  test('a reversal whose close was refused (nothing held) and whose entry met a broken connection comes to an end', async (t) => {
    const broker = scriptedBroker(t);
    const { log, lines } = logbook();
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: pass,
      log,
      env: { RESPONSE_WAIT_SECONDS: '3' },
    });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 2);
    broker.script(
      'place',
      async (goodAnswer) => {
        broker.give(trader.account.id, 0);
        return goodAnswer();
      },
      1,
    );
    broker.script('place', () => Promise.reject(new BrokerUnavailable('connection reset')), 1);
    const { body } = await world.send(trader, { action: 'short_entry' });
    const failed = lines.find(({ msg }) => msg === 'a request to the worker failed');
    assert.equal(body.status, 'filled', JSON.stringify(failed ?? body.error).slice(0, 400));
    assert.deepEqual(broker.trades(), ['sell 1']);
  });

  test('… and is not left executing for ever after its deadline either', async (t) => {
    const broker = scriptedBroker(t);
    const clock = settableClock();
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: pass,
      clock,
      env: { RESPONSE_WAIT_SECONDS: '1' },
    });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 2);
    broker.script(
      'place',
      async (goodAnswer) => {
        broker.give(trader.account.id, 0);
        return goodAnswer();
      },
      1,
    );
    broker.script('place', () => Promise.reject(new BrokerUnavailable('connection reset')), 1);
    const { body } = await world.send(trader, { action: 'short_entry' });
    clock.advance(3_600_000);
    // Whatever comes next works off what stands before it.
    await world.send(trader, { action: 'long_entry' });
    await world.restart();
    await world.send(trader, { action: 'long_entry' });
    const record = await world.order(trader, body.order_id);
    assert.notEqual(record.status, 'executing');
  });
});

describe('Planned on a wrong position', () => {
  test('without reduce-only, a position that lags behind the close is not closed a second time', async (t) => {
    const broker = scriptedBroker(t, { reduceOnly: false });
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 3);
    // This broker does not clamp, as it says of itself.
    broker.script('place', async (_, order) => {
      broker.ledger.push({
        ...order,
        account: trader.account.id,
        symbol: 'BTCUSDT',
        state: {
          brokerRef: `r${broker.ledger.length}`,
          status: 'filled',
          fillQuantity: order.quantity,
          fillPrice: decimal(100),
          fee: null,
          reason: null,
        },
      });
      return { outcome: 'accepted', state: broker.ledger.at(-1)?.state as never };
    });
    const first = await world.send(trader, { action: 'close_long' });
    assert.equal(first.body.status, 'filled');
    broker.script('position', async () => decimal(3), 1);
    await world.send(trader, { action: 'close_long' });
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('an entry against a fill that the position does not show yet reverses it', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry' });
    broker.script('position', async () => decimal(0), 1);
    const { body } = await world.send(trader, { action: 'short_entry' });
    assert.equal(body.status, 'filled');
    assert.equal(broker.position(trader.account.id), '-1');
  });

  test('an entry against one that rests, and may be filled by now, is as patient with a busy broker as an exit', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    const { body: resting } = await world.send(trader, { action: 'long_entry' });
    assert.equal(resting.status, 'placed');
    broker.settle(broker.ledger[0], 'filled');
    broker.fills = 'at once';
    let busy = 8;
    for (const call of ['find', 'position'] as const)
      broker.script(call, (goodAnswer) =>
        busy-- > 0 ? Promise.reject(new BrokerBusy('slow down', 20)) : goodAnswer(),
      );
    const { body } = await world.send(trader, { action: 'short_entry' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '-1');
  });

  test('without reduce-only, an old exit that has long been filled does not keep a new position from being closed', async (t) => {
    const broker = scriptedBroker(t, { reduceOnly: false });
    const clock = settableClock();
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass, clock });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    const exit = await world.send(trader, { action: 'close_long' });
    assert.equal(exit.body.status, 'placed');
    // Fill verification has given up: a dead letter. Then the broker fills it.
    await world.db.commit([
      sql`update fill_checks set state = 'dead_letter' where order_id = ${exit.body.order_id}`,
    ]);
    broker.settle(broker.ledger[0], 'filled');
    clock.advance(3_600_000);
    broker.fills = 'at once';
    await world.send(trader, { action: 'long_entry', quantity: 2 });
    assert.equal(broker.position(trader.account.id), '2');
    const close = await world.send(trader, { action: 'close_long' });
    assert.equal(close.body.status, 'filled', close.body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });
});

describe('Credentials', () => {
  test('that were changed meanwhile are not condemned by the refusal of the old ones', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    // The old key is revoked at the broker while an order is on its way over it, and the new one is stored and verified.
    broker.script(
      'position',
      async () => {
        await world.db.commit([
          sql`update trading_accounts set connection_version = connection_version + 1,
                credentials_version = credentials_version + 1 where id = ${trader.account.id}`,
        ]);
        throw new CredentialsRejected('this key was revoked');
      },
      1,
    );
    await world.send(trader, { action: 'long_entry' });
    const row = await world.db.get<{ broker_credentials_verified: unknown }>(
      sql`select broker_credentials_verified from trading_accounts where id = ${trader.account.id}`,
    );
    const next = await world.send(trader, { action: 'long_entry' });
    assert.equal(Boolean(row?.broker_credentials_verified), true, 'the new ones are still verified');
    assert.equal(next.body.status, 'filled', next.body.error?.message ?? '');
  });

  test('an order that came after a change is not traded over a connection of before', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    const held = broker.hold('open');
    const positions = world.as(trader, 'GET', `/trading/accounts/${trader.account.id}/positions`);
    await held.reached;
    await world.setPaper(trader, { seed: 77 });
    const order = world.send(trader, { action: 'long_entry' });
    await world.eventually(
      () => world.orders(trader),
      (orders) => orders.length === 1,
    );
    await reallyWait(200);
    held.release();
    await positions;
    assert.equal((await order).body.status, 'filled');
    const placed = broker.calls.find(({ call }) => call === 'place');
    const over = broker.calls.find(
      ({ call, connection }) => call === 'open' && connection === placed?.connection,
    );
    assert.deepEqual((over?.asked as { paper: unknown } | undefined)?.paper, { latency_ms: 0, seed: 77 });
  });

  test('a look does not take the order’s version for the connection’s', async (t) => {
    const broker = scriptedBroker(t);
    const clock = settableClock();
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass, clock });
    const trader = await world.makeTrader({}, { connectionVersion: 4 });
    broker.fills = 'later';
    const { body } = await world.send(trader, { action: 'long_entry' });
    const row = await world.db.get<{ version: number }>(
      sql`select version from order_history where order_id = ${body.order_id}`,
    );
    assert.equal(row?.version, 4, 'as it happens, the version of the connection');
    await world.setPaper(trader, { seed: 78 });
    clock.advance(2_500);
    await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.attempts === 1,
    );
    assert.equal(broker.calls.findLast(({ call }) => call === 'find')?.connection, 2);
  });

  test('a plan, and a sync’s look at the position, do not either: they are asked over the connection of now', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader({}, { connectionVersion: 1 });
    await world.send(trader, { action: 'long_entry' });
    await world.setPaper(trader, { seed: 78 });
    const sync = { action: 'sync', quantity: null, market_position: 'long', market_position_size: 1 };
    assert.equal((await world.send(trader, sync)).status, 200);
    assert.equal(broker.calls.findLast(({ call }) => call === 'position')?.connection, 2);
  });
});

describe('Busy', () => {
  test('a broker that says so when it is connected to is waited for too', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: reallyWait });
    const trader = await world.makeTrader();
    broker.script('open', () => Promise.reject(new BrokerBusy('too many logins', 200)), 1);
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled', `${body.status}: ${body.error?.message}`);
  });

  test('… and is not connected to again before its time', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: reallyWait });
    const trader = await world.makeTrader();
    broker.script('open', () => Promise.reject(new BrokerBusy('too many logins', 60_000)));
    for (let more = 0; more < 5; more++) await world.send(trader, { action: 'long_entry' });
    assert.equal(broker.count('open'), 1);
  });

  test('a delay that is no number shuts nobody out for ever', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: reallyWait });
    const trader = await world.makeTrader();
    broker.script('position', () => Promise.reject(new BrokerBusy('busy', Number.NaN)), 1);
    await world.send(trader, { action: 'long_entry' });
    await reallyWait(1_500);
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
  });
});

describe('Time and connections', () => {
  test('a look at other orders has no more time than there is for all of them', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      env: { REVERSAL_POLLS: '2', REVERSAL_POLL_MS: '50', BROKER_TIMEOUT_SECONDS: '10' },
    });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    await world.send(trader, { action: 'long_entry' });
    broker.script('find', async (_goodAnswer, _asked, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw new BrokerUnavailable('aborted');
    });
    broker.fills = 'at once';
    const passed = stopwatch();
    await world.send(trader, { action: 'long_entry' });
    assert.ok(passed() < 5_000);
  });

  test('a connection that is opened after its time is closed', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: pass,
      env: { BROKER_TIMEOUT_SECONDS: '0.3' },
    });
    const trader = await world.makeTrader();
    broker.script(
      'open',
      async (goodAnswer) => {
        await reallyWait(1_500);
        return goodAnswer();
      },
      1,
    );
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled');
    await reallyWait(800);
    assert.deepEqual([broker.count('open'), broker.count('close')], [2, 1]);
  });

  test('a reversal’s close that fills is seen though the connection broke after its acknowledgement', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, -2);
    broker.script(
      'place',
      async (goodAnswer) => {
        broker.fills = 'later';
        const answer = await goodAnswer();
        broker.fills = 'at once';
        return answer;
      },
      1,
    );
    broker.script('find', async (goodAnswer) => {
      const order = broker.ledger[0];
      if (order?.state.status === 'placed') broker.settle(order, 'filled');
      // The first connection is dead; any other works.
      const connection = broker.calls.findLast(({ call }) => call === 'find')?.connection;
      if (connection === 1) throw new BrokerUnavailable('the socket is closed');
      return goodAnswer();
    });
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('a close that the broker refused is not called lost because the next question failed', async (t) => {
    const broker = scriptedBroker(t, { refusesDuplicateIds: false });
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 2);
    broker.script(
      'place',
      async (goodAnswer) => {
        broker.give(trader.account.id, 0);
        return goodAnswer();
      },
      1,
    );
    broker.script('position', (goodAnswer) => goodAnswer(), 1);
    broker.script('position', () => Promise.reject(new BrokerUnavailable('flap')), 1);
    const { body } = await world.send(trader, { action: 'short_entry' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
  });
});

describe('A close on a bad day', () => {
  const USER = '00000000-0000-7000-8000-000000000001' as UserId;
  const ACCOUNT = '00000000-0000-7000-8000-000000000002' as AccountId;
  const close = (n: number): Order => ({
    id: `00000000-0000-7000-8000-00000000010${n}` as OrderId,
    version: 1,
    requestId: null,
    userId: USER,
    accountId: ACCOUNT,
    brokerName: 'paper',
    source: 'webhook',
    simulation: false,
    symbol: 'BTCUSDT',
    action: 'close_long',
    orderType: null,
    intent: { operation: 'CLOSE_POSITION', direction: 'long' },
    quantity: decimal(3),
    notes: NO_NOTES,
    guards: [],
    status: 'queued',
    error: null,
    positionBefore: null,
    autoExit: false,
    awaitsRest: false,
    legs: [],
    credentialsVersion: null,
    exitError: null,
    submittedAt: timestamp(Date.now()),
    deadlineAt: timestamp(Date.now() + 60_000),
    filledAt: null,
    trace: {},
  });

  interface Day {
    readonly able: Partial<Capabilities>;
    readonly closes: readonly Order[];
    /** Before what is to be closed is sent: true, where something was in the way. */
    free?(): Promise<boolean>;
    /** Throws where the database is away. */
    beforeSave?(): void;
  }

  /** 3 are held, and a worker works these closes off. */
  async function workedOff(t: TestContext, { able, closes, free, beforeSave }: Day) {
    const broker = scriptedBroker(t, able);
    broker.give(ACCOUNT, 3);
    broker.fills = 'later';
    const account = {
      id: ACCOUNT,
      userId: USER,
      brokerName: 'paper',
      environment: 'live',
      credentialsVerified: true,
      sealedCredentials: null,
      paper: null,
      connectionVersion: 1,
      credentialsVersion: 1,
    } as Partial<Account> as Account;
    const connections = createConnections({
      brokers: broker.brokers as Partial<Brokers> as Brokers,
      simulated: () => Promise.reject(new Error('nothing is simulated here')),
      openCredentials: async () => ({}),
      findAccount: async () => account,
      refuseCredentials: pass,
      sentAround: async () => [],
      wait: pass,
      brokerTimeoutMs: 1_000,
      gates: createGates(),
      rates: createRates(),
      counters: UNCOUNTED,
      tracing: UNTRACED,
    });
    const standing = new Map(closes.map((order) => [order.id, order]));
    const next = (order: Order) => {
      const saved = { ...order, version: order.version + 1 };
      standing.set(order.id, saved);
      return saved;
    };
    const execution: Execution = {
      connections,
      judge: async () => [],
      noteEquity: () => {},
      closedBy: async () => 'somebody',
      want: () => Promise.reject(new Error('nothing is protected here')),
      wanted: async () => null,
      protecting: { see: async () => {}, free: free ?? (async () => false) },
      counters: UNCOUNTED,
      tracing: UNTRACED,
      save: async (order) => {
        beforeSave?.();
        return next(order);
      },
      record: null,
      saveSending: async (order) => next(order),
      saveSeen: async (order) => next(order),
      endEntry: async (order) => order,
      clock: { now: () => Date.now() },
      wait: pass,
      rest: pass,
      monthsUnder: async () => [],
      isAgainstRecord: async () => false,
      forgetMonth() {},
      rules: {
        ...{ fillWaitMs: 1_000, settleMs: 2_000, closeWaitMs: 5_000, lookEveryMs: 500 },
        ...{ giveUpMs: 30_000, lagMs: 30_000, openWithinMs: 60_000 },
      },
    };
    const trades = openTrades({ now: Date.now, lagMs: 30_000 });
    await workOff(
      execution,
      async () => ({ orders: [...standing.values()], version: 1, guards: null, revision: null }),
      {
        upTo: null,
        turn: { aside: <T>(wait: () => Promise<T>) => wait() },
        resting: createResting(),
        tradesOf: async () => trades,
        faults: new Map(),
        log: { info() {}, error: () => {} },
        signal: new AbortController().signal,
      },
    ).catch(() => {});
    return broker.trades();
  }

  test('whose outcome could not be saved is not overtaken by the next one, which would plan as if it had never been sent', async (t) => {
    let commits = 0;
    const traded = await workedOff(t, {
      able: { reduceOnly: false },
      closes: [close(1), close(2)],
      // The database is away for the one commit that follows the broker's acknowledgement.
      beforeSave() {
        if (++commits === 1) throw new DatabaseUnavailable('away');
      },
    });
    assert.deepEqual(traded, ['sell 3']);
  });

  test('is sent though the broker never lets go of what stands in its way: whether it takes it the broker says', async (t) => {
    let frees = 0;
    const traded = await workedOff(t, {
      able: { reserves: true },
      closes: [close(1)],
      free: async () => {
        frees++;
        return true;
      },
    });
    assert.deepEqual([traded, frees], [['sell 3'], 2]);
  });
});

describe('False words', () => {
  test('a reversal whose close may have been sent by a dead worker does not say only that the broker cannot be reached', async (t) => {
    const { broker, nextProcess } = await die(t, (death) => death.broker.hold('place', 'after'), {
      position: -2,
    });
    broker.script('find', () => Promise.reject(new BrokerUnavailable('down')));
    // Its close is asked for until the reversal's deadline, which is near by then.
    const { order } = await nextProcess(59_000);
    assert.equal(order.status, 'failed');
    assert.ok(broker.count('find') > 1);
    assert.deepEqual(broker.trades(), ['buy 2'], 'the close was made');
    assert.match(order.error?.message ?? '', /close|by hand/);
  });

  test('a reversal’s entry that is refused for the rate does not say that nothing was taken', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, -2);
    broker.script('place', (goodAnswer) => goodAnswer(), 1);
    broker.script('place', () => Promise.reject(new BrokerBusy('too many', 7_000)));
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual(broker.trades(), ['buy 2']);
    assert.equal(body.status, 'rejected');
    assert.match(body.error?.message ?? '', /the entry was not taken, though the close was filled/);
  });
});

describe('The kill switch', () => {
  interface Flattened {
    readonly flatten: {
      readonly left: readonly { readonly symbol: string; readonly quantity: number; readonly code: string }[];
      readonly cancel_error: string | null;
    };
    readonly flatten_error: { readonly code: string; readonly message: string } | null;
  }

  const flatten = (world: World, trader: Trader) =>
    world.as<Flattened>(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, { flatten: true });

  test('closes what is held though one resting entry cannot be taken back', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: pass,
      env: { RESPONSE_WAIT_SECONDS: '1' },
    });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry', quantity: 2 });
    broker.fills = 'later';
    const { body: resting } = await world.send(trader, { action: 'long_entry', quantity: 3 });
    assert.equal(resting.status, 'placed');
    broker.fills = 'at once';
    broker.script('cancel', () =>
      Promise.reject(new BrokerUnavailable('this order cannot be cancelled now')),
    );
    const { body } = await flatten(world, trader);
    assert.equal(broker.position(trader.account.id), '0', body.flatten_error?.message ?? '');
    assert.match(body.flatten.cancel_error ?? '', /cannot be cancelled now/);
    assert.deepEqual(
      [body.flatten_error?.code, body.flatten.left.map(({ code }) => code)],
      ['close_unconfirmed', ['closing']],
      'what rests may yet be filled, and is not called closed',
    );
    broker.settle(broker.ledger[1], 'filled');
    await world.eventually(
      async () => broker.position(trader.account.id),
      (position) => position === '0' && broker.ledger.length === 4,
    );
  });

  test('an entry that rests before its answer has come is taken back, and its order says why', async (t) => {
    const broker = scriptedBroker(t, { timeInForce: ['gtc'] });
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    const held = broker.hold('place', 'after');
    const sending = world.send(trader, { quantity: 2, limit_price: 90, expires_in: 86_400 });
    await held.reached;
    await flatten(world, trader);
    assert.equal(broker.ledger[0]?.state.status, 'cancelled');
    held.release();
    const { order_id: id } = (await sending).body;
    const { error } = await world.eventually(
      () => world.order(trader, id),
      ({ status }) => status === 'cancelled',
    );
    assert.equal(error?.code, 'cancelled_on_request');
    assert.match(error?.message ?? '', /kill switch/);
  });

  for (const call of ['openOrders', 'cancel', 'positions'] as const)
    test(`waits for a broker that is busy for a moment, as an order does: ${call}`, async (t) => {
      const broker = scriptedBroker(t);
      const world = await openWorld(t, { brokers: broker.brokers });
      const trader = await world.makeTrader();
      await world.send(trader, { action: 'long_entry', quantity: 2 });
      broker.fills = 'later';
      await world.send(trader, { action: 'long_entry', quantity: 3 });
      broker.fills = 'at once';
      broker.script(call, () => Promise.reject(new BrokerBusy('slow down', 200)), 1);
      const { body } = await flatten(world, trader);
      assert.equal(body.flatten_error, null);
      assert.equal(broker.position(trader.account.id), '0');
      assert.deepEqual(
        broker.ledger.map(({ state }) => state.status),
        ['filled', 'cancelled', 'filled'],
      );
    });

  test('does not let whoever pressed it wait for one that is busy for long, says so, and closes what our fills say', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: pass,
      env: { RESPONSE_WAIT_SECONDS: '1' },
    });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry', quantity: 2 });
    broker.script('openOrders', () => Promise.reject(new BrokerBusy('slow down', 60_000)), 1);
    const { body } = await flatten(world, trader);
    assert.equal(body.flatten_error?.code, 'broker_unavailable');
    assert.deepEqual(
      body.flatten.left.map(({ symbol, quantity, code }) => ({ symbol, quantity, code })),
      [{ symbol: 'BTCUSDT', quantity: 2, code: 'closing' }],
    );
  });

  test('a flatten that nobody waits for any more takes nothing back on an account that was resumed', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: pass,
      env: { RESPONSE_WAIT_SECONDS: '2' },
    });
    const trader = await world.makeTrader();
    const url = `/trading/accounts/${trader.account.id}`;
    broker.fills = 'later';
    const { body: entry } = await world.send(trader, { action: 'long_entry' });
    await world.eventually(
      () => world.order(trader, entry.order_id),
      ({ status }) => status === 'placed',
    );
    const held = broker.hold('openOrders');
    const { body } = await flatten(world, trader);
    await held.reached;
    // What rests may yet be filled, and its close waits for it; the list of open orders was given up.
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
    assert.match(body.flatten.cancel_error ?? '', /did not answer in time/);
    assert.equal((await world.as(trader, 'POST', `${url}/resume`)).status, 200);
    held.release();
    await world.as(trader, 'GET', `${url}/positions`);
    await reallyWait(300);
    assert.equal(broker.count('cancel'), 0, 'the user was told that the flatten had failed, and has resumed');
    assert.equal((await world.order(trader, entry.order_id)).status, 'placed');
  });
});

describe('Fill verification beside the worker', () => {
  test('what the worker has seen filled is not answered as placed because a poll wrote in between', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: pass });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    broker.script('find', async (goodAnswer, { clientOrderId }) => {
      // A poll (the user asked for a look) has just recorded "placed" once more, and bumped the version.
      await world.db.commit([
        sql`update order_history set version = version + 1
            where order_id in (select order_id from order_legs where client_order_id = ${clientOrderId})`,
      ]);
      broker.settle(broker.ledger[0], 'filled');
      return goodAnswer();
    });
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled');
  });
});
