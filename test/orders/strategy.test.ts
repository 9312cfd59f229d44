// Signals as strategies send them: where the strategy stands decides what is traded, a lost alert is noticed, and what the
// account holds besides is shown.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Db } from '../../src/data/engine/db.ts';
import { holds } from '../../src/data/engine/group-commit.ts';
import { decimal, subtract } from '../../src/domain/decimal.ts';
import { type Answer, openWorld, type Problem, type Trader, type World } from '../world.ts';

const SYMBOL = 'BTCUSDT';

/** Trades as a script on the charting platform does, and writes its alerts as the platform fills the template in. */
function strategy(trader: Trader, startedAt: number) {
  let position = 0;
  let second = 0;
  let alerts = 0;
  const sideOf = (held: number) => (held > 0 ? 'long' : held < 0 ? 'short' : 'flat');
  const stance = (held: number, prefix = '') => ({
    [`${prefix}market_position`]: sideOf(held),
    [`${prefix}market_position_size`]: Math.abs(held),
  });
  // The platform's own time has whole seconds.
  const timenow = () =>
    new Date(Math.floor(startedAt / 1000) * 1000 + second * 1000).toISOString().replace('.000', '');
  const said = () => ({ symbol: SYMBOL, timestamp: timenow(), secret: trader.secret });
  return {
    position: () => position,
    /** A second later, unless several trades fall into one. */
    next: (seconds: number) => {
      second += seconds;
    },
    trade(to: number) {
      const from = position;
      position = to;
      return {
        action: to > from ? 'buy' : 'sell',
        quantity: Math.abs(to - from),
        ...stance(to),
        ...stance(from, 'prev_'),
        id: `order ${++alerts}`,
        price: 60_000,
        ...said(),
      };
    },
    said,
    sync: () => ({ action: 'sync', ...stance(position), ...said() }),
  };
}

interface SyncAnswer {
  in_sync: boolean;
  strategy_position: number | null;
  broker_position: number;
  gap: boolean;
  order: { status: string } | null;
}

const held = async (world: World, trader: Trader) => Number(await world.position(trader.account.id, SYMBOL));

const actionsOf = async (world: World, trader: Trader): Promise<string[]> => {
  const { body } = await world.request<{ items: { action: string }[] }>({
    method: 'GET',
    url: '/settings/audit-log?limit=200',
    headers: { authorization: `Bearer ${trader.apiKey}` },
  });
  return body.items.map(({ action }) => action).reverse();
};

const asOwner = <Body>(
  world: World,
  trader: Trader,
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  body?: object,
) =>
  world.request<Body>({
    method,
    url,
    headers: { authorization: `Bearer ${trader.apiKey}` },
    ...(body ? { body } : {}),
  });

async function desk(
  t: Parameters<typeof openWorld>[0],
  account: object = {},
  env: Record<string, string> = {},
) {
  const world = await openWorld(t, { env });
  const trader = await world.makeTrader({}, account);
  const own = strategy(trader, world.clock.now());
  const send = <Body = never>(body: object) => world.webhook<Body extends never ? never : Body>(trader, body);
  return { world, trader, own, send };
}

describe('The template, sent by a strategy as it stands', () => {
  test('it closes 1 long: the account is flat, not short', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(1));
    own.next(1);
    const { body } = await world.webhook(trader, own.trade(0));
    assert.equal(await held(world, trader), 0);
    assert.deepEqual(
      [body.status, body.operation, body.market_position, body.target, body.gap],
      ['filled', 'CLOSE_POSITION', 'flat', 0, false],
    );
  });

  test('it goes from long 5 to short 3: the account is short 3, not 8', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(5));
    own.next(1);
    const { body } = await world.webhook(trader, own.trade(-3));
    assert.equal(await held(world, trader), -3);
    assert.deepEqual([body.status, body.target, body.auto_exit, body.exit_quantity], ['filled', -3, true, 5]);
    assert.equal(body.quantity, 8, 'as it was sent');
  });

  test('it adds twice within one second: both are traded', async (t) => {
    const { world, trader, own } = await desk(t);
    for (const size of [1, 2])
      assert.equal((await world.webhook(trader, own.trade(size))).body.status, 'filled');
    assert.equal(await held(world, trader), 2);
    // The same alert again is still a replay.
    const again = own.trade(3);
    await world.webhook(trader, again);
    assert.equal((await world.webhook<Problem>(trader, again)).body.code, 'webhook_replay_attack');
    assert.equal(await held(world, trader), 3);
  });

  test('slippage is against the price that the signal saw, and below zero where it was worse', async (t) => {
    const { world, trader, own } = await desk(t);
    const { body } = await world.webhook(trader, own.trade(1));
    assert.equal(body.price, 60_000);
    assert.equal(body.slippage, Number(subtract(decimal(60_000), decimal(body.fill_price ?? 0))));
  });
});

describe('What the strategy holds and the account does not', () => {
  test('a sell after a missed entry never buys: out_of_sync, and nothing is traded', async (t) => {
    const { world, trader, own } = await desk(t);
    own.trade(5);
    own.next(1);
    const { body } = await world.webhook(trader, own.trade(3));
    assert.deepEqual([body.status, body.error?.code, body.gap], ['rejected', 'out_of_sync', false]);
    assert.equal(await held(world, trader), 0);
  });

  test('what contradicts is closed all the same, with the error beside the fill', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(-2));
    own.trade(5);
    own.next(1);
    const { body } = await world.webhook(trader, own.trade(3));
    assert.deepEqual([body.status, body.error?.code, body.gap], ['filled', 'out_of_sync', true]);
    assert.equal(await held(world, trader), 0);
  });

  test('an account that follows opens it too', async (t) => {
    const { world, trader, own } = await desk(t, { outOfSync: 'follow' });
    own.trade(5);
    own.next(1);
    const { body } = await world.webhook(trader, own.trade(3));
    assert.deepEqual([body.status, body.error], ['filled', null]);
    assert.equal(await held(world, trader), 3);
  });

  test('already there is done, as is a close of nothing', async (t) => {
    const { world, trader, own } = await desk(t);
    const first = own.trade(2);
    await world.webhook(trader, first);
    const second = { ...first, id: 'another' };
    assert.equal((await world.webhook(trader, second)).body.status, 'done');
    own.next(1);
    await world.webhook(trader, own.trade(0));
    const { quantity: _, ...close } = world.signal(trader, { action: 'close' });
    const { body } = await world.webhook(trader, close);
    assert.deepEqual([body.status, body.error, body.quantity, body.fill_quantity], ['done', null, 0, null]);
    assert.equal(await held(world, trader), 0);
  });

  test('close takes whichever side is held', async (t) => {
    const { world, trader } = await desk(t);
    for (const action of ['long_entry', 'short_entry']) {
      await world.send(trader, { action, quantity: 2 });
      const { body } = await world.send(trader, { action: 'close', quantity: null });
      assert.equal(body.status, 'filled');
      assert.equal(await held(world, trader), 0);
    }
  });

  test('an alert that the strategy has gone beyond is not traded, and moves nothing', async (t) => {
    const { world, trader, own } = await desk(t);
    const late = own.trade(1);
    own.next(1);
    await world.webhook(trader, own.trade(2));
    const { body } = await world.webhook(trader, late);
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'superseded']);
    assert.equal(await held(world, trader), 2);
    const { body: synced } = await world.webhook<SyncAnswer>(trader, own.sync());
    assert.deepEqual([synced.in_sync, synced.strategy_position, synced.gap], [true, 2, false]);
  });

  test('an exit that a report overtook is made: the strategy still stands where it leads', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(3));
    for (const to of [1, 0]) {
      own.next(1);
      const exit = own.trade(to);
      own.next(1);
      const { body: synced } = await world.webhook<SyncAnswer>(trader, own.sync());
      assert.equal(synced.strategy_position, to);
      const { body } = await world.webhook(trader, exit);
      assert.deepEqual([body.status, body.error], ['filled', null]);
      assert.equal(await held(world, trader), to);
    }
  });

  test('of two alerts of one second the one that begins where the other ends is the later', async (t) => {
    const { world, trader, own } = await desk(t);
    const [first, second] = [own.trade(1), own.trade(3)];
    await world.webhook(trader, second);
    assert.equal((await world.webhook(trader, first)).body.error?.code, 'superseded');
    assert.equal(await held(world, trader), 3);
  });

  test('without a size the side alone decides between entry, exit and close', async (t) => {
    const { world, trader } = await desk(t);
    const say = (action: string, market_position: string, quantity: number) =>
      world.send(trader, { action, market_position, quantity });
    assert.equal((await say('buy', 'long', 3)).body.operation, 'PLACE_ENTRY_ORDER');
    assert.equal((await say('sell', 'long', 1)).body.operation, 'PLACE_EXIT_ORDER');
    assert.equal(await held(world, trader), 2);
    assert.equal((await say('sell', 'flat', 9)).body.operation, 'CLOSE_POSITION');
    assert.equal(await held(world, trader), 0);
  });
});

describe('What is under way of our own', () => {
  const resting = async (t: Parameters<typeof openWorld>[0], env: Record<string, string> = {}) => {
    const found = await desk(t, { outOfSync: 'follow', paper: { latency_ms: 0, fill: 'never' } }, env);
    const { body: first } = await found.world.webhook(found.trader, found.own.trade(1));
    assert.equal(first.status, 'placed');
    found.own.next(1);
    return { ...found, first };
  };
  /** A close behind the entry that rests: its sender is told that it goes on. */
  const closing = async (t: Parameters<typeof openWorld>[0], env: Record<string, string> = {}) => {
    // Longer than the entry is looked at before it is answered: the close is taken by then.
    const found = await resting(t, { RESPONSE_WAIT_SECONDS: '1.5', ...env });
    const { world, trader, own } = found;
    const { status, body } = await world.webhook(trader, own.trade(0));
    assert.deepEqual([status, body.status], [202, 'executing']);
    // The paper account fills at a look what it was set to leave when the close was taken.
    const ended = () =>
      world.eventually(
        () => world.order(trader, body.order_id),
        ({ status: now }) => now !== 'executing' && now !== 'placed',
      );
    return { ...found, ended };
  };

  test('is not bought a second time: while an entry rests, nothing more is opened towards the target', async (t) => {
    const { world, trader, own } = await resting(t);
    const { body } = await world.webhook(trader, own.trade(2));
    assert.deepEqual([body.status, body.broker_refs], ['rejected', []]);
    assert.match(body.error?.message ?? '', /still open at the broker/);
    own.next(1);
    const report = await world.webhook<SyncAnswer>(trader, own.sync());
    assert.deepEqual([report.body.in_sync, report.body.order?.status], [false, 'rejected']);
    assert.equal((await world.paperOrders(trader.account.id)).length, 1);
  });

  test('keeps a close of nothing from being done: what rests is filled, and then closed', async (t) => {
    const { world, trader, ended } = await closing(t);
    await world.setPaper(trader, { fill: 'full' });
    const { status, error, fill_quantity } = await ended();
    assert.deepEqual([status, error, fill_quantity], ['filled', null, 1]);
    assert.equal(await held(world, trader), 0);
  });

  test('keeps it waiting no longer than its deadline: then it says which order it waited for', async (t) => {
    const { world, trader, first, ended } = await closing(t, { EXIT_DEADLINE_SECONDS: '3' });
    const { status, error } = await ended();
    assert.deepEqual([status, error?.code], ['expired', 'expired']);
    assert.match(error?.message ?? '', new RegExp(first.order_id));
    assert.equal((await world.paperOrders(trader.account.id)).length, 1);
  });
});

describe('A missed alert', () => {
  test('is a gap at the next one, audited, and healed by its size', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(1));
    own.next(1);
    own.trade(4);
    own.next(1);
    const { body } = await world.webhook(trader, own.trade(6));
    assert.equal(body.gap, true);
    assert.equal(await held(world, trader), 6);
    assert.ok((await actionsOf(world, trader)).includes('webhook_signal_gap'));
    const { body: record } = await asOwner<{ gap: boolean }>(
      world,
      trader,
      'GET',
      `/trading/orders/${body.order_id}`,
    );
    assert.equal(record.gap, true);
  });

  test('is noticed where the last one before it was refused: it was heard all the same', async (t) => {
    const { world, trader, own } = await desk(t);
    await asOwner(world, trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {});
    const { status } = await world.webhook(trader, own.trade(1));
    assert.equal(status, 403);
    own.next(1);
    own.trade(2);
    own.next(1);
    await asOwner(world, trader, 'POST', `/trading/accounts/${trader.account.id}/resume`);
    assert.equal((await world.webhook(trader, own.trade(3))).body.gap, true);
  });

  test('the last one of all is found by a sync, which trades nothing', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(2));
    own.next(1);
    own.trade(0);
    own.next(1);
    const { status, body } = await world.webhook<SyncAnswer>(trader, own.sync());
    assert.equal(status, 200);
    assert.deepEqual(body, {
      in_sync: false,
      strategy_position: 0,
      broker_position: 2,
      gap: true,
      order: null,
    });
    assert.equal(await held(world, trader), 2);
    // Its alert might have come a moment later, and has not.
    const told = await world.eventually(
      async () => (await actionsOf(world, trader)).filter((action) => /gap|drift/.test(action)),
      (actions) => actions.length === 2,
    );
    assert.deepEqual(told, ['webhook_signal_gap', 'position_drift']);
  });

  test('is made good by a sync where the account follows', async (t) => {
    const { world, trader, own } = await desk(t, { outOfSync: 'follow' });
    own.trade(2);
    own.next(1);
    const { body } = await world.webhook<SyncAnswer>(trader, own.sync());
    assert.deepEqual([body.in_sync, body.broker_position, body.order?.status], [false, 0, 'filled']);
    assert.equal(await held(world, trader), 2);
  });

  test('drift is shown with the positions, and ends when the position is aligned', async (t) => {
    const { world, trader, own } = await desk(t);
    own.trade(5);
    own.next(1);
    await world.webhook(trader, own.trade(3));
    const positions = `/trading/accounts/${trader.account.id}/positions`;
    const { body: before } = await asOwner<{ items: object[] }>(world, trader, 'GET', positions);
    const [{ last_signal_at, ...shown } = { last_signal_at: null }] = before.items as {
      last_signal_at: string | null;
    }[];
    assert.ok(last_signal_at);
    assert.deepEqual(shown, {
      symbol: SYMBOL,
      quantity: 0,
      average_price: null,
      last_price: null,
      open_profit: null,
      tradable: true,
      reason: null,
      strategy_position: 3,
      in_sync: false,
      ...{ protection: null, risk: null, closed_by_protection: null },
    });
    const aligned = await asOwner<{ status: string; source: string; fill_quantity: number }>(
      world,
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/align`,
      { symbol: SYMBOL },
    );
    assert.deepEqual(
      [aligned.status, aligned.body.status, aligned.body.source, aligned.body.fill_quantity],
      [200, 'filled', 'dashboard', 3],
    );
    const { body: after } = await asOwner<{ items: { quantity: number; in_sync: boolean }[] }>(
      world,
      trader,
      'GET',
      positions,
    );
    assert.deepEqual([after.items[0]?.quantity, after.items[0]?.in_sync], [3, true]);
    assert.deepEqual(
      (await actionsOf(world, trader)).filter((action) => action.includes('drift')),
      ['position_drift', 'position_drift_ended'],
    );
  });

  test('a close needs no stance to be one: the strategy is flat afterwards', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(2));
    own.next(1);
    await world.webhook(trader, { action: 'close', ...own.said() });
    const positions = `/trading/accounts/${trader.account.id}/positions`;
    const { body } = await asOwner<{ items: object[] }>(world, trader, 'GET', positions);
    assert.deepEqual(body.items, []);
    const aligned = await asOwner<{ status: string }>(
      world,
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/align`,
      { symbol: SYMBOL },
    );
    assert.equal(aligned.body.status, 'done');
  });

  test('after a signal that says nothing of the strategy nobody knows where it stands', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(2));
    await world.send(trader, { action: 'long_exit', quantity: 1 });
    const { body } = await asOwner<{
      items: { strategy_position: number | null; in_sync: boolean | null }[];
    }>(world, trader, 'GET', `/trading/accounts/${trader.account.id}/positions`);
    assert.deepEqual([body.items[0]?.strategy_position, body.items[0]?.in_sync], [null, null]);
  });

  test('a dozen exits of one second are all made: each is heard, however many others are heard at that moment', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(12));
    own.next(1);
    const exits = Array.from({ length: 12 }, (_, made) => own.trade(11 - made));
    const answers = await Promise.all(exits.map((exit) => world.webhook(trader, exit)));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.status]),
      exits.map(() => [200, 'filled']),
    );
    assert.equal(await held(world, trader), 0);
  });

  /** The first signal of all takes long to be let in. */
  const slowFirst = () => {
    let isFirst = true;
    return (opened: Db): Db => ({
      ...opened,
      async get(statement) {
        const isDoor = statement.parts.join('').includes('webhook_token');
        if (isDoor && isFirst) {
          isFirst = false;
          await sleep(200);
        }
        return opened.get(statement);
      },
    });
  };

  test('a sync right behind its alert is heard after it: nothing was missed', async (t) => {
    const world = await openWorld(t, { db: slowFirst() });
    const trader = await world.makeTrader();
    const own = strategy(trader, world.clock.now());
    const [{ body: order }, { body: synced }] = await Promise.all([
      world.webhook(trader, own.trade(1)),
      world.webhook<SyncAnswer>(trader, own.sync()),
    ]);
    assert.deepEqual([order.status, order.gap, synced.gap], ['filled', false, false]);
    assert.ok(!(await actionsOf(world, trader)).includes('webhook_signal_gap'));
  });

  test('an alert right behind a sync is heard after it: the account is not moved back to where the sync stood', async (t) => {
    let isSlow = false;
    const slowSync = (opened: Db): Db => ({
      ...opened,
      async commit(unit) {
        const says = (what: string) => unit.some(({ parts }) => parts.join('').includes(what));
        if (isSlow && says('update strategy_positions') && !says('insert into order_history')) {
          isSlow = false;
          await sleep(200);
        }
        return opened.commit(unit);
      },
    });
    const world = await openWorld(t, { db: slowSync });
    const trader = await world.makeTrader({}, { outOfSync: 'follow' });
    const own = strategy(trader, world.clock.now());
    await world.webhook(trader, own.trade(1));
    own.next(1);
    isSlow = true;
    const [{ body: synced }, { body: order }] = await Promise.all([
      world.webhook<SyncAnswer>(trader, own.sync()),
      world.webhook(trader, { ...own.trade(2), prev_market_position: null, prev_market_position_size: null }),
    ]);
    assert.equal(isSlow, false);
    assert.deepEqual([synced.order, synced.gap, order.status], [null, false, 'filled']);
    assert.equal(await held(world, trader), 2);
  });

  test('what others overtake at other processes is heard again, an alert as a sync, however many they are', async (t) => {
    let overtaking = 0;
    const contested = (opened: Db): Db => ({
      ...opened,
      async commit(unit) {
        if (overtaking > 0 && unit.some(({ guard }) => guard === 'strategy')) {
          overtaking--;
          return 'strategy';
        }
        return opened.commit(unit);
      },
    });
    const world = await openWorld(t, { db: contested });
    const trader = await world.makeTrader();
    const own = strategy(trader, world.clock.now());
    overtaking = 20;
    const { status, body } = await world.webhook(trader, own.trade(1));
    assert.deepEqual([status, body.status, overtaking], [200, 'filled', 0]);
    own.next(1);
    own.trade(2);
    overtaking = 20;
    const { body: synced } = await world.webhook<SyncAnswer>(trader, own.sync());
    assert.deepEqual([synced.strategy_position, synced.broker_position, overtaking], [2, 1, 0]);
  });

  test('alerts of one second are heard in the order of their arrival, however long each takes to be let in', async (t) => {
    const world = await openWorld(t, { db: slowFirst() });
    const trader = await world.makeTrader();
    const own = strategy(trader, world.clock.now());
    const alerts = [own.trade(1), own.trade(2), own.trade(3), own.trade(4)];
    const answers = await Promise.all(alerts.map((alert) => world.webhook(trader, alert)));
    assert.deepEqual(
      answers.map(({ body }) => [body.status, body.fill_quantity, body.gap]),
      alerts.map(() => ['filled', 1, false]),
    );
    assert.equal(await held(world, trader), 4);
  });

  test('what was said is compared and changed by one statement: of two alerts at once neither waits for the other', async (t) => {
    const both: string[] = [];
    const changes = /(?:insert into|update|delete from) (\w+)/;
    const watched = (opened: Db): Db => ({
      ...opened,
      commit(unit) {
        const held = unit.filter(holds).map(({ parts }) => parts[0]?.match(/from (\w+)/)?.[1]);
        const changed = unit.flatMap(({ parts }) => parts[0]?.match(changes)?.[1] ?? []);
        both.push(...changed.filter((table) => held.includes(table)));
        return opened.commit(unit);
      },
    });
    const world = await openWorld(t, { db: watched });
    const trader = await world.makeTrader();
    const script = strategy(trader, Date.now() - 30_000);
    const began = { ...script.trade(1), market_position: null, market_position_size: null };
    const said = [script.trade(2), began, { ...began, id: 'late' }, script.sync(), script.trade(3)];
    for (const alert of said) {
      await world.webhook(trader, { ...alert, ...script.said() });
      script.next(1);
    }
    assert.deepEqual(both, [], 'a unit that changes a row which it holds waits for all others that hold it');
  });

  test('a simulated word from far ahead is not the last one for ever, and one beyond all years is refused', async (t) => {
    const { world, trader } = await desk(t);
    const rehearse = (fields: object) =>
      world.send(
        trader,
        { market_position: 'long', market_position_size: 1, ...fields },
        { query: '?simulation=true' },
      );
    assert.equal((await rehearse({ timestamp: '9999-12-31T23:59:59Z' })).body.status, 'filled');
    const beyond = (await rehearse({ timestamp: '9999-12-31T23:59:59-14:00' })) as unknown as Answer<Problem>;
    assert.deepEqual([beyond.status, beyond.body.code], [400, 'webhook_payload_invalid']);
  });

  test('an account that follows opens with an exit only what it might enter', async (t) => {
    const { world, trader, own } = await desk(t, { outOfSync: 'follow' });
    own.trade(5);
    own.next(1);
    await asOwner(world, trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {});
    const { body } = await world.webhook(trader, own.trade(3));
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'out_of_sync']);
    assert.equal(await held(world, trader), 0);
  });

  test('a simulated strategy is another one', async (t) => {
    const { world, trader, own } = await desk(t);
    await world.webhook(trader, own.trade(2));
    const rehearsal = strategy(trader, world.clock.now());
    rehearsal.trade(7);
    const { body } = await world.webhook(trader, rehearsal.trade(9), { query: '?simulation=true' });
    assert.deepEqual([body.gap, body.status], [false, 'filled']);
    assert.equal(await held(world, trader), 2);
  });
});

describe('Nothing is guessed', () => {
  // biome-ignore format: a table, one row a line
  const rows: [string, Record<string, unknown>, RegExp][] = [
    ['a placeholder that was not filled in', { market_position: '{{strategy.market_position}}' }, /"market_position" is \{\{strategy\.market_position\}\}: the platform did not fill it in/],
    ['NaN in a text', { price: 'NaN' }, /"price" is NaN/],
    ['na in a text', { quantity: 'na' }, /"quantity" is na/],
    ['a size without a side', { market_position_size: 1 }, /"market_position_size" needs "market_position"/],
    ['flat with a size', { market_position: 'flat', market_position_size: 1 }, /0 goes with flat/],
    ['long of nothing', { market_position: 'long', market_position_size: 0 }, /0 goes with flat/],
    ['a side that is none', { market_position: 'up' }, /"market_position" is "up"/],
    ['a size below zero', { market_position: 'long', market_position_size: -1 }, /0 or above/],
    ['a stance beside an order type', { market_position: 'long', order_type: 'entry' }, /leave one out/],
    ['a stance beside an action that says it', { action: 'close_long', market_position: 'flat' }, /does not go with the action close_long/],
    ['a sync without a size', { action: 'sync', quantity: null, market_position: 'long' }, /"market_position_size" is missing/],
    ['a sync that is flat without a size', { action: 'sync', quantity: null, market_position: 'flat' }, /"market_position_size" is missing/],
    ['a sync without a side', { action: 'sync', quantity: null }, /"market_position" is missing/],
    ['a close of so much', { action: 'close', quantity: 1 }, /"quantity" does not go with the action close/],
    ['a price of nothing', { price: 0 }, /"price" must be a number above zero/],
    ['a price of too many digits', { price: '60000.12345678901' }, /"price" is "60000\.12345678901": a number has at most 15 significant digits here/],
    ['a price beyond all prices', { price: '1e300' }, /"price" is "1e300": .* lies between 1e-15 and 1e16/],
    ['a size of too many digits', { market_position: 'long', market_position_size: '0.1234567890123456' }, /"market_position_size" is "0\.1234567890123456": a number has at most 15/],
    ['an id of 65 characters', { id: 'x'.repeat(65) }, /"id" must be/],
    ['an id that is a number', { id: 7 }, /"id" must be/],
    ['a stop in another spelling', { stopLoss: 59_000 }, /"stopLoss" is not understood here/],
    ['a sentiment', { sentiment: 'bullish' }, /market_position/],
    ['a quantity type', { quantityType: 'percent_of_equity' }, /"quantity" with "quantity_type"/],
    ['reduce only', { reduceOnly: true }, /"order_type": "exit"/],
  ];
  for (const [what, fields, detail] of rows)
    test(`${what} is refused, with what to send`, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader();
      const { status, body } = (await world.send<Problem>(trader, fields)) as Answer<Problem>;
      assert.deepEqual([status, body.code], [400, 'webhook_payload_invalid']);
      assert.match(body.detail, detail);
    });

  test('a placeholder that makes the body no JSON is named too', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const value of ['{{strategy.order.contracts}}', 'NaN', 'na']) {
      const text = `{"action": "buy", "symbol": "BTCUSDT", "quantity": ${value}, "secret": "x"}`;
      const { status, body } = await world.webhook<Problem>(trader, text);
      assert.equal(status, 400);
      assert.ok(body.detail.startsWith(`"quantity" is ${value} at line 1, column 52:`), body.detail);
    }
  });

  test('other fields are ignored, and the answer says which; empty ones are as absent', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const extras = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`extra_${index}`, index]));
    const empty = { market_position: '', market_position_size: null, id: '', price: '', stop_loss: null };
    const { body } = await world.send(trader, { comment: 'x', ...empty, ...extras });
    assert.equal(body.status, 'filled');
    assert.equal(body.ignored.length, 20);
    assert.equal(body.ignored[0], 'comment');
  });
});

test('whatever is lost, doubled, delayed or swapped, the account ends where the strategy stood at the last alert that came', async (t) => {
  const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000000' } });
  const step = fc.record({
    to: fc.integer({ min: -4, max: 4 }),
    seconds: fc.integer({ min: 0, max: 2 }),
    fate: fc.constantFrom('arrives', 'arrives', 'arrives', 'is lost', 'comes twice', 'comes after the next'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 10 }),
      fc.boolean(),
      async (steps, follows) => {
        const trader = await world.makeTrader({}, { outOfSync: follows ? 'follow' : 'hold' });
        const own = strategy(trader, world.clock.now() - 30_000);
        /** Those that came, and by their own word are the latest. */
        let last: Alert | null = null;
        let isHeld = false;
        let delayed: Alert | null = null;

        const deliver = async (alert: Alert): Promise<void> => {
          const { status, body } = await world.webhook(trader, alert);
          assert.equal(status, 200, JSON.stringify(body));
          if (last && isBehind(alert, last)) return assert.equal(body.error?.code, 'superseded');
          assert.equal(
            body.gap,
            last !== null && after(last) !== before(alert),
            JSON.stringify({ last, alert }),
          );
          last = alert;
          isHeld = body.error?.code === 'out_of_sync';
        };

        for (const { to, seconds, fate } of steps) {
          if (to === own.position()) continue;
          own.next(seconds);
          const alert = own.trade(to);
          if (fate === 'is lost') continue;
          if (fate === 'comes after the next' && delayed === null) {
            delayed = alert;
            continue;
          }
          await deliver(alert);
          if (fate === 'comes twice') assert.equal((await world.webhook(trader, alert)).status, 409);
          if (delayed) await deliver(delayed);
          delayed = null;
        }
        const stood = last === null ? 0 : after(last);
        const position = await held(world, trader);
        if (isHeld)
          assert.ok(Math.abs(position) < Math.abs(stood) && position * stood >= 0, `${position} ${stood}`);
        else assert.equal(position, stood);
        // What was lost last is told by the next sync.
        own.next(1);
        const { body } = await world.webhook<SyncAnswer>(trader, own.sync());
        assert.equal(body.gap, last !== null && stood !== own.position());
        assert.equal(body.strategy_position, own.position());
      },
    ),
    { numRuns: 60, examples: [[LATE_EXIT, false]] },
  );
});

/** Of which the second comes last, and leads to where the strategy stands again by then. */
const LATE_EXIT = [
  { to: 2, seconds: 0, fate: 'arrives' as const },
  { to: 1, seconds: 0, fate: 'comes after the next' as const },
  { to: 0, seconds: 1, fate: 'is lost' as const },
  { to: 1, seconds: 0, fate: 'arrives' as const },
];

type Alert = ReturnType<ReturnType<typeof strategy>['trade']>;

const signed = (side: unknown, size: unknown): number => (side === 'short' ? -Number(size) : Number(size));
const fieldsOf = (alert: Alert): Record<string, unknown> => alert;
const after = (alert: Alert) => {
  const { market_position, market_position_size } = fieldsOf(alert);
  return signed(market_position, market_position_size);
};
const before = (alert: Alert) => {
  const { prev_market_position, prev_market_position_size } = fieldsOf(alert);
  return signed(prev_market_position, prev_market_position_size);
};
/** Of one second: the one that begins where the other ends is the later, where that is so of one of them only. */
const isBehind = (alert: Alert, last: Alert): boolean =>
  alert.timestamp === last.timestamp
    ? before(last) === after(alert) && before(alert) !== after(last)
    : alert.timestamp < last.timestamp;
