// npm run chaos -- [--minutes 10] [--seed N] [--users 24] [--rate 20] [--broker NAME] [--break NAME] [--only "fault,fault"] [--slow N]
//   [--keep]
//
// Starts the real cluster on the loopback, sends a long random stream of signals for many users, lets everything go
// wrong that can, and judges afterwards from the exchange's ledger. Exits with 1 where an invariant does not hold.
// --keep leaves the logs, and evidence.json, which is what was judged. --slow is for a machine that has much else to do: the times by which
// positions are to be protected are so much longer.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Db, sql } from '../src/data/engine/db.ts';
import { migrate } from '../src/data/engine/migrate.ts';
import { openPostgres } from '../src/data/engine/postgres.ts';
import { BROKERS } from '../src/domain/brokers.ts';
import { timestamp } from '../src/domain/ids.ts';
import type { OrderError } from '../src/domain/orders/order.ts';
import { seeded, webhookPath } from '../test/orders/kill-harness.ts';
import { startRedis } from '../test/servers/redis.ts';
import { brokenBuild } from './breaks.ts';
import { type Cluster, openCluster, SEALING_KEY } from './cluster.ts';
import { dealWithAllHands } from './deal.ts';
import { type Desk, openDesks } from './desks.ts';
import { type ExchangeControl, exchangeControl } from './exchange-client.ts';
import { FAULTS } from './faults.ts';
import { startFlattens } from './flattens.ts';
import { forgottenLegs, namelessLegs, withOurIds } from './forgotten.ts';
import { startHands } from './hands.ts';
import { type Evidence, judge } from './judge.ts';
import { tellGroups } from './judge-groups.ts';
import { tellResting } from './judge-resting.ts';
import { measureHang } from './latency.ts';
import { startMarket } from './market.ts';
import { makeOwners, readPositions, verifyRefused } from './owners.ts';
import { startPostgres } from './postgres.ts';
import { type Finding, NOTE_ENDS, readRecords } from './records.ts';
import type { Scene } from './scene.ts';
import { watchSweeps } from './sweep-intervals.ts';
import { stanceOf, startTraffic } from './traffic.ts';
import { type Venue, venueOf } from './venue.ts';

const ROOT = join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    users: { type: 'string', default: '24' },
    rate: { type: 'string', default: '20' },
    broker: { type: 'string', default: 'paper' },
    break: { type: 'string' },
    only: { type: 'string' },
    slow: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});

/** After the last fault: every order must come to its end. A broken build may never do. */
const SETTLING_MS = options.break ? 45_000 : 180_000;
/** What is left then trades no more: a position has one time stop. */
const MOST_READS = 5;

async function main(): Promise<boolean> {
  const begun = Date.now();
  const clock = () => `${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s`;
  const log = (text: string) => console.log(`${clock()}  ${text}`);
  const seed = Number(options.seed);
  const minutes = Number(options.minutes);
  const only = options.only?.split(',').map((name) => name.trim()) ?? null;
  for (const name of only ?? [])
    if (!FAULTS[name])
      throw new Error(`there is no fault "${name}"; there are ${Object.keys(FAULTS).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-chaos-'));
  // PostgreSQL runs as a user of its own, who must get through to its folder.
  chmodSync(folder, 0o711);
  const root = options.break ? brokenBuild(folder, options.break) : ROOT;
  const closers: (() => unknown)[] = [() => options.keep || rmSync(folder, { recursive: true, force: true })];

  try {
    const postgres = await startPostgres(join(folder, 'postgres'));
    closers.push(() => postgres.stop());
    const redis = await startRedis();
    closers.push(() => redis.stop());
    const db = await openPostgres({ url: postgres.url });
    closers.push(() => db.close());
    await migrate(db, Date.now());
    await db.script(NOTE_ENDS);
    const venue = await venueOf(options.broker);
    const { desks, teams } = await openDesks(db, Number(options.users), { venue, key: SEALING_KEY });
    const owners = await makeOwners(db, desks);
    const cluster = await openCluster({
      folder,
      root,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      broker: venue.broker,
      slow: Number(options.slow),
    });
    closers.push(() => cluster.stop());
    const exchange = exchangeControl(cluster.exchange.url);
    for (const [index, { trader, traits, paper }] of desks.entries()) {
      const { id } = trader.account;
      const book = venue.isPaper ? {} : { paper };
      await exchange.register(id, traits, { ...book, ...venue.terms(id, index) });
    }
    log(
      `seed ${seed}: 2 API, 3 worker hosts, 2 verifiers, 1 exchange; PostgreSQL ${postgres.version}` +
        `${postgres.fillDisk ? '' : ' (its disk cannot be filled here)'}; ${options.users} users, ` +
        `${desks.length} accounts${venue.isPaper ? '' : ` at ${venue.broker}`}, ` +
        `${desks.filter((desk) => desk.traits.fillsAfterMs).length} of them at a distant exchange` +
        `${options.break ? `; a broken build: ${options.break}` : ''}; logs in ${folder}`,
    );

    const random = seeded(seed);
    const market = await startMarket({
      exchange,
      listings: venue.symbols.map(venue.listingOf),
      random: seeded(seed + 3),
    });
    const traffic = startTraffic({
      desks,
      teams,
      apis: cluster.apis,
      random: seeded(seed + 1),
      rate: Number(options.rate),
      venue,
      priceOf: market.priceOf,
    });
    const scene: Scene = {
      ...{ cluster, postgres, redis, exchange, desks, random },
      ...{ jumps: [], outages: [], deaths: [] },
    };
    const hang = only ? [] : await measureHang(scene, traffic, log);
    const kills = startFlattens({ owners, desks, apis: cluster.apis, random: seeded(seed + 2) });
    const protecting = desks.filter(({ protects }) => protects);
    const sweeps = watchSweeps(cluster, venue.broker);
    const hands = startHands({ exchange, desks: protecting, random: seeded(seed + 4) });
    const until = Date.now() + minutes * 60_000;
    const faults = await dealWithAllHands(scene, { until, only: only ?? faultsAt(venue), log });

    log('no more faults: everything is healed, and what is under way comes to its end');
    await exchange.clearFaults();
    await cluster.heal();
    const signals = await traffic.stop();
    const flattens = await kills.stop();
    const touched = await hands.stop();
    await market.stop();
    const [api = { url: '' }] = cluster.apis;
    const refused = await verifyRefused(db, owners, api, desks);
    const verifiedAt = Date.now();
    await fillEverything(db, desks, venue, exchange);
    const read = () => readRecords(db, venue.listingOf);
    const ledgerNow = async () => {
      const ledger = await exchange.ledger();
      return venue.nameOf ? withOurIds(ledger, await read(), venue.nameOf) : ledger;
    };
    const forgottenNow = async () =>
      venue.nameOf ? namelessLegs(await read()) : forgottenLegs(desks, await ledgerNow(), await read());
    const waited = await untilSettled(db, cluster, owners.operatorKey, forgottenNow);
    await hands.takeLast();
    // A stop that nobody puts back is to be missed by then.
    await sleep(cluster.times.sweepMs * 2);
    const unheard = await reportStrategies(cluster, desks);
    /** As of one moment: a time stop may close something while it is read, and then it is read again. */
    const readAll = async () => {
      for (let reads = 1; ; reads++) {
        await untilSettled(db, cluster, owners.operatorKey, forgottenNow);
        const begunAt = Date.now();
        const positions = await readPositions(owners, cluster.apis, desks, venue.listingOf);
        const records = await read();
        const ledger = await ledgerNow();
        const isOld = ledger.fills.some(({ at }) => at >= begunAt);
        if (!isOld || reads === MOST_READS) return { positions, records, ledger };
      }
    };
    const { positions, records, ledger } = await readAll();
    log(
      `settled ${(waited.ms / 1000).toFixed(0)} s after the last signal; ${waited.deadLetters} dead letters were retried by the operator`,
    );

    const evidence = {
      desks,
      signals,
      teamSignals: traffic.teamSignals,
      flattens,
      jumps: scene.jumps,
      sweepIntervals: await sweeps.stop(),
      refused,
      records,
      forgotten: await forgottenNow(),
      ledger,
      positions: positions.told,
      listingOf: venue.listingOf,
      refusesLate: venue.refusesLate,
      outages: scene.outages,
      deaths: scene.deaths,
      times: cluster.times,
      reserving: reservingOf(desks, venue),
      verifiedAt,
      until: Date.now(),
    };
    if (options.keep) {
      const sets = (_: string, value: unknown) => (value instanceof Set ? [...value] : value);
      writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidence, sets));
      writeFileSync(join(folder, 'protections.json'), JSON.stringify(await readProtections(db)));
    }
    const findings = await judge({ ...evidence, db });
    findings.push(...hang, {
      invariant: 'in the end everybody is answered',
      kind: 'other',
      checked: desks.length,
      problems: [...unheard, ...positions.problems],
    });
    return await report({ seed, minutes, faults, touched, findings, db, exchange, evidence });
  } finally {
    for (const close of closers.reverse())
      await Promise.resolve(close()).catch((fault) => log(String(fault)));
  }
}

/** Null: all. Where orders bear no id of ours, nobody can tell that an answer names another's. */
const faultsAt = ({ nameOf }: Venue): string[] | null =>
  nameOf && Object.keys(FAULTS).filter((name) => name !== 'exchange naming others');

/** Whose stops reserve what they would close. */
const reservingOf = (desks: readonly Desk[], { broker }: Venue): ReadonlySet<string> =>
  new Set(
    desks
      .filter(({ traits }) => traits.manners?.reserves ?? BROKERS[broker].capabilities.reserves)
      .map(({ trader }) => trader.account.id),
  );

/** As they stand with us in the end, and all that was done about them. */
const readProtections = async (db: Db) => ({
  protections: await db.all(sql`select * from protections`),
  history: await db.all(sql`select * from protection_history order by id`),
});

/** Accounts whose orders rest would never come to an end. */
async function fillEverything(
  db: Db,
  desks: readonly Desk[],
  { isPaper }: Venue,
  exchange: ExchangeControl,
): Promise<void> {
  for (const { trader, paper } of desks) {
    if (!('fill' in paper) || (paper.fill !== 'never' && paper.fill !== 'partial')) continue;
    const filling = { ...paper, fill: 'full' };
    if (!isPaper) await exchange.setBook(trader.account.id, filling);
    else
      await db.commit([
        sql`update trading_accounts set paper = ${JSON.stringify(filling)},
            connection_version = connection_version + 1 where id = ${trader.account.id}`,
      ]);
  }
}

/**
 * As an operator would: dead letters are retried once the brokers are well again, except those of which the exchange has
 * said by then that it knows nothing any more.
 */
async function untilSettled(
  db: Db,
  cluster: Cluster,
  apiKey: string,
  forgottenNow: () => Promise<ReadonlySet<string>>,
): Promise<{ ms: number; deadLetters: number }> {
  const begun = Date.now();
  const headers = { authorization: `Bearer ${apiKey}` };
  let deadLetters = 0;
  const retried = new Set<string>();
  while (Date.now() - begun < SETTLING_MS) {
    const [api] = cluster.apis;
    const letters = await db.all<{ order_id: string; client_order_id: string; place: string }>(
      sql`select c.order_id, l.client_order_id, h.trading_account_id || l.instrument as place
          from fill_checks c join order_legs l on l.order_id = c.order_id join order_history h on h.order_id = c.order_id
          where c.state = 'dead_letter' and l.status in ('sending', 'unknown', 'placed', 'partially_filled')`,
    );
    const isNews = letters.some(({ order_id }) => retried.has(order_id));
    const forgotten = isNews ? await forgottenNow() : new Set<string>();
    const hopeless = letters.filter((letter) => forgotten.has(letter.client_order_id));
    for (const { order_id } of letters.filter((letter) => !hopeless.includes(letter))) {
      retried.add(order_id);
      const path = `/deployment/dead-letters/${order_id}/retry`;
      const { status } = await fetch(`${api?.url}${path}`, { method: 'POST', headers });
      if (status === 204) deadLetters++;
      // The exchange has told of it meanwhile, and a look has brought it to its end.
      else if (status !== 409) throw new Error(`${path} was answered ${status}`);
    }
    const open = await db.all<{ order_id: string | null; place: string | null }>(
      sql`select order_id, null as place from order_history
            where status not in ('filled', 'done', 'cancelled', 'failed', 'rejected', 'expired')
          union all select order_id, null from fill_checks where state <> 'done'
          union all select null, trading_account_id || instrument from protections
            where ended_at is null and state <> 'standing' and wanted_by is null
          union all select null, null from audit_logs a
            where not exists (select 1 from audit_seals s where s.entry_id = a.id)`,
    );
    // What protects waits there too: nobody knows whether such an order has opened something.
    const isLeft = ({ order_id, place }: (typeof open)[number]) =>
      !hopeless.some((letter) => letter.order_id === order_id || (place !== null && letter.place === place));
    if (!open.some(isLeft)) break;
    await sleep(hopeless.length > 0 ? 1_000 : 200);
  }
  return { ms: Date.now() - begun, deadLetters };
}

/** Each strategy says once more where it stands, and its account follows it. Returns whose report was refused. */
async function reportStrategies(cluster: Cluster, desks: readonly Desk[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, trader, strategy } of desks)
    for (const [symbol, position] of strategy ?? []) {
      const body = { action: 'sync', symbol, ...stanceOf(position), timestamp: timestamp(Date.now()) };
      const answer = await fetch(`${cluster.apis[0]?.url}${webhookPath(trader)}`, {
        method: 'POST',
        body: JSON.stringify({ ...body, secret: trader.secret }),
      });
      if (!answer.ok)
        problems.push(`a report of ${name} was answered ${answer.status} ${await answer.text()}`);
    }
  return problems;
}

async function report(found: {
  seed: number;
  minutes: number;
  faults: ReadonlyMap<string, number>;
  touched: { readonly removed: number; readonly moved: number };
  findings: readonly Finding[];
  db: Db;
  exchange: ExchangeControl;
  evidence: Omit<Evidence, 'db'>;
}): Promise<boolean> {
  const { seed, minutes, faults, touched, findings, db, exchange, evidence } = found;
  const { signals } = evidence;
  const total = [...faults.values()].reduce((sum, count) => sum + count, 0);
  console.log(`\nfaults injected: ${total}`);
  for (const [what, count] of [...faults].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`  ${String(count).padStart(3)} × ${what}`);

  const deliveries = signals.flatMap((signal) => signal.deliveries);
  const statuses = Map.groupBy(deliveries, ({ answer }) => `${answer?.status ?? 'none'}`);
  console.log(`\nsignals sent: ${signals.length}, in ${deliveries.length} deliveries`);
  console.log(`  answers: ${tell([...statuses].map(([status, all]) => [status, all.length]))}`);
  const ends = await db.all<{ status: string; orders: number }>(
    sql`select status, count(*) as orders from order_history group by status order by status`,
  );
  console.log(`  orders: ${tell(ends.map(({ status, orders }) => [status, orders]))}`);
  const failed = await db.all<{ error: string }>(
    sql`select error from order_history where error is not null`,
  );
  const codes = Map.groupBy(failed, ({ error }) => (JSON.parse(error) as OrderError).code);
  console.log(`  their errors: ${tell([...codes].map(([code, all]) => [code, all.length]))}`);
  const { requests, stops } = await exchange.ledger();
  const outcomes = Map.groupBy(requests, ({ outcome }) => outcome);
  console.log(`  at the exchange: ${tell([...outcomes].map(([outcome, all]) => [outcome, all.length]))}`);
  const events = Map.groupBy(stops, ({ what }) => what);
  console.log(
    `  its stops: ${tell([...events].map(([what, all]) => [what, all.length]))}; ` +
      `by hand ${touched.removed} were taken away and ${touched.moved} moved`,
  );
  const closed = await db.all<{ exit_reason: string; orders: number }>(
    sql`select exit_reason, count(*) as orders from order_history where exit_reason is not null group by exit_reason`,
  );
  console.log(`  closed by protection: ${tell(closed.map((each) => [each.exit_reason, each.orders]))}`);

  console.log(`  entries that rest: ${tellResting(evidence)}`);
  console.log(`  groups: ${tellGroups(evidence)}`);

  console.log('\ninvariants');
  for (const { invariant, checked, problems } of findings) {
    console.log(`  ${problems.length === 0 ? 'holds ' : 'BROKEN'}  ${invariant} (${checked} checked)`);
    for (const problem of problems.slice(0, 8)) console.log(`            ${problem}`);
    if (problems.length > 8) console.log(`            … and ${problems.length - 8} more`);
  }
  const count = (kind: Finding['kind']) =>
    findings
      .filter((finding) => finding.kind === kind)
      .reduce((sum, { problems }) => sum + problems.length, 0);
  const isGood = findings.every(({ problems }) => problems.length === 0);
  console.log(
    `\nseed ${seed}, ${minutes} minutes: ${total} faults, ${signals.length} signals: ` +
      `${count('lost')} lost, ${count('doubled')} doubled, ${count('stuck')} stuck` +
      `${isGood ? '' : '; other breaches: '}${isGood ? '' : count('other')}`,
  );
  return isGood;
}

const tell = (counts: readonly (readonly [string, number])[]): string =>
  counts
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

process.exitCode = (await main()) ? 0 : 1;
