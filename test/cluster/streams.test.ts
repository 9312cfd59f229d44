// Streams of orders where API, worker and verifier are processes of their own, over a real Redis.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EventStream, openEventStream } from '../orders/event-stream.ts';
import {
  assertFilled,
  type Cluster,
  type Member,
  openCluster,
  startServers,
  type Trader,
  until,
} from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };

describe('a stream of orders, across processes', skip, () => {
  let cluster: Cluster;
  let one: Member;
  let two: Member;
  const streams = new Set<EventStream>();

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers);
    [one, two] = await Promise.all([cluster.start('api'), cluster.start('api'), cluster.start('worker')]);
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  async function follow(at: Member, { apiKey }: Trader, place?: string): Promise<EventStream> {
    const headers = { authorization: `Bearer ${apiKey}` };
    const stream = await openEventStream(at.url, { headers, after: place });
    streams.add(stream);
    if (stream.status === 200) await stream.until('a place', () => stream.place() !== '');
    return stream;
  }

  test('an order that one API process accepted is seen at the other, as it is read there', async () => {
    const trader = await cluster.trader();
    const stream = await follow(two, trader);
    const answer = await cluster.order(one, trader);
    assertFilled([answer]);
    const { order_id } = answer.body;
    const told = await stream.order(
      'the fill',
      (order) => order.order_id === order_id && order.status === 'filled',
    );
    assert.deepEqual(told, (await cluster.as(one, trader, 'GET', `/trading/orders/${order_id}`)).body);
  });

  test('a place of one process is good at the other', async () => {
    const trader = await cluster.trader();
    const first = await follow(one, trader);
    first.close();
    const { body } = await cluster.order(one, trader);
    const second = await follow(two, trader, first.place());
    await second.order(
      'what was missed',
      ({ order_id, status }) => order_id === body.order_id && status === 'filled',
    );
    assert.ok(second.events.every(({ event }) => event === 'order'));
  });

  test('ten of a user are counted together, and an API key that ends at one process ends them at the other', async () => {
    const trader = await cluster.trader();
    const ten = [];
    for (let count = 0; count < 10; count++) ten.push(await follow(count % 2 === 0 ? one : two, trader));
    assert.deepEqual(new Set(ten.map(({ status }) => status)), new Set([200]));
    assert.equal((await follow(two, trader)).status, 429);
    const admin = await cluster.admin();
    const url = `/deployment/users/${trader.user.id}`;
    const { status } = await cluster.as(one, admin, 'PATCH', url, { is_active: false });
    assert.equal(status, 200);
    await Promise.all(ten.map(({ ended }) => ended));
  });

  test('a Redis that forgets everything resets the streams, and they go on', async () => {
    const trader = await cluster.trader();
    const stream = await follow(two, trader);
    const { body } = await cluster.order(one, trader);
    await stream.order(
      'the fill',
      ({ order_id, status }) => order_id === body.order_id && status === 'filled',
    );
    await cluster.redis.flushdb();
    // A journal begins anew with the next stream, or with the next round.
    await follow(one, trader);
    const next = await cluster.order(one, trader);
    await until('a reset', () => stream.events.some(({ event }) => event === 'reset'));
    const last = await cluster.order(one, trader);
    await stream.order('what came after it', ({ order_id }) => order_id === last.body.order_id);
    assert.equal(next.status, 200);
  });
});
