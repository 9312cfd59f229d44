// Whoever began with the first steps sees the first signal arrive there; the usual page comes with the next visit, or when it
// is asked for. A signal that was refused is not the first: the wait for it goes on.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { hasOnlyBeginnersTrouble } from './first-steps.ts';

export interface FirstVisit {
  /** undefined: not known yet. */
  readonly isFirst: boolean | undefined;
  readonly hasExecuted: boolean;
}

export function useFirstVisit(overview: Schemas['Overview'] | undefined): FirstVisit {
  const [began, setBegan] = useState(false);
  const hasArrived = overview?.accounts.some(({ last_signal_at }) => last_signal_at !== null) ?? false;
  const { executed = 0, reported = 0 } = overview?.signals_today ?? {};
  const isSaid = executed + reported > 0;
  // The day's own signals say it nearly always. Where all of them were refused, an earlier day may have had one.
  const ever = useQuery({
    queryKey: ['signals', 'executed-once'],
    queryFn: () =>
      read(api.GET('/trading/signals', { params: { query: { outcome: 'executed', limit: 1 } } })),
    enabled: hasArrived && !isSaid,
  });
  const hasExecuted = isSaid || (ever.data?.items.length ?? 0) > 0;
  const isKnown = overview !== undefined && (!hasArrived || isSaid || !ever.isPending);
  // Not to be found out: whoever gets signals knows the usual page.
  const isFirst = isKnown && hasOnlyBeginnersTrouble(overview) && !hasExecuted && ever.error === null;
  if (isFirst && !began) setBegan(true);
  return { isFirst: began || (isKnown ? isFirst : undefined), hasExecuted };
}
