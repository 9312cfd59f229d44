// A group of a user's accounts, for tests; and something that happens right before its orders are committed.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { GroupWithSecret } from '../../src/app/accounts/groups.ts';
import type { Db, Statement } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { openWorld, type Problem, type Trader } from '../world.ts';

export interface MemberAnswer {
  readonly trading_account_id: string;
  readonly order: OrderResult | null;
  readonly error: (Problem & { readonly status: number }) | null;
  readonly in_sync?: boolean;
  readonly broker_position?: number;
  readonly strategy_position?: number | null;
}
export interface GroupAnswer {
  readonly group_id: string;
  readonly members: readonly MemberAnswer[];
  readonly accepted: number;
  readonly refused: number;
}
export interface Repeat extends Problem {
  readonly group_id: string;
  readonly members: readonly MemberAnswer[];
  readonly orders: readonly { trading_account_id: string; order_id: string | null; code: string | null }[];
}
interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly group_id: string | null;
    readonly outcome: string;
    readonly code: string | null;
    readonly symbol: string | null;
    readonly orders: readonly { trading_account_id: string; order_id: string | null; code: string | null }[];
  }[];
}

let sent = 0;

/** A user with accounts of their own, and a group of them. */
export async function openGroup(
  t: TestContext,
  {
    accounts = 3,
    members = () => ({}),
    group: fields = {},
    ...parts
  }: Parameters<typeof openWorld>[1] & {
    accounts?: number;
    members?: (index: number) => object;
    group?: object;
  } = {},
) {
  const world = await openWorld(t, parts);
  const first = await world.makeTrader();
  const traders: Trader[] = [first];
  while (traders.length < accounts)
    traders.push(await world.addAccount(first, { name: `No ${traders.length}` }));
  const made = await world.as<GroupWithSecret>(first, 'POST', '/trading/groups', {
    name: 'All',
    members: traders.map(({ account }, index) => ({ trading_account_id: account.id, ...members(index) })),
    ...fields,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const group = made.body;
  const signal = (more: object = {}) => ({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 1,
    timestamp: timestamp(world.clock.now()).replace('Z', `${String(++sent).padStart(6, '0')}Z`),
    secret: group.webhook_secret,
    ...more,
  });
  const post = <Body = GroupAnswer>(body: object, query = '') =>
    world.request<Body>({ method: 'POST', url: `/webhook/${group.webhook_token}/order${query}`, body });
  return {
    world,
    first,
    traders,
    group,
    signal,
    post,
    send: <Body = GroupAnswer>(more: object = {}, query = '') => post<Body>(signal(more), query),
    signals: async (query = '') =>
      (await world.as<Listed>(first, 'GET', `/trading/signals${query}`)).body.items,
    halt: (trader: Trader) => world.as(first, 'POST', `/trading/accounts/${trader.account.id}/halt`, {}),
  };
}

export const codes = ({ members }: { readonly members: readonly MemberAnswer[] }) =>
  members.map(({ order, error }) => order?.status ?? error?.code);

/** Something happens right before the orders are committed. */
export function interrupted() {
  const happening: { meanwhile: (() => Promise<unknown>) | null } = { meanwhile: null };
  const textOf = ({ parts }: Statement) => parts.join('?');
  const db = (whole: Db): Db => ({
    ...whole,
    async commit(unit) {
      const happens = happening.meanwhile;
      if (happens && unit.some((each) => textOf(each).includes('into order_history'))) {
        happening.meanwhile = null;
        await happens();
      }
      return whole.commit(unit);
    },
  });
  return { happening, db };
}
