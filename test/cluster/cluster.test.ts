// Two API processes, two worker hosts and a verifier over one PostgreSQL and one Redis: together they are one service.
// What happens when some of them die: cluster-failures.test.ts.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openMonitor } from '../servers/monitor.ts';
import {
  type Answer,
  type Cluster,
  type Member,
  openCluster,
  type Problem,
  startServers,
  type Trader,
  until,
} from './desk.ts';

const RATE_LIMIT = 25;
/** Fixed by the contract. */
const PASSWORD_TRIES = 10;
const ENV = {
  SEED_USER: 'true',
  RATE_LIMIT_REQUESTS: String(RATE_LIMIT),
  // Fill checks fall due when the test says so, not before.
  FILL_FIRST_POLL_SECONDS: '600',
  FILL_REQUEUE_SECONDS: '600',
};

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}
interface WorkerRow {
  readonly user_id: string;
  readonly host: string;
  readonly started_at: string;
}
interface QueuesAnswer {
  readonly hosts: readonly { name: string; workers: number; draining: boolean }[];
}

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };

describe('two API processes, two worker hosts and a verifier', skip, () => {
  let cluster: Cluster;
  let one: Member;
  let two: Member;
  let others: readonly Member[];
  let admin: Trader;

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers, ENV);
    // On an empty database.
    [one, two, ...others] = await cluster.startFive();
    admin = await cluster.admin();
  });
  after(async () => {
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  test('a first start of all at once migrates once, and makes one first user', async () => {
    const { db } = cluster;
    const migrations = await db.all<{ name: string }>(sql`select name from migrations order by name`);
    assert.equal(new Set(migrations.map(({ name }) => name)).size, migrations.length);
    assert.ok(migrations.length >= 4);
    assert.deepEqual(await db.all(sql`select version from terms`), [{ version: '1' }]);
    const first = await db.all(sql`select email from users where email = 'admin@fillpath.local'`);
    assert.equal(first.length, 1);
    for (const member of [one, two, ...others])
      assert.equal((await cluster.call(member, 'GET', '/health')).status, 200);
  });

  test('an order through either API is filled, and both show it', async () => {
    const trader = await cluster.trader();
    for (const at of [one, two]) {
      const { status, body } = await cluster.order(at, trader);
      assert.equal(status, 200);
      assert.equal(body.status, 'filled');
      const path = `/trading/orders/${body.order_id}`;
      const [here, there] = await Promise.all([
        cluster.as<OrderRecord>(one, trader, 'GET', path),
        cluster.as<OrderRecord>(two, trader, 'GET', path),
      ]);
      assert.equal(here.body.status, 'filled');
      assert.deepEqual(here.body, there.body);
    }
    assert.equal((await cluster.ledger(trader)).length, 2);
  });

  test('the same signal twenty times at once over both APIs is one order', async () => {
    for (const latency_ms of [0, 150]) {
      const trader = await cluster.trader({ latency_ms });
      const signal = cluster.signal(trader);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          cluster.deliver<Problem>(index % 2 ? one : two, trader, signal),
        ),
      );
      const codes = answers.map(({ status, body }) => (status === 409 ? body.code : status)).sort();
      assert.deepEqual(codes, [200, ...Array.from({ length: 19 }, () => 'webhook_replay_attack')]);
      assert.deepEqual(
        (await cluster.orders(trader)).map(({ status }) => status),
        ['filled'],
      );
      assert.equal((await cluster.ledger(trader)).length, 1);
    }
  });

  test('the rate limit of a user counts over both APIs together', async () => {
    const trader = await cluster.trader();
    // A signal that says nothing is counted before it is read.
    const send = (at: Member) => cluster.deliver<Problem>(at, trader, {});
    const answers = await Promise.all(
      Array.from({ length: RATE_LIMIT + 15 }, (_, index) => send(index % 2 ? one : two)),
    );
    const limited = answers.filter(({ status }) => status === 429);
    assert.equal(limited.length, 15);
    assert.equal(answers.filter(({ status }) => status === 400).length, RATE_LIMIT);
    for (const at of [one, two]) {
      const { status, headers, body } = await send(at);
      assert.equal(status, 429);
      assert.equal(body.code, 'rate_limited');
      assert.ok(Number(headers['retry-after']) > 0);
    }
    assert.equal((await cluster.order(one, await cluster.trader())).status, 200);
  });

  test('failed passwords count over both APIs together', async () => {
    const { call } = cluster;
    const body = { email: `${crypto.randomUUID()}@example.com`, password: 'a horse, a staple, a battery' };
    assert.equal((await call(one, 'POST', '/auth/register', { body })).status, 201);
    const guess = (at: Member, path = '/auth/login') =>
      path === '/auth/login'
        ? call(at, 'POST', path, { body: { ...body, password: 'not the one' } })
        : call(at, 'POST', path, {
            body: { grant_type: 'password', username: body.email, password: 'not the one' },
          });
    const guesses = await Promise.all(
      Array.from({ length: PASSWORD_TRIES + 2 }, (_, index) =>
        guess(index % 2 ? one : two, index % 3 ? '/auth/login' : '/auth/token'),
      ),
    );
    const wrong = guesses.filter(({ status }) => status === 401 || status === 400);
    assert.equal(wrong.length, PASSWORD_TRIES, JSON.stringify(guesses.map(({ status }) => status)));
    assert.equal(guesses.filter(({ status }) => status === 429).length, 2);
    // Now the right one is of no use either, wherever it is tried.
    for (const at of [one, two]) {
      const locked = await call(at, 'POST', '/auth/login', { body });
      assert.equal(locked.status, 429);
      assert.equal(locked.body.code, 'login_locked');
      assert.ok(Number(locked.headers['retry-after']) > 0);
    }
  });

  describe('the administration at any API', () => {
    let traders: Trader[];

    before(async () => {
      traders = [];
      // A host that has taken a user is busy for a moment: of many starts at once, each gets some.
      await until(
        'workers on both hosts',
        async () => {
          const more = await Promise.all(Array.from({ length: 6 }, () => cluster.trader()));
          await Promise.all(more.map((trader, index) => cluster.wake(index % 2 ? one : two, trader)));
          traders.push(...more);
          // Their own workers: others' run since the tests above.
          return new Set(await Promise.all(traders.map(({ user }) => cluster.hosts.hostOf(user.id))));
        },
        (hosts) => hosts.size === 2 && !hosts.has(null),
      );
    });

    async function listWorkers(at: Member, limit: number): Promise<WorkerRow[]> {
      const found: WorkerRow[] = [];
      let cursor = '';
      do {
        const path = `/deployment/workers?limit=${limit}${cursor}`;
        const { status, body } = await cluster.as<Page<WorkerRow>>(at, admin, 'GET', path);
        assert.equal(status, 200);
        assert.ok(body.items.length <= limit);
        found.push(...body.items);
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
      } while (cursor !== '');
      return found;
    }

    test('lists the workers of both hosts, in pages', async () => {
      const pages = await listWorkers(one, 4);
      assert.deepEqual(pages, await listWorkers(two, 200));
      const users = pages.map(({ user_id }) => user_id);
      assert.deepEqual(users, [...new Set(users)].sort());
      for (const { user } of traders) assert.ok(users.includes(user.id));
      assert.equal(new Set(pages.map(({ host }) => host)).size, 2);
    });

    test('stops a worker of either host, and the next order starts a new one', async () => {
      const before = await listWorkers(one, 200);
      const stopOne = async (host: string) => {
        const trader = traders.find(({ user }) =>
          before.some((row) => row.user_id === user.id && row.host === host),
        ) as Trader;
        const { id } = trader.user;
        const stop = () => cluster.as(one, admin, 'POST', `/deployment/workers/${id}/stop`);
        assert.equal((await stop()).status, 204);
        assert.equal(await cluster.hosts.hostOf(trader.user.id), null);
        assert.ok(!(await listWorkers(two, 200)).some(({ user_id }) => user_id === id));
        assert.equal((await stop()).status, 404);

        assert.equal((await cluster.order(two, trader)).body.status, 'filled');
        const [was, is] = [before, await listWorkers(two, 200)].map((rows) =>
          rows.find(({ user_id }) => user_id === id),
        );
        assert.ok(was && is && was.started_at < is.started_at);
      };
      for (const host of new Set(before.map((row) => row.host))) await stopOne(host);
    });

    test('shows both hosts among the queues', async () => {
      const workers = await listWorkers(one, 200);
      for (const at of [one, two]) {
        const { body } = await cluster.as<QueuesAnswer>(at, admin, 'GET', '/deployment/queues');
        assert.deepEqual(
          body.hosts.map(({ name }) => name).sort(),
          [...new Set(workers.map(({ host }) => host))].sort(),
        );
        for (const { name, workers: count, draining } of body.hosts) {
          assert.equal(count, workers.filter(({ host }) => host === name).length);
          assert.equal(draining, false);
        }
      }
    });

    test('reads the same figures at every role', async () => {
      const figures = await Promise.all(
        [one, two, ...others].map(async (member) => {
          const { status, body } = await cluster.call<string>(member, 'GET', '/metrics');
          assert.equal(status, 200);
          assert.match(body, /^fillpath_hosts 2$/m);
          return /^fillpath_workers \d+$/m.exec(body)?.[0];
        }),
      );
      assert.equal(new Set(figures).size, 1);
    });
  });

  const OTHER_PATHS = ['/', '/deployment/workers', '/trading/orders', '/webhook/x/order', '/docs'];
  const strangers = () =>
    Promise.all(
      others.flatMap((member) =>
        OTHER_PATHS.flatMap((path) => ['GET', 'POST'].map((method) => cluster.call(member, method, path))),
      ),
    );

  test('a worker and a verifier answer nothing else', async () => {
    for (const { status, headers, body } of await strangers()) {
      assert.equal(status, 404);
      assert.equal(headers['content-type'], 'application/problem+json');
      assert.equal(body.code, 'not_found');
    }
  });

  test('and their 404 is a whole problem of the contract', async () => {
    for (const { body } of await strangers())
      assert.deepEqual(Object.keys(body).sort(), [
        'advice',
        'code',
        'detail',
        'request_id',
        'status',
        'title',
        'type',
      ]);
  });

  test('two verifiers make every due check once, lose none, and all come to an end', async (t) => {
    const { db } = cluster;
    const USERS = 20;
    const ORDERS_EACH = 4;
    const first = others.at(-1) as Member;
    // By another name, for the database to tell them apart.
    const second = await cluster.start('verifier', {
      DATABASE_URL: `${cluster.env.DATABASE_URL}&application_name=second`,
    });
    const traders = await Promise.all(Array.from({ length: USERS }, () => cluster.trader({ fill: 'never' })));
    await Promise.all(traders.map((trader) => cluster.wake(one, trader)));
    const answers = await Promise.all(
      traders.flatMap((trader) =>
        Array.from({ length: ORDERS_EACH }, (_, index) => cluster.order(index % 2 ? one : two, trader)),
      ),
    );
    const orders = answers.map(({ body }: Answer) => body.order_id);
    // On a slow machine some are answered before they are.
    const placed = sql`select order_id from order_history where status = 'placed'`;
    await until(
      'all to be placed',
      () => db.all(placed),
      ({ length }) => length === USERS * ORDERS_EACH,
    );
    const looks = await watchLooks(cluster);
    t.after(looks.stop);
    // Nothing else in this database waits for its fill.
    const checks = () =>
      db.all<{ state: string; attempts: number }>(sql`select state, attempts from fill_checks`);
    let moments = 0;
    /** All fall due; one verifier finds that before the other, or both find it and claim the same ones. */
    const allDue = async (early: Member, late: Member, { together = false } = {}) => {
      moments++;
      for (const { pid } of [early, late]) process.kill(pid, 'SIGSTOP');
      await db.commit([sql`update fill_checks set next_at = ${timestamp(Date.now())}`]);
      const release = together ? await cluster.holdClaims(2) : null;
      process.kill(early.pid, 'SIGCONT');
      if (!release)
        await until('a poll', checks, (rows) => rows.some(({ attempts }) => attempts === moments));
      process.kill(late.pid, 'SIGCONT');
      await release?.();
      return until('all polls', checks, (rows) =>
        rows.every(({ state, attempts }) => state !== 'running' && attempts === moments),
      );
    };

    await allDue(first, second);
    await allDue(second, first);
    const fill = { paper: { fill: 'full' } };
    for (const trader of traders)
      await cluster.as(one, trader, 'PATCH', `/trading/accounts/${trader.account.id}`, fill);
    const ended = await allDue(first, second, { together: true });
    assert.equal(ended.length, USERS * ORDERS_EACH);
    for (const { state } of ended) assert.equal(state, 'done');
    for (const trader of traders)
      for (const { status } of await cluster.orders(trader)) assert.equal(status, 'filled');
    // The witness: what Redis carried to the workers.
    await looks.upToNow();
    assert.deepEqual(
      orders.map((id) => looks.perOrder.get(id)),
      orders.map(() => moments),
    );
    t.diagnostic(`looks that each verifier asked for: ${[...looks.perVerifier.values()].join(' and ')}`);
    assert.equal(looks.perVerifier.size, 2);
  });

  test('a process with another APP_KEY, or without what its role needs, refuses to start and says why', async () => {
    const another = { APP_KEY: Buffer.alloc(32, 8).toString('base64url') };
    const refused = [
      [cluster.launch('api', another), /APP_KEY is not the one that this database was made with/],
      [cluster.launch('verifier', another), /APP_KEY is not the one that this database was made with/],
      [
        cluster.launch('worker', { DATABASE_URL: '' }),
        /a problem:\n {2}DATABASE_URL is needed with ROLE=worker/,
      ],
      [cluster.launch('worker', { REDIS_URL: '' }), /a problem:\n {2}REDIS_URL is needed with ROLE=worker/],
    ] as const;
    for (const [{ ready }, reason] of refused) {
      const said = await ready.then(() => 'it started', String);
      assert.match(said, /the program ended \(1\)/);
      assert.match(said, reason);
    }
  });

  test('all of them stop when they are told to, with 0, and none has logged an error', async () => {
    for (const member of [...cluster.members]) {
      assert.equal(await member.end('SIGTERM'), 0);
      assert.doesNotMatch(await member.printed, /"level":[56]0/);
    }
  });
});

/** Every look at an order that a verifier asks a worker for, seen in Redis itself. */
async function watchLooks({ redis }: Cluster) {
  const monitor = await openMonitor(redis);
  const perOrder = new Map<string, number>();
  const perVerifier = new Map<string, number>();
  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  monitor.on('monitor', (_time: string, args: readonly string[]) => {
    // What a script does is shown too, and there each message stands once.
    for (const arg of args[0]?.toLowerCase() === 'rpush' ? args : []) {
      if (!arg.includes('"kind":"look"')) continue;
      // Behind its signature.
      const { replyTo, request } = JSON.parse(arg.slice(arg.indexOf('{'))) as {
        replyTo: string;
        request: { orderId: string };
      };
      count(perOrder, request.orderId);
      // Each process has a group of its own for its replies.
      count(perVerifier, /\{(.+)\}/.exec(replyTo)?.[1] ?? '');
    }
  });
  return {
    ...{ perOrder, perVerifier, stop: () => monitor.disconnect() },
    /** Redis tells in its order: once it tells of this, it has told all that was before. */
    async upToNow(): Promise<void> {
      const told = Promise.withResolvers<void>();
      const mark = randomUUID();
      monitor.on('monitor', (_time: string, args: readonly string[]) => {
        if (args.includes(mark)) told.resolve();
      });
      await redis.echo(mark);
      await told.promise;
    },
  };
}
