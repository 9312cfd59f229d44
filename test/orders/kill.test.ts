// The process is killed at random moments in the middle of a burst of signals and started again on the same data.
// In the end the paper broker's own ledger is the judge: no order twice, none lost, every one ends.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import {
  ACTIONS,
  makeTrader,
  type Program,
  SYMBOLS,
  seeded,
  startProgram,
  type Trader,
  webhookPath,
} from './kill-harness.ts';
import { type Answer, judge, readRecords, type Sent } from './kill-judge.ts';

/** Both can be given to repeat a run: the moments are the same, what happens at them is up to the machine. */
const SEED = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const KILLS = Number(process.env.KILLS ?? 10);
/** On a machine that is slow to start a process, fewer kills must do. */
const LEAST_KILLS = 5;
const KILLING_MS = KILLS * 1_500;

const TIMINGS = {
  FILL_FIRST_POLL_SECONDS: '0.3',
  FILL_REQUEUE_SECONDS: '0.5',
  // A check that dies with the process holds back its user's others for this long.
  FILL_VISIBILITY_SECONDS: '1',
  // Each death uses up a try; nothing may end as a dead letter for that.
  FILL_RETRIES: '1000',
  REVERSAL_POLLS: '4',
  REVERSAL_POLL_MS: '40',
};

/** How an account's broker behaves and how hard it is driven: signals in each life of the process, and at once. */
interface Desk {
  readonly paper: Readonly<Record<string, unknown>>;
  readonly perLife: number;
  readonly atOnce: number;
  /** Every order is filled as it comes. */
  readonly immediate: boolean;
}

const CASH = { starting_cash: 1e12 };
const DESKS = {
  quick: { paper: { ...CASH, latency_ms: 0 }, perLife: 60, atOnce: 6, immediate: true },
  /** The second account of the same user: one worker for both. */
  twin: { paper: { ...CASH, latency_ms: 7 }, perLife: 20, atOnce: 4, immediate: true },
  slow: { paper: { ...CASH, latency_ms: 30 }, perLife: 14, atOnce: 14, immediate: true },
  // Fill verification looks at one order of a user at a time: these would take long to end if they were many.
  deaf: { paper: { ...CASH, latency_ms: 3, lose_answer: true }, perLife: 3, atOnce: 2, immediate: true },
  partial: { paper: { ...CASH, latency_ms: 10, fill: 'partial' }, perLife: 3, atOnce: 2, immediate: false },
  cancelling: { paper: { ...CASH, latency_ms: 1, fill: 'cancel' }, perLife: 2, atOnce: 2, immediate: false },
  refusing: {
    paper: { ...CASH, latency_ms: 1, reject: 'insufficient_margin' },
    perLife: 5,
    atOnce: 2,
    immediate: true,
  },
} satisfies Record<string, Desk>;
type DeskName = keyof typeof DESKS;

/** Of the signals without an answer, so many are sent again. The rest is left to its fate, which may be either. */
const RESENT = 0.85;
/** When a kill falls: into the start, while what was left unfinished is being recovered; else after so many answers. */
const KILLED_STARTING = 0.3;
const MOST_ANSWERS = 60;
/** Or by the clock, where answers are slow in coming, and as often in any case. */
const KILL_AFTER_MS = { least: 20, most: 400, slow: 2_000 };
/** Patience at the end; it takes some seconds. */
const ENDING_MS = 45_000;

test('killed at random moments in a burst of signals, no order is made twice, none is lost and every one ends', {
  timeout: 480_000,
}, async (t) => {
  t.diagnostic(`KILL_SEED=${SEED} KILLS=${KILLS}`);
  const story = await openStory(t);
  const { db, traders } = story;
  const hits: Record<string, number> = {};
  const begun = Date.now();
  let life = 0;
  for (; life < KILLS && (life < LEAST_KILLS || Date.now() - begun < KILLING_MS); life++) {
    await story.live(life);
    for (const [what, count] of Object.entries(await underWay(db))) hits[what] = (hits[what] ?? 0) + count;
    // What a longer pause would do: the deadlines of all that this account has under way pass.
    if (life % 3 === 1) await passDeadlines(db, traders.slow);
    if (life === LEAST_KILLS - 2) await fillFully(db, traders.partial);
  }
  const killed = Date.now();
  const sent = await story.finish();
  await untilAllEnded(db);
  t.diagnostic(
    `the last of ${life} kills came after ${killed - begun} ms, the last end ${Date.now() - killed} ms later`,
  );
  await story.replay();

  const immediate = new Set(
    names().flatMap((name) => (DESKS[name].immediate ? [traders[name].account.id] : [])),
  );
  const records = await readRecords(db);
  const statuses = Object.entries(Object.groupBy(records.orders, (row) => row.status));
  t.diagnostic(`${sent.length} signals; at the kills ${told(hits)}`);
  t.diagnostic(
    `ended: ${told(Object.fromEntries(statuses.map(([status, rows]) => [status, rows?.length])))}`,
  );
  const problems = judge(sent, records, immediate);
  assert.ok(
    problems.length === 0,
    `${problems.length} problems with KILL_SEED=${SEED}:\n${problems.slice(0, 20).join('\n')}`,
  );
  assert.ok(
    (hits.queued ?? 0) + (hits.executing ?? 0) > 0,
    'no kill met an order under way: nothing was tried',
  );
});

async function openStory(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-kill-'));
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  let program: Program | null = null;
  t.after(async () => {
    await program?.kill();
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await migrate(db, Date.now());
  const quick = await makeTrader(db, DESKS.quick.paper);
  const traders = { quick, twin: await makeTrader(db, DESKS.twin.paper, quick.user) } as Record<
    DeskName,
    Trader
  >;
  for (const name of names()) traders[name] ??= await makeTrader(db, DESKS[name].paper);

  const random = seeded(SEED);
  const sent: (Sent & { path: string; body: string })[] = [];
  const sending: Promise<void>[] = [];
  const answered = new EventEmitter();
  // Where the program is now, or will be: waited for by everybody who finds it gone.
  let address = nextAddress();
  let isOpen = false;
  // Of the last start that was not cut short.
  let startMs = 500;

  function makeSignal(name: DeskName) {
    const { account, secret } = traders[name];
    const symbol = SYMBOLS[Math.floor(random() * SYMBOLS.length)] ?? 'BTCUSDT';
    const order = ACTIONS[Math.floor(random() * ACTIONS.length)] ?? { action: 'buy' };
    const quantity = (sent.length + 1) / 1000;
    const now = timestamp(Date.now());
    const body = JSON.stringify({ ...order, symbol, quantity, timestamp: now, secret });
    const path = webhookPath(traders[name]);
    const signal = {
      accountId: account.id,
      symbol,
      action: order.action,
      quantity: decimal(quantity),
      path,
      body,
    };
    sent.push({ ...signal, answers: [] });
    return sent.at(-1) as (typeof sent)[number];
  }

  /** As the charting platform does: an alert without an answer, or with a 5xx, is sent again as it was. */
  async function deliver(signal: (typeof sent)[number], again: boolean): Promise<void> {
    do {
      const answer = await post(`${await address.promise}${signal.path}`, signal.body);
      signal.answers.push(answer);
      if (answer) answered.emit('answer');
    } while (again && (signal.answers.at(-1)?.status ?? 500) >= 500);
  }

  async function answers(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await once(answered, 'answer');
  }

  /** The account's signals of one life of the process, some at once. What finds no answer goes on in the next life. */
  function burst(name: DeskName): void {
    let left = DESKS[name].perLife;
    const lane = async () => {
      while (left-- > 0) {
        const resent = random() < RESENT;
        await deliver(makeSignal(name), resent);
      }
    };
    for (let n = 0; n < DESKS[name].atOnce; n++) sending.push(quiet(lane()));
  }

  function start(): Program {
    const started = startProgram(dir, TIMINGS);
    program = started;
    quiet(
      started.ready.then((found) => {
        if (program !== started) return;
        isOpen = true;
        address.resolve(found);
      }),
    );
    // One that dies of itself would leave all senders waiting.
    started.ended.then((output) => {
      if (program !== started) return;
      address = nextAddress();
      address.reject(new Error(`the program ended of itself:\n${output}`));
    });
    return started;
  }

  return {
    db,
    traders,
    /** One life of the program: it starts, signals come in, it is killed. */
    async live(life: number): Promise<void> {
      const begun = Date.now();
      const starting = start();
      for (const name of names()) burst(name);
      const [moment, part] = [random(), random()];
      if (life > 0 && moment < KILLED_STARTING) {
        await sleep(startMs * (0.5 + part));
      } else {
        await starting.ready;
        startMs = Date.now() - begun;
        await (moment < (1 + KILLED_STARTING) / 2
          ? sleep(KILL_AFTER_MS.least + part * (KILL_AFTER_MS.most - KILL_AFTER_MS.least))
          : Promise.race([
              answers(Math.ceil(part * MOST_ANSWERS)),
              sleep(KILL_AFTER_MS.slow, undefined, { ref: false }),
            ]));
      }
      program = null;
      // Before it dies, so that nobody who finds it dead tries the old address again.
      if (isOpen) address = nextAddress();
      isOpen = false;
      await starting.kill();
    },
    /** The last life: everything that is still to be sent is sent and answered. */
    async finish(): Promise<readonly Sent[]> {
      start();
      await Promise.all(sending);
      return sent;
    },
    /** Signals of long ago, shown again to a process that has never seen them. */
    async replay(): Promise<void> {
      const answered = sent.filter(({ answers }) => answers.some((answer) => answer?.status === 200));
      await Promise.all(
        answered.filter((_, index) => index % 10 === 0).map((signal) => deliver(signal, false)),
      );
    },
  };
}

/** Its failure is found by whoever awaits it, if anybody does. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function nextAddress() {
  const address = Promise.withResolvers<string>();
  quiet(address.promise);
  return address;
}

const names = () => Object.keys(DESKS) as DeskName[];
const told = (counts: object) =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

/** null: no answer, or one that broke off. */
async function post(url: string, body: string): Promise<Answer | null> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(20_000) });
    return { status: response.status, body: (await response.json()) as OrderResult };
  } catch {
    return null;
  }
}

/** What the kill found unfinished: orders by status, and legs of which only the broker knows. */
async function underWay(db: Db): Promise<Record<string, number>> {
  const rows = await db.all<{ what: string; found: number }>(
    sql`select status as what, count(*) as found from order_history
          where status not in ('filled', 'cancelled', 'failed', 'rejected', 'expired') group by status
        union all select 'legs ' || status, count(*) from order_legs where status in ('planned', 'sending') group by status`,
  );
  return Object.fromEntries(rows.map(({ what, found }) => [what, found]));
}

/** Fill verification brings the last ones to their end. Where it does not, the judge says which. */
async function untilAllEnded(db: Db): Promise<void> {
  const giveUp = Date.now() + ENDING_MS;
  while (Date.now() < giveUp) {
    const open = await db.get(
      sql`select order_id from order_history
            where status not in ('filled', 'cancelled', 'failed', 'rejected', 'expired')
          union all select order_id from fill_checks where state in ('scheduled', 'running') limit 1`,
    );
    if (!open) return;
    await sleep(25);
  }
}

async function passDeadlines(db: Db, { account }: Trader): Promise<void> {
  const past = timestamp(Date.now() - 1_000);
  await db.commit([
    sql`update order_history set deadline_at = ${past}
        where trading_account_id = ${account.id} and status in ('queued', 'executing')`,
  ]);
}

async function fillFully(db: Db, { account }: Trader): Promise<void> {
  const paper = JSON.stringify({ ...DESKS.partial.paper, fill: 'full' });
  await db.commit([
    sql`update trading_accounts set paper = ${paper}, connection_version = connection_version + 1
        where id = ${account.id}`,
  ]);
}
