// What every database adapter promises, as one suite over a function that opens it. All tests share one database and
// keep apart by their own users and names.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import {
  DatabaseUnavailable,
  type Db,
  inOne,
  join,
  must,
  NotCommitted,
  type Statement,
  sql,
} from '../../src/data/engine/db.ts';
import { isFresh, migrate } from '../../src/data/engine/migrate.ts';
import { type Decimal, parseDecimal } from '../../src/domain/decimal.ts';

const NOW = '2026-11-05T09:30:00.120Z';

/** `open` gives another handle on the same database each time. */
export function dbContract(name: string, open: () => Promise<Db>): void {
  describe(`the database contract on ${name}`, () => {
    let db: Db;

    before(async () => {
      db = await open();
      const others = [await open(), await open()];
      assert.equal(await isFresh(db), true);
      await Promise.all([db, ...others].map((handle) => migrate(handle, Date.parse(NOW))));
      await Promise.all(others.map((handle) => handle.close()));
      const decimal = db.dialect === 'sqlite' ? 'text' : 'numeric';
      await db.script(
        `create table books (book text primary key, version integer not null, cash ${decimal})`,
      );
    });
    after(() => db.close());

    const book = (id: string, cash = '0'): Statement =>
      sql`insert into books (book, version, cash) values (${id}, 0, ${cash})`;
    const cashOf = async (id: string) =>
      (await db.get<{ cash: string }>(sql`select cash from books where book = ${id}`))?.cash;
    const exists = async (id: string) => (await cashOf(id)) !== undefined;

    async function newUser(): Promise<string> {
      const id = randomUUID();
      await db.commit([
        sql`insert into users (id, email, password_hash, is_admin, is_active, plan, created_at)
            values (${id}, ${`${id}@example.com`}, 'hash', ${false}, ${true}, 'free', ${NOW})`,
      ]);
      return id;
    }

    async function newOrder(user: string): Promise<string> {
      const account = randomUUID();
      const order = randomUUID();
      await db.commit([
        sql`insert into trading_accounts (id, user_id, name, broker_name, webhook_token, webhook_secret,
              max_request_age, allowed_symbols, broker_credentials_verified, halted, connection_version, created_at)
            values (${account}, ${user}, 'main', 'paper', ${account}, 'sealed', 60, '[]', ${true}, ${false}, 1, ${NOW})`,
        sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
              symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace)
            values (${order}, 1, ${user}, ${account}, 'paper', 'webhook', ${false}, 'BTCUSDT', 'buy', '{}', '1',
              'placed', '[]', ${NOW}, ${NOW}, ${false}, '{}')`,
      ]);
      return order;
    }

    const audit = (values: { user?: string; agent?: string; metadata?: string; action: string }): Statement =>
      sql`insert into audit_logs (user_id, action, success, user_agent, metadata, created_at)
          values (${values.user ?? null}, ${values.action}, ${true}, ${values.agent ?? null},
            ${values.metadata ?? '{}'}, ${NOW})`;

    test('a list reads what any read does', async () => {
      const id = randomUUID();
      await db.commit([book(id, '7')]);
      const query = sql`select book, cash from books where book = ${id}`;
      assert.deepEqual(await db.lists.all(query), await db.all(query));
      assert.deepEqual(await db.lists.get(query), { book: id, cash: '7' });
      assert.equal(await db.lists.get(sql`select 1 from books where book = ${'nobody'}`), undefined);
      await assert.rejects(db.lists.all(sql`select * from no_such_table`), /no_such_table/);
    });

    test('all statements of a unit are committed, in their order', async () => {
      const id = randomUUID();
      const unit = [book(id), sql`update books set cash = '5', version = version + 1 where book = ${id}`];
      assert.equal(await db.commit(unit), null);
      assert.deepEqual(await db.get(sql`select version, cash from books where book = ${id}`), {
        version: 1,
        cash: '5',
      });
    });

    test('a unit of nothing is committed, alone and beside others', async () => {
      const id = randomUUID();
      assert.equal(await db.commit([]), null);
      const none = must('version', sql`update books set version = 1 where book = ${id} and version = 1`);
      assert.deepEqual(await Promise.all([db.commit([]), db.commit([book(id)]), db.commit([])]), [
        null,
        null,
        null,
      ]);
      assert.deepEqual(await Promise.all([db.commit([]), db.commit([none])]), [null, 'version']);
    });

    test('a failed guard names itself and leaves nothing of its unit, before or behind it', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      const never = sql`update books set version = 9 where book = ${'nobody'}`;
      assert.equal(await db.commit([book(first), must('version', never), book(second)]), 'version');
      assert.equal(await exists(first), false);
      assert.equal(await exists(second), false);
    });

    test('the first guard that fails gives the answer, even where a later statement is wrong', async () => {
      const id = randomUUID();
      const none = sql`delete from books where book = ${'nobody'}`;
      assert.equal(await db.commit([must('first', none), must('second', none)]), 'first');
      assert.equal(await db.commit([book(id), must('first', none), book(id)]), 'first');
    });

    test('guards that hold change what they change', async () => {
      const id = randomUUID();
      const unit = [
        must('new', book(id)),
        must('version', sql`update books set version = 1 where book = ${id} and version = 0`),
      ];
      assert.equal(await db.commit(unit), null);
      assert.equal(await db.commit([must('there', sql`delete from books where book = ${id}`)]), null);
      assert.equal(await exists(id), false);
    });

    test('a guarded statement that repeats a unique value is a failed guard, not a fault', async () => {
      const [id, other] = [randomUUID(), randomUUID()];
      await db.commit([book(id)]);
      assert.equal(await db.commit([book(other), must('new', book(id))]), 'new');
      assert.equal(await exists(other), false);
    });

    const held = (id: string, version = 0) =>
      must('held', sql`select 1 from books where book = ${id} and version = ${version}`);

    test('inserts in one are all their rows, and a guard fails where any of them is there already', async () => {
      const [first, second, third, fourth] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
      const guarded = (id: string, cash: string) =>
        must(
          'book',
          sql`insert into books (book, version, cash) values (${id}, 0, ${cash}) on conflict (book) do nothing`,
        );
      assert.equal(await db.commit([inOne([book(first, '1'), book(second, '2')])]), null);
      assert.deepEqual([await cashOf(first), await cashOf(second)], ['1', '2']);
      assert.equal(await db.commit([inOne([guarded(third, '3'), guarded(second, '3')])]), 'book');
      assert.equal(await exists(third), false);
      assert.equal(await cashOf(second), '2');
      assert.equal(await db.commit([inOne([guarded(third, '3'), guarded(fourth, '4')])]), null);
      assert.deepEqual([await cashOf(third), await cashOf(fourth)], ['3', '4']);
      assert.throws(() => inOne([book(randomUUID()), guarded(randomUUID(), '1')]), TypeError);
    });

    test('what inserts do where a row is there already holds for each of those in one', async () => {
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      const topped = (id: string, cash: string) =>
        must(
          'topped',
          sql`insert into books (book, version, cash) values (${id}, 0, ${cash})
              on conflict (book) do update set cash = excluded.cash where books.version = 0`,
        );
      await db.commit([book(first, '1'), book(second, '2')]);
      assert.equal(
        await db.commit([inOne([topped(first, '3'), topped(second, '4'), topped(third, '5')])]),
        null,
      );
      assert.deepEqual([await cashOf(first), await cashOf(second), await cashOf(third)], ['3', '4', '5']);
      await db.commit([sql`update books set version = 1 where book = ${second}`]);
      assert.equal(await db.commit([inOne([topped(first, '6'), topped(second, '7')])]), 'topped');
      assert.deepEqual([await cashOf(first), await cashOf(second)], ['3', '4']);
    });

    test('a guard of several rows lets its unit pass where it touches all of them', async () => {
      const [first, second, other] = [randomUUID(), randomUUID(), randomUUID()];
      await db.commit([book(first), book(second)]);
      const both = (a: string, b: string) => sql`where book = ${a} or book = ${b}`;
      const stand = (a: string, b: string) =>
        must('both', join([sql`select 1 from books `, both(a, b), sql` order by book`], ''), 2);
      const move = (a: string, b: string) =>
        must('both', join([sql`update books set version = version + 1 `, both(a, b)], ''), 2);
      for (const touch of [stand, move]) {
        const [kept, lost] = [randomUUID(), randomUUID()];
        // With a neighbour, which another thread may write.
        const answers = await Promise.all([
          db.commit([touch(first, second), book(kept)]),
          db.commit([touch(first, other), book(lost)]),
        ]);
        assert.deepEqual(answers, [null, 'both']);
        assert.deepEqual([await exists(kept), await exists(lost)], [true, false]);
      }
    });

    test('a guard that selects lets its unit pass where it finds a row, and changes nothing', async () => {
      const [id, other] = [randomUUID(), randomUUID()];
      await db.commit([book(id, '7')]);
      assert.equal(await db.commit([held(id)]), null);
      assert.equal(await db.commit([held(id), book(other), held(other), held(id)]), null);
      assert.deepEqual(await db.get(sql`select version, cash from books where book = ${id}`), {
        version: 0,
        cash: '7',
      });
    });

    test('a guard that selects and finds no row names itself and leaves nothing of its unit', async () => {
      const [id, first, second] = [randomUUID(), randomUUID(), randomUUID()];
      await db.commit([book(id)]);
      // A statement that changed a row comes before: its count must not be taken for that of the guard.
      assert.equal(await db.commit([book(first), held(id, 1), book(second)]), 'held');
      assert.equal(await exists(first), false);
      assert.equal(await exists(second), false);
    });

    test('a guard that selects sees what the statements before it did, in its unit and in those before', async () => {
      const id = randomUUID();
      const set = (version: number) => sql`update books set version = ${version} where book = ${id}`;
      assert.equal(await db.commit([book(id), set(1), held(id, 1)]), null);
      assert.equal(await db.commit([set(2), held(id, 1)]), 'held');
      const answers = await Promise.all([
        db.commit([held(id, 1)]),
        db.commit([set(5)]),
        db.commit([held(id, 1), book(randomUUID())]),
        db.commit([held(id, 5)]),
      ]);
      assert.deepEqual(answers, [null, null, 'held', null]);
    });

    test('what is held does not change before the commit: of many at once, from two handles, none sees both', async () => {
      const id = randomUUID();
      const other = await open();
      await db.commit([book(id)]);
      let changed = false;
      const holding = async (handle: Db) => {
        for (let version = 1; ; version++) {
          const began = changed;
          const outcome = await handle.commit([
            held(id),
            sql`insert into books (book, version, cash) values (${`${id} ${randomUUID()}`}, ${version}, '0')`,
            held(id),
          ]);
          // Whoever began after the change was committed has seen it.
          if (outcome !== null) return outcome;
          assert.equal(began, false);
        }
      };
      const holders = Array.from({ length: 10 }, (_, index) => holding(index % 2 ? db : other));
      await db.commit([must('there', sql`update books set version = 9 where book = ${id} and version = 0`)]);
      changed = true;
      assert.ok((await Promise.all(holders)).every((outcome) => outcome === 'held'));
      await other.close();
    });

    test('a guard that could neither change nor hold a row is refused', async () => {
      await assert.rejects(db.commit([must('read', sql`select 1`)]), TypeError);
      await assert.rejects(db.commit([must('sum', sql`select count(*) from books`)]), TypeError);
      await assert.rejects(db.commit([must('made', sql`values (1)`)]), TypeError);
    });

    test('a value that is none is refused, and not written as null', async () => {
      for (const nothing of [undefined, Number.NaN, Number.POSITIVE_INFINITY, 1n] as number[])
        await assert.rejects(db.commit([sql`update terms set content = ${nothing}`]), TypeError);
    });

    test('a unit whose statement is wrong is undone and rejects', async () => {
      const id = randomUUID();
      await assert.rejects(db.commit([book(id), book(id)]), /unique/i);
      assert.equal(await exists(id), false);
      await assert.rejects(db.commit([book(id), sql`insert into no_such_table values (1)`]), /no_such_table/);
      assert.equal(await exists(id), false);
    });

    test('the neighbours of a bad unit commit, whatever is bad about it', async () => {
      const ids = Array.from({ length: 40 }, () => randomUUID());
      const answers = await Promise.allSettled(
        ids.map((id, index) => {
          if (index % 5 === 1) return db.commit([book(id), book(id)]);
          if (index % 5 === 3) {
            return db.commit([
              book(id),
              must('none', sql`delete from users where email = ${id}`),
              audit({ action: id }),
            ]);
          }
          return db.commit([book(id), audit({ action: id })]);
        }),
      );
      for (const [index, id] of ids.entries()) {
        const answer = answers[index];
        if (index % 5 === 1) assert.equal(answer?.status, 'rejected');
        else assert.deepEqual(answer, { status: 'fulfilled', value: index % 5 === 3 ? 'none' : null });
        assert.equal(await exists(id), index % 5 !== 1 && index % 5 !== 3);
      }
    });

    test('the same unit committed twice at one moment is two units', async () => {
      const unit = [must('new', join([book(randomUUID()), sql`on conflict (book) do nothing`], ' '))];
      const answers = await Promise.all([db.commit(unit), db.commit(unit)]);
      assert.deepEqual(answers.sort(), ['new', null]);
    });

    test('a group that cannot be committed rejects as a whole, and the next one is not harmed', async () => {
      await db.script(`create table parents (id text primary key);
        create table children (parent text references parents (id) deferrable initially deferred)`);
      const id = randomUUID();
      const answers = await Promise.allSettled([
        db.commit([book(id)]),
        // would be told "taken" because of a row that is gone with the group
        db.commit([must('taken', join([book(id), sql`on conflict (book) do nothing`], ' '))]),
        db.commit([sql`insert into children (parent) values (${'nobody'})`]),
      ]);
      assert.ok(answers.every(({ status }) => status === 'rejected'));
      assert.equal(await exists(id), false);
      assert.equal(await db.commit([book(id)]), null);
    });

    test('a failed script leaves nothing behind and does not harm the next unit', async () => {
      await assert.rejects(
        db.script('begin; create table half_done (id text); insert into nowhere values (1); commit'),
      );
      await assert.rejects(db.all(sql`select * from half_done`), /half_done/);
      assert.equal(await db.commit([book(randomUUID())]), null);
    });

    test('200 compare-and-set increments at once: exactly one winner per version', async () => {
      const id = randomUUID();
      await db.commit([book(id)]);
      let wins = 0;
      const increment = async () => {
        for (;;) {
          const row = await db.get<{ version: number }>(sql`select version from books where book = ${id}`);
          assert.ok(row);
          const { version } = row;
          const set = sql`update books set version = ${version + 1} where book = ${id} and version = ${version}`;
          const winner = audit({ action: `${id} ${version}` });
          if ((await db.commit([winner, must('version', set)])) === null) {
            wins++;
            return;
          }
        }
      };
      // in waves, so that those who lost meet those who come
      for (let wave = 0; wave < 10; wave++) await Promise.all(Array.from({ length: 20 }, increment));
      assert.equal(wins, 200);
      const row = await db.get<{ version: number }>(sql`select version from books where book = ${id}`);
      assert.equal(row?.version, 200);
      const [first, last] = [`${id} `, `${id}!`];
      const winners = await db.all(
        sql`select action from audit_logs where action > ${first} and action < ${last}`,
      );
      assert.equal(new Set(winners.map((winner) => JSON.stringify(winner))).size, 200);
      assert.equal(winners.length, 200);
    });

    test('of 200 units at once on the same version one wins and 199 hear the guard', async () => {
      const id = randomUUID();
      await db.commit([book(id)]);
      const set = sql`update books set version = 1 where book = ${id} and version = 0`;
      const answers = await Promise.all(Array.from({ length: 200 }, () => db.commit([must('version', set)])));
      assert.equal(answers.filter((answer) => answer === null).length, 1);
      assert.equal(answers.filter((answer) => answer === 'version').length, 199);
    });

    test('"on conflict do nothing" under a guard lets exactly one of 100 insert', async () => {
      const id = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          db.commit([
            must(
              'taken',
              sql`insert into books (book, version, cash) values (${id}, ${index}, '0')
                  on conflict (book) do nothing`,
            ),
          ]),
        ),
      );
      assert.equal(answers.filter((answer) => answer === null).length, 1);
      const row = await db.get<{ version: number }>(sql`select version from books where book = ${id}`);
      assert.equal(row?.version, answers.indexOf(null));
    });

    test('the daily limit is exact under 100 units at once, from two handles', async () => {
      const user = await newUser();
      const other = await open();
      const count = must(
        'daily_limit',
        sql`insert into daily_order_counts (user_id, day, orders) values (${user}, '2026-11-05', 1)
            on conflict (user_id, day) do update set orders = daily_order_counts.orders + 1
              where daily_order_counts.orders < ${37}`,
      );
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (index % 2 ? db : other).commit([count, audit({ user, action: 'counted' })]),
        ),
      );
      await other.close();
      assert.equal(answers.filter((answer) => answer === null).length, 37);
      assert.equal(answers.filter((answer) => answer === 'daily_limit').length, 63);
      assert.deepEqual(await db.get(sql`select orders from daily_order_counts where user_id = ${user}`), {
        orders: 37,
      });
      const entries = await db.get(sql`select count(*) as entries from audit_logs where user_id = ${user}`);
      assert.deepEqual(entries, { entries: 37 });
    });

    test('decimals of up to 15 digits come back exactly and in their canonical form', async () => {
      const decimals = fc
        .tuple(fc.bigInt(-(10n ** 15n) + 1n, 10n ** 15n - 1n), fc.integer({ min: -15, max: 15 }))
        .map(([digits, exponent]) => parseDecimal(`${digits}e${exponent}`))
        .filter((value): value is Decimal => value !== null);
      const property = fc.asyncProperty(
        fc.array(decimals, { minLength: 1, maxLength: 50 }),
        async (values) => {
          const books = values.map((value) => ({ id: randomUUID(), value }));
          await Promise.all(books.map(({ id, value }) => db.commit([book(id, value)])));
          for (const { id, value } of books) assert.equal(await cashOf(id), value);
        },
      );
      await fc.assert(property, { numRuns: 20 });
    });

    test('times, JSON text, booleans, integers and null come back as they were given', async () => {
      const id = randomUUID();
      const names = '{ "b": 1,  "a": [1.50, "\\u00e9", null], "b": 2 }';
      await db.commit([
        sql`insert into users (id, email, password_hash, is_admin, is_active, plan, plan_expires_at, created_at)
            values (${id}, ${id}, 'hash', ${true}, ${false}, 'free', ${null}, ${'2026-11-05T09:30:00.000Z'})`,
        audit({ user: id, action: 'times', metadata: names }),
      ]);
      const user = await db.get<Record<string, unknown>>(sql`select * from users where id = ${id}`);
      assert.ok(user);
      assert.deepEqual([Boolean(user.is_admin), Boolean(user.is_active)], [true, false]);
      assert.deepEqual(
        [user.id, user.plan_expires_at, user.created_at],
        [id, null, '2026-11-05T09:30:00.000Z'],
      );
      const entry = await db.get<Record<string, unknown>>(
        sql`select * from audit_logs where user_id = ${id}`,
      );
      assert.equal(entry?.metadata, names);
      assert.equal(entry?.created_at, NOW);
      assert.equal(typeof entry?.id, 'number');
      assert.equal(Object.getPrototypeOf(entry), Object.prototype);
      const found = await db.all(
        sql`select id from users where id = ${id} and is_admin = ${true} and created_at < ${NOW}`,
      );
      assert.deepEqual(found, [{ id }]);
    });

    test('whole numbers stay whole in a text column', async () => {
      const action = randomUUID();
      await db.commit([
        audit({ action }),
        sql`update audit_logs set user_agent = ${42} where action = ${action}`,
      ]);
      const row = await db.get(sql`select user_agent from audit_logs where action = ${action}`);
      assert.deepEqual(row, { user_agent: '42' });
    });

    test('text comes back whole, whatever is in it', async () => {
      const texts = [
        `'; drop table users; --`,
        '"$1" ? ?? $$ \\ \\\\ %_',
        '🚀 ü 漢字 \u200f\n\t\r',
        '',
        'x'.repeat(2_000_000),
      ];
      for (const text of texts) {
        const action = randomUUID();
        assert.equal(await db.commit([audit({ action, agent: text })]), null);
        const row = await db.get<{ user_agent: string }>(
          sql`select user_agent from audit_logs where action = ${action} and user_agent = ${text}`,
        );
        assert.equal(row?.user_agent, text);
      }
    });

    test('a NUL, which PostgreSQL cannot hold, is replaced and not a fault', async () => {
      const action = randomUUID();
      assert.equal(await db.commit([audit({ action, agent: 'a\0b' })]), null);
      const row = await db.get(
        sql`select user_agent from audit_logs where action = ${action} and user_agent = ${'a\0b'}`,
      );
      assert.deepEqual(row, { user_agent: 'a\ufffdb' });
    });

    test('foreign keys are enforced', async () => {
      const user = await newUser();
      await assert.rejects(db.commit([audit({ user: randomUUID(), action: 'orphan' })]), /foreign key/i);
      await db.commit([audit({ user, action: 'child' })]);
      await assert.rejects(db.commit([sql`delete from users where id = ${user}`]), /foreign key/i);
    });

    test('a user has one running fill check, and any number of others', async () => {
      const user = await newUser();
      const [first, second] = [await newOrder(user), await newOrder(user)];
      const check = (order: string) =>
        sql`insert into fill_checks (order_id, user_id, state, attempts, next_at)
            values (${order}, ${user}, 'scheduled', 0, ${NOW})`;
      const run = (order: string) => sql`update fill_checks set state = 'running' where order_id = ${order}`;
      assert.equal(await db.commit([check(first), check(second), must('claimed', run(first))]), null);
      assert.equal(await db.commit([must('claimed', run(second))]), 'claimed');
      const done = sql`update fill_checks set state = 'done' where order_id = ${first}`;
      assert.equal(await db.commit([done, must('claimed', run(second))]), null);
    });

    test('a list of conditions put together by join finds its rows', async () => {
      const ids = [randomUUID(), randomUUID()];
      await db.commit(ids.map((id) => book(id, '7')));
      const list = join(
        ids.map((id) => sql`${id}`),
        ', ',
      );
      const query = join([sql`select cash from books where book in (`, list, sql`) limit ${5}`], '');
      assert.deepEqual(await db.all(query), [{ cash: '7' }, { cash: '7' }]);
    });

    test('a read without rows gives an empty list and undefined', async () => {
      assert.deepEqual(await db.all(sql`select * from users where email = ${'nobody'}`), []);
      assert.equal(await db.get(sql`select * from users where email = ${'nobody'}`), undefined);
    });

    test('a read that was prepared before the migration of another process sees the new column', async () => {
      const other = await open();
      await other.script('create table growing (a integer); insert into growing values (1)');
      const reads = () => Promise.all([1, 2, 3].map(() => db.all(sql`select * from growing`)));
      assert.deepEqual(await reads(), [[{ a: 1 }], [{ a: 1 }], [{ a: 1 }]]);
      await other.script('alter table growing add column b text');
      for (const rows of await reads()) assert.deepEqual(rows, [{ a: 1, b: null }]);
      await other.close();
    });

    test('migrations run once, also when several processes start at one moment', async () => {
      const marks = sql`select name, applied_at from migrations`;
      const before = await db.all(marks);
      assert.deepEqual(before[0], { name: '001-records', applied_at: NOW });
      await migrate(db, Date.now());
      assert.deepEqual(await db.all(marks), before);
      assert.equal(await isFresh(db), false);
    });

    test('close commits what waits, and then refuses', async () => {
      const other = await open();
      const ids = Array.from({ length: 300 }, () => randomUUID());
      const answers = ids.map((id) => other.commit([book(id)]));
      await other.close();
      await other.close();
      for (const answer of await Promise.all(answers)) assert.equal(answer, null);
      for (const id of ids) assert.ok(await exists(id));
      await assert.rejects(other.commit([book(randomUUID())]), NotCommitted);
      await assert.rejects(other.all(sql`select 1`), DatabaseUnavailable);
    });
  });
}
