// Never twice, never lost: at every point at which a process can die, the next one finds out what became of the order.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import type { Held } from '../worker/scripted-broker.ts';
import { verified } from './fill-desk.ts';
import { type Death, die } from './recovery-desk.ts';

const passOnce = ({ broker }: Death) => broker.script('place', (goodAnswer) => goodAnswer(), 1);

/** What is left in the database and at the broker, and how a process is led there. */
interface Point {
  readonly left: string;
  readonly lead: (death: Death) => Held | null;
  /** What the broker does in the meantime. */
  readonly meanwhile?: (broker: Death['broker']) => void;
  /** Status, error and trades: of the next process in time, after the deadline, and at a broker that takes ids twice. */
  readonly fresh: Outcome;
  readonly stale: Outcome;
  readonly careless: Outcome;
}
type Outcome = readonly [status: string, error: string | null, trades: readonly string[]];

const ENTERED: Outcome = ['filled', null, ['buy 1']];
const EXPIRED: Outcome = ['expired', 'expired', []];
const REVERSED: Outcome = ['filled', null, ['buy 2', 'buy 1']];
const ONLY_CLOSED: Outcome = ['failed', 'expired', ['buy 2']];
const NOBODY_KNOWS: Outcome = ['unknown', null, []];
const NOT_CLOSED: Outcome = ['failed', 'reversal_timeout', []];

const ENTRY_POINTS: readonly Point[] = [
  {
    left: 'accepted, and its message lost',
    lead: ({ loseMessage }) => loseMessage(),
    ...{ fresh: ENTERED, stale: EXPIRED, careless: ENTERED },
  },
  {
    left: 'executing, not connected',
    lead: ({ broker }) => broker.hold('open'),
    ...{ fresh: ENTERED, stale: EXPIRED, careless: ENTERED },
  },
  {
    left: 'executing, without legs',
    lead: ({ broker }) => broker.hold('position'),
    ...{ fresh: ENTERED, stale: EXPIRED, careless: ENTERED },
  },
  {
    left: 'the entry planned after a lost connection',
    lead({ broker, holdWait }) {
      broker.script('place', () => Promise.reject(new BrokerUnavailable('reset')), 1);
      return holdWait();
    },
    ...{ fresh: ENTERED, stale: EXPIRED, careless: ENTERED },
  },
  {
    left: 'the entry sending, not at the broker',
    lead: ({ broker }) => broker.hold('place'),
    ...{ fresh: ENTERED, stale: NOBODY_KNOWS, careless: NOBODY_KNOWS },
  },
  {
    left: 'the entry sending, at the broker',
    lead: ({ broker }) => broker.hold('place', 'after'),
    ...{ fresh: ENTERED, stale: ENTERED, careless: ENTERED },
  },
];

/** Of someone who is short 2. */
const REVERSAL_POINTS: readonly Point[] = [
  {
    left: 'the close sending, not at the broker',
    lead: ({ broker }) => broker.hold('place'),
    ...{ fresh: REVERSED, stale: NOT_CLOSED, careless: NOT_CLOSED },
  },
  {
    left: 'the close sending, at the broker',
    lead: ({ broker }) => broker.hold('place', 'after'),
    ...{ fresh: REVERSED, stale: ONLY_CLOSED, careless: REVERSED },
  },
  {
    left: 'the close resting, polled for',
    lead({ broker }) {
      broker.fills = 'later';
      return broker.hold('find');
    },
    meanwhile(broker) {
      broker.settle(broker.ledger[0], 'filled');
      broker.fills = 'at once';
    },
    ...{ fresh: REVERSED, stale: ONLY_CLOSED, careless: REVERSED },
  },
  {
    left: 'the close filled, the entry not sent',
    lead(death) {
      passOnce(death);
      death.broker.script('place', () => Promise.reject(new BrokerUnavailable('reset')), 1);
      return death.holdWait();
    },
    ...{ fresh: REVERSED, stale: ONLY_CLOSED, careless: REVERSED },
  },
  {
    left: 'the close filled, the entry sending, not at the broker',
    lead(death) {
      passOnce(death);
      return death.broker.hold('place');
    },
    fresh: REVERSED,
    stale: ['unknown', null, ['buy 2']],
    careless: ['unknown', null, ['buy 2']],
  },
  {
    left: 'the close filled, the entry sending, at the broker',
    lead(death) {
      passOnce(death);
      return death.broker.hold('place', 'after');
    },
    ...{ fresh: REVERSED, stale: REVERSED, careless: REVERSED },
  },
];

const POINTS = [
  ...ENTRY_POINTS.map((point) => ({ ...point, position: 0 })),
  ...REVERSAL_POINTS.map((point) => ({ ...point, position: -2 })),
];
const says = ([status, error, trades]: Outcome) =>
  `${status}${error && error !== status ? ` with ${error}` : ''}, ${trades.join(', ') || 'nothing'} sent`;

describe('A process dies, and the next one starts in time', { concurrency: 2 }, () => {
  for (const { left, position, lead, meanwhile, fresh } of POINTS)
    test(`${left}: ${says(fresh)}; the dead one, awake again, does nothing more`, async (t) => {
      const { broker, trader, nextProcess, wakeUp } = await die(t, lead, { position });
      meanwhile?.(broker);
      const { second, order } = await nextProcess();
      assert.deepEqual([order.status, order.error?.code ?? null, broker.trades()], fresh);
      assert.equal(broker.position(trader.account.id), '1');

      if (!left.includes('message lost')) await wakeUp();
      assert.deepEqual(broker.trades(), fresh[2]);
      assert.deepEqual(await second.order(trader, order.order_id), order);
    });
});

describe('A process dies, and the next one starts after the deadline', { concurrency: 2 }, () => {
  for (const { left, position, lead, meanwhile, stale } of POINTS)
    test(`${left}: ${says(stale)}`, async (t) => {
      const { broker, nextProcess } = await die(t, lead, { position });
      meanwhile?.(broker);
      const { order } = await nextProcess(60_001);
      assert.deepEqual([order.status, order.error?.code ?? null, broker.trades()], stale);
      if (position !== 0 && stale[2].length > 0) assert.equal(order.exit_order_result?.status, 'filled');
    });
});

describe('A process dies at a broker that does not refuse a duplicate id', { concurrency: 2 }, () => {
  for (const { left, position, lead, meanwhile, careless } of POINTS)
    test(`${left}: ${says(careless)}, and never a leg twice`, async (t) => {
      const capabilities = { refusesDuplicateIds: false };
      // A reversal's close that may have been sent is looked for until the deadline, which is soon.
      const env = { ENTRY_DEADLINE_SECONDS: '1' };
      const { broker, trader, nextProcess, wakeUp } = await die(t, lead, { position, capabilities, env });
      meanwhile?.(broker);
      const { second, clock, order } = await nextProcess();
      assert.deepEqual([order.status, order.error?.code ?? null, broker.trades()], careless);

      if (left.includes('message lost')) return;
      await wakeUp();
      const ids = broker.ledger.map(({ clientOrderId }) => clientOrderId);
      assert.equal(new Set(ids).size, ids.length);
      if (order.verification.state !== 'scheduled') return;
      // What was on its way all the time has arrived: it is found by fill verification, and was sent once.
      clock.advance(2_500);
      const found = await second.eventually(
        () => second.order(trader, order.order_id),
        ({ verification }) => verification.state === 'done',
      );
      assert.ok(found.legs.every(({ status }) => status === 'filled' || status === 'planned'));
    });
});

test('from the moment an order is taken over, the process before it sends nothing more', async (t) => {
  const { broker, first, trader, nextProcess, wakeUp } = await die(t, (death) =>
    death.broker.hold('position'),
  );
  const position = broker.hold('position');
  // So much later that its rescue sees the order: where the first takes the user back, nobody else comes to it.
  const next = nextProcess(6_000);
  await position.reached;
  await wakeUp();
  assert.deepEqual(broker.trades(), []);
  // Without a store that both know, the two would take the user from each other for as long as both live.
  const stopped = first.stop();
  position.release();
  await stopped;
  const { order } = await next;
  assert.equal(order.status, 'filled');
  assert.deepEqual(broker.trades(trader.account.id), ['buy 1']);
});

describe('What the broker cannot say', { concurrency: 2 }, () => {
  for (const [left, moment, end] of [
    ['at the broker', 'after', 'filled'],
    ['not at the broker', 'before', 'expired'],
  ] as const) {
    test(`a leg sending, ${left}, and the broker out of reach: unknown, and ${end} by fill verification`, async (t) => {
      const { broker, trader, nextProcess } = await die(t, (death) => death.broker.hold('place', moment));
      broker.script('find', () => Promise.reject(new BrokerUnavailable('down')));
      const { second, clock, order } = await nextProcess();
      assert.equal(order.status, 'unknown');
      assert.equal(order.verification.state, 'scheduled');
      broker.forgetScripts();
      const found = await verified(second, trader, order.order_id, clock);
      assert.equal(found.status, end);
      assert.equal(broker.count('place'), 1, 'nothing was sent again');
    });

    test(`a leg sending, ${left}, and its symbol no longer listed: looked for all the same, and ${end}`, async (t) => {
      const { broker, trader, nextProcess } = await die(t, (death) => death.broker.hold('place', moment));
      broker.script('resolve', async () => ({
        rejection: { code: 'invalid_symbol', message: 'Not found in the broker contracts.' },
      }));
      const { second, clock, order } = await nextProcess();
      assert.equal(order.status, end === 'filled' ? end : 'unknown');
      const found = end === 'filled' ? order : await verified(second, trader, order.order_id, clock);
      assert.equal(found.status, end);
      assert.equal(broker.count('place'), 1, 'nothing was sent again');
    });
  }

  test('a broker that cannot be asked by our id: unknown, never sent again, and in the end a dead letter', async (t) => {
    const capabilities = { refusesDuplicateIds: false, findsByClientIdMs: 0 };
    const { broker, trader, nextProcess } = await die(t, (death) => death.broker.hold('place', 'after'), {
      capabilities,
    });
    broker.script('find', async () => null);
    const { second, clock, order } = await nextProcess();
    assert.equal(order.status, 'unknown');
    clock.advance(2_500);
    for (const attempts of [1, 2, 3, 4]) {
      await second.eventually(
        () => second.order(trader, order.order_id),
        ({ verification }) => verification.attempts === attempts,
      );
      clock.advance(30_000);
    }
    const dead = await second.order(trader, order.order_id);
    assert.equal(dead.status, 'unknown');
    assert.equal(dead.verification.state, 'dead_letter');
    assert.deepEqual(broker.trades(), ['buy 1']);
  });
});

describe('Orders that nobody works on', { concurrency: 2 }, () => {
  test("of one user are taken up in the order of their acceptance, a dead worker's order first", async (t) => {
    const { broker, first, trader, nextProcess } = await die(t, (death) => death.broker.hold('place'));
    for (const quantity of [2, 3]) {
      const { status } = await first.send(trader, { quantity });
      assert.equal(status, 202);
    }
    const { second } = await nextProcess();
    await second.eventually(
      async () => broker.trades(),
      (trades) => trades.length === 3,
    );
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 2', 'buy 3']);
  });

  for (const [name, laterMs, outcome] of [
    ['in time: it is executed', 5_000, ENTERED],
    ['after its deadline: it expires', 60_001, EXPIRED],
  ] as const)
    test(`the store lost the message, and the order is found ${name}`, async (t) => {
      const { broker, first, clock, trader, left } = await die(t, ({ loseMessage }) => loseMessage());
      assert.equal(left.status, 'queued');
      clock.advance(laterMs);
      const order = await first.eventually(
        () => first.order(trader, left.order_id),
        ({ status }) => status !== 'queued' && status !== 'executing',
      );
      assert.deepEqual([order.status, order.error?.code ?? null, broker.trades()], outcome);
    });
});
