// What the benches say is made by these: times of a schedule, the search for the largest burst, categories of a profile,
// what a gate calls grown, and counts of real servers' and files' own.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { judge, search } from '../../bench/burst.ts';
import { HERE, load } from '../../bench/checkout.ts';
import { atRandom, measure, sendWhenDue, summary } from '../../bench/client.ts';
import { openTally, statementsIn } from '../../bench/counts.ts';
import { grown } from '../../bench/gate.ts';
import { FILLED, nobodysSignals, signalsOf } from '../../bench/orders.ts';
import { costsOf, type Profile } from '../../bench/profile-categories.ts';
import { markdown, type Results } from '../../bench/results.ts';
import { startEmbedded, startFloor } from '../../bench/systems.ts';
import { cpuMs, familyMs, mainThreadMs, usedPerOrder } from '../../bench/usage.ts';
import { seeded } from '../orders/kill-harness.ts';

/** Answers each request when it is told to. */
async function openServer(t: TestContext) {
  const held: (() => void)[] = [];
  const arrived: { count: number; wanted: number; resolve: () => void } = {
    count: 0,
    wanted: Number.POSITIVE_INFINITY,
    resolve: () => {},
  };
  const server = createServer((_request, response) => {
    held.push(() => response.writeHead(200, { 'content-length': 2 }).end('ok'));
    if (++arrived.count === arrived.wanted) arrived.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    until: (wanted: number) =>
      new Promise<void>((resolve) => {
        Object.assign(arrived, { wanted, resolve });
        if (arrived.count >= wanted) resolve();
      }),
  };
}

const next = () => ({ path: '/', body: '{}' });
const mostMs = 60_000;

describe('Requests that are due', () => {
  test('are sent though those before them are not answered', async (t) => {
    const server = await openServer(t);
    const sending = sendWhenDue(server.address, { connections: 3, due: [0, 1, 2], mostMs, next });
    await server.until(3);
    for (const answer of server.held.splice(0)) answer();
    assert.equal((await sending).filter(({ answer }) => answer.endsWith('ok')).length, 3);
  });

  test('wait for a free connection, and the wait is counted', async (t) => {
    const server = await openServer(t);
    const sending = sendWhenDue(server.address, { connections: 1, due: [0, 0], mostMs, next });
    await server.until(1);
    const [answerFirst] = server.held.splice(0);
    answerFirst?.();
    await server.until(2);
    server.held[0]?.();
    const [first, second] = await sending;
    assert.ok(first && second && second.ms >= first.ms);
  });

  test('are answered with nothing where the server hangs up', async (t) => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [only] = await sendWhenDue(address, { connections: 1, due: [0], mostMs, next });
    assert.equal(only?.answer, '');
  });

  test('have no answer where none came in time', async (t) => {
    const { address } = await openServer(t);
    const answered = await sendWhenDue(address, { connections: 1, due: [0, 0], mostMs: 50, next });
    assert.deepEqual(
      answered,
      Array(2).fill({ ms: 50, answer: '' }),
      'neither the one that was sent nor the one that waited',
    );
  });

  test('come as many as asked for on the average, in rising order', () => {
    const due = atRandom(100, 60_000, seeded(3));
    assert.ok(Math.abs(due.length - 6_000) < 300, String(due.length));
    assert.deepEqual(
      due,
      due.toSorted((a, b) => a - b),
    );
  });
});

test('a summary tells the slowest of a thousand apart', () => {
  const { p50, p99, p999, perSecond } = summary(
    Array.from({ length: 1_000 }, (_, n) => n + 1),
    2_000,
  );
  assert.deepEqual([p50, p99, p999, perSecond], [500, 990, 999, 500]);
});

describe('The largest burst', () => {
  const upTo = (most: number) => {
    const tried: number[] = [];
    return {
      tried,
      attempt: async (users: number) => {
        tried.push(users);
        return { isInTime: users <= most, p99: users, lastMs: users };
      },
    };
  };

  test('is found by doubling and then by halves', async () => {
    const { attempt, tried } = upTo(1_000);
    const { users, tooMany, lastMs } = await search(attempt, () => true);
    assert.ok(users <= 1_000 && users > 940, String(users));
    assert.ok(tooMany !== null && tooMany > 1_000 && tooMany / users < 1.06);
    assert.equal(lastMs, users, 'of that very burst');
    assert.deepEqual(tried.slice(0, 4), [128, 256, 512, 1_024]);
  });

  test('ends with what it has when there is no time left, or no more users', async () => {
    let left = 3;
    assert.equal((await search(upTo(1e9).attempt, () => left-- > 0)).users, 512);
    const { users, tooMany } = await search(upTo(1e9).attempt, () => true);
    assert.deepEqual([users, tooMany], [8_192, null]);
  });

  test('is none where even one is too many', async () => {
    assert.equal((await search(upTo(0).attempt, () => true)).users, 0);
  });

  test('counts who is filled in time, and nobody else', () => {
    const filled = { ms: 10, answer: 'HTTP/1.1 200 OK\r\n\r\n{"status":"filled"}' };
    const hundred = (others: object[]) => [
      ...Array.from({ length: 100 - others.length }, () => filled),
      ...(others as (typeof filled)[]),
    ];
    assert.equal(judge(hundred([{ ...filled, ms: 3_001 }])).isInTime, true, 'one of a hundred');
    assert.equal(judge(hundred([{ ...filled, ms: 3_001 }])).lastMs, 3_001);
    assert.equal(
      judge(
        hundred([
          { ...filled, ms: 3_001 },
          { ms: 5, answer: '' },
        ]),
      ).isInTime,
      false,
    );
  });
});

describe('A gate', () => {
  const orders = { API: 1_000, Redis: 100 };
  const grownFrom = (API: number, Redis = 0.1) =>
    grown({ cpu: { API: 2, Redis: 0.1 }, orders }, { cpu: { API, Redis }, orders }).map(({ what }) => what);

  test('names what grew by more than a tenth', () => {
    assert.deepEqual(grownFrom(2.3), ['API']);
    assert.deepEqual(grownFrom(2.15), []);
    assert.deepEqual(grownFrom(1), []);
  });

  test('says nothing of what the clock cannot tell', () => {
    assert.deepEqual(grownFrom(2, 0.3), [], 'two ticks in all');
  });
});

test('a profile counts the platform for who called it, and leaves out what is idle or came before', () => {
  const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
    id,
    callFrame: { functionName, url },
    children,
  });
  const profile: Profile = {
    startTime: 1_000,
    nodes: [
      node(1, '(root)', '', [2, 4, 5, 6]),
      node(2, 'touch', 'file:///x/src/data/engine/sqlite.ts', [3]),
      node(3, 'run', ''),
      node(4, '(idle)', ''),
      node(5, '(garbage collector)', ''),
      node(6, 'onread', 'node:net', [7]),
      node(7, 'parse', 'file:///x/node_modules/big.js/big.mjs'),
    ],
    samples: [7, 3, 2, 4, 5, 6, 7],
    timeDeltas: [0, 10, 10, 10, 10, 10, 10, 10],
  };
  const { categories, functions } = costsOf(profile, 1_005);
  assert.deepEqual(Object.fromEntries(categories), {
    'database and its adapter': 20,
    GC: 10,
    sockets: 10,
    decimals: 10,
  });
  assert.equal(functions.get('run'), 10);
});

test('statements are counted in the log by their first word', () => {
  const log = `2026-11-16 LOG:  execute of_1: select 1
2026-11-16 DETAIL:  parameters: $1 = 'LOG'
2026-11-16 LOG:  statement: BEGIN
2026-11-16 LOG:  execute <unnamed>: select
   2`;
  assert.deepEqual(Object.fromEntries(statementsIn(log)), { 'statement select': 2, 'statement begin': 1 });
});

test('processor time is told of a process, its first thread and its children', {
  skip: process.platform !== 'linux',
}, () => {
  const before = { own: cpuMs(process.pid) };
  while (cpuMs(process.pid) === before.own);
  const own = cpuMs(process.pid);
  assert.ok((usedPerOrder(before, { own }, 2).own ?? 0) >= 5, 'a hundredth of a second, by two');
  assert.ok(mainThreadMs(process.pid) > 0 && mainThreadMs(process.pid) <= cpuMs(process.pid));
  assert.ok(familyMs(process.ppid) >= own);
  assert.ok(Number.isNaN(cpuMs(0)), 'nobody');
});

test('an order is counted in one process: ours and its floor', async () => {
  const code = await load(HERE);
  const connections = 2;
  const cost = async (starting: typeof startFloor | typeof startEmbedded, users: number) => {
    const tally = openTally();
    const system = await starting(code, { users, ...tally });
    const signals = users > 0 ? signalsOf(system.traders) : nobodysSignals;
    const load = { connections, requests: 8, warmUp: 8, mostMs: 30_000, next: signals, expected: FILLED };
    try {
      return await tally.costInFile(system.file ?? '', async () => {
        const { requests } = await measure(system.address, load);
        // Those that warm up are counted too.
        return requests + load.warmUp;
      });
    } finally {
      await system.stop();
      tally.close();
    }
  };
  const floor = await cost(startFloor, 0);
  assert.deepEqual([floor.orders, floor.inserts, floor.updates, floor.indexInsertions], [16, 1, 1, 0]);
  const ours = await cost(startEmbedded, connections);
  assert.ok(ours.statements > floor.statements);
  assert.ok((ours.inserts ?? 0) >= 2 && ours.indexInsertions > 0, 'an order, its signal, and their indexes');
  assert.ok(ours.logBytes > 4_096 && floor.logBytes > 0);
});

test('the tables have a row for everything that was measured', () => {
  const cost = {
    ...{ orders: 10, statements: 2, commits: 2, inserts: 1, updates: 1, hotUpdates: null },
    ...{ indexInsertions: 3, logBytes: 4_120, redisCommands: null, parts: {} },
  };
  const results: Results = {
    ...{ commit: 'abc', at: '2026-11-16T00:00:00.000Z', node: 'v26', machine: '2 cores', load: 0.1 },
    timed: [
      {
        ...{ who: 'ours', mode: 'embedded', loop: 'closed', connections: 16, requests: 10 },
        times: { p50: 1, p99: 2, p999: 3, perSecond: 400 },
        cpu: { process: 2.36, 'main thread': 2.1 },
      },
    ],
    counted: [{ who: 'ours', mode: 'embedded', connections: 1, cost }],
    bursts: [{ mode: 'embedded', users: 1_200, tooMany: 1_260, p99: 2_900, lastMs: 3_100 }],
    updates: [],
  };
  const text = markdown(results);
  assert.match(text, /\| ours, 16 connections \| 1\.00 \| 2\.00 \| 3\.00 \| 400 \| 2\.36 \| 2\.10 \|/);
  assert.match(text, /\| ours, 1 connection \| 2\.0 \| 2\.0 \| 1\.0 \| 1\.0 \| – \| 3\.0 \| 4120 \| – \|/);
  assert.match(text, /1200 \(1260 were too many\) users.*the last after 3100 ms/);
  assert.doesNotMatch(text, /Roles apart/, 'which nobody measured');
});
