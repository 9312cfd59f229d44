// The plan of exactly these fields, or none. Old plans are never shown beside new fields.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { ASK_AGAIN_MS, isFresh } from '../../api/fresh.ts';
import { useOrderChanges } from '../../live/live.tsx';
import { useSettled } from '../../parts/use-settled.ts';
import { useNow } from '../../parts/when.tsx';
import { sameWish, type Wish } from './wish.ts';

export interface Planned {
  /** Null: it is being made, could not be made, or is too old to be pressed on. */
  readonly plan: Schemas['OrderPlan'] | null;
  /** Whether it may still be pressed on: the page itself may have slept since it was drawn. */
  isStillGood(): boolean;
  readonly fault: unknown;
  again(): void;
}

export function usePlan(wish: Wish | null): Planned {
  const client = useQueryClient();
  const settled = useSettled(wish, sameWish);
  const asked = useQuery({
    // The whole order is the key: an answer can only ever belong to the fields that asked for it.
    queryKey: ['plan', settled],
    queryFn: ({ signal }) => read(api.POST('/trading/order/plan', { body: settled as Wish, signal })),
    enabled: settled !== null,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    // What is held may change without a word to us.
    refetchInterval: ASK_AGAIN_MS,
  });
  const accountId = settled?.trading_account_id;
  const hear = useCallback(
    (order: Schemas['OrderRecord']) => {
      if (order.trading_account_id === accountId) void client.invalidateQueries({ queryKey: ['plan'] });
    },
    [client, accountId],
  );
  useOrderChanges(hear);

  // A plan grows old where the next one does not come: a tab was hidden, the network is away.
  useNow();
  const isCurrent = wish !== null && sameWish(settled, wish);
  return {
    plan: isCurrent && asked.isSuccess && isFresh(asked) ? asked.data : null,
    fault: isCurrent ? asked.error : null,
    isStillGood: () => isFresh(asked),
    again: () => void asked.refetch(),
  };
}
