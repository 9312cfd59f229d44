// The additional checks before execution, one by one. In which order they stand: webhook-sequence.test.ts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { sql } from '../../src/data/engine/db.ts';
import { changeUser, insertTerms, type User, type UserChange } from '../../src/data/identity/users.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Answer, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const SIMULATED = { query: '?simulation=true' };

/** `200`, or the status and code of a refusal. */
const outcome = ({ status, body }: Answer<unknown>): string =>
  status === 200 ? '200' : `${status} ${(body as Problem).code}`;

describe('the rate limit: 60 requests of a user in any 60 s', () => {
  /** A malformed signal is counted like any other, and costs little. */
  const knock = (world: World, trader: Trader) => world.webhook<Problem>(trader, '{}');
  const PASSED = '400 webhook_payload_invalid';
  const LIMITED = '429 rate_limited';

  async function knocks(world: World, trader: Trader, count: number): Promise<string[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => knock(world, trader)));
    return answers.map(outcome);
  }
  const times = (count: number, what: string) => Array.from({ length: count }, () => what);

  test('the 61st waits until the first has left the window, to the millisecond', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    assert.deepEqual(await knocks(world, trader, 60), times(60, PASSED));
    const rows: [afterMs: number, expected: string, retryAfter?: string][] = [
      [0, LIMITED, '60'],
      [30_000, LIMITED, '30'],
      [29_001, LIMITED, '1'],
      [998, LIMITED, '1'],
      [1, PASSED],
    ];
    for (const [afterMs, expected, retryAfter] of rows) {
      clock.advance(afterMs);
      const answer = await knock(world, trader);
      assert.deepEqual([outcome(answer), answer.headers['retry-after']], [expected, retryAfter]);
    }
    assert.deepEqual(await knocks(world, trader, 60), [...times(59, PASSED), LIMITED]);
  });

  test('the window slides: what came late in it leaves late, and a refused request is not counted', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    assert.deepEqual(await knocks(world, trader, 20), times(20, PASSED));
    clock.advance(45_000);
    assert.deepEqual(await knocks(world, trader, 50), [...times(40, PASSED), ...times(10, LIMITED)]);
    clock.advance(15_000);
    assert.deepEqual(await knocks(world, trader, 30), [...times(20, PASSED), ...times(10, LIMITED)]);
    clock.advance(45_000);
    assert.deepEqual(await knocks(world, trader, 50), [...times(40, PASSED), ...times(10, LIMITED)]);
  });

  test('it counts a user’s accounts, simulations and dashboard orders together, and no other user’s', async (t) => {
    const world = await openWorld(t, { clock: settableClock(), env: { RATE_LIMIT_REQUESTS: '3' } });
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const second = await world.addAccount(trader);
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    assert.equal(outcome(await world.send(trader, {}, SIMULATED)), '200');
    assert.equal(outcome(await world.send(second)), '200');
    assert.equal(outcome(await world.as(trader, 'POST', '/trading/order', order)), '200');
    for (const account of [trader, second]) assert.equal(outcome(await world.send(account)), LIMITED);
    const refused = await world.as<Problem>(trader, 'POST', '/trading/order', order);
    assert.deepEqual([outcome(refused), refused.headers['retry-after']], [LIMITED, '60']);
    assert.equal((await world.as(trader, 'GET', '/trading/orders')).status, 200);
    assert.equal(outcome(await world.send(other)), '200');
  });

  test('who knows only the URL cannot keep the owner out, nor the owner himself wear out his own by mistakes of others', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock, env: { RATE_LIMIT_REQUESTS: '4' } });
    const trader = await world.makeTrader();
    const { secret: _, ...withoutSecret } = world.signal(trader);
    const stale = { timestamp: timestamp(clock.now() - 300_000) };
    // None of them carries both the secret and a fresh timestamp.
    for (const [body, delivery, said] of [
      ['no JSON', {}, PASSED],
      [world.signal(trader, { secret: 'guessed' }), {}, '401 webhook_credential_attack'],
      [world.signal(trader, stale), {}, '401 webhook_timestamp_expired'],
      [withoutSecret, SIMULATED, '200'],
      [withoutSecret, SIMULATED, LIMITED],
      ['no JSON', {}, LIMITED],
    ] as const)
      assert.equal(outcome(await world.webhook(trader, body, delivery)), said);
    // The owner's, whatever else is wrong with them, and whichever way they come.
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    assert.equal(outcome(await world.send(trader)), '200');
    assert.equal(outcome(await world.send(trader, { quantity: 0 })), PASSED);
    assert.equal(outcome(await world.send(trader, {}, SIMULATED)), '200');
    assert.equal(outcome(await world.as(trader, 'POST', '/trading/order', order)), '200');
    assert.equal(outcome(await world.send(trader)), LIMITED);
    assert.equal(outcome(await world.as(trader, 'POST', '/trading/order', order)), LIMITED);
    clock.advance(60_000);
    assert.equal(outcome(await world.send(trader)), '200');
    assert.equal(outcome(await knock(world, trader)), PASSED);
  });
});

describe('the IP whitelist', () => {
  const ALLOWED = '203.0.113.5';
  const rows: [
    name: string,
    allowed: string[],
    peer: string,
    forwarded: string | null,
    seen: string | null,
  ][] = [
    ['no list lets anybody in', [], '198.51.100.9', null, null],
    ['the address itself', [ALLOWED], ALLOWED, null, null],
    ['another address', [ALLOWED], '203.0.113.6', null, '203.0.113.6'],
    ['one of several', ['192.0.2.1', ALLOWED], ALLOWED, null, null],
    ['inside a block', ['203.0.113.0/24'], '203.0.113.255', null, null],
    ['outside a block', ['203.0.113.0/24'], '203.0.114.0', null, '203.0.114.0'],
    ['IPv6, in another spelling', ['2001:db8::1'], '2001:0DB8:0:0:0:0:0:1', null, null],
    ['inside an IPv6 block', ['2001:db8::/32'], '2001:db8:ffff::1', null, null],
    ['outside an IPv6 block', ['2001:db8::/32'], '2001:db9::1', null, '2001:db9::1'],
    ['IPv4 over an IPv6 socket', [ALLOWED], `::ffff:${ALLOWED}`, null, null],
    ['a stranger over an IPv6 socket', [ALLOWED], '::ffff:203.0.113.6', null, '203.0.113.6'],
    ['through a trusted proxy', [ALLOWED], '10.0.0.1', ALLOWED, null],
    ['through a chain of trusted proxies', [ALLOWED], '10.0.0.1', `${ALLOWED}, fd00::7,10.9.9.9`, null],
    ['IPv6 through a trusted proxy', ['2001:db8::/32'], 'fd00::1', '2001:db8::42', null],
    ['a stranger who writes the header himself', [ALLOWED], '198.51.100.9', ALLOWED, '198.51.100.9'],
    [
      'a stranger who writes it before the proxy',
      [ALLOWED],
      '10.0.0.1',
      `${ALLOWED}, 198.51.100.9`,
      '198.51.100.9',
    ],
    [
      'a stranger who names a trusted proxy',
      [ALLOWED],
      '10.0.0.1',
      `${ALLOWED}, 198.51.100.9, 10.0.0.2`,
      '198.51.100.9',
    ],
    ['a proxy that forwards garbage', [ALLOWED], '10.0.0.1', `${ALLOWED}, unknown`, 'unknown via 10.0.0.1'],
    ['a proxy that forwards nothing', [ALLOWED], '10.0.0.1', null, '10.0.0.1'],
    ['a chain of nothing but proxies', [ALLOWED], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ];
  test('from where a request comes decides, through the trusted proxy chain', async (t) => {
    const world = await openWorld(t, { env: { TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8' } });
    for (const [name, allowed, remoteAddress, forwarded, blockedAs] of rows) {
      await t.test(`${name}: ${blockedAs ? '403' : 'passes'}`, async () => {
        const trader = await world.makeTrader();
        await world.allowIps(trader, ...allowed);
        const headers: Record<string, string> = forwarded ? { 'x-forwarded-for': forwarded } : {};
        const answer = await world.send(trader, {}, { headers, remoteAddress });
        assert.equal(outcome(answer), blockedAs ? '403 webhook_ip_blocked' : '200');
        const order = {
          trading_account_id: trader.account.id,
          action: 'buy',
          symbol: 'BTCUSDT',
          quantity: 1,
        };
        const manual = await world.request({
          method: 'POST',
          url: '/trading/order',
          body: order,
          headers: { ...headers, authorization: `Bearer ${trader.apiKey}` },
          remoteAddress,
        });
        assert.equal(outcome(manual), blockedAs ? '403 ip_not_allowed' : '200');
        if (!blockedAs) return;
        const entries = await world.audits(trader);
        assert.deepEqual(
          entries.map(({ action, success, ip_address }) => [action, success, ip_address]),
          [1, 2].map(() => ['webhook_ip_blocked', 0, blockedAs]),
        );
        assert.deepEqual(await world.orders(trader), []);
      });
    }
  });
});

describe('plan, daily limit, credentials, terms and kill switch', () => {
  const day = Date.parse('2026-07-15T00:00:00Z');
  const PLANS = JSON.stringify({
    free: { simulation_only: true, daily_orders: 2 },
    five: { simulation_only: false, daily_orders: 5 },
    none: { simulation_only: false, daily_orders: 0 },
    desk: { simulation_only: false, daily_orders: null },
  });

  const rows: [
    name: string,
    user: Partial<User>,
    account: Partial<Account>,
    real: string,
    simulated: string,
  ][] = [
    ['a full plan', {}, {}, '200', '200'],
    ['a plan of no orders', { plan: 'none' }, {}, '429 daily_limit_reached', '429 daily_limit_reached'],
    ['the free plan', { plan: 'free' }, {}, '403 plan_simulation_only', '200'],
    [
      'a plan that ends this very moment',
      { planExpiresAt: timestamp(day) },
      {},
      '403 plan_simulation_only',
      '200',
    ],
    ['a plan of one millisecond more', { planExpiresAt: timestamp(day + 1) }, {}, '200', '200'],
    ['a plan that nobody knows any more', { plan: 'gold' }, {}, '403 plan_simulation_only', '200'],
    [
      'credentials that are not verified',
      {},
      { credentialsVerified: false },
      '400 credentials_not_verified',
      '200',
    ],
    ['terms that were never accepted', { termsVersion: null }, {}, '403 terms_not_accepted', '200'],
    ['terms of an older version', { termsVersion: '0' }, {}, '403 terms_not_accepted', '200'],
    ['a halted account', {}, { halted: true }, '403 account_halted', '403 account_halted'],
  ];
  test('who may trade, and who may simulate', async (t) => {
    const world = await openWorld(t, { clock: settableClock(day), env: { PLANS } });
    for (const [name, user, account, real, simulated] of rows) {
      await t.test(`${name}: ${real} in earnest, ${simulated} in simulation`, async () => {
        const trader = await world.makeTrader(user, account);
        assert.equal(outcome(await world.send(trader)), real);
        assert.equal(outcome(await world.send(trader, {}, SIMULATED)), simulated);
        assert.equal((await world.paperOrders(trader.account.id)).length, real === '200' ? 1 : 0);
      });
    }
  });

  test('an expired plan has the daily limit of free too', async (t) => {
    const world = await openWorld(t, { clock: settableClock(day), env: { PLANS } });
    const trader = await world.makeTrader({ planExpiresAt: timestamp(day - 1) });
    for (const expected of ['200', '200', '429 daily_limit_reached'])
      assert.equal(outcome(await world.send(trader, {}, SIMULATED)), expected);
  });

  test('new terms stop real orders until they are accepted', async (t) => {
    const clock = settableClock(day);
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    assert.equal(outcome(await world.send(trader)), '200');
    await world.db.commit([insertTerms({ version: '2', text: 'New.', published_at: timestamp(day + 1) })]);
    assert.equal(outcome(await world.send(trader)), '403 terms_not_accepted');
    assert.equal(outcome(await world.send(trader, {}, SIMULATED)), '200');
    await world.db.commit([sql`update users set terms_version = '2' where id = ${trader.user.id}`]);
    assert.equal(outcome(await world.send(trader)), '200');
  });

  test('of twenty orders at one moment a plan of five a day takes five', async (t) => {
    const clock = settableClock(day + 3_600_000);
    const world = await openWorld(t, { clock, env: { PLANS } });
    const trader = await world.makeTrader({ plan: 'five' });
    const second = await world.addAccount(trader);
    const accounts = Array.from({ length: 20 }, (_, index) => (index % 2 ? second : trader));
    const answers = await Promise.all(accounts.map((account) => world.send<Problem>(account)));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(refused.length, 15);
    for (const answer of refused) {
      assert.equal(outcome(answer), '429 daily_limit_reached');
      assert.equal(answer.headers['retry-after'], String(23 * 3600));
    }
    const books = await Promise.all([trader, second].map(({ account }) => world.paperOrders(account.id)));
    assert.equal(books.flat().length, 5);
    assert.equal((await world.orders(trader)).length, 5);
  });

  test('rejected and dashboard orders count; refused signals do not; the next UTC day is new', async (t) => {
    const clock = settableClock(day + 86_399_000);
    const world = await openWorld(t, { clock, env: { PLANS } });
    const trader = await world.makeTrader({ plan: 'five' });
    const { id } = trader.account;
    const order = { trading_account_id: id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    const signal = world.signal(trader);
    assert.equal(outcome(await world.webhook(trader, signal)), '200');
    assert.equal(outcome(await world.webhook(trader, signal)), '409 webhook_replay_attack');
    assert.equal(outcome(await world.send(trader, { secret: 'wrong' })), '401 webhook_credential_attack');
    assert.equal(outcome(await world.send(trader, { quantity: 0 })), '400 webhook_payload_invalid');
    assert.equal((await world.send(trader, { symbol: 'NOSUCH' })).body.error?.code, 'invalid_symbol');
    for (const _ of [1, 2, 3])
      assert.equal(outcome(await world.as(trader, 'POST', '/trading/order', order)), '200');

    clock.advance(999);
    for (const answer of [
      await world.send<Problem>(trader),
      await world.as<Problem>(trader, 'POST', '/trading/order', order),
    ])
      assert.deepEqual([outcome(answer), answer.headers['retry-after']], ['429 daily_limit_reached', '1']);
    clock.advance(1);
    assert.equal(outcome(await world.send(trader)), '200');
  });

  test('simulated and real orders are counted apart, each up to the plan’s number', async (t) => {
    const world = await openWorld(t, { clock: settableClock(day), env: { PLANS } });
    const trader = await world.makeTrader({ plan: 'five' });
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    const { secret: _, ...withoutSecret } = world.signal(trader);
    // Whoever knows the URL can do this.
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        world.webhook(trader, { ...withoutSecret, quantity: index + 1 }, SIMULATED),
      ),
    );
    assert.equal(answers.map(outcome).filter((said) => said === '200').length, 5);
    const simulated = { ...order, simulation: true };
    assert.equal(
      outcome(await world.as(trader, 'POST', '/trading/order', simulated)),
      '429 daily_limit_reached',
    );
    for (const expected of ['200', '200', '200', '200', '200', '429 daily_limit_reached'])
      assert.equal(outcome(await world.send(trader)), expected);
  });

  test('exits and closes count, and are never refused for the daily limit', async (t) => {
    const world = await openWorld(t, { clock: settableClock(day), env: { PLANS } });
    for (const delivery of [{}, SIMULATED]) {
      const trader = await world.makeTrader({ plan: 'five' });
      assert.equal(outcome(await world.send(trader, { quantity: 3 }, delivery)), '200');
      for (const _ of [2, 3, 4, 5, 6, 7])
        assert.equal(outcome(await world.send(trader, { action: 'long_exit' }, delivery)), '200');
      assert.equal(outcome(await world.send(trader, {}, delivery)), '429 daily_limit_reached');
      const manual = {
        trading_account_id: trader.account.id,
        action: 'close_long',
        symbol: 'BTCUSDT',
        quantity: 1,
      };
      const simulation = delivery === SIMULATED;
      assert.equal(
        outcome(await world.as(trader, 'POST', '/trading/order', { ...manual, simulation })),
        '200',
      );
      const { body } = await world.as<object>(trader, 'GET', '/settings/subscription');
      const counts = { orders_today: simulation ? 0 : 8, simulated_today: simulation ? 8 : 0 };
      assert.deepEqual({ ...body, ...counts }, body);
    }
  });

  describe('a change that came after the entry keeps nobody in the position', () => {
    const EXITS = [
      { action: 'sell', order_type: 'exit' },
      { action: 'long_exit' },
      { action: 'close_long' },
      { action: 'close_short' },
    ];
    const ENTRIES = [{ action: 'buy' }, { action: 'sell' }, { action: 'short_entry' }];
    const SIMULATION_ONLY = '403 plan_simulation_only';
    const NOT_ACCEPTED = '403 terms_not_accepted';
    const publish = (world: World) =>
      world.db.commit([insertTerms({ version: '2', text: 'New.', published_at: timestamp(day + 1) })]);
    const change = (world: World, { user }: Trader, to: UserChange) =>
      world.db.commit([changeUser(user.id, to)]);

    const changes: [
      name: string,
      user: Partial<User>,
      happens: (world: World, trader: Trader) => Promise<unknown>,
      entry: string,
      exit: string,
    ][] = [
      [
        'a plan that expired',
        {},
        (world, trader) => change(world, trader, { planExpiresAt: timestamp(day) }),
        SIMULATION_ONLY,
        '200',
      ],
      [
        'a plan that an admin took away',
        {},
        (world, trader) => change(world, trader, { plan: 'free' }),
        SIMULATION_ONLY,
        '200',
      ],
      [
        'a plan that was given and taken away',
        { plan: 'free' },
        async (world, trader) => {
          await change(world, trader, { plan: 'five' });
          await change(world, trader, { plan: 'free', planExpiresAt: null });
        },
        SIMULATION_ONLY,
        '200',
      ],
      [
        'a plan that the configuration no longer has',
        { plan: 'gold' },
        async () => {},
        SIMULATION_ONLY,
        '200',
      ],
      [
        'the free plan, and never another',
        { plan: 'free' },
        (world, trader) => change(world, trader, { plan: 'free', isActive: true }),
        SIMULATION_ONLY,
        SIMULATION_ONLY,
      ],
      ['new terms', {}, publish, NOT_ACCEPTED, '200'],
      ['new terms, and none ever accepted', { termsVersion: null }, publish, NOT_ACCEPTED, NOT_ACCEPTED],
      [
        'a plan that expired, and new terms',
        {},
        async (world, trader) => {
          await change(world, trader, { planExpiresAt: timestamp(day) });
          await publish(world);
        },
        SIMULATION_ONLY,
        '200',
      ],
    ];
    for (const [name, user, happens, entry, exit] of changes)
      test(`${name}: entries ${entry}, exits and closes ${exit}`, async (t) => {
        const world = await openWorld(t, { clock: settableClock(day), env: { PLANS } });
        const trader = await world.makeTrader(user);
        await happens(world, trader);
        for (const fields of ENTRIES) assert.equal(outcome(await world.send(trader, fields)), entry);
        for (const fields of EXITS) {
          assert.equal(outcome(await world.send(trader, fields)), exit);
          const manual = { trading_account_id: trader.account.id, symbol: 'BTCUSDT', quantity: 1, ...fields };
          assert.equal(outcome(await world.as(trader, 'POST', '/trading/order', manual)), exit);
        }
      });
  });

  test('the kill switch refuses entries and lets exits pass, simulated and real', async (t) => {
    const world = await openWorld(t);
    const entries = [
      { action: 'buy' },
      { action: 'sell', order_type: 'entry' },
      { action: 'long_entry' },
      { action: 'short_entry' },
    ];
    const exits = [
      { action: 'long_exit' },
      { action: 'sell', order_type: 'exit' },
      { action: 'close_long' },
      { action: 'short_exit' },
      { action: 'buy', order_type: 'exit' },
      { action: 'close_short' },
    ];
    for (const delivery of [{}, SIMULATED]) {
      const trader = await world.makeTrader();
      assert.equal(outcome(await world.send(trader, { quantity: 2 }, delivery)), '200');
      await world.db.commit([
        sql`update trading_accounts set halted = ${true} where id = ${trader.account.id}`,
      ]);
      for (const fields of entries)
        assert.equal(outcome(await world.send(trader, fields, delivery)), '403 account_halted');
      const ends: (string | undefined)[] = [];
      for (const fields of exits) {
        const { status, body } = await world.send(trader, fields, delivery);
        assert.equal(status, 200);
        ends.push(body.error?.code ?? body.status);
      }
      // Two are sold one by one; then there is nothing left to close.
      assert.deepEqual(ends, ['filled', 'filled', ...Array.from({ length: 4 }, () => 'no_position')]);
    }
  });
});
