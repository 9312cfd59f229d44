// The one promise of the core, under any sequence of bad luck: whatever dies or gets lost when, an order ends where the
// spec's table says, or says honestly that it did not, and no leg is sent twice. The decision (domain/orders/next-step.ts) and its
// driver run as they are; the broker, the database and the time around them are models.

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
  type Instrument,
} from '../../src/broker/broker.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { add, type Decimal, decimal, negate, sign, smaller, ZERO } from '../../src/domain/decimal.ts';
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
  type LegName,
  mainLeg,
  NO_NOTES,
  type Order,
  type OrderIntent,
  openLeg,
} from '../../src/domain/orders/order.ts';
import { withoutOpening } from '../../src/domain/orders/other-legs.ts';
import { isExit } from '../../src/domain/orders/patience.ts';
import { UNTRACED } from '../../src/domain/tracing.ts';
import { lookAtOrder } from '../../src/worker/lane/enquiries.ts';
import type { Execution } from '../../src/worker/lane/execution.ts';
import { OrderTaken } from '../../src/worker/lane/order-taken.ts';
import { createResting } from '../../src/worker/lane/resting.ts';
import { openTrades } from '../../src/worker/lane/trades.ts';
import { workOff } from '../../src/worker/lane/work-off.ts';
import { type BrokerAccess, createConnections } from '../../src/worker/line/connections.ts';
import { createGates } from '../../src/worker/line/gate.ts';
import { createRates } from '../../src/worker/line/rates.ts';
import { NO_STOPS } from './scripted-broker.ts';

/** The process is gone: nothing that it was about to do happens. */
class Crash extends Error {}

/** What happens to one call of the broker or one commit. When the list is used up, everything goes well. */
const LUCK = [
  'well',
  'well',
  'well',
  'crash before',
  'crash after',
  'lose the request',
  'lose the answer',
  'unavailable',
  'busy',
  'acknowledge only',
  'arrive late',
  'crash, and arrive late',
  'show it late',
] as const;
type Luck = (typeof LUCK)[number];

const USER = '00000000-0000-7000-8000-000000000001' as UserId;
const ACCOUNT = '00000000-0000-7000-8000-000000000002' as AccountId;
const INSTRUMENT: Instrument = {
  symbol: 'BTCUSDT',
  description: 'a model',
  contractSize: decimal(1),
  quantityStep: decimal(1),
  minQuantity: decimal(1),
  tickSize: decimal(1),
  open: true,
  nextOpen: null,
};
const RULES = {
  ...{ fillWaitMs: 1_000, settleMs: 2_000, closeWaitMs: 5_000, lookEveryMs: 500 },
  ...{ giveUpMs: 30_000, lagMs: 30_000, openWithinMs: 60_000 },
};

const ABLE = { findsByClientIdMs: Number.POSITIVE_INFINITY, fractionalQuantities: true, ...NO_STOPS };

interface LedgerOrder {
  readonly clientOrderId: ClientOrderId;
  readonly side: 'buy' | 'sell';
  readonly quantity: Decimal;
  readonly reduceOnly: boolean;
  state: BrokerOrderState;
  /** Looks until an acknowledged order is filled. */
  rests: number;
}

function model(capabilities: Capabilities, start: number, luck: readonly Luck[], restsFor: number) {
  let now = Date.parse('2026-07-15T19:00:00Z');
  const clock = { now: () => now };
  const wait = async (ms: number) => {
    now += ms;
  };
  const coming = [...luck];
  const draw = (): Luck => coming.shift() ?? 'well';
  const ledger: LedgerOrder[] = [];
  /** Orders on their way: each is taken with one of the next questions. */
  const late: { readonly order: BrokerOrder; questions: number }[] = [];
  /** What the position still shows, for so many reads. */
  let stale: { readonly position: Decimal; reads: number } | null = null;
  let isDead = false;
  let arrivedLate = false;
  /** An exit takes what is held at once, also beside an order that has not ended. */
  let closedBeside = false;
  const saved = new Map<OrderId, Order>();

  const die = () => {
    isDead = true;
    return new Crash();
  };

  const position = (): Decimal =>
    ledger.reduce<Decimal>(
      (sum, { side, state }) => add(sum, side === 'buy' ? state.fillQuantity : negate(state.fillQuantity)),
      decimal(start),
    );

  async function question<Answer>(answer: () => Answer): Promise<Answer> {
    for (const coming of late.splice(0))
      if (--coming.questions > 0) late.push(coming);
      else take(coming.order, 0);
    switch (draw()) {
      case 'crash before':
      case 'crash after':
      case 'crash, and arrive late':
        throw die();
      case 'busy':
        throw new BrokerBusy('busy', 500);
      case 'unavailable':
      case 'lose the request':
      case 'lose the answer':
        throw new BrokerUnavailable('away');
      default:
        return answer();
    }
  }

  function held(side: 'buy' | 'sell'): Decimal {
    const against = side === 'sell' ? position() : negate(position());
    return sign(against) > 0 ? against : ZERO;
  }

  function take(order: BrokerOrder, rests: number): BrokerOrderState | 'nothing to close' {
    const known = ledger.find(({ clientOrderId }) => clientOrderId === order.clientOrderId);
    if (known && capabilities.refusesDuplicateIds) return known.state;
    if (order.reduceOnly && ledger.some(({ state }) => state.status === 'placed')) closedBeside = true;
    const reduceOnly = order.reduceOnly && capabilities.reduceOnly;
    const quantity = reduceOnly ? smaller(order.quantity, held(order.side)) : order.quantity;
    if (sign(quantity) === 0) return 'nothing to close';
    const taken: LedgerOrder = {
      clientOrderId: order.clientOrderId,
      side: order.side,
      quantity,
      reduceOnly,
      rests,
      state: {
        brokerRef: `model-${ledger.length + 1}`,
        status: 'placed',
        fillQuantity: ZERO,
        fillPrice: null,
        fee: null,
        reason: null,
      },
    };
    ledger.push(taken);
    if (rests === 0) fill(taken);
    return taken.state;
  }

  /** A replica of the exchange may be a moment behind. */
  function shown(): Decimal {
    const old = stale && stale.reads-- > 0 ? stale.position : null;
    return old ?? position();
  }

  /** What is reduce-only takes what is held by then, and no more. */
  function fill(order: LedgerOrder): void {
    const fillQuantity = order.reduceOnly ? smaller(order.quantity, held(order.side)) : order.quantity;
    const status = fillQuantity === order.quantity ? 'filled' : 'cancelled';
    const fillPrice = sign(fillQuantity) === 0 ? null : decimal(100);
    order.state = { ...order.state, status, fillQuantity, fillPrice, reason: 'nothing is left to reduce' };
  }

  const open = async (): Promise<Broker> => ({
    capabilities,
    limits: 'model',
    verify: async () => ({ warnings: [] }),
    resolve: () => question(() => INSTRUMENT),
    position: () => question(shown),
    positions: async () => [],
    instruments: async () => [],
    balance: () => Promise.reject(new BrokerUnavailable('none')),
    quote: () => Promise.reject(new BrokerUnavailable('none')),
    openOrders: async () => [],
    cancel: async () => {},
    close: async () => {},
    async place(order) {
      const luckOfIt = draw();
      if (luckOfIt === 'crash before') throw die();
      if (luckOfIt === 'arrive late' || luckOfIt === 'crash, and arrive late') {
        late.push({ order, questions: 4 });
        arrivedLate = true;
        if (luckOfIt === 'crash, and arrive late') throw die();
        return { outcome: 'unknown', reason: 'no answer' };
      }
      if (luckOfIt === 'show it late') stale = { position: position(), reads: 2 };
      if (luckOfIt === 'unavailable') throw new BrokerUnavailable('away');
      if (luckOfIt === 'busy') throw new BrokerBusy('busy', 500);
      if (luckOfIt === 'lose the request') return { outcome: 'unknown', reason: 'no answer' };
      const state = take(order, luckOfIt === 'acknowledge only' ? restsFor : 0);
      if (luckOfIt === 'crash after') throw die();
      if (luckOfIt === 'lose the answer') return { outcome: 'unknown', reason: 'no answer' };
      return state === 'nothing to close'
        ? { outcome: 'rejected', error: { code: 'no_position', message: 'nothing to close' } }
        : { outcome: 'accepted', state };
    },
    find: (query) =>
      question(() => {
        const found = ledger.find(({ clientOrderId }) => clientOrderId === query.clientOrderId);
        if (found && found.state.status === 'placed' && --found.rests <= 0) fill(found);
        return found?.state ?? null;
      }),
  });

  /** A worker's life: it ends with its first crash. */
  function worker() {
    isDead = false;
    // The next one begins later than any replica is behind.
    stale = null;
    const alive = <T>(value: T): T => {
      if (isDead) throw new Crash();
      return value;
    };
    const commit = async (order: Order): Promise<Order> => {
      const luckOfIt = draw();
      if (luckOfIt === 'crash before') throw die();
      const known = saved.get(order.id);
      if (known && known.version !== order.version) throw new OrderTaken(order.id);
      saved.set(order.id, { ...order, version: order.version + 1 });
      if (luckOfIt === 'crash after') throw die();
      return { ...order, version: order.version + 1 };
    };
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
    const access: BrokerAccess = {
      brokers: { paper: open } as Partial<Brokers> as Brokers,
      simulated: () => open(),
      openCredentials: async () => ({}),
      findAccount: async () => alive(account),
      refuseCredentials: async () => {},
      sentAround: async () => [],
      wait,
      brokerTimeoutMs: 10_000,
      gates: createGates(clock.now),
      rates: createRates(),
      counters: UNCOUNTED,
      tracing: UNTRACED,
    };
    const connections = createConnections(access);
    const execution: Execution = {
      connections,
      judge: async () => [],
      noteEquity: () => {},
      closedBy: async () => 'somebody',
      want: () => Promise.reject(new Error('nothing is protected here')),
      wanted: async () => null,
      protecting: { see: async () => {}, free: async () => false },
      counters: UNCOUNTED,
      tracing: UNTRACED,
      save: (order) => commit(alive(order)),
      record: null,
      saveSending: (order) => commit(alive(order)),
      saveSeen: (order) => commit(alive(order)),
      endEntry: async (order) => order,
      clock,
      wait,
      rest: wait,
      monthsUnder: async () => [],
      isAgainstRecord: async () => false,
      forgetMonth() {},
      rules: RULES,
    };
    return { execution, connections };
  }

  /** Works everything off as one worker after the other, until nothing is under way, and then verifies fills. */
  async function settle(): Promise<void> {
    for (let lives = 0; ; lives++) {
      assert.ok(lives < 200, 'the orders never end');
      const { execution } = worker();
      const trades = openTrades({ now: clock.now, lagMs: RULES.lagMs }, [...saved.values()]);
      const orders = [...saved.values()];
      if (!orders.some(({ status }) => isUnderWay(status))) break;
      const first = () =>
        [...saved.values()].toSorted(
          (a, b) => Number(b.status === 'executing') - Number(a.status === 'executing'),
        );
      await workOff(execution, async () => ({ orders: first(), version: 1, guards: null, revision: null }), {
        upTo: null,
        turn: { aside: (waiting) => waiting() },
        resting: createResting(),
        tradesOf: async () => trades,
        faults: new Map(),
        signal: new AbortController().signal,
        log: {
          info() {},
          error: (context) =>
            assert.ok(
              (context as { fault: unknown }).fault instanceof Crash,
              String((context as { fault: Error }).fault?.stack),
            ),
        },
      }).catch((fault: unknown) => {
        if (!(fault instanceof Crash || fault instanceof OrderTaken)) throw fault;
      });
    }
    for (const { id } of saved.values())
      for (let attempts = 1; attempts < 100; attempts++) {
        const order = saved.get(id) as Order;
        if (!openLeg(order)) break;
        now += 31_000;
        const { connections } = worker();
        const look = await lookAtOrder({ connections, clock }, order).catch((fault: unknown) => {
          if (fault instanceof Crash) return { seen: 'failure' as const, reason: 'died' };
          throw fault;
        });
        const rules = { retries: 99, requeueMs: 30_000, giveUpMs: RULES.giveUpMs };
        const { order: after } = afterLook(order, look, attempts, rules, now);
        saved.set(id, after);
      }
  }

  let made = 0;
  return {
    ledger,
    saved,
    position,
    settle,
    arrivedLate: () => arrivedLate,
    closedBeside: () => closedBeside,
    neverMade: (name: LegName) =>
      [...saved.values()].some(({ legs }) =>
        legs.some(({ leg, status }) => leg === name && status === 'expired'),
      ),
    submit(intent: OrderIntent, quantity: number): OrderId {
      const id = `00000000-0000-7000-8000-${String(++made).padStart(12, '0')}` as OrderId;
      saved.set(id, newOrder(id, intent, quantity, now));
      return id;
    },
  };
}

const newOrder = (id: OrderId, intent: OrderIntent, quantity: number, now: number): Order => ({
  id,
  version: 1,
  requestId: null,
  userId: USER,
  accountId: ACCOUNT,
  brokerName: 'paper',
  source: 'webhook',
  simulation: false,
  symbol: 'BTCUSDT',
  action: 'buy',
  orderType: null,
  intent,
  quantity: decimal(quantity),
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
  submittedAt: timestamp(now),
  deadlineAt: timestamp(now + 60_000),
  filledAt: null,
  trace: {},
});

const intents: fc.Arbitrary<OrderIntent> = fc.oneof(
  fc.constantFrom('buy', 'sell').map((side) => ({ operation: 'PLACE_ENTRY_ORDER', side }) as const),
  fc
    .constantFrom('long', 'short')
    .map((direction) => ({ operation: 'PLACE_EXIT_ORDER', direction }) as const),
  fc.constantFrom('long', 'short').map((direction) => ({ operation: 'CLOSE_POSITION', direction }) as const),
  fc
    .record({
      position: fc.integer({ min: -3, max: 3 }).map(decimal),
      opens: fc.constantFrom('buy', 'sell', null),
    })
    .map((target) => ({ operation: 'CLOSE_POSITION', direction: null, target }) as const),
);

/** The spec's table: where an order that is filled ends. */
function tableOf(position: number, intent: OrderIntent, quantity: number): number {
  if (intent.target) {
    const [to, opens] = [Number(intent.target.position), intent.target.opens];
    const kept = position * to > 0 ? Math.sign(to) * Math.min(Math.abs(position), Math.abs(to)) : 0;
    return opens === null || opens === (to > 0 ? 'buy' : 'sell') ? to : kept;
  }
  if (intent.operation === 'PLACE_ENTRY_ORDER')
    return intent.side === 'buy' ? Math.max(position, 0) + quantity : Math.min(position, 0) - quantity;
  const held = intent.direction === 'long' ? Math.max(position, 0) : Math.max(-position, 0);
  const taken = intent.operation === 'CLOSE_POSITION' ? held : Math.min(held, quantity);
  return intent.direction === 'long' ? position - taken : position + taken;
}

/** Looks within which an acknowledged order is filled before the next one is planned. */
const SOON = 5;

const cases = fc.record({
  start: fc.integer({ min: -3, max: 3 }),
  signals: fc.array(fc.record({ intent: intents, quantity: fc.integer({ min: 1, max: 3 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  luck: fc.array(fc.constantFrom(...LUCK), { maxLength: 40 }),
  refusesDuplicateIds: fc.boolean(),
  reduceOnly: fc.boolean(),
  /** Looks until an order that was only acknowledged is filled: within the answer's wait, or after it. */
  restsFor: fc.oneof(fc.integer({ min: 1, max: SOON }), fc.constant(40)),
});

describe('any signals, any position, any luck', () => {
  test('no leg is sent twice, and every order ends where the table says or owns up to it', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ start, signals, luck, refusesDuplicateIds, reduceOnly, restsFor }) => {
        const world = model({ ...ABLE, refusesDuplicateIds, reduceOnly }, start, luck, restsFor);
        const orders = signals.map(({ intent, quantity }) => ({
          intent,
          quantity,
          id: world.submit(intent, quantity),
        }));
        await world.settle();

        const ids = world.ledger.map(({ clientOrderId }) => clientOrderId);
        assert.equal(new Set(ids).size, ids.length, `a leg was sent twice: ${ids}`);
        // Who cannot know of an order that is on its way plans without it, and so does an exit that does not wait for it.
        const isClear = !world.arrivedLate() && !world.closedBeside() && restsFor <= SOON;
        let position = start;
        for (const { id, intent, quantity } of orders) {
          const order = world.saved.get(id) as Order;
          const traded = order.legs.reduce((sum, leg) => {
            const at = world.ledger.find((each) => each.clientOrderId === leg.clientOrderId);
            assert.equal(
              leg.fillQuantity ?? '0',
              at?.state.fillQuantity ?? '0',
              `${leg.leg}: what we say it filled`,
            );
            const filled = Number(at?.state.fillQuantity ?? 0);
            return sum + (leg.side === 'buy' ? filled : -filled);
          }, 0);
          const endsWell = order.status === 'filled' || order.status === 'done';
          if (endsWell && isClear) {
            assert.equal(Number(order.positionBefore), position, 'it was planned on what was held');
            const isShort = order.error?.code === 'out_of_sync';
            const end = tableOf(position, isShort ? withoutOpening(intent) : intent, quantity);
            // A part was left to a close that might have been made, and was not: it says so.
            const isLeft = isShort && Math.abs(position + traded) > Math.abs(end) && world.neverMade('exit');
            if (!isLeft) assert.equal(position + traded, end);
          } else if (!endsWell) {
            assert.ok(['rejected', 'failed', 'expired', 'cancelled'].includes(order.status), order.status);
            assert.ok(order.error, 'it says why');
            // What an exit took before its deadline is taken, where it waited for another order's rest until then.
            const hasWaited =
              isExit(order) && order.error.message.includes('What was held before it is closed');
            if (!['failed', 'cancelled'].includes(order.status) && !hasWaited)
              assert.equal(
                mainLeg(order)?.fillQuantity ?? '0',
                '0',
                `${order.status}, and nothing was traded but a reversal's close`,
              );
            // Unless one of ours may yet trade: then it says so.
            if (
              isClear &&
              order.error.code === 'no_position' &&
              !order.error.message.includes('is still open')
            )
              assert.equal(tableOf(position, intent, quantity), position, 'there was nothing to close');
          }
          position += traded;
        }
        assert.equal(Number(world.position()), position, 'every fill is one of ours');
        if (signals.every(({ intent }) => intent.operation !== 'PLACE_ENTRY_ORDER' && !intent.target))
          assert.ok(
            Math.min(start, 0) <= position && position <= Math.max(start, 0),
            `exits alone never open anything: from ${start} to ${position}`,
          );
      }),
      { numRuns: 1_000 },
    );
  });

  test('however often one target is sent, the position never goes beyond it', async () => {
    const slow = fc.array(
      fc.constantFrom<Luck>('well', 'acknowledge only', 'lose the answer', 'arrive late', 'crash after'),
      { minLength: 4, maxLength: 40 },
    );
    const targets = fc.integer({ min: -3, max: 3 });
    await fc.assert(
      fc.asyncProperty(
        cases,
        slow,
        targets,
        async ({ start, signals, refusesDuplicateIds, reduceOnly, restsFor }, luck, to) => {
          const world = model({ ...ABLE, refusesDuplicateIds, reduceOnly }, start, luck, restsFor);
          const target = { position: decimal(to), opens: null };
          for (const _ of signals) world.submit({ operation: 'CLOSE_POSITION', direction: null, target }, 1);
          await world.settle();
          const position = Number(world.position());
          assert.ok(
            Math.min(start, to) <= position && position <= Math.max(start, to),
            `from ${start} to ${to}: ${position}`,
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('with good luck every signal ends where the table says, whether or not the broker answers with the fill', async () => {
    const quiet = fc.array(fc.constantFrom<Luck>('well', 'acknowledge only', 'show it late'), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(cases, quiet, async ({ start, signals, reduceOnly, restsFor: looks }, luck) => {
        const restsFor = Math.min(looks, SOON);
        const capabilities = {
          ...ABLE,
          refusesDuplicateIds: false,
          reduceOnly,
        };
        const world = model(capabilities, start, luck, restsFor);
        const expected = signals.reduce((at, { intent, quantity }) => tableOf(at, intent, quantity), start);
        for (const { intent, quantity } of signals) world.submit(intent, quantity);
        await world.settle();
        assert.equal(Number(world.position()), expected);
      }),
      { numRuns: 500 },
    );
  });
});
