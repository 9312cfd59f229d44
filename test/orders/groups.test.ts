// One signal for several accounts: each member is judged alone, all that are accepted are accepted together, and a repeat trades
// nowhere twice.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { changeAccount } from '../../src/data/accounts/accounts.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Problem, Trader } from '../world.ts';
import { codes, interrupted, openGroup, type Repeat } from './group-desk.ts';

describe('a signal to a group', () => {
  test('becomes an order of each member, in one answer, one arrival and one request', async (t) => {
    const { first, traders, group, world, send, signals } = await openGroup(t);
    const { status, body } = await send();
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.group_id, body.accepted, body.refused], [group.id, 3, 0]);
    assert.deepEqual(
      body.members.map(({ trading_account_id, order, error }) => [
        trading_account_id,
        order?.trading_account_id,
        order?.status,
        error,
      ]),
      traders.map(({ account }) => [account.id, account.id, 'filled', null]),
    );
    for (const { order } of body.members) {
      const record = await world.order(first, order?.order_id ?? '');
      assert.equal(record.group_id, group.id);
      const story = await world.as<{ signal_id: string }>(
        first,
        'GET',
        `/trading/orders/${order?.order_id}/story`,
      );
      assert.equal(story.body.signal_id, (await signals())[0]?.id);
    }
    const [arrival, ...others] = await signals();
    assert.equal(others.length, 0);
    assert.deepEqual([arrival?.group_id, arrival?.outcome, arrival?.symbol], [group.id, 'order', 'BTCUSDT']);
    assert.deepEqual(
      arrival?.orders.map(({ trading_account_id, order_id, code }) => [trading_account_id, order_id, code]),
      body.members.map(({ trading_account_id, order }) => [trading_account_id, order?.order_id, null]),
    );
    assert.equal((await signals(`?group_id=${group.id}`)).length, 1);
    assert.equal((await signals(`?group_id=${first.account.id}`)).length, 0);
    for (const { account } of traders)
      assert.equal((await signals(`?trading_account_id=${account.id}`)).length, 1, 'it is each member’s');
    const [counts] = await world.db.all<{ orders: number }>(
      sql`select orders from daily_order_counts where user_id = ${first.user.id}`,
    );
    assert.equal(Number(counts?.orders), 3, 'each order counts for the day');
    const entries = await world.audits(first);
    assert.deepEqual(
      entries.map(({ action }) => action).filter((action) => /order/.test(action)),
      ['webhook_order', 'webhook_order', 'webhook_order', 'group_order'],
    );
  });

  test('is judged by each member alone: one that is halted is refused, the others trade', async (t) => {
    const { traders, send, halt, signals, world, first } = await openGroup(t);
    await halt(traders[1] as Trader);
    const { status, body } = await send();
    assert.deepEqual([status, body.accepted, body.refused], [200, 2, 1]);
    assert.deepEqual(codes(body), ['filled', 'account_halted', 'filled']);
    assert.deepEqual([body.members[1]?.error?.status, body.members[1]?.order], [403, null]);
    assert.match(body.members[1]?.error?.type ?? '', /errors#account_halted$/);
    const [arrival] = await signals();
    assert.deepEqual(
      arrival?.orders.map(({ code }) => code),
      [null, 'account_halted', null],
    );
    const refusals = (await world.audits(first)).filter(({ success }) => !success);
    assert.deepEqual(
      refusals.map(({ action, resource_id }) => [action, resource_id]),
      [['webhook_order', traders[1]?.account.id]],
    );
    // An exit passes everywhere.
    assert.deepEqual(codes((await send({ action: 'sell', order_type: 'exit' })).body), [
      'filled',
      'rejected',
      'filled',
    ]);
  });

  test('that no member takes has the first one’s problem and status, with all of them', async (t) => {
    const { traders, send, halt, signals, world, first } = await openGroup(t, { accounts: 2 });
    for (const trader of traders) await halt(trader);
    const { status, body } = await send<Repeat>();
    assert.deepEqual([status, body.code, body.status], [403, 'account_halted', 403]);
    assert.deepEqual(codes(body), ['account_halted', 'account_halted']);
    assert.deepEqual(await world.orders(first), []);
    const [arrival] = await signals();
    assert.deepEqual([arrival?.outcome, arrival?.code], ['refused', 'account_halted']);
    assert.deepEqual(
      arrival?.orders.map(({ code }) => code),
      ['account_halted', 'account_halted'],
    );
  });

  test('skips a member that is disabled, exits too, and one that was deleted', async (t) => {
    const { traders, send, world, first } = await openGroup(t, {
      members: (index) => ({ enabled: index !== 1 }),
    });
    assert.deepEqual(codes((await send()).body), ['filled', 'filled']);
    const gone = traders[2] as Trader;
    await world.as(first, 'DELETE', `/trading/accounts/${gone.account.id}?keep_positions=true`);
    const { body } = await send({ action: 'sell', order_type: 'exit' });
    assert.deepEqual(
      body.members.map(({ trading_account_id }) => trading_account_id),
      [traders[0]?.account.id],
    );
  });

  test('to a disabled group: entries are refused, exits pass; and where nobody is enabled, both are', async (t) => {
    const { group, send, signals, world, first } = await openGroup(t, { accounts: 2 });
    await send();
    const url = `/trading/groups/${group.id}`;
    await world.as(first, 'PATCH', url, { enabled: false });
    const entry = await send<Repeat>();
    assert.deepEqual([entry.status, entry.body.code], [403, 'group_disabled']);
    assert.deepEqual(codes(entry.body), ['group_disabled', 'group_disabled']);
    const story = await world.as<{ checks: readonly { check: string; outcome: string }[] }>(
      first,
      'GET',
      `/trading/signals/${(await signals())[0]?.id}`,
    );
    assert.equal(story.body.checks.find(({ outcome }) => outcome === 'refused')?.check, 'halt');
    assert.deepEqual(codes((await send({ action: 'close', quantity: undefined })).body), [
      'filled',
      'filled',
    ]);
    const members = group.members.map(({ trading_account_id }) => ({ trading_account_id, enabled: false }));
    await world.as(first, 'PATCH', url, { enabled: true, members });
    const nobody = await send<Problem>({ action: 'close', quantity: undefined });
    assert.deepEqual([nobody.status, nobody.body.code], [403, 'group_disabled']);
  });

  test('trades each member’s own symbol and its own size', async (t) => {
    const { send, traders, world } = await openGroup(t, {
      accounts: 3,
      members: (index) =>
        [
          {},
          { symbols: { 'BTCUSDT.P': 'ETHUSDT' }, factor: 0.5 },
          { symbols: { BTCUSDT: 'SOLUSDT' }, factor: 2 },
        ][index] ?? {},
    });
    const { body } = await send({ symbol: 'BTCUSDT.P', quantity: 3 });
    assert.deepEqual(
      body.members.map(({ order }) => order?.symbol),
      ['BTCUSDT.P', 'ETHUSDT', 'SOLUSDT'],
    );
    assert.deepEqual(
      body.members.map(({ order }) => order?.fill_quantity),
      [3, 1.5, 6],
      JSON.stringify(body.members),
    );
    assert.equal(await world.position(traders[1]?.account.id ?? '', 'ETHUSDT'), '1.5');
  });

  test('is held to each member’s list of symbols, its credentials and its broker’s stops', async (t) => {
    const { send, world, first, traders, group } = await openGroup(t, { accounts: 2 });
    const listed = await world.addAccount(first, { allowedSymbols: ['ETHUSDT'] });
    const unverified = await world.addAccount(first, { credentialsVerified: false });
    const shioaji = await world.addAccount(first, { brokerName: 'shioaji' });
    const members = [...traders, listed, unverified, shioaji].map(({ account }) => ({
      trading_account_id: account.id,
    }));
    await world.as(first, 'PATCH', `/trading/groups/${group.id}`, { members });
    const { status, body } = await send({ stop_loss: '2%' });
    assert.equal(status, 200);
    assert.deepEqual(codes(body), [
      'filled',
      'filled',
      'webhook_payload_invalid',
      'credentials_not_verified',
      'protection_unsupported',
    ]);
    assert.ok(body.members[0]?.order && 'protection' in body.members[0].order, 'and is protected');
  });

  test('takes what is left of the day, member by member', async (t) => {
    const plan = { simulation_only: false, daily_orders: 4 };
    const { send, world, first } = await openGroup(t, {
      env: { PLANS: JSON.stringify({ free: plan, desk: plan }) },
    });
    assert.equal((await send()).body.accepted, 3);
    const { body } = await send();
    assert.deepEqual(codes(body), ['filled', 'daily_limit_reached', 'daily_limit_reached']);
    assert.equal((await world.orders(first)).length, 4);
  });

  test('that nobody understands, is too old or has a wrong secret is refused once, for all', async (t) => {
    const { send, post, signal, world, first, traders } = await openGroup(t, { accounts: 2 });
    const cases = [
      [{ quantity: 0 }, 400, 'webhook_payload_invalid'],
      [{ timestamp: '2020-01-01T00:00:00Z' }, 401, 'webhook_timestamp_expired'],
      [{ secret: 'wrong' }, 401, 'webhook_credential_attack'],
      [{ secret: traders[0]?.secret }, 401, 'webhook_credential_attack'],
    ] as const;
    for (const [more, status, code] of cases) {
      const answer = await send<Problem>(more);
      assert.deepEqual([answer.status, answer.body.code], [status, code]);
    }
    assert.deepEqual(await world.orders(first), []);
    const url = `/webhook/group-${'x'.repeat(43)}/order`;
    assert.equal((await world.request({ method: 'POST', url, body: signal() })).status, 404);
    assert.equal((await post(signal())).status, 200);
  });

  test('in simulation trades on the members’ simulated books', async (t) => {
    const { post, traders, world } = await openGroup(t, { accounts: 2 });
    const { status, body } = await post(
      { action: 'buy', symbol: 'BTCUSDT', quantity: 1 },
      '?simulation=true',
    );
    assert.deepEqual([status, body.accepted], [200, 2]);
    for (const { account } of traders)
      assert.equal(await world.position(`sim:${account.id}`, 'BTCUSDT'), '1');
  });

  test('that is a report is answered by each member, and those that follow are moved', async (t) => {
    const { send, world, first, traders, group } = await openGroup(t, { accounts: 2 });
    const follower = await world.addAccount(first, { outOfSync: 'follow' });
    const members = [...traders, follower].map(({ account }) => ({ trading_account_id: account.id }));
    await world.as(first, 'PATCH', `/trading/groups/${group.id}`, { members });
    const { status, body } = await send({
      action: 'sync',
      quantity: undefined,
      market_position: 'long',
      market_position_size: 2,
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.members.map(({ in_sync, strategy_position, broker_position, order, error }) => [
        in_sync,
        strategy_position,
        broker_position,
        order?.status ?? null,
        error,
      ]),
      [
        [false, 2, 0, null, null],
        [false, 2, 0, null, null],
        [false, 2, 0, 'filled', null],
      ],
    );
    assert.equal(await world.position(follower.account.id, 'BTCUSDT'), '2');
  });
});

describe('a repeat of a group’s signal', () => {
  test('is refused with the orders that it became, also when the store has forgotten it', async (t) => {
    const store = openMemoryStore({ clock: { now: () => performance.timeOrigin + performance.now() } });
    const forgetful = { ...store, begin: async () => 'begun' as const };
    const { post, signal, halt, traders, world, first } = await openGroup(t, {
      accounts: 2,
      store: forgetful,
    });
    await halt(traders[1] as Trader);
    const body = signal();
    const accepted = await post(body);
    const [order] = accepted.body.members;
    await world.as(first, 'POST', `/trading/accounts/${traders[1]?.account.id}/resume`);
    // Both would take it now, and the first has it: neither does.
    for (const halted of [null, traders[0]]) {
      if (halted) await halt(halted);
      const again = await post<Repeat>(body);
      assert.deepEqual([again.status, again.body.code], [409, 'webhook_replay_attack']);
      assert.deepEqual(
        again.body.orders.map(({ trading_account_id, order_id, code }) => [
          trading_account_id,
          order_id,
          code,
        ]),
        [
          [traders[0]?.account.id, order?.order?.order_id, null],
          [traders[1]?.account.id, null, 'account_halted'],
        ],
      );
      assert.equal(again.body.members[0]?.order?.status, 'filled');
    }
    assert.equal((await world.orders(first)).length, 1);
  });

  test('while members are under way is refused at once, with the orders under way; a slow member holds up nobody', async (t) => {
    const { post, signal, traders, world } = await openGroup(t, {
      accounts: 2,
      env: { RESPONSE_WAIT_SECONDS: '4' },
    });
    await world.setPaper(traders[1] as Trader, { latency_ms: 9_000 });
    const body = signal();
    const first = post(body);
    await world.eventually(
      () => world.paperOrders(traders[0]?.account.id ?? ''),
      (orders) => orders.length === 1,
    );
    const again = await post<Repeat>(body);
    assert.deepEqual([again.status, again.body.orders.length], [409, 2]);
    const answer = await first;
    assert.equal(answer.status, 202);
    assert.match(String(answer.headers.location), /^\/trading\/orders\//);
    assert.equal(answer.body.members[0]?.order?.status, 'filled');
    assert.match(answer.body.members[1]?.order?.status ?? '', /queued|executing/);
  });

  test('in whatever order and however often, is at most one order per member, and all of them or none', async (t) => {
    const { post, signal, traders, world, halt, first } = await openGroup(t, {
      accounts: 3,
      env: { RATE_LIMIT_REQUESTS: '10000' },
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 2, maxLength: 8 }),
        fc.subarray([0, 1, 2]),
        async (repeats, halted) => {
          const before = (await world.orders(first)).length;
          const bodies = [signal(), signal(), signal()];
          const half = Math.ceil(repeats.length / 2);
          await Promise.all(repeats.slice(0, half).map((index) => post(bodies[index] ?? {})));
          for (const index of halted) await halt(traders[index] as Trader);
          await Promise.all(repeats.slice(half).map((index) => post(bodies[index] ?? {})));
          for (const index of halted)
            await world.as(first, 'POST', `/trading/accounts/${traders[index]?.account.id}/resume`);
          await Promise.all(repeats.map((index) => post(bodies[index] ?? {})));
          const early = new Set(repeats.slice(0, half));
          const late = new Set(repeats.slice(half).filter((index) => !early.has(index)));
          const wanted = early.size * 3 + late.size * (3 - halted.length);
          assert.equal((await world.orders(first)).length - before, wanted);
        },
      ),
      { numRuns: 12 },
    );
    const twice = await world.db.all(
      sql`select trading_account_id, fingerprint from order_history group by trading_account_id, fingerprint having count(*) > 1`,
    );
    assert.deepEqual(twice, []);
  });
});

describe('the commit of a group', () => {
  test('judges all again where a member, or the group, was changed meanwhile', async (t) => {
    const { happening, db } = interrupted();
    const { send, world, first, traders, group } = await openGroup(t, { accounts: 2, db });
    const [, second] = traders;
    happening.meanwhile = () =>
      world.db.commit([
        changeAccount(second?.account.id as never, { haltedAt: timestamp(world.clock.now()) }),
      ]);
    assert.deepEqual(codes((await send()).body), ['filled', 'account_halted']);
    happening.meanwhile = () =>
      world.as(first, 'PATCH', `/trading/groups/${group.id}`, {
        members: group.members.map(({ trading_account_id }, index) => ({
          trading_account_id,
          enabled: index === 1,
        })),
      });
    const exits = await send({ action: 'sell', order_type: 'exit' });
    assert.deepEqual(
      exits.body.members.map(({ trading_account_id }) => trading_account_id),
      [second?.account.id],
    );
    happening.meanwhile = () => world.as(first, 'DELETE', `/trading/groups/${group.id}`);
    assert.equal((await send<Problem>({ action: 'sell', order_type: 'exit' })).status, 404);
    assert.equal((await world.orders(first)).length, 2);
  });

  test('is one unit: what cannot be written of one member is written of none', async (t) => {
    const failing = (whole: Db): Db => ({
      ...whole,
      commit: (unit) =>
        unit.some(({ parts }) => parts.join('?').includes('into signal_members'))
          ? whole.commit([...unit, sql`insert into no_such_table values (1)`])
          : whole.commit(unit),
    });
    const { send, world, first } = await openGroup(t, { accounts: 3, db: failing });
    assert.equal((await send<Problem>()).status, 500);
    assert.deepEqual(await world.orders(first), []);
    assert.equal((await world.audits(first)).filter(({ action }) => action === 'webhook_order').length, 0);
  });
});

describe('a message to a group', () => {
  test('is checked before it is sent: once at the door, and at each member with its plan', async (t) => {
    const { world, first, group, traders, signal, halt } = await openGroup(t, {
      members: (index) => (index === 2 ? { symbols: { BTCUSDT: 'ETHUSDT' } } : {}),
    });
    await halt(traders[1] as Trader);
    interface Checked {
      readonly checks: readonly { check: string; outcome: string }[];
      readonly members: readonly {
        trading_account_id: string;
        plan: { text: string } | null;
        error: { code: string } | null;
      }[];
    }
    const check = async (message: object) =>
      (
        await world.as<Checked>(first, 'POST', `/trading/groups/${group.id}/check`, {
          message: JSON.stringify(message),
        })
      ).body;
    const good = await check(signal());
    assert.deepEqual(
      good.checks.filter(({ outcome }) => outcome !== 'passed'),
      [],
    );
    assert.deepEqual(
      good.members.map(({ error }) => error?.code ?? null),
      [null, 'account_halted', null],
    );
    assert.match(good.members[2]?.plan?.text ?? '', /ETHUSDT/);
    const wrong = await check({ ...signal(), secret: 'no' });
    assert.deepEqual(
      wrong.checks.filter(({ outcome }) => outcome === 'refused').map(({ check: name }) => name),
      ['secret'],
    );
    assert.deepEqual(await world.orders(first), []);
  });

  test('to a disabled group shows that no member would take an entry, and what an exit would do', async (t) => {
    const { world, first, group, send, signal } = await openGroup(t, { accounts: 2 });
    await send();
    await world.as(first, 'PATCH', `/trading/groups/${group.id}`, { enabled: false });
    interface Checked {
      readonly members: readonly {
        checks: readonly { check: string; outcome: string }[];
        plan: { text: string } | null;
        error: { code: string } | null;
      }[];
    }
    const check = async (more: object) =>
      (
        await world.as<Checked>(first, 'POST', `/trading/groups/${group.id}/check`, {
          message: JSON.stringify(signal(more)),
        })
      ).body.members.map(({ checks, error }) => [
        error?.code ?? null,
        checks.find(({ check: name }) => name === 'halt')?.outcome,
      ]);
    assert.deepEqual(await check({}), [
      ['group_disabled', 'refused'],
      ['group_disabled', 'refused'],
    ]);
    assert.deepEqual(await check({ action: 'sell', order_type: 'exit' }), [
      [null, 'passed'],
      [null, 'passed'],
    ]);
  });

  test('is planned as an order of each member, with its factor and its own symbol, and nothing is sent', async (t) => {
    const { world, first, group, traders, halt } = await openGroup(t, {
      members: (index) => (index === 2 ? { factor: 0.5, symbols: { BTCUSDT: 'ETHUSDT' } } : {}),
    });
    await halt(traders[1] as Trader);
    interface Planned {
      readonly code?: string;
      readonly legs: readonly { quantity: number }[];
      readonly members:
        | readonly {
            trading_account_id: string;
            plan: { text: string; legs: readonly { quantity: number }[] } | null;
            error: { code: string } | null;
          }[]
        | null;
    }
    const order = { action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    const plan = (more: object) =>
      world.as<Planned>(first, 'POST', '/trading/order/plan', { ...order, ...more });
    const { status, body } = await plan({ group_id: group.id });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.members?.map((each) => [each.trading_account_id, each.plan?.legs[0]?.quantity, each.error?.code]),
      [
        [traders[0]?.account.id, 1, undefined],
        [traders[1]?.account.id, undefined, 'account_halted'],
        [traders[2]?.account.id, 0.5, undefined],
      ],
    );
    assert.match(body.members?.[2]?.plan?.text ?? '', /ETHUSDT/);
    assert.equal(body.legs[0]?.quantity, 1);
    assert.equal((await plan({ trading_account_id: first.account.id })).body.members, null);
    for (const named of [{}, { group_id: group.id, trading_account_id: first.account.id }]) {
      const refused = await plan(named);
      assert.deepEqual([refused.status, refused.body.code], [400, 'request_invalid']);
    }
    const unknown = await plan({ group_id: first.account.id });
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'group_not_found']);
    await world.as(first, 'PATCH', `/trading/groups/${group.id}`, { enabled: false });
    const off = (await plan({ group_id: group.id })).body;
    assert.deepEqual(
      off.members?.map(({ error }) => error?.code),
      ['group_disabled', 'group_disabled', 'group_disabled'],
    );
    assert.deepEqual(await world.orders(first), []);
  });
});
