// The real cluster on the loopback: each member is the program itself in a process of its own, with the environment
// that an operator would give it, and can be killed, frozen, and moved in time.

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicJwk } from '../src/domain/identity/sealed.ts';
import { APP_KEY } from '../test/orders/kill-harness.ts';
import { freePort } from '../test/servers/free-port.ts';

export interface Member {
  readonly name: string;
  readonly role: 'api' | 'worker' | 'verifier' | 'exchange';
  readonly url: string;
  isRunning(): boolean;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** Resolves when it is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Its wall clock, from now on; false where that cannot be done here. */
  jump(seconds: number): boolean;
}

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** What credentials are sealed to. */
export const SEALING_KEY = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const KEYS = {
  api: { WORKER_PUBLIC_KEY: JSON.stringify(SEALING_KEY) },
  worker: { WORKER_KEY: JSON.stringify(privateKey.export({ format: 'jwk' })) },
  verifier: {},
};

/** The spec's times, shortened so that ten minutes hold many lives. Their order among each other is kept. */
const TIMINGS = {
  WORKER_LEASE_SECONDS: '3',
  WORKER_START_TIMEOUT_SECONDS: '8',
  BROKER_TIMEOUT_SECONDS: '2',
  RESPONSE_WAIT_SECONDS: '8',
  ENTRY_DEADLINE_SECONDS: '25',
  EXIT_DEADLINE_SECONDS: '40',
  // Twice as long as a position lags here.
  POSITION_LAG_SECONDS: '10',
  // The distant exchange fills within half of that.
  REVERSAL_POLLS: '20',
  REVERSAL_POLL_MS: '150',
  FILL_FIRST_POLL_SECONDS: '0.7',
  FILL_REQUEUE_SECONDS: '4',
  FILL_VISIBILITY_SECONDS: '8',
  FILL_RETRIES: '6',
  PROTECTION_FOLLOW_SECONDS: '1',
};

/** By which positions are to be protected, in seconds. */
const PROTECT = 5;
const SWEEP = 8;

export interface ClusterOptions {
  readonly folder: string;
  /** Where the program's sources are: a broken build has its own. */
  readonly root: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Whose language the exchange speaks. */
  readonly broker: string;
  /** So many times as long positions may take to be protected. */
  readonly slow: number;
}

export async function openCluster({ folder, root, databaseUrl, redisUrl, broker, slow }: ClusterOptions) {
  const exchange = await member({
    name: 'exchange',
    role: 'exchange',
    folder,
    command: (port) => [
      join(import.meta.dirname, 'exchange.ts'),
      '--file',
      join(folder, 'exchange.db'),
      '--port',
      `${port}`,
      ...(broker === 'paper' ? [] : ['--broker', broker]),
    ],
    env: () => ({}),
    healthPath: '/control/ledger?none',
  });
  await exchange.start();

  const program = (name: string, role: 'api' | 'worker' | 'verifier') =>
    member({
      name,
      role,
      folder,
      command: () => [join(root, 'src', 'main.ts')],
      env: (port) => ({
        ROLE: role,
        PORT: `${port}`,
        DATA_DIR: join(folder, name),
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        APP_KEY,
        JWT_SECRET: 'the same secret for all processes',
        SEED_USER: 'false',
        EDGE: 'external',
        LOG_LEVEL: 'warn',
        RATE_LIMIT_REQUESTS: '1000000',
        MAX_CONNECTIONS_PER_IP: '10000',
        MAX_CONNECTIONS: '10000',
        BROKER_URLS: JSON.stringify({ [broker]: `${exchange.url}/${name}` }),
        ...KEYS[role],
        ...TIMINGS,
        PROTECT_SECONDS: `${PROTECT * slow}`,
        PROTECTION_SWEEP_SECONDS: `${SWEEP * slow}`,
      }),
      healthPath: '/health/live',
    });
  const apis = [await program('a1', 'api'), await program('a2', 'api')];
  const workers = [
    await program('w1', 'worker'),
    await program('w2', 'worker'),
    await program('w3', 'worker'),
  ];
  const verifiers = [await program('v1', 'verifier'), await program('v2', 'verifier')];
  const members = [...apis, ...workers, ...verifiers];
  await Promise.all(members.map((each) => each.start()));
  return {
    exchange,
    apis,
    workers,
    verifiers,
    members,
    times: {
      leaseMs: Number(TIMINGS.WORKER_LEASE_SECONDS) * 1000,
      protectMs: PROTECT * slow * 1000,
      sweepMs: SWEEP * slow * 1000,
    },
    /** Everybody lives, at the right time. */
    async heal(): Promise<void> {
      for (const each of members) {
        each.thaw();
        each.jump(0);
      }
      await Promise.all(members.map((each) => each.start()));
    },
    async stop(): Promise<void> {
      await Promise.all([...members, exchange].map((each) => each.end('SIGKILL')));
    },
  };
}

export type Cluster = Awaited<ReturnType<typeof openCluster>>;

interface Recipe {
  readonly name: string;
  readonly role: Member['role'];
  readonly folder: string;
  command(port: number): string[];
  env(port: number): Record<string, string>;
  readonly healthPath: string;
}

const alive = new Set<ChildProcess>();
// Whatever becomes of this process: no child outlives it.
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

async function member({ name, role, folder, command, env, healthPath }: Recipe): Promise<Member> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const timeFile = join(folder, `${name}.time`);
  writeFileSync(timeFile, '+0');
  mkdirSync(join(folder, name), { recursive: true });
  const canJump = existsSync(FAKETIME) && role !== 'exchange';
  const time = canJump
    ? {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: timeFile,
        FAKETIME_CACHE_DURATION: '1',
        DONT_FAKE_MONOTONIC: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
    : {};
  let child: ChildProcess | null = null;
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;

  return {
    name,
    role,
    url,
    isRunning,
    async start() {
      for (;;) {
        if (!isRunning()) {
          const log = openSync(join(folder, `${name}.log`), 'a');
          const started = spawn(process.execPath, command(port), {
            env: { PATH: process.env.PATH, ...env(port), ...time },
            stdio: ['ignore', log, log],
          });
          closeSync(log);
          alive.add(started);
          started.once('exit', () => alive.delete(started));
          child = started;
        }
        const answer = await fetch(url + healthPath, { signal: AbortSignal.timeout(2_000) }).catch(
          () => null,
        );
        if (answer?.ok) return;
        // A member that finds no database at its start ends, and is started again, as its supervisor would do.
        await sleep(isRunning() ? 40 : 300);
      }
    },
    async end(signal = 'SIGKILL') {
      if (!child || !isRunning()) return;
      const ended = once(child, 'exit');
      // What stands still cannot be ended gently.
      child.kill('SIGCONT');
      child.kill(signal);
      await ended;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    jump(seconds) {
      writeFileSync(timeFile, `${seconds < 0 ? '' : '+'}${seconds}`);
      return canJump;
    },
  };
}
