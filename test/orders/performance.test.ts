// What the orders came to, as their user reads it: against the paper broker's own book.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import type { Performance } from '../../src/domain/money/performance.ts';
import { openWorld, settableClock, type Trader, type World } from '../world.ts';

const DAY = 24 * 3_600_000;

const performance = async (world: World, trader: Trader, query = ''): Promise<Performance> => {
  const { status, body } = await world.as<Performance>(trader, 'GET', `/trading/performance${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};
const total = (rows: readonly { readonly realised: number | null }[]) =>
  Number(rows.reduce((sum, row) => sum + (row.realised ?? Number.NaN), 0).toFixed(8));

describe('GET /trading/performance', () => {
  test('is what the paper broker’s own book earned, contract sizes, currencies and fees included', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, starting_cash: 10_000_000 } });
    const trades: [symbol: string, action: string, quantity: number][] = [
      ['BTCUSDT', 'buy', 2],
      ['ES1!', 'sell', 3],
      ['TXF1!', 'buy', 2],
      ['BINANCE:BTCUSDT.P', 'sell', 1],
      ['ES1!', 'buy', 1],
      ['BTCUSDT', 'buy', 0.5],
      ['TXF1!', 'sell', 1],
      ['BTCUSDT', 'close_long', 1],
      ['ES1!', 'close_long', 1],
      ['TXF1!', 'close_short', 1],
    ];
    for (const [symbol, action, quantity] of trades) {
      const { body } = await world.send(trader, { symbol, action, quantity });
      assert.ok(['filled', 'rejected'].includes(body.status), JSON.stringify(body));
      clock.advance(7 * 3_600_000);
    }
    const balance = await world.as<{ cash: number; equity: number }>(
      trader,
      'GET',
      `/trading/accounts/${trader.account.id}/balance`,
    );
    const { days, symbols, currency } = await performance(world, trader);
    assert.equal(currency, 'USD');
    // Nothing is held any more: the cash is all there is.
    assert.equal(balance.body.cash, balance.body.equity);
    const earned = Number((balance.body.cash - 10_000_000).toFixed(8));
    assert.ok(Math.abs(total(days) - earned) < 1e-6, `${total(days)} is not ${earned}`);
    assert.ok(Math.abs(total(symbols) - earned) < 1e-6);
    assert.deepEqual(
      symbols.map(({ symbol, orders }) => [symbol, orders]),
      [
        ['BTCUSDT', 4],
        ['ES1!', 3],
        ['TXF1!', 3],
      ],
    );
    assert.deepEqual(
      days.map(({ day }) => day),
      ['2026-07-15', '2026-07-16', '2026-07-17', '2026-07-18'],
    );
    assert.ok(days.every(({ latency_ms: { p50, p99 } }) => p50 !== null && p99 !== null && p50 <= p99));
  });

  test('a position that was opened before the range keeps its cost', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 1 });
    clock.advance(DAY);
    const opened = new Date(clock.now()).toISOString();
    await world.send(trader, { action: 'close_long' });
    const whole = await performance(world, trader);
    const later = await performance(world, trader, `?from=${opened}`);
    assert.deepEqual(later.days, whole.days.slice(1));
    const [{ realised = 0, orders = 0, volume = 0 } = {}] = later.symbols;
    assert.deepEqual([realised, orders, volume], [whole.days[1]?.realised, 1, 1]);
  });

  test('is of real orders, or of simulated ones, of one account or all, and of nobody else', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const second = await world.addAccount(trader);
    const stranger = await world.makeTrader();
    await world.send(trader, { quantity: 1 });
    await world.send(second, { quantity: 2 });
    await world.send(trader, { quantity: 4 }, { query: '?simulation=true' });
    await world.send(stranger, { quantity: 8 });
    const volume = async (query: string) =>
      (await performance(world, trader, query)).symbols.map((row) => row.volume);
    assert.deepEqual(await volume(''), [3]);
    assert.deepEqual(await volume('?simulation=false'), [3]);
    assert.deepEqual(await volume('?simulation=true'), [4]);
    assert.deepEqual(await volume('?real_money=true'), []);
    assert.deepEqual(await volume('?real_money=false'), [3]);
    assert.deepEqual(await volume('?real_money=false&simulation=true'), [4]);
    await world.db.commit([
      sql`update trading_accounts set broker_name = ${'okx'}, environment = ${'live'} where id = ${second.account.id}`,
    ]);
    assert.deepEqual(await volume('?real_money=true'), [2]);
    assert.deepEqual(await volume('?real_money=true&simulation=true'), []);
    assert.deepEqual(await volume('?real_money=false'), [1]);
    assert.deepEqual(await volume(`?trading_account_id=${second.account.id}`), [2]);
    assert.deepEqual(await volume(`?trading_account_id=${stranger.account.id}`), []);
  });

  test('a reset of the simulated book begins anew', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const simulated = { query: '?simulation=true' };
    const opened = await world.send(trader, { quantity: 5 }, simulated);
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/simulation/reset`);
    clock.advance(10 * DAY);
    const sold = await world.send(trader, { action: 'sell', quantity: 1 }, simulated);
    clock.advance(3_600_000);
    const bought = await world.send(trader, { action: 'close_short' }, simulated);
    const [row] = (await performance(world, trader, '?simulation=true')).symbols;
    const fees = await Promise.all(
      [opened, sold, bought].map(
        async ({ body }) => (await world.order(trader, body.order_id)).legs[0]?.fee ?? 0,
      ),
    );
    const earned = (sold.body.fill_price ?? 0) - (bought.body.fill_price ?? 0);
    assert.ok(Math.abs((opened.body.fill_price ?? 0) - (sold.body.fill_price ?? 0)) > 1, 'the price moved');
    const expected = fees.reduce((sum, fee) => sum - fee, earned);
    assert.ok(
      Math.abs((row?.realised ?? Number.NaN) - expected) < 1e-6,
      `${row?.realised} is not ${expected}`,
    );
  });

  test('counts every status, and the slippage against the signal’s price in money', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body } = await world.send(trader, { quantity: 2, price: 1 });
    await world.send(trader, { symbol: 'NOSUCH' });
    const { days } = await performance(world, trader);
    assert.deepEqual(days[0]?.orders, { filled: 1, rejected: 1 });
    assert.equal(days[0]?.slippage, 2 * (1 - (body.fill_price ?? 0)));
  });

  test('what it cannot read is refused', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const query of [
      '?from=yesterday',
      '?simulation=1',
      '?trading_account_id=x',
      '?symbol=BTCUSDT',
      '?limit=5',
    ]) {
      const { status } = await world.as(trader, 'GET', `/trading/performance${query}`);
      assert.equal(status, 400, query);
    }
  });

  test('reads a history of many pages', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    const copies = Array.from({ length: 620 }, (_, index) => {
      const id = `01990000-0000-7000-8000-${String(index).padStart(12, '0')}`;
      return [
        sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
              symbol, action, order_type, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace, unsettled)
            select ${id}, version, user_id, trading_account_id, broker_name, source, simulation, symbol, action, order_type,
              intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace, unsettled
            from order_history where order_id = ${body.order_id}`,
        sql`insert into order_legs (order_id, leg, position, client_order_id, side, quantity, status, fill_price, fill_quantity, unit_value)
            values (${id}, 'entry', 0, ${id}, ${index % 2 === 0 ? 'sell' : 'buy'}, '1', 'filled', ${String(100 + (index % 2))}, '1', '1')`,
      ];
    });
    await world.db.commit(copies.flat());
    const [row] = (await performance(world, trader)).symbols;
    assert.equal(row?.orders, 621);
    assert.equal(row?.volume, 621);
  });
});

test('what was traded before values were noted has that of the paper broker’s list', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, starting_cash: 10_000_000 } });
  for (const symbol of ['BTCUSDT', 'ES1!', 'MES1!', 'NQ1!', 'CL1!', 'GC1!', 'TXF1!'])
    await world.send(trader, { symbol });
  const noted = () =>
    world.db.all<{ instrument: string; unit_value: string }>(
      sql`select instrument, unit_value from order_legs order by instrument`,
    );
  const before = (await noted()).map((row) => ({ ...row, unit_value: Number(row.unit_value) }));
  await world.db.script(
    "alter table order_legs drop column unit_value; delete from migrations where name = '011-unit-values'",
  );
  await migrate(world.db, world.clock.now());
  assert.deepEqual(
    (await noted()).map((row) => ({ ...row, unit_value: Number(row.unit_value) })),
    before,
  );
});
