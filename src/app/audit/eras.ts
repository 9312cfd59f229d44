// A chain outlives its key. When APP_KEY is replaced, what was sealed stays as it is: the head at that moment, and the key
// up to there, are kept in the database, sealed under the new one. So heads that somebody kept elsewhere stay good, and who
// has only the old key cannot have anything before that head sealed otherwise: its hash is known.

import { createHmac } from 'node:crypto';
import type { Db } from '../../data/engine/db.ts';
import { readFact } from '../../data/engine/facts.ts';
import type { ChainHead } from '../../domain/audit-chain.ts';
import { createSecretBox } from '../secret-box.ts';

/** What was sealed under a former key: all up to this head that lies behind the era before. */
export interface Era extends ChainHead {
  readonly key: Buffer;
}

export interface ChainKeys {
  readonly current: Buffer;
  /** The oldest first. */
  readonly eras: readonly Era[];
}

export const ERAS_FACT = 'audit_eras';
/** In place of an owner: what is sealed here opens nowhere else. */
const OWNER = 'audit-eras';

const boxOf = (auditKey: Buffer) => createSecretBox(createHmac('sha256', auditKey).update('eras').digest());

export const sealEras = (auditKey: Buffer, eras: readonly Era[]): string =>
  boxOf(auditKey).seal(
    JSON.stringify(eras.map((era) => ({ ...era, key: era.key.toString('base64url') }))),
    OWNER,
  );

/** null: there is a record of former keys, and it was not made with this one. */
export async function readChainKeys(db: Db, auditKey: Buffer): Promise<ChainKeys | null> {
  const sealed = await readFact(db, ERAS_FACT);
  if (sealed === null) return { current: auditKey, eras: [] };
  try {
    const eras = JSON.parse(boxOf(auditKey).open(sealed, OWNER)) as (ChainHead & { key: string })[];
    return {
      current: auditKey,
      eras: eras.map((era) => ({ ...era, key: Buffer.from(era.key, 'base64url') })),
    };
  } catch {
    return null;
  }
}

/** Of the entry at this place of the chain. */
export const keyAt = ({ current, eras }: ChainKeys, place: number): Buffer =>
  eras.find(({ entries }) => place <= entries)?.key ?? current;
