// The key under which processes believe each other's messages (store/redis/signatures.ts). Who has APP_KEY derives it.
// Workers do not: for them an API process leaves it in the database, sealed to their own key.

import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { openingKeys, sealingKeyOf } from '../config/keys.ts';
import type { Db } from '../data/engine/db.ts';
import { readFact, rememberFact } from '../data/engine/facts.ts';
import { SEAL_ALGORITHM, SEAL_ENCRYPTION, sealingKey } from '../domain/identity/sealed.ts';
import { appKeyOf } from './adapters.ts';

const factOf = (kid: string): string => `message_key ${kid}`;

/** Only before the very first API process, or the first one with another WORKER_PUBLIC_KEY. */
const LOOK_EVERY_MS = 200;

interface MessageKeyDeps {
  readonly db: Db;
  readonly log: Pick<Logger, 'warn'>;
}

/** A key of its own, so that no use of APP_KEY can stand in for another. */
export const messageKeyOf = (appKey: Buffer): Buffer =>
  createHmac('sha256', appKey).update('messages').digest();

/** A worker waits for an API process to leave it. */
export async function obtainMessageKey(config: Config, deps: MessageKeyDeps): Promise<Buffer> {
  if (config.role !== 'worker') return messageKeyOf(appKeyOf(config));
  for (let looks = 0; ; looks++) {
    const key = await findMessageKey(config, deps);
    if (key) return key;
    if (looks === 0)
      deps.log.warn({}, 'waiting for an API process with the public half of this WORKER_KEY to be started');
    await sleep(LOOK_EVERY_MS);
  }
}

async function findMessageKey(config: Config, { db }: MessageKeyDeps): Promise<Buffer | null> {
  const keys = openingKeys(config);
  const { sealOpener } = await import('../worker/line/credentials.ts');
  for (const key of keys) {
    const sealed = await readFact(db, factOf(sealingKey(key).kid));
    if (sealed === null) continue;
    const { message_key } = (await sealOpener(keys)(sealed)) as { message_key: string };
    return Buffer.from(message_key, 'base64url');
  }
  return null;
}

/** For the workers of this API process' WORKER_PUBLIC_KEY. */
export async function leaveMessageKey(config: Config, { db }: Pick<MessageKeyDeps, 'db'>): Promise<void> {
  const { kid, ...publicKey } = sealingKeyOf(config);
  if ((await readFact(db, factOf(kid))) !== null) return;
  const { CompactEncrypt, importJWK } = await import('jose');
  const content = { message_key: messageKeyOf(appKeyOf(config)).toString('base64url') };
  const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ alg: SEAL_ALGORITHM, enc: SEAL_ENCRYPTION, kid })
    .encrypt(await importJWK({ ...publicKey }, SEAL_ALGORITHM));
  await db.commit([rememberFact(factOf(kid), sealed)]);
}
