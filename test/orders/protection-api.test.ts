// What protects positions, asked for and seen through the API: on paper, whose prices are set.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { OrderRecord, OrderResult } from '../../src/domain/orders/result.ts';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { openWorld, type Problem, type Trader, type World } from '../world.ts';

interface Item extends ShownProtection {
  readonly trading_account_id: string;
  readonly symbol: string;
  readonly simulation: boolean;
  readonly side: string;
}
interface Page<Of> {
  readonly items: readonly Of[];
  readonly next_cursor: string | null;
}
interface Position {
  readonly symbol: string;
  readonly quantity: number;
  readonly average_price: number;
  readonly protection: ShownProtection | null;
  readonly risk: number | null;
  readonly closed_by_protection: null;
}

interface Plan {
  readonly text: string;
  readonly protection: readonly { leg: string; price: number; quantity: number; how: string }[] | null;
  readonly guards: readonly { guard: string; outcome: string }[];
  readonly error: { readonly code: string } | null;
}

async function openDesk(t: TestContext) {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: '1' } });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 60_000 } } });
  return { world, trader, ...deskOf(world, trader) };
}

function deskOf(world: World, trader: Trader) {
  const account = `/trading/accounts/${trader.account.id}`;
  const get = async <Body>(url: string) => (await world.as<Body>(trader, 'GET', url)).body;
  const order = <Body = OrderResult>(fields: object) =>
    world.as<Body>(trader, 'POST', '/trading/order', {
      ...{ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', ...fields },
    });
  return {
    get,
    order,
    plan: <Body>(fields: object) =>
      world.as<Body>(trader, 'POST', '/trading/order/plan', {
        ...{ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', ...fields },
      }),
    change: <Body = Record<string, unknown>>(fields: object) =>
      world.as<Body>(trader, 'PATCH', account, fields),
    price: (price: number) => world.as(trader, 'PATCH', account, { paper: { price: { BTCUSDT: price } } }),
    align: async () =>
      (await world.as<OrderResult>(trader, 'POST', `${account}/align`, { symbol: 'BTCUSDT' })).body,
    record: (id: string) => get<OrderRecord>(`/trading/orders/${id}`),
    positions: async () => (await get<{ items: Position[] }>(`${account}/positions`)).items,
    protections: async (query = '') => (await get<Page<Item>>(`/trading/protections${query}`)).items,
    standing: (id: string | null | undefined) =>
      world.eventually(
        () => get<Item & { history: { what: string; by: string | null }[] }>(`/trading/protections/${id}`),
        ({ state }) => state === 'standing',
      ),
  };
}

describe('an order that asks for protection', () => {
  test('shows it, from the answer to its end, and what closed the position says why and for whom', async (t) => {
    const { world, trader, price, record, standing, protections, get, positions } = await openDesk(t);
    const { body: entry } = await world.send(trader, {
      ...{ stop_loss: '2%', take_profit: [{ at: 61_000, percent: 50 }], break_even: 'tp1' },
    });
    assert.equal(entry.status, 'filled');
    const id = entry.protection?.id;
    assert.ok(id);
    const stands = await standing(id);
    const fill = entry.fill_price ?? 0;
    assert.equal(stands.stop_loss, Math.ceil(fill * 98) / 100);
    assert.deepEqual(stands.take_profit, [{ price: 61_000, percent: 50, quantity: 0.5, filled: 0 }]);
    assert.equal(stands.stop_quantity, 1);
    assert.equal(stands.symbol, 'BTCUSDT');
    assert.deepEqual(stands.history[0]?.by, entry.order_id);

    const known = await record(entry.order_id);
    assert.equal(known.protection?.state, 'standing');
    assert.equal(typeof known.unprotected_ms, 'number');
    const [held] = await positions();
    assert.equal(held?.protection?.id, id);
    assert.equal(held?.risk, Number((fill - (stands.stop_loss ?? 0)).toFixed(8)));
    assert.equal(held?.closed_by_protection, null);

    await price(61_100);
    const moved = await world.eventually(
      () => get<Item>(`/trading/protections/${id}`),
      ({ take_profit, stop_loss }) => take_profit[0]?.filled === 0.5 && stop_loss === fill,
    );
    assert.equal(moved.break_even, null);
    const [target] = (await get<Page<OrderRecord>>('/trading/orders?source=protection')).items;
    assert.equal(target?.exit_reason, 'take_profit');
    assert.equal(target?.caused_by, entry.order_id);
    assert.equal(target?.protection, null);

    await price(59_000);
    const ended = await world.eventually(
      () => protections('?state=ended'),
      ({ length }) => length === 1,
    );
    assert.equal(ended[0]?.id, id);
    const closes = await get<Page<OrderRecord>>('/trading/orders?source=protection');
    assert.deepEqual(
      closes.items.map(({ exit_reason, action, fill_quantity }) => [exit_reason, action, fill_quantity]),
      [
        ['break_even', 'close_long', 0.5],
        ['take_profit', 'close_long', 0.5],
      ],
    );
    assert.equal((await record(entry.order_id)).protection?.state, 'ended');
  });

  test('says nothing of it where it asks for none; its record says null', async (t) => {
    const { world, trader, record, order } = await openDesk(t);
    const answers = [(await world.send(trader)).body, (await order({ quantity: 1 })).body];
    for (const plain of answers) {
      for (const name of ['exit_reason', 'caused_by', 'unprotected_ms', 'protection'])
        assert.ok(!(name in plain), name);
      const { exit_reason, caused_by, unprotected_ms, protection } = await record(plain.order_id);
      assert.deepEqual([exit_reason, caused_by, unprotected_ms, protection], [null, null, null, null]);
    }
  });
});

describe('POST /trading/order', () => {
  test('takes what is to protect an entry, and protect moves and removes it', async (t) => {
    const { world, order, standing, record, get } = await openDesk(t);
    const { body: entry } = await order({
      quantity: 2,
      stop_loss: 59_000,
      trailing_stop: { distance: '5%' },
    });
    assert.equal(entry.status, 'filled');
    const id = entry.protection?.id;
    const stands = await standing(id);
    assert.equal(stands.stop_loss, 59_000);
    assert.equal(stands.trailing_stop?.activate_at, null);

    const moved = await order({ action: 'protect', quantity: 7, stop_loss: '59500', trailing_stop: 'none' });
    assert.equal(moved.body.status, 'done');
    assert.deepEqual(moved.body.ignored, ['quantity']);
    assert.equal(moved.body.protection?.id, id);
    const after = await world.eventually(
      () => get<Item & { set_by: string }>(`/trading/protections/${id}`),
      ({ stop_loss, state }) => stop_loss === 59_500 && state === 'standing',
    );
    assert.equal(after.trailing_stop, null);
    assert.equal(after.set_by, moved.body.order_id);
    assert.equal((await record(moved.body.order_id)).protection?.stop_loss, 59_500);

    const wrong = await order({ action: 'protect', stop_loss: 61_000 });
    assert.deepEqual([wrong.body.status, wrong.body.error?.code], ['rejected', 'invalid_protection']);
    assert.equal(wrong.body.protection, null);
    assert.equal((await standing(id)).stop_loss, 59_500);

    const removed = await order({ action: 'protect', stop_loss: 'none' });
    assert.equal(removed.body.status, 'done');
    await world.eventually(
      () => get<Item>(`/trading/protections/${id}`),
      ({ stop_loss }) => stop_loss === null,
    );
  });

  test('does not use it with an exit, whatever stands there, and says so', async (t) => {
    const { order } = await openDesk(t);
    await order({ quantity: 1 });
    const exit = await order({
      ...{
        action: 'sell',
        order_type: 'exit',
        quantity: 0.5,
        stop_loss: 'NaN',
        take_profit: '{{plot("TP")}}',
      },
    });
    assert.equal(exit.body.status, 'filled');
    assert.deepEqual(exit.body.ignored, ['stop_loss', 'take_profit']);
    const close = await order({ action: 'close', break_even: 'tp1' });
    assert.deepEqual([close.body.status, close.body.ignored], ['filled', ['break_even']]);
    const nothing = await order({ action: 'protect', stop_loss: '2%' });
    assert.deepEqual([nothing.body.status, nothing.body.error?.code], ['rejected', 'no_position']);
  });

  // biome-ignore format: a table, one case a line
  const WRONG: readonly (readonly [object, RegExp])[] = [
    [{ stop_loss: 'NaN' }, /"stop_loss" is/],
    [{ stop_loss: '{{plot("SL")}}' }, /"stop_loss" is/],
    [{ stop_loss: 'na' }, /"stop_loss" is/],
    [{ stop_loss: '2 pips' }, /"stop_loss"/],
    [{ stop_loss: 0 }, /"stop_loss"/],
    [{ stop_loss: -5 }, /"stop_loss"/],
    [{ stop_loss: true }, /"stop_loss"/],
    [{ stop_loss: { percent: 2, ticks: 5 } }, /"stop_loss"/],
    [{ trailing_stop: 59_000 }, /"trailing_stop"/],
    [{ take_profit: [{ at: '2%', percent: 60 }, { at: '4%', percent: 60 }] }, /120 percent/],
    [{ take_profit: [] }, /"take_profit"/],
    [{ take_profit: [{ at: '2%', percent: 'NaN' }] }, /"take_profit\[0\]\.percent"/],
    [{ break_even: 'tp1', take_profit: 'none', stop_loss: '2%' }, /waits for the first target/],
    [{ break_even: '1%', stop_loss: 'none', trailing_stop: 'none' }, /moves a stop/],
    [{ time_stop: 30 }, /"time_stop"/],
    [{ time_stop: '25:00 America/New_York' }, /"time_stop"/],
    [{ action: 'protect' }, /needs at least one of stop_loss/],
    [{ action: 'protect', order_type: 'entry', stop_loss: 1 }, /contradicts the action protect/],
    [{ stoploss: 1 }, /not a field of this request/],
  ];
  test('says in words what is wrong with it, and trades nothing', async (t) => {
    const { order, plan, get } = await openDesk(t);
    for (const [fields, words] of WRONG)
      for (const ask of [order<Problem>, plan<Problem>]) {
        const { status, body } = await ask({ quantity: 1, ...fields });
        assert.equal(status, 400, JSON.stringify(fields));
        assert.equal(body.code, 'request_invalid');
        assert.match(body.detail, words);
      }
    assert.deepEqual((await get<Page<object>>('/trading/orders')).items, []);
  });

  test('is planned, and nothing is sent', async (t) => {
    const { order, plan, protections } = await openDesk(t);
    const asked = { action: 'protect', stop_loss: 59_000 };
    const none = await plan<Plan>(asked);
    assert.equal(none.body.error?.code, 'no_position');
    assert.deepEqual((await plan<Plan>({ quantity: 1 })).body.protection, []);
    await order({ quantity: 2 });
    const { body } = await plan<Plan>(asked);
    assert.equal(body.error, null);
    assert.match(
      body.text,
      /^Nothing would be traded: it is about what protects the position of 2 in BTCUSDT\./,
    );
    assert.deepEqual(await protections(), []);
  });

  // biome-ignore format: a table, one case a line
  const LEVELS: readonly (readonly [unknown, number])[] = [
    [59_000, 59_000], ['59000', 59_000], [{ price: 59_000 }, 59_000], ['2%', 58_800], ['2 %', 58_800], [{ percent: '2' }, 58_800],
    ['150p', 59_850], ['150 points', 59_850], [{ points: 150 }, 59_850], ['20t', 59_998], ['20 ticks', 59_998], [{ ticks: 20 }, 59_998],
  ];
  test('takes a level in every spelling', async (t) => {
    const { order, standing } = await openDesk(t);
    for (const [level, about] of LEVELS) {
      const { body } = await order({ quantity: 1, stop_loss: level, simulation: false });
      const { stop_loss } = await standing(body.protection?.id);
      assert.ok(Math.abs((stop_loss ?? 0) - about) < 3, `${JSON.stringify(level)}: ${stop_loss}`);
      await order({ action: 'close' });
    }
  });
});

describe('the webhook', () => {
  test('refuses what was not filled in on an entry, and does not use it on an exit', async (t) => {
    const { world, trader } = await openDesk(t);
    for (const stop_loss of ['NaN', 'na', '{{plot("SL")}}']) {
      const refused = await world.webhook<Problem>(trader, world.signal(trader, { stop_loss }));
      assert.deepEqual([refused.status, refused.body.code], [400, 'webhook_payload_invalid']);
    }
    await world.send(trader);
    const { body } = await world.send(trader, { action: 'sell', order_type: 'exit', stop_loss: 'NaN' });
    assert.deepEqual([body.status, body.ignored], ['filled', ['stop_loss']]);
    assert.ok(!('protection' in body));
  });

  test('and manual orders refuse what the broker cannot keep', async (t) => {
    const { world, trader } = await openDesk(t);
    const alpaca = await world.addAccount(trader, { brokerName: 'alpaca' });
    const shioaji = await world.addAccount(trader, { brokerName: 'shioaji' });
    for (const [of, fields, words] of [
      [alpaca, { quantity: 3.5, stop_loss: '2%' }, /whole shares only: send 3, not 3\.5/],
      [shioaji, { quantity: 1, take_profit: '2%' }, /keeps no stops and no targets: leave out "take_profit"/],
    ] as const) {
      const sent = await world.webhook<Problem>(of, world.signal(of, fields));
      const ordered = await world.as<Problem>(of, 'POST', '/trading/order', {
        ...{ trading_account_id: of.account.id, action: 'buy', symbol: 'AAPL', ...fields },
      });
      for (const { status, body } of [sent, ordered]) {
        assert.deepEqual([status, body.code], [400, 'protection_unsupported']);
        assert.match(body.detail, words);
      }
    }
  });
});

describe('what is traded of what is asked for', () => {
  const ASKED = { action: 'buy', symbol: 'AAPL', stop_loss: '2%' } as const;

  test('decides: a manual order is taken as it is, whatever its account multiplies alerts with', async (t) => {
    const { world, trader } = await openDesk(t);
    const doubled = await world.addAccount(trader, { brokerName: 'alpaca', quantityMultiplier: decimal(2) });
    const ordered = await world.as<Problem>(doubled, 'POST', '/trading/order', {
      ...{ trading_account_id: doubled.account.id, ...ASKED, quantity: 1.5 },
    });
    assert.deepEqual([ordered.status, ordered.body.code], [400, 'protection_unsupported']);
  });

  test('decides: of a target what is held there, and not what the strategy traded for it', async (t) => {
    const { world, trader } = await openDesk(t);
    const alpaca = await world.addAccount(trader, { brokerName: 'alpaca' });
    const to = (quantity: number, size: number) =>
      world.webhook<Problem>(
        alpaca,
        world.signal(alpaca, { ...ASKED, quantity, market_position: 'long', market_position_size: size }),
      );
    const part = await to(1, 2.5);
    assert.deepEqual([part.status, part.body.code], [400, 'protection_unsupported']);
    assert.match(part.body.detail, /send 2, not 2\.5/);
    // Whatever else stands against it: its stop can be kept.
    assert.notEqual((await to(1.5, 2)).body.code, 'protection_unsupported');
  });
});

describe('an account', () => {
  test('fills in what an entry from flat leaves out', async (t) => {
    const { change, order, standing, world, trader } = await openDesk(t);
    const defaults = { '*': { stop_loss: '2 %' }, BTCUSDT: { take_profit: [{ at: '4%', percent: 100 }] } };
    const changed = await change({ protection_defaults: defaults, unprotected: 'alert', trigger_by: 'mark' });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body.protection_defaults, {
      ...{ '*': { stop_loss: '2%' }, BTCUSDT: { take_profit: [{ at: '4%', percent: '100' }] } },
    });
    assert.deepEqual([changed.body.unprotected, changed.body.trigger_by], ['alert', 'mark']);
    const { body } = await order({ quantity: 1 });
    const stands = await standing(body.protection?.id);
    assert.equal(stands.stop_loss, Math.ceil((body.fill_price ?? 0) * 98) / 100);
    assert.equal(stands.take_profit.length, 1);
    await order({ action: 'close' });
    const declined = await order({ quantity: 1, stop_loss: 'none', take_profit: 'none' });
    assert.equal(declined.body.status, 'filled');
    const revisions = await world.db.all(
      sql`select revision from trading_accounts where id = ${trader.account.id}`,
    );
    assert.deepEqual(revisions, [{ revision: 2 }]);
    assert.equal((await change({ protection_defaults: {} })).body.protection_defaults, null);
  });

  test('fills it in for whatever opens from flat: a report that is followed, an alignment, and an exit that opens what is missing', async (t) => {
    const { change, order, align, standing, world, trader } = await openDesk(t);
    const settings = { out_of_sync: 'follow', guards: { require_stop: true } };
    await change({ ...settings, protection_defaults: { '*': { stop_loss: '2%' } } });
    const long = (size: number) => ({ market_position: 'long', market_position_size: size });
    const report = async () =>
      (await world.send<{ order: OrderResult }>(trader, { action: 'sync', quantity: undefined, ...long(2) }))
        .body.order;
    const exit = async () => (await world.send(trader, { action: 'sell', ...long(2) })).body;
    for (const opens of [report, align, exit]) {
      const { status, fill_quantity, fill_price, order_id } = await opens();
      assert.deepEqual([status, fill_quantity], ['filled', 2]);
      const { protection } = await world.order(trader, order_id);
      const { stop_loss } = await standing(protection?.id);
      assert.equal(stop_loss, Math.ceil((fill_price ?? 0) * 98) / 100);
      await order({ action: 'close' });
    }
  });

  test('adds nothing to what an exit closes, nor to its answer, whatever it may open', async (t) => {
    const { change, world, trader, order, align, record, protections } = await openDesk(t);
    const follow = { out_of_sync: 'follow', protection_defaults: { '*': { stop_loss: '2%' } } };
    await change(follow);
    await order({ quantity: 4, stop_loss: 59_000 });
    const long = (size: number) => ({ market_position: 'long', market_position_size: size });
    const sold = (await world.send(trader, { action: 'sell', ...long(3) })).body;
    await order({ quantity: 1 });
    const aligned = await align();
    for (const exit of [sold, aligned]) {
      assert.deepEqual([exit.status, exit.fill_quantity], ['filled', 1]);
      for (const name of ['exit_reason', 'caused_by', 'unprotected_ms', 'protection'])
        assert.ok(!(name in exit), name);
      assert.equal((await record(exit.order_id)).protection, null);
    }
    const [stands, ...others] = await protections();
    assert.deepEqual([stands?.stop_loss, others], [59_000, []]);
  });

  // biome-ignore format: a table, one case a line
  const WRONG: readonly (readonly [object, RegExp])[] = [
    [{ protection_defaults: '2%' }, /"protection_defaults"/],
    [{ protection_defaults: { '*': { stop_loss: 60_000 } } }, /Send a distance/],
    [{ protection_defaults: { '*': { stoploss: '2%' } } }, /must be an object of stop_loss/],
    [{ protection_defaults: { 'no symbol': { stop_loss: '2%' } } }, /is no symbol/],
    [{ protection_defaults: { '*': { break_even: 'tp1' } } }, /moves a stop/],
    [{ unprotected: 'pray' }, /"unprotected" must be one of close, alert/],
    [{ trigger_by: 'index' }, /"trigger_by" must be one of last, mark/],
    [{ guards: { require_stop: 'yes' } }, /guards\.require_stop must be null or true or false/],
  ];
  test('says in words what it cannot be set to, made or changed', async (t) => {
    const { change, world, trader } = await openDesk(t);
    const make = (fields: object) =>
      world.as<Problem>(trader, 'POST', '/trading/accounts', { name: 'X', broker: 'paper', ...fields });
    for (const [fields, words] of WRONG)
      for (const { status, body } of [await change<Problem>(fields), await make(fields)]) {
        assert.deepEqual([status, body.code], [400, 'request_invalid'], JSON.stringify(fields));
        assert.match(body.detail, words);
      }
    const shioaji = await make({ broker: 'shioaji', protection_defaults: { '*': { stop_loss: '2%' } } });
    assert.equal(shioaji.status, 400);
    assert.match(shioaji.body.detail, /Shioaji.* keeps no stops and no targets/);
    const timed = { broker: 'shioaji', protection_defaults: { '*': { time_stop: 3600 } } };
    assert.equal((await make(timed)).status, 201);
  });

  test('shows and sets the guard that requires a stop', async (t) => {
    const { change } = await openDesk(t);
    const guardOf = async (require_stop: unknown) =>
      ((await change({ guards: { require_stop } })).body.guards as Record<string, unknown>).require_stop;
    assert.equal(await guardOf(true), true);
    assert.equal(await guardOf(false), null);
    assert.equal(await guardOf(true), true);
    assert.equal(await guardOf(null), null);
  });
});

describe('GET /trading/protections', () => {
  test('lists the newest first, by page and by filter; another user has none of it', async (t) => {
    const { world, trader, order, protections, get } = await openDesk(t);
    const made: string[] = [];
    for (const [symbol, simulation] of [
      ['BTCUSDT', false],
      ['ETHUSDT', false],
      ['BTCUSDT', true],
    ] as const) {
      const { body } = await order({ symbol, simulation, quantity: 1, stop_loss: '10%' });
      made.unshift(body.protection?.id ?? '');
    }
    const ids = (items: readonly Item[]) => items.map(({ id }) => id);
    assert.deepEqual(ids(await protections()), made);
    const first = await get<Page<Item>>('/trading/protections?limit=2');
    assert.deepEqual(ids(first.items), made.slice(0, 2));
    assert.deepEqual(ids(await protections(`?limit=2&cursor=${first.next_cursor}`)), made.slice(2));
    assert.deepEqual(ids(await protections('?simulation=true')), made.slice(0, 1));
    assert.deepEqual(ids(await protections('?symbol=ETHUSDT&side=long')), made.slice(1, 2));
    assert.deepEqual(ids(await protections('?side=short')), []);
    assert.deepEqual(ids(await protections(`?trading_account_id=${trader.account.id}`)), made);
    const stranger = await world.makeTrader();
    const asked = await world.as<Page<Item>>(stranger, 'GET', '/trading/protections');
    assert.deepEqual(asked.body.items, []);
    for (const method of ['GET', 'POST'] as const) {
      const url = `/trading/protections/${made[0]}${method === 'POST' ? '/look' : ''}`;
      assert.equal((await world.as(stranger, method, url)).status, 404);
    }
    for (const query of ['?state=lost', '?side=flat', '?cursor=x', '?colour=red'])
      assert.equal((await world.as(trader, 'GET', `/trading/protections${query}`)).status, 400);
  });

  test('is looked after at once where somebody asks; of one that is over there is nothing to look for', async (t) => {
    const { world, trader, order, protections, standing } = await openDesk(t);
    const { body } = await order({ quantity: 1, stop_loss: '10%' });
    const { seen_at } = await standing(body.protection?.id);
    const url = `/trading/protections/${body.protection?.id}`;
    const look = () => world.as<Item & Problem>(trader, 'POST', `${url}/look`);
    const looked = await look();
    assert.deepEqual([looked.status, looked.body.id], [202, body.protection?.id]);
    await world.eventually(
      async () => (await world.as<Item>(trader, 'GET', url)).body,
      (seen) => seen.seen_at !== seen_at,
    );
    await order({ action: 'close' });
    await world.eventually(
      () => protections('?state=ended'),
      ({ length }) => length === 1,
    );
    const over = await look();
    assert.deepEqual([over.status, over.body.code], [409, 'nothing_to_look_for']);
    const log = await world.as<Page<{ action: string }>>(
      trader,
      'GET',
      '/settings/audit-log?action=protection_look',
    );
    assert.equal(log.body.items.length, 2);
  });
});

test('a look costs what its own account costs: at another one nothing is looked at', async (t) => {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: '600' } });
  const paper = { latency_ms: 0, price: { BTCUSDT: 60_000 } };
  const trader = await world.makeTrader({}, { paper });
  const other = await world.addAccount(trader, { name: 'Other', paper });
  const { body: first } = await world.send(trader, { stop_loss: '10%' });
  const { body: second } = await world.send(other, { stop_loss: '10%' });
  const { standing } = deskOf(world, trader);
  await standing(second.protection?.id);
  const { id } = await standing(first.protection?.id);
  const books = async () =>
    (await world.db.all<{ book: string }>(sql`select book from paper_stops where status = 'standing'`)).map(
      ({ book }) => book,
    );
  // Whoever looks next sees that somebody has taken the stops away.
  await world.setPaper(trader, paper);
  await world.setPaper(other, paper);
  await world.db.commit([sql`update paper_stops set status = 'cancelled' where status = 'standing'`]);
  await world.as(trader, 'POST', `/trading/protections/${id}/look`);
  assert.deepEqual(await world.eventually(books, (all) => all.includes(trader.account.id)), [
    trader.account.id,
  ]);
});

test('what protection closed is counted, and stands in the CSV', async (t) => {
  const { world, trader, order, price, get, standing } = await openDesk(t);
  const { body } = await order({ quantity: 1, stop_loss: 59_000 });
  await standing(body.protection?.id);
  await price(58_900);
  const closes = await world.eventually(
    async () => (await get<Page<OrderRecord>>('/trading/orders?source=protection')).items,
    ({ length }) => length === 1,
  );
  const performance = await get<{ symbols: { exit_reasons: object }[] }>('/trading/performance');
  assert.deepEqual(
    performance.symbols.map(({ exit_reasons }) => exit_reasons),
    [{ stop_loss: 1 }],
  );
  const csv = await world.request<string>({
    ...{ method: 'GET', url: '/trading/orders' },
    headers: { accept: 'text/csv', authorization: `Bearer ${trader.apiKey}` },
  });
  assert.match(
    String(csv.body),
    /,exit_reason,caused_by,unprotected_ms,protection,quantity_type,factor,units,limit_price,stop_price,time_in_force,expires_at,group_id\r?\n/,
  );
  assert.match(String(csv.body), new RegExp(`stop_loss,${closes[0]?.caused_by},`));
});

describe('a plan', () => {
  test('shows where what protects the position would stand, for a message and for an order', async (t) => {
    const { world, trader, order, plan } = await openDesk(t);
    const fields = {
      quantity: 1,
      stop_loss: '2%',
      take_profit: [{ at: 61_000, percent: 50 }],
      break_even: 'tp1',
    };
    const { body } = await plan<Plan>(fields);
    assert.deepEqual(
      body.protection?.map(({ leg, quantity }) => [leg, quantity]),
      [
        ['stop', 1],
        ['target', 0.5],
      ],
    );
    assert.ok(Math.abs((body.protection?.[0]?.price ?? 0) - 58_800) < 3);
    assert.match(body.text, /Once the first target is filled, the stop goes to 6000/);
    assert.equal(body.error, null);
    const check = `/trading/accounts/${trader.account.id}/check`;
    const message = JSON.stringify(world.signal(trader, fields));
    const checked = await world.as<{ plan: Plan }>(trader, 'POST', check, { message });
    assert.deepEqual(
      checked.body.plan.protection?.map(({ leg }) => leg),
      ['stop', 'target'],
    );
    assert.deepEqual((await plan<Plan>({ quantity: 1 })).body.protection, []);

    const wrong = await plan<Plan>({ quantity: 1, stop_loss: 61_000 });
    assert.equal(wrong.body.error?.code, 'invalid_protection');
    await order({ quantity: 2 });
    const moves = await plan<Plan>({ action: 'protect', stop_loss: 59_000 });
    assert.deepEqual(
      moves.body.protection?.map(({ leg, price, quantity }) => [leg, price, quantity]),
      [['stop', 59_000, 2]],
    );
  });
});

test('a trailing stop beside "stop_loss": "none" is the stop, also where the account asks for one', async (t) => {
  const { world, change, order, plan, get } = await openDesk(t);
  await change({ guards: { require_stop: true } });
  const { body: entry } = await order({ quantity: 1, stop_loss: 'none', trailing_stop: '1000p' });
  assert.equal(entry.status, 'filled');
  const stands = (price: number) =>
    world.eventually(
      () => get<Item>(`/trading/protections/${entry.protection?.id}`),
      ({ stop_loss, state }) => stop_loss === price && state === 'standing',
    );
  const first = (entry.fill_price ?? 0) - 1_000;
  await stands(first);

  await order({ action: 'protect', stop_loss: 59_500 });
  await stands(59_500);
  const away = { action: 'protect', stop_loss: 'none' };
  assert.equal((await plan<Plan>(away)).body.protection?.[0]?.price, first);
  assert.equal((await order(away)).body.status, 'done');
  await stands(first);
  assert.equal((await order({ quantity: 1, stop_loss: 'none' })).body.status, 'filled', 'it has one');
});

test('an account that requires a stop lets no entry pass without one', async (t) => {
  const { change, order, plan, standing } = await openDesk(t);
  await change({ guards: { require_stop: true } });
  const bare = await order({ quantity: 1 });
  assert.deepEqual(
    [bare.body.status, bare.body.error?.code, bare.body.error?.guard],
    ['rejected', 'guard_refused', 'require_stop'],
  );
  assert.equal((await plan<Plan>({ quantity: 1 })).body.guards[0]?.outcome, 'refused');
  const { body } = await order({ quantity: 1, stop_loss: '5%' });
  assert.equal(body.status, 'filled');
  await standing(body.protection?.id);
  assert.equal((await order({ quantity: 1 })).body.status, 'filled', 'what it adds to has one');
  assert.equal((await order({ quantity: 1, stop_loss: 'none' })).body.error?.code, 'guard_refused');
  assert.equal((await order({ action: 'close' })).body.status, 'filled', 'exits always pass');
  await change({ protection_defaults: { '*': { stop_loss: '3%' } } });
  assert.equal((await order({ quantity: 1 })).body.status, 'filled', 'the account brings one');
});
