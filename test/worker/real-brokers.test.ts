// What real brokers do and the paper broker does not: acknowledge with an id and fill later, forget, say "busy", hang. Each
// of these lost money, or time in which money is lost.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { stopwatch } from '../stopwatch.ts';
import { openWorld } from '../world.ts';
import { scriptedBroker } from './scripted-broker.ts';

/** A broker that answers with an id only; what it has taken is filled with the given look. */
async function slowWorld(t: TestContext, { filledAtLook = 2, ...options } = {}) {
  const broker = scriptedBroker(t);
  broker.fills = 'later';
  const looks = new Map<string, number>();
  broker.script('find', async (goodAnswer, { clientOrderId }) => {
    const seen = (looks.get(clientOrderId) ?? 0) + 1;
    looks.set(clientOrderId, seen);
    const order = broker.ledger.find((each) => each.clientOrderId === clientOrderId);
    if (order?.state.status === 'placed' && seen >= filledAtLook) broker.settle(order, 'filled');
    return goodAnswer();
  });
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const world = await openWorld(t, { brokers: broker.brokers, wait, ...options });
  const trader = await world.makeTrader();
  return { broker, world, trader, waits };
}

describe('An acknowledgement is not a fill', () => {
  test('the answer waits a moment for the fill: 200, filled', async (t) => {
    const { world, trader, waits } = await slowWorld(t);
    const { status, body } = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual([status, body.status, body.fill_quantity], [200, 'filled', 1]);
    assert.deepEqual(waits, [50, 100]);
  });

  test('no longer than about a second: then it is placed, and fill verification follows it', async (t) => {
    const { world, trader, waits } = await slowWorld(t, { filledAtLook: 100 });
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'placed');
    const waited = waits.reduce((sum, ms) => sum + ms, 0);
    assert.ok(waited >= 750 && waited <= 1_250, `it waited ${waited} ms`);
    assert.equal((await world.order(trader, body.order_id)).verification.state, 'scheduled');
  });

  test('an order that rests costs no new connection: the last look has no time left, and says nothing of it', async (t) => {
    const { broker, world, trader } = await slowWorld(t, { filledAtLook: 100 });
    broker.forgetScripts();
    broker.script('find', async (goodAnswer) => {
      await sleep(20);
      return goodAnswer();
    });
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'placed');
    assert.equal(broker.count('open'), 1);
  });

  test('long_entry that is only placed, then close_long: the position is closed and not left open', async (t) => {
    const { broker, world, trader } = await slowWorld(t, { filledAtLook: 8 });
    const entry = await world.send(trader, { action: 'long_entry' });
    assert.equal(entry.body.status, 'placed');
    const close = await world.send(trader, { action: 'close_long' });
    assert.equal(close.body.error, null);
    assert.deepEqual(broker.trades(), ['buy 1', 'sell 1']);
    for (const order of broker.ledger) if (order.state.status === 'placed') broker.settle(order, 'filled');
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('+1, close_long that is only placed, then short_entry: it enters, and ends at -1', async (t) => {
    const { broker, world, trader } = await slowWorld(t, { filledAtLook: 8 });
    broker.give(trader.account.id, 1);
    const close = await world.send(trader, { action: 'close_long' });
    assert.equal(close.body.status, 'placed');
    const entry = await world.send(trader, { action: 'short_entry' });
    assert.equal(entry.body.error, null);
    assert.deepEqual(broker.trades(), ['sell 1', 'sell 1']);
    for (const order of broker.ledger) if (order.state.status === 'placed') broker.settle(order, 'filled');
    assert.equal(broker.position(trader.account.id), '-1');
  });

  test("a reversal's close that is refused because nothing is held any more goes on with the entry", async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 2);
    // Somebody closes by hand between the look at the position and the order.
    broker.script(
      'place',
      async (goodAnswer) => {
        broker.give(trader.account.id, 0);
        return goodAnswer();
      },
      1,
    );
    const { body } = await world.send(trader, { action: 'short_entry' });
    assert.equal(body.status, 'filled');
    assert.deepEqual(broker.trades(), ['sell 1']);
    assert.equal(broker.position(trader.account.id), '-1');
    assert.equal(body.exit_order_result?.status, 'rejected');
  });

  for (const [what, signal] of [
    ['a guard is not evaded', { action: 'short_entry', quantity: 1 }],
    ['a target is not passed', { action: 'sell', market_position: 'short', market_position_size: 1 }],
  ] as const)
    test(`a reversal’s close that is refused because others have turned the position ends it: ${what}`, async (t) => {
      const broker = scriptedBroker(t);
      const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
      const trader = await world.makeTrader();
      await world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, {
        guards: { max_position: 2 },
      });
      broker.give(trader.account.id, -5);
      broker.script('position', async () => decimal(3), 1);
      const { body } = await world.send(trader, signal);
      assert.deepEqual([body.status, body.error?.code], ['rejected', 'no_position']);
      assert.match(body.error?.message ?? '', /stood at 3 .* and at -5/);
      assert.equal(broker.position(trader.account.id), '-5');
    });

  test('a position that lags behind the fill is read again before "nothing to close" is said', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry' });
    broker.script('position', async () => '0' as never, 2);
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.equal(body.status, 'filled');
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('a plan reads a position that lags behind the fill again too', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry' });
    broker.script('position', async () => '0' as never, 2);
    const order = {
      trading_account_id: trader.account.id,
      action: 'close_long',
      symbol: 'BTCUSDT',
      quantity: 1,
    };
    const { body } = await world.as<{ legs: object[]; error: object | null }>(
      trader,
      'POST',
      '/trading/order/plan',
      order,
    );
    assert.deepEqual([body.legs, body.error], [[{ leg: 'exit', side: 'sell', quantity: 1 }], null]);
  });

  test('the broker’s own id is kept before anything is waited for: a crash does not lose it', async (t) => {
    const broker = scriptedBroker(t);
    broker.fills = 'later';
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    const held = broker.hold('find');
    const answer = world.send(trader, { action: 'long_entry' });
    await held.reached;
    const [order] = await world.orders(trader);
    const { legs } = await world.order(trader, order?.order_id ?? '');
    assert.equal(legs[0]?.broker_ref, 'scripted-1');
    held.release();
    await answer;
  });
});

describe('Without reduce-only', () => {
  const twoCloses = async (t: TestContext, limits: Record<string, string> = {}) => {
    const broker = scriptedBroker(t, { reduceOnly: false });
    broker.fills = 'later';
    const env = { RESPONSE_WAIT_SECONDS: '1.5', ...limits };
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {}, env });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 3);
    const { body: first } = await world.send(trader, { action: 'close_long' });
    assert.equal(first.status, 'placed');
    const { status, body: second } = await world.send(trader, { action: 'close_long' });
    assert.deepEqual([status, second.status], [202, 'executing']);
    return { broker, world, trader, first, second };
  };

  test('two closes of +3 end flat and not at -3: the second waits for the first', async (t) => {
    const { broker, world, trader, second } = await twoCloses(t);
    assert.deepEqual(broker.trades(), ['sell 3']);
    broker.settle(broker.ledger[0], 'filled');
    const { error } = await world.eventually(
      () => world.order(trader, second.order_id),
      ({ status }) => status === 'rejected',
    );
    assert.equal(error?.code, 'no_position');
    assert.deepEqual([broker.trades(), broker.position(trader.account.id)], [['sell 3'], '0']);
  });

  test('… and takes what the first has left, where that ends without it', async (t) => {
    const { broker, world, trader, second } = await twoCloses(t);
    broker.settle(broker.ledger[0], 'cancelled', '1');
    broker.fills = 'at once';
    await world.eventually(
      () => world.order(trader, second.order_id),
      ({ status }) => status === 'filled',
    );
    assert.deepEqual([broker.trades(), broker.position(trader.account.id)], [['sell 3', 'sell 2'], '0']);
  });

  test('… and names it at its own deadline, where that never ends', async (t) => {
    const { broker, world, trader, first, second } = await twoCloses(t, { EXIT_DEADLINE_SECONDS: '2' });
    const { error } = await world.eventually(
      () => world.order(trader, second.order_id),
      ({ status }) => status === 'expired',
    );
    assert.match(error?.message ?? '', new RegExp(first.order_id));
    assert.deepEqual(broker.trades(), ['sell 3']);
  });

  test('whole quantities only: a fraction is refused before anything is sent', async (t) => {
    const broker = scriptedBroker(t, { fractionalQuantities: false });
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader, { action: 'long_entry', quantity: 0.5 });
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'invalid_quantity']);
    assert.equal(broker.count('place'), 0);
  });

  test('whole quantities only: a close is of all that is held, whatever its quantity', async (t) => {
    const broker = scriptedBroker(t, { fractionalQuantities: false });
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 3);
    const { body } = await world.send(trader, { action: 'close_long', quantity: 0.5 });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });
});

/** No limit of ours ends what hangs: who waits for it waits until the test has failed. */
const HANGING = { BROKER_TIMEOUT_SECONDS: '600' };
const PATIENT = { timeout: 20_000 };

describe('Lanes', () => {
  test('an account whose broker hangs does not hold the user’s other account', PATIENT, async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, env: HANGING });
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader);
    const held = broker.hold('position');
    const hanging = world.send(trader, { action: 'long_entry' });
    await held.reached;
    const { body } = await world.send(other, { action: 'long_entry' });
    assert.equal(body.status, 'filled');
    held.release();
    assert.equal((await hanging).body.status, 'filled');
  });

  test('orders of one account are one at a time, of two accounts side by side', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader);
    const first = broker.hold('place');
    const second = broker.hold('place');
    const answers = [trader, trader, other, other].map((each) => world.send(each, { action: 'long_entry' }));
    await Promise.all([first.reached, second.reached]);
    assert.equal(broker.mostOfOneAccount, 1);
    assert.equal(broker.mostOfAll, 2);
    first.release();
    second.release();
    for (const { body } of await Promise.all(answers)) assert.equal(body.status, 'filled');
    assert.equal(broker.mostOfOneAccount, 1);
  });

  test('an enquiry is answered while an order of the account is under way', PATIENT, async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, env: HANGING });
    const trader = await world.makeTrader();
    const held = broker.hold('place');
    const order = world.send(trader, { action: 'long_entry' });
    await held.reached;
    const { status } = await world.as(trader, 'GET', `/trading/accounts/${trader.account.id}/positions`);
    assert.equal(status, 200);
    held.release();
    await order;
  });
});

describe('Time', () => {
  test('the wait for a reversal’s close is by the clock, however long a look takes', async (t) => {
    const broker = scriptedBroker(t);
    broker.fills = 'later';
    const world = await openWorld(t, {
      brokers: broker.brokers,
      env: { REVERSAL_POLLS: '2', REVERSAL_POLL_MS: '50', BROKER_TIMEOUT_SECONDS: '10' },
    });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, -2);
    let aborted = 0;
    // A look that never ends of itself.
    broker.script('find', async (_goodAnswer, _asked, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      aborted++;
      throw new BrokerUnavailable('aborted');
    });
    const passed = stopwatch();
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.error?.code, 'reversal_timeout');
    assert.equal(aborted, 1, 'the look was cut off, and no other was begun');
    // Far below the 10 s that one look may take by itself; no measure of speed.
    assert.ok(passed() < 5_000);
  });

  test('a close() that hangs delays nobody', PATIENT, async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {}, env: HANGING });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry' });
    broker.hold('close');
    await world.setPaper(trader, { seed: 2 });
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled');
    assert.equal(broker.count('close'), 1);
  });

  test('the broker is told to refuse an order 5 s before we give it up', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.equal(body.error?.code, 'no_position');
    const entry = await world.send(trader, { action: 'long_entry' });
    const { legs } = await world.order(trader, entry.body.order_id);
    const sentAt = Date.parse(legs[0]?.sent_at ?? '');
    assert.equal(Date.parse(broker.ledger[0]?.sendBefore ?? '') - sentAt, 25_000);
  });
});

describe('Busy is not broken', () => {
  test('a question that is refused for the rate is not asked again before its time, nor over a new connection', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: (ms) => sleep(ms) });
    const trader = await world.makeTrader();
    const asked: number[] = [];
    broker.script('position', async (goodAnswer) => {
      asked.push(Date.now());
      if (asked.length === 1) throw new BrokerBusy('too many requests', 300);
      return goodAnswer();
    });
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled');
    assert.equal(broker.count('open'), 1);
    assert.equal(asked.length, 2);
    const [first = 0, second = 0] = asked;
    assert.ok(second - first >= 299, `asked again after ${second - first} ms`);
  });

  for (const [scope, status] of [
    ['account', 'filled'],
    ['address', 'rejected'],
    // Of what orders ask too.
    ['question', 'rejected'],
  ] as const)
    test(`a limit of one user’s ${scope} leaves another user’s order at the same broker ${status}`, async (t) => {
      const broker = scriptedBroker(t);
      const world = await openWorld(t, { brokers: broker.brokers });
      const [one, other] = [await world.makeTrader(), await world.makeTrader()];
      broker.script('position', () => Promise.reject(new BrokerBusy('too many', 60_000, scope)), 1);
      const refused = await world.send(one, { action: 'long_entry' });
      assert.equal(refused.body.error?.code, 'broker_rate_limited');
      assert.equal((await world.send(other, { action: 'long_entry' })).body.status, status);
      assert.equal((await world.send(one, { action: 'long_entry' })).body.status, 'rejected');
      assert.equal(broker.count('position'), status === 'filled' ? 2 : 1, 'nobody who is held asks');
    });

  test('an address that is limited while one user connects is not connected from by another', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const [one, other] = [await world.makeTrader(), await world.makeTrader()];
    broker.script('open', () => Promise.reject(new BrokerBusy('banned', 60_000, 'address')), 1);
    for (const trader of [one, other])
      assert.equal(
        (await world.send(trader, { action: 'long_entry' })).body.error?.code,
        'broker_rate_limited',
      );
    assert.equal(broker.count('open'), 1);
  });

  const refusal = (retry_after: number) =>
    ({
      outcome: 'rejected',
      error: { code: 'broker_rate_limited', message: 'too many', retry_after },
    }) as const;

  test('an order that was refused for the rate is sent again after the delay, at most twice', async (t) => {
    const broker = scriptedBroker(t);
    const waits: number[] = [];
    const wait = async (ms: number) => {
      waits.push(ms);
      await new Promise((resolve) => setTimeout(resolve, ms));
    };
    const world = await openWorld(t, { brokers: broker.brokers, wait });
    const trader = await world.makeTrader();
    broker.script('place', async () => refusal(0.2), 2);
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1']);
    broker.script('place', async () => refusal(0.2), 3);
    const refused = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual([refused.body.status, refused.body.error?.code], ['rejected', 'broker_rate_limited']);
    assert.equal(refused.body.error?.retry_after, 1);
    assert.equal(broker.count('place'), 6);
  });

  test('a delay of more than 5 s is not waited for: rejected, with retry_after', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    broker.script('place', async () => refusal(7), 1);
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual(
      [body.status, body.error?.code, body.error?.retry_after],
      ['rejected', 'broker_rate_limited', 7],
    );
    assert.equal(broker.count('place'), 1);
  });
});

describe('Credentials', () => {
  test('that the broker refuses are presented three times within seconds, and then no longer count as verified', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.script('open', () => Promise.reject(new CredentialsRejected('no such key')));
    const first = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual([first.body.status, first.body.error?.code], ['failed', 'credentials_rejected']);
    assert.match(first.body.error?.message ?? '', /no such key/);
    for (let more = 0; more < 4; more++) await world.send(trader, { action: 'long_entry' });
    assert.equal(broker.count('open'), 3);
    const row = await world.db.get<{ broker_credentials_verified: unknown }>(
      sql`select broker_credentials_verified from trading_accounts where id = ${trader.account.id}`,
    );
    assert.equal(Boolean(row?.broker_credentials_verified), false);
  });

  test('that were changed since make no open leg "not found"', async (t) => {
    const broker = scriptedBroker(t);
    const env = {
      FILL_FIRST_POLL_SECONDS: '0.05',
      FILL_REQUEUE_SECONDS: '0.05',
      BROKER_TIMEOUT_SECONDS: '0.05',
    };
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {}, env });
    const trader = await world.makeTrader();
    broker.script('place', async (goodAnswer) => {
      await goodAnswer();
      return { outcome: 'unknown', reason: 'lost' };
    });
    broker.script('find', async () => null);
    await world.db.commit([
      sql`update trading_accounts set credentials_version = 7 where id = ${trader.account.id}`,
    ]);
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(body.status, 'unknown');
    await world.db.commit([
      sql`update order_history set credentials_version = 6 where order_id = ${body.order_id}`,
    ]);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.state === 'dead_letter',
    );
    assert.equal(record.status, 'unknown', 'it may well have been traded over the old connection');
  });
});

describe('The kill switch’s flatten', () => {
  test('takes back entries that rest before it closes: none is filled on the halted account', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry', quantity: 2 });
    broker.fills = 'later';
    await world.send(trader, { action: 'long_entry', quantity: 3 });
    broker.fills = 'at once';
    const { status, body } = await world.as<{ orders: { status: string }[]; flatten_error: null | object }>(
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/halt`,
      { flatten: true },
    );
    assert.equal(status, 200);
    assert.equal(body.flatten_error, null);
    assert.deepEqual(
      broker.ledger.map(({ state }) => state.status),
      ['filled', 'cancelled', 'filled'],
    );
    assert.equal(broker.position(trader.account.id), '0');
  });

  for (const filled of ['a moment ago', 'while it was being taken back'] as const)
    test(`closes what was filled ${filled}, though the positions lag behind`, async (t) => {
      const broker = scriptedBroker(t);
      const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
      const trader = await world.makeTrader();
      if (filled !== 'a moment ago') broker.fills = 'later';
      await world.send(trader, { action: 'long_entry', quantity: 2 });
      broker.fills = 'at once';
      broker.script('cancel', async () => {
        broker.settle(broker.ledger[0], 'filled');
        return null;
      });
      broker.script('positions', async () => [], 2);
      const { body } = await world.as<{ orders: { status: string }[]; flatten_error: null | object }>(
        trader,
        'POST',
        `/trading/accounts/${trader.account.id}/halt`,
        { flatten: true },
      );
      assert.deepEqual([body.orders.map(({ status }) => status), body.flatten_error], [['filled'], null]);
      assert.equal(broker.position(trader.account.id), '0');
    });

  test('takes back, at a broker that does not repeat our id, what it knows by the broker’s own, and nobody else’s', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    await world.send(trader, { action: 'long_entry', quantity: 3 });
    broker.script('openOrders', async (goodAnswer) =>
      (await goodAnswer())
        .map((order) => ({ ...order, clientOrderId: null }))
        .flatMap((order) => [order, { ...order, brokerRef: 'by hand' }]),
    );
    const { body } = await world.as<{ flatten_error: { message: string } | null }>(
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/halt`,
      { flatten: true },
    );
    assert.equal(body.flatten_error, null, body.flatten_error?.message ?? '');
    assert.equal(broker.ledger[0]?.state.status, 'cancelled');
    assert.equal(broker.count('cancel'), 1);
  });

  test('does not call closed where an entry could not be taken back: the close waits for it, and names it in the end', async (t) => {
    const broker = scriptedBroker(t);
    const env = { RESPONSE_WAIT_SECONDS: '1', EXIT_DEADLINE_SECONDS: '2' };
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {}, env });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    const entry = await world.send(trader, { action: 'long_entry', quantity: 3 });
    broker.script('cancel', async () => null);
    const { body } = await world.as<{
      orders: { order_id: string }[];
      flatten: { closed: string[]; left: { symbol: string; code: string }[] };
      flatten_error: { code: string; message: string } | null;
    }>(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, { flatten: true });
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
    assert.deepEqual(body.flatten.closed, []);
    assert.deepEqual(
      body.flatten.left.map(({ symbol, code }) => [symbol, code]),
      [['BTCUSDT', 'closing']],
    );
    const { error } = await world.eventually(
      () => world.order(trader, body.orders[0]?.order_id ?? ''),
      ({ status }) => status === 'expired',
    );
    assert.match(error?.message ?? '', new RegExp(entry.body.order_id));
  });
});
