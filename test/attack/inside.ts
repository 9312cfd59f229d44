// Who is inside the database, without APP_KEY, or inside Redis. Items 4, 9, 10 and 11.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { type Attack, EVERYWHERE, told } from './attacks.ts';
import type { Product } from './product.ts';

interface Database {
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openDatabase({ dataDir, databaseUrl }: Product): Promise<Database> {
  if (databaseUrl !== undefined) {
    const client = new Client(databaseUrl);
    await client.connect();
    return { rows: async (sql) => (await client.query(sql)).rows ?? [], close: () => client.end() };
  }
  const db = new DatabaseSync(join(dataDir, 'fillpath.sqlite'), { timeout: 10_000 });
  return { rows: async (sql) => db.prepare(sql).all(), close: async () => db.close() };
}

/** Long enough for the sealer to have come by, twice. */
const SEALED_MS = 3_000;
/** As many as `audit verify` reads at once: an entry at this place ends a page. */
const PAGE = 500;

export const forgedLog: Attack = {
  item: 4,
  title:
    'in the database: an entry is put in at a place where a page ends; entries are edited and their seals cleared',
  before: 'the service seals the forgeries anew, and `audit verify` says whole',
  modes: EVERYWHERE,
  async run(desk) {
    const { product } = desk;
    const database = await openDatabase(product);
    const verify = () => product.command('audit', 'verify');
    const words = ({ code, text }: { code: number; text: string }) =>
      code === 0 ? 'whole' : (text.trim().split('\n')[0] ?? '');
    try {
      const columns =
        'user_id, action, success, ip_address, user_agent, request_path, request_method, error_message, resource_type, resource_id, metadata, created_at';
      const copy = `insert into audit_logs (${columns}) select ${columns} from audit_logs order by id limit 1`;
      const entries = async () => Number((await database.rows('select count(*) as n from audit_logs'))[0]?.n);
      while ((await entries()) < PAGE + 20)
        await database.rows(`insert into audit_logs (${columns}) select ${columns} from audit_logs`);
      await pause(SEALED_MS);
      const before = words(verify());
      // Without the index, and without the primary key, which keeps places apart.
      await database.rows('drop index audit_seals_by_entry');
      await database.rows('alter table audit_seals rename to genuine_seals');
      await database.rows('create table audit_seals as select * from genuine_seals');
      await database.rows(copy);
      await database.rows(
        `insert into audit_seals (position, entry_id, hash) select ${PAGE}, (select max(id) from audit_logs), hash from genuine_seals where position = ${PAGE}`,
      );
      const inserted = words(verify());
      await database.rows('delete from audit_logs where id = (select max(id) from audit_logs)');
      await database.rows('drop table audit_seals');
      await database.rows('alter table genuine_seals rename to audit_seals');
      await database.rows('create unique index audit_seals_by_entry on audit_seals (entry_id)');
      await database.rows(
        "update audit_logs set action = 'forged' where id = (select min(id) from audit_logs)",
      );
      await database.rows('delete from audit_seals');
      await database.rows('delete from audit_chain');
      await pause(SEALED_MS);
      const rewritten = words(verify());
      const [head] = await database.rows('select coalesce(max(position), 0) as sealed from audit_seals');
      const health = (await desk.ask('/health')).body.audit?.status;
      return {
        got: `put in: ${inserted}; edited: ${rewritten}; ${head?.sealed} sealed anew, health says ${health}`,
        isClosed:
          before === 'whole' && inserted !== 'whole' && rewritten !== 'whole' && Number(head?.sealed) === 0,
      };
    } finally {
      await database.close();
    }
  },
};

export const movedSecret: Attack = {
  item: 11,
  title: "in the database: a webhook secret that is known is moved to another account's row",
  before: 'the webhook of the other account takes it',
  modes: EVERYWHERE,
  async run(desk) {
    const [victim, thief] = [await desk.person('desk'), await desk.person('desk')];
    const [target, own] = [await desk.account(victim), await desk.account(thief)];
    const database = await openDatabase(desk.product);
    try {
      await database.rows(
        `update trading_accounts set webhook_secret = (select webhook_secret from trading_accounts where id = '${own.id}') where id = '${target.id}'`,
      );
      const signal = desk.signal({ webhook_secret: own.webhook_secret });
      const answer = await desk.webhook(target, signal, { from: desk.newAddress() });
      const held = await desk.held(victim, target);
      return {
        got: `${told(answer)}; ${held.length} positions held`,
        isClosed: answer.status !== 200 && held.length === 0,
      };
    } finally {
      await database.close();
    }
  },
};

export const forEver: Attack = {
  item: 9,
  title: 'a simulated signal is dated 9999',
  before: 'remembered for 2.9 million days',
  modes: ['servers'],
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const signal = desk.signal(account, { timestamp: '9999-12-31T23:59:59Z' });
    const answer = await desk.webhook(account, signal, { query: '?simulation=true' });
    const redis = new Redis(desk.product.redisUrl ?? '', { protocol: 2 });
    try {
      const keys = (await redis.keys('*fingerprint*')).filter((key) => key.includes(account.id));
      const seconds = Math.max(...(await Promise.all(keys.map((key) => redis.pttl(key))))) / 1000;
      return {
        got: `${told(answer)}, remembered for ${Math.round(seconds)} s (max_request_age is 300 s)`,
        isClosed: keys.length > 0 && seconds > 0 && seconds <= 600,
      };
    } finally {
      redis.disconnect();
    }
  },
};

/** Takes the user's next question out of Redis before the worker does, and answers it. */
async function answerInstead(redis: Redis, userId: string, text: string): Promise<boolean> {
  const [, question = ''] = (await redis.blpop(`fillpath:queue:work:{${userId}}`, 5)) ?? [];
  const [address, group] = /reply:\{([^}]+)\}:\d+/.exec(question) ?? [];
  if (address === undefined) return false;
  await redis.publish(`fillpath:reply:${group}`, `${address}\n${text}`);
  return true;
}

/** Until Redis knows who waits: of two who do, the first one is served. */
const WAITING_MS = 100;

export const forgedAnswers: Attack = {
  item: 10,
  title: 'in Redis: the questions to a worker are taken, and answered with "nothing is held"',
  before: '`positions` is [], and a flatten reports success with a position held',
  modes: ['servers'],
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    await desk.webhook(account, desk.signal(account));
    const redis = new Redis(desk.product.redisUrl ?? '', { protocol: 2 });
    try {
      const url = `/trading/accounts/${account.id}`;
      const taking = answerInstead(redis, owner.id, '{"positions":[]}');
      await pause(WAITING_MS);
      const seen = await owner.ask('GET', `${url}/positions`);
      const takingNext = answerInstead(redis, owner.id, '{"positions":[],"open":[]}');
      await pause(WAITING_MS);
      const flattened = await owner.ask('POST', `${url}/halt`, { flatten: true });
      const isTaken = [await taking, await takingNext];
      const held = await desk.held(owner, account);
      const shown = seen.status === 200 ? JSON.stringify(seen.body.items) : told(seen);
      const claim = flattened.body.flatten_error?.code ?? 'success';
      return {
        got: `${isTaken.filter(Boolean).length} questions taken; positions: ${shown}; flatten: ${claim} with ${held.length} held`,
        isClosed: isTaken.every(Boolean) && shown !== '[]' && (claim !== 'success' || held.length === 0),
      };
    } finally {
      redis.disconnect();
    }
  },
};

export const liftedLock: Attack = {
  item: 10,
  title: 'in Redis: everything is deleted after ten wrong passwords',
  before: 'the lock is lifted: ten more guesses, and again',
  modes: ['servers'],
  async run(desk) {
    const victim = await desk.person();
    const body = { email: victim.email, password: 'a wrong guess, another' };
    const guess = async () => told(await desk.ask('/auth/login', { body, from: desk.newAddress() }));
    let before = '';
    for (let index = 0; index < 11; index++) before = await guess();
    const redis = new Redis(desk.product.redisUrl ?? '', { protocol: 2 });
    await redis.flushall();
    redis.disconnect();
    const after = await guess();
    return {
      got: `the eleventh ${before}, after the deletion ${after}`,
      isClosed: after === '429 login_locked',
    };
  },
};
