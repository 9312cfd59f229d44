// An exit is never given up: over lags, outages, refusals, crashes, lost answers, late entries and trades by hand, an exit that could be
// made before its deadline is made, once; nothing ends `done`, `no_position` or filled with something held that we opened; and
// nothing flips. The decision and its driver run as they are; the broker, the database and the time around them are models.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type Broker,
  BrokerBusy,
  type BrokerOrder,
  type BrokerOrderState,
  type Brokers,
  BrokerUnavailable,
  type Capabilities,
  CredentialsRejected,
  type Instrument,
} from '../../src/broker/broker.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { type Decimal, decimal, smaller, ZERO } from '../../src/domain/decimal.ts';
import {
  type AccountId,
  type ClientOrderId,
  type OrderId,
  timestamp,
  type UserId,
} from '../../src/domain/ids.ts';
import { afterLook } from '../../src/domain/orders/fill.ts';
import {
  isUnderWay,
  NO_NOTES,
  type Order,
  type OrderIntent,
  openLeg,
} from '../../src/domain/orders/order.ts';
import { PATIENCE, patienceOf } from '../../src/domain/orders/patience.ts';
import { UNTRACED } from '../../src/domain/tracing.ts';
import { lookAtOrder } from '../../src/worker/lane/enquiries.ts';
import type { Execution } from '../../src/worker/lane/execution.ts';
import { OrderTaken } from '../../src/worker/lane/order-taken.ts';
import { createResting } from '../../src/worker/lane/resting.ts';
import { openTrades } from '../../src/worker/lane/trades.ts';
import { workOff } from '../../src/worker/lane/work-off.ts';
import { createConnections } from '../../src/worker/line/connections.ts';
import { createGates } from '../../src/worker/line/gate.ts';
import { createRates } from '../../src/worker/line/rates.ts';
import { NO_STOPS } from './scripted-broker.ts';

class Crash extends Error {}

const USER = '00000000-0000-7000-8000-000000000001' as UserId;
const ACCOUNT = '00000000-0000-7000-8000-000000000002' as AccountId;
const BEGIN = Date.parse('2026-07-15T19:00:00Z');
const RULES = {
  ...{ fillWaitMs: 1_000, settleMs: 2_000, closeWaitMs: 5_000, lookEveryMs: 500 },
  ...{ giveUpMs: 30_000, lagMs: 30_000, openWithinMs: 60_000 },
};
const INSTRUMENT: Instrument = {
  ...{ symbol: 'BTCUSDT', description: 'a model', open: true, nextOpen: null },
  ...{ contractSize: decimal(1), quantityStep: decimal(1), minQuantity: decimal(1), tickSize: decimal(1) },
};

/** Seconds after the entry was sent, and how many. */
interface Span {
  readonly from: number;
  readonly lasts: number;
}

interface Day {
  readonly able: Pick<Capabilities, 'reduceOnly' | 'refusesDuplicateIds'>;
  /** Positions are told as they were so long ago. */
  readonly lagSeconds: number;
  readonly outages: readonly Span[];
  readonly refusal: Span | null;
  /** What becomes of the answer to the entry, and to the first exit; `late`: it arrives after so many seconds. */
  readonly entry: { readonly answer: 'given' | 'lost'; readonly lateSeconds: number };
  readonly exitAnswer: 'given' | 'lost' | 'never received';
  /** An exit that was taken is found only after so many seconds; who looks for one a second after it was sent is told once to come back later. */
  readonly exitShownSeconds: number;
  readonly isBusy: boolean;
  /** Seconds until an order that was taken is filled. */
  readonly restsSeconds: number;
  /** The user closes all by hand, so many seconds after the entry; null: never. */
  readonly byHand: number | null;
  /** Calls and commits after which a worker dies. */
  readonly crashes: readonly number[];
  readonly exitAfterSeconds: number;
}

interface Taken {
  readonly clientOrderId: ClientOrderId;
  readonly side: 'buy' | 'sell';
  readonly quantity: Decimal;
  readonly fillsAt: number;
  readonly reduceOnly: boolean;
}

function market(day: Day, clock: { now(): number }, tick: () => void) {
  const taken: Taken[] = [];
  const sent: ClientOrderId[] = [];
  const sentAt = new Map<ClientOrderId, number>();
  let places = 0;
  let hasBeenBusy = !day.isBusy;
  const seconds = () => (clock.now() - BEGIN) / 1000;
  const within = (span: Span | null) =>
    span !== null && seconds() >= span.from && seconds() < span.from + span.lasts;

  /** In the order of their fills; a close by hand stands among them. */
  function fillsUntil(time: number): { readonly id: ClientOrderId | 'by hand'; readonly signed: number }[] {
    const events = [
      ...taken.map((order) => ({ at: order.fillsAt, order })),
      ...(day.byHand === null ? [] : [{ at: BEGIN + day.byHand * 1000, order: null }]),
    ]
      .filter(({ at }) => at <= time)
      .toSorted((a, b) => a.at - b.at);
    const fills: { id: ClientOrderId | 'by hand'; signed: number }[] = [];
    let held = 0;
    for (const { order } of events) {
      const wanted =
        order === null ? -Math.max(0, held) : Number(order.quantity) * (order.side === 'buy' ? 1 : -1);
      const signed = order?.reduceOnly ? Math.max(wanted, -Math.max(0, held)) : wanted;
      held += signed;
      fills.push({ id: order?.clientOrderId ?? 'by hand', signed });
    }
    return fills;
  }
  const heldAt = (time: number) => fillsUntil(time).reduce((sum, { signed }) => sum + signed, 0);

  function ask<Answer>(answer: () => Answer): Answer {
    tick();
    if (day.outages.some(within)) throw new BrokerUnavailable('away');
    if (within(day.refusal)) throw new CredentialsRejected('401');
    return answer();
  }

  function stateOf(order: Taken): BrokerOrderState {
    const fill = fillsUntil(clock.now()).find(({ id }) => id === order.clientOrderId);
    const isFilled = fill !== undefined;
    return {
      brokerRef: `model-${order.clientOrderId}`,
      status: isFilled ? 'filled' : 'placed',
      fillQuantity: decimal(Math.abs(fill?.signed ?? 0)),
      fillPrice: isFilled ? decimal(100) : null,
      ...{ fee: null, reason: null },
    };
  }

  async function place(order: BrokerOrder) {
    return ask(() => {
      const isEntry = !order.reduceOnly;
      const first = places++ === 0 || isEntry ? day.entry : null;
      const isFirstExit = !isEntry && !sent.some((id) => id.startsWith('fx'));
      assert.ok(!sent.includes(order.clientOrderId) || day.able.refusesDuplicateIds, 'an id is sent once');
      const isNever = isFirstExit && day.exitAnswer === 'never received';
      sent.push(order.clientOrderId);
      sentAt.set(order.clientOrderId, clock.now());
      if (isNever) return { outcome: 'unknown', reason: 'lost' } as const;
      const held = heldAt(clock.now());
      const clamps = order.reduceOnly && day.able.reduceOnly;
      if (clamps && held <= 0)
        return { outcome: 'rejected', error: { code: 'no_position', message: 'nothing to close' } } as const;
      const known = taken.find(({ clientOrderId }) => clientOrderId === order.clientOrderId);
      const quantity = clamps ? smaller(order.quantity, decimal(held)) : order.quantity;
      const lateMs = isEntry ? (first?.lateSeconds ?? 0) * 1000 : 0;
      const accepted: Taken = known ?? {
        ...{ clientOrderId: order.clientOrderId, side: order.side, quantity, reduceOnly: clamps },
        fillsAt: clock.now() + lateMs + day.restsSeconds * 1000,
      };
      if (!known) taken.push(accepted);
      const isLost = isEntry ? first?.answer === 'lost' : isFirstExit && day.exitAnswer === 'lost';
      return isLost
        ? ({ outcome: 'unknown', reason: 'lost' } as const)
        : ({ outcome: 'accepted', state: stateOf(accepted) } as const);
    });
  }

  const open = async (): Promise<Broker> => {
    if (day.outages.some(within)) throw new BrokerUnavailable('away');
    return {
      capabilities: {
        ...day.able,
        ...NO_STOPS,
        findsByClientIdMs: Number.POSITIVE_INFINITY,
        fractionalQuantities: true,
      },
      limits: 'model',
      verify: async () => ({ warnings: [] }),
      resolve: async () => ask(() => INSTRUMENT),
      position: async () => ask(() => decimal(heldAt(clock.now() - day.lagSeconds * 1000))),
      ...{ positions: async () => [], instruments: async () => [], openOrders: async () => [] },
      balance: () => Promise.reject(new BrokerUnavailable('none')),
      quote: () => Promise.reject(new BrokerUnavailable('none')),
      cancel: async () => {},
      close: async () => {},
      place,
      find: async ({ clientOrderId: id }) =>
        ask(() => {
          const found = taken.find(({ clientOrderId }) => clientOrderId === id);
          const age = (clock.now() - (sentAt.get(id) ?? 0)) / 1_000;
          if (!hasBeenBusy && id.startsWith('fx') && age >= 1) {
            hasBeenBusy = true;
            throw new BrokerBusy('later', 35_000);
          }
          const isShown = !found?.reduceOnly || age >= day.exitShownSeconds;
          return found && isShown ? stateOf(found) : null;
        }),
    };
  };
  return { open, taken, heldAt };
}

function scene(day: Day) {
  let now = BEGIN;
  let steps = 0;
  let isDead = false;
  const clock = { now: () => now };
  const wait = async (ms: number) => {
    now += Math.max(1, ms);
    if (isDead) throw new Crash();
  };
  const tick = () => {
    now += 5;
    if (day.crashes.includes(++steps)) isDead = true;
    if (isDead) throw new Crash();
  };
  const { open, taken, heldAt } = market(day, clock, tick);
  const saved = new Map<OrderId, Order>();
  const endedAt = new Map<OrderId, number>();
  const account = {
    ...{ id: ACCOUNT, userId: USER, brokerName: 'paper', environment: 'live', credentialsVerified: true },
    ...{ sealedCredentials: null, paper: null, connectionVersion: 1, credentialsVersion: 1 },
  } as Partial<Account> as Account;

  function worker() {
    isDead = false;
    const commit = async (order: Order): Promise<Order> => {
      tick();
      const known = saved.get(order.id);
      if (known && known.version !== order.version) throw new OrderTaken(order.id);
      const next = { ...order, version: order.version + 1 };
      saved.set(order.id, next);
      if (!isUnderWay(next.status) && !endedAt.has(order.id)) endedAt.set(order.id, now);
      return next;
    };
    const connections = createConnections({
      brokers: { paper: open } as Partial<Brokers> as Brokers,
      simulated: () => open(),
      openCredentials: async () => ({}),
      findAccount: async () => account,
      refuseCredentials: async () => {},
      sentAround: async () => [],
      ...{
        wait,
        brokerTimeoutMs: 10_000,
        gates: createGates(clock.now),
        rates: createRates(),
        counters: UNCOUNTED,
        tracing: UNTRACED,
      },
    });
    const execution: Execution = {
      ...{ connections, clock, wait, rest: wait, rules: RULES, counters: UNCOUNTED, tracing: UNTRACED },
      ...{
        judge: async () => [],
        noteEquity() {},
        monthsUnder: async () => [],
        isAgainstRecord: async () => false,
        forgetMonth() {},
      },
      ...{
        save: commit,
        record: null,
        saveSending: commit,
        closedBy: async () => 'somebody',
        want: () => Promise.reject(new Error('nothing is protected here')),
        wanted: async () => null,
        protecting: { see: async () => {}, free: async () => false },
        saveSeen: commit,
        endEntry: async (order) => order,
      },
    };
    return { execution, connections };
  }

  /** One worker after the other, until nothing is under way. */
  async function work(): Promise<void> {
    for (let lives = 0; [...saved.values()].some(({ status }) => isUnderWay(status)); lives++) {
      assert.ok(lives < 20, 'the orders never end');
      const { execution } = worker();
      const trades = openTrades({ now: clock.now, lagMs: RULES.lagMs }, [...saved.values()]);
      const orders = () =>
        [...saved.values()].toSorted(
          (a, b) => Number(b.status === 'executing') - Number(a.status === 'executing'),
        );
      await workOff(execution, async () => ({ orders: orders(), version: 1, guards: null, revision: null }), {
        ...{ upTo: null, turn: { aside: (waiting) => waiting() }, resting: createResting() },
        ...{ tradesOf: async () => trades, faults: new Map(), signal: new AbortController().signal },
        log: { info() {}, error() {} },
      }).catch((fault: unknown) => {
        if (!(fault instanceof Crash || fault instanceof OrderTaken)) throw fault;
        now += 2_000;
      });
    }
  }

  /** Fill verification, for what is left at the broker. */
  async function verify(): Promise<void> {
    for (const { id } of saved.values())
      for (let attempts = 1; attempts < 20; attempts++) {
        const order = saved.get(id) as Order;
        if (!openLeg(order)) break;
        now += 31_000;
        const look = await lookAtOrder({ connections: worker().connections, clock }, order).catch(() => null);
        if (!look) continue;
        saved.set(
          id,
          afterLook(order, look, attempts, { ...RULES, retries: 99, requeueMs: 30_000 }, now).order,
        );
      }
  }

  let made = 0;
  return {
    ...{ saved, endedAt, taken, heldAt, work, verify, now: () => now },
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    submit(intent: OrderIntent, quantity: number, deadlineSeconds: number): OrderId {
      const id = `00000000-0000-7000-8000-${String(++made).padStart(12, '0')}` as OrderId;
      saved.set(id, {
        ...{ id, version: 1, requestId: null, userId: USER, accountId: ACCOUNT, brokerName: 'paper' },
        ...{ source: 'webhook', simulation: false, symbol: 'BTCUSDT', action: 'buy', orderType: null },
        ...{
          intent,
          quantity: decimal(quantity),
          notes: NO_NOTES,
          guards: [],
          status: 'queued',
          error: null,
        },
        ...{ positionBefore: null, autoExit: false, awaitsRest: false, legs: [], credentialsVersion: null },
        ...{
          exitError: null,
          submittedAt: timestamp(now),
          deadlineAt: timestamp(now + deadlineSeconds * 1000),
        },
        ...{ filledAt: null, trace: {} },
      });
      return id;
    },
  };
}

const span = (latest: number, longest: number): fc.Arbitrary<Span> =>
  fc.record({ from: fc.integer({ min: 0, max: latest }), lasts: fc.integer({ min: 1, max: longest }) });

/** Where nothing is clamped, nobody can know of a trade by hand of a moment ago, or make it undone by one that rests. */
const knowable = (day: Day): Day => (day.able.reduceOnly ? day : { ...day, byHand: null });

const days: fc.Arbitrary<Day> = fc
  .record({
    able: fc.record({ reduceOnly: fc.boolean(), refusesDuplicateIds: fc.boolean() }),
    lagSeconds: fc.constantFrom(0, 0, 1, 3, 10, 25),
    outages: fc.array(span(60, 30), { maxLength: 2 }),
    refusal: fc.option(span(60, 5)),
    entry: fc.record({
      answer: fc.constantFrom('given', 'given', 'lost'),
      lateSeconds: fc.constantFrom(0, 0, 3, 40),
    }),
    exitAnswer: fc.constantFrom('given', 'given', 'lost', 'never received'),
    exitShownSeconds: fc.constantFrom(0, 0, 3),
    isBusy: fc.boolean(),
    restsSeconds: fc.constantFrom(0, 0, 0.5, 20),
    byHand: fc.option(fc.integer({ min: 1, max: 90 }), { freq: 5 }),
    crashes: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }),
    exitAfterSeconds: fc.integer({ min: 0, max: 20 }),
  })
  .map(knowable);

/** What is asked for, and how many of the two that are held. */
const exits: fc.Arbitrary<readonly [OrderIntent, number]> = fc.constantFrom(
  [{ operation: 'CLOSE_POSITION', direction: 'long' }, 2],
  [{ operation: 'CLOSE_POSITION', direction: null }, 2],
  [{ operation: 'PLACE_EXIT_ORDER', direction: 'long' }, 2],
  [{ operation: 'PLACE_EXIT_ORDER', direction: 'long' }, 1],
  [{ operation: 'CLOSE_POSITION', direction: null, target: { position: ZERO, opens: null } }, 2],
);

describe('an exit, on any day', () => {
  test('is made before its deadline, once; nothing is left that we opened, and nothing flips', async () => {
    await fc.assert(
      fc.asyncProperty(days, exits, async (day, [intent, quantity]) => {
        const world = scene(day);
        const entry = world.submit({ operation: 'PLACE_ENTRY_ORDER', side: 'buy' }, 2, 60);
        await world.work();
        world.pass(day.exitAfterSeconds);
        const exit = world.submit(intent, quantity, 300);
        await world.work();
        await world.verify();

        const order = world.saved.get(exit) as Order;
        const words = JSON.stringify({ status: order.status, error: order.error, legs: order.legs.length });
        const ids = world.taken.map(({ clientOrderId }) => clientOrderId);
        assert.equal(new Set(ids).size, ids.length, 'a leg was taken twice');
        assert.ok(world.heldAt(world.now()) >= 0, `flipped: ${world.heldAt(world.now())} ${words}`);
        const opened = world.taken.some(({ side }) => side === 'buy') ? 2 : 0;
        const left = Math.max(0, opened - quantity);
        const held = world.heldAt(world.now());
        assert.ok(held <= left, `${held} held ${words} ${world.saved.get(entry)?.status}`);
        if (day.byHand === null) assert.equal(held, left, `closed too much ${words}`);
        const isEnd = ['filled', 'done'].includes(order.status) || order.error?.code === 'no_position';
        assert.ok(isEnd, `it ended by its fill, or by proof that nothing is held: ${words}`);
        // What it said at its end was true then, and not only later.
        const at = world.endedAt.get(exit) ?? 0;
        const isResting = order.legs.some(({ filledAt }) => filledAt !== null && Date.parse(filledAt) > at);
        if (!isResting) assert.ok(world.heldAt(at) <= left, `it said so too early: ${words}`);
      }),
      { numRuns: 1_500 },
    );
  });

  test('is not made a second time where it was not found before a wait, and has arrived since', async () => {
    const day: Day = {
      ...{ able: { reduceOnly: true, refusesDuplicateIds: false }, lagSeconds: 0, restsSeconds: 0 },
      ...{ outages: [], refusal: null, byHand: null, crashes: [] },
      ...{ exitAnswer: 'lost', exitShownSeconds: 3, isBusy: true },
      ...{ entry: { answer: 'given', lateSeconds: 0 }, exitAfterSeconds: 2 },
    };
    const world = scene(day);
    world.submit({ operation: 'PLACE_ENTRY_ORDER', side: 'buy' }, 2, 60);
    await world.work();
    world.pass(2);
    world.submit({ operation: 'PLACE_EXIT_ORDER', direction: 'long' }, 1, 300);
    await world.work();
    assert.deepEqual(
      world.taken.map(({ side, quantity }) => `${side} ${quantity}`),
      ['buy 2', 'sell 1'],
    );
  });

  test('ends at its deadline where the broker stays away, and says so', async () => {
    const day: Day = {
      ...{ able: { reduceOnly: true, refusesDuplicateIds: true }, lagSeconds: 0, restsSeconds: 0 },
      ...{
        outages: [{ from: 1, lasts: 1_000 }],
        refusal: null,
        exitAnswer: 'given',
        ...{ exitShownSeconds: 0, isBusy: false },
        byHand: null,
        crashes: [],
      },
      ...{ entry: { answer: 'given', lateSeconds: 0 }, exitAfterSeconds: 2 },
    };
    const world = scene(day);
    world.submit({ operation: 'PLACE_ENTRY_ORDER', side: 'buy' }, 2, 60);
    await world.work();
    world.pass(2);
    const begun = world.now();
    const exit = world.submit({ operation: 'CLOSE_POSITION', direction: 'long' }, 2, 300);
    await world.work();
    const order = world.saved.get(exit) as Order;
    assert.deepEqual([order.status, order.error?.code], ['expired', 'expired']);
    assert.match(order.error?.message ?? '', /cannot be reached/);
    const waited = (world.endedAt.get(exit) ?? 0) - begun;
    assert.ok(waited >= 300_000 && waited < 310_000, `${waited} ms`);
  });
});

test('entries and exits differ in one table', () => {
  const legs: Order['legs'] = [];
  const entry = { intent: { operation: 'PLACE_ENTRY_ORDER', side: 'buy' }, legs } as Partial<Order> as Order;
  const exit = { intent: { operation: 'CLOSE_POSITION', direction: null }, legs } as Partial<Order> as Order;
  assert.equal(patienceOf(entry), PATIENCE.entry);
  assert.equal(patienceOf(exit), PATIENCE.exit);
  assert.equal(
    patienceOf(entry, { mayReverse: true }),
    PATIENCE.exit,
    'what it would have to close is an exit',
  );
});
