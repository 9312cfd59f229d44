// Units that do the same go to PostgreSQL as one. That must make no difference to anybody: to none of them, whatever becomes of it,
// nor to what stands in the tables afterwards.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { Client } from 'pg';
import { type Db, must, type Statement, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { alikeUnits } from '../../src/data/engine/postgres-alike.ts';
import { arrayOf, manyRowsOf } from '../../src/data/engine/postgres-rows.ts';
import { statementQueries } from '../../src/data/engine/postgres-statements.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { openWorld } from '../world.ts';

const WORDS = ['a', 'b', 'c'];

describe('which statements are for many rows', () => {
  const one = (statement: Statement) => manyRowsOf(statement);
  const none = (statement: Statement, why: string) => assert.equal(one(statement), null, why);

  test('inserts, guarded changes of a row by its key, and rows that are held', () => {
    const insert = one(sql`insert into things (id, note) values (${1}, 'a (b)')`);
    assert.match(
      insert?.textFor(['integer']) ?? '',
      /^insert into things \(id, note\) select many\.p1, 'a \(b\)' from unnest\(\$1::integer\[\]\) with ordinality as many\(p1, nth\)\s*$/,
    );
    const update = one(
      must('version', sql`update things set note = ${'a'} where id = ${1} and version = ${2}`),
    );
    assert.deepEqual([update?.tables, update?.keys], [['things'], ['id', 'version']]);
    const moving = one(
      must('moved', sql`update things set version = ${3} where id = ${1} and version = ${2}`),
    );
    assert.deepEqual(moving?.keys, ['id']);
    const held = one(
      must('held', sql`select 1 from things t join owners o on o.id = ${1} where t.id = ${2}`),
    );
    assert.deepEqual(held?.tables, ['things', 'owners']);
  });

  test('what an insert does where its row is there may take values that are one for all rows', () => {
    const counted = one(
      must(
        'limit',
        sql`insert into counts (owner, n) values (${'a'}, ${1}) on conflict (owner) do update set n = counts.n + excluded.n
            where counts.n + excluded.n <= ${7}`,
      ),
    );
    assert.equal(counted?.own, 2);
    assert.match(counted?.textFor(['text', 'integer', 'integer']) ?? '', /excluded\.n <= \$3/);
  });

  test('nothing else', () => {
    none(sql`update things set note = ${'a'} where id = ${1}`, 'nobody hears whether it found a row');
    none(must('gone', sql`delete from things where id = ${1}`), 'a deletion');
    none(must('all', sql`update things set note = ${'a'} where version = 1`), 'no key');
    none(must('moved', sql`update things set id = ${2} where id = ${1}`), 'it changes its key');
    none(must('either', sql`update things set note = 'a' where id = ${1} or id = ${2}`), 'of two rows');
    none(must('both', sql`select 1 from things where id = ${1} and note = ${'a'}`, 2), 'of two rows');
    none(
      must('none', sql`select 1 from things t left join owners o on o.id = ${1} where t.id = ${2}`),
      'it may find none',
    );
    none(sql`insert into things (id) select ${1}`, 'of whatever it selects');
    none(sql`insert into things (id) values ((select max(id) + ${1} from things))`, 'it looks at the table');
    none(sql`insert into things (note) values ('a')`, 'nothing says how many');
    none(
      must('seen', sql`update things set note = (select note from things where id = ${1}) where id = ${2}`),
      'it looks',
    );
  });

  test('an array has every value as it is given', () => {
    assert.equal(
      arrayOf(['a"b\\c', '', 'NULL', null, 1.5, true, 'a\0b', '{,}']),
      '{"a\\"b\\\\c","","NULL",NULL,1.5,true,"a\ufffdb","{,}"}',
    );
  });
});

try {
  const server = await startPostgres();
  describe('units that do the same, on PostgreSQL', () => {
    after(() => server.stop());
    suite(server.url);
  });
} catch (error) {
  if (!(error instanceof PostgresMissing)) throw error;
  test('units that do the same, on PostgreSQL', { skip: error.message });
}

const TABLES = `
  create table owners (id text primary key, token text not null);
  create table things (id uuid primary key, version int not null, note text, body json, seen timestamptz(3), flag boolean,
    amount numeric, number bigint, owner text references owners (id));
  create table parts (thing uuid not null, part text not null, amount numeric, primary key (thing, part));
  create table counts (owner text, day text, n int not null, primary key (owner, day));
  create table lines (id bigint generated always as identity primary key, about text, note text);
  create table plain (id int primary key, note text);
  create table loose (id int, version int)`;

function suite(url: string): void {
  let alone: Db;
  let together: Db;
  let client: Client;
  let apart: Client;

  before(async () => {
    const other = await startPostgres();
    [client, apart] = [new Client(url), new Client(other.url)];
    await Promise.all([client.connect(), apart.connect()]);
    [together, alone] = [await openPostgres({ url }), await openPostgres({ url: other.url })];
    for (const db of [together, alone]) await db.script(TABLES);
  });
  after(async () => {
    await Promise.all([alone.close(), together.close(), client.end(), apart.end()]);
  });

  const ids = Array.from({ length: 6 }, () => randomUUID());
  const hold = (owner: string, token: string) =>
    must('owner', sql`select 1 from owners where id = ${owner} and token = ${token}`);
  const line = (about: string, note: string | null) =>
    sql`insert into lines (about, note) values (${about}, ${note})`;

  interface Thing {
    readonly id: string;
    readonly version: number;
    readonly owner: string;
    readonly token: string;
    readonly limit: number;
    readonly note: string | null;
    readonly body: string | null;
    readonly seen: string | null;
    readonly flag: boolean | null;
    readonly amount: string | null;
    readonly number: number | null;
  }

  const thingOf = (id = '', limit = 7): Thing => ({
    ...{ id, version: 1, owner: 'a', token: 'right', limit, note: null, body: null },
    ...{ seen: null, flag: null, amount: null, number: null },
  });

  const KINDS: readonly ((of: Thing) => Statement[])[] = [
    // As an order is accepted.
    (of) => [
      hold(of.owner, of.token),
      must(
        'id',
        sql`insert into things (id, version, note, body, seen, flag, amount, number, owner)
            values (${of.id}, 1, ${of.note}, ${of.body}, ${of.seen}, ${of.flag}, ${of.amount}, ${of.number}, ${of.owner})
            on conflict (id) do nothing`,
      ),
      must(
        'limit',
        sql`insert into counts (owner, day, n) values (${of.owner}, ${'today'}, ${1})
            on conflict (owner, day) do update set n = counts.n + excluded.n where counts.n + excluded.n <= ${of.limit}`,
      ),
      line(of.id, of.note),
    ],
    // As it is saved.
    (of) => [
      hold(of.owner, of.token),
      must(
        'version',
        sql`update things set version = ${of.version + 1}, note = ${of.note}, body = ${of.body}, seen = ${of.seen},
              flag = ${of.flag}, amount = coalesce(${of.amount}, amount), number = ${of.number}
            where id = ${of.id} and version = ${of.version}`,
      ),
      sql`insert into parts (thing, part, amount) values (${of.id}, ${of.owner}, ${of.amount})
          on conflict (thing, part) do update set amount = excluded.amount`,
    ],
    // One that repeats a row is no failed guard: it is a fault.
    (of) => [sql`insert into plain (id, note) values (${of.version}, ${of.note})`, line('plain', of.body)],
    // What is done to the same table twice.
    (of) => [
      must(
        'version',
        sql`update things set version = ${of.version + 1} where id = ${of.id} and version = ${of.version}`,
      ),
      must(
        'version',
        sql`update things set note = ${of.note} where id = ${of.id} and version = ${of.version + 1}`,
      ),
    ],
    // Not by a key.
    (of) => [must('loose', sql`update loose set version = version + ${1} where id = ${of.version}`)],
    (of) => [
      must('gone', sql`delete from parts where thing = ${of.id} and part = ${of.owner}`),
      line('gone', of.id),
    ],
  ];

  const texts = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.constantFrom(null, '', 'NULL', 'a\0b', '"{a,b}\\', '🚀\n\\"', "it's"),
  );
  const things: fc.Arbitrary<Thing> = fc.record({
    id: fc.constantFrom(...ids),
    version: fc.integer({ min: 1, max: 3 }),
    owner: fc.constantFrom(...WORDS),
    token: fc.oneof(
      { weight: 6, arbitrary: fc.constant('right') },
      { weight: 1, arbitrary: fc.constant('wrong') },
    ),
    limit: fc.constantFrom(2, 3, 100),
    note: texts,
    body: fc.oneof(fc.constant(null), fc.json(), fc.constant('{ "b": 1,  "a": "\\u00e9\\"" }')),
    seen: fc.constantFrom(null, '2026-11-05T09:30:00.120Z', '1970-01-01T00:00:00.000Z'),
    flag: fc.constantFrom(null, true, false),
    amount: fc.constantFrom(null, '0', '-1.5', '123456789012345', '0.000000000000001'),
    number: fc.constantFrom(null, 0, -7, 2 ** 45),
  });

  const groups = fc.array(fc.tuple(fc.integer({ min: 0, max: KINDS.length - 1 }), things), {
    minLength: 2,
    maxLength: 14,
  });

  async function fresh(db: Db): Promise<void> {
    const found = ids.slice(0, 4).map((id, index) => `('${id}', ${(index % 2) + 1}, 'before')`);
    await (db === alone
      ? apart
      : client
    ).query(`begin; truncate owners, things, parts, counts, lines, plain, loose;
      insert into owners values ('a', 'right'), ('b', 'right'), ('c', 'other');
      insert into things (id, version, note) values ${found.join()};
      insert into parts values ('${ids[0]}', 'a', 1), ('${ids[1]}', 'b', 2);
      insert into loose values (1, 1), (1, 2), (2, 1); commit`);
  }

  async function standing(db: Db): Promise<unknown> {
    const tables = [
      sql`select * from things order by id`,
      sql`select * from parts order by thing, part`,
      sql`select * from counts order by owner, day`,
      sql`select about, note from lines order by about, note`,
      sql`select * from plain order by id`,
      sql`select * from loose order by id, version`,
    ];
    return Promise.all(tables.map((table) => db.all(table)));
  }

  const told = (answer: PromiseSettledResult<string | null>): string | null =>
    answer.status === 'fulfilled' ? answer.value : `fault ${(answer.reason as { code?: string }).code}`;

  test('whatever is in a group, each unit ends as it would alone, and leaves what it would leave', async () => {
    const property = async (group: readonly (readonly [number, Thing])[]) => {
      await Promise.all([fresh(alone), fresh(together)]);
      const units = group.map(([kind, thing]) => KINDS[kind]?.(thing) ?? []);
      const expected: (string | null)[] = [];
      for (const unit of units) expected.push(told((await Promise.allSettled([alone.commit(unit)]))[0]));
      const answers = await Promise.allSettled(units.map((unit) => together.commit(unit)));
      assert.deepEqual(answers.map(told), expected);
      assert.deepEqual(await standing(together), await standing(alone));
    };
    // A text that is first used behind a failure has to be sent again, later than those that came after it.
    for (const [kind, make] of KINDS.entries()) {
      await fresh(together);
      assert.equal(await together.commit(make(thingOf(kind === 0 ? ids[5] : ids[0]))), null);
    }
    await fc.assert(fc.asyncProperty(groups, property), { numRuns: 60 });
    for (const kind of KINDS.keys())
      await fc.assert(
        fc.asyncProperty(
          groups.map((group) => group.map(([, thing]) => [kind, thing] as const)),
          property,
        ),
        { numRuns: 10 },
      );
  });

  test('two processes that change the same rows in whatever order lose nothing', async () => {
    const second = await openPostgres({ url });
    await fresh(together);
    const books = Array.from({ length: 20 }, () => randomUUID());
    await together.commit(books.map((id) => sql`insert into things (id, version) values (${id}, 0)`));
    let wins = 0;
    const trade = async (db: Db, order: readonly string[]) => {
      for (let round = 0; round < 8; round++) {
        const read = await db.all<{ id: string; version: number }>(sql`select id, version from things`);
        const versions = new Map(read.map(({ id, version }) => [id, version]));
        const answers = await Promise.all(
          order.map((id) => {
            const version = versions.get(id) ?? 0;
            return db.commit([
              hold('a', 'right'),
              must(
                'version',
                sql`update things set version = ${version + 1} where id = ${id} and version = ${version}`,
              ),
              line(id, null),
            ]);
          }),
        );
        wins += answers.filter((answer) => answer === null).length;
      }
    };
    await Promise.all([trade(together, books), trade(second, books.toReversed()), trade(second, books)]);
    const sum = sql`select sum(version) as versions, (select count(*) from lines) as lines from things where note is null`;
    assert.deepEqual(await together.get(sum), { versions: wins, lines: wins });
    await second.close();
  });

  /** The same of somebody else, all of whose rows have other names. */
  const ofAnother = (unit: readonly Statement[]): Statement[] =>
    unit.map((statement) => ({
      ...statement,
      values: statement.values.map((value) => (typeof value === 'string' ? `another ${value}` : value)),
    }));

  function openAlike(server = client) {
    const alike = alikeUnits(statementQueries());
    const ask = async (text: string, values?: readonly string[]) =>
      (await server.query<Record<string, string>>(text, values && [...values])).rows;
    return {
      async queriesOf(units: readonly (readonly Statement[])[]) {
        await alike.learn(units, ask);
        return alike.queriesOf(units);
      },
    };
  }

  test('units of one kind are one statement for each of theirs, and others are as they are', async () => {
    const { queriesOf } = openAlike();
    let owners = 0;
    const of = (kind: number, limit: number, owner: string) =>
      KINDS[kind]?.({ ...thingOf(randomUUID(), limit), owner }) ?? [];
    const units = (kind: number, limits: readonly number[]) =>
      limits.map((limit) => of(kind, limit, `owner ${owners++}`));
    const count = async (of: readonly (readonly Statement[])[]) => (await queriesOf(of)).length;
    assert.equal(await count(units(0, [7, 7, 7])), 4, 'alike');
    assert.equal(await count(units(0, [7, 8, 7])), 8, 'of another limit');
    assert.equal(
      await count(['a', 'b', 'a', 'c', 'b', 'a'].map((owner) => of(0, 7, owner))),
      12,
      'the second of an owner is in another round than the first, and so is the third',
    );
    assert.equal(await count(units(1, [1, 2, 3])), 3, 'saved');
    assert.equal(await count(units(3, [1, 1])), 4, 'twice to one table');
    assert.equal(await count(units(4, [1, 1])), 2, 'not by a key');
    assert.equal(await count(units(5, [1, 1])), 4, 'deletions');
    assert.equal(
      await count([...units(0, [7, 7]), ...units(1, [7]), ...units(0, [7])]),
      4 + 3,
      'side by side',
    );
  });

  test('orders of a few owners at one moment are written at once, however they come from two processes', async (t) => {
    const second = await openPostgres({ url });
    t.after(() => second.close());
    await fresh(together);
    // What writes has a number, and so has each savepoint.
    const written = async () =>
      Number((await client.query<{ n: string }>('select pg_current_xact_id() as n')).rows[0]?.n);
    const accepted = async (db: Db, round: number) => {
      const owners = Array.from({ length: 24 }, (_, place) => WORDS[(place * (round + 1)) % 2] ?? '');
      const units = owners.map((owner) => KINDS[0]?.({ ...thingOf(randomUUID(), 1_000), owner }) ?? []);
      assert.deepEqual(new Set(await Promise.all(units.map((unit) => db.commit(unit)))), new Set([null]));
    };
    for (const db of [together, second]) await accepted(db, 0);
    const before = await written();
    for (let round = 0; round < 5; round++) await accepted(together, round);
    assert.equal((await written()) - before, 5 + 1, 'nothing was sent twice');
    await Promise.all([1, 2, 3].flatMap((round) => [accepted(together, round), accepted(second, round)]));
    const counted = sql`select sum(n) as orders, (select count(*) from things where note is null) as things from counts`;
    assert.deepEqual(await together.get(counted), { orders: 312, things: 312 });
  });

  test('all that is written on the way of an order goes together with that of others', async (t) => {
    const units: (readonly Statement[])[] = [];
    const recording = (db: Db): Db => ({
      ...db,
      commit(unit) {
        units.push(unit);
        return db.commit(unit);
      },
    });
    const world = await openWorld(t, { db: recording });
    const migrated = await startPostgres();
    const db = await openPostgres({ url: migrated.url });
    await migrate(db, Date.now());
    await db.close();
    const asking = new Client(migrated.url);
    await asking.connect();
    t.after(() => asking.end());
    const trader = await world.makeTrader();
    const order = async (fields: object) => {
      const { status, body } = await world.webhook(trader, world.signal(trader, { ...fields }));
      assert.deepEqual([status, body.status], [200, 'filled']);
    };
    // Who trades for the first time makes a book.
    await order({ quantity: 1 });
    units.length = 0;
    await order({ quantity: 2 });
    await order({ action: 'sell', order_type: 'exit' });
    const orders = units.filter((unit) => unit.some(({ parts }) => /order_history/.test(parts[0] ?? '')));
    assert.equal(orders.length, 4, 'accepted; sent and filled: an entry and its exit');
    const { queriesOf } = openAlike(asking);
    for (const unit of orders)
      assert.equal(
        (await queriesOf([unit, ofAnother(unit)])).length,
        unit.length,
        unit.map(({ parts }) => parts[0]).join('\n'),
      );
  });
}
