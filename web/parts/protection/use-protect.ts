// The press that changes what protects a position. One key for each change: who presses again because no answer came asks for
// the same one.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { api, read } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { newKey } from '../new-key.ts';
import type { Sent } from './asked.ts';

/** Longer than the service waits for a broker. */
const ASKS_WHILE_UNDER_WAY = 35;
const ASK_AGAIN_MS = 1_000;

export interface Protect extends Sent {
  readonly trading_account_id: string;
  readonly symbol: string;
  readonly simulation: boolean;
}

export function useProtect(onDone: () => void) {
  const client = useQueryClient();
  const pressed = useRef<{ readonly body: string; readonly key: string } | null>(null);
  return useMutation({
    mutationFn(wish: Protect) {
      const body = JSON.stringify(wish);
      if (pressed.current?.body !== body) pressed.current = { body, key: newKey() };
      return read(
        api.POST('/trading/order', {
          params: { header: { 'Idempotency-Key': pressed.current.key } },
          body: { ...wish, action: 'protect' },
        }),
      );
    },
    retry: (count, fault) =>
      problemOf(fault).code === 'idempotency_in_progress' && count < ASKS_WHILE_UNDER_WAY,
    retryDelay: ASK_AGAIN_MS,
    async onSuccess(order) {
      // Answered: the same change, pressed on purpose, is another one.
      pressed.current = null;
      void client.invalidateQueries({ queryKey: ['overview'] });
      await client.invalidateQueries({ queryKey: ['positions'] });
      if (order.status === 'done') onDone();
    },
  });
}
