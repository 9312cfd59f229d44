// What is measured, started and ready: the service of a checkout or its floor, embedded or with its roles apart. Each has
// an address that takes webhooks, users who have an account there, and tells the processor time of its processes.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import type { Venue } from '../chaos/venue.ts';
import type { PublicJwk } from '../src/domain/identity/sealed.ts';
import type { Program, Trader } from '../test/orders/kill-harness.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import { startRedis } from '../test/servers/redis.ts';
import { type Checkout, killAll, PAPER } from './checkout.ts';
import { cpuMs, familyMs, mainThreadMs, postgresPid, redisPid, type Usage } from './usage.ts';

export interface System {
  readonly address: string;
  readonly traders: readonly Trader[];
  usage(): Usage;
  /** By role, `all` where there is but one: an address for who watches it, and its number. */
  readonly processes: Readonly<Record<string, { readonly address: string; readonly pid: number }>>;
  /** Of the database of one process. */
  readonly file: string | null;
  readonly servers: Servers | null;
  /** With this signal, and then its servers and folders. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Servers {
  readonly postgres: string;
  readonly redis: string;
}

export interface Wanted {
  readonly users: number;
  readonly env?: Record<string, string>;
  /** With roles apart: where all accounts are; the paper broker, where nothing is said. */
  readonly venue?: Venue;
  /** Of Node, for a role: `all` where there is but one. */
  nodeOptions?(role: string): readonly string[];
}

const folder = () => mkdtempSync(join(tmpdir(), 'fillpath-bench-'));
const remove = (dir: string) => rmSync(dir, { recursive: true, force: true });

export async function startEmbedded(code: Checkout, wanted: Wanted): Promise<System> {
  const dir = folder();
  const db = await code.openFresh(dir);
  const traders = await code.makeTraders(db, wanted.users);
  await db.close();
  const options = wanted.nodeOptions?.('all') ?? [];
  const program = code.startProgram(dir, wanted.env, [...options, 'src/main.ts']);
  return oneProcess(program, traders, dir, 'fillpath.sqlite');
}

export async function startFloor(code: Checkout, { env }: Pick<Wanted, 'env'> = {}) {
  const dir = folder();
  const command = ['bench/floor.ts', join(dir, 'floor.sqlite')];
  return oneProcess(code.startProgram(dir, env, command), [], dir, 'floor.sqlite');
}

async function oneProcess(
  program: Program,
  traders: readonly Trader[],
  dir: string,
  file: string,
): Promise<System> {
  const stop = async (signal?: NodeJS.Signals) => {
    await program.kill(signal);
    remove(dir);
  };
  try {
    const address = await program.ready;
    return {
      address,
      traders,
      processes: { all: { address, pid: program.pid } },
      usage: () => ({ process: cpuMs(program.pid), 'main thread': mainThreadMs(program.pid) }),
      file: join(dir, file),
      servers: null,
      stop,
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

export async function startApart(code: Checkout, wanted: Wanted): Promise<System> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const WORKER_KEY = JSON.stringify(privateKey.export({ format: 'jwk' }));
  const sealing = publicKey.export({ format: 'jwk' });
  const WORKER_PUBLIC_KEY = JSON.stringify(sealing);
  const { venue } = wanted;
  return overServers(async ({ env, dir, urls, started }) => {
    const db = await code.openFreshPostgres(urls.postgres);
    const elsewhere = venue && {
      brokerName: venue.broker,
      seal: (owner: Parameters<Venue['seal']>[0]) => venue.seal(owner, sealing as unknown as PublicJwk),
    };
    const traders = await code.makeTraders(db, wanted.users, elsewhere).finally(() => db.close());
    const start = (role: string, more: Record<string, string> = {}) =>
      started(
        code.startProgram(join(dir, role), { ...env, ...wanted.env, ROLE: role, ...more }, [
          ...(wanted.nodeOptions?.(role) ?? []),
          'src/main.ts',
        ]),
      );
    // A process of its own, with a ledger of its own: what is counted is ours.
    const language = venue && !venue.isPaper ? ['--broker', venue.broker] : [];
    const command = ['chaos/exchange.ts', '--file', join(dir, 'exchange.db'), ...language];
    const exchange = await started(code.startProgram(join(dir, 'exchange'), {}, command)).ready;
    if (venue) await register(exchange, venue, traders);
    const worker = start('worker', {
      WORKER_KEY,
      BROKER_URLS: JSON.stringify({ [venue?.broker ?? 'paper']: exchange }),
    });
    const verifier = start('verifier');
    const api = start('api', { WORKER_PUBLIC_KEY });
    await Promise.all([worker.ready, verifier.ready]);
    return { traders, api, others: { worker, verifier } };
  });
}

/** The exchange knows whose credentials these are. */
async function register(exchange: string, venue: Venue, traders: readonly Trader[]): Promise<void> {
  for (const { account } of traders) {
    const response = await fetch(`${exchange}/control/accounts/${account.id}`, {
      method: 'POST',
      body: JSON.stringify({ paper: PAPER, ...venue.terms(account.id, 0) }),
    });
    if (!response.ok) throw new Error(`the exchange takes no accounts: ${await response.text()}`);
  }
}

export async function startFloorApart(code: Checkout): Promise<System> {
  return overServers(async ({ env, dir, started }) => {
    const start = (role: string) =>
      started(code.startProgram(join(dir, role), env, ['bench/floor-servers.ts', role]));
    const api = start('api');
    await api.ready;
    const worker = start('worker');
    await worker.ready;
    return { traders: [], api, others: { worker } };
  });
}

interface Place {
  readonly dir: string;
  readonly urls: Servers;
  /** What each process is told of the servers. */
  readonly env: Record<string, string>;
  /** Remembers a program, to end it. */
  started(program: Program): Program;
}

async function overServers(
  begin: (place: Place) => Promise<{
    readonly traders: readonly Trader[];
    readonly api: Program;
    readonly others: Readonly<Record<string, Program>>;
  }>,
): Promise<System> {
  const dir = folder();
  const programs: Program[] = [];
  const postgres = await startPostgres();
  const redis = await startRedis();
  const session = new Client(postgres.url);
  const client = new Redis(redis.url, { protocol: 2 });
  const stop = async (signal?: NodeJS.Signals) => {
    if (signal) await Promise.all(programs.map((program) => program.kill(signal)));
    await killAll(programs);
    await session.end();
    client.disconnect();
    await redis.stop();
    await postgres.stop();
    remove(dir);
  };
  try {
    await session.connect();
    const pids = { postgres: await postgresPid(session), redis: await redisPid(client) };
    const urls = { postgres: postgres.url, redis: redis.url };
    const { traders, api, others } = await begin({
      dir,
      urls,
      env: {
        DATABASE_URL: urls.postgres,
        REDIS_URL: urls.redis,
        JWT_SECRET: 'of the bench, and long enough for it',
      },
      started(program) {
        programs.push(program);
        return program;
      },
    });
    const roles = Object.entries({ api, ...others });
    const processes = await Promise.all(
      roles.map(async ([name, { ready, pid }]) => [name, { address: await ready, pid }] as const),
    );
    return {
      address: await api.ready,
      traders,
      processes: Object.fromEntries(processes),
      usage: () => ({
        API: cpuMs(api.pid),
        ...Object.fromEntries(Object.entries(others).map(([name, { pid }]) => [name, cpuMs(pid)])),
        PostgreSQL: familyMs(pids.postgres),
        Redis: cpuMs(pids.redis),
      }),
      file: null,
      servers: urls,
      stop,
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}
