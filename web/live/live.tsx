// Whether the page is live, since when it is not, and what a change of an order makes old on every page.

import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { api, read, type Schemas } from '../api/client.ts';
import { serverNow } from '../api/clock.ts';
import { ownSession } from '../api/queries.ts';
import { refresh } from '../api/session.ts';
import { listen } from './stream.ts';

export interface Liveness {
  readonly isLive: boolean;
  readonly since: number;
}

const LivenessContext = createContext<Liveness>({ isLive: false, since: serverNow() });
export const useLiveness = (): Liveness => useContext(LivenessContext);

type Hears = (order: Schemas['OrderRecord']) => void;
const listeners = new Set<Hears>();

/** Called with each change of an order while the component is on the page. `hear` must be stable. */
export function useOrderChanges(hear: Hears): void {
  useEffect(() => {
    listeners.add(hear);
    return () => void listeners.delete(hear);
  }, [hear]);
}

/** What orders change besides themselves. Lists that must not move under the pointer (signals, orders) are not here. */
const CHANGED_BY_ORDERS = [
  ['overview'],
  ['performance'],
  ['trades'],
  ['orders', 'story'],
  ['groups', 'signals'],
];
/** Of these the broker is asked, and it counts who asks. */
const CHANGED_AT_BROKER = [['positions'], ['balance']];
/** Refused signals and reports; the list itself does not move by them. */
const CHANGED_BY_SIGNALS = [
  ['signals', 'latest'],
  ['signals', 'fresh'],
  ['signals', 'first'],
  ['groups', 'signals'],
  ['overview'],
];
/** Those lists, which a change of an order does not move by itself. */
const LISTS = [['signals'], ['orders']];
/** Many orders at once are one change. */
const GATHER_MS = 500;
const GATHER_AT_BROKER_MS = 2_000;
const SESSION_AGAIN_MS = 10_000;

function refreshSoon(client: QueryClient, keys: readonly string[][], afterMs: number): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      for (const queryKey of keys) void client.invalidateQueries({ queryKey });
    }, afterMs);
  };
}

export function Live({ children }: { readonly children: ReactNode }) {
  // Until it is known who is in, nobody listens; without that answer it is asked for again and again.
  const { data: session } = useQuery({
    ...ownSession,
    refetchInterval: ({ state }) => (state.data ? false : SESSION_AGAIN_MS),
  });
  return <LiveTo userId={session?.user.id}>{children}</LiveTo>;
}

/** Apart: the stream ends with the session, and what is drawn anew by that must not ask who is in. */
function LiveTo({ userId, children }: { readonly userId: string | undefined; readonly children: ReactNode }) {
  const client = useQueryClient();
  const [liveness, setLiveness] = useState<Liveness>({ isLive: false, since: serverNow() });
  useEffect(() => {
    if (userId === undefined) return;
    const changed = refreshSoon(client, CHANGED_BY_ORDERS, GATHER_MS);
    const arrived = refreshSoon(client, CHANGED_BY_SIGNALS, GATHER_MS);
    const changedAtBroker = refreshSoon(client, CHANGED_AT_BROKER, GATHER_AT_BROKER_MS);
    return listen(
      userId,
      (told) => {
        if (told.what === 'order') {
          client.setQueryData(['orders', 'one', told.order.order_id], told.order);
          for (const hear of listeners) hear(told.order);
          changed();
          changedAtBroker();
        } else if (told.what === 'signals') arrived();
        else if (told.what === 'begun') {
          changed();
          changedAtBroker();
          for (const queryKey of LISTS) void client.invalidateQueries({ queryKey });
        } else if (told.what === 'reset') void client.invalidateQueries();
        else setLiveness({ isLive: told.what === 'live', since: told.since });
      },
      async () => {
        const isIn = await refresh(performance.now());
        // It ends for the whole page, in the one place where that is decided.
        if (!isIn) await read(api.GET('/auth/session')).catch(() => {});
        return isIn;
      },
    );
  }, [client, userId]);
  return <LivenessContext value={liveness}>{children}</LivenessContext>;
}
