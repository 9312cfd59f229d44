// What lists and Today know of a group's signal: each member's own outcome, and not the first one's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Trader } from '../world.ts';
import { openGroup } from './group-desk.ts';

interface Today {
  readonly signals_today: { readonly total: number; readonly refused: number; readonly reported: number };
  readonly accounts: readonly {
    readonly id: string;
    readonly signals_today: readonly { readonly refused: boolean }[];
  }[];
  readonly todo: readonly {
    readonly kind: string;
    readonly trading_account_id?: string;
    readonly title: string;
  }[];
}

test('a group’s signal is found by what became of it at any member, and counted at each', async (t) => {
  const { world, first, traders, group, send, halt, signals } = await openGroup(t);
  const [one, two, three] = traders.map(({ account }) => account.id);
  const live = await world.addAccount(first, {
    ...{ brokerName: 'binance', environment: 'live', credentialsVerified: false },
  });
  const members = [one, two, three, live.account.id].map((id) => ({ trading_account_id: id }));
  await world.as(first, 'PATCH', `/trading/groups/${group.id}`, { members });
  await halt(traders[1] as Trader);
  await world.send(first, { action: 'buy' });
  const { body } = await send();
  assert.deepEqual([body.accepted, body.refused], [2, 2]);

  const found = async (query: string) => (await signals(`?${query}`)).map(({ group_id }) => group_id);
  for (const [query, wanted] of [
    ['outcome=refused', [group.id]],
    ['outcome=order', [group.id, null]],
    ['outcome=executed', [group.id, null]],
    ['outcome=sync', []],
    ['order_status=filled', [group.id, null]],
    ['code=account_halted', [group.id]],
    ['code=credentials_not_verified', [group.id]],
    ['code=terms_not_accepted', []],
    ['real_money=true', [group.id]],
    ['real_money=false', [null]],
    [`outcome=refused&trading_account_id=${one}`, []],
    [`outcome=refused&trading_account_id=${two}`, [group.id]],
    [`code=account_halted&trading_account_id=${three}`, []],
    [`outcome=executed&trading_account_id=${three}`, [group.id]],
    [`outcome=refused&group_id=${group.id}`, [group.id]],
    [`outcome=refused&symbol=BTCUSDT`, [group.id]],
    [`outcome=refused&symbol=ETHUSDT`, []],
  ] as const)
    assert.deepEqual(await found(query), wanted, query);
  assert.deepEqual(
    (await world.as<{ items: { real_money: boolean }[] }>(first, 'GET', '/trading/signals')).body.items.map(
      ({ real_money }) => real_money,
    ),
    [true, false],
  );

  const { body: today } = await world.as<Today>(first, 'GET', '/trading/overview');
  assert.deepEqual([today.signals_today.total, today.signals_today.refused], [5, 2]);
  assert.deepEqual(
    new Map(today.accounts.map(({ id, signals_today }) => [id, signals_today.map(({ refused }) => refused)])),
    new Map([
      [one, [false, false]],
      [two, [true]],
      [three, [false]],
      [live.account.id, [true]],
    ]),
  );
});

test('pages of refused signals go on behind a group’s and an account’s own, each once', async (t) => {
  const { world, first, traders, send, halt, signals } = await openGroup(t);
  await halt(traders[1] as Trader);
  for (let round = 0; round < 3; round++) {
    await send();
    await world.send(first, { action: 'buy', secret: 'wrong' });
  }
  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = (
      await world.as<{ items: { id: string }[]; next_cursor: string | null }>(
        first,
        'GET',
        `/trading/signals?outcome=refused&limit=2${query}`,
      )
    ).body;
    pages.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  assert.deepEqual(
    pages,
    (await signals('?outcome=refused')).map(({ id }) => id),
  );
  assert.equal(new Set(pages).size, 6);
});

test('an account that hears from its group is not silent, whichever member it is; a replay is no sign of life', async (t) => {
  const { world, first, traders, post, signal } = await openGroup(t, { accounts: 2 });
  const id = traders[1]?.account.id ?? '';
  const body = signal();
  await post(body);
  const told = timestamp(world.clock.now() + 1);
  await world.db.commit([
    sql`update trading_accounts set silence_after = 60, silence_told_at = ${told} where id = ${id}`,
  ]);
  const silent = async () => {
    const { body: today } = await world.as<Today>(first, 'GET', '/trading/overview');
    return today.todo.filter(({ kind }) => kind === 'silence').length;
  };
  await world.eventually(
    async () => world.clock.now(),
    (now) => timestamp(now) > told,
  );
  assert.equal((await post(body)).status, 409);
  assert.equal(await silent(), 1);
  assert.equal((await post(signal())).status, 200);
  assert.equal(await silent(), 0);
});
