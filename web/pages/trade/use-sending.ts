// The press. One key per intent (intent.ts); what is under way is asked for again until it has an answer.

import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, read } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { newKey } from '../../parts/new-key.ts';
import { answered, type Intent, leavesOpen, press } from './intent.ts';
import { tabKeep } from './keep.ts';
import type { Wish } from './wish.ts';

/** Longer than the service waits for a broker. */
const ASKS_WHILE_UNDER_WAY = 35;
const ASK_AGAIN_MS = 1_000;

export type Sending = ReturnType<typeof useSending>;

export function useSending(userId: string, onSent: () => void) {
  const navigate = useNavigate();
  const sending = useMutation({
    mutationFn: ({ key, wish }: Intent) =>
      read(api.POST('/trading/order', { params: { header: { 'Idempotency-Key': key } }, body: wish })),
    retry: (count, fault) =>
      problemOf(fault).code === 'idempotency_in_progress' && count < ASKS_WHILE_UNDER_WAY,
    retryDelay: ASK_AGAIN_MS,
    onSuccess(order) {
      answered(tabKeep);
      onSent();
      void navigate({ to: '/orders/$id', params: { id: order.order_id } as never });
    },
    onError(fault) {
      if (!leavesOpen(problemOf(fault))) answered(tabKeep);
    },
  });
  return {
    isPending: sending.isPending,
    error: sending.error,
    forget: sending.reset,
    /** The press is kept before anything else happens: a drawer that is opened anew knows of it, whatever becomes of this one. */
    send: (wish: Wish) => sending.mutate(press(tabKeep, wish, { userId, now: Date.now(), newKey: newKey() })),
  };
}
