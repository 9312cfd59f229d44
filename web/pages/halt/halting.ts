// The kill switch's progress. It is kept above the dialog: who leaves that while positions are being closed finds what came of
// it when it is opened again.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { leaveOffAsking } from '../../api/broker-reads.ts';
import { api, read } from '../../api/client.ts';
import { type Progress, throwAll } from './throwing.ts';

const post = (id: string, flatten: boolean) =>
  read(api.POST('/trading/accounts/{id}/halt', { params: { path: { id } }, body: { flatten } }));

export type Halting = ReturnType<typeof useHalting>;

export function useHalting() {
  const client = useQueryClient();
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const note = (id: string, now: Progress) => setProgress((before) => new Map(before).set(id, now));

  return {
    progress,
    isBusy,
    async halt(ids: readonly string[], how: { readonly flatten: boolean }) {
      setBusy(true);
      // Nothing that hangs may hold a connection that the halt needs.
      void leaveOffAsking(client);
      await throwAll(ids, how, { post, note });
      setBusy(false);
      for (const noun of ['accounts', 'overview', 'positions', 'balance'])
        void client.invalidateQueries({ queryKey: [noun] });
      void client.invalidateQueries({ queryKey: ['orders', 'resting'] });
    },
    /** It was resumed: that it was halted is no news any more. */
    forget: (id: string) =>
      setProgress((before) => new Map([...before].filter(([account]) => account !== id))),
    /** The dialog was left. What has ended was seen there. */
    leave() {
      if (!isBusy) setProgress(new Map());
    },
  };
}
