// A position that cannot be protected, and one that somebody wants to have protected, do not wait for what they need not wait for, and are not
// told that nothing is held while nobody knows.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerBusy, BrokerUnavailable, type Instrument, type StopState } from '../../src/broker/broker.ts';
import { decimal, ZERO } from '../../src/domain/decimal.ts';
import {
  type AccountId,
  type ClientOrderId,
  type OrderId,
  timestamp,
  type UserId,
} from '../../src/domain/ids.ts';
import type { BrokerOrderState } from '../../src/domain/orders/fill.ts';
import { type Leg, NO_NOTES, type Order } from '../../src/domain/orders/order.ts';
import type { ProtectiveLeg } from '../../src/domain/protection/protection.ts';
import type { Execution } from '../../src/worker/lane/execution.ts';
import { type ProtectingOrder, protectPosition } from '../../src/worker/lane/protect-order.ts';
import { readHeld } from '../../src/worker/lane/read-held.ts';
import { createResting, nextOf } from '../../src/worker/lane/resting.ts';
import { openTrades } from '../../src/worker/lane/trades.ts';
import { Interrupted, workOff } from '../../src/worker/lane/work-off.ts';
import type { Line } from '../../src/worker/line/line.ts';
import { fateOf } from '../../src/worker/line/protective-leg.ts';

const NOW = Date.UTC(2026, 0, 5);

const order = (id: string, more: Partial<Order> = {}): Order => ({
  ...{ id: id as OrderId, version: 1, requestId: null, userId: 'u' as UserId, accountId: 'a' as AccountId },
  ...{ brokerName: 'paper', source: 'webhook', simulation: false, symbol: 'BTCUSDT', action: 'buy' },
  ...{ orderType: null, quantity: decimal(1), notes: NO_NOTES, guards: [], status: 'queued', error: null },
  intent: { operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
  ...{ positionBefore: null, autoExit: false, awaitsRest: false, legs: [], credentialsVersion: null },
  ...{ exitError: null, submittedAt: timestamp(NOW), deadlineAt: timestamp(NOW + 60_000), filledAt: null },
  trace: {},
  ...more,
});

const closes = { intent: { operation: 'CLOSE_POSITION', direction: 'long' } } as const;

describe('Which order of an account is next', () => {
  test('a close for what cannot be protected comes before whatever waits in other symbols', () => {
    const waiting = [
      order('entry', { symbol: 'ETHUSDT' }),
      order('exit', { symbol: 'ETHUSDT', ...closes }),
      order('close', { source: 'protection', ...closes }),
    ];
    assert.equal(nextOf(waiting, createResting())?.id, 'close');
  });

  test('… and not before what came earlier in its own', () => {
    const waiting = [order('entry'), order('close', { source: 'protection', ...closes })];
    assert.equal(nextOf(waiting, createResting())?.id, 'entry');
  });

  test('a real order comes before simulated ones, which anybody with the URL may send', () => {
    const simulation = { simulation: true } as const;
    const waiting = [order('rehearsal', simulation), order('next', simulation), order('exit', closes)];
    assert.equal(nextOf(waiting, createResting())?.id, 'exit');
    const close = order('simulated close', { ...simulation, source: 'protection', ...closes });
    assert.equal(nextOf([close, order('entry')], createResting())?.id, 'entry');
    assert.equal(nextOf(waiting.slice(0, 2), createResting())?.id, 'rehearsal');
  });

  test('all others come as they came', () => {
    const waiting = [order('entry', { symbol: 'ETHUSDT' }), order('exit', closes)];
    assert.equal(nextOf(waiting, createResting())?.id, 'entry');
  });
});

describe('What has been opened is protected', () => {
  /** What came first: the look at the order, or that at what protects its account. */
  async function begun(status: Leg['status']): Promise<string[]> {
    const came: string[] = [];
    const leg = { leg: 'exit', nth: 1, clientOrderId: 'fx' as ClientOrderId, side: 'sell', status } as Leg;
    const exit = order('exit', { ...closes, status: 'executing', legs: [leg] });
    const execution = {
      clock: { now: () => NOW },
      counters: { takenOver() {} },
      tracing: { apart: (work: () => unknown) => work() },
      save: async (saved: Order) => saved,
      connections: {
        async use() {
          came.push('order');
          throw new Interrupted();
        },
      },
    } as unknown as Execution;
    const working = workOff(
      execution,
      async () => ({ orders: [exit], version: 1, guards: null, revision: null }),
      {
        ...{ upTo: null, turn: { aside: (wait) => wait() }, resting: createResting(), faults: new Map() },
        tradesOf: async () => openTrades({ now: () => NOW, lagMs: 30_000 }),
        async protectFirst() {
          came.push('protection');
          return false;
        },
        signal: new AbortController().signal,
        log: { info() {}, error() {} },
      },
    );
    await assert.rejects(working, Interrupted);
    return came;
  }

  for (const status of ['placed', 'partially_filled'] as const)
    test(`before it is seen what becomes of an exit that is ${status}`, async () =>
      assert.deepEqual(await begun(status), ['protection', 'order']));

  for (const status of ['sending', 'unknown', 'planned'] as const)
    test(`after an exit that is ${status} and may not be on its way`, async () =>
      assert.deepEqual(await begun(status), ['order']));
});

describe('An order that only protects', () => {
  const entry = (status: Leg['status'], sentMsAgo = 60_000): Order =>
    order('entry', {
      legs: [
        {
          ...{
            leg: 'entry',
            nth: 1,
            clientOrderId: 'fe' as ClientOrderId,
            instrument: 'BTCUSDT',
            side: 'buy',
          },
          ...{ status, sentAt: timestamp(NOW - sentMsAgo) },
        } as Leg,
      ],
    });

  /** All that it saves stands. */
  const portsOver = (line: object, more: object = {}): ProtectingOrder =>
    ({
      connections: { use: (_: unknown, does: (on: object) => unknown) => does(line) },
      clock: { now: () => NOW },
      save: async (saved: Order) => saved,
      want: async (wanted: Order) => wanted,
      ...more,
    }) as unknown as ProtectingOrder;

  /** What becomes of it, where nothing is held, and by which entry something may be. */
  async function protectedBeside(entries: readonly Order[]) {
    const asked = [...entries];
    const instrument = { symbol: 'BTCUSDT' };
    const line = {
      resolve: async () => instrument,
      positions: async () =>
        asked.length === 0 ? [{ symbol: 'BTCUSDT', quantity: decimal(2), averagePrice: decimal(100) }] : [],
    };
    const deps = portsOver(line);
    let rests = 0;
    const ended = await protectPosition(deps, {
      order: order('protect', { intent: { operation: 'PROTECT_POSITION', direction: null }, quantity: ZERO }),
      trades: { expected: () => null },
      now: async () => ({ others: asked.slice(0, 1) }),
      async rest() {
        rests++;
        asked.shift();
      },
    });
    return { status: ended.status, code: ended.error?.code ?? null, rests };
  }

  for (const status of ['unknown', 'sending'] as const)
    test(`waits where an entry there is ${status}: it may be held by now`, async () => {
      assert.deepEqual(await protectedBeside([entry(status)]), { status: 'done', code: null, rests: 1 });
    });

  test('waits for one that was taken a moment ago', async () => {
    assert.deepEqual(await protectedBeside([entry('placed', 1_000)]), {
      status: 'done',
      code: null,
      rests: 1,
    });
  });

  for (const status of ['placed', 'cancelled'] as const)
    test(`does not wait for an entry that is ${status} and was sent long ago`, async () => {
      const { status: end, code, rests } = await protectedBeside([entry(status)]);
      assert.deepEqual([end, code, rests], ['rejected', 'no_position', 0]);
    });

  test('waits where an entry was filled and has ended while the position was read', async () => {
    let [hasEnded, shown] = [false, ZERO];
    const line = {
      resolve: async () => ({ symbol: 'BTCUSDT' }),
      positions: async () => [{ symbol: 'BTCUSDT', quantity: shown, averagePrice: decimal(100) }],
    };
    const deps = portsOver(line);
    const intent = { operation: 'PROTECT_POSITION', direction: null } as const;
    const ended = await protectPosition(deps, {
      order: order('protect', { intent, quantity: ZERO }),
      trades: { expected: () => (hasEnded ? decimal(2) : null) },
      async now() {
        hasEnded = true;
        return { others: [] };
      },
      async rest() {
        shown = decimal(2);
      },
    });
    assert.equal(ended.status, 'done');
  });

  for (const [was, is, become] of [
    [-1, 2, 'done'],
    [2, 0, 'rejected'],
  ] as const)
    test(`waits for a position that is shown as ${was}, and is ${is} by our own fills`, async () => {
      let shown: number = was;
      const at = () => [{ symbol: 'BTCUSDT', quantity: decimal(shown), averagePrice: decimal(100) }];
      const line = { resolve: async () => ({ symbol: 'BTCUSDT' }), positions: async () => at() };
      const sides: string[] = [];
      const deps = portsOver(line, {
        async want(wanted: Order, { side }: { side: string }) {
          sides.push(side);
          return wanted;
        },
      });
      const intent = { operation: 'PROTECT_POSITION', direction: null } as const;
      const ended = await protectPosition(deps, {
        order: order('protect', { intent, quantity: ZERO }),
        trades: { expected: () => decimal(is) },
        now: async () => ({ others: [] }),
        async rest() {
          shown = is;
        },
      });
      assert.deepEqual([ended.status, sides], [become, is > 0 ? ['long'] : []]);
    });

  test('takes no stop away where the trail that stays would close the position at once', async () => {
    const price = { bid: decimal(95), ask: decimal(95) };
    const line = {
      resolve: async () => ({ symbol: 'BTCUSDT', tickSize: decimal(1), quantityStep: decimal(1) }),
      positions: async () => [{ symbol: 'BTCUSDT', quantity: decimal(2), averagePrice: decimal(100) }],
      quote: async () => price,
      capabilities: {},
    };
    const trail = { distance: decimal(2), activateAt: null, from: decimal(100), best: decimal(104) };
    const deps = portsOver(line, {
      wanted: async () => ({ stop: { price: decimal(90), kind: 'stop_loss' }, trail }),
    });
    const intent = { operation: 'PROTECT_POSITION', direction: null } as const;
    const wish = { own: { stop: 'none' }, fromFlat: { stop: 'none' } } as const;
    const ended = await protectPosition(deps, {
      order: order('protect', { intent, quantity: ZERO, wish }),
      trades: { expected: () => null },
      now: async () => ({ others: [] }),
      rest: async () => {},
    });
    assert.deepEqual([ended.status, ended.error?.code], ['rejected', 'invalid_protection']);
    assert.match(ended.error?.message ?? '', /"trailing_stop" is 2p, which is 102, and the market is at 95/);
  });
});

describe('An order whose broker cannot say what became of a stop', () => {
  const instrument = { symbol: 'BTCUSDT' } as Instrument;
  const read = (onlyReduces: boolean, fault: Error) =>
    readHeld(
      {
        line: { position: async () => decimal(2) },
        trades: { expected: () => ZERO },
        open: () => [],
        lookAgain: async () => true,
        learn: () => Promise.reject(fault),
        onlyReduces,
        now: () => NOW,
      },
      [instrument],
    );

  test('goes on where it can only reduce: nobody is kept in a position for that', async () => {
    const { held } = await read(true, new BrokerUnavailable('told of another order'));
    assert.deepEqual(held, [{ instrument: 'BTCUSDT', quantity: '2', expected: '0' }]);
  });

  test('waits where it could open something, and for a broker that says how long', async () => {
    await assert.rejects(read(false, new BrokerUnavailable('told of another order')), BrokerUnavailable);
    await assert.rejects(read(true, new BrokerBusy('busy', 500)), BrokerBusy);
  });
});

describe('A stop that was rejected in the place of one that was filled', () => {
  const order: BrokerOrderState = {
    ...{ brokerRef: 'first', status: 'filled', fillQuantity: decimal(5), fillPrice: decimal(89) },
    ...{ fee: null, reason: null },
  };
  const state: StopState = { brokerRef: 'second', status: 'triggered', order, reason: null };
  const leg = {
    ...{ clientOrderId: 'fs' as ClientOrderId, formerIds: [], level: 0, quantity: decimal(5) },
    ...{ limit: null, stop: decimal(90), sentAt: timestamp(NOW) },
  } as unknown as ProtectiveLeg;
  const fate = (recorded: readonly string[]) =>
    fateOf({ stops: { find: async () => state } } as unknown as Line, leg, {
      ...{ instrument: { symbol: 'AAPL' } as Instrument, side: 'sell', triggerBy: 'last' },
      recorded: async () => recorded,
    });

  test('has closed what that one did, unless it is written down already', async () => {
    assert.deepEqual((await fate([]))?.fills, [{ by: 'stop', order }]);
    const known = await fate(['first']);
    assert.deepEqual([known?.status, known?.fills], ['ended', []]);
  });
});

describe('A target that gave way to the stop beside it', () => {
  const order = (more: Partial<BrokerOrderState>): BrokerOrderState => ({
    ...{ brokerRef: 'target', status: 'cancelled', fillQuantity: ZERO, fillPrice: null, fee: null },
    reason: null,
    ...more,
  });
  const leg = {
    ...{ clientOrderId: 'fp' as ClientOrderId, formerIds: [], brokerRef: 'target', level: 1, revision: 1 },
    ...{
      quantity: decimal(5),
      limit: decimal(110),
      stop: decimal(90),
      sentAt: timestamp(NOW),
      replacedAt: null,
    },
  } as unknown as ProtectiveLeg;
  const fate = (stop: StopState) =>
    fateOf({ find: async () => order({}), stops: { find: async () => stop } } as unknown as Line, leg, {
      ...{ instrument: { symbol: 'AAPL' } as Instrument, side: 'sell', triggerBy: 'last' },
      recorded: async () => [],
    });

  test('has not ended while that one is on its way: it looks as before until it is filled', async () => {
    const looks = { brokerRef: 'stop', status: 'standing', order: null, reason: null } as const;
    const found = await fate(looks);
    assert.deepEqual([found?.status, found?.fills.length], ['triggered', 0]);
  });

  test('… and then that one’s fill is its own', async () => {
    const filled = order({
      brokerRef: 'stop',
      status: 'filled',
      fillQuantity: decimal(5),
      fillPrice: decimal(89),
    });
    const found = await fate({ brokerRef: 'stop', status: 'triggered', order: filled, reason: null });
    assert.deepEqual(found?.fills, [{ by: 'stop', order: filled }]);
  });
});
