// The plan of exactly these fields, or none. Old plans are never shown beside new fields.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { useOrderChanges } from '../../live/live.tsx';
import { sameWish, type Wish } from './wish.ts';

/** Somebody who types is not done yet. */
const SETTLES_MS = 250;
/** What is held may change without a word to us. */
const PLAN_AGAIN_MS = 10_000;

export function useSettled<T>(value: T, isSame: (a: T, b: T) => boolean = Object.is): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (isSame(settled, value)) return;
    const timer = setTimeout(() => setSettled(value), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [value, settled, isSame]);
  return settled;
}

export interface Planned {
  /** Null: it is being made, or could not be made. */
  readonly plan: Schemas['OrderPlan'] | null;
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
    refetchInterval: PLAN_AGAIN_MS,
  });
  const accountId = settled?.trading_account_id;
  const hear = useCallback(
    (order: Schemas['OrderRecord']) => {
      if (order.trading_account_id === accountId) void client.invalidateQueries({ queryKey: ['plan'] });
    },
    [client, accountId],
  );
  useOrderChanges(hear);

  const isCurrent = wish !== null && sameWish(settled, wish);
  return {
    plan: isCurrent && asked.isSuccess ? asked.data : null,
    fault: isCurrent ? asked.error : null,
    again: () => void asked.refetch(),
  };
}
