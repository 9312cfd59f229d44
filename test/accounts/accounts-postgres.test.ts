// The same accounts and settings on PostgreSQL: every statement of theirs, and the races that row locks decide there.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import type { WithSecret } from '../../src/app/accounts/accounts.ts';
import { hashToken } from '../../src/app/identity/tokens.ts';
import type { Halted } from '../../src/app/orders/halt.ts';
import { randomToken } from '../../src/app/secret-box.ts';
import { readConfig } from '../../src/config/config.ts';
import { deleteAccount } from '../../src/data/accounts/accounts.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { insertApiKey, listApiKeys, revokeApiKey } from '../../src/data/identity/api-keys.ts';
import { roomFor } from '../../src/data/identity/room.ts';
import { insertUser } from '../../src/data/identity/users.ts';
import { type AccountId, timestamp, type UserId } from '../../src/domain/ids.ts';
import { DEFAULT_PLANS, roomOf } from '../../src/domain/orders/entitlement.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { type Fillpath, openFillpath } from '../../src/main.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { serverOf } from '../world.ts';
import { makeSession, SIGNED, type TestSession } from './credentials.ts';

const ROOM = roomOf(DEFAULT_PLANS.desk ?? DEFAULT_PLANS.free);

describe('on PostgreSQL', () => {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-accounts-'));
  let missing: string | false = false;
  let fillpath: Fillpath;
  let db: Db;
  let url: string;
  let stopServer: () => Promise<void>;
  let session: TestSession;
  const userId = randomUUIDv7() as UserId;

  before(async () => {
    try {
      const server = await startPostgres();
      url = server.url;
      stopServer = server.stop;
      const env = {
        ...SIGNED,
        DATA_DIR: dir,
        DATABASE_URL: url,
        SEED_USER: 'false',
        RATE_LIMIT_REQUESTS: '10000',
      };
      fillpath = await openFillpath(readConfig(env), { log: pino({ level: 'silent' }) });
      db = await openPostgres({ url });
      const now = timestamp(Date.now());
      const user = { id: userId, email: 'a@example.com', isAdmin: false, isActive: true, plan: 'desk' };
      await db.commit([
        insertUser({ ...user, planExpiresAt: null, termsVersion: null, emailVerified: true }, 'none', now),
        insertApiKey({
          id: randomUUIDv7(),
          userId,
          name: 'k',
          keyHash: hashToken(randomToken()),
          expiresAt: null,
          createdAt: now,
        }),
      ]);
      session = await makeSession({ db, clock: { now: () => Date.now() } }, { id: userId });
    } catch (fault) {
      if (!(fault instanceof PostgresMissing)) throw fault;
      missing = fault.message;
    }
  });
  after(async () => {
    await fillpath?.stop();
    await db?.close();
    await stopServer?.();
    rmSync(dir, { recursive: true, force: true });
  });

  async function call<Body>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
  ) {
    const response = await serverOf(fillpath).inject({
      method,
      url,
      headers: session.bearer,
      ...(payload ? { payload } : {}),
    });
    return { status: response.statusCode, body: (response.body ? response.json() : null) as Body };
  }
  const newAccount = async () =>
    (
      await call<WithSecret>('POST', '/trading/accounts', {
        name: 'A',
        broker: 'paper',
        paper: { latency_ms: 0 },
      })
    ).body;
  const buy = (account: { id: string }, fields: object = {}) =>
    call<OrderResult>('POST', '/trading/order', {
      trading_account_id: account.id,
      action: 'buy',
      symbol: 'BTCUSDT',
      quantity: 0.001,
      ...fields,
    });

  test('an account is made, traded on, changed, halted, flattened, resumed and deleted', async (t) => {
    if (missing) return t.skip(missing);
    assert.equal((await call('POST', '/settings/terms', { version: '0' })).status, 409);
    assert.equal((await call('POST', '/settings/terms', { version: '1' })).status, 204);
    const account = await newAccount();
    const url = `/trading/accounts/${account.id}`;
    assert.equal((await buy(account)).body.status, 'filled');
    const patches = [{ seed: 4 }, { fill: 'partial' }, { lose_answer: true }];
    await Promise.all(patches.map((paper) => call('PATCH', url, { paper, name: 'B' })));
    const { body: changed } = await call<WithSecret>('PATCH', url, {
      allowed_symbols: ['BTCUSDT'],
      max_request_age: 10,
    });
    assert.deepEqual(
      [changed.name, changed.allowed_symbols, changed.max_request_age, changed.paper],
      ['B', ['BTCUSDT'], 10, { ...account.paper, seed: 4, fill: 'partial', lose_answer: true }],
    );
    await call('PATCH', url, { paper: { fill: 'full', lose_answer: false } });
    for (const action of ['webhook-secret', 'webhook-token', 'verify'])
      assert.equal((await call('POST', `${url}/${action}`)).status, 200, action);
    assert.equal((await call<{ items: [] }>('GET', `${url}/positions`)).body.items.length, 1);
    const { body: halted } = await call<Halted>('POST', `${url}/halt`, { flatten: true });
    assert.deepEqual([halted.account.halted, halted.orders.map(({ status }) => status)], [true, ['filled']]);
    assert.equal((await buy(account)).status, 403);
    assert.equal((await call('POST', `${url}/resume`)).status, 200);
    assert.equal((await buy(account)).status, 200);
    const list = await call<{ items: { id: string }[] }>('GET', `/trading/accounts?limit=1`);
    assert.deepEqual(
      list.body.items.map(({ id }) => id),
      [account.id],
    );
    assert.equal((await call<{ code: string }>('DELETE', url)).body.code, 'positions_open');
    assert.equal((await call('DELETE', `${url}?keep_positions=true`)).status, 204);
    assert.equal((await call('DELETE', url)).status, 404);
    const { id: flat } = await newAccount();
    assert.equal((await call('DELETE', `/trading/accounts/${flat}`)).status, 204);
  });

  test('an order that rests keeps its account from being deleted', async (t) => {
    if (missing) return t.skip(missing);
    const account = await newAccount();
    await call('PATCH', `/trading/accounts/${account.id}`, { paper: { fill: 'never' } });
    assert.equal((await buy(account)).body.status, 'placed');
    const refused = await call<{ code: string }>('DELETE', `/trading/accounts/${account.id}`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'orders_under_way']);
    assert.equal((await call('GET', `/trading/accounts/${account.id}`)).status, 200);
  });

  test('allowed IPs and keys are added, listed once, and removed', async (t) => {
    if (missing) return t.skip(missing);
    const added = await call<{ id: string }>('POST', '/settings/allowed-ips', {
      ip_address: '0.0.0.0/0',
      label: 'all',
    });
    assert.equal(added.status, 201);
    assert.equal((await call('POST', '/settings/allowed-ips', { ip_address: '9.9.9.9/0' })).status, 409);
    const { body } = await call<{ items: object[] }>('GET', '/settings/allowed-ips');
    assert.deepEqual(body.items, [added.body]);
    assert.equal((await call('DELETE', `/settings/allowed-ips/${added.body.id}`)).status, 204);
    assert.equal((await call('DELETE', `/settings/allowed-ips/${added.body.id}`)).status, 404);
    const id = randomUUIDv7();
    const now = timestamp(Date.now());
    await db.commit([
      insertApiKey({ id, userId, name: 'two', keyHash: randomToken(), expiresAt: now, createdAt: now }),
    ]);
    const [first, second] = await listApiKeys(db, userId, { after: null, limit: 5 });
    assert.deepEqual([first?.name, second?.name, second?.expiresAt], ['k', 'two', now]);
    assert.deepEqual(await listApiKeys(db, userId, { after: first?.id ?? null, limit: 5 }), [second]);
    assert.equal(await db.commit([revokeApiKey(randomUUIDv7() as UserId, id, now)]), 'found');
    assert.equal(await db.commit([revokeApiKey(userId, id, now)]), null);
    assert.equal(await db.commit([revokeApiKey(userId, id, now)]), 'found');
  });

  test('orders, halts and deletions of one account at one moment: none is accepted after the halt, none is lost by the deletion', async (t) => {
    if (missing) return t.skip(missing);
    for (let round = 0; round < 5; round++) {
      const account = await newAccount();
      const url = `/trading/accounts/${account.id}`;
      await buy(account);
      const orders = Array.from({ length: 40 }, () => buy(account));
      const halted = await call('POST', `${url}/halt`);
      assert.equal(halted.status, 200);
      const late = await Promise.all(Array.from({ length: 5 }, () => buy(account)));
      assert.deepEqual(
        late.map(({ status }) => status),
        [403, 403, 403, 403, 403],
      );
      const deleted = call<{ code?: string } | null>('DELETE', `${url}?keep_positions=true`);
      const statuses = (await Promise.all(orders)).map(({ status }) => status);
      assert.ok(
        statuses.every((status) => [200, 403, 404].includes(status)),
        statuses.join(' '),
      );
      const { status, body } = await deleted;
      assert.ok(status === 204 || body?.code === 'orders_under_way', `${status}`);
    }
  });

  /** Another process that has the account's row in its hands, until it commits. */
  async function otherProcess(t: TestContext, ...statements: string[]) {
    const client = new Client(url);
    await client.connect();
    t.after(() => client.end());
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    return {
      /** Once somebody waits for it. */
      async commit(): Promise<void> {
        const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        while (!(await db.get(waiting))) await setTimeout(5);
        await client.query('commit');
      },
    };
  }

  test('the last place of 200 is taken once, by whichever of two processes comes first', async (t) => {
    if (missing) return t.skip(missing);
    const add = (ip: string) =>
      `insert into user_allowed_ips (id, user_id, ip_address, created_at) values ('${randomUUIDv7()}', '${userId}', '${ip}', now())`;
    t.after(() => db.commit([sql`delete from user_allowed_ips where user_id = ${userId}`]));
    await db.commit(
      Array.from({ length: 199 }, (_, index) => ({ parts: [add(`10.0.0.${index}`)], values: [] })),
    );
    const first = await otherProcess(
      t,
      `update users set plan = plan where id = '${userId}'`,
      add('10.0.1.1'),
    );
    const second = db.commit([
      ...roomFor('allowed_ips', userId, ROOM),
      { parts: [add('10.0.1.2')], values: [] },
    ]);
    await first.commit();
    assert.equal(await second, 'room');
  });

  test('an entry that waits for another process’s halt is refused, an exit is accepted', async (t) => {
    if (missing) return t.skip(missing);
    for (const [fields, status] of [
      [{}, 403],
      [{ action: 'sell', order_type: 'exit' }, 200],
    ] as const) {
      const account = await newAccount();
      const halting = await otherProcess(
        t,
        `update trading_accounts set halted = true where id = '${account.id}'`,
      );
      const order = buy(account, fields);
      await halting.commit();
      assert.equal((await order).status, status);
    }
  });

  test('a deletion that waits for another process’s order sees it, and an order that waits for a deletion is refused', async (t) => {
    if (missing) return t.skip(missing);
    const [held, gone] = [(await newAccount()).id as AccountId, (await newAccount()).id as AccountId];
    const ordering = await otherProcess(
      t,
      `select 1 from trading_accounts where id = '${held}' for share`,
      `insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation, symbol,
         action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace)
       values ('${randomUUIDv7()}', 1, '${userId}', '${held}', 'paper', 'webhook', true, 'BTCUSDT', 'buy', '{}', 1, 'queued',
         '[]', now(), now(), false, '{}')`,
    );
    const deletion = db.commit(deleteAccount(held, timestamp(Date.now())));
    await ordering.commit();
    assert.equal(await deletion, 'idle');
    assert.equal((await call('GET', `/trading/accounts/${held}`)).status, 200);

    const deleting = await otherProcess(
      t,
      `update trading_accounts set deleted_at = now() where id = '${gone}'`,
    );
    const order = buy({ id: gone }, { action: 'sell', order_type: 'exit' });
    await deleting.commit();
    assert.equal((await order).status, 404);
  });
});
