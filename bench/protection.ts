// What protecting positions costs: whether an entry with a stop is answered as fast as one without, how long a position has no stop, and
// what sweeping a thousand accounts takes of a worker host and of each broker's rate. At stubs on the loopback: what is measured is
// ours, never a broker's network. Writes bench/PROTECTION.md and bench/protection.json. `node bench/protection.ts`, four minutes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { venueOf } from '../chaos/venue.ts';
import { BROKER_NAMES, BROKERS, type BrokerName } from '../src/domain/brokers.ts';
import type { Trader } from '../test/orders/kill-harness.ts';
import { HERE, load } from './checkout.ts';
import { openConnection, percentile } from './client.ts';
import { keepApart } from './cores.ts';
import { ENTRY, EXIT, FILLED, signalOf } from './orders.ts';
import { provenance, table } from './results.ts';
import { type SweepWeight, sweepWeight } from './sweep-weight.ts';
import { type System, startApart, startEmbedded } from './systems.ts';
import { residentMb } from './usage.ts';

const { short } = parseArgs({ options: { short: { type: 'boolean', default: false } } }).values;
const FULL = { turns: 3, pairs: 120, many: 1_000, few: 30, watchMs: 45_000 };
const size: typeof FULL = short ? { turns: 1, pairs: 10, many: 20, few: 5, watchMs: 5_000 } : FULL;

const PROTECTED = { ...ENTRY, stop_loss: '2%' };
const SWEEP_S = 30;
const PAUSE_MS = 25;
/** Where there are many, so many enter at once; few do so one after the other. */
const AT_ONCE = 8;
/** Where no stop can stand nothing is protected. */
const KEEPING = BROKER_NAMES.filter((name) => BROKERS[name].capabilities.stop !== 'none');

interface Ratio {
  readonly plain: { readonly p50: number; readonly p99: number };
  readonly protected: { readonly p50: number; readonly p99: number };
}

/** Entries in turn, one at a time, of users of whom half ask for a stop: what else the machine does meets both. */
async function answers(system: System): Promise<Ratio[]> {
  const together = keepApart(system.processes.all?.pid ?? process.pid);
  const connection = await openConnection(system.address);
  const half = system.traders.length / 2;
  const post = async (trader: Trader, order: object): Promise<number> => {
    const { path, body } = signalOf(trader, order);
    const sent = performance.now();
    const answer = await connection.post(path, body);
    const ms = performance.now() - sent;
    // Whoever comes next is not to meet what this one has left to do.
    await sleep(PAUSE_MS);
    if (!FILLED.test(answer)) throw new Error(`not filled: ${answer}`);
    return ms;
  };
  const turn = async (): Promise<Ratio> => {
    const times = { plain: [] as number[], protected: [] as number[] };
    for (let pair = 0; pair < size.pairs; pair++) {
      const plain = system.traders[pair % half] as Trader;
      const guarded = system.traders[half + (pair % half)] as Trader;
      const both = [
        async () => times.plain.push(await post(plain, ENTRY)),
        async () => times.protected.push(await post(guarded, PROTECTED)),
      ];
      for (const each of pair % 2 === 0 ? both : both.toReversed()) await each();
      for (const trader of [plain, guarded]) await post(trader, EXIT);
    }
    const of = (some: readonly number[]) => ({ p50: percentile(some, 50), p99: percentile(some, 99) });
    return { plain: of(times.plain), protected: of(times.protected) };
  };
  await turn();
  const turns: Ratio[] = [];
  for (let n = 0; n < size.turns; n++) turns.push(await turn());
  connection.close();
  together();
  return turns;
}

interface Host {
  readonly broker: BrokerName;
  readonly accounts: number;
  /** From the first fill that was known until the stop was seen. */
  readonly unprotected: { readonly p50: number; readonly p99: number };
  /** Of the worker, while nothing but sweeping happens; null: that was not watched. */
  readonly sweeping: {
    readonly perSecond: number;
    readonly callsPerSecond: number;
    readonly intervalS: number;
    readonly coreShare: number;
    readonly residentMb: number;
    /** More than before anything was protected, with connections and all. */
    readonly moreMb: number;
  } | null;
}

/** Everybody enters with a stop; then only sweeps are left to do. */
async function host(broker: BrokerName, users: number, watchMs: number): Promise<Host> {
  const venue = await venueOf(broker);
  const [symbol] = venue.symbols;
  const quantity = broker === 'alpaca' ? 1 : 0.01;
  const system = await startApart(await load(HERE), {
    users,
    ...(venue.isPaper ? {} : { venue }),
    env: { PROTECTION_SWEEP_SECONDS: `${SWEEP_S}` },
  });
  const db = new Client(system.servers?.postgres);
  try {
    await db.connect();
    const worker = system.processes.worker;
    if (!worker) throw new Error('no worker');
    const before = residentMb(worker.pid);
    await enterAll(system, { ...PROTECTED, symbol, quantity }, watchMs > 0 ? AT_ONCE : 1);
    await allStand(db, users);
    const { rows } = await db.query<{ ms: number }>(
      'select unprotected_ms as ms from order_history where unprotected_ms is not null',
    );
    const times = rows.map(({ ms }) => ms);
    const unprotected = { p50: percentile(times, 50), p99: percentile(times, 99) };
    if (watchMs === 0) return { broker, accounts: users, unprotected, sweeping: null };
    const first = await look(worker.address, system, broker);
    await sleep(watchMs);
    const last = await look(worker.address, system, broker);
    const seconds = (last.at - first.at) / 1000;
    return {
      broker,
      accounts: users,
      unprotected,
      sweeping: {
        perSecond: (last.sweeps - first.sweeps) / seconds,
        callsPerSecond: (last.calls - first.calls) / seconds,
        intervalS: last.intervalS,
        coreShare: (last.cpuMs - first.cpuMs) / 1000 / seconds,
        residentMb: residentMb(worker.pid),
        moreMb: residentMb(worker.pid) - before,
      },
    };
  } finally {
    await db.end();
    await system.stop();
  }
}

async function enterAll({ address, traders }: System, order: object, atOnce: number): Promise<void> {
  const left = [...traders];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const connection = await openConnection(address);
      for (let trader = left.pop(); trader; trader = left.pop()) {
        const { path, body } = signalOf(trader, order);
        const answer = await connection.post(path, body);
        // On a busy machine it may be answered before it is filled.
        if (!/^HTTP\/1\.1 20[02] /.test(answer)) throw new Error(`not taken: ${answer}`);
      }
      connection.close();
    }),
  );
}

const MOST_WAIT_MS = 120_000;

async function allStand(db: Client, users: number): Promise<void> {
  const begun = performance.now();
  for (;;) {
    const { rows } = await db.query<{ state: string; count: string }>(
      'select state, count(*) as count from protections where ended_at is null group by state',
    );
    const standing = Number(rows.find(({ state }) => state === 'standing')?.count ?? 0);
    if (standing === users) return;
    if (performance.now() - begun > MOST_WAIT_MS)
      throw new Error(`not all stops stand: ${JSON.stringify(rows)}`);
    await sleep(200);
  }
}

/** As the worker counts it. */
async function look(address: string, system: System, broker: BrokerName) {
  const text = await (await fetch(`${address}/metrics`)).text();
  const sum = (name: string, label = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`fillpath_${name}{`) && line.includes(label))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  return {
    at: performance.now(),
    sweeps: sum('protection_calls_total', 'call="standing"'),
    calls: sum('broker_call_seconds_count'),
    intervalS: sum('sweep_interval_seconds', `broker="${broker}"`),
    cpuMs: system.usage().worker ?? Number.NaN,
  };
}

/** What a thousand accounts would take of the broker's rate, each swept every half minute; and how often they are swept. */
function shareOf(broker: BrokerName, { weight }: SweepWeight) {
  const { rate } = BROKERS[broker];
  if (rate === null) return null;
  const accounts = rate.countedBy === 'address' ? 1_000 : 1;
  const perSecond = (rate.weight / rate.windowMs) * 1000;
  const wanted = (accounts * weight) / SWEEP_S / perSecond;
  // A fifth, and a fifth of that is kept for what comes at once.
  const most = (1 / 5) * (4 / 5);
  return { countedBy: rate.countedBy, wanted, intervalS: SWEEP_S * Math.max(1, wanted / most) };
}

async function run(): Promise<void> {
  const embedded = await startEmbedded(await load(HERE), { users: 32 });
  const ratios = await answers(embedded).finally(() => embedded.stop());
  for (const { plain, protected: guarded } of ratios)
    console.log(
      `an entry, without a stop and with one: p50 ${plain.p50.toFixed(2)} and ${guarded.p50.toFixed(2)} ms, p99 ${plain.p99.toFixed(1)} and ${guarded.p99.toFixed(1)} ms`,
    );
  const hosts: Host[] = [];
  const weights: Record<string, SweepWeight> = {};
  const measure = async (...of: Parameters<typeof host>) => {
    const measured = await host(...of);
    hosts.push(measured);
    console.log(JSON.stringify(measured));
  };
  await measure('paper', size.many, size.watchMs);
  for (const broker of KEEPING) {
    await measure(broker, size.few, 0);
    if (broker !== 'paper') weights[broker] = await sweepWeight(broker);
  }
  const results = { ...provenance(HERE), answers: ratios, hosts, weights };
  const text = markdown(results);
  console.log(`\n${text}`);
  if (short) return;
  writeFileSync(join(HERE, 'bench/protection.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(HERE, 'bench/PROTECTION.md'), text);
}

function markdown({ commit, at, machine, load: busy, answers: turns, hosts, weights }: Results): string {
  const entries = table(
    ['an entry on paper, one at a time', 'without a stop: p50, p99', 'with one', 'ratio'],
    turns.map(({ plain, protected: guarded }, index) => [
      `turn ${index + 1}`,
      `${plain.p50.toFixed(2)}, ${plain.p99.toFixed(1)} ms`,
      `${guarded.p50.toFixed(2)}, ${guarded.p99.toFixed(1)} ms`,
      `${(guarded.p50 / plain.p50).toFixed(2)}, ${(guarded.p99 / plain.p99).toFixed(2)}`,
    ]),
  );
  const brokers = table(
    [
      'broker',
      'without a stop for: p50, p99',
      'a sweep: calls, weight',
      'of its rate, 1,000 accounts every 30 s',
      'they are swept every',
    ],
    hosts.map(({ broker, accounts, unprotected, sweeping }) => {
      const weight = weights[broker];
      const share = weight && shareOf(broker, weight);
      return [
        `${broker}, ${accounts} entries, ${sweeping ? AT_ONCE : 1} at once`,
        `${unprotected.p50.toFixed(0)}, ${unprotected.p99.toFixed(0)} ms`,
        weight ? `${weight.calls}, ${weight.weight}` : '–',
        share ? `${(share.wanted * 100).toFixed(1)} %${share.countedBy === 'account' ? ' each' : ''}` : '–',
        share ? `${share.intervalS.toFixed(0)} s` : '–',
      ];
    }),
  );
  const swept = hosts.flatMap(({ broker, accounts, sweeping }) =>
    sweeping
      ? `${accounts} accounts at ${broker}, one host: ${sweeping.perSecond.toFixed(1)} sweeps and ${sweeping.callsPerSecond.toFixed(1)} calls (a look into the connector's own list is one) a second, every ${sweeping.intervalS.toFixed(0)} s, ${(sweeping.coreShare * 100).toFixed(1)} % of a core, ${sweeping.residentMb.toFixed(0)} MB (${sweeping.moreMb.toFixed(0)} MB more than before).`
      : [],
  );
  const head = `Made by \`npm run bench -- protection\` of commit ${commit}, ${at.slice(0, 10)}, ${machine}, load ${busy.toFixed(1)} a core at its end.`;
  return ['# What protection costs', '', head, '', entries, '', brokers, '', ...swept, ''].join('\n');
}

interface Results extends ReturnType<typeof provenance> {
  readonly answers: readonly Ratio[];
  readonly hosts: readonly Host[];
  readonly weights: Readonly<Record<string, SweepWeight>>;
}

await run();
process.exit();
