// What a command at the machine works with: the same functions as the routes, on the same database, beside the running
// service or without it.

import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { pino } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { RequestContext } from '../app/audit/audit.ts';
import { ACCESS, type Changes, journalOf } from '../app/orders/changes.ts';
import { createSecretBox, type SecretBox } from '../app/secret-box.ts';
import type { Config } from '../config/config.ts';
import { type Db, sql } from '../data/engine/db.ts';
import { schemaOf } from '../data/engine/migrate.ts';
import { lockDataDir } from '../data/engine/sqlite.ts';
import type { UserId } from '../domain/ids.ts';
import type { Plans } from '../domain/orders/entitlement.ts';
import type { Store } from '../store/store.ts';
import { appKeyOf, hasAppKey, openDatabase, openStore } from './adapters.ts';
import { messageKeyOf } from './message-key.ts';

export interface Operator {
  readonly config: Config;
  readonly db: Db;
  readonly clock: { now(): number };
  readonly plans: Plans;
  readonly baseUrl: string;
  /** Streams of what was changed are told, where a store is shared; in one process they look themselves. */
  readonly changes: Pick<Changes, 'ofOrder' | 'ofAccess'>;
  /** What stands in the audit log in the place of a request. */
  readonly context: RequestContext;
  /** Throws where there is no APP_KEY: one made here and now would open nothing. */
  secrets(): SecretBox;
}

/** As long as the streams themselves keep one. */
const JOURNAL_MS = 330_000;

/** `command` is what the audit log is to say: `user deactivate`. `alone`: refuses where the service runs. */
export async function asOperator<Result>(
  given: Config,
  command: string,
  work: (operator: Operator) => Promise<Result>,
  { alone = false } = {},
): Promise<Result> {
  const config = underOwnName(given, `fillpath ${command}`);
  const closers: (() => unknown)[] = [];
  const clock = { now: () => Date.now() };
  const noted: Promise<unknown>[] = [];
  let store: Promise<Store | null> | undefined;
  const note = async (user: UserId, text: string) => {
    store ??= openShared(config, clock);
    const shared = await store;
    // Nothing is noted in a journal that this process has not heard of.
    await shared?.keepJournal(journalOf(user), JOURNAL_MS);
    await shared?.note(journalOf(user), [text]);
  };
  try {
    const db = await openDatabase(config, closers, { alone: false });
    if (alone) await refuseCompany(config, db, closers);
    await refuseOtherSchema(db);
    return await work({
      config,
      db,
      clock,
      plans: config.plans,
      baseUrl: config.http.baseUrl,
      changes: {
        ofOrder: ({ id, userId }) => void noted.push(note(userId, id)),
        ofAccess: (user) => void noted.push(note(user, ACCESS)),
      },
      context: contextOf(command),
      secrets() {
        if (!hasAppKey(config)) throw new Error(noAppKey(config));
        return createSecretBox(appKeyOf(config));
      },
    });
  } finally {
    // What could not be told is found by the streams themselves: nothing fails by it.
    await Promise.allSettled(noted);
    await store?.then((shared) => shared?.close()).catch(() => {});
    for (const close of closers.reverse()) await close();
  }
}

/** So that PostgreSQL can tell this process from the others. */
function underOwnName(config: Config, name: string): Config {
  const { databaseUrl } = config.data;
  if (!databaseUrl) return config;
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', name);
  return { ...config, data: { ...config.data, databaseUrl: url.href } };
}

/** The embedded database has a lock for it. Of a shared one, whoever runs has connections of the same role. */
async function refuseCompany(config: Config, db: Db, closers: (() => unknown)[]): Promise<void> {
  if (!config.data.databaseUrl) {
    const lock = lockDataDir(config.data.dir);
    closers.push(() => lock.release());
    return;
  }
  const others = await db.get<{ count: number }>(
    sql`select cast(count(*) as integer) as count from pg_stat_activity
        where datname = current_database() and usename = current_user and backend_type = 'client backend'
          and application_name <> current_setting('application_name')
          and application_name not in ('psql', 'pg_dump')`,
  );
  if (others && others.count > 0)
    throw new Error(
      `The database has ${others.count} connections of other processes. Stop every process of the service first.`,
    );
}

async function refuseOtherSchema(db: Db): Promise<void> {
  const { pending, refusal } = await schemaOf(db, packageJson.version);
  if (refusal !== null) throw new Error(refusal);
  if (pending.length > 0)
    throw new Error(
      `The database lacks ${pending.join(', ')}: run \`fillpath migrate\`, or start the service once.`,
    );
}

const noAppKey = ({ data }: Config): string => `APP_KEY is not set, and there is none in ${data.dir}.`;

async function openShared(config: Config, clock: { now(): number }): Promise<Store | null> {
  if (!config.data.redisUrl || !hasAppKey(config)) return null;
  const messageKey = async () => messageKeyOf(appKeyOf(config));
  return openStore(config, { clock, ticking: clock, log: pino({ level: 'silent' }), messageKey });
}

const contextOf = (command: string): RequestContext => ({
  requestId: randomUUID(),
  ip: 'command line',
  userAgent: `fillpath/${packageJson.version} (operator ${operatorName()})`,
  path: command,
  method: 'CLI',
});

/** A container may run under a number that has no name. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
