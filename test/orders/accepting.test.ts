// An order is checked against one read and accepted by one commit. What was changed in between is not overlooked: the
// commit compares, and then everything is checked once more against what is so now.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, type TestContext, test } from 'node:test';
import { randomToken } from '../../src/app/secret-box.ts';
import { changeAccount, storeCredentials } from '../../src/data/accounts/accounts.ts';
import { type Db, type Statement, sql } from '../../src/data/engine/db.ts';
import { changeUser } from '../../src/data/identity/users.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Answer, openWorld, type Problem, type Trader, type World } from '../world.ts';

type Way = (world: World, trader: Trader) => Promise<Answer<Problem>>;

const WAYS: Record<'webhook' | 'dashboard', Way> = {
  webhook: (world, trader) => world.send<Problem>(trader),
  dashboard: (world, trader) =>
    world.as<Problem>(trader, 'POST', '/trading/order', {
      trading_account_id: trader.account.id,
      action: 'buy',
      symbol: 'BTCUSDT',
      quantity: 1,
    }),
};

const outcome = ({ status, body }: Answer<Problem>): string =>
  status === 200 ? '200' : `${status} ${body.code}`;

/** A world in which something happens right before an order is committed, and in which reads and commits are counted. */
async function openWatched(t: TestContext) {
  // Of a request that is watched; what comes round by itself meanwhile is none of its doing.
  const watched = new AsyncLocalStorage<string[]>();
  let meanwhile: (() => Promise<unknown>) | null = null;
  const textOf = ({ parts }: Statement) => parts.join('?').replace(/\s+/g, ' ');
  const db = (whole: Db): Db => ({
    ...whole,
    get: (query) => {
      watched.getStore()?.push(`read ${textOf(query)}`);
      return whole.get(query);
    },
    all: (query) => {
      watched.getStore()?.push(`read ${textOf(query)}`);
      return whole.all(query);
    },
    async commit(unit) {
      if (!unit.some((statement) => textOf(statement).startsWith('insert into order_history')))
        return whole.commit(unit);
      const happens = meanwhile;
      meanwhile = null;
      await happens?.();
      watched.getStore()?.push('accepted');
      return whole.commit(unit);
    },
  });
  const world = await openWorld(t, { db });
  const trader = await world.makeTrader();
  return {
    world,
    trader,
    async watch(request: () => Promise<unknown>): Promise<string[]> {
      const asked: string[] = [];
      await watched.run(asked, request);
      return asked;
    },
    beforeCommit(happens: () => Promise<unknown>): void {
      meanwhile = happens;
    },
  };
}

describe('what is changed between the checks and the commit holds', () => {
  const now = timestamp(Date.now());
  const changes: [
    name: string,
    change: (trader: Trader, world: World) => Statement,
    webhook: string,
    dashboard: string,
  ][] = [
    [
      'the account is halted',
      ({ account }) => changeAccount(account.id, { haltedAt: timestamp(0) }),
      '403 account_halted',
      '403 account_halted',
    ],
    [
      'the user is deactivated',
      ({ user }) => changeUser(user.id, { isActive: false }),
      '403 user_deactivated',
      '403 user_deactivated',
    ],
    [
      'the account is deleted',
      ({ account }) => sql`update trading_accounts set deleted_at = ${now} where id = ${account.id}`,
      '404 webhook_not_found',
      '404 not_found',
    ],
    [
      'the webhook secret is another',
      ({ account }, world) =>
        changeAccount(account.id, { webhookSecret: world.secrets.seal('new', account.id) }),
      '401 webhook_credential_attack',
      '200',
    ],
    [
      'the webhook token is another',
      ({ account }) => changeAccount(account.id, { webhookToken: randomToken() }),
      '404 webhook_not_found',
      '200',
    ],
    [
      'the symbol is no longer allowed',
      ({ account }) => changeAccount(account.id, { allowedSymbols: ['ETHUSDT'] }),
      '400 webhook_payload_invalid',
      '400 request_invalid',
    ],
    [
      'the credentials are replaced',
      ({ account }) => storeCredentials(account.id, 'sealed'),
      '400 credentials_not_verified',
      '400 credentials_not_verified',
    ],
    ['the account is renamed', ({ account }) => changeAccount(account.id, { name: 'Other' }), '200', '200'],
  ];
  for (const [name, change, webhook, dashboard] of changes)
    for (const [way, expected] of [
      ['webhook', webhook],
      ['dashboard', dashboard],
    ] as const)
      test(`${name}: ${way} ${expected}`, async (t) => {
        const { world, trader, beforeCommit } = await openWatched(t);
        beforeCommit(() => world.db.commit([change(trader, world)]));
        assert.equal(outcome(await WAYS[way](world, trader)), expected);
        const accepted = expected === '200' ? 1 : 0;
        assert.equal((await world.orders(trader)).length, accepted);
        const entries = (await world.audits(trader)).filter(({ action }) => action !== 'account_changed');
        assert.deepEqual(
          entries.map(({ success }) => success),
          [accepted],
        );
      });

  test('an account that changes before every commit is given up, and nothing is queued', async (t) => {
    const { world, trader, beforeCommit } = await openWatched(t);
    const again = async () => {
      beforeCommit(again);
      await world.db.commit([changeAccount(trader.account.id, { name: randomToken() })]);
    };
    beforeCommit(again);
    const signal = world.signal(trader);
    const answer = await world.webhook<Problem>(trader, signal);
    assert.equal(outcome(answer), '503 database_unavailable');
    assert.deepEqual(await world.orders(trader), []);
    beforeCommit(async () => {});
    assert.equal((await world.webhook(trader, signal)).status, 200);
  });
});

describe('before it is committed an order costs one read', () => {
  const readsOf = async (t: TestContext, way: Way): Promise<string[]> => {
    const { world, trader, watch } = await openWatched(t);
    await world.allowIps(trader, '127.0.0.0/8');
    // Whatever is done once for a user, a worker and a connection.
    await way(world, trader);
    const asked = await watch(async () => assert.equal((await way(world, trader)).status, 200));
    return asked.slice(0, asked.indexOf('accepted'));
  };

  test('by the webhook', async (t) => {
    const reads = await readsOf(t, WAYS.webhook);
    assert.equal(reads.length, 1, reads.join('\n'));
  });

  test('by the dashboard, once it is known who is asking and from where', async (t) => {
    const reads = await readsOf(t, WAYS.dashboard);
    const [caller, address, target, ...others] = reads;
    assert.match(caller ?? '', /from api_keys/);
    assert.match(address ?? '', /from user_allowed_ips/);
    assert.match(target ?? '', /from trading_accounts/);
    assert.deepEqual(others, []);
  });
});
