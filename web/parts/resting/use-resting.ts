// What rests at the brokers now. Read once, and kept true by what is heard of orders: a row goes as soon as its order has ended.

import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { useOrderChanges } from '../../live/live.tsx';
import { isResting, type Resting } from './words.ts';

/** What ends without a word to this page, because the stream is away, is gone by then. */
const READ_AGAIN_MS = 30_000;

type Page = Schemas['OrderSummaryPage'];

const readPage = (status: 'placed' | 'partially_filled', cursor: string | null): Promise<Page> =>
  read(
    api.GET('/trading/orders', { params: { query: { status, limit: 200, ...(cursor ? { cursor } : {}) } } }),
  ) as Promise<Page>;

async function readAll(status: 'placed' | 'partially_filled'): Promise<Resting[]> {
  const all: Resting[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await readPage(status, cursor);
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

const newestFirst = (orders: readonly Resting[]): Resting[] =>
  orders.toSorted((a, b) => b.submitted_at.localeCompare(a.submitted_at));

const resting = queryOptions({
  queryKey: ['orders', 'resting'],
  async queryFn(): Promise<readonly Resting[]> {
    const [whole, parts] = await Promise.all([readAll('placed'), readAll('partially_filled')]);
    return newestFirst([...whole, ...parts].filter(isResting));
  },
  refetchInterval: READ_AGAIN_MS,
});

export function useResting() {
  const client = useQueryClient();
  const hear = useCallback(
    (order: Schemas['OrderRecord']) =>
      client.setQueryData(resting.queryKey, (before) => {
        if (!before) return before;
        const others = before.filter(({ order_id }) => order_id !== order.order_id);
        return isResting(order) ? newestFirst([...others, order]) : others;
      }),
    [client],
  );
  useOrderChanges(hear);
  return useQuery(resting);
}
