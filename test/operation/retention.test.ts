// Nothing grows for ever: what has expired goes, and so do orders and audit entries after as many days as are set, in
// small steps, on SQLite and on PostgreSQL. What somebody may still need stays, and a pruned audit log still verifies.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { verifyAuditLog } from '../../src/app/audit/chain.ts';
import { prune, type RetentionDeps } from '../../src/app/operation/retention.ts';
import { readCheckpoint, readHead } from '../../src/data/audit/chain.ts';
import { type Db, type Statement, sql } from '../../src/data/engine/db.ts';
import { readPruned } from '../../src/data/engine/pruning.ts';
import { earliestId, timestamp } from '../../src/domain/ids.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { auditKey, entry, NOW, PLACES, type Place, raw, sealerOf, USER } from '../audit/chain-desk.ts';
import { PostgresMissing } from '../servers/postgres.ts';
import { openWorld, settableClock } from '../world.ts';

const DAY = 86_400_000;
const ago = (ms: number) => timestamp(NOW - ms);
const ACCOUNT = randomUUIDv7();

const TABLES = [
  'idempotency_keys',
  'order_legs',
  'fill_checks',
  'order_history',
  'refresh_tokens',
  'user_sessions',
  'password_resets',
  'tries',
  'alert_mails',
  'api_keys',
  'daily_order_counts',
  'audit_logs',
  'audit_seals',
  'audit_chain',
  'audit_checkpoints',
  'pruned',
  'paper_orders',
  'paper_stops',
  'paper_accounts',
  'strategy_positions',
];

interface OrderTraits {
  readonly age: number;
  readonly status?: string;
  readonly leg?: string;
  readonly check?: string;
  readonly key?: number;
}

/** An order that was submitted so long ago, with one leg. */
function order({ age, status = 'filled', leg = 'filled', check, key }: OrderTraits) {
  const head = earliestId(NOW - age).slice(0, 19);
  const id = head + randomUUIDv7().slice(19);
  const at = ago(age);
  const unit: Statement[] = [
    sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
          symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace)
        values (${id}, 1, ${USER}, ${ACCOUNT}, 'paper', 'webhook', ${false}, 'BTCUSDT', 'buy', '{}', '1', ${status},
          '[]', ${at}, ${at}, ${false}, '{}')`,
    sql`insert into order_legs (order_id, leg, position, client_order_id, side, quantity, status)
        values (${id}, 'entry', 0, ${id}, 'buy', '1', ${leg})`,
    ...(check
      ? [
          sql`insert into fill_checks (order_id, user_id, state, attempts, next_at)
              values (${id}, ${USER}, ${check}, 1, ${at})`,
        ]
      : []),
    ...(key === undefined
      ? []
      : [
          sql`insert into idempotency_keys (user_id, idempotency_key, body_hash, order_id, created_at)
              values (${USER}, ${id}, '', ${id}, ${ago(key)})`,
        ]),
  ];
  return { id, unit };
}

for (const [name, openPlace] of PLACES)
  describe(`on ${name}`, () => {
    let place: Place | undefined;
    let missing: string | undefined;
    before(async () => {
      try {
        place = await openPlace();
        await place.dbs[0].commit([
          sql`insert into trading_accounts (id, user_id, name, broker_name, webhook_token, webhook_secret,
                max_request_age, allowed_symbols, broker_credentials_verified, halted, connection_version, created_at)
              values (${ACCOUNT}, ${USER}, 'main', 'paper', 't', 's', 60, '[]', ${true}, ${false}, 1, ${ago(0)})`,
        ]);
      } catch (fault) {
        if (!(fault instanceof PostgresMissing)) throw fault;
        missing = fault.message;
      }
    });
    after(() => place?.close());

    interface Desk {
      readonly db: Db;
      /** Prunes as a process would; with what was waited for and committed. */
      prune(
        days?: { audit?: number; order?: number },
        deps?: Partial<RetentionDeps>,
        signal?: AbortSignal,
      ): Promise<{ units: number; pauses: number; complaints: readonly string[] }>;
      count(table: string): Promise<number>;
    }

    const retentionTest = (title: string, run: (desk: Desk) => Promise<void>) =>
      test(title, async (t) => {
        if (missing !== undefined) return t.skip(missing);
        const [db] = (place as Place).dbs;
        for (const table of TABLES) await db.commit([raw(`delete from ${table}`)]);
        await run({
          db,
          async prune({ audit, order } = {}, deps = {}, signal = new AbortController().signal) {
            const complaints: string[] = [];
            let [units, pauses] = [0, 0];
            const counting: Db = {
              ...db,
              commit(unit) {
                units++;
                return db.commit(unit);
              },
            };
            const given: RetentionDeps = {
              db: counting,
              store: openMemoryStore({ clock: { now: () => 0 } }),
              clock: { now: () => NOW },
              async wait() {
                pauses++;
              },
              log: { error: (context) => complaints.push((context as { fault: Error }).fault.message) },
              auditKey,
              retention: {
                auditMs: audit === undefined ? null : audit * DAY,
                orderMs: order === undefined ? null : order * DAY,
                signalMs: 90 * DAY,
              },
              accessTokenMs: 60_000,
              alertIntervalMs: 60_000,
              ...deps,
            };
            await prune(given, signal);
            return { units, pauses, complaints };
          },
          count: async (table) =>
            (await db.get<{ rows: number }>(raw(`select count(*) as rows from ${table}`)))?.rows ?? 0,
        });
      });

    retentionTest('what has expired goes, and what has not stays', async ({ db, prune, count }) => {
      const session = (id: string) =>
        sql`insert into user_sessions (id, user_id, csrf_token, ip_address, user_agent, created_at, is_active)
            values (${id}, ${USER}, '', '::1', '', ${ago(90 * DAY)}, ${true})`;
      const token = (id: string, hash: string, expires: number) =>
        sql`insert into refresh_tokens (token_hash, session_id, expires_at) values (${hash}, ${id}, ${ago(expires)})`;
      const [over, alive, barely] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()];
      const old = order({ age: 2 * DAY, key: 26 * 3_600_000 });
      const young = order({ age: 2 * DAY, key: 23 * 3_600_000 });
      const apiKey = (revoked: string | null) =>
        sql`insert into api_keys (id, user_id, name, key_hash, created_at, revoked_at)
            values (${randomUUIDv7()}, ${USER}, '', ${randomUUIDv7()}, ${ago(99 * DAY)}, ${revoked})`;
      await db.commit([
        ...[over, alive, barely].map(session),
        token(over, 'a', DAY),
        token(over, 'b', 2 * DAY),
        token(alive, 'c', DAY),
        token(alive, 'd', -DAY),
        // Its last access token may still be good.
        token(barely, 'e', 30_000),
        ...[DAY, -DAY].map(
          (expires) => sql`insert into password_resets (token_hash, user_id, expires_at)
              values (${String(expires)}, ${USER}, ${ago(expires)})`,
        ),
        ...[16, 14].map(
          (minutes) =>
            sql`insert into tries (subject, try_1) values (${`${minutes}`}, ${ago(minutes * 60_000)})`,
        ),
        ...old.unit,
        ...young.unit,
        sql`insert into alert_mails (user_id, last_at) values (${USER}, ${ago(3 * DAY)})`,
        ...[ago(40 * DAY), ago(DAY), null].map(apiKey),
        ...['2026-05-01', '2026-07-01', '2026-07-15'].map(
          (day) => sql`insert into daily_order_counts (user_id, day, orders) values (${USER}, ${day}, 7)`,
        ),
      ]);
      await prune();
      assert.deepEqual(
        (await db.all<{ id: string }>(sql`select id from user_sessions order by id`)).map(({ id }) => id),
        [alive, barely].sort(),
      );
      assert.deepEqual(
        (
          await db.all<{ token_hash: string }>(sql`select token_hash from refresh_tokens order by token_hash`)
        ).map((row) => row.token_hash),
        ['d', 'e'],
      );
      const left = [
        'password_resets',
        'idempotency_keys',
        'alert_mails',
        'api_keys',
        'daily_order_counts',
        'tries',
      ];
      assert.deepEqual(await Promise.all(left.map(count)), [1, 1, 0, 2, 2, 1]);
      // Nobody set how long they are kept.
      assert.deepEqual(await Promise.all(['order_history', 'audit_logs'].map(count)), [2, 0]);
      assert.deepEqual(
        (await readPruned(db)).map(({ what, row_count }) => [what, row_count]),
        [
          ['alert_mails', 1],
          ['api_keys', 1],
          ['daily_order_counts', 1],
          ['idempotency_keys', 1],
          ['password_resets', 1],
          ['refresh_tokens', 3],
          ['rounds', 1],
          ['tries', 1],
        ],
      );
    });

    retentionTest(
      'old orders go with their legs and checks, but none that has not ended for good',
      async ({ db, prune, count }) => {
        const gone = [
          order({ age: 31 * DAY }),
          order({ age: 90 * DAY, status: 'rejected', leg: 'rejected' }),
          order({ age: 31 * DAY, status: 'failed', leg: 'planned' }),
          order({ age: 31 * DAY, check: 'done' }),
          order({ age: 31 * DAY, status: 'cancelled', key: 31 * DAY }),
        ];
        const kept = [
          order({ age: 29 * DAY }),
          ...['queued', 'executing', 'placed', 'partially_filled', 'unknown'].map((status) =>
            order({ age: 31 * DAY, status, leg: 'planned' }),
          ),
          // The close of a reversal that failed, say.
          ...['sending', 'unknown', 'placed', 'partially_filled'].map((leg) =>
            order({ age: 31 * DAY, status: 'failed', leg }),
          ),
          ...['dead_letter', 'scheduled', 'running'].map((check) => order({ age: 31 * DAY, check })),
          order({ age: 31 * DAY, key: 60_000 }),
        ];
        await db.commit([...gone, ...kept].flatMap(({ unit }) => unit));
        await prune({ order: 30 });
        const left = await db.all<{ order_id: string }>(
          sql`select order_id from order_history order by order_id`,
        );
        assert.deepEqual(
          left.map(({ order_id }) => order_id),
          kept.map(({ id }) => id).sort(),
        );
        assert.deepEqual([await count('order_legs'), await count('fill_checks')], [kept.length, 3]);
        const pruned = await readPruned(db);
        assert.equal(pruned.find(({ what }) => what === 'orders')?.row_count, gone.length);
      },
    );

    retentionTest(
      'an entry that rested counts from its fill, and what ended late from its last look',
      async ({ db, prune }) => {
        const rested = order({ age: 31 * DAY, check: 'done' });
        const inParts = order({ age: 31 * DAY, status: 'cancelled', leg: 'cancelled' });
        const lapsed = order({ age: 31 * DAY, status: 'cancelled', leg: 'cancelled', check: 'done' });
        const gone = order({ age: 33 * DAY, check: 'done' });
        await db.commit([
          ...[rested, inParts, lapsed, gone].flatMap(({ unit }) => unit),
          sql`update order_history set filled_at = ${ago(60_000)} where order_id = ${rested.id}`,
          sql`update order_history set traded_at = ${ago(DAY)} where order_id = ${inParts.id}`,
          sql`update fill_checks set next_at = ${ago(2 * DAY)} where order_id = ${lapsed.id}`,
          sql`update order_history set filled_at = ${ago(31 * DAY)}, traded_at = ${ago(31 * DAY)} where order_id = ${gone.id}`,
        ]);
        await prune({ order: 30 });
        const left = await db.all<{ order_id: string }>(sql`select order_id from order_history`);
        assert.deepEqual(
          left.map(({ order_id }) => order_id).sort(),
          [rested, inParts, lapsed].map(({ id }) => id).sort(),
        );
      },
    );

    retentionTest(
      'the paper ledger goes with its orders, and the book stays as it is',
      async ({ db, prune, count }) => {
        const [gone, rests, kept] = [
          order({ age: 31 * DAY }),
          order({ age: 31 * DAY }),
          order({ age: 29 * DAY }),
        ];
        const book = (name: string) =>
          sql`insert into paper_accounts (book, version, profit, positions)
              values (${name}, 3, '12.5', '{"BTCUSDT":{"quantity":"2","cost":"120000"}}')`;
        const paper = (name: string, id: string, status: string) =>
          sql`insert into paper_orders (book, client_order_id, broker_ref, symbol, side, quantity, reduce_only, status,
                fill_quantity, accepted_at, updated_at)
              values (${name}, ${id}, 'r', 'BTCUSDT', 'buy', '1', ${false}, ${status}, '1', ${ago(40 * DAY)}, ${ago(40 * DAY)})`;
        const books = [ACCOUNT, `sim:${ACCOUNT}`];
        await db.commit([
          ...[gone, rests, kept].flatMap(({ unit }) => unit),
          ...books.map(book),
          ...books.flatMap((name) => [
            paper(name, gone.id, 'filled'),
            paper(name, rests.id, 'placed'),
            paper(name, kept.id, 'filled'),
          ]),
        ]);
        const stop = (id: string, status: string, age: number) =>
          sql`insert into paper_stops (book, client_order_id, broker_ref, symbol, side, price, trigger_by, is_beside, status,
                order_id, accepted_at, updated_at)
              values (${ACCOUNT}, ${id}, 'r', 'BTCUSDT', 'sell', '1', 'last', ${false}, ${status},
                ${`${id}#stop`}, ${ago(age)}, ${ago(age)})`;
        await db.commit([
          stop('fs1', 'triggered', 31 * DAY),
          stop('fs2', 'standing', 31 * DAY),
          stop('fs3', 'cancelled', 29 * DAY),
          paper(ACCOUNT, 'fs1#stop', 'filled'),
        ]);
        await prune({ order: 30 });
        const left = await db.all<{ id: string }>(sql`select client_order_id as id from paper_orders`);
        assert.deepEqual(left.map(({ id }) => id).sort(), [rests.id, rests.id, kept.id, kept.id].sort());
        const stops = await db.all<{ id: string }>(
          sql`select client_order_id as id from paper_stops order by 1`,
        );
        assert.deepEqual(
          stops.map(({ id }) => id),
          ['fs2', 'fs3'],
        );
        const [first] = await db.all<{ positions: string; profit: string }>(
          sql`select * from paper_accounts`,
        );
        assert.deepEqual(
          [
            JSON.parse(first?.positions ?? '').BTCUSDT.quantity,
            Number(first?.profit),
            await count('paper_accounts'),
          ],
          ['2', 12.5, 2],
        );
      },
    );

    retentionTest(
      'of what strategies said goes what says nothing any more, and what is too much for one account',
      async ({ db, prune }) => {
        const said = (symbol: string, age: number, side: string | null, rehearsed = false, drift = false) =>
          sql`insert into strategy_positions (trading_account_id, symbol, simulation, version, said_at, arrived_at, side, drift_since)
              values (${ACCOUNT}, ${symbol}, ${rehearsed}, 1, ${ago(age)}, ${ago(age)}, ${side}, ${drift ? ago(age) : null})`;
        const symbols = async () =>
          (await db.all<{ symbol: string }>(sql`select symbol from strategy_positions order by symbol`)).map(
            ({ symbol }) => symbol,
          );
        await db.commit([
          said('FLAT', 90 * DAY, 'flat'),
          said('SILENT', 31 * DAY, null),
          said('SILENT-YOUNG', 29 * DAY, null),
          said('SILENT-DRIFT', 31 * DAY, null, false, true),
        ]);
        await prune();
        assert.deepEqual(await symbols(), ['FLAT', 'SILENT-DRIFT', 'SILENT-YOUNG']);
        await db.commit(Array.from({ length: 700 }, (_, n) => said(`S${n}`, n * 1000, 'long', true)));
        await prune();
        const left = await symbols();
        assert.equal(left.length, 203, 'rehearsals are another book');
        assert.ok(left.includes('S199') && !left.includes('S200') && left.includes('FLAT'));
      },
    );

    retentionTest(
      'a long history goes in small steps, with a pause behind each',
      async ({ db, prune, count }) => {
        const orders = Array.from({ length: 900 }, () => order({ age: 40 * DAY }));
        // What stays is passed over, and not looked through again and again.
        const dead = Array.from({ length: 300 }, () => order({ age: 41 * DAY, check: 'dead_letter' }));
        await db.commit([...orders, ...dead].flatMap(({ unit }) => unit));
        const { units, pauses } = await prune({ order: 30 });
        assert.deepEqual([await count('order_history'), await count('order_legs')], [300, 300]);
        // 1,200 orders, 200 at a time, and the note of the round.
        assert.ok(units >= 5 && units <= 7, `${units} units`);
        assert.ok(pauses >= 6, `${pauses} pauses`);
      },
    );

    retentionTest('a process that stops, or comes second, leaves the rest to others', async (desk) => {
      const { db, prune, count } = desk;
      const store = openMemoryStore({ clock: { now: () => 0 } });
      const orders = Array.from({ length: 500 }, () => order({ age: 40 * DAY }));
      await db.commit(orders.flatMap(({ unit }) => unit));
      await prune({ order: 30 }, { store }, AbortSignal.abort());
      assert.equal(await count('order_history'), 300);
      await prune({ order: 30 }, { store });
      assert.equal(await count('order_history'), 300);
      // Two that believe to be alone count every order once.
      await Promise.all([prune({ order: 30 }), prune({ order: 30 })]);
      assert.equal(await count('order_history'), 0);
      const pruned = await readPruned(db);
      assert.equal(pruned.find(({ what }) => what === 'orders')?.row_count, 500);
    });

    /** One entry a day, the last one today. */
    const writeDays = async (db: Db, days: number) => {
      for (let index = 0; index < days; index++)
        await db.commit([
          { ...entry(index), values: entry(index).values.with(-1, ago((days - 1 - index) * DAY)) },
        ]);
    };

    retentionTest(
      'a pruned audit log verifies from its checkpoint, and grows on',
      async ({ db, prune, count }) => {
        const sealer = await sealerOf(db);
        await writeDays(db, 10);
        await sealer.seal();
        const kept = await readHead(db);
        await prune({ audit: 4 });
        assert.deepEqual([await count('audit_logs'), await count('audit_seals')], [5, 5]);
        const report = await verifyAuditLog({ db, auditKey }, [kept]);
        assert.deepEqual([report.problems, report.begins.entries, report.head.entries], [[], 5, 10]);
        await db.commit([entry(20)]);
        await sealer.seal();
        assert.equal(sealer.problem(), null);
        // Nothing more is old enough.
        await prune({ audit: 4 });
        assert.equal((await readCheckpoint(db))?.entries, 5);
        const grown = await verifyAuditLog({ db, auditKey }, [kept]);
        assert.deepEqual([grown.problems, grown.head.entries, grown.unsealed], [[], 11, 0]);
      },
    );

    retentionTest(
      'everything may be pruned, and a sealer that was away for long goes on',
      async ({ db, prune, count }) => {
        const [sealer, away] = [await sealerOf(db), await sealerOf(db)];
        await writeDays(db, 10);
        await sealer.seal();
        await away.seal();
        await prune({ audit: 1 }, { clock: { now: () => NOW + 90 * DAY } });
        assert.equal(await count('audit_logs'), 0);
        assert.deepEqual((await verifyAuditLog({ db, auditKey }, [])).problems, []);
        for (const each of [away, sealer]) {
          await db.commit([entry(30)]);
          await each.seal();
          assert.equal(each.problem(), null);
        }
        assert.deepEqual((await verifyAuditLog({ db, auditKey }, [])).problems, []);
        assert.equal((await readHead(db)).entries, 12);
      },
    );

    retentionTest('what is not sealed is not pruned, however old it is', async ({ db, prune, count }) => {
      await writeDays(db, 10);
      await prune({ audit: 4 });
      assert.equal(await count('audit_logs'), 10);
    });

    retentionTest(
      'a long log is pruned step by step, and is whole after each',
      async ({ db, prune, count }) => {
        await db.commit(Array.from({ length: 1_000 }, (_, index) => entry(index)));
        const sealer = await sealerOf(db);
        await sealer.seal();
        const reports: string[][] = [];
        const wait = async () => {
          reports.push([...(await verifyAuditLog({ db, auditKey }, [])).problems]);
        };
        await prune({ audit: 1 }, { wait, clock: { now: () => NOW + 2 * DAY } });
        assert.deepEqual(reports, [[], [], [], [], []]);
        assert.equal(await count('audit_logs'), 0);
      },
    );

    for (const [title, deed, found] of [
      [
        'the beginning is cut off further',
        [
          'delete from audit_logs where id in (select entry_id from audit_seals where position <= 7)',
          'delete from audit_seals where position <= 7',
        ],
        /^entries 6 to 7 of the chain are missing$/,
      ],
      [
        'the checkpoint is moved to where the beginning was cut off',
        ['delete from audit_seals where position <= 7', `update audit_checkpoints set position = 7`],
        /^the checkpoint at entry 7 was not made by us/,
      ],
      [
        'the checkpoint has another hash',
        [`update audit_checkpoints set hash = '${'0'.repeat(64)}'`],
        /^the checkpoint at entry 5 was not made by us/,
      ],
      [
        'the checkpoint is deleted',
        ['delete from audit_checkpoints'],
        /^entries 1 to 5 of the chain are missing$/,
      ],
      [
        'an entry behind the checkpoint is edited',
        [
          `update audit_logs set action = 'x' where id = (select entry_id from audit_seals where position = 6)`,
        ],
        /^entry 6 of the chain \(id \d+\) was changed$/,
      ],
      [
        'an entry is put back before the checkpoint',
        [`insert into audit_seals select 5, entry_id + 1000, hash from audit_seals where position = 6`],
        /stands at the place 5 of the chain, where none belongs$/,
      ],
    ] as const)
      retentionTest(
        `it is found when ${title}, and nothing is pruned any more`,
        async ({ db, prune, count }) => {
          await writeDays(db, 10);
          await (await sealerOf(db)).seal();
          await prune({ audit: 4 });
          for (const statement of deed) await db.commit([raw(statement)]);
          const { problems } = await verifyAuditLog({ db, auditKey }, []);
          assert.match(problems.join(), found);
          const entries = await count('audit_logs');
          await prune({ audit: 1 }, { clock: { now: () => NOW + DAY } });
          assert.equal(await count('audit_logs'), entries);
          assert.notDeepEqual((await verifyAuditLog({ db, auditKey }, [])).problems, []);
        },
      );

    retentionTest(
      'entries that were dated back, to have them pruned, are left as they are',
      async ({ db, prune, count }) => {
        await writeDays(db, 10);
        await (await sealerOf(db)).seal();
        await db.commit([sql`update audit_logs set created_at = ${ago(99 * DAY)}`]);
        const { complaints } = await prune({ audit: 30 });
        assert.match(
          complaints.join(),
          /^The audit log is not whole, and is left as it is: entry 1 of the chain/,
        );
        assert.equal(await count('audit_logs'), 10);
        await prune({ audit: 30 }, { clock: { now: () => NOW + DAY } });
        const whole = (await readPruned(db)).filter(({ what }) => what === 'rounds');
        assert.deepEqual(
          whole,
          [{ what: 'rounds', row_count: 0, last_at: ago(0) }],
          'a round that failed is no whole one; its alarm counts from the first',
        );
      },
    );
  });

test('no id that is made at a time is before the earliest of that time', () => {
  const before = Date.now();
  const id = randomUUIDv7();
  assert.ok(earliestId(before) <= id && id < earliestId(Date.now() + 1));
  assert.equal(earliestId(0), '00000000-0000-7000-8000-000000000000');
  assert.equal(earliestId(0x0123456789ab), '01234567-89ab-7000-8000-000000000000');
});

test('the service prunes by itself, and its metrics tell of it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = settableClock(Date.now());
  const world = await openWorld(t, { clock, env: { ORDER_DAYS: '30', AUDIT_DAYS: '30' } });
  const trader = await world.makeTrader();
  assert.equal((await world.send(trader)).status, 200);
  t.mock.timers.tick(60_000);
  clock.advance(31 * DAY);
  const pruned = () => world.db.all<{ what: string }>(sql`select what from pruned order by what`);
  await world.eventually(
    async () => {
      t.mock.timers.tick(60_000);
      return (await pruned()).map(({ what }) => what);
    },
    (kinds) => ['audit_entries', 'orders', 'rounds'].every((kind) => kinds.includes(kind)),
  );
  assert.deepEqual(await world.orders(trader), []);
  const { body } = await world.request<string>({ method: 'GET', url: '/metrics' });
  assert.match(body, /^fillpath_pruned_rows_total\{what="orders"\} 1$/m);
  assert.match(body, /^# TYPE fillpath_pruned_rows_total counter$/m);
  assert.match(body, /^fillpath_retention_age_seconds \d/m);
});
