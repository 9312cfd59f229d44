// Secrets that were sealed before they were bound to their owners are sealed anew, at the start of an API process.

import { SEALED_SECRETS, type SealedSecret } from '../../data/accounts/sealed-secrets.ts';
import type { Db } from '../../data/engine/db.ts';
import { inSteps } from '../../data/engine/steps.ts';
import { BOUND, type SecretBox } from '../secret-box.ts';

interface BindDeps {
  readonly db: Db;
  readonly secrets: SecretBox;
  readonly log: { error(context: object, text: string): void };
}

const PAGE = 200;
const NOBODY = '00000000-0000-0000-0000-000000000000';

export async function bindSecrets({ db, secrets, log }: BindDeps): Promise<void> {
  for (const place of SEALED_SECRETS) {
    const read = (after = NOBODY) => place.list(db, { notLike: BOUND, after, limit: PAGE });
    for await (const found of inSteps<readonly SealedSecret[]>((last) => read(last?.at(-1)?.owner))) {
      for (const secret of found) {
        try {
          const sealed = secrets.seal(secrets.open(secret.sealed, secret.owner), secret.owner);
          // Where it was changed meanwhile, it was sealed for its owner.
          await db.commit([place.replace(secret, sealed)]);
        } catch (fault) {
          // One that nobody can open keeps the others from nothing.
          log.error({ fault, owner: secret.owner }, 'a stored secret could not be bound to its owner');
        }
      }
      if (found.length < PAGE) break;
    }
  }
}
