// What a signal to a group costs beside one to an account, in one run: node bench/groups.ts [--short]
// The two take turns at one program, over the loopback, so that what else the machine does meets both. An order's answer comes when
// it is durable and filled; a group's when all of its members' are. The ratio is what counts: less than 4 for 20 members.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { timestamp } from '../src/domain/ids.ts';
import { makeGroup, makeTrader, startProgram, webhookPath } from '../test/orders/kill-harness.ts';
import { openConnection, percentile } from './client.ts';
import { ENTRY, EXIT, ms } from './orders.ts';

const MEMBERS = 20;
const LATENCIES = [20, 0];
const { short } = parseArgs({ options: { short: { type: 'boolean', default: false } } }).values;
const ROUNDS = short ? 10 : 150;
const WARM = short ? 2 : 30;

let made = 0;
const bodyOf = (order: object, secret: string): string => {
  const time = timestamp(Date.now()).replace('Z', `${String(made++ % 1e6).padStart(6, '0')}Z`);
  return JSON.stringify({ symbol: 'BTCUSDT', quantity: 0.01, ...order, timestamp: time, secret });
};

for (const latency_ms of LATENCIES) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-groups-'));
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const paper = { latency_ms, starting_cash: 1e12 };
  const alone = await makeTrader(db, paper);
  const members = [await makeTrader(db, paper)];
  while (members.length < MEMBERS) members.push(await makeTrader(db, paper, members[0]?.user));
  const group = await makeGroup(db, members);
  await db.close();
  const program = startProgram(dir);
  try {
    const connection = await openConnection(await program.ready);
    const times = { alone: [] as number[], group: [] as number[] };
    for (let round = 0; round < WARM + ROUNDS; round++) {
      const order = round % 2 === 0 ? ENTRY : EXIT;
      for (const [who, path, secret, fills] of [
        ['alone', webhookPath(alone), alone.secret, 1],
        ['group', group.path, group.secret, MEMBERS],
      ] as const) {
        const begun = performance.now();
        const answer = await connection.post(path, bodyOf(order, secret));
        const took = performance.now() - begun;
        if (answer.split('"status":"filled"').length - 1 !== fills) throw new Error(`not filled: ${answer}`);
        if (round >= WARM) times[who].push(took);
      }
    }
    connection.close();
    const [one, all] = [percentile(times.alone, 50), percentile(times.group, 50)];
    console.log(
      `a broker that takes ${latency_ms} ms: one order ${ms(one)}, a group of ${MEMBERS} ${ms(all)}, ratio ${(all / one).toFixed(2)}`,
    );
  } finally {
    await program.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}
