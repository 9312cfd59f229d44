// What became of an order whose accepting commit was not answered. The answer alone may be lost, or the unit with it, or
// the server may still be at it and commit later. So the account is fenced: that waits for whoever is just committing an
// order on it, and lets nobody commit one any more who read the account before. From then on a look decides.

import { setTimeout as sleep } from 'node:timers/promises';
import { fenceAccount } from '../../data/accounts/account-stands.ts';
import { DatabaseUnavailable, type Db } from '../../data/engine/db.ts';
import { findOrder } from '../../data/orders/orders.ts';
import type { Order } from '../../domain/orders/order.ts';

/** Whoever sent the order waits meanwhile. */
const PATIENCE_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/** `never`: it does not stand, and will not. `unknown`: the database could not say so in time. */
export async function fateOf({ db }: { db: Db }, order: Order): Promise<'stands' | 'never' | 'unknown'> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const isOver = new Promise<'unknown'>((resolve) => {
    patience.addEventListener('abort', () => resolve('unknown'));
  });
  return Promise.race([lookUntil(patience, db, order), isOver]);
}

async function lookUntil(patience: AbortSignal, db: Db, { id, accountId }: Order) {
  const stands = async () => (await findOrder(db, id)) !== null;
  while (!patience.aborted)
    try {
      if (await stands()) return 'stands';
      await db.commit([fenceAccount(accountId)]);
      return (await stands()) ? 'stands' : 'never';
    } catch (fault) {
      if (!(fault instanceof DatabaseUnavailable)) throw fault;
      await sleep(LOOK_AGAIN_MS);
    }
  return 'unknown';
}
