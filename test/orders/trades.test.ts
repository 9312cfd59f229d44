// Round trips, as their user reads them: against the performance, which counts the same fills.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { readTradesSummary, ShownTrade } from '../../src/app/orders/read-trades.ts';
import { sql } from '../../src/data/engine/db.ts';
import type { Performance } from '../../src/domain/money/performance.ts';
import { openWorld, settableClock, type Trader, type World } from '../world.ts';

const HOUR = 3_600_000;

interface Listed {
  readonly items: readonly ShownTrade[];
  readonly next_cursor: string | null;
}
type Summary = Awaited<ReturnType<typeof readTradesSummary>>;
type Story = ShownTrade & { readonly fills: readonly Record<string, unknown>[] };

async function read<Body>(world: World, trader: Trader, url: string): Promise<Body> {
  const { status, body } = await world.as<Body>(trader, 'GET', url);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
const trades = (world: World, trader: Trader, query = '') =>
  read<Listed>(world, trader, `/trading/trades${query}`);
const summary = (world: World, trader: Trader, query = '') =>
  read<Summary>(world, trader, `/trading/trades/summary${query}`);
const realised = async (world: World, trader: Trader, query = '') => {
  const { days } = await read<Performance>(world, trader, `/trading/performance${query}`);
  return Number(days.reduce((sum, day) => sum + (day.realised ?? Number.NaN), 0).toFixed(8));
};

/** Five trades in three symbols, two reversals among them; the last stays open. */
async function tradedDay(world: World, trader: Trader, advance: (ms: number) => void) {
  const sent: [symbol: string, action: string, quantity: number, id: string][] = [
    ['BTCUSDT', 'buy', 2, 'Breakout'],
    ['ES1!', 'sell', 3, 'Night range'],
    ['BINANCE:BTCUSDT.P', 'long_exit', 1, 'Breakout'],
    ['BTCUSDT', 'sell', 2, 'Pullback'],
    ['ES1!', 'buy', 4, 'Breakout'],
    ['ETHUSDT', 'buy', 3, 'Breakout'],
    ['BTCUSDT', 'close_short', 2, 'Out'],
    ['ETHUSDT', 'close_long', 3, 'Out'],
  ];
  const orders: string[] = [];
  for (const [symbol, action, quantity, id] of sent) {
    const { body } = await world.send(trader, { symbol, action, quantity, id });
    assert.equal(body.status, 'filled', JSON.stringify(body));
    orders.push(body.order_id);
    advance(5 * HOUR);
  }
  return orders;
}

const rich = { paper: { latency_ms: 0, starting_cash: 10_000_000 } };

describe('GET /trading/trades', () => {
  test('lists round trips from our fills, the last one first, with both their ends', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    const orders = await tradedDay(world, trader, clock.advance);
    const { items, next_cursor } = await trades(world, trader);
    assert.equal(next_cursor, null);
    assert.deepEqual(
      items.map((trade) => [trade.symbol, trade.side, trade.quantity, trade.closed_by, trade.strategy]),
      [
        ['ETHUSDT', 'long', 3, 'signal', 'Breakout'],
        ['BTCUSDT', 'short', 2, 'signal', 'Pullback'],
        ['ES1!', 'short', 3, 'reversal', 'Night range'],
        ['BTCUSDT', 'long', 2, 'reversal', 'Breakout'],
      ],
    );
    const [, , , first] = items;
    assert.deepEqual(first?.entry_order_ids, [orders[0]]);
    assert.deepEqual(first?.exit_order_ids, [orders[2], orders[3]]);
    assert.equal(first?.held_ms, 15 * HOUR);
    assert.equal(first?.currency, 'USD');
    assert.equal(first?.real_money, false);
    for (const { side, quantity, entry_price, exit_price, fees, profit, symbol } of items) {
      const unit = symbol === 'ES1!' ? 50 : 1;
      const moved = ((exit_price ?? 0) - entry_price) * (side === 'long' ? 1 : -1) * quantity * unit;
      assert.ok(Math.abs(moved - fees - profit) < 1e-6, `${symbol}: ${moved} less ${fees} is not ${profit}`);
    }
  });

  test('their sum, with what open ones have earned, is the realised profit of the same time', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    await tradedDay(world, trader, clock.advance);
    const whole = await summary(world, trader);
    assert.equal(whole.trades, 4);
    assert.equal(whole.realised?.realised, await realised(world, trader));
    assert.ok((whole.realised?.open_trades ?? 0) < 0, 'the fee of the one that is open');
    const [, , middle] = (await trades(world, trader)).items;
    for (const query of [`?from=${middle?.closed_at}`, `?to=${middle?.closed_at}`]) {
      const part = await summary(world, trader, query);
      assert.ok(part.trades < 4);
      assert.equal(part.realised?.realised, await realised(world, trader, query));
    }
    assert.equal((await summary(world, trader, '?symbol=BTCUSDT')).realised, null);
  });

  test('of a time before all of them is of no currency', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    await tradedDay(world, trader, clock.advance);
    const first = (await trades(world, trader)).items.at(-1);
    const before = new Date(Date.parse(first?.opened_at ?? '') - 1).toISOString();
    assert.equal((await summary(world, trader, `?to=${before}`)).currency, null);
    assert.equal((await summary(world, trader, `?to=${first?.opened_at}`)).currency, 'USD');
  });

  test('is read page by page, and whole as CSV with the ids', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    await tradedDay(world, trader, clock.advance);
    const { items } = await trades(world, trader);
    const paged: ShownTrade[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Listed = await trades(world, trader, `?limit=1${cursor && `&cursor=${cursor}`}`);
      assert.equal(page.items.length, 1);
      paged.push(...page.items);
      cursor = page.next_cursor;
    }
    assert.deepEqual(paged, items);
    const { body, headers } = await world.as<string>(trader, 'GET', '/trading/trades', undefined, {
      accept: 'text/csv',
    });
    assert.equal(headers['content-disposition'], 'attachment; filename="fillpath-trades.csv"');
    const [header = '', ...lines] = body.trimEnd().split('\r\n');
    assert.match(header, /^id,trading_account_id,.*entry_order_ids,exit_order_ids$/);
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      items.map(({ id }) => id),
    );
    assert.ok(lines[3]?.includes(items[3]?.exit_order_ids.join(' ') ?? 'none'));
  });

  test('goes on from its place where the last trade of a page is another by the time of the next', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    const orders = await tradedDay(world, trader, clock.advance);
    const [, second, third] = (await trades(world, trader)).items;
    const { items, next_cursor } = await trades(world, trader, '?limit=2');
    assert.equal(items[1]?.id, second?.id);
    // What opened it is known to have been another order's.
    await world.db.commit([
      sql`update order_legs set fill_quantity = ${'0'} where order_id = ${orders[6] ?? null}`,
      sql`update order_history set version = version + 1 where order_id = ${orders[6] ?? null}`,
    ]);
    const ids = (await trades(world, trader)).items.map(({ id }) => id);
    assert.ok(second && third && !ids.includes(second.id));
    const next = await trades(world, trader, `?limit=2&cursor=${next_cursor}`);
    assert.equal(next.items[0]?.id, third.id);
  });

  test('is of what is asked for: account, symbol in any spelling, strategy, what closed it, currency, time', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    const stranger = await world.makeTrader();
    await tradedDay(world, trader, clock.advance);
    const ids = async (query: string) =>
      (await trades(world, trader, query)).items.map(({ symbol }) => symbol);
    assert.deepEqual(await ids('?symbol=BINANCE:btcusdt.P'), ['BTCUSDT', 'BTCUSDT']);
    assert.deepEqual(await ids('?strategy=Breakout'), ['ETHUSDT', 'BTCUSDT']);
    assert.deepEqual(await ids('?strategy=Breakout&limit=1'), ['ETHUSDT']);
    assert.deepEqual(await ids('?closed_by=reversal'), ['ES1!', 'BTCUSDT']);
    assert.deepEqual(await ids('?currency=USDT'), []);
    assert.deepEqual(await ids('?currency=USD&closed_by=signal'), ['ETHUSDT', 'BTCUSDT']);
    assert.deepEqual(await ids('?simulation=true'), []);
    assert.deepEqual(await ids('?real_money=true'), []);
    assert.deepEqual(await ids(`?trading_account_id=${stranger.account.id}`), []);
    assert.deepEqual((await trades(world, stranger)).items, []);
    const [newest] = (await trades(world, trader)).items;
    assert.deepEqual(await ids(`?from=${newest?.closed_at}`), ['ETHUSDT']);
    const { strategies, symbols, closed_by } = await summary(world, trader, '?strategy=Breakout');
    assert.deepEqual(
      strategies.map(({ strategy, trades }) => [strategy, trades]),
      [['Breakout', 2]],
    );
    assert.equal(symbols.length, 2);
    assert.equal(closed_by.length, 2);
    // A cursor of somebody else's trade finds nothing, and tells nothing.
    assert.deepEqual((await trades(world, stranger, `?cursor=${newest?.id}`)).items, []);
  });

  test('what it cannot read is refused', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const query of [
      '?from=yesterday',
      '?limit=0',
      '?cursor=x',
      '?cursor=01990000-0000-7000-8000-000000000000.x',
      '?cursor=01990000-0000-7000-8000-000000000000~x',
      '?cursor=01990000-0000-7000-8000-000000000000~1~2',
      '?closed_by=luck',
      '?currency=usd',
      '?tz=UTC',
    ])
      assert.equal((await world.as(trader, 'GET', `/trading/trades${query}`)).status, 400, query);
    for (const query of ['?tz=Mars/Olympus', '?tz=%2B01:00', '?limit=5'])
      assert.equal((await world.as(trader, 'GET', `/trading/trades/summary${query}`)).status, 400, query);
  });
});

describe('GET /trading/trades/summary', () => {
  test('counts days and hours where the user is', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    await world.send(trader, { quantity: 1 });
    clock.advance(5 * HOUR);
    await world.send(trader, { action: 'close_long' });
    const now = new Date(clock.now());
    const zones = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];
    const days = await Promise.all(
      zones.map(async (zone) => (await summary(world, trader, `?tz=${zone}`)).days[0]?.day),
    );
    const there = (zone: string) => now.toLocaleDateString('sv-SE', { timeZone: zone });
    assert.deepEqual(days, zones.map(there));
    assert.ok(new Set(days).size > 1);
    assert.equal((await summary(world, trader)).tz, 'UTC');
  });

  test('has figures of few trades, and no ratios', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    assert.deepEqual(
      (({ currency, trades, equity }) => ({ currency, trades, equity }))(await summary(world, trader)),
      {
        currency: null,
        trades: 0,
        equity: [],
      },
    );
    await world.send(trader, { quantity: 1 });
    await world.send(trader, { action: 'close_long' });
    const {
      trades: count,
      profit,
      win_rate,
      profit_factor,
      expectancy,
      enough_trades,
    } = await summary(world, trader);
    assert.equal(count, 1);
    assert.notEqual(profit, 0);
    assert.deepEqual([win_rate, profit_factor, expectancy, enough_trades], [null, null, null, 20]);
  });

  test('never adds several currencies: the one with most trades comes first, the other when it is asked for', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const second = await world.addAccount(trader);
    for (const owner of [trader, trader, second]) {
      await world.send(owner, { quantity: 1 });
      await world.send(owner, { action: 'close_long' });
    }
    await world.db.commit([
      sql`update order_history set broker_name = ${'okx'} where trading_account_id = ${second.account.id}`,
    ]);
    const first = await summary(world, trader);
    assert.deepEqual(
      [first.currency, first.trades, first.currencies],
      [
        'USD',
        2,
        [
          { currency: 'USD', trades: 2 },
          { currency: 'USDT', trades: 1 },
        ],
      ],
    );
    const other = await summary(world, trader, '?currency=USDT');
    assert.deepEqual([other.currency, other.trades], ['USDT', 1]);
  });
});

describe('GET /trading/trades/{id}', () => {
  test('tells a trade fill by fill, what each earned and why', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    const orders = await tradedDay(world, trader, clock.advance);
    const [, , , first] = (await trades(world, trader)).items;
    const { fills, ...trade } = await read<Story>(world, trader, `/trading/trades/${first?.id}`);
    assert.deepEqual(trade, first);
    assert.deepEqual(
      fills.map(({ order_id, side, quantity, position, closed_by }) => [
        order_id,
        side,
        quantity,
        position,
        closed_by,
      ]),
      [
        [orders[0], 'buy', 2, 2, null],
        [orders[2], 'sell', 1, 1, 'signal'],
        [orders[3], 'sell', 1, 0, 'reversal'],
      ],
    );
    const earned = fills.reduce((sum, { profit }) => sum + Number(profit), 0);
    assert.ok(Math.abs(earned - trade.profit) < 1e-6);
    const open = await read<Story>(world, trader, `/trading/trades/${orders[4]}`);
    assert.deepEqual([open.closed_at, open.closed_by, open.fills.length], [null, null, 1]);
  });

  test('there is none of an order that opened nothing, of a stranger’s or of nothing', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, rich);
    const stranger = await world.makeTrader();
    const orders = await tradedDay(world, trader, clock.advance);
    for (const [who, id] of [
      [trader, orders[6]],
      [trader, `${orders[0]}.2`],
      [trader, 'x'],
      [trader, '01990000-0000-7000-8000-000000000000'],
      [stranger, orders[0]],
    ] as const)
      assert.equal((await world.as(who, 'GET', `/trading/trades/${id}`)).status, 404, `${id}`);
  });
});

test('an alert that arrived before its id was noted is known by its message', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  await world.send(trader, { quantity: 1, id: 'Breakout' });
  await world.send(trader, { action: 'close_long' });
  const [{ understood = '' } = {}] = await world.db.all<{ understood: string }>(
    sql`select understood from signals where understood is not null order by id`,
  );
  assert.equal(JSON.parse(understood).id, 'Breakout');
  await world.db.commit([sql`update signals set understood = ${'{"action": "buy"}'}`]);
  assert.deepEqual(
    (await trades(world, trader)).items.map(({ strategy }) => strategy),
    ['Breakout'],
  );
});
