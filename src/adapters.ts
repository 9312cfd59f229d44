// Which adapters the configuration asks for. What must be closed is pushed on `closers`.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Db } from './data/db.ts';
import { openPostgres } from './data/postgres.ts';
import { lockDataDir, openSqlite } from './data/sqlite.ts';
import { keptKey } from './keys.ts';
import type { Mailer } from './mail/mailer.ts';
import { openOutbox } from './mail/outbox.ts';
import { openSmtp } from './mail/smtp.ts';

type Closers = (() => unknown)[];

/** `alone`: the embedded database is for one server at a time; a command may look at it beside that one. */
export async function openDatabase({ data }: Config, closers: Closers, { alone = true } = {}): Promise<Db> {
  mkdirSync(data.dir, { recursive: true, mode: 0o700 });
  if (data.databaseUrl) {
    const db = await openPostgres({ url: data.databaseUrl });
    closers.push(() => db.close());
    return db;
  }
  if (alone) {
    const lock = lockDataDir(data.dir);
    closers.push(() => lock.release());
  }
  const db = openSqlite({ file: join(data.dir, 'fillpath.sqlite') });
  closers.push(() => db.close());
  return db;
}

export function openMailer({ mail: { smtpUrl, from }, data }: Config, closers: Closers): Mailer {
  if (!smtpUrl) return openOutbox({ folder: join(data.dir, 'outbox'), from });
  const smtp = openSmtp({ url: smtpUrl, from });
  closers.push(() => smtp.close());
  return smtp;
}

export const appKeyOf = ({ keys, data }: Config): Buffer =>
  Buffer.from(keys.app ?? keptKey(data.dir, 'APP_KEY'), 'base64url');
