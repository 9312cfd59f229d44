// What changes about a user's orders is noted in the user's journal, by whoever has saved it: no more than the order's id,
// because the order is in the database. Nobody waits for that, and nothing fails by it: what is not noted, the streams'
// own rounds find (feeds.ts). A moment's changes are noted together, an order that changes twice in it once.

import type { OrderId, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { Store } from '../../store/store.ts';

export interface Changes {
  /** After its commit. */
  ofOrder(order: Pick<Order, 'id' | 'userId'>): void;
  /** A session or a key has ended, or the user may not come in any more: their streams look whether they may go on. */
  ofAccess(user: UserId): void;
}

/** In one group with all else about the user. */
export const journalOf = (user: UserId): string => `orders:{${user}}`;
/** In place of an order's id. */
export const ACCESS = 'access';

const TOGETHER_MS = 20;

export function noteChanges({ store }: { readonly store: Pick<Store, 'note'> }): Changes & {
  stop(): Promise<void>;
} {
  let noted = new Map<UserId, Set<OrderId | typeof ACCESS>>();
  let timer: NodeJS.Timeout | undefined;

  async function leave(): Promise<void> {
    const users = noted;
    noted = new Map();
    timer = undefined;
    const notes = [...users].map(([user, texts]) => store.note(journalOf(user), [...texts]));
    await Promise.allSettled(notes);
  }

  function add(user: UserId, text: OrderId | typeof ACCESS): void {
    const texts = noted.get(user);
    if (texts) texts.add(text);
    else noted.set(user, new Set([text]));
    timer ??= setTimeout(() => void leave(), TOGETHER_MS).unref();
  }

  return {
    ofOrder: ({ id, userId }) => add(userId, id),
    ofAccess: (user) => add(user, ACCESS),
    async stop() {
      clearTimeout(timer);
      await leave();
    },
  };
}
