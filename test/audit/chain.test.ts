// The audit log is a chain: an entry that is edited, deleted, moved or slipped in by SQL is found, on SQLite and on
// PostgreSQL, however many processes seal.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { auditKeyOf, verifyAuditLog } from '../../src/app/audit/chain.ts';
import { readHead } from '../../src/data/audit/chain.ts';
import { listAuditEntries } from '../../src/data/audit/log.ts';
import { type Db, must, type SqlValue, type Statement, sql } from '../../src/data/engine/db.ts';
import { type ChainHead, headText, readHeadText } from '../../src/domain/audit-chain.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { PostgresMissing } from '../servers/postgres.ts';
import { auditKey, entry, NOW, PLACES, type Place, raw, sealerOf, USER } from './chain-desk.ts';

const ENTRIES = 8;

/** Of the entry at this place in the chain. */
const at = (place: number) => `id = (select entry_id from audit_seals where position = ${place})`;

const edit = (place: number, column: string, value: SqlValue | string): Statement => ({
  parts: [`update audit_logs set ${column} = `, ` where ${at(place)}`],
  values: [value],
});

interface Attack {
  readonly name: string;
  readonly deed: (db: Db, hashOf: (place: number) => string) => readonly Statement[];
  readonly found: RegExp;
}

const changed = /^entry 4 of the chain \(id \d+\) was changed$/;
const COLUMNS = 'user_id, action, success, metadata, created_at';
/** An entry of their own, with a seal at this place. */
const forged = (place: number, hash: string) => [
  raw(`insert into audit_logs (${COLUMNS}) select ${COLUMNS} from audit_logs where ${at(3)}`),
  raw(
    `insert into audit_seals (position, entry_id, hash) select ${place}, max(id), '${hash}' from audit_logs`,
  ),
];
/** The same without a seal, under a number of their choice. */
const slippedIn = (db: Db, id: string) =>
  raw(`insert into audit_logs (id, ${COLUMNS}) ${db.dialect === 'sqlite' ? '' : 'overriding system value'}
    select ${id}, ${COLUMNS} from audit_logs where ${at(4)}`);
const move = (from: number, by: number) => [
  raw(`update audit_seals set position = -position where position >= ${from}`),
  raw(`update audit_seals set position = ${by} - position where position < 0`),
];
const swapPlaces = (a: number, b: number) => [
  raw(`update audit_seals set position = -1 where position = ${a}`),
  raw(`update audit_seals set position = ${a} where position = ${b}`),
  raw(`update audit_seals set position = ${b} where position = -1`),
];
const remove = (where: string) => [
  raw(`delete from audit_logs where id in (select entry_id from audit_seals where ${where})`),
  raw(`delete from audit_seals where ${where}`),
];

// biome-ignore format: a table, one attack a line
const ATTACKS: readonly Attack[] = [
  { name: 'the id is edited', deed: (db) => [db.dialect === 'sqlite' ? edit(4, 'id', 99) : raw(`update audit_logs set id = default where ${at(4)}`)], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'the id is edited in the seal too', deed: (db) => [db.dialect === 'sqlite' ? edit(4, 'id', 10 ** 6) : raw(`update audit_logs set id = default where ${at(4)}`), raw('update audit_seals set entry_id = (select max(id) from audit_logs) where position = 4')], found: changed },
  { name: 'the user is edited', deed: () => [edit(4, 'user_id', null)], found: changed },
  { name: 'the action is edited', deed: () => [edit(4, 'action', 'login')], found: changed },
  { name: 'the success is edited', deed: (db) => [raw(`update audit_logs set success = ${db.dialect === 'sqlite' ? '1 - success' : 'not success'} where ${at(4)}`)], found: changed },
  { name: 'the address is edited', deed: () => [edit(4, 'ip_address', '203.0.113.8')], found: changed },
  { name: 'the User-Agent is edited', deed: () => [edit(4, 'user_agent', 'agent  3')], found: changed },
  { name: 'the path is edited', deed: () => [edit(4, 'request_path', null)], found: changed },
  { name: 'the method is edited', deed: () => [edit(4, 'request_method', 'post')], found: changed },
  { name: 'the reason is edited', deed: () => [edit(4, 'error_message', '')], found: changed },
  { name: 'the type of the resource is edited', deed: () => [edit(4, 'resource_type', 'account')], found: changed },
  { name: 'the id of the resource is edited', deed: () => [edit(4, 'resource_id', 'order 4')], found: changed },
  { name: 'the metadata are edited', deed: () => [edit(4, 'metadata', '{}')], found: changed },
  { name: 'the metadata are spelled anew', deed: (db) => [raw(`update audit_logs set metadata = ${db.dialect === 'sqlite' ? "metadata || ' '" : "(metadata::text || ' ')::json"} where ${at(4)}`)], found: changed },
  { name: 'the time is edited', deed: () => [edit(4, 'created_at', timestamp(NOW + 2))], found: changed },
  { name: 'the hash is edited', deed: () => [raw(`update audit_seals set hash = '${'0'.repeat(64)}' where position = 4`)], found: changed },
  { name: 'the hash is emptied', deed: () => [raw(`update audit_seals set hash = '' where position = 4`)], found: changed },
  { name: 'the place is edited', deed: () => [raw('update audit_seals set position = 100 where position = 4')], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'the place is edited to one far away', deed: () => [raw('update audit_seals set position = 9000000000000 where position = 8')], found: /^entries 8 to 8999999999999 of the chain are missing$/ },
  { name: 'a value moves to the next column', deed: () => [edit(4, 'ip_address', 'agent 3'), edit(4, 'user_agent', '203.0.113.7')], found: changed },
  { name: 'two entries swap a value', deed: () => [edit(4, 'user_agent', 'agent 4'), edit(5, 'user_agent', 'agent 3')], found: changed },
  { name: 'an entry is edited and unsealed, to be sealed anew', deed: () => [edit(4, 'action', 'login'), raw('delete from audit_seals where position = 4')], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'an entry in the middle is deleted', deed: () => [raw(`delete from audit_logs where ${at(4)}`)], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'an entry in the middle is deleted with its seal', deed: () => remove('position = 4'), found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'the first entry is deleted with its seal', deed: () => remove('position = 1'), found: /^entries 1 to 1 of the chain are missing$/ },
  { name: 'the beginning is cut off', deed: () => remove('position <= 3'), found: /^entries 1 to 3 of the chain are missing$/ },
  { name: 'the beginning is cut off, with a checkpoint that is not ours', deed: (_, hashOf) => [...remove('position <= 3'), raw(`insert into audit_checkpoints (position, hash, mac, made_at) values (3, '${hashOf(3)}', '${hashOf(3)}', '2026-07-15T19:00:00Z')`)], found: /^the checkpoint at entry 3 was not made by us/ },
  { name: 'an entry is deleted and the rest moved up', deed: () => [...remove('position = 4'), ...move(5, -1)], found: changed },
  { name: 'the last entry is deleted', deed: () => [raw(`delete from audit_logs where ${at(8)}`)], found: /^entries 8 to 8 of the chain are missing$/ },
  { name: 'the last entry is deleted with its seal', deed: () => remove('position = 8'), found: /^the chain ends at entry 7, though 8 were sealed: the end is missing$/ },
  { name: 'the end is cut off', deed: () => remove('position > 3'), found: /^the chain ends at entry 3, though 8 were sealed/ },
  { name: 'everything is deleted but the head', deed: () => remove('position > 0'), found: /^the chain ends at entry 0, though 8 were sealed/ },
  { name: 'the seals are cleared', deed: () => [raw('delete from audit_seals')], found: /^the chain ends at entry 0, though 8 were sealed/ },
  { name: 'two entries change places', deed: () => swapPlaces(4, 5), found: changed },
  { name: 'the last two entries change places', deed: () => swapPlaces(7, 8), found: /^entry 7 of the chain \(id \d+\) was changed$/ },
  { name: 'an entry is slipped in, the rest moved down', deed: (_, hashOf) => [...move(4, 1), ...forged(4, hashOf(4))], found: changed },
  { name: 'an entry is put before the first', deed: (_, hashOf) => forged(0, hashOf(4)), found: /^entry id \d+ stands at the place 0 of the chain, where none belongs$/ },
  { name: 'an entry is put far before the first', deed: (_, hashOf) => forged(-7, hashOf(4)), found: /stands at the place -7 of the chain, where none belongs$/ },
  { name: 'an entry is added at the end', deed: (_, hashOf) => forged(9, hashOf(8)), found: /^entry 9 of the chain \(id \d+\) was changed$/ },
  { name: 'an entry is slipped in without a seal', deed: (db) => [slippedIn(db, '-5')], found: /^entry id -5 is not sealed, though all around it are: it was slipped in$/ },
  { name: 'the head is moved on', deed: () => [raw(`update audit_chain set entries = 9`)], found: /^the chain ends at entry 8, though 9 were sealed/ },
  { name: 'the head is moved back', deed: (_, hashOf) => [raw(`update audit_chain set entries = 5, hash = '${hashOf(5)}'`)], found: /^the stored head says 5 entries, the chain has 8: it was changed$/ },
  { name: 'the head’s hash is edited', deed: () => [raw(`update audit_chain set hash = '${'0'.repeat(64)}'`)], found: /^the stored head, at entry 8, was changed$/ },
  { name: 'the head is deleted', deed: () => [raw('delete from audit_chain')], found: /^the stored head says 0 entries, the chain has 8: it was changed$/ },
];

const countUnsealed = async (db: Db): Promise<number> =>
  (await verifyAuditLog({ db, auditKey }, [])).unsealed;

for (const [name, openPlace] of PLACES)
  describe(`on ${name}`, () => {
    let place: Place | undefined;
    let missing: string | undefined;
    before(async () => {
      try {
        place = await openPlace();
      } catch (fault) {
        if (!(fault instanceof PostgresMissing)) throw fault;
        missing = fault.message;
      }
    });
    after(() => place?.close());

    interface Chain {
      readonly db: Db;
      readonly other: Db;
      readonly sealer: Awaited<ReturnType<typeof sealerOf>>;
      verify(kept?: ChainHead): Promise<readonly string[]>;
      write(from: number, to: number): Promise<void>;
      hashOf(place: number): string;
    }

    /** A log of eight entries, sealed. */
    const chainTest = (title: string, run: (chain: Chain) => Promise<void>) =>
      test(title, async (t) => {
        if (missing !== undefined) return t.skip(missing);
        const [db, other] = (place as Place).dbs;
        for (const table of ['audit_logs', 'audit_seals', 'audit_chain', 'audit_checkpoints'])
          await db.commit([raw(`delete from ${table}`)]);
        const write = async (from: number, to: number) => {
          for (let index = from; index < to; index++) await db.commit([entry(index)]);
        };
        const sealer = await sealerOf(db);
        await write(0, ENTRIES - 2);
        // In the third round it is certain that nothing comes before what the first one saw.
        for (let round = 0; round < 3; round++) await sealer.seal();
        await write(ENTRIES - 2, ENTRIES);
        await sealer.seal();
        const rows = await db.all<{ hash: string }>(sql`select hash from audit_seals order by position`);
        await run({
          db,
          other,
          sealer,
          write,
          hashOf: (at) => rows[at - 1]?.hash ?? '',
          verify: async (kept) =>
            (await verifyAuditLog({ db: other, auditKey }, kept ? [kept] : [])).problems,
        });
      });

    chainTest(
      'a log that nobody touched is whole, and so is one that grew',
      async ({ db, sealer, write, verify }) => {
        assert.deepEqual(await verify(), []);
        const kept = await readHead(db);
        assert.equal(kept.entries, ENTRIES);
        await write(8, 12);
        assert.deepEqual(await verify(kept), []);
        assert.equal(await countUnsealed(db), 4);
        await sealer.seal();
        assert.equal((await verifyAuditLog({ db, auditKey }, [kept])).head.entries, 12);
        assert.deepEqual(await verify(kept), []);
        assert.equal(await countUnsealed(db), 0);
      },
    );

    chainTest('sealing changes no entry', async ({ db, sealer, write }) => {
      const rowsOf = () =>
        db.all(db.dialect === 'sqlite' ? sql`select * from audit_logs` : sql`select xmin, * from audit_logs`);
      await write(8, 12);
      const before = await rowsOf();
      await sealer.seal();
      assert.deepEqual(await rowsOf(), before);
      assert.equal(await countUnsealed(db), 0);
    });

    for (const { name: title, deed, found } of ATTACKS)
      chainTest(`it is found when ${title}`, async ({ db, sealer, hashOf, write, verify }) => {
        for (const statement of deed(db, hashOf))
          assert.equal(await db.commit([must('row', statement)]), null);
        const [problem = 'nothing'] = await verify();
        assert.match(problem, found);
        // And it stays found, whatever is sealed afterwards.
        await write(20, 24);
        await sealer.seal();
        assert.notDeepEqual(await verify(), []);
      });

    chainTest(
      'a head that was kept finds what was cut off or written anew together with the head',
      async (chain) => {
        const { db, hashOf, write, verify } = chain;
        const kept = await readHead(db);
        const back = [
          ...remove('position > 5'),
          raw(`update audit_chain set entries = 5, hash = '${hashOf(5)}', sealed_up_to = 0`),
        ];
        assert.equal(await db.commit(back), null);
        // What is left is a whole chain of its own: only who kept a head can tell.
        assert.deepEqual(await verify(), []);
        assert.match((await verify(kept)).join(), /the kept head has 8 entries, the chain only 5/);
        await write(30, 36);
        // A sealer that remembers nothing goes on with it.
        await (await sealerOf(db)).seal();
        assert.deepEqual(await verify(), []);
        assert.match((await verify(kept)).join(), /^entry 8 is not the one of the kept head$/);
        await db.commit([...remove('position > 0'), raw('delete from audit_chain')]);
        assert.match((await verify(kept)).join(), /the kept head has 8 entries, the chain only 0/);
      },
    );

    chainTest('the user’s list has the entries newest first, of all actions or of some', async ({ db }) => {
      for (const place of [3, 6]) await db.commit([edit(place, 'action', 'login')]);
      const ids = (await db.all<{ id: number }>(sql`select id from audit_logs order by id`)).map(
        ({ id }) => id,
      );
      const list = async (actions: string[] | null, after: string | null, limit = 3) =>
        (await listAuditEntries(db, USER, { actions, after, limit })).map(
          ({ id }) => ids.indexOf(Number(id)) + 1,
        );
      assert.deepEqual(await list(null, null), [8, 7, 6]);
      assert.deepEqual(await list(null, String(ids[5]), 100), [5, 4, 3, 2, 1]);
      assert.deepEqual(await list(['login'], null), [6, 3]);
      assert.deepEqual(await list(['login', 'webhook_order', 'none'], null, 4), [8, 7, 6, 5]);
      assert.deepEqual(await list(['login', 'none'], String(ids[5])), [3]);
    });

    chainTest('another key finds nothing in order', async ({ db }) => {
      const otherKey = auditKeyOf(Buffer.alloc(32, 8));
      const { problems } = await verifyAuditLog({ db, auditKey: otherKey }, []);
      assert.match(problems.join(), /^entry 1 .* was changed, or APP_KEY is not the one/);
    });
  });

// Structures are changed here, so that each attack has a database of its own. Verification reads 500 places at once.
for (const [name, openPlace] of PLACES)
  for (const [title, id, hasSeal] of [
    ['under a later id', 9_999, true],
    ['under an earlier id', -7, true],
    ['under the same id', 500, true],
    ['under the same id and seal', 500, false],
  ] as const)
    test(`on ${name} an entry at a place where a page ends is found without the unique indexes: ${title}`, async (t) => {
      const place = await openPlace().catch((fault) => {
        if (fault instanceof PostgresMissing) return t.skip(fault.message);
        throw fault;
      });
      if (!place) return;
      t.after(() => place.close());
      const [db, other] = place.dbs;
      const sealer = await sealerOf(db);
      await db.commit(Array.from({ length: 1_100 }, (_, index) => entry(index)));
      await sealer.seal();
      const kept = await readHead(db);
      const verify = async () => (await verifyAuditLog({ db: other, auditKey }, [kept])).problems;
      assert.deepEqual(await verify(), []);

      for (const table of ['audit_logs', 'audit_seals'])
        await db.script(`create table bare as select * from ${table}; drop table ${table};
          alter table bare rename to ${table}`);
      await db.commit([
        raw(
          `insert into audit_logs (id, ${COLUMNS}) select ${id}, ${COLUMNS} from audit_logs where id = 500`,
        ),
        ...(hasSeal
          ? [raw(`insert into audit_seals select 500, ${id}, hash from audit_seals where position = 500`)]
          : []),
      ]);
      assert.match(
        (await verify()).join(),
        /^entry id -?\d+ stands at the place 500 of the chain, where none|^entry 500 of/,
      );
    });

describe('a printed head', () => {
  test('is read as it was printed, and nothing else is', () => {
    const head = { entries: 1234, hash: 'ab'.repeat(32) };
    assert.deepEqual(readHeadText(headText(head)), head);
    for (const text of [
      '',
      '1',
      ':',
      `1:${'AB'.repeat(32)}`,
      `-1:${head.hash}`,
      `1:${head.hash}0`,
      ` 1:${head.hash}`,
    ])
      assert.equal(readHeadText(text), null, text);
  });
});
