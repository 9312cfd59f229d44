// How often credentials are presented to a broker that refuses them, and when they count as refused.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Brokers, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import type { AccountId, UserId } from '../../src/domain/ids.ts';
import { UNTRACED } from '../../src/domain/tracing.ts';
import { type Connections, createConnections } from '../../src/worker/line/connections.ts';
import { CredentialsUnreadable } from '../../src/worker/line/credentials.ts';
import { createGates } from '../../src/worker/line/gate.ts';
import type { Line } from '../../src/worker/line/line.ts';
import { createRates } from '../../src/worker/line/rates.ts';
import { scriptedBroker } from './scripted-broker.ts';

const ACCOUNT = '0190a000-0000-7000-8000-00000000000a' as AccountId;
const REAL = { accountId: ACCOUNT, simulation: false };
const EXIT = { mayTryRefused: true };
const read = (line: Line) => line.positions();

/** One account whose flag is kept as the database keeps it, and as many workers after each other as a test wants. */
function desk(t: TestContext, { unreadable = false } = {}) {
  const broker = scriptedBroker(t);
  const waits: number[] = [];
  let account = {
    id: ACCOUNT,
    userId: '0190a000-0000-7000-8000-00000000000b' as UserId,
    brokerName: 'paper',
    environment: 'live',
    sealedCredentials: 'sealed',
    credentialsVerified: true,
    credentialsRefused: false,
    paper: null,
    connectionVersion: 1,
    credentialsVersion: 1,
  } as Partial<Account> as Account;
  const change = (to: Partial<Account>) => {
    account = { ...account, ...to };
  };
  return {
    broker,
    waits,
    change,
    /** How often the broker was shown the credentials. */
    presented: () => broker.count('open'),
    flags: () => [account.credentialsVerified, account.credentialsRefused],
    startWorker(): Connections {
      const connections = createConnections({
        brokers: broker.brokers as Partial<Brokers> as Brokers,
        simulated: () => Promise.reject(new Error('nothing is simulated here')),
        async openCredentials() {
          if (unreadable) throw new CredentialsUnreadable();
          return {};
        },
        findAccount: async () => account,
        async refuseCredentials(_, version) {
          if (version !== account.connectionVersion) return;
          const credentialsRefused = account.credentialsVerified || account.credentialsRefused;
          change({ credentialsVerified: false, credentialsRefused });
        },
        sentAround: async () => [],
        // A test that wants two to meet needs a wait that takes a moment.
        async wait(ms) {
          waits.push(ms);
          await new Promise((resolve) => setImmediate(resolve));
        },
        brokerTimeoutMs: 1_000,
        gates: createGates(),
        rates: createRates(),
        counters: UNCOUNTED,
        tracing: UNTRACED,
      });
      t.after(() => connections.close());
      return connections;
    },
  };
}

const no = () => Promise.reject(new CredentialsRejected('401'));
const isRefused = (work: Promise<unknown>) => assert.rejects(work, CredentialsRejected);

for (const [where, call] of [
  ['when the connection is opened', 'open'],
  ['when something is asked over it', 'positions'],
] as const)
  describe(`Credentials that were good until now and are refused ${where}`, () => {
    for (const times of [1, 2])
      test(`${times} time${times === 1 ? '' : 's'}: what was asked for is done, and they are as good as before`, async (t) => {
        const { broker, waits, presented, flags, startWorker } = desk(t);
        broker.script(call, no, times);
        assert.deepEqual(await startWorker().use(REAL, read), []);
        assert.deepEqual(waits, [2_000, 5_000].slice(0, times));
        assert.deepEqual([presented(), flags()], [times + 1, [true, false]]);
      });

    test('three times: they count as refused, and are not presented again', async (t) => {
      const { broker, waits, presented, flags, startWorker } = desk(t);
      const worker = startWorker();
      broker.script(call, no, 3);
      await assert.rejects(worker.use(REAL, read), { message: '401' });
      assert.deepEqual([waits, presented(), flags()], [[2_000, 5_000], 3, [false, true]]);
      for (let more = 0; more < 3; more++) await isRefused(worker.use(REAL, read));
      assert.equal(presented(), 3);
    });

    test('once in an order that is sent: it is sent once', async (t) => {
      const { broker, startWorker } = desk(t);
      broker.script(call, no, 1);
      await startWorker().use(REAL, async (line) => {
        const instrument = await line.resolve('BTCUSDT');
        if ('rejection' in instrument) throw new Error('no such symbol');
        await line.positions();
        return line.place({
          ...{ clientOrderId: 'fe0000000000000000000001' as never, instrument, side: 'buy' },
          ...{ quantity: '1' as never, reduceOnly: false, sendBefore: '2999-01-01T00:00:00.000Z' as never },
        });
      });
      assert.deepEqual(broker.trades(), ['buy 1']);
    });

    test('by two at once: they are presented three times, and not six', async (t) => {
      const { broker, waits, presented, flags, startWorker } = desk(t);
      const worker = startWorker();
      broker.script(call, no);
      await Promise.all([isRefused(worker.use(REAL, read)), isRefused(worker.use(REAL, read, EXIT))]);
      assert.deepEqual([waits, presented(), flags()], [[2_000, 5_000], 3, [false, true]]);
    });

    test('who comes while they rest waits, and goes with the others', async (t) => {
      const { broker, waits, presented, startWorker } = desk(t);
      const worker = startWorker();
      const second = Promise.withResolvers<unknown>();
      broker.script(
        call,
        () => {
          // After this refusal has been heard of.
          setImmediate(() => second.resolve(worker.use(REAL, read)));
          return no();
        },
        1,
      );
      await Promise.all([worker.use(REAL, read), second.promise]);
      assert.deepEqual([waits, presented()], [[2_000], 2]);
    });

    test('an exit presents them once more, each time, and changes nothing about the flag', async (t) => {
      const { broker, waits, presented, flags, startWorker } = desk(t);
      const worker = startWorker();
      broker.script(call, no);
      await isRefused(worker.use(REAL, read));
      for (const opened of [4, 5]) {
        await assert.rejects(worker.use(REAL, read, EXIT), { message: '401' });
        assert.deepEqual([presented(), flags()], [opened, [false, true]]);
      }
      broker.forgetScripts();
      assert.deepEqual(await worker.use(REAL, read, EXIT), []);
      assert.deepEqual([presented(), flags()], [6, [false, true]]);
      assert.deepEqual(waits, [2_000, 5_000]);
    });

    test('a worker that begins after that knows it: an exit presents them once', async (t) => {
      const { broker, waits, presented, flags, startWorker } = desk(t);
      broker.script(call, no);
      await isRefused(startWorker().use(REAL, read));
      await isRefused(startWorker().use(REAL, read, EXIT));
      assert.deepEqual([presented(), flags(), waits], [4, [false, true], [2_000, 5_000]]);
      broker.forgetScripts();
      assert.deepEqual(await startWorker().use(REAL, read, EXIT), []);
      assert.deepEqual(flags(), [false, true]);
    });

    test('an exit that comes first presents them three times, as anybody', async (t) => {
      const { broker, presented, flags, startWorker } = desk(t);
      broker.script(call, no);
      await isRefused(startWorker().use(REAL, read, EXIT));
      assert.deepEqual([presented(), flags()], [3, [false, true]]);
    });
  });

describe('Refused credentials', () => {
  test('that are replaced while they rest are not condemned for the old ones’ sake', async (t) => {
    const { broker, change, flags, presented, startWorker } = desk(t);
    broker.script(
      'positions',
      () => {
        change({ connectionVersion: 2, credentialsVersion: 2 });
        return no();
      },
      1,
    );
    broker.script('positions', no, 2);
    assert.deepEqual(await startWorker().use(REAL, read), []);
    assert.deepEqual([presented(), flags()], [4, [true, false]]);
  });

  test('that never were verified are presented once: there is no hiccup to be told apart', async (t) => {
    const { broker, change, presented, flags, startWorker } = desk(t);
    change({ credentialsVerified: false });
    const worker = startWorker();
    broker.script('open', no);
    for (let times = 0; times < 3; times++) await isRefused(worker.use(REAL, read));
    assert.deepEqual([presented(), flags()], [1, [false, false]]);
  });

  test('that cannot be opened are presented to nobody, and stay what they are', async (t) => {
    const { waits, presented, flags, startWorker } = desk(t, { unreadable: true });
    await assert.rejects(startWorker().use(REAL, read), CredentialsUnreadable);
    assert.deepEqual([waits, presented(), flags()], [[], 0, [true, false]]);
  });

  test('an outage in between is no refusal: it is tried again as ever, and their count goes on', async (t) => {
    const { broker, presented, flags, startWorker } = desk(t);
    broker.script('open', no, 1);
    broker.script('open', () => Promise.reject(new BrokerUnavailable('away')), 2);
    broker.script('open', no, 2);
    await isRefused(startWorker().use(REAL, read));
    assert.deepEqual([presented(), flags()], [5, [false, true]]);
  });

  /** Asks for positions three times, each so long after the last; every other answer is a refusal, three times in all. */
  const inOneWork = async (t: TestContext, everyMs: number) => {
    const { broker, flags, startWorker } = desk(t);
    let now = 1_000;
    t.mock.method(performance, 'now', () => now);
    for (let times = 0; times < 3; times++) {
      broker.script('positions', (answer) => answer(), 1);
      broker.script('positions', no, 1);
    }
    const work = startWorker().use(REAL, async (line) => {
      for (let times = 0; times < 3; times++) {
        now += everyMs;
        await line.positions();
      }
    });
    return { work, flags };
  };

  test('three times in one work, and answered in between: each is a hiccup of its own', async (t) => {
    const { work, flags } = await inOneWork(t, 10_000);
    await work;
    assert.deepEqual(flags(), [true, false]);
  });

  test('three times in one go count, whatever else is answered: who may look may not be allowed to trade', async (t) => {
    const { work, flags } = await inOneWork(t, 1_000);
    await isRefused(work);
    assert.deepEqual(flags(), [false, true]);
  });

  test('of who may look and not trade count as refused in the end, also where each look takes three seconds', async (t) => {
    const { broker, presented, flags, startWorker } = desk(t);
    let now = 1_000;
    t.mock.method(performance, 'now', () => now);
    broker.script('cancel', no, 12);
    const work = startWorker().use(REAL, async (line) => {
      // As a worker does before it sends anything: the broker is slow, and answers.
      now += 3_000;
      await line.positions();
      // The pauses between two tries, 2 s and then 5 s.
      await line
        .cancel({ symbol: 'BTCUSDT', clientOrderId: 'fp1', brokerRef: 'one' } as Parameters<
          Line['cancel']
        >[0])
        .finally(() => {
          now += presented() % 2 === 1 ? 2_000 : 5_000;
        });
    });
    await isRefused(work);
    assert.deepEqual([presented() <= 6, flags()], [true, [false, true]]);
  });

  test('when a connection is opened, three times in one work and answered in between: each is a hiccup of its own', async (t) => {
    const { broker, flags, startWorker } = desk(t);
    let now = 1_000;
    t.mock.method(performance, 'now', () => now);
    const away = () => Promise.reject(new BrokerUnavailable('away'));
    for (let times = 0; times < 3; times++) {
      broker.script('open', no, 1);
      broker.script('open', (answer) => answer(), 1);
      broker.script('positions', (answer) => answer(), 1);
      if (times < 2) broker.script('positions', away, 1);
    }
    await startWorker().use(REAL, async (line) => {
      for (let times = 0; times < 2; times++) {
        now += 10_000;
        await line.positions();
      }
    });
    assert.deepEqual(flags(), [true, false]);
  });

  test('a verification presents them whatever was said, and what it takes is used by all', async (t) => {
    const { broker, presented, startWorker } = desk(t);
    const worker = startWorker();
    broker.script('open', no, 3);
    await isRefused(worker.use(REAL, read));
    await worker.verify(ACCOUNT);
    assert.deepEqual(await worker.use(REAL, read), []);
    assert.equal(presented(), 4);
  });

  test('a verification of good ones that meets a hiccup passes', async (t) => {
    const { broker, flags, startWorker } = desk(t);
    broker.script('verify', no, 2);
    await startWorker().verify(ACCOUNT);
    assert.deepEqual(flags(), [true, false]);
  });
});
