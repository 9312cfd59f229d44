// GET /trading/overview: is everything in order, and if not, what is to be done.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { watchSilence } from '../../src/app/operation/notices.ts';
import { readDay } from '../../src/app/orders/read-day.ts';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import { ListTooSlow, sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Performance } from '../../src/domain/money/performance.ts';
import { scriptedWorld } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';
import { verified } from './fill-desk.ts';
import { leaveAsRestored } from './restored.ts';

async function overview(world: World, trader: Trader, query = ''): Promise<Overview> {
  const { status, body } = await world.as<Overview>(trader, 'GET', `/trading/overview${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const HOUR = 3_600_000;

/** What a strategy says that goes from one position to the next. */
const step = (from: number, to: number) => ({
  action: to > from ? 'buy' : 'sell',
  quantity: Math.abs(to - from),
  market_position: side(to),
  market_position_size: Math.abs(to),
  prev_market_position: side(from),
  prev_market_position_size: Math.abs(from),
});
const side = (position: number) => (position === 0 ? 'flat' : position > 0 ? 'long' : 'short');

describe('GET /trading/overview', () => {
  test('of a user to whom nothing has happened everything is in order, and nobody knows since when', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const { accounts, audit, ...seen } = await overview(world, trader);
    assert.deepEqual(seen, {
      checked_at: '2026-07-15T19:00:00.000Z',
      day_start: '2026-07-15T00:00:00.000Z',
      in_order: true,
      since: null,
      last_trouble: null,
      todo: [],
      todo_more: 0,
      counted_all: true,
      orders_today: { accepted: 0, unresolved: 0, half_answered_within_ms: null },
      signals_today: { total: 0, executed: 0, rejected: 0, under_way: 0, refused: 0, reported: 0 },
      limit: { day: '2026-07-15', daily_orders: null, orders_today: 0, simulated_today: 0 },
    });
    assert.deepEqual(accounts, [
      {
        id: trader.account.id,
        name: 'Paper',
        broker_name: 'paper',
        environment: 'live',
        real_money: false,
        halted: false,
        halted_since: null,
        credentials: 'verified',
        credentials_since: null,
        last_signal_at: null,
        connection: { state: 'not_known', at: null },
        positions: null,
        counted_all: true,
        orders_today: 0,
        simulated_today: 0,
        realised_today: 0,
        currency: 'USD',
        profit_steps: [],
        signals_today: [],
      },
    ]);
    assert.deepEqual([audit.sealed, audit.checked_at], [true, seen.checked_at]);
  });

  test('counts the day’s signals by what became of them, and each account’s orders and profit', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const [trader, stranger] = [await world.makeTrader({ plan: 'pro' }), await world.makeTrader()];
    const second = await world.addAccount(trader, { name: 'Second', paper: { reject: 'market_closed' } });
    await world.send(stranger);
    await world.send(trader, { quantity: 2 });
    clock.advance(1_000);
    await world.send(trader, { action: 'sell', quantity: 3 });
    clock.advance(1_000);
    await world.send(trader, { secret: 'wrong' });
    await world.send(trader, {}, { query: '?simulation=true' });
    await world.send(second);
    const seen = await overview(world, trader);
    assert.equal(seen.in_order, true, JSON.stringify(seen.todo));
    assert.deepEqual(seen.signals_today, {
      total: 5,
      executed: 3,
      rejected: 1,
      under_way: 0,
      refused: 1,
      reported: 0,
    });
    assert.deepEqual([seen.orders_today.accepted, seen.orders_today.unresolved], [3, 0]);
    assert.ok(seen.orders_today.half_answered_within_ms !== null);
    assert.deepEqual(seen.limit, {
      day: '2026-07-15',
      daily_orders: 2000,
      orders_today: 3,
      simulated_today: 1,
    });
    const [first, other] = seen.accounts;
    assert.deepEqual(
      [first?.orders_today, first?.simulated_today, first?.connection.state, first?.last_signal_at],
      [2, 1, 'answering', '2026-07-15T19:00:02.000Z'],
    );
    assert.deepEqual(
      first?.signals_today.map(({ refused, simulation }) => [refused, simulation]).toSorted(),
      [
        [false, false],
        [false, false],
        [false, true],
        [true, false],
      ],
    );
    assert.deepEqual([other?.name, other?.orders_today, other?.realised_today], ['Second', 1, 0]);
    const { body: performance } = await world.as<Performance>(
      trader,
      'GET',
      `/trading/performance?trading_account_id=${trader.account.id}`,
    );
    assert.equal(first?.realised_today, performance.days[0]?.realised);
    assert.equal(first?.profit_steps.at(-1)?.realised, first?.realised_today);
    assert.equal(first?.profit_steps.length, 3, 'an entry, and a reversal of two legs');
  });

  test('a day begins where the user says; what is held since before keeps its cost', async (t) => {
    const clock = settableClock(Date.parse('2026-07-14T12:00:00Z'));
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    clock.advance(30 * HOUR);
    await world.send(trader, { action: 'sell', order_type: 'exit' });
    const byUtc = await overview(world, trader);
    assert.deepEqual(
      [byUtc.day_start, byUtc.accounts[0]?.orders_today],
      ['2026-07-15T00:00:00.000Z', 1],
      'the day of UTC',
    );
    const { body: performance } = await world.as<Performance>(trader, 'GET', '/trading/performance');
    assert.equal(byUtc.accounts[0]?.realised_today, performance.days.at(-1)?.realised);
    assert.notEqual(byUtc.accounts[0]?.realised_today, 0);

    const sooner = await overview(world, trader, '?day_start=2026-07-14T20:00:00%2B02:00');
    assert.deepEqual(
      [sooner.day_start, sooner.accounts[0]?.realised_today],
      ['2026-07-14T18:00:00.000Z', byUtc.accounts[0]?.realised_today],
    );
    const later = await overview(world, trader, '?day_start=2026-07-15T20:00:01%2B02:00');
    assert.deepEqual([later.accounts[0]?.orders_today, later.accounts[0]?.realised_today], [0, 0]);
    for (const start of ['2026-07-14T15:59:59Z', '2026-07-15T18:02:00Z', 'today', '2026-07-15']) {
      const answer = await world.as<Problem>(trader, 'GET', `/trading/overview?day_start=${start}`);
      assert.deepEqual([start, answer.status, answer.body.code], [start, 400, 'request_invalid']);
    }
  });

  test('what is held behind very many simulated orders has no known cost, and everything else is told', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({ plan: 'pro' });
    const { body } = await world.send(trader, { quantity: 2 });
    const begun = timestamp(clock.now());
    clock.advance(24 * HOUR);
    // A text is no id and no time in PostgreSQL.
    const as = (type: string) => (world.db.dialect === 'postgres' ? `::${type}` : '');
    const ids = Array.from({ length: 2500 }, (_, n) => String(n).padStart(12, '0'));
    await world.db.script(`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source,
        simulation, symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace)
      with each (id) as (values ${ids.map((id) => `('00000000-0000-7000-8000-${id}'${as('uuid')})`)})
      select each.id, version, user_id, trading_account_id, broker_name, source, not simulation, symbol, action,
        intent, quantity, status, broker_refs, '${begun.replace('.000Z', '.500Z')}'${as('timestamptz')}, deadline_at,
        auto_exit, trace
      from order_history, each where order_id = '${body.order_id}'`);
    await world.send(trader, { action: 'sell', quantity: 1 });
    const reads: number[] = [];
    const { lists } = world.db;
    const counting = {
      ...lists,
      async all<Row>(query: Parameters<typeof lists.all>[0]) {
        const rows = await lists.all<Row>(query);
        reads.push(rows.length);
        return rows;
      },
    };
    const from = timestamp(clock.now() - HOUR);
    const day = await readDay({ ...world.db, lists: counting }, trader.user.id, from);
    assert.deepEqual([...day.profits], [[trader.account.id, null]]);
    assert.ok(reads.length <= 25, `${reads.length} reads`);
    const [account] = (await overview(world, trader)).accounts;
    assert.deepEqual([account?.orders_today, account?.realised_today], [1, null]);
  });

  test('of a day with more orders than anybody looks through, the newest are counted, and it is said', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({ plan: 'pro' });
    await world.addAccount(trader, { name: 'Second' });
    const { body } = await world.send(trader);
    const uuid = world.db.dialect === 'postgres' ? 'uuid' : 'text';
    await world.db.script(`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source,
        simulation, symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace)
      with recursive n (nth) as (select 100001 union all select nth + 1 from n where nth < 120100)
      select cast('00000000-0000-7000-8000-000000' || cast(nth as text) as ${uuid}), version, user_id, trading_account_id,
        broker_name, source, simulation, symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at,
        auto_exit, trace
      from order_history cross join n where order_id = '${body.order_id}'`);
    const { counted_all, orders_today, accounts } = await overview(world, trader);
    assert.deepEqual([counted_all, orders_today.accepted], [false, 20_000]);
    const told = accounts.map((account) => [
      account.counted_all,
      account.orders_today,
      account.realised_today,
    ]);
    // What the second one has earned nobody knows: its orders may be older.
    assert.deepEqual(told.sort(), [
      [false, 0, null],
      [false, 20_000, null],
    ]);
  });

  test('a day that cannot be read in time is counted all the same', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader);
    const { lists } = world.db;
    const slow = {
      ...lists,
      async all<Row>(query: Parameters<typeof lists.all>[0]): Promise<Row[]> {
        if (query.parts.join('').includes('order_legs')) throw new ListTooSlow('too slow');
        return lists.all<Row>(query);
      },
    };
    const from = timestamp(world.clock.now() - HOUR);
    const day = await readDay({ ...world.db, lists: slow }, trader.user.id, from);
    assert.deepEqual([day.accepted, [...day.profits]], [1, [[trader.account.id, null]]]);
  });

  test('an unknown order is told with what is being done, and is the last trouble when it is known', async (t) => {
    const clock = settableClock();
    const { broker, world, trader } = await scriptedWorld(t, { clock });
    broker.script('place', async (good) => {
      await good();
      throw new Error('the answer is lost');
    });
    broker.script('find', async () => {
      throw new Error('away');
    });
    const { body } = await world.send(trader, { action: 'sell', quantity: 2 });
    assert.equal(body.status, 'unknown');
    const { in_order, todo, orders_today, accounts, signals_today } = await overview(world, trader);
    assert.equal(in_order, false);
    assert.equal(todo.length, 1);
    const [{ title, detail, next_at, ...rest } = { title: '', detail: '', next_at: '' }] = todo;
    assert.deepEqual(rest, {
      kind: 'unknown_order',
      severity: 'risk',
      since: body.submitted_at,
      order_id: body.order_id,
      trading_account_id: trader.account.id,
      symbol: 'BTCUSDT',
      attempts: 0,
      most_attempts: 4,
    });
    assert.equal(title, 'Is 2 BTCUSDT sold or not? On Paper the answer was lost.');
    assert.match(detail, /to sell 2 was lost\. The order is not sent again\. .* 0 of 4 tries made\.$/);
    assert.ok(next_at);
    assert.equal(orders_today.unresolved, 1);
    assert.equal(signals_today.under_way, 1);
    assert.equal(accounts[0]?.connection.state, 'silent');

    broker.forgetScripts();
    await verified(world, trader, body.order_id, clock);
    const after = await overview(world, trader);
    assert.deepEqual([after.in_order, after.todo], [true, []]);
    assert.equal(after.last_trouble?.kind, 'unknown_order');
    assert.equal(after.last_trouble?.order_id, body.order_id);
    assert.equal(after.since, after.last_trouble?.ended_at);
  });

  test('an order that waited in a restored backup is told: nobody asks about it, and its owner has to', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { name: 'Main', paper: { latency_ms: 0, fill: 'never' } });
    const { body } = await world.send(trader, { quantity: 2 });
    await leaveAsRestored(world, body.order_id);
    const { in_order, todo, orders_today } = await overview(world, trader);
    assert.deepEqual([in_order, todo.length, orders_today.unresolved], [false, 1, 1]);
    const [only] = todo;
    assert.deepEqual(
      [only?.kind, only?.severity, only?.order_id, only?.attempts, only?.next_at],
      ['unknown_order', 'risk', body.order_id, 0, null],
    );
    assert.equal(only?.title, 'Is 2 BTCUSDT traded or not? On Main nobody knows.');
    assert.match(
      only?.detail ?? '',
      /look for the client order ids .* at the broker\. Nobody asks .* record on its story what became of it\.$/,
    );
  });

  test('what was closed by the kill switch is not asked for again, until the account is resumed', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { name: 'Main' });
    await world.send(trader, step(0, 2));
    const at = `/trading/accounts/${trader.account.id}`;
    await world.as(trader, 'POST', `${at}/halt`, { flatten: true });
    const report = {
      action: 'sync',
      quantity: null,
      market_position: 'long',
      market_position_size: 2,
    };
    await world.send(trader, report);
    const halted = await overview(world, trader);
    assert.deepEqual(halted.todo, []);
    assert.deepEqual(halted.accounts[0]?.positions, { in_sync: 0, of: 1 });
    await world.as(trader, 'POST', `${at}/resume`, {});
    const [missing] = (await overview(world, trader)).todo;
    assert.equal(missing?.kind, 'drift_missing');
  });

  test('while the end of an order is not known, what is held is not known, and is in sync with nothing', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { paper: { lose_answer: true } });
    await world.send(trader, { ...step(0, 2), symbol: 'BINANCE:BTCUSDT.P' });
    const { accounts, todo } = await overview(world, trader);
    assert.equal(todo[0]?.kind, 'unknown_order');
    assert.deepEqual(accounts[0]?.positions, { in_sync: 0, of: 1 });
    interface Position {
      symbol: string;
      quantity: number;
      may_be?: number[];
      in_sync: boolean | null;
    }
    const { body } = await world.as<{ items: Position[] }>(
      trader,
      'GET',
      `/trading/accounts/${trader.account.id}/positions`,
    );
    const [position, ...others] = body.items;
    assert.deepEqual(others, []);
    assert.equal(position?.symbol, 'BTCUSDT');
    assert.deepEqual(position.may_be?.toSorted(), [0, 2]);
    assert.equal(position.in_sync, null);
  });

  test('a drift says what to send: red where too much is held, amber where something is missing', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { name: 'Main' });
    // Held is nothing, and the strategy sells some of what it believes to have.
    await world.send(trader, step(5, 3));
    const [missing] = (await overview(world, trader)).todo;
    assert.deepEqual(
      [missing?.kind, missing?.severity, missing?.strategy_position, missing?.broker_position],
      ['drift_missing', 'act', 3, 0],
    );
    assert.equal(missing?.title, 'BTCUSDT: the strategy is long 3, Main holds nothing.');
    assert.match(
      missing?.detail ?? '',
      /^3 BTCUSDT that the strategy counts on are missing\. Aligning buys 3/,
    );
    const { accounts } = await overview(world, trader);
    assert.deepEqual(accounts[0]?.positions, { in_sync: 0, of: 1 });

    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/align`, { symbol: 'BTCUSDT' });
    const aligned = await world.eventually(
      () => overview(world, trader),
      ({ in_order }) => in_order,
    );
    assert.equal(aligned.last_trouble?.title, 'BTCUSDT drifted on Main');
    assert.deepEqual(aligned.accounts[0]?.positions, { in_sync: 1, of: 1 });

    // Behind the strategy's back something more is bought; its next word shows it.
    await world.as(trader, 'POST', '/trading/order', {
      trading_account_id: trader.account.id,
      action: 'buy',
      symbol: 'BTCUSDT',
      quantity: 1,
    });
    await world.db.commit([
      sql`update strategy_positions set drift_since = ${timestamp(world.clock.now())}, held = '4'
          where trading_account_id = ${trader.account.id}`,
    ]);
    const [excess] = (await overview(world, trader)).todo;
    assert.deepEqual([excess?.kind, excess?.severity], ['drift_excess', 'risk']);
    assert.match(excess?.detail ?? '', /holds 1 BTCUSDT more than its strategy\. Aligning sells 1/);
  });

  test('what protection has closed is no drift: what is held beside it is too much, and aligning opens again', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { name: 'Main' });
    await world.send(trader, step(0, 2));
    const drifted = async (fields: { stopped: string; held: string; size?: string | null }) => {
      const { stopped, held, size = '2' } = fields;
      await world.db.commit([
        sql`update strategy_positions set stopped = ${stopped}, held = ${held}, size = ${size},
              drift_since = ${timestamp(world.clock.now())} where trading_account_id = ${trader.account.id}`,
      ]);
      const [only, ...others] = (await overview(world, trader)).todo;
      assert.deepEqual(others, []);
      return only;
    };
    // The stop has closed all, and one was bought by hand since.
    const excess = await drifted({ stopped: '2!', held: '1' });
    assert.deepEqual([excess?.kind, excess?.severity], ['drift_excess', 'risk']);
    assert.equal(
      excess?.title,
      'BTCUSDT: the strategy is long 2, protection has closed all of that, and Main holds long 1.',
    );
    assert.equal(
      excess?.detail,
      'The account holds 1 BTCUSDT more than protection has left of its strategy’s position. ' +
        'To end the difference, an order of your own sells 1. Aligning buys 1 at market: it opens again what protection closed.',
    );
    assert.deepEqual([excess?.strategy_position, excess?.broker_position], [2, 1]);
    const missing = await drifted({ stopped: '1', held: '0' });
    assert.deepEqual([missing?.kind, missing?.severity], ['drift_missing', 'act']);
    assert.match(
      missing?.detail ?? '',
      /^1 BTCUSDT that the strategy counts on is missing\. .* buys 1\. Aligning buys 2 at market: it opens again/,
    );
    const same = await drifted({ stopped: '2!', held: '2' });
    assert.match(same?.detail ?? '', /Aligning trades nothing/);
    // A strategy that never says its size counts on nothing either.
    const sizeless = await drifted({ stopped: '2!', held: '1', size: null });
    assert.match(sizeless?.title ?? '', /the strategy is long, protection has closed all of that, and/);
    assert.match(sizeless?.detail ?? '', /sells 1\.$/);
    // Nobody has to open anything for it: it is said also while the account is halted.
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {});
    assert.equal((await drifted({ stopped: '2!', held: '1' }))?.kind, 'drift_excess');
  });

  test('a rehearsal is no trouble', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, step(5, 3), { query: '?simulation=true' });
    assert.equal((await overview(world, trader)).in_order, true);
  });

  test('refused credentials, terms and silence are to be done, in this order; halted is the user’s own wish', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({ termsVersion: null }, { name: 'Quiet', silenceAfter: 3600 });
    const refused = await world.addAccount(trader, {
      name: 'Refused',
      brokerName: 'bybit',
      silenceAfter: null,
    });
    await world.addAccount(trader, {
      name: 'Bare',
      brokerName: 'binance',
      credentialsVerified: false,
      silenceAfter: null,
    });
    const at = timestamp(clock.now());
    await world.db.commit([
      sql`update trading_accounts set sealed_credentials = 'sealed', broker_credentials_verified = ${false},
            credentials_refused = ${true}, credentials_checked_at = ${at} where id = ${refused.account.id}`,
    ]);
    clock.advance(HOUR + 1_000);
    await watchSilence(world);
    await world.send(refused, {});
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {});
    const seen = await overview(world, trader);
    assert.deepEqual(
      seen.todo.map(({ kind, severity }) => [kind, severity]),
      [
        ['credentials_refused', 'act'],
        ['credentials_missing', 'act'],
        ['terms_not_accepted', 'act'],
        ['silence', 'act'],
      ],
    );
    const [first, , , silent] = seen.todo;
    assert.equal(first?.title, 'Refused: the broker refuses the credentials.');
    assert.equal(first?.since, at);
    assert.match(
      first?.detail ?? '',
      /Entries are refused .* Exits, closes and flatten are still tried at Bybit/,
    );
    assert.match(silent?.detail ?? '', /for more than an hour/);
    assert.deepEqual(
      Object.fromEntries(
        seen.accounts.map(({ name, credentials, connection, real_money }) => [
          name,
          [credentials, connection.state, real_money],
        ]),
      ),
      {
        Quiet: ['verified', 'not_known', false],
        Refused: ['refused', 'refused', true],
        Bare: ['missing', 'not_known', true],
      },
    );
    const quiet = seen.accounts.find(({ name }) => name === 'Quiet');
    assert.deepEqual([quiet?.halted, quiet?.halted_since], [true, timestamp(clock.now())]);
    clock.advance(1_000);
    await world.send(trader, { action: 'close_long' });
    const after = await overview(world, trader);
    assert.ok(!after.todo.some(({ kind }) => kind === 'silence'), 'a genuine signal ends the silence');
    assert.equal(after.last_trouble?.kind, 'silence');
  });

  test('the broker’s word on a key is remembered: one that can withdraw is to be replaced', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('verify', async () => ({
      warnings: ['The key can withdraw: take it off.', 'The key is not bound to an address.'],
    }));
    const url = `/trading/accounts/${trader.account.id}`;
    await world.as(trader, 'POST', `${url}/verify`);
    const { todo, accounts } = await overview(world, trader);
    assert.deepEqual(
      todo.map(({ kind, severity, detail }) => [kind, severity, detail]),
      [['key_can_withdraw', 'act', 'Fillpath never withdraws. The key can withdraw: take it off.']],
    );
    assert.ok(accounts[0]?.credentials_since);
  });

  test('a reversal that failed is told until the symbol is traded well again', async (t) => {
    const clock = settableClock();
    const { broker, world, trader } = await scriptedWorld(t, {
      clock,
      env: { REVERSAL_POLLS: '1', REVERSAL_POLL_MS: '1' },
    });
    await world.send(trader, { quantity: 1 });
    broker.fills = 'later';
    const { body } = await world.send(trader, { action: 'sell', quantity: 2 });
    assert.equal(body.status, 'failed');
    const [trouble] = (await overview(world, trader)).todo;
    assert.deepEqual(
      [trouble?.kind, trouble?.severity, trouble?.order_id],
      ['failed_reversal', 'risk', body.order_id],
    );
    broker.settle(broker.ledger.at(-1), 'filled');
    broker.fills = 'at once';
    clock.advance(1_000);
    await world.send(trader, { quantity: 1 });
    const after = await overview(world, trader);
    assert.deepEqual([after.in_order, after.last_trouble?.kind], [true, 'failed_reversal']);
  });
});
