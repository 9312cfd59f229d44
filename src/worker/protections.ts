// The worker's view of what protects positions.

import type { Decimal } from '../domain/decimal.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../domain/ids.ts';
import type { Order } from '../domain/orders/order.ts';
import type { ExitReason, Protection } from '../domain/protection/protection.ts';
import type { LegClosed } from './lane/keeping.ts';

export interface WorkerProtections {
  /** The user's that are kept, of one account or of all. */
  kept(user: UserId, account?: AccountId): Promise<readonly Protection[]>;
  /** The broker's names of what legs of the account became and that was written down since; what came shortly before may be among them. */
  recorded(of: Pick<Protection, 'userId' | 'accountId'>, since: Timestamp): Promise<readonly string[]>;
  orders(ids: readonly OrderId[]): Promise<readonly Order[]>;
  /**
   * Saves it as it stands by now, where it still has its version, and returns it with the next one; `changed`: somebody else has
   * saved it since; `taken`: another worker has the user. `before`: as it was saved last, for what is told of the difference.
   */
  save(protection: Protection, before: Protection, token: string): Promise<Saved>;
  /** And what a leg has closed enters the history of orders, once. */
  record(protection: Protection, before: Protection, token: string, closed: LegClosed): Promise<Saved>;
  /** And an order that closes what is held is accepted for it. */
  close(
    protection: Protection,
    before: Protection,
    token: string,
    close: { readonly reason: ExitReason; readonly held: Decimal },
  ): Promise<Saved>;
  /** The account's wait for their turn until then: nobody else is to begin with them. */
  putOff(user: UserId, account: AccountId, until: Timestamp): Promise<void>;
}

export type Saved = Protection | 'changed' | 'taken';
