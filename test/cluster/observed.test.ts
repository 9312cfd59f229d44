// Roles apart: one order is followed by its id through the logs of all processes that had it in hand, and each of them counts
// what it did itself.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Cluster, type Member, openCluster, startServers, until, type WorkerHost } from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };

type Line = Readonly<Record<string, unknown>>;

/** What it logged, once it is gone. */
async function linesOf(member: Member): Promise<Line[]> {
  await member.end('SIGTERM');
  return (await member.printed)
    .split('\n')
    .filter((line) => /^\{.*\}$/.test(line))
    .map((line) => JSON.parse(line) as Line);
}

describe('An order at roles apart', skip, () => {
  let cluster: Cluster;
  let api: Member;
  let host: WorkerHost;
  let verifier: Member;

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers, { LOG_LEVEL: 'info', FILL_FIRST_POLL_SECONDS: '0.2' });
    [api, host, verifier] = await Promise.all([
      cluster.start('api'),
      cluster.startHost({ HOST_NAME: 'rack-7' }),
      cluster.start('verifier'),
    ]);
  });
  after(async () => {
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  test('is counted by each process that had it, and followed through their logs by its id', async () => {
    // Its answer is lost: the worker leaves it to fill verification, which finds the end.
    const trader = await cluster.trader({ lose_answer: true });
    const { body } = await cluster.order(api, trader);
    assert.equal(body.status, 'unknown');
    await until('the end', async () => (await cluster.orders(trader))[0]?.status === 'filled');

    const read = async (member: Member) => (await cluster.call<string>(member, 'GET', '/metrics')).body;
    const [ofApi, ofHost, ofVerifier] = await Promise.all([api, host, verifier].map(read));
    assert.match(ofApi ?? '', /^fillpath_webhook_seconds_count\{answer="result"\} 1$/m);
    assert.match(ofApi ?? '', /^fillpath_pool_waiting\{pool="reads"\} 0$/m);
    assert.match(ofApi ?? '', /^fillpath_pool_wait_seconds_count\{pool="commits"\} [1-9]/m);
    assert.match(ofHost ?? '', /^fillpath_accept_to_broker_seconds_count\{broker="paper"\} 1$/m);
    assert.match(ofHost ?? '', /^fillpath_worker_starts_total 1$/m);
    assert.match(ofVerifier ?? '', /^fillpath_orders_ended_total\{broker="paper",outcome="filled"\} 1$/m);
    assert.match(ofVerifier ?? '', /^fillpath_fill_check_lag_seconds_count [1-9]/m);

    const names = {
      order_id: body.order_id,
      user_id: trader.user.id,
      trading_account_id: trader.account.id,
    };
    const about = async (member: Member) =>
      (await linesOf(member)).filter(({ order_id }) => order_id === body.order_id);
    const [asked] = await about(api);
    assert.partialDeepStrictEqual(asked, { ...names, msg: 'request', outcome: 'unknown' });
    const [left] = await about(host);
    const { request_id } = asked ?? {};
    assert.partialDeepStrictEqual(left, {
      ...{ ...names, request_id, outcome: 'unknown', host: host.name },
      msg: 'order left to fill verification',
    });
    assert.match(host.name, /^rack-7:\d+$/);
    const [ended] = await about(verifier);
    assert.partialDeepStrictEqual(ended, { ...names, request_id, msg: 'order ended', outcome: 'filled' });
  });
});
