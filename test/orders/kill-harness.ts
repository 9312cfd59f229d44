// The real program as a child process that may die at any moment, and traders made beside it in its database.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { join } from 'node:path';
import { createSecretBox, randomToken } from '../../src/app/secret-box.ts';
import { type Account, insertAccount } from '../../src/data/accounts/accounts.ts';
import { insertGroup } from '../../src/data/accounts/groups.ts';
import type { Db } from '../../src/data/engine/db.ts';
import { insertUser, type User } from '../../src/data/identity/users.ts';
import type { BrokerName } from '../../src/domain/brokers.ts';
import { ONE } from '../../src/domain/decimal.ts';
import { type Group, groupToken, type Member } from '../../src/domain/groups.ts';
import { type AccountId, type GroupId, timestamp, type UserId } from '../../src/domain/ids.ts';
import { messageKeyOf } from '../../src/roles/message-key.ts';
import { COMPILED } from '../servers/compiled.ts';

const ROOT = join(import.meta.dirname, '../..');
export const APP_KEY = Buffer.alloc(32, 7).toString('base64url');
const secrets = createSecretBox(Buffer.from(APP_KEY, 'base64url'));
/** What a store beside the program's own is opened with, to understand its messages. */
export const MESSAGES = { key: messageKeyOf(Buffer.from(APP_KEY, 'base64url')), clock: { now: Date.now } };

export interface Program {
  /** Its address, once it says that it is ready; fails where it ends before. */
  readonly ready: Promise<string>;
  /** With the last of what it printed. */
  readonly ended: Promise<string>;
  readonly pid: number;
  /** null: it lives, or was killed. */
  exitCode(): number | null;
  /** Resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

const alive = new Set<ChildProcess>();
// Whatever becomes of this process: no child outlives it.
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

const READY = /ready at (http:\/\/\S+)/;
const KEPT_OUTPUT = 4_000;

/** Starts a program on a data folder, on any free port. Of our own environment only PATH reaches it, and what was compiled. */
export function startProgram(
  dataDir: string,
  env: Record<string, string> = {},
  command: readonly string[] = ['src/main.ts'],
): Program {
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      ...COMPILED,
      PORT: '0',
      DATA_DIR: dataDir,
      APP_KEY,
      SEED_USER: 'false',
      LOG_LEVEL: 'error',
      // One user's flood from one address is the point here.
      RATE_LIMIT_REQUESTS: '1000000',
      MAX_CONNECTIONS_PER_IP: '10000',
      WAF_RATE_LIMIT: '1000000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let output = '';
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<string>();
  const read = (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT);
    const address = READY.exec(output)?.[1];
    // It listens on the IPv4 loopback; asking for `localhost` would try the other one first.
    if (address) ready.resolve(address.replace('localhost', '127.0.0.1'));
  };
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);
  child.once('close', (code, signal) => {
    alive.delete(child);
    ready.reject(new Error(`the program ended (${signal ?? code}) before it was ready:\n${output}`));
    ended.resolve(output);
  });
  child.once('error', ready.reject);
  // Who kills it before it is ready does not wait for that.
  ready.promise.catch(() => {});
  return {
    ready: ready.promise,
    ended: ended.promise,
    pid: child.pid ?? 0,
    exitCode: () => child.exitCode,
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      await ended.promise;
    },
  };
}

export interface Trader {
  readonly user: User;
  readonly account: Account;
  readonly secret: string;
}

/** Of an account with another broker than the paper broker. */
interface Elsewhere {
  readonly brokerName: BrokerName;
  seal(owner: { readonly id: AccountId; readonly userId: UserId }): Promise<string | null>;
}

/** A user with a paper account; `of`: another account of a user that is there already. */
export async function makeTrader(db: Db, paper: unknown, of?: User, elsewhere?: Elsewhere): Promise<Trader> {
  const now = timestamp(Date.now());
  const user: User = of ?? {
    id: randomUUIDv7() as UserId,
    email: `${randomUUIDv7()}@example.com`,
    isAdmin: false,
    isActive: true,
    plan: 'desk',
    planExpiresAt: null,
    termsVersion: '1',
    emailVerified: true,
  };
  const secret = randomToken();
  const id = randomUUIDv7() as AccountId;
  const account: Account = {
    id,
    userId: user.id,
    name: 'Paper',
    brokerName: elsewhere?.brokerName ?? 'paper',
    environment: 'live',
    webhookToken: randomToken(),
    webhookSecret: secrets.seal(secret, id),
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
    sealedCredentials: (await elsewhere?.seal({ id, userId: user.id })) ?? null,
    credentialsVerified: true,
    credentialsRefused: false,
    halted: false,
    paper,
    connectionVersion: 1,
    credentialsVersion: 1,
    revision: 1,
    createdAt: now,
  };
  await db.commit([...(of ? [] : [insertUser(user, 'no password', now)]), insertAccount(account)]);
  return { user, account, secret };
}

export interface MadeGroup {
  readonly group: Group;
  readonly secret: string;
  readonly path: string;
}

/** Of accounts of one user. */
export async function makeGroup(
  db: Db,
  traders: readonly Trader[],
  asMember: (index: number) => Partial<Member> = () => ({}),
): Promise<MadeGroup> {
  const [first] = traders;
  if (!first) throw new Error('a group of nobody');
  const id = randomUUIDv7() as GroupId;
  const secret = randomToken();
  const group: Group = {
    id,
    userId: first.user.id,
    name: 'All',
    webhookToken: groupToken(randomToken()),
    webhookSecret: secrets.seal(secret, id),
    maxRequestAge: 300,
    enabled: true,
    members: traders.map(({ account }, index) => ({
      accountId: account.id,
      factor: ONE,
      symbols: {},
      enabled: true,
      ...asMember(index),
    })),
    revision: 1,
    createdAt: timestamp(Date.now()),
  };
  await db.commit(insertGroup(group));
  return { group, secret, path: `/webhook/${group.webhookToken}/order` };
}

export const webhookPath = ({ account }: Trader): string => `/webhook/${account.webhookToken}/order`;

/** What random signals are made of. */
export const SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'BINANCE:SOLUSDT.P'];
export const ACTIONS = [
  ...['buy', 'sell', 'long_entry', 'short_entry', 'buy', 'sell'].map((action) => ({ action })),
  ...['long_exit', 'short_exit', 'close_long', 'close_short'].map((action) => ({ action })),
  { action: 'buy', order_type: 'exit' },
  { action: 'sell', order_type: 'exit' },
];

/** Numbers from 0 up to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
