// Every call to a broker is timed, counted, and a part of the trace of whoever makes it.

import type { Counters, Venue } from '../../domain/counters.ts';
import type { Tracing } from '../../domain/tracing.ts';
import type { LineOptions } from './line.ts';

interface Watchers {
  readonly counters: Pick<Counters, 'brokerCalled'>;
  readonly tracing: Pick<Tracing, 'during'>;
}

export const watched = (
  { counters, tracing }: Watchers,
  venue: Venue,
): Required<Pick<LineOptions, 'around'>> => ({
  around: (call, make) =>
    tracing.during(`broker ${call}`, { 'fillpath.broker': venue }, async () => {
      const begun = performance.now();
      let outcome: 'answered' | 'failed' = 'failed';
      try {
        const answer = await make();
        outcome = 'answered';
        return answer;
      } finally {
        counters.brokerCalled(venue, call, outcome, performance.now() - begun);
      }
    }),
});
