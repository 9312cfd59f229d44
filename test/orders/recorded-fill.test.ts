// At the paper broker, and in a simulation, that an order is sent, its fill and its end are one unit: an order is two commits, and
// whatever is lost on the way, all of it stands or nothing does.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DatabaseUnavailable, type Db, type Statement, sql } from '../../src/data/engine/db.ts';
import { type Answer, openWorld, type Problem, type Trader, type World } from '../world.ts';

const SOON = { timeout: 60_000 };

type Commit = () => Promise<string | null>;
type Sent = Answer<Problem & { order_id: string; status: string; position_before: number | null }>;

const writes = (unit: readonly Statement[], table: string): boolean =>
  unit.some(({ parts }) => new RegExp(`(insert into|update) ${table}\\b`).test(parts[0] ?? ''));

/** A database whose units are seen, and of which something else may happen to one that fills an order. */
async function openDesk(t: TestContext, query = '') {
  const units: (readonly Statement[])[] = [];
  let onFill: ((commit: Commit, whole: Db) => Promise<string | null>) | null = null;
  let landing: Commit | null = null;
  const db = (whole: Db): Db => ({
    ...whole,
    async commit(unit) {
      units.push(unit);
      const lands = landing;
      landing = null;
      await lands?.();
      const happens = writes(unit, 'paper_orders') ? onFill : null;
      if (!happens) return whole.commit(unit);
      onFill = null;
      return happens(() => whole.commit(unit), whole);
    },
  });
  const world = await openWorld(t, { db });
  const trader = await world.makeTrader();
  const send = (over: Record<string, unknown> = {}): Promise<Sent> =>
    world.webhook(trader, world.signal(trader, over), { query });
  // The worker is there by then.
  assert.equal((await send()).body.status, 'filled');
  units.length = 0;
  return {
    ...{ world, trader, send },
    units: () =>
      units.filter((unit) => ['order_history', 'paper_orders'].some((table) => writes(unit, table))),
    /** Instead of the commit of the next fill. */
    onFill(happens: NonNullable<typeof onFill>): void {
      onFill = happens;
    },
    /** Right before whatever is committed next. */
    landsLate(commit: Commit): void {
      landing = commit;
    },
  };
}

const fills = async (world: World, trader: Trader) => (await world.paperOrders(trader.account.id)).length;
const stored = (world: World, id: string) =>
  world.db.get<{ status: string; fill_quantity: string | null }>(
    sql`select status, fill_quantity from order_history where order_id = ${id}`,
  );

for (const query of ['', '?simulation=true'])
  test(`a plain order is two commits${query}: accepted, and filled with its result`, SOON, async (t) => {
    const { send, units } = await openDesk(t, query);
    for (const order of [{}, { action: 'sell', order_type: 'exit' }]) {
      const before = units().length;
      assert.equal((await send(order)).body.status, 'filled');
      const own = units().slice(before);
      assert.equal(own.length, 2);
      assert.ok(writes(own[1] ?? [], 'paper_orders') && writes(own[1] ?? [], 'order_history'));
    }
  });

test('who rehearses a slow broker sees the order at it', SOON, async (t) => {
  const { world, units } = await openDesk(t);
  const slow = await world.makeTrader({}, { paper: { latency_ms: 50 } });
  assert.equal((await world.send(slow)).body.status, 'filled');
  assert.equal(units().length, 4);
});

test('what is halted before the fill is committed is not filled', SOON, async (t) => {
  const { world, trader, send, onFill } = await openDesk(t);
  onFill(async (commit, whole) => {
    await whole.commit([sql`update trading_accounts set halted = ${true} where id = ${trader.account.id}`]);
    return commit();
  });
  const { body } = await send();
  assert.equal(body.status, 'rejected');
  assert.equal((await stored(world, body.order_id))?.fill_quantity, null);
  assert.equal(await fills(world, trader), 1);
});

test(
  'an account that is changed before the fill is committed is read anew, and the entry filled once',
  SOON,
  async (t) => {
    const { world, trader, send, units, onFill } = await openDesk(t);
    onFill(async (commit, whole) => {
      await whole.commit([
        sql`update trading_accounts set revision = revision + 1 where id = ${trader.account.id}`,
      ]);
      return commit();
    });
    const { body } = await send();
    assert.deepEqual([body.status, await fills(world, trader)], ['filled', 2], `${units().length} units`);
  },
);

describe('The answer to the commit of a fill is lost', () => {
  test('and it stands: the sender is told that it was filled', SOON, async (t) => {
    const { world, trader, send, onFill } = await openDesk(t);
    onFill(async (commit) => {
      await commit();
      throw new DatabaseUnavailable('the answer was lost');
    });
    const { status, body } = await send();
    assert.deepEqual([status, body.status], [200, 'filled']);
    assert.equal((await stored(world, body.order_id))?.status, 'filled');
    assert.equal(await fills(world, trader), 2);
    // Nobody has lost anything of the account.
    assert.deepEqual([(await send()).body.position_before], [2]);
  });

  test(
    'and it does not stand: the order is sent as to any other broker, and filled once',
    SOON,
    async (t) => {
      const { world, trader, send, units, onFill } = await openDesk(t);
      onFill(async () => {
        throw new DatabaseUnavailable('the answer was lost');
      });
      const { body } = await send();
      assert.deepEqual([body.status, body.position_before], ['filled', 1]);
      assert.equal((await stored(world, body.order_id))?.fill_quantity, '1');
      assert.equal(await fills(world, trader), 2);
      // Accepted, lost, sending, the fill, and its end.
      assert.equal(units().length, 5);
    },
  );
});

test(
  'a lost answer, and a successor that has the user by then: nobody hears of a fill that does not stand',
  SOON,
  async (t) => {
    const { world, trader, send, onFill } = await openDesk(t);
    onFill(async (_commit, whole) => {
      await whole.commit([sql`update worker_owners set token = 'another'`]);
      // The successor's first word.
      await whole.commit([
        sql`update order_history set version = version + 1 where status in ('queued', 'executing') and trading_account_id = ${trader.account.id}`,
      ]);
      throw new DatabaseUnavailable('the answer was lost');
    });
    const { body } = await send();
    const row = await stored(world, body.order_id);
    const isMade = (await fills(world, trader)) === 2;
    // Whoever goes on with it may have made it by now; what is told is what stands.
    assert.equal(body.status === 'filled', isMade && row?.status === 'filled');
  },
);

for (const when of ['before', 'after'])
  test(
    `an exit whose unit lands late, ${when} it is sent once more, is filled once, and its worker goes on`,
    SOON,
    async (t) => {
      const { world, trader, send, onFill, landsLate } = await openDesk(t);
      const tokens = () => world.db.all<{ token: string }>(sql`select token from worker_owners`);
      const before = await tokens();
      const landed = Promise.withResolvers<string | null>();
      onFill(async (commit) => {
        const land = async () => {
          landed.resolve(await commit());
          return null;
        };
        if (when === 'before') landsLate(land);
        else setTimeout(land, 300);
        throw new DatabaseUnavailable('the answer was lost');
      });
      const { body } = await send({ action: 'sell', order_type: 'exit' });
      assert.equal(await landed.promise, when === 'before' ? null : 'version');
      assert.equal(body.status, 'filled');
      assert.equal((await stored(world, body.order_id))?.status, 'filled');
      assert.equal(await fills(world, trader), 2);
      assert.deepEqual(await tokens(), before, 'nobody has taken the user over');
    },
  );

test('a worker that has lost its user fills nothing: its successor does', SOON, async (t) => {
  const { world, trader, send, units, onFill } = await openDesk(t);
  onFill(async (commit, whole) => {
    await whole.commit([sql`update worker_owners set token = 'another'`]);
    const refused = await commit();
    assert.equal(refused, 'owner');
    return refused;
  });
  const { body } = await send();
  const known = () => stored(world, body.order_id);
  assert.equal((await world.eventually(known, (row) => row?.status === 'filled'))?.fill_quantity, '1');
  assert.equal(await fills(world, trader), 2);
  assert.ok(units().every((unit) => !writes(unit, 'paper_orders') || writes(unit, 'order_history')));
});
