// Members of a cluster that stop, die, forget and come back, while orders are under way. In the end the paper broker's
// own ledger is the judge.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { leaseOf, STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import { stopwatch } from '../stopwatch.ts';
import {
  assertFilled,
  type Cluster,
  type Member,
  openCluster,
  type Problem,
  startServers,
  type Trader,
  until,
  type WorkerHost,
} from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };
const RATE_LIMIT = 40;
/** Long enough for what is to happen while such an order is in flight, on a machine that has other things to do. */
const SLOW = { latency_ms: 900 };

after(async () => {
  if (servers.missing === undefined) await servers.redis.stop();
});

describe('orders under way', skip, () => {
  let cluster: Cluster;
  let one: Member;
  let two: Member;
  let verifier: Member;
  let present: WorkerHost[] = [];

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers, { RATE_LIMIT_REQUESTS: String(RATE_LIMIT) });
    [one, two, verifier] = await Promise.all([
      cluster.start('api'),
      cluster.start('api'),
      cluster.start('verifier'),
    ]);
  });
  after(() => cluster?.close());

  /** Two hosts; these users have their workers on the first. */
  async function twoHosts(...traders: readonly Trader[]): Promise<[WorkerHost, WorkerHost]> {
    await Promise.all(present.map((host) => host.end('SIGTERM')));
    const first = await cluster.startHost();
    await Promise.all(traders.map((trader) => cluster.wake(one, trader)));
    const second = await cluster.startHost();
    present = [first, second];
    for (const { user } of traders) assert.equal(await cluster.hosts.hostOf(user.id), first.id);
    return [first, second];
  }

  async function ends(host: WorkerHost, signal: NodeJS.Signals): Promise<number | null> {
    present = present.filter((other) => other !== host);
    return host.end(signal);
  }

  const quantities = async (trader: Trader) => (await cluster.ledger(trader)).map(({ quantity }) => quantity);
  const holder = async ({ user }: Pick<Trader, 'user'>) =>
    (await cluster.store.leaseHolder(leaseOf(user.id)))?.holder;

  test('a host that is told to stop finishes what it has in flight, and another takes what waits', async () => {
    const trader = await cluster.trader(SLOW);
    const [leaving, heir] = await twoHosts(trader);
    const first = cluster.order(one, trader, { quantity: 0.01 });
    await cluster.sending(trader, 0.01);
    const second = cluster.order(two, trader, { quantity: 0.02 });
    await cluster.accepted(trader, 0.02);
    const passed = stopwatch();
    const exitCode = ends(leaving, 'SIGTERM');
    await cluster.sending(trader, 0.02);
    // Now the second one is in somebody's hands.
    assert.equal(await holder(trader), heir.id);
    assertFilled(await Promise.all([first, second]));
    // Handed over, and not rescued, which takes five seconds.
    assert.ok(passed() < 5_000);
    assert.deepEqual(await quantities(trader), ['0.01', '0.02']);
    assert.equal(await exitCode, 0);
    assert.equal(await cluster.hosts.hostOf(trader.user.id), heir.id);
  });

  test('a host that stops keeps its user for as long as the order in flight takes, lease after lease', async () => {
    const trader = await cluster.trader({ latency_ms: 2_200 });
    const [leaving, heir] = await twoHosts(trader);
    const first = cluster.order(one, trader, { quantity: 0.01 });
    await cluster.sending(trader, 0.01);
    const told = performance.now();
    const exitCode = ends(leaving, 'SIGTERM');
    // Longer than the lease that it had.
    await until('a moment', () => performance.now() - told > 1_200);
    assert.equal(await holder(trader), leaving.id);
    const second = cluster.order(two, trader, { quantity: 0.02 });
    assertFilled(await Promise.all([first, second]));
    assert.deepEqual(await quantities(trader), ['0.01', '0.02']);
    assert.equal(await exitCode, 0);
    assert.equal(await holder(trader), heir.id);
  });

  test('a host dies with orders in its hands: another fills each of them once, and their requests hear it', async () => {
    // One kill that finds orders at many stages.
    const traders = await Promise.all(
      [SLOW.latency_ms, 1, 30, 60, 100, 200, 300].map((latency_ms) => cluster.trader({ latency_ms })),
    );
    const [slow] = traders as [Trader];
    const [dying, heir] = await twoHosts(...traders);
    const first = cluster.order(one, slow, { quantity: 0.01 });
    await cluster.sending(slow, 0.01);
    const rest = [slow, ...traders.slice(1), ...traders.slice(1)].map((trader, index) =>
      cluster.order(index % 2 ? one : two, trader, { quantity: 0.02 }),
    );
    await until('the second order', async () => (await cluster.orders(slow)).length === 2);
    await ends(dying, 'SIGKILL');
    const atDeath = await cluster.orders(slow);
    assert.deepEqual(
      atDeath.map(({ status }) => status),
      ['executing', 'queued'],
    );
    assert.deepEqual(await quantities(slow), []);

    const answers = await Promise.all([first, ...rest]);
    assertFilled(answers);
    assert.deepEqual(await quantities(slow), ['0.01', '0.02']);
    for (const trader of traders.slice(1)) assert.deepEqual(await quantities(trader), ['0.02', '0.02']);
    assert.equal(await cluster.hosts.hostOf(slow.user.id), heir.id);
  });

  test('a user for whom many processes ask at one moment gets one worker', async () => {
    await twoHosts();
    const { user } = await cluster.trader();
    const { store, hosts } = cluster;
    const replies = Array.from({ length: 4 }, () => store.expectReply({ timeoutMs: 5_000 }));
    const asked = replies.map(({ address: replyTo }) =>
      store.push(STARTS_QUEUE, JSON.stringify({ user: user.id, replyTo }), 5_000),
    );
    for (const push of asked) await push;
    for (const { reply } of replies) assert.equal(await reply, 'started');
    await hosts.stop((await hosts.hostOf(user.id)) ?? '', user.id);
    assert.equal(await holder({ user }), undefined);
    // Its worker has stopped: nobody is there to answer anything.
    const { address, reply } = store.expectReply({ timeoutMs: 300 });
    const request = { kind: 'look', orderId: randomUUID() };
    await store.push(`work:{${user.id}}`, JSON.stringify({ replyTo: address, request }), 5_000);
    assert.equal(await reply, null);
  });

  test('the first orders of a user, at both APIs at one moment, are executed one after the other', async () => {
    const latency_ms = 100;
    await twoHosts();
    const traders = await Promise.all(Array.from({ length: 12 }, () => cluster.trader({ latency_ms })));
    assertFilled(
      await Promise.all(traders.flatMap((trader) => [one, two].map((at) => cluster.order(at, trader)))),
    );
    for (const trader of traders) {
      const [first, second] = (await cluster.ledger(trader)).map(({ accepted_at }) =>
        Date.parse(accepted_at),
      );
      assert.ok(first && second && second - first >= latency_ms);
    }
  });

  test('Redis forgets everything: the worker goes on, and orders are filled, none twice', async () => {
    const trader = await cluster.trader(SLOW);
    const quick = await cluster.trader();
    const [host] = await twoHosts(trader, quick);
    const workerOf = async ({ user }: Trader) =>
      (await cluster.hosts.workers({ after: null, limit: 1_000 })).find(({ userId }) => userId === user.id);
    const begun = await workerOf(trader);

    // Nothing happens.
    await cluster.redis.flushall();
    await until('its lease', async () => (await holder(trader)) === host.id);
    await until('its announcement', async () => (await cluster.hosts.list()).length === 2);
    assert.equal((await workerOf(trader))?.startedAt, begun?.startedAt);

    // Between orders.
    for (let round = 0; round < 5; round++) {
      await cluster.redis.flushall();
      assertFilled([await cluster.order(one, quick), await cluster.order(two, quick)]);
    }
    assert.equal((await cluster.ledger(quick)).length, 10);
    assert.equal((await cluster.orders(quick)).length, 10);

    await until('its lease', async () => (await holder(trader)) === host.id);

    // While an order is sent and the next one waits.
    const first = cluster.order(one, trader, { quantity: 0.01 });
    await cluster.sending(trader, 0.01);
    const second = cluster.order(two, trader, { quantity: 0.02 });
    await cluster.accepted(trader, 0.02);
    await cluster.redis.flushall();
    const third = cluster.order(one, trader, { quantity: 0.03 });
    assertFilled(await Promise.all([first, second, third]));
    assert.deepEqual(await quantities(trader), ['0.01', '0.02', '0.03']);
  });

  test('Redis is away and comes back: refused meanwhile, and the same signal trades once afterwards', async (t) => {
    assert.ok(servers.missing === undefined);
    const { redis } = servers;
    const trader = await cluster.trader();
    const limited = await cluster.trader();
    await twoHosts(trader);
    const members = [one, two, verifier, ...present];
    const askHealth = () => Promise.all(members.map((member) => cluster.call(member, 'GET', '/health')));
    const health = async () => (await askHealth()).map(({ status }) => status);
    const rename = (at: Member) =>
      cluster.as(at, limited, 'PATCH', `/trading/accounts/${limited.account.id}`, { name: 'Renamed' });
    await Promise.all(Array.from({ length: RATE_LIMIT }, () => rename(one)));
    assert.equal((await rename(two)).body.code, 'rate_limited');
    assert.deepEqual(
      await health(),
      members.map(() => 200),
    );

    await redis.kill();
    const signal = cluster.signal(trader);
    for (const at of [one, two]) {
      const refused = await cluster.deliver<Problem>(at, trader, signal);
      assert.equal(refused.status, 503);
      assert.equal(refused.body.code, 'store_unavailable');
      assert.ok(Number(refused.headers['retry-after']) > 0);
      // The rate limiter does not stop anybody now.
      assert.equal((await rename(at)).status, 200);
    }
    assert.deepEqual(
      await health(),
      members.map(() => 503),
    );
    assert.deepEqual(await cluster.orders(trader), []);
    const away = await askHealth();
    await t.test('each of them says when to ask again', () => {
      for (const { headers } of away) assert.ok(Number(headers['retry-after']) > 0);
    });

    await redis.restart();
    await until('health', health, (statuses) => statuses.every((status) => status === 200));
    const repeats = await Promise.all(
      Array.from({ length: 6 }, (_, index) => cluster.deliver(index % 2 ? one : two, trader, signal)),
    );
    assert.deepEqual(repeats.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
    assertFilled(repeats.filter(({ status }) => status === 200));
    assertFilled([await cluster.order(one, trader), await cluster.order(two, await cluster.trader())]);
    assert.equal((await cluster.ledger(trader)).length, 2);
    await until('both hosts', async () => (await cluster.hosts.list()).length === 2);
  });
});
