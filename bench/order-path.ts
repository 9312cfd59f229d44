// What the order path costs on this machine: webhook → 200, with the order durable and the paper broker's fill in it, over
// the loopback, beside a floor that does the least a durable order can do. In one process, and with the roles apart over
// PostgreSQL and Redis. Writes bench/RESULTS.md and bench/results.json. `node bench/order-path.ts`, four minutes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seeded } from '../test/orders/kill-harness.ts';
import { PostgresMissing } from '../test/servers/postgres.ts';
import { RedisMissing } from '../test/servers/redis.ts';
import { burst } from './burst.ts';
import { type Checkout, HERE, load } from './checkout.ts';
import { atRandom, type Load, measure, sendWhenDue, summary } from './client.ts';
import { costAtServers, openTally, type TableUpdates, tableUpdates } from './counts.ts';
import { FILLED, nobodysSignals, signalsOf } from './orders.ts';
import { type Counted, markdown, provenance, type Results, type Timed } from './results.ts';
import { type System, startApart, startEmbedded, startFloor, startFloorApart } from './systems.ts';
import { usedPerOrder } from './usage.ts';

const CONNECTIONS = [1, 16, 64, 256];
/** Fewer connections share fewer commits: by one, everything is counted as it is. */
const COUNTED = [1, 64];
/** Of a signal that comes when it comes there may be so many at once. */
const MOST_AT_ONCE = 256;
const FULL = {
  closedMs: 3_000,
  firstMs: 8_000,
  warmMs: 1_000,
  openMs: 5_000,
  countedOrders: 600,
  burstMs: 30_000,
};
const SHORT: typeof FULL = {
  closedMs: 300,
  firstMs: 300,
  warmMs: 200,
  openMs: 500,
  countedOrders: 60,
  burstMs: 4_000,
};

const { short } = parseArgs({ options: { short: { type: 'boolean', default: false } } }).values;
const size = short ? SHORT : FULL;

type Who = Pick<Timed, 'who' | 'mode'>;

const nextOf = ({ traders }: System): Load['next'] =>
  traders.length > 0 ? signalsOf(traders) : nobodysSignals;

/** As fast as answers come, by more and more; and then half as many as were possible, whenever they come. */
async function time(who: Who, system: System): Promise<Timed[]> {
  const next = nextOf(system);
  const rows: Timed[] = [];
  const used = async (
    row: () => Promise<Pick<Timed, 'loop' | 'connections' | 'requests'> & Timed['times']>,
  ) => {
    const before = system.usage();
    const { loop, connections, requests, ...times } = await row();
    const cpu = usedPerOrder(before, system.usage(), requests);
    rows.push({ ...who, loop, connections, requests, times, cpu });
    tell(rows.at(-1) as Timed);
  };
  const loadBy = (connections: number) => ({
    connections,
    requests: 1e6,
    warmUp: 0,
    next,
    expected: FILLED,
  });
  // Some thousand orders after its start a process is as fast as it will be.
  await measure(system.address, { ...loadBy(Math.max(...COUNTED)), mostMs: size.firstMs });
  for (const connections of CONNECTIONS) {
    const load = loadBy(connections);
    await measure(system.address, { ...load, mostMs: size.warmMs });
    await used(async () => ({
      loop: 'closed',
      connections,
      ...(await measure(system.address, { ...load, mostMs: size.closedMs })),
    }));
  }
  const half = Math.max(...rows.map(({ times }) => times.perSecond)) / 2;
  const due = atRandom(half, size.openMs, seeded(1));
  await used(async () => {
    const begun = performance.now();
    const answered = await sendWhenDue(system.address, {
      connections: MOST_AT_ONCE,
      due,
      mostMs: size.openMs + 10_000,
      next,
    });
    const wrong = answered.find(({ answer }) => !FILLED.test(answer));
    if (wrong) throw new Error(`not what was expected:\n${wrong.answer}`);
    return {
      loop: 'open',
      connections: MOST_AT_ONCE,
      ...summary(
        answered.map(({ ms }) => ms),
        performance.now() - begun,
      ),
    };
  });
  return rows;
}

function tell({ who, mode, loop, connections, times, cpu }: Timed): void {
  const processes = Object.entries(cpu).map(([name, ms]) => `${name} ${ms.toFixed(2)}`);
  console.log(
    `${mode} ${who}, ${loop} ${connections}: p50 ${times.p50.toFixed(2)} ms, ${times.perSecond.toFixed(0)}/s, ${processes.join(', ')}`,
  );
}

async function count(
  who: Who,
  system: System,
  costOf: (place: () => Promise<number>) => Promise<Counted['cost']>,
): Promise<Counted[]> {
  const next = nextOf(system);
  const counted: Counted[] = [];
  for (const connections of COUNTED) {
    const load = { connections, warmUp: 0, mostMs: 10_000, next, expected: FILLED };
    // Whoever trades for the first time costs more.
    await measure(system.address, { ...load, requests: connections * 2 });
    const place = async () =>
      (await measure(system.address, { ...load, requests: size.countedOrders })).requests;
    counted.push({ ...who, connections, cost: await costOf(place) });
  }
  return counted;
}

/** With its system, which it ends. */
async function within<T>(starting: Promise<System>, task: (system: System) => Promise<T>): Promise<T> {
  const system = await starting;
  try {
    return await task(system);
  } finally {
    await system.stop();
  }
}

type Part = Pick<Results, 'timed' | 'counted' | 'bursts' | 'updates'>;

async function embedded(code: Checkout): Promise<Part> {
  const floor = { who: 'floor', mode: 'embedded' } as const;
  const ours = { who: 'ours', mode: 'embedded' } as const;
  const users = MOST_AT_ONCE;
  const timed = [
    ...(await within(startFloor(code), (system) => time(floor, system))),
    ...(await within(startEmbedded(code, { users }), (system) => time(ours, system))),
  ];
  const counted: Counted[] = [];
  for (const [who, start] of [
    [floor, startFloor] as const,
    [ours, (_: Checkout, how: object) => startEmbedded(code, { users, ...how })] as const,
  ]) {
    const tally = openTally();
    const rows = await within(start(code, tally), (system) =>
      count(who, system, (place) => tally.costInFile(system.file ?? '', place)),
    );
    tally.close();
    counted.push(...rows);
  }
  return { timed, counted, bursts: [await burst(code, 'embedded', size.burstMs)], updates: [] };
}

async function apart(code: Checkout): Promise<Part> {
  const timed: Timed[] = [];
  const counted: Counted[] = [];
  let updates: TableUpdates[] = [];
  for (const [who, start] of [
    ['floor', () => startFloorApart(code)],
    ['ours', () => startApart(code, { users: MOST_AT_ONCE })],
  ] as const)
    await within(start(), async (system) => {
      const { servers } = system;
      if (!servers) throw new Error('no servers');
      timed.push(...(await time({ who, mode: 'apart' }, system)));
      counted.push(
        ...(await count({ who, mode: 'apart' }, system, (place) => costAtServers(servers, place))),
      );
      if (who === 'ours') updates = await tableUpdates(servers.postgres);
    });
  return { timed, counted, bursts: [await burst(code, 'apart', size.burstMs)], updates };
}

async function run(): Promise<void> {
  const code = await load(HERE);
  const parts = [await embedded(code)];
  try {
    parts.push(await apart(code));
  } catch (fault) {
    if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
    console.log(`roles apart: not measured, ${fault.message}`);
  }
  const results: Results = {
    ...provenance(HERE),
    timed: parts.flatMap(({ timed }) => timed),
    counted: parts.flatMap(({ counted }) => counted),
    bursts: parts.flatMap(({ bursts }) => bursts),
    updates: parts.flatMap(({ updates }) => updates),
  };
  const table = markdown(results);
  console.log(`\n${table}`);
  // A short run only shows that everything works.
  if (short) return;
  writeFileSync(join(HERE, 'bench/results.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(HERE, 'bench/RESULTS.md'), table);
}

await run();
