// Administration's units on both databases: what races must have one winner, also between processes.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { argon2id } from '../../src/app/identity/passwords.ts';
import {
  type Admin,
  changeUserAsAdmin,
  makeFirstAdmin,
  publishTerms,
  readDeadLetters,
  readUser,
  readUsers,
  retryDeadLetter,
} from '../../src/app/operation/admin.ts';
import { publishFirstTerms, seedFirstUser } from '../../src/app/operation/first-start.ts';
import { createSecretBox } from '../../src/app/secret-box.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { insertUser, type User } from '../../src/data/identity/users.ts';
import { isDenial } from '../../src/domain/denial.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import { DEFAULT_PLANS } from '../../src/domain/orders/entitlement.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';

const clock = { now: () => Date.now() };
const secrets = createSecretBox(Buffer.alloc(32, 1));
const context = { requestId: 'test', ip: '127.0.0.1', userAgent: null, path: '/', method: 'POST' };

let keepServer: Awaited<ReturnType<typeof startPostgres>> | undefined;
after(() => keepServer?.stop());

/** Two connections to one fresh database, as two processes have them. */
const DATABASES: Record<string, (t: TestContext) => Promise<[Db, Db] | null>> = {
  async SQLite(t) {
    const dir = mkdtempSync(join(tmpdir(), 'fillpath-admin-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const file = join(dir, 'test.sqlite');
    return [openSqlite({ file }), openSqlite({ file })];
  },
  async PostgreSQL(t) {
    try {
      const server = await startPostgres();
      t.after(() => server.stop());
      // Held until the last test ends: to start a server takes longer than all of them.
      keepServer ??= await startPostgres();
      return [await openPostgres({ url: server.url }), await openPostgres({ url: server.url })];
    } catch (error) {
      if (!(error instanceof PostgresMissing)) throw error;
      t.skip(error.message);
      return null;
    }
  },
};

for (const [name, open] of Object.entries(DATABASES))
  describe(name, () => {
    const onTwo = (title: string, run: (one: Db, two: Db) => Promise<void>) =>
      test(title, async (t) => {
        const dbs = await open(t);
        if (!dbs) return;
        try {
          await migrate(dbs[0], Date.now());
          await run(...dbs);
        } finally {
          for (const db of dbs) await db.close();
        }
      });
    const changes = { ofOrder() {}, ofAccess() {} };
    const depsOf = (db: Db) => ({ db, clock, secrets, hasher: argon2id, plans: DEFAULT_PLANS, changes });

    async function addUser(db: Db, more: Partial<User> = {}): Promise<Admin & { id: UserId }> {
      const id = randomUUIDv7() as UserId;
      const user: User = {
        id,
        email: `${id}@example.com`,
        isAdmin: true,
        isActive: true,
        plan: 'desk',
        planExpiresAt: null,
        termsVersion: null,
        emailVerified: true,
        ...more,
      };
      assert.equal(await db.commit([insertUser(user, 'x', timestamp(Date.now()))]), null);
      return { id, context };
    }

    onTwo(
      'of seeding and setting up at once, in two processes, one makes the first admin',
      async (one, two) => {
        const setup = (db: Db, email: string) =>
          makeFirstAdmin(depsOf(db), { email, password: 'a long enough password' }, context);
        const outcomes = await Promise.all([
          seedFirstUser(depsOf(one), '1'),
          setup(two, 'a@example.com'),
          setup(one, 'b@example.com'),
          seedFirstUser(depsOf(two), '1'),
          setup(two, 'c@example.com'),
        ]);
        const winners = outcomes.filter((outcome) => outcome !== null && !isDenial(outcome));
        assert.equal(winners.length, 1);
        const users = await one.all<{ id: string }>(sql`select id from users`);
        assert.equal(users.length, 1);
        // The loser of a seeding leaves nothing of it behind.
        const [seeded] = await one.all(sql`select id from trading_accounts`);
        assert.equal(seeded !== undefined, 'apiKey' in (winners[0] ?? {}));
        const made = await one.all<{ user_id: string }>(
          sql`select user_id from audit_logs where action = 'first_admin' and success = ${true}`,
        );
        assert.deepEqual(
          made.map(({ user_id }) => user_id),
          users.map(({ id }) => id),
          'whichever way it was made, the log tells of it',
        );
      },
    );

    onTwo('two processes that start at once publish the first terms once', async (one, two) => {
      assert.deepEqual(
        await Promise.all([one, two, one, two].map((db) => publishFirstTerms({ db, clock }))),
        ['1', '1', '1', '1'],
      );
    });

    onTwo('terms published at one moment in two processes have an order', async (one, two) => {
      const by = await addUser(one);
      await publishFirstTerms({ db: one, clock: { now: () => 0 } });
      const standing = { now: () => 1_800_000_000_000 };
      const publish = (db: Db, version: string) =>
        publishTerms({ db, clock: standing }, by, { version, text: 'x' });
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, index) => publish(index % 2 ? one : two, `v${index}`)),
      );
      assert.ok(made.every((terms) => !isDenial(terms)));
      const times = await one.all(sql`select distinct published_at from terms`);
      assert.equal(times.length, 9);
      const again = await publish(one, 'v3');
      assert.ok(isDenial(again) && again.code === 'terms_version_exists');
    });

    onTwo('two admins who deactivate each other in two processes do not both succeed', async (one, two) => {
      for (let round = 0; round < 10; round++) {
        const [a, b] = [await addUser(one), await addUser(one)];
        const outcomes = await Promise.all([
          changeUserAsAdmin(depsOf(one), a, b.id, { isActive: false }),
          changeUserAsAdmin(depsOf(two), b, a.id, { isActive: false }),
        ]);
        assert.equal(outcomes.filter((outcome) => !isDenial(outcome)).length, 1);
      }
    });

    onTwo('users are found, shown and changed', async (one) => {
      const by = await addUser(one);
      const { id } = await addUser(one, { email: 'ann_b@example.com', isAdmin: false });
      await addUser(one, { email: 'annxb@example.com', isAdmin: false });
      const page = { cursor: null, limit: 1 };
      const found = await readUsers(depsOf(one), { ...page, email: 'N_B' });
      assert.deepEqual(
        found.items.map((user) => user.email),
        ['ann_b@example.com'],
      );
      assert.equal(found.next_cursor, null);
      const emails: string[] = [];
      for (let cursor: string | null = null, more = true; more; ) {
        const { items, next_cursor } = await readUsers(depsOf(one), {
          ...page,
          cursor,
          email: '@example.com',
        });
        emails.push(...items.map((user) => user.email));
        cursor = next_cursor;
        more = cursor !== null;
      }
      // Page by page each once; ids of one millisecond, as this test draws them, are in no order of their own.
      assert.equal(new Set(emails).size, emails.length);
      for (const email of ['ann_b@example.com', 'annxb@example.com'])
        assert.ok(emails.includes(email), email);
      const expires = timestamp(4_000_000_000_123);
      await changeUserAsAdmin(depsOf(one), by, id, { plan: 'pro', planExpiresAt: expires });
      const changed = await readUser(depsOf(one), id);
      assert.ok(!isDenial(changed));
      assert.deepEqual(
        [changed.plan, changed.plan_expires_at, changed.effective_plan, changed.is_active, changed.sessions],
        ['pro', expires, 'pro', true, []],
      );
    });

    onTwo('a dead letter is listed, and revived once by two processes', async (one, two) => {
      const by = await addUser(one);
      const account = randomUUIDv7();
      const order = randomUUIDv7();
      const now = timestamp(Date.now());
      await one.commit([
        sql`insert into trading_accounts (id, user_id, name, broker_name, webhook_token, webhook_secret,
              max_request_age, allowed_symbols, broker_credentials_verified, halted, connection_version, created_at)
            values (${account}, ${by.id}, 'x', 'paper', 'x', 'x', 300, '[]', ${true}, ${false}, 1, ${now})`,
        sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
              symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace)
            values (${order}, 1, ${by.id}, ${account}, 'paper', 'webhook', ${false}, 'BTCUSDT', 'buy', '{}', '1',
              'unknown', '[]', ${now}, ${now}, ${false}, '{}')`,
        sql`insert into fill_checks (order_id, user_id, state, attempts, next_at, last_error)
            values (${order}, ${by.id}, 'dead_letter', 4, ${now}, 'the worker did not answer')`,
      ]);
      const page = { cursor: null, limit: 10 };
      assert.deepEqual((await readDeadLetters(depsOf(one), page)).items, [
        {
          order_id: order,
          user_id: by.id,
          trading_account_id: account,
          simulation: false,
          real_money: false,
          symbol: 'BTCUSDT',
          status: 'unknown',
          attempts: 4,
          last_error: 'the worker did not answer',
          next_at: now,
        },
      ]);
      const retried = await Promise.all(
        [one, two, one, two].map((db) => retryDeadLetter(depsOf(db), by, order)),
      );
      assert.equal(retried.filter((denial) => denial === null).length, 1);
      assert.ok(retried.every((denial) => denial === null || denial.code === 'not_a_dead_letter'));
      assert.deepEqual((await readDeadLetters(depsOf(two), page)).items, []);
    });
  });
