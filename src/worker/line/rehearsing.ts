// How long a simulation waits for a price of the real market. It has the account's lane meanwhile, needs nothing but the account's URL, and
// is not worth what a real order behind it may lose.

import { BrokerUnavailable } from '../../broker/broker.ts';

/** No price has come for a simulation. The connection may be good: orders keep it. */
export class MarketSilent extends BrokerUnavailable {
  override readonly name = 'MarketSilent';
}

/** So long a price is waited for … */
const PATIENCE_MS = 3_000;
/** … and so long after one that did not come, none is asked for. */
const SILENT_MS = 5_000;

/** Of one simulated book. */
export function createImpatience(now: () => number = () => performance.now()) {
  let silentUntil = Number.NEGATIVE_INFINITY;
  return async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    if (now() < silentUntil) throw new MarketSilent('the market gave a simulation no price a moment ago');
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      silentUntil = now() + SILENT_MS;
      late.reject(new MarketSilent('the market gave a simulation no price in time'));
    }, PATIENCE_MS);
    try {
      return await Promise.race([ask(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}
