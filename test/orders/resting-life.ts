// A life of entries that rest: the whole service over an exchange with misfortunes (resting-exchange.ts), in virtual time. It dies between any
// two steps, and goes on on the same data. What our record says is held against the exchange's ledger all the while.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { DatabaseUnavailable, type Db, sql } from '../../src/data/engine/db.ts';
import { compare, decimal, ZERO } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Life, virtualTime } from '../virtual-time.ts';
import { openWorld } from '../world.ts';
import { type Luck, restingExchange, type Ways } from './resting-exchange.ts';

/** When a process dies: before or after so many calls and commits. */
export interface Death {
  readonly steps: number;
  readonly moment: 'before' | 'after';
}

export type RestingLife = Awaited<ReturnType<typeof restingLife>>;

interface LegRow {
  readonly order_id: string;
  readonly action: string;
  readonly status: string;
  readonly error: string | null;
  readonly ending: string | null;
  readonly priced: string | null;
  readonly client_order_id: string | null;
  readonly leg_status: string | null;
  readonly fill_quantity: string | number | null;
}

const ENDED = ['filled', 'cancelled', 'failed', 'expired', 'rejected'];
const AT_REST = [...ENDED, 'placed', 'partially_filled', 'done'];
/** Everything has a deadline: an exit 300 s, a look after which "not found" is believed 30 s. */
const MOST_UNREST_MS = 20 * 60_000;
/** A sweep, and what it takes to take something back. */
const A_SWEEP_MS = 40_000;

export async function restingLife(
  t: Pick<TestContext, 'after'>,
  { ways, luck, deaths }: { ways: Ways; luck: readonly Luck[]; deaths: readonly Death[] },
) {
  const coming = [...luck];
  const dying = [...deaths];
  const dataDir = mkdtempSync(join(tmpdir(), 'fillpath-life-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const time = virtualTime(t);
  const exchange = restingExchange(time, ways, { draw: () => coming.shift() ?? 'well', step });
  let life: Life = { isDead: false, aheadMs: 0 };
  let stepsLeft = Number.POSITIVE_INFINITY;
  const errors: string[] = [];
  /** Who has not begun has nothing to lose. */
  const hasBegun = () => {
    stepsLeft = dying[0]?.steps ?? Number.POSITIVE_INFINITY;
  };

  /** Between any two of them it may be over. */
  function step(of: Life | undefined, moment: 'before' | 'after'): void {
    time.stir();
    if (of !== life || of.isDead || dying[0]?.moment !== moment) return;
    if (--stepsLeft > 0) return;
    of.isDead = true;
  }

  /** One unit after the other, in this thread: the same in every run. */
  function mortal(opened: Db): Db {
    let last: Promise<unknown> = Promise.resolve();
    const commit: Db['commit'] = (unit) => {
      const made = last
        .catch(() => {})
        .then(async () => {
          step(time.current(), 'before');
          if (time.current()?.isDead) throw new DatabaseUnavailable('the process is dead');
          const outcome = await opened.commit(unit);
          step(time.current(), 'after');
          if (time.current()?.isDead) throw new DatabaseUnavailable('the process is dead');
          return outcome;
        });
      last = made;
      return made;
    };
    return { ...opened, commit };
  }

  const world = await time.as(life, () =>
    openWorld(t as TestContext, {
      ...{ dataDir, clock: time.clock, db: mortal, brokers: { paper: exchange.open } },
      env: { RATE_LIMIT_REQUESTS: '100000', WAF_RATE_LIMIT: '100000' },
      log: pino(
        { level: 'error', serializers: { fault: pino.stdSerializers.err } },
        { write: (line) => void errors.push(line) },
      ),
    }),
  );
  // Whatever fails: nothing of it stays, and nothing is waited for.
  t.after(() => time.bury(life, () => world.stop()));
  const trader = await world.makeTrader();
  hasBegun();

  /** The next process, on the same data. */
  async function liveAgain(): Promise<void> {
    await time.bury(life, () => world.stop());
    dying.shift();
    stepsLeft = Number.POSITIVE_INFINITY;
    life = { isDead: false, aheadMs: 0 };
    await time.as(life, () => world.restart());
    hasBegun();
  }

  const legs = () =>
    world.db.all<LegRow>(
      sql`select o.order_id, o.action, o.status, o.error, o.ending, o.priced,
            l.client_order_id, l.status as leg_status, l.fill_quantity
          from order_history o left join order_legs l on l.order_id = o.order_id order by o.order_id`,
    );

  /** At every moment. */
  async function judge(): Promise<void> {
    assert.deepEqual(exchange.breaches, []);
    const rows = await legs();
    const known = new Map(rows.map((row) => [row.client_order_id as string, row]));
    for (const { clientOrderId, state } of exchange.ledger) {
      const row = known.get(clientOrderId);
      assert.ok(row, `${clientOrderId} is at the exchange and in no record`);
      const told = JSON.stringify({ ...row, there: state });
      const filled = decimal(row.fill_quantity ?? 0);
      assert.ok(compare(filled, state.fillQuantity) <= 0, `more is recorded than was filled: ${told}`);
      if (!ENDED.includes(row.leg_status ?? '')) continue;
      assert.ok(ENDED.includes(state.status), `it has ended for us, and not there: ${told}`);
      assert.equal(filled, state.fillQuantity, `it has ended, with another fill: ${told}`);
    }
    for (const row of rows)
      if (decimal(row.fill_quantity ?? 0) !== ZERO)
        assert.ok(
          exchange.ledger.some(({ clientOrderId }) => clientOrderId === row.client_order_id),
          `filled for us, and never there: ${JSON.stringify(row)}`,
        );
    const names = exchange.resting().map(({ clientOrderId }) => {
      const { id = null } = JSON.parse(known.get(clientOrderId)?.priced ?? '{}') as { id?: string | null };
      return id;
    });
    assert.equal(new Set(names).size, names.length, `two of one id rest: ${JSON.stringify(names)}`);
    const sides = new Set(exchange.resting().map(({ side }) => side));
    assert.ok(sides.size <= 1, 'entries of both sides rest');
  }

  async function passes(ms: number): Promise<void> {
    await time.passes(ms);
    while (life.isDead) await liveAgain();
    await judge();
  }

  const unrest = async () => (await legs()).filter(({ status }) => !AT_REST.includes(status));
  /** Of what rests, what we show is what is there. */
  async function mustBeShown(): Promise<void> {
    const rows = await legs();
    const isOpen = (status: string | null) => status === 'placed' || status === 'partially_filled';
    const shown = rows.filter((row) => isOpen(row.leg_status));
    for (const { order_id: id, status } of rows)
      if (isOpen(status))
        assert.ok(
          shown.some((row) => row.order_id === id),
          `${id} is open, and nothing of it is`,
        );
    const there = exchange.ledger.filter(({ state }) => !ENDED.includes(state.status));
    assert.deepEqual(
      shown
        .map((row) => `${row.client_order_id} ${row.leg_status} ${decimal(row.fill_quantity ?? 0)}`)
        .sort(),
      there
        .map(({ clientOrderId, state }) => `${clientOrderId} ${state.status} ${state.fillQuantity}`)
        .sort(),
    );
  }

  let signals = 0;
  let last: object | null = null;

  /** In the life of this moment. Who is killed does not answer. */
  function asks<Answer>(does: () => Promise<Answer>): void {
    const asked = life;
    time.as(asked, does).then(
      (answer) => {
        const { status = 200, body } = (answer ?? {}) as { status?: number; body?: unknown };
        if (!asked.isDead && status >= 500)
          exchange.breaches.push(`${status}: ${JSON.stringify(body)} ${errors.at(-1)}`);
      },
      (fault: unknown) => {
        if (!asked.isDead) exchange.breaches.push(String(fault));
      },
    );
  }

  /** The last signal, to the letter. */
  function repeat(): void {
    const body = last;
    if (body) asks(() => world.webhook(trader, body));
  }

  return {
    ...{ time, world, trader, exchange, passes, judge, legs },
    crash: async () => {
      life.isDead = true;
      await passes(0);
    },
    ...{ asks, repeat },
    signal(fields: Record<string, unknown>): void {
      const made = timestamp(time.clock.now()).replace('Z', `${String(++signals).padStart(6, '0')}Z`);
      last = world.signal(trader, { timestamp: made, ...fields });
      repeat();
    },
    leaps: async (ms: number) => {
      await time.leaps(ms);
      await passes(0);
    },
    /** From here on nothing goes wrong, and everything comes to rest. */
    async comesToRest(): Promise<void> {
      coming.length = 0;
      dying.length = 0;
      stepsLeft = Number.POSITIVE_INFINITY;
      exchange.away(false);
      for (let ms = 0; (await unrest()).length > 0; ms += 5_000) {
        assert.ok(ms < MOST_UNREST_MS, `it does not come to rest: ${JSON.stringify(await unrest())}`);
        await passes(5_000);
      }
      await passes(A_SWEEP_MS);
      assert.deepEqual(await unrest(), []);
      await mustBeShown();
    },
    /** And is as if nothing had been. */
    async isOver(): Promise<void> {
      await passes(A_SWEEP_MS);
      assert.deepEqual(
        exchange.ledger.filter(({ state }) => !ENDED.includes(state.status)),
        [],
        'something rests after all',
      );
      await mustBeShown();
    },
    async end(): Promise<void> {
      await time.until(
        time.as(life, () => world.stop()),
        MOST_UNREST_MS,
      );
    },
  };
}
