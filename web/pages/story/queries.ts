// What a story is made of besides its order and its signal.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';
import { brokers } from '../../api/queries.ts';

/** Where an order came from, and its neighbours in the same book. */
export const aroundOrder = (id: string) =>
  queryOptions({
    queryKey: ['orders', 'story', id],
    queryFn: () => read(api.GET('/trading/orders/{id}/story', { params: { path: { id } } })),
  });

/** What the broker's fees are in; null: not known yet. */
export function useCurrency(broker: string): string | null {
  const { data } = useQuery(brokers);
  return data?.items.find(({ name }) => name === broker)?.currency ?? null;
}

/** By its exact symbol; null: the account's broker does not list it. It may take a while: nothing waits for it. */
export const instrumentOf = (accountId: string, symbol: string) =>
  queryOptions({
    queryKey: ['symbols', accountId, 'named', symbol],
    async queryFn() {
      const { items } = await read(
        api.GET('/trading/accounts/{id}/symbols', {
          params: { path: { id: accountId }, query: { q: symbol } },
        }),
      );
      return items.find((instrument) => instrument.symbol === symbol) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export const auditOf = (orderId: string) =>
  queryOptions({
    queryKey: ['audit', 'order', orderId],
    queryFn: () =>
      read(
        api.GET('/settings/audit-log', {
          params: { query: { order_id: orderId } },
        }),
      ),
    retry: false,
  });

type Neighbour = { readonly older: string | null; readonly newer: string | null };
/** How far to look for what came next: the lists begin with the newest. */
const AHEAD_MS = [300_000, 21_600_000, 7 * 86_400_000];
const MOST = 200;

/** The signals before and after it. */
export const besideSignal = (id: string, at: string) =>
  queryOptions({
    queryKey: ['signals', 'beside', id],
    async queryFn(): Promise<Neighbour> {
      const older = await read(api.GET('/trading/signals', { params: { query: { to: at, limit: 5 } } }));
      const here = older.items.findIndex((signal) => signal.id === id);
      return { older: older.items[here + 1]?.id ?? null, newer: await newerThan(id, at) };
    },
  });

async function newerThan(id: string, at: string): Promise<string | null> {
  for (const ahead of AHEAD_MS) {
    const to = new Date(Date.parse(at) + ahead).toISOString();
    const page = await read(
      api.GET('/trading/signals', { params: { query: { from: at, to, limit: MOST } } }),
    );
    const here = page.items.findIndex((signal) => signal.id === id);
    if (here > 0) return page.items[here - 1]?.id ?? null;
    // More than a page lie between: it is not worth turning them all.
    if (here < 0) return null;
  }
  return null;
}
