// A private Redis for one test process, from Debian's package: a folder in /tmp, free ports of the loopback, nothing
// kept on disk. It lives as long as this process: its keeper, a shell, ends it and removes the folder when the pipe to
// us closes, be it by stop(), by a failed test or by kill -9.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { installPackage, isHalfInstalled } from './debian.ts';
import { freePort } from './free-port.ts';

const SERVER = '/usr/bin/redis-server';

// Every line that it reads starts one more server: its port, then its own options.
const KEEPER = `
  cd "$2"
  while read -r port options; do
    "$1" --port "$port" --bind 127.0.0.1 --save '' --appendonly no --databases 4096 --dir "$2" $options >>"log-$port" 2>&1 &
    echo $! >"pid-$port"
    servers="$servers $!"
  done
  kill -KILL $servers
  wait
  rm -rf "$2"`;

/** The server is not installed and we may not install it: a reason to skip, not to fail. */
export class RedisMissing extends Error {
  override readonly name = 'RedisMissing';
}

interface RedisNode {
  readonly url: string;
  /** kill -9. */
  kill(): Promise<void>;
  /** After a kill, on the same port; what it held is gone. */
  restart(): Promise<void>;
  /** Its connections stay open and nothing answers, until it goes on. */
  hang(): void;
  goOn(): void;
}

export interface RedisServer extends RedisNode {
  /** One, or the three masters of the cluster; then `url` names them all, and what is done is done to the first. */
  readonly nodes: readonly RedisNode[];
  stop(): Promise<void>;
}

export async function startRedis({ cluster = false } = {}): Promise<RedisServer> {
  mustBeInstalled();
  const keeper = startKeeper();
  try {
    const nodes = cluster ? await startCluster(keeper) : [await startNode(keeper, await freePort())];
    return {
      ...(nodes[0] as RedisNode),
      url: nodes.map((node) => node.url).join(','),
      nodes,
      stop: keeper.stop,
    };
  } catch (error) {
    await keeper.stop();
    throw error;
  }
}

async function startNode(keeper: Keeper, port: number, options = ''): Promise<RedisNode> {
  const start = async () => {
    keeper.start(`${port} ${options}`);
    await until(`Redis on port ${port}`, keeper.log(port), () => answersPing(port));
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      process.kill(keeper.pid(port), 'SIGKILL');
      await until(`the end of port ${port}`, '', async () => !(await answersPing(port)));
    },
    restart: start,
    hang: () => process.kill(keeper.pid(port), 'SIGSTOP'),
    goOn: () => process.kill(keeper.pid(port), 'SIGCONT'),
  };
}

const SLOTS = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
] as const;

async function startCluster(keeper: Keeper): Promise<RedisNode[]> {
  const places = await Promise.all(
    SLOTS.map(async () => ({ port: await freePort(), bus: await freePort() })),
  );
  const nodes = await Promise.all(
    places.map(({ port, bus }) =>
      startNode(
        keeper,
        port,
        `--cluster-enabled yes --cluster-port ${bus} --cluster-config-file nodes-${port} ` +
          '--cluster-node-timeout 1000 --cluster-require-full-coverage no',
      ),
    ),
  );
  const clients = nodes.map(({ url }) => new Redis(url, { protocol: 2 }));
  try {
    for (const [index, client] of clients.entries()) {
      const [first, last] = SLOTS[index] as (typeof SLOTS)[number];
      await client.call('cluster', 'addslotsrange', first, last);
      await client.call('cluster', 'set-config-epoch', index + 1);
    }
    for (const { port, bus } of places.slice(1))
      await clients[0]?.call('cluster', 'meet', '127.0.0.1', port, bus);
    // A Redis Cluster waits two seconds before it believes itself.
    for (const client of clients)
      await until('the cluster', '', async () => {
        const info = String(await client.call('cluster', 'info'));
        return (
          /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info) && /cluster_size:3/.test(info)
        );
      });
  } finally {
    for (const client of clients) client.disconnect();
  }
  return nodes;
}

interface Keeper {
  start(line: string): void;
  pid(port: number): number;
  log(port: number): string;
  stop(): Promise<void>;
}

function startKeeper(): Keeper {
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-redis-'));
  // In a session of its own: Ctrl-C in the terminal is for us, and the keeper must outlive us for a moment.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', SERVER, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Nor may a forgotten server keep this process from ending.
  keeper.unref();
  (keeper.stdin as unknown as { unref(): void }).unref();
  return {
    start: (line) => keeper.stdin.write(`${line}\n`),
    pid: (port) => Number(readFileSync(join(folder, `pid-${port}`), 'utf8')),
    log: (port) => join(folder, `log-${port}`),
    async stop() {
      if (keeper.exitCode !== null) return;
      keeper.ref();
      const ended = once(keeper, 'exit');
      keeper.stdin.end();
      await ended;
    },
  };
}

async function until(what: string, log: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > deadline)
      throw new Error(`waited in vain for ${what}\n${existsSync(log) ? readFileSync(log, 'utf8') : ''}`);
    await pause(10);
  }
}

async function answersPing(port: number): Promise<boolean> {
  const client = new Redis({ port, host: '127.0.0.1', protocol: 2, lazyConnect: true, retryStrategy: null });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

function mustBeInstalled(): void {
  try {
    if (!existsSync(SERVER) || isHalfInstalled('redis-server')) installPackage('redis-server');
  } catch (fault) {
    throw new RedisMissing(`needs Redis 7 or newer: ${(fault as Error).message}`);
  }
  const version = execFileSync(SERVER, ['--version'], { encoding: 'utf8' });
  if (Number(/v=(\d+)/.exec(version)?.[1]) < 7)
    throw new RedisMissing(`needs Redis 7 or newer, not ${version}`);
}
