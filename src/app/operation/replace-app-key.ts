// Replaces APP_KEY: everything that is sealed under it is sealed anew, in one unit, so that the database is under the one
// key or under the other, whatever dies when. Nobody else may be at work: processes keep the key that they started with.

import { type Place, SEALED_SECRETS, type SealedSecret } from '../../data/accounts/sealed-secrets.ts';
import { holdHead, readCheckpoint, readHead, signCheckpoint } from '../../data/audit/chain.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { forgetFacts, readFact, replaceFact, setFact } from '../../data/engine/facts.ts';
import { inSteps } from '../../data/engine/steps.ts';
import { checkpointMac } from '../../domain/audit-chain.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { auditKeyOf, isOurs } from '../audit/chain.ts';
import { ERAS_FACT, readChainKeys, sealEras } from '../audit/eras.ts';
import { createSecretBox, type SecretBox } from '../secret-box.ts';
import { APP_KEY_FACT, markOf } from './app-key.ts';

interface ReplaceDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly context: RequestContext;
}

export interface Replaced {
  /** false: it had been replaced before, and what was missed then is made up for. */
  readonly isNew: boolean;
  readonly resealed: number;
  /** Owners of what neither key opens: it was lost before. */
  readonly unreadable: readonly string[];
}

const PAGE = 500;
/** Before the first owner. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
/** No seal begins so: all are listed. */
const NO_SEAL = '!';

/** null: the database was made with neither of them. */
export async function replaceAppKey(
  deps: ReplaceDeps,
  { before, after }: { before: Buffer; after: Buffer },
): Promise<Replaced | null> {
  const { db, clock, context } = deps;
  const mark = await readFact(db, APP_KEY_FACT);
  if (mark === markOf(after)) return { isNew: false, ...(await sealRest(deps, { before, after })) };
  if (mark !== markOf(before)) return null;
  const { unit, unreadable } = await sealedAnew(db, { before, after });
  const lost = await db.commit([
    replaceFact(APP_KEY_FACT, mark, markOf(after)),
    ...unit,
    ...(await carryChain(db, { before: auditKeyOf(before), after: auditKeyOf(after) })),
    // Made from APP_KEY, and left for the workers by the next API process that starts.
    forgetFacts('message_key '),
    audit(
      context,
      { userId: null, action: 'key_replaced', failure: null, metadata: { key: 'APP_KEY' } },
      clock.now(),
    ),
  ]);
  if (lost === 'head' || lost === 'checkpoint') throw new Error(AT_WORK);
  if (lost !== null) throw new Error(CHANGED);
  const rest = await sealRest(deps, { before, after });
  return { isNew: true, resealed: unit.length + rest.resealed, unreadable };
}

const AT_WORK =
  'A process continued the audit log under the old key in the meantime, so nothing was replaced. Stop every process, and whatever starts them again, and run this again.';
const CHANGED = 'Somebody else changed what was to be sealed anew. Stop every process, and run this again.';

/** What came under the old key after it had been looked for. */
async function sealRest({ db }: ReplaceDeps, keys: { before: Buffer; after: Buffer }) {
  const { unit, unreadable } = await sealedAnew(db, keys);
  if (unit.length > 0 && (await db.commit(unit)) !== null) throw new Error(CHANGED);
  return { resealed: unit.length, unreadable };
}

async function sealedAnew(db: Db, { before, after }: { before: Buffer; after: Buffer }) {
  const [old, current] = [createSecretBox(before), createSecretBox(after)];
  const unit: Statement[] = [];
  const unreadable: string[] = [];
  for (const place of SEALED_SECRETS)
    for await (const secret of secretsAt(place, db)) {
      if (opened(current, secret) !== null) continue;
      const plain = opened(old, secret);
      if (plain === null) unreadable.push(secret.owner);
      else unit.push(place.replace(secret, current.seal(plain, secret.owner)));
    }
  return { unit, unreadable };
}

async function* secretsAt(place: Place, db: Db): AsyncGenerator<SealedSecret> {
  const read = (after = NOBODY) => place.list(db, { notLike: NO_SEAL, after, limit: PAGE });
  for await (const found of inSteps<readonly SealedSecret[]>((last) => read(last?.at(-1)?.owner))) {
    yield* found;
    if (found.length < PAGE) return;
  }
}

function opened(box: SecretBox, { sealed, owner }: SealedSecret): string | null {
  try {
    return box.open(sealed, owner);
  } catch {
    return null;
  }
}

/** The chain goes on under the new key. What is broken about it stays so, and is found as before. */
async function carryChain(
  db: Db,
  { before, after }: { before: Buffer; after: Buffer },
): Promise<Statement[]> {
  const keys = await readChainKeys(db, before);
  const { entries, hash } = await readHead(db);
  const checkpoint = await readCheckpoint(db);
  // What a process with the old key sealed behind it would be taken for forged from then on.
  const unit = holdHead({ entries, hash });
  if (checkpoint && isOurs(before, checkpoint))
    unit.push(signCheckpoint(checkpoint, checkpointMac(after, checkpoint)));
  if (keys && entries > 0)
    unit.push(setFact(ERAS_FACT, sealEras(after, [...keys.eras, { entries, hash, key: before }])));
  return unit;
}
