// What an order costs Redis with its roles apart, seen in Redis itself.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openMonitor } from '../servers/monitor.ts';
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
    const monitor = await openMonitor(cluster.redis);
    t.after(() => monitor.disconnect());
    const sent: string[] = [];
    monitor.on('monitor', (_time: string, args: readonly string[], source: string) => {
      // Of a script only its call counts. What goes by time is not an order's: a sign of life of a slow request, a lease
      // that is prolonged every few minutes, and who is there.
      const text = args.join(' ');
      const isOfOrders = text.includes(trader.user.id) || text.includes('reply:{');
      const isOfTime = /^pexpire/i.test(text) || text.includes('fillpath:fence:');
      if (source !== 'lua' && isOfOrders && !isOfTime) sent.push(text);
    });
    for (let n = 0; n < ORDERS; n++) assertFilled([await cluster.order(api, trader)]);
    const perOrder = sent.length / ORDERS;
    t.diagnostic(`${perOrder} commands per order`);
    assert.ok(perOrder <= MOST, `${perOrder} commands per order, such as:\n${sent.slice(-15).join('\n')}`);
  });
});
