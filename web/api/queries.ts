// What more than one page reads. A page's own questions stand with the page. Keys begin with the API's noun, so that a
// change of an order can tell which answers are old (live/live.tsx).

import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import { serverNow } from './clock.ts';
import { Problem } from './problem.ts';
import { goOn } from './session.ts';

export const ownSession = queryOptions({
  queryKey: ['session'],
  async queryFn() {
    const session = await read(api.GET('/auth/session'));
    goOn(session.csrf_token);
    return session;
  },
  staleTime: 60_000,
});

/** The plan, and what of it is used. */
export const subscription = queryOptions({
  queryKey: ['subscription'],
  queryFn: () => read(api.GET('/settings/subscription')),
});

export const accounts = queryOptions({
  queryKey: ['accounts'],
  async queryFn() {
    const all = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof readAccounts>> = await readAccounts(cursor);
      all.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return all;
  },
});
const readAccounts = (cursor: string | null) =>
  read(api.GET('/trading/accounts', { params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } }));

export const groups = queryOptions({
  queryKey: ['groups'],
  // Fifty at the most.
  queryFn: async () => (await read(api.GET('/trading/groups', { params: { query: { limit: 200 } } }))).items,
});

/** What an account trades through, and how it is opened: by the connectors' own description. */
export const brokers = queryOptions({
  queryKey: ['brokers'],
  queryFn: () => read(api.GET('/public/brokers')),
  staleTime: Number.POSITIVE_INFINITY,
});

export const publicConfig = queryOptions({
  queryKey: ['config'],
  queryFn: () => read(api.GET('/public/config')),
  staleTime: Number.POSITIVE_INFINITY,
});

export const order = (id: string) =>
  queryOptions({
    queryKey: ['orders', 'one', id],
    queryFn: () => read(api.GET('/trading/orders/{id}', { params: { path: { id } } })),
  });

/** A signal with its message and what was understood of it. */
export const signal = (id: string) =>
  queryOptions({
    queryKey: ['signals', 'one', id],
    queryFn: () => read(api.GET('/trading/signals/{id}', { params: { path: { id } } })),
  });

/** How everything stands on the user's own day. Today shows it; the masthead shows how much of it is to be done. */
export const overview = queryOptions({
  queryKey: ['overview'],
  async queryFn() {
    try {
      return await readOverview();
    } catch (fault) {
      // A browser's clock far off has another midnight. The refusal brought the right time along.
      if (!(fault instanceof Problem && fault.code === 'request_invalid')) throw fault;
      return readOverview();
    }
  },
  // Silence, drift and refused credentials come without any order.
  refetchInterval: 30_000,
});
function readOverview(): Promise<Schemas['Overview']> {
  const midnight = new Date(serverNow());
  midnight.setHours(0, 0, 0, 0);
  const day_start = midnight.toISOString();
  return read(api.GET('/trading/overview', { params: { query: { day_start } } }));
}

/** What protects a position, with every move. `asOf`: how it is known to stand; once that is another, it is read again. */
export const protection = (id: string, asOf = '') =>
  queryOptions({
    queryKey: ['protections', id, asOf],
    queryFn: () => read(api.GET('/trading/protections/{id}', { params: { path: { id } } })),
    staleTime: 2_000,
  });
