// A whole Fillpath for a test: its own data folder, its own users and accounts, requests without a network.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { hash } from '@node-rs/argon2';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse as InjectResponse } from 'fastify';
import { pino } from 'pino';
import { argon2id, type PasswordHasher } from '../src/app/identity/passwords.ts';
import { hashToken } from '../src/app/identity/tokens.ts';
import { createSecretBox, randomToken } from '../src/app/secret-box.ts';
import { readConfig } from '../src/config/config.ts';
import { type Account, insertAccount } from '../src/data/accounts/accounts.ts';
import { sql } from '../src/data/engine/db.ts';
import { insertApiKey } from '../src/data/identity/api-keys.ts';
import { insertUser, type User } from '../src/data/identity/users.ts';
import { ONE } from '../src/domain/decimal.ts';
import { type AccountId, timestamp, type UserId } from '../src/domain/ids.ts';
import type { OrderRecord, OrderResult } from '../src/domain/orders/result.ts';
import { type Fillpath, openFillpath, type Parts } from '../src/main.ts';
import { makeSession, SIGNED, type TestSession } from './accounts/credentials.ts';
import { backendOf } from './data/backend.ts';
import { watchAnswers } from './http/documented.ts';
import { type Heard, type LoggedIn, openVisitor, type ShownUser, type Visitor } from './http/visitor.ts';

const APP_KEY = Buffer.alloc(32, 7).toString('base64url');

export interface Trader {
  readonly user: User;
  readonly account: Account;
  readonly secret: string;
  readonly apiKey: string;
}

export type Answer<Body = OrderResult> = Heard<Body>;

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly advice: string;
  readonly request_id: string;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Stands still until it is moved. It begins on a Wednesday, 15:00 in New York. */
export function settableClock(start = Date.parse('2026-07-15T19:00:00Z')) {
  let now = start;
  return {
    now: () => now,
    advance(ms: number): void {
      now += ms;
    },
  };
}

/** A log for `parts.log` that can be listened to. */
export function logbook() {
  const lines: { readonly msg: string; readonly [key: string]: unknown }[] = [];
  const listeners = new Set<() => void>();
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    for (const listen of listeners) listen();
  };
  return {
    log: pino({ level: 'info' }, { write }),
    lines,
    /** The first line with this text, once it is written; fails after `patienceMs`. */
    line: (text: string, patienceMs = 60_000) =>
      new Promise<(typeof lines)[number]>((resolve, reject) => {
        const listen = () => {
          const line = lines.find(({ msg }) => msg === text);
          if (!line) return;
          clearTimeout(timer);
          listeners.delete(listen);
          resolve(line);
        };
        const timer = setTimeout(() => reject(new Error(`not logged: ${text}`)), patienceMs);
        listeners.add(listen);
        listen();
      }),
  };
}

/** Of a process that has an API. */
export function serverOf({ server }: Fillpath): FastifyInstance {
  assert.ok(server);
  return server;
}

/** Without a network. A stream has no end: of one, its first words. */
export async function inject(
  server: FastifyInstance,
  options: InjectOptions & { readonly url: string },
): Promise<Pick<InjectResponse, 'statusCode' | 'headers' | 'body'>> {
  if (!options.url.startsWith('/trading/orders/stream')) return server.inject(options);
  const response = await server.inject({ ...options, payloadAsStream: true });
  const { statusCode, headers } = response;
  let body = '';
  for await (const chunk of response.stream()) {
    body += chunk;
    if (statusCode === 200) break;
  }
  if (statusCode === 200) response.raw.res.destroy();
  return { statusCode, headers, body };
}

let signals = 0;

let lastAccountId = '';
/** Later ones come later in lists: within a millisecond chance would decide. */
function newAccountId(): AccountId {
  let id: string;
  do id = randomUUIDv7();
  while (id <= lastAccountId);
  lastAccountId = id;
  return id as AccountId;
}

/** Strong enough for everybody whose password is not what a test is about. */
export const PASSWORD = 'a horse, a staple, a battery';

/** As argon2id is, and checked by it; only that it costs a hundredth. */
export const QUICK_HASHER: PasswordHasher = {
  ...argon2id,
  hash: (password) => hash(password, { memoryCost: 64, timeCost: 1 }),
};

/**
 * Lives until the test ends. `env` shortens timings; `dataDir` continues an earlier world's data. What is looked at is read as the thread
 * would read it (operation/reading.test.ts holds them together), and passwords cost little, where a test does not ask for more.
 */
export async function openWorld(
  t: TestContext,
  { env = {}, dataDir, ...parts }: Parts & { env?: Record<string, string>; dataDir?: string } = {},
) {
  const dir = dataDir ?? mkdtempSync(join(tmpdir(), 'fillpath-test-'));
  const backend = await backendOf(dir);
  const config = readConfig({
    DATA_DIR: dir,
    APP_KEY,
    ...SIGNED,
    SEED_USER: 'false',
    EDGE: 'external',
    LOG_LEVEL: 'silent',
    ...backend.env,
    ...env,
  });
  const undescribed: (readonly string[])[] = [];
  const open = async (): Promise<Fillpath> => {
    const opened = await openFillpath(config, {
      log: pino({ level: config.logLevel }),
      hasher: QUICK_HASHER,
      readsHere: true,
      ...parts,
    });
    await opened.makeFirstUser();
    undescribed.push(watchAnswers(serverOf(opened)));
    return opened;
  };
  let fillpath = await open();
  const clock = parts.clock ?? { now: () => Date.now() };
  const secrets = createSecretBox(Buffer.from(APP_KEY, 'base64url'));
  const db = await backend.openDb();
  t.after(async () => {
    await db.close();
    await fillpath.stop();
    if (!dataDir) rmSync(dir, { recursive: true, force: true });
    assert.deepEqual(
      undescribed.flat(),
      [],
      'answers that the documentation of their routes does not describe',
    );
  });

  async function makeTrader(
    user: Partial<User> = {},
    account: Partial<Account> = {},
    { secret = randomToken() } = {},
  ): Promise<Trader> {
    const now = timestamp(clock.now());
    const made: User = {
      id: randomUUIDv7() as UserId,
      email: `${randomUUIDv7()}@example.com`,
      isAdmin: false,
      isActive: true,
      plan: 'desk',
      planExpiresAt: null,
      termsVersion: '1',
      emailVerified: true,
      ...user,
    };
    const accountId = account.id ?? newAccountId();
    const madeAccount: Account = {
      id: accountId,
      userId: made.id,
      name: 'Paper',
      brokerName: 'paper',
      environment: 'live',
      webhookToken: randomToken(),
      webhookSecret: secrets.seal(secret, accountId),
      maxRequestAge: 300,
      allowedSymbols: [],
      outOfSync: 'hold',
      marginMode: 'cross',
      protectionDefaults: null,
      unprotected: 'close',
      triggerBy: 'last',
      quantityMultiplier: ONE,
      guards: {},
      silenceAfter: null,
      requirePlatformCertificate: false,
      sealedCredentials: null,
      credentialsVerified: true,
      credentialsRefused: false,
      halted: false,
      paper: { latency_ms: 0 },
      connectionVersion: 1,
      credentialsVersion: 1,
      revision: 1,
      createdAt: now,
      ...account,
    };
    const apiKey = randomToken();
    await db.commit([
      insertUser(made, 'no password', now),
      insertAccount(madeAccount),
      insertApiKey({
        id: randomUUIDv7(),
        userId: made.id,
        name: 'test',
        keyHash: hashToken(apiKey),
        expiresAt: null,
        createdAt: now,
      }),
    ]);
    return { user: made, account: madeAccount, secret, apiKey };
  }

  /** Another account of the same user, with the same secret. */
  async function addAccount(trader: Trader, account: Partial<Account> = {}): Promise<Trader> {
    const id = newAccountId();
    const webhookSecret = secrets.seal(trader.secret, id);
    const made = { ...trader.account, id, webhookToken: randomToken(), webhookSecret, ...account };
    await db.commit([insertAccount(made)]);
    return { ...trader, account: made };
  }

  /** A genuine signal of this trader, made now. */
  const signal = (trader: Trader, fields: Record<string, unknown> = {}) => ({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 1,
    timestamp: timestamp(clock.now()),
    secret: trader.secret,
    ...fields,
  });

  async function request<Body>(options: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    url: string;
    body?: unknown;
    headers?: Record<string, string>;
    remoteAddress?: string;
  }): Promise<Answer<Body>> {
    const { body, headers = {}, method, url, remoteAddress } = options;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await inject(serverOf(fillpath), {
      method,
      url,
      headers: body === undefined || isRaw ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { payload: isRaw ? Buffer.from(body) : JSON.stringify(body) }),
      ...(remoteAddress ? { remoteAddress } : {}),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: bodyOf(response) as Body,
    };
  }

  /** Its URL and how it is sent; by default as it stands. */
  interface Delivery {
    query?: string;
    headers?: Record<string, string>;
    remoteAddress?: string;
  }

  function webhook<Body = OrderResult>(
    trader: Trader,
    body: unknown,
    { query = '', headers = {}, remoteAddress }: Delivery = {},
  ): Promise<Answer<Body>> {
    const url = `/webhook/${trader.account.webhookToken}/order${query}`;
    return request<Body>({
      method: 'POST',
      url,
      body,
      headers,
      ...(remoteAddress ? { remoteAddress } : {}),
    });
  }

  const sessions = new Map<UserId, TestSession>();
  const newEmail = () => `${randomUUIDv7()}@example.com`;

  /** A new user, as anybody can become one. */
  async function register({ email = newEmail(), password = PASSWORD } = {}): Promise<ShownUser> {
    const { status, body } = await request<{ user: ShownUser }>({
      method: 'POST',
      url: '/auth/register',
      body: { email, password, accept_terms: true },
    });
    if (status !== 201) throw new Error(`registering answered ${status}: ${JSON.stringify(body)}`);
    return body.user;
  }

  return {
    dir,
    config,
    db,
    clock,
    secrets,
    request,
    register,
    /** A browser without cookies. */
    visitor: () => openVisitor(request),
    /** A browser that is logged in; as a new user, where none is named. */
    async login({ email = '', password = PASSWORD } = {}): Promise<Visitor & { user: ShownUser }> {
      const visitor = openVisitor(request);
      const body = { email: email || (await register({ password })).email, password };
      const answer = await visitor.call<LoggedIn>('POST', '/auth/login', body);
      if (answer.status !== 200)
        throw new Error(`login answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return Object.assign(visitor, { user: answer.body.user });
    },
    signal,
    webhook,
    makeTrader,
    addAccount,
    /** A genuine signal that is no replay of an earlier one, however fast they follow each other. */
    send<Body = OrderResult>(trader: Trader, fields: Record<string, unknown> = {}, delivery: Delivery = {}) {
      const made = timestamp(clock.now()).replace('Z', `${String(++signals).padStart(6, '0')}Z`);
      return webhook<Body>(trader, signal(trader, { timestamp: made, ...fields }), delivery);
    },
    /** The order_history record, as its user sees it. */
    async order(trader: Trader, id: string): Promise<OrderRecord> {
      const { body } = await request<OrderRecord>({
        method: 'GET',
        url: `/trading/orders/${id}`,
        headers: { authorization: `Bearer ${trader.apiKey}` },
      });
      return body;
    },
    /** Changes the account's paper settings, so that its worker connects anew. */
    async setPaper(trader: Trader, paper: Record<string, unknown>): Promise<void> {
      const settings = JSON.stringify({ latency_ms: 0, ...paper });
      await db.commit([
        sql`update trading_accounts set paper = ${settings}, connection_version = connection_version + 1
            where id = ${trader.account.id}`,
      ]);
    },
    /** Puts addresses and blocks on the user's list. */
    allowIps: ({ user }: Trader, ...ips: string[]) =>
      db.commit(
        ips.map(
          (ip) => sql`insert into user_allowed_ips (id, user_id, ip_address, label, created_at)
            values (${randomUUIDv7()}, ${user.id}, ${ip}, null, ${timestamp(clock.now())})`,
        ),
      ),
    stop: () => fillpath.stop(),
    get server() {
      return serverOf(fillpath);
    },
    /** Stops the service and starts it again on the same data. */
    async restart(): Promise<void> {
      await fillpath.stop();
      fillpath = await open();
    },
    /** As this trader, by a session: for what an API key may not do. */
    async inSession<Body>(
      { user }: Trader,
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      url: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Answer<Body>> {
      const session = sessions.get(user.id) ?? (await makeSession({ clock, db }, user));
      sessions.set(user.id, session);
      return request<Body>({ method, url, body, headers: { ...session.bearer, ...headers } });
    },
    /** As this trader, by API key. */
    as<Body>(
      trader: Trader,
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      url: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Answer<Body>> {
      return request<Body>({
        method,
        url,
        body,
        headers: { authorization: `Bearer ${trader.apiKey}`, ...headers },
      });
    },
    audits: async (trader: Trader) =>
      (
        await db.all<{
          action: string;
          success: number;
          error_message: string | null;
          metadata: string;
          ip_address: string;
          user_agent: string | null;
          request_path: string;
          request_method: string;
          resource_type: string | null;
          resource_id: string | null;
        }>(sql`select * from audit_logs where user_id = ${trader.user.id} order by id`)
      ).map((entry) => ({ ...entry, success: Number(entry.success) })),
    /** order_history as it stands, oldest first. */
    orders: async (trader: Trader) =>
      (
        await db.all<{ order_id: string; status: string; source: string; simulation: number }>(
          sql`select * from order_history where user_id = ${trader.user.id} order by order_id`,
        )
      ).map((order) => ({ ...order, simulation: Number(order.simulation) })),
    /** The paper broker's own ledger of an account (`sim:` before the id: its simulated book). */
    paperOrders: (book: string) =>
      db.all<{
        client_order_id: string;
        side: string;
        quantity: string;
        fill_quantity: string;
        status: string;
        symbol: string;
      }>(
        // Of one millisecond, in the order of writing.
        db.dialect === 'sqlite'
          ? sql`select * from paper_orders where book = ${book} order by accepted_at, rowid`
          : sql`select * from paper_orders where book = ${book} order by accepted_at, ctid`,
      ),
    async position(book: string, symbol: string): Promise<string> {
      const row = await db.get<{ positions: string }>(
        sql`select positions from paper_accounts where book = ${book}`,
      );
      return (
        (JSON.parse(row?.positions ?? '{}') as Record<string, { quantity: string }>)[symbol]?.quantity ?? '0'
      );
    },
    /** Resolves once the condition holds; fails after `patienceMs`. For what the service does in the background. */
    async eventually<T>(
      read: () => Promise<T>,
      holds: (value: T) => boolean,
      patienceMs = 60_000,
    ): Promise<T> {
      const deadline = Date.now() + patienceMs;
      // What comes soon is seen soon; who looks for seconds must not take the time of those it waits for.
      for (let pause = 5; ; pause = Math.min(pause * 1.25, 50)) {
        const value = await read();
        if (holds(value)) return value;
        if (Date.now() > deadline)
          throw new Error(`not within ${patienceMs} ms; last seen: ${JSON.stringify(value)}`);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
  };
}

/** JSON where it is JSON; a page or a stylesheet is its text. */
function bodyOf({ body, headers }: { body: string; headers: Record<string, unknown> }): unknown {
  if (body === '') return null;
  return String(headers['content-type']).includes('json') ? JSON.parse(body) : body;
}
