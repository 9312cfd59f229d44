// Who sweeps has a fifth of a broker's rate; and who comes first behind a gate that was closed.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Broker, BrokerBusy, type Instrument } from '../../src/broker/broker.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { sql } from '../../src/data/engine/db.ts';
import { putOffProtections } from '../../src/data/orders/protections.ts';
import { type AccountId, type OrderId, timestamp, type UserId } from '../../src/domain/ids.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import { createSweepTurns, mostUrgentFirst } from '../../src/worker/lane/sweep-turns.ts';
import { discretion } from '../../src/worker/line/discretion.ts';
import { currentErrand, type Errand, onErrand } from '../../src/worker/line/errand.ts';
import { createGates } from '../../src/worker/line/gate.ts';
import { openLine } from '../../src/worker/line/line.ts';
import { createRates, type Venue } from '../../src/worker/line/rates.ts';
import { onBehalfOf } from '../../src/worker/line/reader.ts';
import { createSweeps } from '../../src/worker/line/sweeps.ts';
import { openWorld } from '../world.ts';
import { scriptedBroker } from './scripted-broker.ts';

const MINUTE_MS = 60_000;
const SWEEP_MS = 30_000;

/** Accounts that are swept every so often, by a clock of their own. */
function openSweeping(t: TestContext, broker: Venue['broker'], weight: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 1_000_000;
  const rates = createRates(() => now);
  const sweeps = createSweeps(() => now);
  const begun: { readonly at: number; readonly account: string }[] = [];

  async function sweep(venue: Venue): Promise<void> {
    begun.push({ at: now, account: venue.account });
    await sweeps.run(venue, 'sweep', async () => rates(venue).sent(weight), 'sweep');
    setTimeout(due, SWEEP_MS, venue);
  }
  function due(venue: Venue): void {
    if (sweeps.queue(venue, 'sweep', () => void sweep(venue)) === null) void sweep(venue);
  }
  return {
    begun,
    lateMs: () => sweeps.lateMs(broker),
    keep(accounts: number): void {
      for (let n = 0; n < accounts; n++)
        due({ broker, environment: 'live', account: `account ${n}` as AccountId });
    },
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= 100) {
        now += 100;
        t.mock.timers.tick(100);
        // What a sweep has cost is known when it has ended.
        await Promise.resolve().then(() => {});
        await new Promise(setImmediate);
      }
    },
  };
}

describe('Sweeps', () => {
  test('of one address never weigh more than a fifth of its rate in any minute, whatever one weighs', async (t) => {
    const { begun, keep, pass } = openSweeping(t, 'binance', 8);
    keep(400);
    await pass(4 * MINUTE_MS);
    const weightFrom = (from: number) =>
      begun.filter(({ at }) => at >= from && at < from + MINUTE_MS).length * 8;
    assert.ok(Math.max(...begun.map(({ at }) => weightFrom(at))) <= 2_400 / 5);
    assert.ok(begun.length * 8 > 4 * 2_400 * 0.15, 'and they use what they may');
  });

  test('that have to wait come in turn: each account as often as the others, and the time that shows is the time that passes', async (t) => {
    const { begun, keep, pass, lateMs } = openSweeping(t, 'binance', 6);
    keep(120);
    await pass(5 * MINUTE_MS);
    const shown = SWEEP_MS + lateMs();
    const last = begun.at(-1)?.account;
    const times = begun.filter(({ account }) => account === last).map(({ at }) => at);
    const between = (times.at(-1) ?? 0) - (times.at(-2) ?? 0);
    assert.ok(
      between > 1.5 * SWEEP_MS && Math.abs(between / shown - 1) < 0.35,
      `${between} beside ${shown} ms`,
    );
    const counts = Map.groupBy(begun, ({ account }) => account);
    const each = [...counts.values()].map(({ length }) => length);
    assert.equal(counts.size, 120);
    assert.ok(Math.max(...each) - Math.min(...each) <= 1);
  });

  test('of few accounts are not held up, and nothing is shown of that', async (t) => {
    const { begun, keep, pass, lateMs } = openSweeping(t, 'bybit', 3);
    keep(100);
    await pass(2 * SWEEP_MS + 20_000);
    assert.equal(begun.length, 300);
    assert.equal(lateMs(), 0);
  });

  test('of an account that the broker counts by itself wait for nobody else', async (t) => {
    const { begun, keep, pass } = openSweeping(t, 'alpaca', 3);
    keep(500);
    await pass(1_000);
    assert.equal(begun.length, 500);
  });

  test('that are left before their turn are not begun', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    const sweeps = createSweeps(() => now);
    const venue = { broker: 'okx', environment: 'live', account: 'one' as AccountId } as const;
    assert.equal(
      sweeps.queue(venue, 'sweep', () => {}),
      null,
    );
    const begun: string[] = [];
    const place = sweeps.queue(venue, 'sweep', () => begun.push('left'));
    sweeps.queue(venue, 'sweep', () => begun.push('stayed'));
    assert.ok(place);
    place.leave();
    now += MINUTE_MS;
    t.mock.timers.tick(MINUTE_MS);
    assert.deepEqual(begun, ['stayed']);
  });
});

describe('Behind a gate that was closed', () => {
  test('exits come first, then protection, then entries, then sweeps and who only reads', async () => {
    let now = 0;
    const gate = createGates(() => now)({ limits: 'one', account: 'one', address: 'one' });
    const broker = { capabilities: {}, position: async () => '0' } as unknown as Broker;
    const line = openLine(broker, {
      ...{ credentialsVersion: 1, discreet: discretion(null), gate, chartGate: gate, timeoutMs: 1_000 },
    });
    const ask = () => line.position({} as Instrument);
    const reader = { user: 'anne' as UserId, pay: async () => {} };
    const errands = ['exit', 'protection', 'entry', 'sweep'] as const satisfies Errand[];
    const whoMay = async (): Promise<string[]> => {
      const asking = errands.map((errand) => onErrand(() => errand, ask));
      const asked = await Promise.allSettled([...asking, onBehalfOf(reader, ask)]);
      for (const each of asked) if (each.status === 'rejected') assert.ok(each.reason instanceof BrokerBusy);
      return [...errands, 'reader'].filter((_, index) => asked[index]?.status === 'fulfilled');
    };
    assert.equal((await whoMay()).length, 5);
    gate.close(2_000);
    now += 1_999;
    assert.deepEqual(await whoMay(), []);
    now += 1;
    assert.deepEqual(await whoMay(), ['exit']);
    now += 100;
    assert.deepEqual(await whoMay(), ['exit', 'protection']);
    now += 100;
    assert.deepEqual(await whoMay(), ['exit', 'protection', 'entry']);
    now += 100;
    assert.equal((await whoMay()).length, 5);
  });

  test('an exit comes before entries that have waited for longer', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: (ms) => pause(ms) });
    const leaving = await world.makeTrader();
    const entering = await Promise.all(Array.from({ length: 10 }, () => world.makeTrader()));
    broker.give(leaving.account.id, 1);
    const busy = new BrokerBusy('too many requests', 3_500, 'address');
    broker.script('position', () => Promise.reject(busy), 1);
    const entries = entering.map((trader) => world.send(trader, { action: 'long_entry' }));
    while (broker.count('position') === 0) await pause(5);
    const exit = world.send(leaving, { action: 'close_long' });
    const answers = await Promise.all([exit, ...entries]);
    for (const { body } of answers) assert.equal(body.status, 'filled');
    assert.deepEqual(broker.trades(), ['sell 1', ...entering.map(() => 'buy 1')]);
  });
});

describe('A look at what protects positions', () => {
  const ACCOUNT = 'one' as AccountId;
  const NOW = Date.parse('2026-11-17T12:00:00Z');
  const STANDING = {
    ...{
      state: 'standing',
      wantedBy: [],
      heard: [],
      closesFor: null,
      suspendedAt: null,
      legs: [],
      timeStopAt: null,
    },
    ...{ trail: null, breakEven: null, targets: [], stop: null, seenAt: null, unprotectedSince: null },
    dueAt: timestamp(NOW),
  } as unknown as Protection;

  /** Nobody may sweep before it is said. */
  function openTurns() {
    const begins: (() => void)[] = [];
    const happened: string[] = [];
    const turns = createSweepTurns({
      clock: { now: () => NOW },
      rules: { sweepMs: SWEEP_MS, followMs: 2_000 },
      sweeps: {
        queue(_venue, kind, begin) {
          begins.push(begin);
          return { leave: () => happened.push(`left the line for a ${kind}`) };
        },
        run: (_venue, kind, work, errand) => {
          happened.push(`${kind} as ${errand}`);
          return work();
        },
        lateMs: () => 0,
      },
      putOff: async (_account, until) =>
        void happened.push(`put off for ${(Date.parse(until) - NOW) / 1000} s`),
      begin: () => happened.push('turn'),
    });
    const account = { id: ACCOUNT, brokerName: 'binance', environment: 'live' } as Account;
    return {
      happened,
      come: () => begins.shift()?.(),
      take: (change: Partial<Protection>, isUrgent = false) =>
        turns.take({ account, all: [{ ...STANDING, ...change }], isUrgent }, async () => {
          happened.push(`looked, ${currentErrand()}`);
        }),
    };
  }

  test('waits for its turn where all stands as it should, and no verifier takes it for a dead worker’s meanwhile', async () => {
    const { take, come, happened } = openTurns();
    assert.equal(await take({}), 'waits');
    assert.equal(await take({}), 'waits');
    assert.equal(await take({ dueAt: timestamp(NOW + MINUTE_MS) }), 'waits');
    assert.deepEqual(happened.splice(0), ['put off for 60 s', 'put off for 60 s']);
    come();
    assert.equal(await take({}), 'looked');
    assert.deepEqual(happened, ['turn', 'sweep as sweep', 'looked, exit']);
  });

  for (const [what, change, isUrgent] of [
    ['something has happened', {}, true],
    ['a stop is missing', { state: 'armed' }, false],
    ['an order’s wish is to be taken in', { wantedBy: ['order' as OrderId] }, false],
    ['its time has come', { timeStopAt: timestamp(NOW) }, false],
    ['it is to be closed', { closesFor: 'stop_loss' }, false],
    ['a wish waits until it is shown', { unpriced: ['protect' as OrderId] }, false],
  ] as const)
    test(`waits for nobody where ${what}, and leaves the line`, async () => {
      const { take, happened } = openTurns();
      await take({});
      assert.equal(await take(change, isUrgent), 'looked');
      assert.deepEqual(happened.slice(1), ['left the line for a sweep', 'looked, protection']);
    });

  test('every 5 s at a position that an order of unknown fate may open is a sweep after ten minutes', async () => {
    const { take } = openTurns();
    const forsaken = { state: 'armed', wantedBy: ['order' as OrderId] } as const;
    const since = (minutes: number) => ({
      ...forsaken,
      unprotectedSince: timestamp(NOW - minutes * MINUTE_MS),
    });
    assert.equal(await take(since(9)), 'looked');
    assert.equal(await take(since(11)), 'waits');
  });

  test('… also where what it had opened was protected, and closed so long ago', async () => {
    const { take } = openTurns();
    const order = ['order' as OrderId];
    const closed = { wantedBy: order, heard: order, seenAt: timestamp(NOW - 11 * MINUTE_MS) };
    assert.equal(await take({ ...closed, seenAt: timestamp(NOW - 9 * MINUTE_MS) }), 'looked');
    assert.equal(await take({ ...closed, wantedBy: [...order, 'next' as OrderId] }), 'looked');
    assert.equal(await take(closed), 'waits');
  });

  test('comes first to what nobody has looked at yet, then to what is refused again and again, then to what stands', () => {
    const all = [
      { ...STANDING, id: 'stands' },
      { ...STANDING, id: 'refused', state: 'unprotected' as const },
      { ...STANDING, id: 'new', state: 'armed' as const },
    ];
    const order = mostUrgentFirst(all, ({ id }) => id !== 'new').map(({ id }) => id);
    assert.deepEqual(order, ['new', 'refused', 'stands']);
  });

  test('is not made for an order in another symbol; and what is put off is nobody’s to claim', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const looks = async () =>
      Number(
        /protection_calls_total\{call="standing",outcome="answered"\} (\d+)/.exec(
          (await world.request<string>({ method: 'GET', url: '/metrics' })).body,
        )?.[1] ?? 0,
      );
    const due = () =>
      world.db.get<{ due_at: string; version: number; state: string }>(sql`select * from protections`);
    await world.send(trader, { action: 'long_entry', stop_loss: '2%' });
    while ((await due())?.state !== 'standing') await pause(20);
    const before = await looks();
    assert.ok(before > 0);
    // Each is executed after the look that the one before it would have caused.
    for (const action of ['long_entry', 'close_long', 'long_entry'])
      await world.send(trader, { action, symbol: 'ETHUSDT' });
    assert.equal(await looks(), before);
    await world.send(trader, { action: 'long_entry' });
    while ((await looks()) === before) await pause(20);

    const until = timestamp(Date.now() + MINUTE_MS);
    const stands = await due();
    await world.db.commit([putOffProtections(trader.user.id, trader.account.id, until)]);
    assert.deepEqual([(await due())?.due_at, (await due())?.version], [until, stands?.version]);
  });
});
