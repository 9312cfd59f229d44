// Lists never stop trading: they have connections of their own and a short limit, and they find what they list by an
// index, however long the history is.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { readAuditLog } from '../../src/app/audit/security-events.ts';
import { hashToken } from '../../src/app/identity/tokens.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Db, ListTooSlow, type Reads, type Statement, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import {
  expiredResets,
  expiredTokens,
  oldDayCounts,
  oldIdempotencyKeys,
  oldOrders,
  revokedApiKeys,
} from '../../src/data/engine/pruning.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { insertApiKey } from '../../src/data/identity/api-keys.ts';
import { watchedAccounts } from '../../src/data/notifications/notices.ts';
import { deadLetters } from '../../src/data/orders/dead-letters.ts';
import { countChecks, dueChecks, hasLostChecks } from '../../src/data/orders/fill-checks.ts';
import { listOrders, type OrderFilter } from '../../src/data/orders/list.ts';
import {
  accountsUnderWay,
  countUnknown,
  ordersUnderWayNow,
  usersWithOrdersUnderWay,
} from '../../src/data/orders/orders.ts';
import { closedBy } from '../../src/data/orders/protections.ts';
import { endEntriesOf, restingOfUser } from '../../src/data/orders/resting.ts';
import { failedReversals } from '../../src/data/orders/reversals.ts';
import {
  countOrders,
  countSignals,
  newestEntries,
  signalMarks,
  signalsAround,
  standingAccounts,
} from '../../src/data/orders/standing.ts';
import { openChecks } from '../../src/data/orders/unresolved.ts';
import { unsettledOrders } from '../../src/data/orders/unsettled.ts';
import {
  type AccountId,
  type OrderId,
  type Timestamp,
  timestamp,
  type UserId,
} from '../../src/domain/ids.ts';
import { cancelledBy } from '../../src/domain/orders/resting.ts';
import { openFillpath } from '../../src/main.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { type Problem, serverOf } from '../world.ts';

/** A member of no group. */
const lone = (id: AccountId) => ({ id, lastGroupSignalAt: null });
const USER = randomUUIDv7() as UserId;
const MAIN = randomUUIDv7() as AccountId;
const SMALL = randomUUIDv7() as AccountId;
const NOW = Date.parse('2026-07-15T19:00:00Z');
const ORDERS = 12_000;

/** A long history: one order a second until now. What is rare is the first order in a thousand. */
async function fillHistory(db: Db): Promise<void> {
  await migrate(db, NOW);
  const at = timestamp(NOW);
  await db.commit([
    sql`insert into users (id, email, password_hash, is_admin, is_active, plan, created_at)
        values (${USER}, 'a@example.com', '', ${false}, ${true}, 'desk', ${at})`,
    ...[MAIN, SMALL].map(
      (id) => sql`insert into trading_accounts (id, user_id, name, broker_name, webhook_token, webhook_secret,
            max_request_age, allowed_symbols, broker_credentials_verified, halted, connection_version, created_at)
          values (${id}, ${USER}, 'main', 'paper', ${id}, 'sealed', 60, '[]', ${true}, ${false}, 1, ${at})`,
    ),
  ]);
  for (let from = 0; from < ORDERS; from += 2_000)
    await db.commit(
      Array.from({ length: 2_000 }, (_, index) => [order(from + index), check(from + index)]).flat(),
    );
  await db.commit(Array.from({ length: 3 }, (_, index) => order(ORDERS + 1 + index, 'queued')));
  if (db.dialect === 'postgres') await db.script('analyze');
}

const idOf = (index: number) => `019a8c5e-7d31-7000-8000-${index.toString(16).padStart(12, '0')}` as OrderId;
const timeOf = (index: number) => timestamp(NOW + (index - ORDERS) * 1_000);
const isRare = (index: number) => index % 1_000 === 0;

function order(index: number, status = isRare(index) ? 'rejected' : 'filled'): Statement {
  const rare = isRare(index);
  return sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
      symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace, fill_quantity, filled_at)
    values (${idOf(index)}, 1, ${USER}, ${rare ? SMALL : MAIN}, 'paper', ${rare ? 'dashboard' : 'webhook'}, ${rare},
      ${rare ? 'AAPL' : 'BTCUSDT'}, 'buy', '{"operation":"PLACE_ENTRY_ORDER","side":"buy"}', '1', ${status}, '[]',
      ${timeOf(index)}, ${timeOf(index)}, ${false}, '{}', ${status === 'filled' ? '1' : null}, ${status === 'filled' ? timeOf(index) : null})`;
}

const check = (index: number): Statement =>
  sql`insert into fill_checks (order_id, user_id, state, attempts, next_at)
      values (${idOf(index)}, ${USER}, ${isRare(index) ? (index % 2_000 ? 'scheduled' : 'dead_letter') : 'done'}, 1,
        ${timeOf(index)})`;

/** What `read` asks for, as the database would carry it out. */
async function plansOf(db: Db, read: (db: Db) => Promise<unknown>): Promise<string[]> {
  const asked: Statement[] = [];
  const record =
    (rowsOf: Reads['all']) =>
    <Row>(query: Statement) => {
      asked.push(query);
      return rowsOf<Row>(query);
    };
  const all = record(db.all);
  await read({ ...db, all, get: async (query) => (await all<never>(query))[0] });
  return Promise.all(asked.map((query) => planOf(db, query)));
}

async function planOf(db: Db, { parts: [first, ...rest], values }: Statement): Promise<string> {
  const word = db.dialect === 'sqlite' ? 'explain query plan ' : 'explain ';
  const rows = await db.all<Record<string, string>>({ parts: [word + first, ...rest], values });
  return rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n');
}

/** A list that takes long by the clock is refused: on a busy machine that may be any. */
async function patiently<Listed>(list: () => Promise<Listed>, triesLeft = 5): Promise<Listed> {
  return list().catch((fault: unknown) => {
    if (!(fault instanceof ListTooSlow) || triesLeft === 0) throw fault;
    return patiently(list, triesLeft - 1);
  });
}

interface Place {
  readonly db: Db;
  readonly url?: string;
  close(): Promise<unknown>;
}

function openSqlitePlace(): Place {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-lists-'));
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  return { db, close: () => db.close().then(() => rmSync(dir, { recursive: true })) };
}

async function openPostgresPlace(): Promise<Place> {
  const { url, stop } = await startPostgres();
  const db = await openPostgres({ url });
  return { db, url, close: () => db.close().then(stop) };
}

for (const [name, open] of [
  ['SQLite', openSqlitePlace],
  ['PostgreSQL', openPostgresPlace],
] as const)
  describe(`on ${name}`, () => {
    let place: Place;
    let missing: string | false = false;
    before(async () => {
      try {
        place = await open();
        await fillHistory(place.db);
      } catch (fault) {
        if (!(fault instanceof PostgresMissing)) throw fault;
        missing = fault.message;
      }
    });
    after(() => place?.close());

    const listTest = (title: string, run: (place: Place) => Promise<void>) =>
      test(title, async (t) => (missing === false ? run(place) : t.skip(missing)));

    // biome-ignore format: a table, one filter a line
    const FILTERS: readonly (readonly [filter: OrderFilter, index: string, orders: number])[] = [
      [{}, 'day', ORDERS + 3],
      [{ from: timeOf(50), to: timeOf(69) }, 'day', 20],
      [{ status: 'rejected' }, 'status', 12],
      [{ status: 'expired' }, 'status', 0],
      [{ symbol: 'AAPL' }, 'symbol', 12],
      [{ symbol: 'NONE' }, 'symbol', 0],
      [{ accountId: SMALL }, 'account', 12],
      [{ accountId: randomUUIDv7() as AccountId }, 'account', 0],
      [{ source: 'dashboard' }, 'source', 12],
      [{ simulation: true }, 'source', 12],
      [{ simulation: true, source: 'webhook' }, 'source', 0],
      [{ symbol: 'AAPL', from: timeOf(1_000), to: timeOf(2_000) }, 'symbol', 2],
    ];

    for (const [filter, index, orders] of FILTERS)
      listTest(
        `a list by ${Object.keys(filter).join(', ') || 'nothing'} is read from an index`,
        async ({ db }) => {
          const list = (after: OrderId | null, limit: number) => (reads: Reads) =>
            listOrders(reads, USER, { filter, after, limit });
          const found = await list(null, 200)(db);
          assert.equal(found.length, Math.min(orders, 200));
          assert.deepEqual(
            found.map(({ id }) => id),
            found
              .map(({ id }) => id)
              .toSorted()
              .reverse(),
          );
          for (const after of [null, idOf(ORDERS - 1)]) {
            const [plan = ''] = (await plansOf(db, list(after, 51))).slice(after ? 1 : 0);
            assert.match(plan, new RegExp(`(INDEX|using|on) order_history_by_${index}\\b`), plan);
            assert.doesNotMatch(plan, /SCAN order_history|Seq Scan/, plan);
            // Only what comes from several places is put in order; the index has it.
            if (name === 'SQLite' && index !== 'source') assert.doesNotMatch(plan, /TEMP B-TREE/, plan);
          }
        },
      );

    listTest('page by page, by any filters together, every order comes once', async ({ db }) => {
      const filters: OrderFilter[] = [
        { status: 'rejected', symbol: 'AAPL', simulation: true },
        { symbol: 'AAPL', source: 'dashboard', accountId: SMALL, from: timeOf(0) },
        { simulation: true },
      ];
      for (const filter of filters) {
        const seen: OrderId[] = [];
        for (let after: OrderId | null = null; ; ) {
          const page: OrderId[] = (await listOrders(db, USER, { filter, after, limit: 5 })).map(
            ({ id }) => id,
          );
          seen.push(...page);
          if (page.length < 5) break;
          after = page.at(-1) ?? null;
        }
        const all = Array.from({ length: 12 }, (_, index) => idOf((11 - index) * 1_000));
        assert.deepEqual(seen, all);
      }
    });

    listTest(
      'filters that leave out a long history pass over it in steps, and others have their turn',
      async ({ db }) => {
        let turns = 0;
        const turn = setInterval(() => turns++, 0);
        const reads: Statement[] = [];
        const counting: Reads = { ...db, all: (query) => db.all(reads[reads.push(query) - 1] ?? query) };
        const filter: OrderFilter = { symbol: 'BTCUSDT', status: 'rejected' };
        const list = () => listOrders(counting, USER, { filter, after: null, limit: 50 });
        assert.deepEqual(await patiently(list).finally(() => clearInterval(turn)), []);
        assert.ok(reads.length >= 12, `${reads.length} steps`);
        assert.ok(turns >= 5, `${turns} turns`);
      },
    );

    listTest('what is asked all the time does not walk through what is done', async ({ db }) => {
      const now = timestamp(NOW);
      const asked: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
        ['the count of checks', countChecks],
        ['due checks', (each) => dueChecks(each, now, 64)],
        ['lost checks', (each) => hasLostChecks(each, now)],
        ['dead letters', (each) => deadLetters(each, { after: null, limit: 50 })],
        ['the count of orders under way', ordersUnderWayNow],
        ['the count of orders that are unknown', countUnknown],
        ['who has orders under way', (each) => usersWithOrdersUnderWay(each, now)],
        ['which accounts have orders under way', (each) => accountsUnderWay(each, USER)],
        ['what a worker has to know before it plans', (each) => unsettledOrders(each, USER, [MAIN])],
        ['the same of several accounts', (each) => unsettledOrders(each, USER, [MAIN, SMALL])],
      ];
      const PARTIAL =
        /fill_checks_(open|open_of_user|one_running)|order_history_(under_way|unsettled|unknown)/;
      const WHOLE =
        /Seq Scan on (order_history|fill_checks)|SCAN (?!\w+ USING (COVERING )?INDEX (fill_checks_(open|one_running)|order_history_(under_way|unknown)))/;
      for (const [what, ask] of asked) {
        const [plan = ''] = await plansOf(db, ask);
        assert.match(plan, PARTIAL, `${what}: ${plan}`);
        assert.doesNotMatch(plan, WHOLE, `${what}: ${plan}`);
      }
      assert.deepEqual(await countChecks(db), { scheduled: 6, running: 0, done: 0, dead_letter: 6 });
      assert.equal((await ordersUnderWayNow(db)).count, 3);
    });

    listTest('who traded last in an instrument is found by each of its spellings', async ({ db }) => {
      for (const intent of [
        { operation: 'CLOSE_POSITION', direction: null },
        { operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
      ] as const) {
        const order = {
          ...({ userId: USER, accountId: MAIN, brokerName: 'paper', simulation: false } as const),
          ...{ symbol: 'BINANCE:BTCUSDT', intent, submittedAt: timestamp(NOW), legs: [] },
        };
        const plans = await plansOf(db, (each) => closedBy(each, order));
        const plan = plans.at(-1) ?? '';
        const seeks = plan.match(/(INDEX|using|on) order_history_by_symbol\b/g) ?? [];
        assert.equal(seeks.length, 2, plan);
        assert.doesNotMatch(plans.join('\n'), /SCAN (o|order_history)(?! USING)\b|Seq Scan on order_history/);
      }
    });

    listTest("what rests of a user is found, and taken back, without the user's history", async ({ db }) => {
      const ending = endEntriesOf(USER, cancelledBy('its user was deactivated'), timestamp(NOW));
      const plans = [
        ...(await plansOf(db, (each) => restingOfUser(each, USER))),
        ...(await Promise.all(ending.map((statement) => planOf(db, statement)))),
      ];
      assert.equal(plans.length, 3);
      for (const plan of plans) {
        assert.match(plan, /(INDEX|using|on) order_history_(resting|unsettled)\b/, plan);
        assert.doesNotMatch(plan, /order_history_(by|under_way)|Seq Scan on order_history/, plan);
      }
    });

    listTest('a search and the overview walk through no history', async ({ db }) => {
      const search = (text: string) => (reads: Reads) =>
        listOrders(reads, USER, { filter: { search: text }, after: null, limit: 51 });
      assert.equal((await search('aap')(db)).length, 12);
      assert.equal((await search(idOf(77))(db)).length, 1);
      const since = timestamp(NOW - 3_600_000);
      const asked: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
        ['by the beginning of a symbol', search('aap')],
        ['by an id', search(idOf(77))],
        ['by nothing that is there', search('nothing')],
        ['accounts', (each) => standingAccounts(each, USER)],
        ['open checks', (each) => openChecks(each, USER, 200)],
        ['failed reversals', (each) => failedReversals(each, USER, { since, limit: 200 })],
        ['counts of signals', (each) => countSignals(each, USER, since)],
        ['signals', (each) => signalMarks(each, USER, [lone(MAIN), lone(SMALL)], { since, limit: 300 })],
        ['what ended', (each) => newestEntries(each, USER, ['order_resolved', 'terms_accepted'])],
      ];
      for (const [what, ask] of asked)
        for (const plan of await plansOf(db, ask))
          assert.doesNotMatch(
            plan,
            /Seq Scan on (order_history|fill_checks)|SCAN (o|order_history|f|l|c|fill_checks|signals|audit_logs)(?! USING)\b/,
            `${what}: ${plan}`,
          );
    });

    listTest(
      'a day is counted from an index alone, and genuine signals are found behind any number of others',
      async ({ db }) => {
        const day = { begin: timeOf(11_000), from: timeOf(11_500), limit: 20_000 };
        const [plan = ''] = await plansOf(db, (each) => countOrders(each, USER, day));
        assert.match(
          plan,
          name === 'SQLite' ? /COVERING INDEX order_history_by_day/ : /order_history_by_day/,
          plan,
        );
        const counted = await countOrders(db, USER, day);
        assert.equal(
          counted.reduce((sum, { seen }) => sum + seen, 0),
          1_003,
        );
        assert.equal(
          counted.reduce((sum, { ofDay }) => sum + ofDay, 0),
          503,
        );
        const newest = await countOrders(db, USER, { ...day, limit: 600 });
        assert.deepEqual(
          [
            newest.reduce((sum, { seen }) => sum + seen, 0),
            newest.reduce((sum, { ofDay }) => sum + ofDay, 0),
          ],
          [600, 503],
        );
        const signal = (index: number, outcome: string) =>
          sql`insert into signals (id, user_id, trading_account_id, arrived_at, simulation, outcome, refused_by, ip_address)
            values (${idOf(index)}, ${USER}, ${MAIN}, ${timeOf(index)}, ${false}, ${outcome}, 'secret', '')`;
        await db.commit([
          signal(1, 'order'),
          ...Array.from({ length: 2_000 }, (_, index) => signal(index + 2, 'refused')),
          signal(5_000, 'order'),
        ]);
        if (db.dialect === 'postgres') await db.script('analyze signals');
        const around = (at: Timestamp) => (each: Reads) => signalsAround(each, USER, lone(MAIN), at);
        assert.deepEqual(await around(timeOf(2_000))(db), { last: null, next: timeOf(5_000) });
        assert.deepEqual(await around(timeOf(6_000))(db), { last: timeOf(5_000), next: null });
        const plans = [
          ...(await plansOf(db, around(timeOf(6_000)))),
          ...(await plansOf(db, watchedAccounts)),
        ];
        assert.equal(plans.length, 3);
        for (const plan of plans) assert.match(plan, /signals_genuine/, plan);
        await db.commit([sql`delete from signals`]);
      },
    );

    listTest(
      'failed reversals that nobody followed do not walk through all that was tried since',
      async ({ db }) => {
        const reversal = (
          index: number,
          account: AccountId,
          status: string,
          { symbol = 'BTCUSDT', halfDone = false } = {},
        ): Statement =>
          sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
            symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace, half_done)
          values (${idOf(20_000 + index)}, 1, ${USER}, ${account}, 'paper', 'reversals', ${false}, ${symbol}, 'buy', '{}',
            '1', ${status}, '[]', ${timeOf(index)}, ${timeOf(index)}, ${true}, '{}', ${halfDone})`;
        const read = (reads: Reads = db) => failedReversals(reads, USER, { since: timeOf(0), limit: 200 });
        await db.commit([
          sql`update order_history set status = 'cancelled' where status = 'filled'`,
          ...Array.from({ length: 200 }, (_, index) => reversal(index + 1, MAIN, 'failed')),
        ]);
        try {
          const open = await read();
          assert.deepEqual([open.length, open.filter(({ followedAt }) => followedAt).length], [200, 0]);
          const plans = await plansOf(db, read);
          assert.equal(plans.length, 4, 'both kinds, the symbols, and what was tried since in theirs');
          for (const plan of plans) assert.doesNotMatch(plan, /SCAN order_history|Seq Scan/, plan);
          if (name === 'SQLite') assert.match(plans[0] ?? '', /order_history_half_done/);
          await db.commit([
            reversal(ORDERS + 10, MAIN, 'filled'),
            reversal(ORDERS + 20, MAIN, 'failed'),
            reversal(ORDERS + 30, SMALL, 'filled'),
          ]);
          const [last, before] = await read();
          assert.deepEqual(last, { orderId: idOf(20_000 + ORDERS + 20), followedAt: null });
          assert.deepEqual(before, { orderId: idOf(20_200), followedAt: timeOf(ORDERS + 10) });
          // Half way is ended by the next order, whatever became of that, and however the symbol is spelled there.
          await db.commit([
            reversal(ORDERS + 40, MAIN, 'rejected', { halfDone: true }),
            reversal(ORDERS + 50, MAIN, 'cancelled', { halfDone: true }),
            reversal(ORDERS + 60, SMALL, 'rejected'),
          ]);
          const followed = async () => (await read()).slice(0, 3).map(({ followedAt }) => followedAt);
          assert.deepEqual(await followed(), [null, timeOf(ORDERS + 50), null]);
          await db.commit([reversal(ORDERS + 70, MAIN, 'rejected', { symbol: 'BINANCE:btcusdt' })]);
          assert.deepEqual(await followed(), [timeOf(ORDERS + 70), timeOf(ORDERS + 50), null]);
        } finally {
          await db.commit([
            sql`delete from order_history where source = 'reversals'`,
            sql`update order_history set status = 'filled' where status = 'cancelled'`,
          ]);
        }
      },
    );

    listTest('what is to be pruned is found by an index', async ({ db }) => {
      const [before, limit] = [timestamp(NOW), 100];
      const ids = { after: idOf(0), beforeId: idOf(9_999) };
      type Read = readonly [what: string, ask: (db: Db) => Promise<unknown>];
      // Their tables are empty here, and PostgreSQL takes no index for nothing.
      const others: readonly Read[] = [
        ['tokens', (each) => expiredTokens(each, before, limit)],
        ['resets', (each) => expiredResets(each, before, limit)],
        ['idempotency keys', (each) => oldIdempotencyKeys(each, before, limit)],
        ['API keys', (each) => revokedApiKeys(each, before, limit)],
        ['counts', (each) => oldDayCounts(each, '2026-07-01', limit)],
      ];
      const orders: Read = ['orders', (each) => oldOrders(each, { ...ids, before, limit })];
      const read = name === 'SQLite' ? [orders, ...others] : [orders];
      for (const [what, ask] of read) {
        const [plan = ''] = await plansOf(db, ask);
        assert.doesNotMatch(plan, /SCAN|Seq Scan on order_history/, `${what}: ${plan}`);
        assert.match(plan, /INDEX|order_history_pkey/, `${what}: ${plan}`);
      }
    });

    if (name === 'SQLite') return;

    const locked = async (url: string, table: string, run: () => Promise<void>) => {
      const other = new Client(url);
      await other.connect();
      await other.query(`begin; lock table ${table} in access exclusive mode`);
      await run().finally(() => other.end());
    };

    listTest(
      'thirty lists that do not come to an end hold up neither a commit nor a read of the hot path',
      ({ db, url = '' }) =>
        locked(url, 'audit_logs', async () => {
          const page = { action: null, order: null, cursor: null, limit: 50 };
          let ended = 0;
          const list = () => readAuditLog({ db }, USER, page).finally(() => ended++);
          const lists = Promise.allSettled(Array.from({ length: 30 }, list));
          const commit = sql`insert into facts (name, value) values ('weather', 'fine')`;
          assert.equal(await db.commit([commit]), null);
          assert.deepEqual(await db.get(sql`select value from facts where name = 'weather'`), {
            value: 'fine',
          });
          assert.equal(ended, 0, 'it had to wait for a list');
          for (const end of await lists)
            assert.ok(end.status === 'rejected' && end.reason instanceof ListTooSlow);
        }),
    );

    listTest(
      'a list that takes too long is a 503 that says so, and whoever changes something is served meanwhile',
      async ({ db, url = '' }) => {
        const dir = mkdtempSync(join(tmpdir(), 'fillpath-lists-'));
        const env = { DATA_DIR: dir, DATABASE_URL: url, SEED_USER: 'false', LOG_LEVEL: 'silent' };
        const at: Timestamp = timestamp(Date.now());
        const expiresAt = null;
        const key = {
          id: randomUUIDv7(),
          userId: USER,
          name: 'k',
          keyHash: hashToken('key'),
          expiresAt,
          createdAt: at,
        };
        await db.commit([
          insertApiKey(key),
          // A history that gives the service nothing to do.
          sql`delete from fill_checks`,
          sql`update order_history set status = 'expired' where status = 'queued'`,
        ]);
        const fillpath = await openFillpath(readConfig(env));
        const call = async (method: 'GET' | 'PATCH', path: string, payload?: object) => {
          const headers = { authorization: 'Bearer key' };
          const answer = await serverOf(fillpath).inject({
            method,
            url: path,
            headers,
            ...(payload && { payload }),
          });
          return {
            status: answer.statusCode,
            retryAfter: answer.headers['retry-after'],
            body: answer.json(),
          };
        };
        try {
          await locked(url, 'order_legs', async () => {
            let ended = 0;
            const list = () => call('GET', '/trading/orders?symbol=AAPL').finally(() => ended++);
            const lists = Promise.all(Array.from({ length: 12 }, list));
            const renamed = await call('PATCH', `/trading/accounts/${MAIN}`, { name: 'Main' });
            assert.equal(renamed.status, 200);
            assert.equal(ended, 0, 'it had to wait for a list');
            for (const { status, retryAfter, body } of await lists) {
              assert.deepEqual([status, retryAfter, (body as Problem).code], [503, '5', 'list_too_slow']);
            }
          });
          assert.equal((await call('GET', '/trading/orders?symbol=AAPL')).body.items.length, 12);
        } finally {
          await fillpath.stop();
          rmSync(dir, { recursive: true });
        }
      },
    );
  });
