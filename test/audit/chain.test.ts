// The audit log is a chain: an entry that is edited, deleted, moved or slipped in by SQL is found, on SQLite and on
// PostgreSQL, however many processes seal.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { audit } from '../../src/app/audit/audit.ts';
import { auditKeyOf, sealAuditLog, verifyAuditLog } from '../../src/app/audit/chain.ts';
import { countUnsealed, readHead } from '../../src/data/audit-chain.ts';
import { listAuditEntries } from '../../src/data/audit-log.ts';
import { type Db, must, type SqlValue, type Statement, sql } from '../../src/data/db.ts';
import { migrate } from '../../src/data/migrate.ts';
import { openPostgres } from '../../src/data/postgres.ts';
import { openSqlite } from '../../src/data/sqlite.ts';
import { type ChainHead, headText, readHeadText } from '../../src/domain/audit-chain.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { openWorld } from '../world.ts';

const USER = '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10' as UserId;
const NOW = Date.parse('2026-07-15T19:00:00Z');
const auditKey = auditKeyOf(Buffer.alloc(32, 7));

/** One database, two connections to it: as two processes have them. */
interface Place {
  readonly dbs: readonly [Db, Db];
  close(): Promise<void>;
}

async function openSqlitePlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-chain-'));
  const file = join(dir, 'fillpath.sqlite');
  const dbs = [openSqlite({ file }), openSqlite({ file })] as const;
  return {
    dbs,
    async close() {
      for (const db of dbs) await db.close();
      rmSync(dir, { recursive: true });
    },
  };
}

async function openPostgresPlace(): Promise<Place> {
  const server = await startPostgres();
  const dbs = [await openPostgres(server), await openPostgres(server)] as const;
  return {
    dbs,
    async close() {
      for (const db of dbs) await db.close();
      await server.stop();
    },
  };
}

const entry = (index: number): Statement =>
  audit(
    {
      requestId: `request ${index}`,
      ip: '203.0.113.7',
      userAgent: `agent ${index}`,
      path: `/${index}`,
      method: 'POST',
    },
    {
      userId: USER,
      action: 'webhook_order',
      failure: index % 2 === 0 ? null : 'because',
      resource: { type: 'order', id: `order ${index}` },
      metadata: { index, text: 'é "quoted" \u2028 \\ 日本' },
    },
    NOW + index,
  );

const ENTRIES = 8;

/** `text` with ids and values in it as they are: a stranger at a SQL prompt. */
const raw = (text: string): Statement => ({ parts: [text], values: [] });

/** By its place in the chain. */
const edit = (place: number, column: string, value: SqlValue | string, cast = ''): Statement => ({
  parts: [`update audit_logs set ${column} = `, `${cast} where chain_position = ${place}`],
  values: [value],
});

interface Attack {
  readonly name: string;
  readonly deed: (db: Db, hashOf: (place: number) => string) => readonly Statement[];
  readonly found: RegExp;
}

const changed = /^entry 4 of the chain \(id \d+\) was changed$/;
const COLUMNS = `user_id, action, success, metadata, created_at, chain_position, chain_hash`;
const forged = (place: number, hash: string) =>
  raw(`insert into audit_logs (${COLUMNS}) select user_id, action, success, metadata, created_at, ${place}, '${hash}'
    from audit_logs where chain_position = 4`);
const shift = (from: number) => [
  raw(`update audit_logs set chain_position = -chain_position where chain_position >= ${from}`),
  raw('update audit_logs set chain_position = 1 - chain_position where chain_position < 0'),
];
const swapPlaces = (a: number, b: number) => [
  raw(`update audit_logs set chain_position = -1 where chain_position = ${a}`),
  raw(`update audit_logs set chain_position = ${a} where chain_position = ${b}`),
  raw(`update audit_logs set chain_position = ${b} where chain_position = -1`),
];

// biome-ignore format: a table, one attack a line
const ATTACKS: readonly Attack[] = [
  { name: 'the id is edited', deed: (db) => [db.dialect === 'sqlite' ? edit(4, 'id', 99) : raw('update audit_logs set id = default where chain_position = 4')], found: changed },
  { name: 'the user is edited', deed: () => [edit(4, 'user_id', null)], found: changed },
  { name: 'the action is edited', deed: () => [edit(4, 'action', 'login')], found: changed },
  { name: 'the success is edited', deed: (db) => [db.dialect === 'sqlite' ? raw('update audit_logs set success = 1 - success where chain_position = 4') : raw('update audit_logs set success = not success where chain_position = 4')], found: changed },
  { name: 'the address is edited', deed: () => [edit(4, 'ip_address', '203.0.113.8')], found: changed },
  { name: 'the User-Agent is edited', deed: () => [edit(4, 'user_agent', 'agent  3')], found: changed },
  { name: 'the path is edited', deed: () => [edit(4, 'request_path', null)], found: changed },
  { name: 'the method is edited', deed: () => [edit(4, 'request_method', 'post')], found: changed },
  { name: 'the reason is edited', deed: () => [edit(4, 'error_message', '')], found: changed },
  { name: 'the type of the resource is edited', deed: () => [edit(4, 'resource_type', 'account')], found: changed },
  { name: 'the id of the resource is edited', deed: () => [edit(4, 'resource_id', 'order 4')], found: changed },
  { name: 'the metadata are edited', deed: () => [edit(4, 'metadata', '{}')], found: changed },
  { name: 'the metadata are spelled anew', deed: (db) => [raw(`update audit_logs set metadata = ${db.dialect === 'sqlite' ? "metadata || ' '" : "(metadata::text || ' ')::json"} where chain_position = 4`)], found: changed },
  { name: 'the time is edited', deed: () => [edit(4, 'created_at', timestamp(NOW + 2))], found: changed },
  { name: 'the hash is edited', deed: () => [edit(4, 'chain_hash', '0'.repeat(64))], found: changed },
  { name: 'the hash is removed', deed: () => [edit(4, 'chain_hash', null)], found: changed },
  { name: 'the place is edited', deed: () => [edit(4, 'chain_position', 100)], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'a value moves to the next column', deed: () => [edit(4, 'ip_address', 'agent 3'), edit(4, 'user_agent', '203.0.113.7')], found: changed },
  { name: 'two entries swap a value', deed: () => [edit(4, 'user_agent', 'agent 4'), edit(5, 'user_agent', 'agent 3')], found: changed },
  { name: 'an entry is edited and unsealed, to be sealed anew', deed: () => [edit(4, 'action', 'login'), edit(4, 'chain_position', null)], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'an entry in the middle is deleted', deed: () => [raw('delete from audit_logs where chain_position = 4')], found: /^entries 4 to 4 of the chain are missing$/ },
  { name: 'the first entry is deleted', deed: () => [raw('delete from audit_logs where chain_position = 1')], found: /^entries 1 to 1 of the chain are missing$/ },
  { name: 'an entry is deleted and the rest moved up', deed: () => [raw('delete from audit_logs where chain_position = 4'), raw('update audit_logs set chain_position = -chain_position where chain_position > 4'), raw('update audit_logs set chain_position = -chain_position - 1 where chain_position < 0')], found: changed },
  { name: 'the last entry is deleted', deed: () => [raw('delete from audit_logs where chain_position = 8')], found: /^the chain ends at entry 7, though 8 were sealed: the end is missing$/ },
  { name: 'the end is cut off', deed: () => [raw('delete from audit_logs where chain_position > 3')], found: /^the chain ends at entry 3, though 8 were sealed/ },
  { name: 'everything is deleted but the head', deed: () => [raw('delete from audit_logs')], found: /^the chain ends at entry 0, though 8 were sealed/ },
  { name: 'two entries change places', deed: () => swapPlaces(4, 5), found: changed },
  { name: 'the last two entries change places', deed: () => swapPlaces(7, 8), found: /^entry 7 of the chain \(id \d+\) was changed$/ },
  { name: 'an entry is slipped in, the rest moved down', deed: (_, hashOf) => [...shift(4), raw(`insert into audit_logs (${COLUMNS}) select user_id, action, success, metadata, created_at, 4, '${hashOf(4)}' from audit_logs where chain_position = 3`)], found: changed },
  { name: 'an entry is put before the first', deed: (_, hashOf) => [forged(0, hashOf(4))], found: /^entry id \d+ stands at the place 0 of the chain, where none belongs$/ },
  { name: 'an entry is put far before the first', deed: (_, hashOf) => [forged(-7, hashOf(4))], found: /stands at the place -7 of the chain, where none belongs$/ },
  { name: 'an entry is added at the end', deed: (_, hashOf) => [forged(9, hashOf(8))], found: /^entry 9 of the chain \(id \d+\) was changed$/ },
  { name: 'the head is moved on', deed: () => [raw('update audit_chain set entries = 9')], found: /^the chain ends at entry 8, though 9 were sealed/ },
  { name: 'the head is moved back', deed: (_, hashOf) => [raw(`update audit_chain set entries = 5, hash = '${hashOf(5)}'`)], found: /^the stored head says 5 entries, the chain has 8: it was changed$/ },
  { name: 'the head’s hash is edited', deed: () => [raw(`update audit_chain set hash = '${'0'.repeat(64)}'`)], found: /^the stored head, at entry 8, was changed$/ },
  { name: 'the head is deleted', deed: () => [raw('delete from audit_chain')], found: /^the stored head says 0 entries, the chain has 8: it was changed$/ },
];

for (const [name, openPlace] of [
  ['SQLite', openSqlitePlace],
  ['PostgreSQL', openPostgresPlace],
] as const)
  describe(`on ${name}`, () => {
    let place: Place | undefined;
    let missing: string | undefined;
    before(async () => {
      try {
        place = await openPlace();
        const [db] = place.dbs;
        await migrate(db, NOW);
        await db.commit([
          sql`insert into users (id, email, password_hash, is_admin, is_active, plan, created_at)
              values (${USER}, 'a@example.com', '', ${false}, ${true}, 'free', ${timestamp(NOW)})`,
        ]);
      } catch (fault) {
        if (!(fault instanceof PostgresMissing)) throw fault;
        missing = fault.message;
      }
    });
    after(() => place?.close());

    interface Chain {
      readonly db: Db;
      readonly other: Db;
      verify(kept?: ChainHead): Promise<readonly string[]>;
      write(from: number, to: number): Promise<void>;
      hashOf(place: number): string;
    }

    /** A log of eight entries, sealed. */
    const chainTest = (title: string, run: (chain: Chain) => Promise<void>) =>
      test(title, async (t) => {
        if (missing !== undefined) return t.skip(missing);
        const [db, other] = (place as Place).dbs;
        await db.commit([raw('delete from audit_logs')]);
        await db.commit([raw('delete from audit_chain')]);
        const write = async (from: number, to: number) => {
          for (let index = from; index < to; index++) await db.commit([entry(index)]);
        };
        await write(0, ENTRIES);
        await sealAuditLog({ db, auditKey });
        const rows = await db.all<{ chain_hash: string }>(
          sql`select chain_hash from audit_logs order by chain_position`,
        );
        await run({
          db,
          other,
          write,
          hashOf: (at) => rows[at - 1]?.chain_hash ?? '',
          verify: async (kept) => (await verifyAuditLog({ db: other, auditKey }, kept ?? null)).problems,
        });
      });

    chainTest(
      'a log that nobody touched is whole, and so is one that grew',
      async ({ db, write, verify }) => {
        assert.deepEqual(await verify(), []);
        const kept = await readHead(db);
        assert.equal(kept.entries, ENTRIES);
        await write(8, 12);
        assert.deepEqual(await verify(kept), []);
        assert.equal(await countUnsealed(db), 4);
        await sealAuditLog({ db, auditKey });
        assert.equal((await verifyAuditLog({ db, auditKey }, kept)).head.entries, 12);
        assert.deepEqual(await verify(kept), []);
        assert.equal(await countUnsealed(db), 0);
      },
    );

    for (const { name: title, deed, found } of ATTACKS)
      chainTest(`it is found when ${title}`, async ({ db, hashOf, write, verify }) => {
        for (const statement of deed(db, hashOf))
          assert.equal(await db.commit([must('row', statement)]), null);
        const [problem = 'nothing'] = await verify();
        assert.match(problem, found);
        // And it stays found, whatever is sealed afterwards.
        await write(20, 24);
        await sealAuditLog({ db, auditKey }).catch(() => {});
        assert.notDeepEqual(await verify(), []);
      });

    chainTest(
      'a head that was kept finds what was cut off or written anew together with the head',
      async (chain) => {
        const { db, hashOf, write, verify } = chain;
        const kept = await readHead(db);
        const back = [
          raw('delete from audit_logs where chain_position > 5'),
          raw(`update audit_chain set entries = 5, hash = '${hashOf(5)}'`),
        ];
        assert.equal(await db.commit(back), null);
        // What is left is a whole chain of its own: only who kept a head can tell.
        assert.deepEqual(await verify(), []);
        assert.match((await verify(kept)).join(), /the kept head has 8 entries, the chain only 5/);
        await write(30, 36);
        await sealAuditLog({ db, auditKey });
        assert.deepEqual(await verify(), []);
        assert.match((await verify(kept)).join(), /^entry 8 is not the one of the kept head$/);
        await db.commit([raw('delete from audit_logs'), raw('delete from audit_chain')]);
        assert.match((await verify(kept)).join(), /the kept head has 8 entries, the chain only 0/);
      },
    );

    chainTest(
      'a sealer that finds the log changed says so, and seals nothing further',
      async ({ db, write }) => {
        await db.commit([raw('delete from audit_chain')]);
        await write(20, 21);
        await assert.rejects(sealAuditLog({ db, auditKey }), /audit verify/);
        assert.equal(await countUnsealed(db), 1);
      },
    );

    chainTest('the user’s list has the entries newest first, of all actions or of some', async ({ db }) => {
      await db.commit([sql`update audit_logs set action = 'login' where chain_position in (3, 6)`]);
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
      const { problems } = await verifyAuditLog({ db, auditKey: otherKey }, null);
      assert.match(problems.join(), /^entry 1 .* was changed, or APP_KEY is not the one/);
    });

    chainTest(
      'two sealers at once, while entries come in, seal each entry once',
      async ({ db, other, verify }) => {
        let written = 0;
        const writing = Promise.all(
          Array.from({ length: 4 }, async () => {
            while (written < 2000)
              await Promise.all(Array.from({ length: 20 }, () => db.commit([entry(written++)])));
          }),
        ).then(() => true);
        const sealing = async (sealer: Db) => {
          for (let done = false; !done; ) {
            done = await Promise.race([
              writing,
              new Promise<false>((resolve) => setImmediate(resolve, false)),
            ]);
            await sealAuditLog({ db: sealer, auditKey });
          }
        };
        await Promise.all([sealing(db), sealing(other), sealing(other)]);
        assert.deepEqual(await verify(), []);
        assert.equal(await countUnsealed(db), 0);
        assert.equal((await readHead(db)).entries, ENTRIES + written);
      },
    );
  });

describe('the service', () => {
  test('seals within about a second', async (t) => {
    const world = await openWorld(t);
    await world.webhook(await world.makeTrader(), 'buy!');
    const begun = performance.now();
    await world.eventually(
      () => countUnsealed(world.db),
      (unsealed) => unsealed === 0,
    );
    assert.ok(performance.now() - begun < 5000);
    assert.equal((await readHead(world.db)).entries, 1);
  });

  test('seals what is left when it stops, and goes on at its next start', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (let round = 1; round <= 3; round++) {
      await Promise.all(Array.from({ length: 20 }, () => world.webhook(trader, 'buy!')));
      await world.restart();
      assert.equal(await countUnsealed(world.db), 0);
      const { problems, head } = await verifyAuditLog({ db: world.db, auditKey }, null);
      assert.deepEqual([problems, head.entries], [[], round * 20]);
    }
  });
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
