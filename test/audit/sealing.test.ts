// The sealer never goes back. Whoever can write to the database, and has no APP_KEY, can clear the seals and the head;
// they cannot make the service seal their entries as if they had been there before.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { verifyAuditLog } from '../../src/app/audit/chain.ts';
import type { Health } from '../../src/app/operation/health.ts';
import { oldestUnsealed, readHead, sightOf } from '../../src/data/audit/chain.ts';
import { keptHead } from '../../src/data/audit/kept-head.ts';
import { type Db, type Statement, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { GENESIS, headText, nextHead } from '../../src/domain/audit-chain.ts';
import { PostgresMissing } from '../servers/postgres.ts';
import { stopwatch } from '../stopwatch.ts';
import { logbook, openWorld, type World } from '../world.ts';
import { auditKey, entry, headMemory, NOW, PLACES, type Place, raw, sealerOf } from './chain-desk.ts';

const STOPPED = 'the audit log was changed by somebody else and is sealed no further: run `audit verify`';

const rewriteHistory: readonly Statement[] = [
  raw(
    `update audit_logs set action = 'forged' where id = (select entry_id from audit_seals where position = 4)`,
  ),
  raw('delete from audit_seals'),
  raw('delete from audit_chain'),
];

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

    const sealingTest = (title: string, run: (db: Db, other: Db) => Promise<void>) =>
      test(title, async (t) => {
        if (missing !== undefined) return t.skip(missing);
        const [db, other] = (place as Place).dbs;
        for (const table of ['audit_logs', 'audit_seals', 'audit_chain', 'audit_checkpoints'])
          await db.commit([raw(`delete from ${table}`)]);
        await run(db, other);
      });
    const write = async (db: Db, from: number, to: number) => {
      for (let index = from; index < to; index++) await db.commit([entry(index)]);
    };
    const problemsOf = async (db: Db) => (await verifyAuditLog({ db, auditKey }, [])).problems;

    sealingTest('what was cleared of its seals, together with the head, is not sealed anew', async (db) => {
      const sealer = await sealerOf(db);
      await write(db, 0, 8);
      await sealer.seal();
      assert.equal(await db.commit(rewriteHistory), null);
      await sealer.seal();
      assert.deepEqual(await readHead(db), { ...GENESIS, sealedUpTo: 0 });
      assert.equal(sealer.problem(), 'the head is at entry 0, though entry 8 was sealed');
      assert.deepEqual(
        sealer.lines.map(({ msg, level, problem }) => [msg, level, problem]),
        [[STOPPED, 50, sealer.problem()]],
      );
      // Once is loud enough, until it is told again every hour.
      await sealer.seal();
      assert.equal(sealer.lines.length, 1);
      sealer.announce();
      assert.deepEqual(
        sealer.lines.slice(1).map(({ msg }) => msg),
        [STOPPED, 'audit head'],
      );
      // Nor by the sealer of the next start, which has nothing but what was kept.
      const next = await sealerOf(db, sealer.memory);
      await write(db, 8, 9);
      await next.seal();
      assert.notEqual(next.problem(), null);
      assert.deepEqual(await readHead(db), { ...GENESIS, sealedUpTo: 0 });
    });

    for (const [title, deed, problem] of [
      [
        'is moved back',
        'update audit_chain set entries = 5, hash = (select hash from audit_seals where position = 5)',
        'the head is at entry 5, though entry 8 was sealed',
      ],
      [
        'is another',
        `update audit_chain set hash = '${'0'.repeat(64)}'`,
        'entry 8 is not the one that was sealed',
      ],
      [
        'has lost its seal',
        'delete from audit_seals where position = 8',
        'entry 8, which was sealed, is missing',
      ],
      [
        'has another seal',
        `update audit_seals set hash = '' where position = 8`,
        'entry 8 is not the one that was sealed',
      ],
    ] as const)
      sealingTest(`nothing is sealed on a head that ${title}, until it is put right`, async (db, other) => {
        const [sealer, second] = [await sealerOf(db), await sealerOf(other)];
        await write(db, 0, 8);
        await sealer.seal();
        await second.seal();
        const rows = await db.all<{ position: number; entry_id: number; hash: string }>(
          sql`select * from audit_seals`,
        );
        const head = await readHead(db);
        await db.commit([raw(deed)]);
        const stored = await readHead(db);
        await write(db, 8, 10);
        for (const each of [sealer, second]) {
          await each.seal();
          assert.equal(each.problem(), problem);
        }
        assert.deepEqual(await readHead(db), stored);
        assert.notDeepEqual(await problemsOf(db), []);
        // From a backup, say.
        await db.commit([
          raw('delete from audit_seals'),
          ...rows.map(
            ({ position, entry_id, hash }) =>
              sql`insert into audit_seals values (${position}, ${entry_id}, ${hash})`,
          ),
          sql`update audit_chain set entries = ${head.entries}, hash = ${head.hash}`,
        ]);
        await sealer.seal();
        assert.equal(sealer.problem(), null);
        assert.deepEqual([await problemsOf(db), (await readHead(db)).entries], [[], 10]);
      });

    sealingTest('a forged seal in the way of the next one stops the sealing', async (db) => {
      const sealer = await sealerOf(db);
      await write(db, 0, 2);
      await sealer.seal();
      await write(db, 2, 4);
      await db.commit([raw(`insert into audit_seals select 3, max(id), '' from audit_logs`)]);
      await sealer.seal();
      assert.match(sealer.problem() ?? '', /has a seal$/);
      assert.equal((await readHead(db)).entries, 2);
    });

    sealingTest(
      'a sealer that was away finds its head behind that of the others, and goes on',
      async (db, other) => {
        const [sealer, away] = [await sealerOf(db), await sealerOf(other)];
        await write(db, 0, 4);
        await away.seal();
        await write(db, 4, 8);
        await sealer.seal();
        await write(db, 8, 9);
        await away.seal();
        assert.deepEqual([away.problem(), away.memory.head?.entries], [null, 9]);
        // One that remembers a chain that never was does not.
        const stranger = await sealerOf(db, headMemory({ entries: 3, hash: 'ab'.repeat(32) }));
        await write(db, 9, 10);
        await stranger.seal();
        assert.equal(stranger.problem(), 'entry 3 is not the one that was sealed');
        assert.equal((await readHead(db)).entries, 9);
      },
    );

    sealingTest('three sealers at once, while entries come in, seal each entry once', async (db, other) => {
      let written = 0;
      const writing = Promise.all(
        Array.from({ length: 4 }, async () => {
          while (written < 2000)
            await Promise.all(Array.from({ length: 20 }, () => db.commit([entry(written++)])));
        }),
      ).then(() => true);
      const sealers = await Promise.all([db, other, other].map((each) => sealerOf(each)));
      const sealing = async (sealer: (typeof sealers)[number]) => {
        for (let done = false; !done; ) {
          done = await Promise.race([writing, new Promise<false>((resolve) => setImmediate(resolve, false))]);
          await sealer.seal();
        }
      };
      await Promise.all(sealers.map(sealing));
      for (const sealer of sealers) assert.equal(sealer.problem(), null);
      const { problems, unsealed, head } = await verifyAuditLog({ db, auditKey }, []);
      assert.deepEqual([problems, unsealed, head.entries], [[], 0, written]);
      // What is certainly sealed is not looked through again.
      assert.ok((await readHead(db)).sealedUpTo > 0);
      assert.equal(await oldestUnsealed(db), null);
    });

    sealingTest(
      'the seals of an older version are taken over, and what it had not sealed is sealed',
      async (db) => {
        await write(db, 0, 10);
        // As it was before.
        await db.script(`drop table audit_seals; drop table audit_checkpoints;
        alter table audit_chain drop column sealed_up_to;
        delete from migrations where name = '007-seals';
        create unique index audit_logs_chain on audit_logs (chain_position);
        create index audit_logs_unsealed on audit_logs (id) where chain_position is null`);
        let head = GENESIS;
        const rows = await db.all<Parameters<typeof nextHead>[2]>(
          sql`select * from audit_logs order by id limit 8`,
        );
        for (const row of rows) {
          head = nextHead(auditKey, head, { ...row, success: Boolean(row.success) });
          await db.commit([
            sql`update audit_logs set chain_position = ${head.entries}, chain_hash = ${head.hash} where id = ${row.id}`,
          ]);
        }
        await db.commit([
          sql`insert into audit_chain (name, entries, hash) values ('audit_logs', ${head.entries}, ${head.hash})`,
        ]);

        await migrate(db, NOW);
        const before = await verifyAuditLog({ db, auditKey }, [head]);
        assert.deepEqual([before.problems, before.head.entries, before.unsealed], [[], 8, 2]);
        await (await sealerOf(db)).seal();
        const now = await verifyAuditLog({ db, auditKey }, [head]);
        assert.deepEqual([now.problems, now.head.entries, now.unsealed], [[], 10, 0]);
      },
    );

    if (name === 'SQLite') return;

    sealingTest(
      'an entry that is committed late, behind others that are sealed, is sealed too',
      async (db) => {
        const sealer = await sealerOf(db);
        await db.script('create table gate (id integer); insert into gate values (1)');
        const { url } = place as Place & { url: string };
        const { Client } = await import('pg');
        const late = new Client(url);
        await late.connect();
        await late.query('begin');
        await late.query(
          `insert into audit_logs (action, success, metadata, created_at) values ('late', true, '{}', now())`,
        );
        await write(db, 0, 5);
        for (let round = 0; round < 5; round++) await sealer.seal();
        assert.equal((await readHead(db)).entries, 5);
        await write(db, 5, 6);
        await sealer.seal();
        // It cannot be said yet that nothing comes before them.
        assert.equal((await readHead(db)).sealedUpTo, 0);
        assert.ok((await sightOf(db)).oldest < (await sightOf(db)).next);
        await late.query('commit');
        await late.end();
        await sealer.seal();
        assert.equal((await readHead(db)).entries, 7);
        for (let round = 0; round < 3; round++) await sealer.seal();
        await write(db, 6, 7);
        await sealer.seal();
        const { newest } = await sightOf(db);
        assert.equal((await readHead(db)).sealedUpTo, newest - 1);
        assert.deepEqual(await problemsOf(db), []);
      },
    );
  });

describe('the kept head', () => {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-head-'));
  after(() => rmSync(dir, { recursive: true }));
  const head = { entries: 12, hash: 'cd'.repeat(32) };

  test('is a file that only we may read, one for each database', async () => {
    const memory = keptHead(dir, undefined);
    assert.equal(await memory.recall(), null);
    await memory.keep({ entries: 11, hash: head.hash });
    await memory.keep(head);
    assert.deepEqual(await memory.recall(), head);
    assert.deepEqual(readdirSync(dir), ['audit-head']);
    assert.equal(statSync(join(dir, 'audit-head')).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(dir, 'audit-head'), 'utf8'), `${headText(head)}\n`);
    const other = keptHead(dir, 'postgres://fillpath:secret@db.example:5432/fillpath');
    assert.equal(await other.recall(), null);
    await other.keep(head);
    // The password may change.
    assert.deepEqual(
      await keptHead(dir, 'postgres://fillpath:other@db.example:5432/fillpath').recall(),
      head,
    );
    assert.equal(await keptHead(dir, 'postgres://fillpath:secret@db.example:5432/another').recall(), null);
  });

  test('that cannot be read is no head: nothing is sealed, and the operator is told', async () => {
    const [, openPlace] = PLACES[0];
    const place = await openPlace();
    const [db] = place.dbs;
    writeFileSync(join(dir, 'audit-head'), 'rubbish');
    const memory = keptHead(dir, undefined);
    await assert.rejects(memory.recall(), /does not hold the head of an audit log/);
    await db.commit([entry(1)]);
    const sealer = await sealerOf(db, { ...headMemory(), recall: memory.recall });
    await sealer.seal();
    assert.equal(sealer.problem(), 'the remembered head cannot be read');
    assert.equal((await readHead(db)).entries, 0);
    assert.deepEqual(
      sealer.lines.map(({ level }) => level),
      [50],
    );
    await place.close();
  });
});

describe('the service', () => {
  const sealed = (world: World, entries: number) =>
    world.eventually(
      () => readHead(world.db),
      (head) => head.entries === entries,
    );
  const health = async (world: World) => {
    const { status, body } = await world.request<Health>({ method: 'GET', url: '/health' });
    return [status, body.status, body.audit.status];
  };
  const headsOf = (lines: readonly { msg: string; head?: unknown }[]) =>
    lines.filter(({ msg }) => msg === 'audit head').map(({ head }) => String(head).split(':')[0]);

  test('seals within about a second', async (t) => {
    const world = await openWorld(t);
    await world.webhook(await world.makeTrader(), 'buy!');
    const passed = stopwatch();
    await sealed(world, 1);
    assert.ok(passed() < 5000);
  });

  test('seals what is left when it stops, and goes on at its next start; each time its log has the head', async (t) => {
    const { log, lines } = logbook();
    const world = await openWorld(t, { log });
    const trader = await world.makeTrader();
    for (let round = 1; round <= 3; round++) {
      await Promise.all(Array.from({ length: 20 }, () => world.webhook(trader, 'buy!')));
      await world.restart();
      const { problems, head, unsealed } = await verifyAuditLog({ db: world.db, auditKey }, []);
      assert.deepEqual([problems, head.entries, unsealed], [[], round * 20, 0]);
      const kept = await keptHead(world.dir, undefined).recall();
      assert.deepEqual(kept, { entries: head.entries, hash: head.hash });
    }
    assert.deepEqual(headsOf(lines), ['0', '20', '20', '40', '40', '60', '60']);
  });

  test('stops sealing when its history is rewritten, says so in its log and in /health, and trades on', async (t) => {
    const { log, lines, line } = logbook();
    const world = await openWorld(t, { log });
    const trader = await world.makeTrader();
    await Promise.all(Array.from({ length: 8 }, () => world.webhook(trader, 'buy!')));
    await sealed(world, 8);
    assert.deepEqual(await health(world), [200, 'up', 'up']);
    assert.equal(await world.db.commit(rewriteHistory), null);
    const { problem } = await line(STOPPED);
    assert.equal(problem, 'the head is at entry 0, though entry 8 was sealed');
    assert.deepEqual(await health(world), [200, 'up', 'down']);
    assert.equal((await world.send(trader)).status, 200);

    const told = lines.length;
    await world.restart();
    assert.ok(lines.slice(told).some(({ msg }) => msg === STOPPED));
    assert.deepEqual(await health(world), [200, 'up', 'down']);
    assert.equal((await readHead(world.db)).entries, 0);
    const kept = await keptHead(world.dir, undefined).recall();
    const { problems } = await verifyAuditLog({ db: world.db, auditKey }, kept ? [kept] : []);
    assert.deepEqual(problems, ['the kept head has 8 entries, the chain only 0: the end is missing']);
  });
});
