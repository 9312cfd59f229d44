// The list's data: pages by cursor that do not move, what is new since, and what changed in what is shown.

import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { useOrderChanges } from '../../live/live.tsx';
import type { Signal } from '../../parts/happened.ts';
import { type Filters, queryOf, type SignalQuery } from './filters.ts';
import { type Known, lastKnown } from './last-known.ts';

/** A page of the list. */
const PAGE = 50;
/** Empty pages in a row, until it is left to who looks whether to go on. */
const MOST_EMPTY = 5;
/** Orders come from elsewhere, too; some more are read, so that those of the signals are among them. */
const ORDERS = 200;
/** They come with the stream; this is for when it is away. */
const ASK_AGAIN_MS = 30_000;
/** Many orders at once are one question. */
const GATHER_MS = 300;
/** Who comes back soon finds the list where it was; later, the list as it is. For so long changes of orders are kept, too. */
const KEPT_MS = 240_000;

interface SignalPage {
  readonly signals: readonly Signal[];
  readonly orders: Readonly<Record<string, Known>>;
  readonly next: string | null;
}
type Pages = InfiniteData<SignalPage, string | null>;

export interface Asked {
  readonly filters: Filters;
  readonly dayStart: number;
}

async function readPage(query: SignalQuery, cursor: string | null): Promise<SignalPage> {
  const ask = (after: string | null) =>
    read(
      api.GET('/trading/signals', {
        params: { query: { ...query, limit: PAGE, ...(after && { cursor: after }) } },
      }),
    );
  let page = await ask(cursor);
  // Of a long history a page may have looked at much and found nothing yet.
  for (let more = 0; more < MOST_EMPTY && page.items.length === 0 && page.next_cursor; more++)
    page = await ask(page.next_cursor);
  return { signals: page.items, next: page.next_cursor, orders: await readOrders(page.items, query) };
}

/** The orders of these signals; without them the list says less, and stands. */
async function readOrders(signals: readonly Signal[], query: SignalQuery): Promise<Record<string, Known>> {
  const had = signals.filter(({ order_id }) => order_id !== null);
  const [newest, oldest] = [had[0], had.at(-1)];
  if (!newest || !oldest) return {};
  const { trading_account_id, instrument } = query;
  const at = Date.now();
  const page = await read(
    api.GET('/trading/orders', {
      params: {
        query: {
          limit: ORDERS,
          source: 'webhook',
          from: oldest.arrived_at,
          to: newest.arrived_at,
          ...(trading_account_id && { trading_account_id }),
          ...(instrument && { instrument }),
        },
      },
    }),
  ).catch(() => ({ items: [] }));
  return Object.fromEntries(page.items.map((order) => [order.order_id, { order, at }]));
}

const listKey = ({ filters, dayStart }: Asked) => ['signals', 'list', filters, dayStart] as const;
const newestShown = (client: QueryClient, asked: Asked): string | undefined =>
  client.getQueryData<Pages>(listKey(asked))?.pages.find(({ signals }) => signals.length > 0)?.signals[0]
    ?.arrived_at;

const listed = (client: QueryClient, asked: Asked) =>
  infiniteQueryOptions({
    queryKey: listKey(asked),
    queryFn({ pageParam }) {
      const query = queryOf(asked.filters, asked.dayStart);
      // Read again, it is the same list: what came since is shown when it is asked for.
      const upTo = query.to ?? newestShown(client, asked);
      return readPage({ ...query, ...(upTo && { to: upTo }) }, pageParam);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: SignalPage) => page.next,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    // What changes in it is heard of; all of its pages would be read, one after the other.
    staleTime: KEPT_MS,
    gcTime: KEPT_MS,
  });

const sinceShown = (client: QueryClient, asked: Asked) =>
  queryOptions({
    queryKey: ['signals', 'fresh', asked.filters, asked.dayStart],
    async queryFn({ queryKey }) {
      const query = queryOf(asked.filters, asked.dayStart);
      const from = newestShown(client, asked) ?? query.from;
      const page = await readPage({ ...query, ...(from && { from }) }, null);
      const heard = client.getQueryData<SignalPage>(queryKey);
      // The day's counts are older than this: a refused signal changes no order.
      if (heard && heard.signals[0]?.id !== page.signals[0]?.id)
        void client.invalidateQueries({ queryKey: ['overview'] });
      return page;
    },
    refetchInterval: ASK_AGAIN_MS,
    staleTime: ASK_AGAIN_MS,
    gcTime: 0,
  });

export function useSignals(asked: Asked) {
  const client = useQueryClient();
  const list = useInfiniteQuery(listed(client, asked));
  const isOpen = asked.filters.to === undefined;
  const since = useQuery({
    ...sinceShown(client, asked),
    enabled: isOpen && list.isSuccess && !list.isPlaceholderData,
  });
  const changed = useChanges(
    () => heardBefore(client),
    () => client.invalidateQueries({ queryKey: ['signals', 'fresh', asked.filters, asked.dayStart] }),
  );

  const pages = list.data?.pages;
  const signals = useMemo(() => pages?.flatMap((page) => page.signals) ?? [], [pages]);
  const orders = useMemo(
    () => Object.assign({}, ...(pages?.map((page) => page.orders) ?? [])) as Record<string, Known>,
    [pages],
  );
  const fresh = useMemo(() => {
    const shown = new Set(signals.map(({ id }) => id));
    return since.data?.signals.filter(({ id }) => !shown.has(id)) ?? [];
  }, [since.data, signals]);

  const showFresh = () => {
    const page = since.data;
    // More than a page: the list begins anew.
    if (!page || page.next !== null) return client.resetQueries({ queryKey: listKey(asked) });
    client.setQueryData<Pages>(listKey(asked), (old) => old && withFresh(old, fresh, page.orders));
  };
  return {
    list,
    signals,
    isOpen,
    fresh,
    showFresh,
    orderOf: (id: string) => lastKnown(changed.get(id), orders[id]),
  };
}

function withFresh(old: Pages, fresh: readonly Signal[], orders: SignalPage['orders']): Pages {
  const [first, ...rest] = old.pages;
  if (!first) return old;
  const top = { ...first, signals: [...fresh, ...first.signals], orders: { ...first.orders, ...orders } };
  return { ...old, pages: [top, ...rest] };
}

type Changes = ReadonlyMap<string, Known>;

/** While the list was not open, as far as the page has heard (live/live.tsx). */
function heardBefore(client: QueryClient): Changes {
  const heard = client.getQueryCache().findAll({ queryKey: ['orders', 'one'] });
  return new Map(
    heard.flatMap(({ state }): [string, Known][] => {
      const order = state.data as Schemas['OrderRecord'] | undefined;
      return order ? [[order.order_id, { order, at: state.dataUpdatedAt }]] : [];
    }),
  );
}

/** Orders as they were heard to change, many at once as one; `ask` is called with each. */
function useChanges(before: () => Changes, ask: () => unknown): Changes {
  const [changed, setChanged] = useState(before);
  const asks = useRef(ask);
  asks.current = ask;
  const gathered = useRef(new Map<string, Known>());
  useOrderChanges(
    useCallback((order) => {
      if (gathered.current.size === 0)
        setTimeout(() => {
          const orders = gathered.current;
          gathered.current = new Map();
          setChanged((known) => new Map([...known, ...orders]));
          void asks.current();
        }, GATHER_MS);
      gathered.current.set(order.order_id, { order, at: Date.now() });
    }, []),
  );
  return changed;
}
