// Roles apart: what is read of a broker at one API process is emptied by an order that came to another, and a user's minute is one,
// whichever API process is asked and whichever host has the user's worker.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Cluster,
  type Member,
  openCluster,
  type Problem,
  startServers,
  type Trader,
  type WorkerHost,
} from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };
const READS = 8;

describe('Reading of a broker at roles apart', skip, () => {
  let cluster: Cluster;
  let apis: readonly [Member, Member];
  let host: WorkerHost;

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers, { BROKER_READS_PER_MINUTE: `${READS}` });
    const [first, second] = await Promise.all([cluster.start('api'), cluster.start('api')]);
    apis = [first, second];
    host = await cluster.startHost();
  });
  after(async () => {
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  const read = <Body>(at: Member, trader: Trader, what: string) =>
    cluster.as<Body>(at, trader, 'GET', `/trading/accounts/${trader.account.id}/${what}`);

  test('an order that came to another API process empties what was read', async () => {
    const trader = await cluster.trader();
    const held = async (at: Member) => {
      const { body } = await read<{ items: readonly { quantity: number }[] }>(at, trader, 'positions');
      return body.items.map(({ quantity }) => quantity);
    };
    assert.deepEqual(await held(apis[0]), []);
    assert.equal((await cluster.order(apis[1], trader)).body.status, 'filled');
    assert.deepEqual(await held(apis[0]), [0.01]);
    assert.equal((await cluster.order(apis[1], trader, { action: 'long_exit' })).body.status, 'filled');
    assert.deepEqual(await held(apis[0]), []);
  });

  test('a user’s minute is one over all processes, and no other user’s', async () => {
    const [trader, other] = [await cluster.trader(), await cluster.trader()];
    let allowed = 0;
    const search = (at: Member) => read<Problem>(at, trader, `symbols?q=${allowed}`);
    const spend = async (most: number) => {
      for (let turn = 0; turn < most; turn++) {
        const answer = await search(apis[turn % 2 === 0 ? 0 : 1]);
        if (answer.status !== 200) return answer;
        allowed++;
      }
      return null;
    };
    assert.equal(await spend(3), null);
    // Its successor has read nothing, and knows of no minute.
    const [next] = await Promise.all([cluster.startHost(), host.end('SIGTERM')]);
    const refused = await spend(2 * READS);
    assert.deepEqual([refused?.status, refused?.body.code], [429, 'rate_limited']);
    assert.ok(Number(refused?.headers['retry-after']) >= 1);
    // Each worker's connection was opened once, which is a call too.
    assert.equal(allowed, READS - 2);
    assert.equal((await read(apis[0], other, 'balance')).status, 200);
    assert.equal((await cluster.order(apis[0], trader)).body.status, 'filled');
    await next.end('SIGTERM');
  });
});
