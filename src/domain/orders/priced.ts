// The prices that an entry waits for.

import type { TimeInForce } from '../capabilities.ts';
import type { Decimal } from '../decimal.ts';
import { type Timestamp, timestamp } from '../ids.ts';

/** What an entry waits for. With both prices it becomes an order with the limit once the stop is reached. */
export interface Priced {
  readonly limit: Decimal | null;
  readonly stop: Decimal | null;
  readonly timeInForce: TimeInForce;
  /** Then it is taken back, also where the broker could do so by itself. */
  readonly expiresAt: Timestamp;
  /** The entry's own name: the next one of that name takes its place. null counts as one. */
  readonly id: string | null;
}

/** As it was asked for: how long it is good for is counted from its acceptance. */
export type AskedPrice = Omit<Priced, 'expiresAt'> & { readonly expiresInSeconds: number };

export type OrderKind = 'market' | 'limit' | 'stop' | 'stop_limit';

export const kindOf = (priced: Pick<Priced, 'limit' | 'stop'> | null | undefined): OrderKind => {
  if (!priced || (priced.limit === null && priced.stop === null)) return 'market';
  if (priced.stop === null) return 'limit';
  return priced.limit === null ? 'stop' : 'stop_limit';
};

export const pricedOf = ({ expiresInSeconds, ...asked }: AskedPrice, acceptedAt: number): Priced => ({
  ...asked,
  expiresAt: timestamp(acceptedAt + expiresInSeconds * 1000),
});

/** It may wait: the others are over in a moment. */
export const mayRest = ({ timeInForce }: Priced): boolean => timeInForce === 'gtc' || timeInForce === 'day';
