// What changes about a user's orders is noted in the user's journal, by whoever has saved it: no more than the order's id,
// because the order is in the database. Of signals that become no order it is noted that there are new ones, and no more. Nobody waits for that, and nothing fails by it: what is not noted, the streams'
// own rounds find (feeds.ts). A moment's changes are noted together, an order that changes twice in it once.

import type { OrderId, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { Store } from '../../store/store.ts';

export interface Changes {
  /** After its commit. */
  ofOrder(order: Pick<Order, 'id' | 'userId'>): void;
  /** One was kept that became no order: refused, or a report. */
  ofSignal(user: UserId): void;
  /** A session or a key has ended, or the user may not come in any more: their streams look whether they may go on. */
  ofAccess(user: UserId): void;
}

/** In one group with all else about the user. */
export const journalOf = (user: UserId): string => `orders:{${user}}`;
/** In place of an order's id. */
export const ACCESS = 'access';
export const SIGNALS = 'signals';
type Note = OrderId | typeof ACCESS | typeof SIGNALS;

const TOGETHER_MS = 20;
/** Refused signals may come in floods: the first is noted at once, and then all of this time together. */
const FLOOD_MS = 1_000;

export function noteChanges({ store }: { readonly store: Pick<Store, 'note'> }): Changes & {
  stop(): Promise<void>;
} {
  let noted = new Map<UserId, Set<Note>>();
  let timer: NodeJS.Timeout | undefined;
  /** Whose signals were noted a moment ago, and whether there were more since. */
  const lately = new Map<UserId, boolean>();

  async function leave(): Promise<void> {
    const users = noted;
    noted = new Map();
    timer = undefined;
    const notes = [...users].map(([user, texts]) => store.note(journalOf(user), [...texts]));
    await Promise.allSettled(notes);
  }

  function add(user: UserId, text: Note): void {
    const texts = noted.get(user);
    if (texts) texts.add(text);
    else noted.set(user, new Set([text]));
    timer ??= setTimeout(() => void leave(), TOGETHER_MS).unref();
  }

  function addSignal(user: UserId): void {
    if (lately.has(user)) return void lately.set(user, true);
    add(user, SIGNALS);
    lately.set(user, false);
    setTimeout(() => {
      const isMore = lately.get(user);
      lately.delete(user);
      if (isMore) addSignal(user);
    }, FLOOD_MS).unref();
  }

  return {
    ofSignal: addSignal,
    ofOrder: ({ id, userId }) => add(userId, id),
    ofAccess: (user) => add(user, ACCESS),
    async stop() {
      clearTimeout(timer);
      await leave();
    },
  };
}
