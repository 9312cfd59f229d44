// What an order costs Redis with its roles apart, seen in Redis itself.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertFilled, type Cluster, type Member, openCluster, startServers } from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };
const ORDERS = 20;
const MOST = 5;

describe('Redis commands of an order', skip, () => {
  let cluster: Cluster;
  let api: Member;

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers);
    [api] = await Promise.all([cluster.start('api'), cluster.start('worker')]);
  });
  after(async () => {
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  test(`are ${MOST} at most, once the user has a worker`, async (t) => {
    const trader = await cluster.trader();
    assertFilled([await cluster.order(api, trader)]);
    const monitor = await cluster.redis.monitor();
    const sent: string[] = [];
    monitor.on('monitor', (_time: string, args: readonly string[], source: string) => {
      // Of a script only its call counts; who is there is said and asked for whether there are orders or not.
      const isOfOrders = args.some((arg) => arg.includes(trader.user.id) || arg.includes(trader.account.id));
      const isReply = args.some((arg) => arg.includes('reply:{'));
      if (source !== 'lua' && (isOfOrders || isReply)) sent.push(args.join(' '));
    });
    for (let n = 0; n < ORDERS; n++) assertFilled([await cluster.order(api, trader)]);
    monitor.disconnect();
    const perOrder = sent.length / ORDERS;
    t.diagnostic(`${perOrder} commands per order`);
    assert.ok(perOrder <= MOST, `${perOrder} commands per order, such as:\n${sent.slice(-15).join('\n')}`);
  });
});
