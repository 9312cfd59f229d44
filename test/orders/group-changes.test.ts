// What is changed while a group's signal is decided: all is judged and heard again, on what is so then.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { GroupWithSecret } from '../../src/app/accounts/groups.ts';
import { changeAccount } from '../../src/data/accounts/accounts.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Trader } from '../world.ts';
import { codes, interrupted, openGroup, type Repeat } from './group-desk.ts';

const long = (size: number) => ({ market_position: 'long', market_position_size: size });

describe('what a strategy says to a group', () => {
  test('is heard with the factor of the moment in which it is committed', async (t) => {
    const { happening, db } = interrupted();
    const { send, world, traders } = await openGroup(t, { accounts: 2, db });
    const second = traders[1] as Trader;
    happening.meanwhile = () =>
      world.db.commit([changeAccount(second.account.id as never, { quantityMultiplier: decimal('0.5') })]);
    assert.deepEqual(codes((await send({ ...long(1) })).body), ['filled', 'filled']);
    assert.equal(await world.position(second.account.id, 'BTCUSDT'), '0.5');
    const [heard] = await world.db.all<{ factor: string | null }>(
      sql`select factor from strategy_positions where trading_account_id = ${second.account.id}`,
    );
    assert.equal(heard?.factor, '0.5');
    const { body } = await send({ action: 'sync', quantity: undefined, ...long(1) });
    assert.deepEqual(
      body.members.map(({ in_sync }) => in_sync),
      [true, true],
      'nobody drifts',
    );
  });

  test('is heard by a member that came meanwhile, and under the symbol that it has by then', async (t) => {
    const { happening, db } = interrupted();
    const { send, world, first, traders, group } = await openGroup(t, { accounts: 3, db });
    const [one, two, three] = traders.map(({ account }) => account.id);
    const url = `/trading/groups/${group.id}`;
    const members = [{ trading_account_id: one }, { trading_account_id: two }];
    await world.as(first, 'PATCH', url, { members });
    happening.meanwhile = () =>
      world.as(first, 'PATCH', url, {
        members: [
          { trading_account_id: one },
          { trading_account_id: two, symbols: { BTCUSDT: 'ETHUSDT' } },
          { trading_account_id: three },
        ],
      });
    assert.deepEqual(codes((await send({ ...long(1) })).body), ['filled', 'filled', 'filled']);
    const stances = await world.db.all<{ trading_account_id: string; symbol: string; side: string }>(
      sql`select trading_account_id, symbol, side from strategy_positions where side is not null`,
    );
    assert.deepEqual(
      new Map(stances.map((each) => [each.trading_account_id, `${each.side} ${each.symbol}`])),
      new Map([
        [one, 'long BTCUSDT'],
        [two, 'long ETHUSDT'],
        [three, 'long BTCUSDT'],
      ]),
    );
  });
});

describe('an account’s own signal', () => {
  test('is heard with the factor of the moment in which it is committed', async (t) => {
    const { happening, db } = interrupted();
    const { world, first } = await openGroup(t, { accounts: 2, db });
    happening.meanwhile = () =>
      world.db.commit([changeAccount(first.account.id as never, { quantityMultiplier: decimal('0.5') })]);
    await world.send(first, { action: 'buy', quantity: 1, ...long(1) });
    assert.equal(await world.position(first.account.id, 'BTCUSDT'), '0.5');
    const [heard] = await world.db.all<{ factor: string | null }>(sql`select factor from strategy_positions`);
    assert.equal(heard?.factor, '0.5');
  });
});

describe('a report to a group', () => {
  const openFollowers = async (t: TestContext) => {
    const { happening, db } = interrupted();
    const desk = await openGroup(t, { accounts: 2, db });
    const { world, first, traders, group } = desk;
    const followers = [
      await world.addAccount(first, { outOfSync: 'follow' }),
      await world.addAccount(first, { outOfSync: 'follow' }),
    ];
    const accounts = [...traders, ...followers].map(({ account }) => account.id);
    const members = accounts.map((id) => ({ trading_account_id: id }));
    const url = `/trading/groups/${group.id}`;
    await world.as(first, 'PATCH', url, { members });
    const report = () => desk.send({ action: 'sync', quantity: undefined, ...long(2) });
    return { ...desk, happening, followers, accounts, members, url, report };
  };

  test('that moves somebody is kept of all members, moved or not', async (t) => {
    const { report, signals, world, first, accounts, traders, halt } = await openFollowers(t);
    await halt(traders[1] as Trader);
    const { body } = await report();
    assert.deepEqual(
      body.members.map(({ order }) => order?.status ?? null),
      [null, null, 'filled', 'filled'],
    );
    const [arrival, ...others] = await signals();
    assert.deepEqual([others.length, arrival?.outcome], [0, 'sync']);
    assert.deepEqual(
      arrival?.orders.map((each) => [each.trading_account_id, each.order_id]),
      body.members.map(({ order }, index) => [accounts[index], order?.order_id ?? null]),
    );
    for (const id of accounts) assert.equal((await signals(`?trading_account_id=${id}`)).length, 1);
    const entries = (await world.audits(first)).filter(({ action }) => action === 'webhook_order');
    assert.equal(entries.length, 4, 'each has its entry');
  });

  test('moves those that follow while one of them was overtaken', async (t) => {
    const { report, happening, followers, world } = await openFollowers(t);
    const [overtaken, moved] = followers.map(({ account }) => account.id);
    happening.meanwhile = () =>
      world.db.commit([
        sql`update strategy_positions set version = version + 1 where trading_account_id = ${overtaken ?? null}`,
      ]);
    const { body } = await report();
    assert.deepEqual(
      body.members.map(({ order }) => order?.status ?? null),
      [null, null, null, 'filled'],
    );
    assert.equal(await world.position(moved ?? '', 'BTCUSDT'), '2');
    assert.notEqual(await world.position(overtaken ?? '', 'BTCUSDT'), '2');
  });

  test('moves nobody by a factor that is no longer so, and the others all the same', async (t) => {
    const { report, happening, followers, world, first, members, url } = await openFollowers(t);
    const [changed, moved] = followers.map(({ account }) => account.id);
    happening.meanwhile = () =>
      world.as(first, 'PATCH', url, {
        members: members.map((each) =>
          each.trading_account_id === changed ? { ...each, factor: 0.5 } : each,
        ),
      });
    const { body } = await report();
    assert.deepEqual(
      body.members.map(({ order }) => order?.status ?? null),
      [null, null, null, 'filled'],
    );
    assert.equal(await world.position(moved ?? '', 'BTCUSDT'), '2');
  });

  for (const [when, isMeanwhile] of [
    ['is disabled', false],
    ['is disabled meanwhile', true],
  ] as const)
    test(`that ${when} closes what contradicts the strategy, and opens nothing`, async (t) => {
      const { report, happening, followers, world, first, url } = await openFollowers(t);
      const [short, flat] = followers as [Trader, Trader];
      await world.send(short, { action: 'sell', quantity: 5 });
      const disable = () => world.as(first, 'PATCH', url, { enabled: false });
      if (isMeanwhile) happening.meanwhile = disable;
      else await disable();
      const { body } = await report();
      assert.deepEqual(
        body.members.map(({ in_sync, order }) => [in_sync, order?.status ?? null, order?.operation ?? null]),
        [
          [false, null, null],
          [false, null, null],
          [false, 'filled', 'PLACE_EXIT_ORDER'],
          [false, null, null],
        ],
      );
      for (const { account } of [short, flat])
        assert.match((await world.position(account.id, 'BTCUSDT')) ?? '0', /^0$/);
    });
});

describe('a member of a group', () => {
  test('that is deleted, or loses its credentials, right before the commit is left out or refused; the others trade', async (t) => {
    const { happening, db } = interrupted();
    const { send, world, first, traders } = await openGroup(t, { db });
    const [, second, third] = traders as [Trader, Trader, Trader];
    happening.meanwhile = () =>
      world.as(first, 'DELETE', `/trading/accounts/${third.account.id}?keep_positions=true`);
    const { body } = await send();
    assert.deepEqual(
      body.members.map(({ trading_account_id, order }) => [trading_account_id, order?.status]),
      [
        [first.account.id, 'filled'],
        [second.account.id, 'filled'],
      ],
    );
    happening.meanwhile = () =>
      world.db.commit([
        changeAccount(second.account.id as never, {
          credentials: { verified: false, at: timestamp(world.clock.now()), warnings: [] },
        }),
      ]);
    assert.deepEqual(codes((await send()).body), ['filled', 'credentials_not_verified']);
    assert.equal((await world.orders(first)).length, 3);
  });

  test('of two groups, and with a webhook of its own, trades each door’s signal once, and nobody else misses his', async (t) => {
    const { world, first, traders, post, signal } = await openGroup(t);
    const [, , third] = traders as [Trader, Trader, Trader];
    const other = await world.as<GroupWithSecret>(first, 'POST', '/trading/groups', {
      name: 'Other',
      members: [first, third].map(({ account }) => ({ trading_account_id: account.id })),
    });
    // The same moment, symbol and size at three doors: each has its own secret, and is another signal.
    const body = signal();
    const doors = [
      () => post<Repeat>(body),
      () =>
        world.request<Repeat>({
          ...{ method: 'POST', url: `/webhook/${other.body.webhook_token}/order` },
          body: { ...body, secret: other.body.webhook_secret },
        }),
      () => world.webhook<Repeat>(first, JSON.stringify({ ...body, secret: first.secret })),
    ];
    for (const status of [200, 409])
      assert.deepEqual(
        (await Promise.all(doors.map((door) => door()))).map((answer) => answer.status),
        [status, status, status],
      );
    const counts = await Promise.all(
      traders.map(async ({ account }) => (await world.paperOrders(account.id)).length),
    );
    assert.deepEqual(counts, [3, 1, 2]);
  });
});
