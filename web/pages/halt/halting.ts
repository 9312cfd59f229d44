// How the kill switch is thrown. The flag first, on every chosen account; only then are positions closed, which may take its
// time: an account must not wait for its halt until another's broker has answered.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { leaveOffAsking } from '../../api/broker-reads.ts';
import { api, read, type Schemas } from '../../api/client.ts';
import { type Outcome, outcomeOf } from './halt-words.ts';

/** Of one account: under way, what came of it, or what went wrong. */
export type Progress =
  | { readonly is: 'under way'; readonly text: string }
  | { readonly is: 'done'; readonly outcome: Outcome; readonly orders: readonly Schemas['OrderResult'][] }
  | { readonly is: 'failed'; readonly fault: unknown };

const post = (id: string, flatten: boolean) =>
  read(api.POST('/trading/accounts/{id}/halt', { params: { path: { id } }, body: { flatten } }));

export function useHalting() {
  const client = useQueryClient();
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const note = (id: string, now: Progress) => setProgress((before) => new Map(before).set(id, now));

  const attempt = async (id: string, flatten: boolean): Promise<void> => {
    try {
      const halted = await post(id, flatten);
      note(id, { is: 'done', outcome: outcomeOf(halted, { flatten }), orders: halted.orders });
    } catch (fault) {
      note(id, { is: 'failed', fault });
    }
  };
  const throughAll = async (ids: readonly string[], flatten: boolean, text: string): Promise<void> => {
    for (const id of ids) note(id, { is: 'under way', text });
    await Promise.all(ids.map((id) => attempt(id, flatten)));
  };

  const tellEverybody = () =>
    Promise.all(
      ['accounts', 'overview', 'positions', 'balance'].map((noun) =>
        client.invalidateQueries({ queryKey: [noun] }),
      ),
    );

  return {
    progress,
    isBusy,
    async halt(ids: readonly string[], { flatten }: { readonly flatten: boolean }) {
      setBusy(true);
      // Nothing that hangs may hold a connection that the halt needs.
      void leaveOffAsking(client);
      await throughAll(ids, false, 'halting');
      if (flatten) await throughAll(ids, true, 'halted, closing its positions');
      setBusy(false);
      void tellEverybody();
    },
    async resume(id: string) {
      setBusy(true);
      try {
        await read(api.POST('/trading/accounts/{id}/resume', { params: { path: { id } } }));
        note(id, {
          is: 'done',
          outcome: { tone: 'good', text: 'Resumed. New entries pass again.' },
          orders: [],
        });
      } catch (fault) {
        note(id, { is: 'failed', fault });
      }
      setBusy(false);
      void tellEverybody();
    },
  };
}
