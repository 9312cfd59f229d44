// All processes on one database must have the same APP_KEY: with another one webhook secrets cannot be read, and the
// audit log would be sealed by two keys. So the database remembers which one it was, without telling anything about it.

import { createHmac } from 'node:crypto';
import type { Db } from '../../data/engine/db.ts';
import { readFact, rememberFact } from '../../data/engine/facts.ts';
import { CannotStart } from '../../domain/cannot-start.ts';

export const APP_KEY_FACT = 'app_key';

export const markOf = (appKey: Buffer): string =>
  createHmac('sha256', appKey).update('the key of this database').digest('base64url');

/** Without making it so: a database that knows none yet takes any. */
export async function isAppKeyOf(db: Db, appKey: Buffer): Promise<boolean> {
  const known = await readFact(db, APP_KEY_FACT);
  return known === null || known === markOf(appKey);
}

export async function agreeOnAppKey({ db }: { readonly db: Db }, appKey: Buffer): Promise<void> {
  await db.commit([rememberFact(APP_KEY_FACT, markOf(appKey))]);
  if (!(await isAppKeyOf(db, appKey)))
    throw new CannotStart(
      'APP_KEY is not the one that this database was made with. Give every process the same one; ' +
        'where none was configured it lies in keys/APP_KEY in the DATA_DIR of the first start. ' +
        'Where it is being replaced, run `fillpath keys rotate APP_KEY` again.',
    );
}
