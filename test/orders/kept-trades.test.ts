// What is kept of the trades is what counting all of them finds, whatever has changed meanwhile. On both databases.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { keepTrades, type Whose } from '../../src/app/orders/kept-trades.ts';
import { readTradesSummary } from '../../src/app/orders/read-trades.ts';
import { type Db, ListTooSlow, type Reads, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { insertOrder, saveOrder } from '../../src/data/orders/orders.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { buy, order, START, sell, type Traded } from '../domain/traded.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { makeTrader, type Trader } from './kill-harness.ts';

const DATABASES: Record<string, (t: TestContext) => Promise<Db | null>> = {
  SQLite: async () => openSqlite({ file: ':memory:' }),
  async PostgreSQL(t) {
    try {
      const server = await startPostgres();
      t.after(() => server.stop());
      return openPostgres({ url: server.url });
    } catch (fault) {
      if (!(fault instanceof PostgresMissing)) throw fault;
      t.skip(fault.message);
      return null;
    }
  },
};

/** One trader's orders, as they are saved. */
function openDesk(db: Db, { user, account }: Trader) {
  const orders: Order[] = [];
  const whose = (simulation: boolean): Whose => ({ user: user.id, accountId: account.id, simulation });
  return {
    orders,
    whose,
    async trade(at: number, isBought: boolean, quantity: number, simulation = false): Promise<void> {
      const traded = isBought ? buy(quantity, 100 + at) : sell(quantity, 100 + at);
      const own = { userId: user.id, accountId: account.id, id: randomUUIDv7() as OrderId, simulation };
      const made = order(at, [traded], own);
      await db.commit([insertOrder(made, null), ...saveOrder(made)]);
      orders.push({ ...made, version: made.version + 1 });
    },
    /** What was filled is known better now. */
    async correct(nth: number, price: number): Promise<void> {
      const [known] = orders.slice(nth);
      if (!known) return;
      const changed = { ...known, legs: known.legs.map((leg) => ({ ...leg, fillPrice: decimal(price) })) };
      await db.commit(saveOrder(changed));
      orders[nth] = { ...changed, version: changed.version + 1 };
    },
    async prune(nth: number): Promise<void> {
      const [gone] = orders.splice(nth, 1);
      if (!gone) return;
      await db.commit([
        sql`delete from order_legs where order_id = ${gone.id}`,
        sql`delete from order_history where order_id = ${gone.id}`,
      ]);
    },
  };
}

/** How many legs have been read by it. */
function countingLegs(db: Db): { readonly lists: Reads; legs(): number } {
  let legs = 0;
  const lists: Reads = {
    ...db.lists,
    async all<Row>(query: Parameters<Reads['all']>[0]) {
      const rows = await db.lists.all<Row>(query);
      if (query.parts.join('').includes('order_legs')) legs += rows.length;
      return rows;
    },
  };
  return { lists, legs: () => legs };
}

const does = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('trade' as const),
      isBought: fc.boolean(),
      size: fc.integer({ min: 1, max: 3 }),
      simulation: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('late' as const), isBought: fc.boolean(), ago: fc.nat(20) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('correct' as const),
      nth: fc.nat(20),
      price: fc.integer({ min: 1, max: 500 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('prune' as const), nth: fc.nat(20) }) },
);

for (const [name, open] of Object.entries(DATABASES)) {
  test(`${name}: what is kept is what counting all finds, whatever comes, comes late, is corrected or pruned`, async (t) => {
    const db = await open(t);
    if (!db) return;
    t.after(() => db.close());
    await migrate(db, Date.now());
    const runs = fc.asyncProperty(
      fc.array(does, { minLength: 5, maxLength: 30 }),
      fc.nat(4),
      async (all, last) => {
        const desk = openDesk(db, await makeTrader(db, {}));
        const kept = keepTrades({ last });
        let at = 1_000;
        for (const act of all) {
          at += 1_000;
          if (act.what === 'trade') await desk.trade(at, act.isBought, act.size, act.simulation);
          else if (act.what === 'late') await desk.trade(at - act.ago * 700, act.isBought, 1);
          else if (act.what === 'correct') await desk.correct(act.nth, act.price);
          else await desk.prune(act.nth);
          for (const simulation of [false, true]) {
            const whose = desk.whose(simulation);
            assert.deepEqual(await kept.read(db.lists, whose), await keepTrades().read(db.lists, whose));
          }
        }
      },
    );
    await fc.assert(runs, { numRuns: 25 });
  });
}

test('an order is read once, and counted again only where it has changed; of too many accounts the longest unasked is forgotten', async (t) => {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await migrate(db, Date.now());
  const desks = [openDesk(db, await makeTrader(db, {})), openDesk(db, await makeTrader(db, {}))] as const;
  for (const { trade } of desks) for (let n = 0; n < 50; n++) await trade(n * 1_000, n % 2 === 0, 1);
  const { lists, legs } = countingLegs(db);
  const kept = keepTrades({ last: 10, most: 60 });
  const readOf = async ({ whose }: (typeof desks)[number]): Promise<number> => {
    const before = legs();
    assert.equal((await kept.read(lists, whose(false))).closed.length, 25);
    return legs() - before;
  };
  const [one, other] = desks;
  assert.equal(await readOf(one), 50);
  assert.equal(await readOf(one), 10);
  await one.correct(45, 7);
  assert.equal(await readOf(one), 10);
  await one.correct(3, 7);
  assert.equal(await readOf(one), 50);
  assert.equal(await readOf(other), 50);
  assert.equal(await readOf(other), 10);
  assert.equal(await readOf(one), 50);
});

test('where counting takes too long, the next who asks goes on from where it stood; a count that was broken off in between is not kept', async (t) => {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await migrate(db, Date.now());
  const { trade, whose } = openDesk(db, await makeTrader(db, {}));
  for (let n = 0; n < 350; n++) await trade(n * 1_000, n % 2 === 0, 1);
  let orders = 0;
  /** Of the statements with such a word, the so-many-th fails. */
  const failing = (word: string, nth: number): Reads => {
    let asked = 0;
    return {
      ...db.lists,
      async all<Row>(query: Parameters<Reads['all']>[0]) {
        const text = query.parts.join('');
        if (text.includes(word) && ++asked === nth) throw new ListTooSlow('too slow');
        const rows = await db.lists.all<Row>(query);
        if (text.includes('order_legs')) orders += rows.length;
        return rows;
      },
    };
  };
  const all = await keepTrades().read(db.lists, whose(false));
  assert.equal(all.closed.length, 175);
  for (const [word, left] of [
    ['order_legs', 150],
    ['signal_members', 350],
  ] as const) {
    const kept = keepTrades({ last: 0 });
    await assert.rejects(kept.read(failing(word, 3), whose(false)), ListTooSlow);
    orders = 0;
    assert.deepEqual(await kept.read(failing('nothing', 1), whose(false)), all);
    assert.equal(orders, left, word);
  }
});

test('of an account that alone is too large nothing is kept, and of the others everything stays', async (t) => {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await migrate(db, Date.now());
  const [small, large] = [openDesk(db, await makeTrader(db, {})), openDesk(db, await makeTrader(db, {}))];
  for (let n = 0; n < 20; n++) await small.trade(n * 1_000, n % 2 === 0, 1);
  for (let n = 0; n < 60; n++) await large.trade(n * 1_000, n % 2 === 0, 1);
  const { lists, legs } = countingLegs(db);
  const kept = keepTrades({ last: 0, most: 50 });
  const readOf = async ({ whose }: typeof small): Promise<number> => {
    const before = legs();
    await kept.read(lists, whose(false));
    return legs() - before;
  };
  assert.equal(await readOf(small), 20);
  assert.equal(await readOf(large), 60);
  assert.equal(await readOf(large), 60);
  assert.equal(await readOf(small), 0);
});

test('a question about many accounts has the time of one, and who asks again goes on from where it stood', async (t) => {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await migrate(db, Date.now());
  const first = await makeTrader(db, {});
  const user = first.user.id;
  const traders = [first];
  for (let n = 1; n < 5; n++) {
    const { account } = await makeTrader(db, {});
    await db.commit([sql`update trading_accounts set user_id = ${user} where id = ${account.id}`]);
    traders.push({ ...first, account });
  }
  for (const trader of traders) {
    const { trade } = openDesk(db, trader);
    for (let n = 0; n < 250; n++) await trade(n * 1_000, n % 2 === 0, 1);
  }
  // Each reading of orders takes two seconds: six for an account.
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const lists: Reads = {
    ...db.lists,
    async all<Row>(query: Parameters<Reads['all']>[0]) {
      const rows = await db.lists.all<Row>(query);
      if (query.parts.join('').includes('order_legs') && rows.length > 0) now += 2_000;
      return rows;
    },
  };
  const keptTrades = keepTrades({ last: 0 });
  const asked = () => {
    now = 0;
    return readTradesSummary({ db: { ...db, lists }, keptTrades }, user, { simulation: false, zone: 'UTC' });
  };
  await assert.rejects(asked(), ListTooSlow);
  assert.equal(now, 12_000);
  await assert.rejects(asked(), ListTooSlow);
  assert.equal((await asked()).trades, 5 * 125);
});

test('an entry that rested, and was filled in parts with a target between them, is one trade with all that it earned', async (t) => {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await migrate(db, Date.now());
  const trader = await makeTrader(db, {});
  const { whose } = openDesk(db, trader);
  const place = async (at: number, traded: Traded, position: number, more: Partial<Order> = {}) => {
    const own = { userId: trader.user.id, accountId: trader.account.id, id: randomUUIDv7() as OrderId };
    const made = order(at, [traded], { ...own, positionBefore: decimal(position), ...more });
    await db.commit([insertOrder(made, null), ...saveOrder(made)]);
  };
  await place(0, buy(10, 100, { filledAt: 1_000 }), 0, { tradedAt: timestamp(START + 60_000) });
  await place(30_000, sell(2.5, 110), 5, { source: 'protection', exitReason: 'take_profit' });
  await place(90_000, sell(7.5, 110), 7.5);
  const { closed, open } = await keepTrades().read(db.lists, whose(false));
  assert.deepEqual(
    [closed.map(({ profit, closedElsewhere }) => [profit, closedElsewhere]), open],
    [[['100', '0']], []],
  );
});
