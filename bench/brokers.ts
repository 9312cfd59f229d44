// What a broker costs a worker host. Time and memory of the first connection, which loads the library
// and the markets, and of a thousand users of one exchange in one process. At stubs on the loopback: what is measured is
// ours and the library's, never the broker's network.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Broker } from '../src/broker/broker.ts';
import { openBrokers } from '../src/broker/registry.ts';
import { BROKER_NAMES, BROKERS, type BrokerName } from '../src/domain/brokers.ts';
import type { AccountId } from '../src/domain/ids.ts';

const USERS = 1_000;
const AT_ONCE = 20;
/** The paper broker is the stub itself. */
const NAMES = BROKER_NAMES.filter((name) => name !== 'paper');

/** One broker a process: memory that one has taken is not given back before the next. */
const [only] = process.argv.slice(2);
if (only) await measure(only as BrokerName);
else {
  console.log(
    'broker    first connection      memory   one of 1,000 more  memory of 1,000  (a process of its own each)',
  );
  for (const name of NAMES)
    process.stdout.write(execFileSync(process.execPath, ['--expose-gc', import.meta.filename, name]));
}

async function measure(name: BrokerName): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-bench-'));
  const url = await startStub(name, join(dir, 'exchange.db'));
  const account = async (n: number) => {
    const id = `bench-${n}` as AccountId;
    const credentials = { api_key: `key-${n}`, api_secret: `secret-${n}`, passphrase: `pass-${n}` };
    await fetch(`${url}/control/accounts/${id}`, {
      method: 'POST',
      body: JSON.stringify({ paper: { latency_ms: 0 }, credentials }),
    });
    return { id, environment: BROKERS[name].environments[0], paper: null, credentials };
  };
  const accounts = await Promise.all(Array.from({ length: USERS + 1 }, (_, n) => account(n)));
  const unused = () => Promise.reject(new Error('no paper account trades here'));
  const brokers = openBrokers({
    ledger: { read: unused, find: unused, findStop: unused, write: unused },
    clock: { now: Date.now },
    wait: unused,
    urls: { [name]: url },
  });
  const patience = () => AbortSignal.timeout(60_000);
  const open = (n: number) => {
    const [given] = accounts.slice(n, n + 1);
    if (!given) throw new Error(`there is no account ${n}`);
    return brokers[name](given, patience());
  };

  const connections: Broker[] = [];
  const empty = resident();
  const [first, firstMs] = await timed(() => open(0));
  const loaded = resident();
  const [, allMs] = await timed(async () => {
    for (let n = 1; n <= USERS; n += AT_ONCE)
      connections.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(AT_ONCE, USERS + 1 - n) }, (_, k) => open(n + k)),
        )),
      );
  });
  const all = resident();
  console.log(
    `${name.padEnd(9)} ${`${firstMs.toFixed(0)} ms`.padStart(16)} ${`${loaded - empty} MB`.padStart(11)} ` +
      `${`${(allMs / USERS).toFixed(1)} ms`.padStart(19)} ${`${all - loaded} MB`.padStart(16)}`,
  );
  for (const connection of [first, ...connections]) await connection.close();
  await rm(dir, { recursive: true });
  process.exit();
}

/** In a process of its own: its memory is none of ours. */
async function startStub(name: BrokerName, file: string): Promise<string> {
  const script = join(import.meta.dirname, '../chaos/exchange.ts');
  const stub = spawn(process.execPath, [script, '--broker', name, '--file', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => stub.kill());
  for await (const line of createInterface({ input: stub.stdout })) {
    const [, url] = /^ready at (\S+)$/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('the stub does not start');
}

/** In whole megabytes, after what nobody needs is gone. */
function resident(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const begun = performance.now();
  const result = await work();
  return [result, performance.now() - begun];
}
