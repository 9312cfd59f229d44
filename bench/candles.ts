// What charts cost those who trade: how long an order takes while others look at charts all the time, beside how long it takes
// while nobody does, on the same server. In short turns, now the one first and now the other. The paper broker makes its candles in the very
// process that trades: the worst there is. Under half a minute.

import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashToken } from '../src/app/identity/tokens.ts';
import { randomToken } from '../src/app/secret-box.ts';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { insertApiKey } from '../src/data/identity/api-keys.ts';
import { timestamp } from '../src/domain/ids.ts';
import { makeTrader, startProgram, type Trader } from '../test/orders/kill-harness.ts';
import { type Measured, measure, percentile } from './client.ts';
import { FILLED, ms, signalsOf } from './orders.ts';

const ROUNDS = 6;
const LOAD = { connections: 1, requests: 400, warmUp: 20, mostMs: 1_500, expected: FILLED };
const VIEWERS = 4;
/** Each opens a chart of 500 candles so often. */
const EVERY_MS = 200;

const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));
try {
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const make = () => makeTrader(db, { latency_ms: 0, starting_cash: 1e12 });
  const trader = await make();
  const viewers: { readonly viewer: Trader; readonly key: string }[] = [];
  for (let n = 0; n < VIEWERS; n++) {
    const viewer = await make();
    const key = randomToken();
    await db.commit([
      insertApiKey({
        ...{ id: randomUUIDv7(), userId: viewer.user.id, name: 'bench', keyHash: hashToken(key) },
        ...{ expiresAt: null, createdAt: timestamp(Date.now()) },
      }),
    ]);
    viewers.push({ viewer, key });
  }
  await db.close();

  const server = startProgram(dir, { BROKER_READS_PER_MINUTE: '100000', RATE_LIMIT_REQUESTS: '100000' });
  const address = await server.ready;
  const next = signalsOf([trader]);
  const run = () => measure(address, { ...LOAD, next });
  let charts = 0;

  async function look({ viewer, key }: (typeof viewers)[number], until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      // Never the same one: nothing is answered from what is young.
      const to = new Date(Date.now() - charts * 60_000);
      const from = new Date(to.getTime() - 499 * 60_000);
      const query = new URLSearchParams({ symbol: 'ETHUSDT', interval: '1m' });
      query.set('from', from.toISOString());
      query.set('to', to.toISOString());
      const answer = await fetch(`${address}/trading/accounts/${viewer.account.id}/candles?${query}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(text);
      charts++;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
  async function runBeside(): Promise<Measured> {
    const over = new AbortController();
    const looking = Promise.all(viewers.map((each) => look(each, over.signal)));
    const measured = await run();
    over.abort();
    await looking;
    return measured;
  }

  await run();
  await runBeside();
  const without: Measured[] = [];
  const beside: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const isFirst = round % 2 === 0;
    if (isFirst) without.push(await run());
    beside.push(await runBeside());
    if (!isFirst) without.push(await run());
  }
  await server.kill();

  for (const part of ['p50', 'p99'] as const) {
    const [alone = 0, charted = 0] = [without, beside].map((runs) =>
      percentile(
        runs.map((each) => each[part]),
        50,
      ),
    );
    const more = `${(charted / alone).toFixed(2)} times as long, ${(charted - alone).toFixed(2)} ms more`;
    console.log(`an order, ${part}   without charts ${ms(alone)}   beside charts ${ms(charted)}   ${more}`);
  }
  const [load = 0] = loadavg();
  if (load > availableParallelism() * 1.5)
    console.log(`Others were using the machine (load ${load.toFixed(1)}): the times are theirs, too.`);
  console.log(`${charts} charts of 500 candles were looked at`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
