// After WORKER_KEY got a new first key: what was sealed to the others is sealed to it, account by account, beside the
// running service or without it. A process that has all of the keys opens both.

import { CompactEncrypt, importJWK } from 'jose';
import { listCredentials, resealCredentials } from '../data/accounts.ts';
import type { Db } from '../data/db.ts';
import { type PrivateJwk, SEAL_ALGORITHM, SEAL_ENCRYPTION, sealingKey } from '../domain/sealed.ts';
import { sealOpener } from '../worker/credentials.ts';

const PAGE = 200;
/** Before the first account. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export interface Resealed {
  readonly resealed: number;
  /** Accounts whose credentials none of the keys opens. */
  readonly unreadable: readonly string[];
}

export async function sealToFirst(
  { db }: { readonly db: Db },
  keys: readonly [PrivateJwk, ...PrivateJwk[]],
  tell: (count: number) => void,
): Promise<Resealed> {
  const { kid, ...publicKey } = sealingKey(keys[0]);
  const recipient = await importJWK({ ...publicKey }, SEAL_ALGORITHM);
  const open = sealOpener(keys);
  const unreadable: string[] = [];
  let resealed = 0;
  for (let after: string = NOBODY; ; ) {
    const found = await listCredentials(db, { after, limit: PAGE });
    for (const { id, sealed_credentials: before } of found) {
      if (kidOf(before) === kid) continue;
      const content = await open(before).catch(() => undefined);
      if (content === undefined) {
        unreadable.push(id);
        continue;
      }
      const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
        .setProtectedHeader({ alg: SEAL_ALGORITHM, enc: SEAL_ENCRYPTION, kid })
        .encrypt(recipient);
      // Where its owner replaced it meanwhile, it was sealed to the key of that moment: the next run finds it.
      if ((await db.commit([resealCredentials(id, before, sealed)])) === null) tell(++resealed);
    }
    const last = found.at(-1);
    if (!last || found.length < PAGE) return { resealed, unreadable };
    after = last.id;
  }
}

function kidOf(sealed: string): string | null {
  try {
    const header = Buffer.from(sealed.slice(0, sealed.indexOf('.')), 'base64url').toString('utf8');
    return (JSON.parse(header) as { kid?: string }).kid ?? null;
  } catch {
    return null;
  }
}
