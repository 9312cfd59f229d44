// After WORKER_KEY got a new first key: what was sealed to the others is sealed to it, account by account, beside the
// running service or without it. A process that has all of the keys opens both.

import { CompactEncrypt, importJWK } from 'jose';
import { listCredentials, resealCredentials, type SealedCredentials } from '../data/accounts/accounts.ts';
import type { Db } from '../data/engine/db.ts';
import { inSteps } from '../data/engine/steps.ts';
import {
  type PrivateJwk,
  SEAL_ALGORITHM,
  SEAL_ENCRYPTION,
  sealedTo,
  sealingKey,
} from '../domain/identity/sealed.ts';
import { sealOpener } from '../worker/line/credentials.ts';

const PAGE = 200;
/** Before the first account. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export interface Resealed {
  readonly resealed: number;
  /** Accounts whose credentials none of the keys opens. */
  readonly unreadable: readonly string[];
  /** Of the others, those that are sealed to another key all the same: somebody did so meanwhile. */
  readonly behind: number;
}

export async function sealToFirst(
  { db }: { readonly db: Db },
  keys: readonly [PrivateJwk, ...PrivateJwk[]],
  tell: (count: number) => void,
): Promise<Resealed> {
  const { kid, ...publicKey } = sealingKey(keys[0]);
  const recipient = await importJWK({ ...publicKey }, SEAL_ALGORITHM);
  const open = sealOpener(keys);
  const unreadable = new Set<string>();
  let resealed = 0;
  for await (const { id, sealed_credentials: before } of sealedOtherwise(db, kid)) {
    const content = await open(before).catch(() => undefined);
    if (content === undefined) {
      unreadable.add(id);
      continue;
    }
    const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
      .setProtectedHeader({ alg: SEAL_ALGORITHM, enc: SEAL_ENCRYPTION, kid })
      .encrypt(recipient);
    // Where its owner replaced it meanwhile, it was sealed to the key of that moment: it is looked at again below.
    if ((await db.commit([resealCredentials(id, before, sealed)])) === null) tell(++resealed);
  }
  let behind = 0;
  for await (const { id } of sealedOtherwise(db, kid)) if (!unreadable.has(id)) behind++;
  return { resealed, unreadable: [...unreadable], behind };
}

async function* sealedOtherwise(db: Db, kid: string): AsyncGenerator<SealedCredentials> {
  const read = (after: string = NOBODY) => listCredentials(db, { after, limit: PAGE });
  for await (const found of inSteps<readonly SealedCredentials[]>((last) => read(last?.at(-1)?.id))) {
    yield* found.filter(({ sealed_credentials }) => sealedTo(sealed_credentials) !== kid);
    if (found.length < PAGE) return;
  }
}
