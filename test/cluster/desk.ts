// The real program with its roles apart: each member a process of its own, over a PostgreSQL and a Redis that live as
// long as the test. What is true is read from the database and from the paper broker's own ledger.

import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { hashToken } from '../../src/app/identity/tokens.ts';
import { randomToken } from '../../src/app/secret-box.ts';
import { sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { insertApiKey } from '../../src/data/identity/api-keys.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { openRedisStore } from '../../src/store/redis/adapter.ts';
import { createHosts } from '../../src/worker/host/hosts.ts';
import { assertDescribed } from '../http/documented.ts';
import { openVisitor } from '../http/visitor.ts';
import {
  type Trader as Account,
  MESSAGES,
  makeTrader,
  startProgram,
  webhookPath,
} from '../orders/kill-harness.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { RedisMissing, type RedisServer, startRedis } from '../servers/redis.ts';
import type { Answer, Problem } from '../world.ts';

export type { Answer, Problem };

type Env = Readonly<Record<string, string>>;
export type Role = 'api' | 'worker' | 'verifier';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** What each role must have of the workers' key, and no more. */
export const KEYS: Readonly<Record<Role, Env>> = {
  api: { WORKER_PUBLIC_KEY: JSON.stringify(publicKey.export({ format: 'jwk' })) },
  worker: { WORKER_KEY: JSON.stringify(privateKey.export({ format: 'jwk' })) },
  verifier: {},
};
const TIMINGS = { WORKER_LEASE_SECONDS: '1', WORKER_START_TIMEOUT_SECONDS: '15' };
/** The harness tells what a program printed, but not with which code it ended. */
const TELLS_EXIT = 'data:text/javascript,process.once("exit",(code)=>console.log("exit code "+code))';

/** A process that is ready. */
export interface Member {
  readonly url: string;
  readonly pid: number;
  /** Sends the signal and resolves when it is gone, with its exit code; null: it had no time to say one. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** All that it printed, once it is gone. */
  readonly printed: Promise<string>;
}

/** A worker host, and what it announces itself as. */
export interface WorkerHost extends Member {
  readonly id: string;
  /** As its operator knows it. */
  readonly name: string;
}

export interface Trader extends Account {
  readonly apiKey: string;
}

export interface Servers {
  readonly redis: RedisServer;
  readonly missing?: undefined;
}

/** Or what is missing for them. */
export async function startServers(): Promise<Servers | { readonly missing: string }> {
  try {
    // The first database is nobody's: it shows that there is a server, and the process's end ends it.
    await startPostgres();
    return { redis: await startRedis() };
  } catch (fault) {
    if (fault instanceof PostgresMissing || fault instanceof RedisMissing) return { missing: fault.message };
    throw fault;
  }
}

/** Resolves once the condition holds; fails after `patienceMs`. */
export async function until<T>(
  what: string,
  read: () => Promise<T> | T,
  holds: (value: T) => boolean = Boolean,
  patienceMs = 60_000,
): Promise<T> {
  const giveUp = performance.now() + patienceMs;
  // Who looks for seconds must not take the time of those it waits for.
  for (let rest = 5; ; rest = Math.min(rest * 1.25, 50)) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > giveUp)
      throw new Error(`waited ${patienceMs} ms in vain for ${what}; last seen: ${JSON.stringify(value)}`);
    await pause(rest);
  }
}

export function assertFilled(answers: readonly Answer<OrderResult>[]): void {
  for (const { status, body } of answers) {
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.status, 'filled');
  }
}

export type Cluster = Awaited<ReturnType<typeof openCluster>>;

let clusters = 0;
let signals = 0;

/** An empty database, an empty store, and nobody there yet. */
export async function openCluster({ redis: server }: Servers, env: Env = {}) {
  const { url: databaseUrl } = await startPostgres();
  const redisUrl = `${server.url}/${clusters++}`;
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-cluster-'));
  const shared: Env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    JWT_SECRET: 'the same secret for all processes',
    ...TIMINGS,
    ...env,
  };
  const db = await openPostgres({ url: databaseUrl, poolSize: 3 });
  const store = await openRedisStore({ url: redisUrl, ...MESSAGES });
  const redis = new Redis(redisUrl, { protocol: 2 });
  redis.on('error', () => {});
  const hosts = createHosts({ store });
  const all = new Set<Member>();

  /** Not awaited until it is ready: it may refuse to start. */
  const launch = (role: Role, own: Env = {}, program = 'src/main.ts') =>
    startProgram(join(folder, role), { ...shared, ...KEYS[role], ROLE: role, ...own }, [
      '--import',
      TELLS_EXIT,
      program,
    ]);

  async function start(role: Role, own: Env = {}, path?: string): Promise<Member> {
    const program = launch(role, own, path);
    const member: Member = {
      url: await program.ready,
      pid: program.pid,
      printed: program.ended,
      async end(signal) {
        await program.kill(signal);
        all.delete(member);
        const code = /^exit code (\d+)$/m.exec(await program.ended)?.[1];
        return code === undefined ? null : Number(code);
      },
    };
    all.add(member);
    return member;
  }

  async function startHost(own: Env = {}): Promise<WorkerHost> {
    const known = new Set((await hosts.list()).map(({ id }) => id));
    const member = await start('worker', own);
    const found = await until(
      'the new worker host',
      async () => (await hosts.list()).filter(({ id }) => !known.has(id)),
      ({ length }) => length > 0,
    );
    assert.equal(found.length, 1, 'two hosts came at once: nobody knows which is which');
    const { id = '', name = '' } = found[0] ?? {};
    return Object.assign(member, { id, name });
  }

  async function call<Body = Problem>(
    at: Member,
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(at.url + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    await assertDescribed(at.url, { method, path }, { status: response.status, type, body: text });
    const isJson = type.includes('json');
    return {
      status: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
      body: (text !== '' && isJson ? JSON.parse(text) : text) as Body,
    };
  }

  /** A genuine signal that is no replay of an earlier one. */
  const signal = ({ secret }: Pick<Trader, 'secret'>, fields: Record<string, unknown> = {}) => ({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 0.01,
    timestamp: timestamp(Date.now()).replace('Z', `${String(++signals).padStart(6, '0')}Z`),
    secret,
    ...fields,
  });

  const deliver = <Body = OrderResult>(
    at: Member,
    to: Trader | { webhookToken: string },
    body: unknown,
    query = '',
  ) => {
    const path = 'account' in to ? webhookPath(to) : `/webhook/${to.webhookToken}/order`;
    return call<Body>(at, 'POST', path + query, { body });
  };

  async function trader(paper: Record<string, unknown> = {}): Promise<Trader> {
    const made = await makeTrader(db, { latency_ms: 0, starting_cash: 1e12, ...paper });
    const apiKey = randomToken();
    const createdAt = timestamp(Date.now());
    const key = { id: randomUUIDv7(), userId: made.user.id, name: 'cluster', keyHash: hashToken(apiKey) };
    await db.commit([insertApiKey({ ...key, expiresAt: null, createdAt })]);
    return { ...made, apiKey };
  }

  return {
    env: shared,
    folder,
    db,
    store,
    redis,
    hosts,
    launch,
    start,
    startHost,
    /** Two API processes, two worker hosts and a verifier, in this order; all at the same moment. */
    startFive: () =>
      Promise.all([start('api'), start('api'), start('worker'), start('worker'), start('verifier')]),
    call,
    signal,
    deliver,
    /** A new signal, sent to this process. */
    order: (at: Member, trader: Trader, fields: Record<string, unknown> = {}) =>
      deliver(at, trader, signal(trader, fields)),
    /** As this trader, by API key. */
    as: <Body = Problem>(at: Member, { apiKey }: Trader, method: string, path: string, body?: unknown) =>
      call<Body>(at, method, path, { body, headers: { authorization: `Bearer ${apiKey}` } }),
    visitor: (at: Member) =>
      openVisitor(({ method, url, body, headers = {} }) => call(at, method, url, { body, headers })),
    trader,
    /** Somebody who may administer besides. */
    async admin(): Promise<Trader> {
      const made = await trader();
      await db.commit([sql`update users set is_admin = ${true} where id = ${made.user.id}`]);
      return made;
    },
    /** The user's worker starts, without a real order. */
    async wake(at: Member, trader: Trader): Promise<void> {
      const { status } = await call(at, 'GET', `/trading/accounts/${trader.account.id}/positions`, {
        headers: { authorization: `Bearer ${trader.apiKey}` },
      });
      assert.equal(status, 200);
    },
    /** order_history as it stands, oldest first. */
    orders: ({ account }: Account) =>
      db.all<{ status: string }>(
        sql`select status from order_history
            where trading_account_id = ${account.id} order by order_id`,
      ),
    /** The paper broker's own ledger, in the order of its entries. */
    ledger: ({ account }: Account) =>
      db.all<{ quantity: string; accepted_at: string }>(
        sql`select quantity, accepted_at from paper_orders
            where book = ${account.id} order by accepted_at, client_order_id`,
      ),
    /** Resolves once an order of this quantity is in its worker's hands: its leg is being sent. */
    sending: ({ account }: Account, quantity: number) =>
      until('an order in flight', () =>
        db.get(
          sql`select o.order_id from order_history o join order_legs l on l.order_id = o.order_id
              where o.trading_account_id = ${account.id} and o.quantity = ${quantity} and l.status = 'sending'`,
        ),
      ),
    /** Resolves once an order of this quantity is accepted: its worker has been told of it, or will be. */
    accepted: ({ account }: Account, quantity: number) =>
      until('an accepted order', () =>
        db.get(
          sql`select order_id from order_history
              where trading_account_id = ${account.id} and quantity = ${quantity}`,
        ),
      ),
    /** Resolves once so many requests wait in the mailbox of the user. */
    waiting: ({ user }: Account, count: number) =>
      until(
        `${count} requests in the mailbox`,
        () => store.queueLength(`work:{${user.id}}`),
        (length) => length === count,
      ),
    members: all as ReadonlySet<Member>,
    /**
     * From now on fill checks can be read, but not claimed. The release comes when processes under so many names are
     * waiting to claim one: they go on at the same moment, all with what they have read.
     */
    async holdClaims(names: number): Promise<() => Promise<void>> {
      const gate = new Client(databaseUrl);
      await gate.connect();
      await gate.query('begin; lock table fill_checks in share mode');
      const claiming = sql`select distinct application_name from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%fill_checks set state = ''running''%'`;
      return async () => {
        try {
          await until(
            'claims',
            () => db.all(claiming),
            ({ length }) => length === names,
          );
        } finally {
          await gate.end();
        }
      };
    },
    async close(): Promise<void> {
      await Promise.all([...all].map((member) => member.end('SIGKILL')));
      redis.disconnect();
      await store.close();
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
