// How the log speaks of an order: by the same names in every process, so that one id finds all its lines. The
// id of the request stands in the order's row, so that a successor or a verifier knows it too.

import { venueOf } from '../counters.ts';
import { millis } from '../ids.ts';
import type { Order } from './order.ts';

type Named = Pick<Order, 'id' | 'requestId' | 'userId' | 'accountId'>;

export const namesOf = ({ id, requestId, userId, accountId }: Named) => ({
  order_id: id,
  ...(requestId === null ? {} : { request_id: requestId }),
  user_id: userId,
  trading_account_id: accountId,
});

/** How it stands, and how long after its arrival. */
export const orderLine = (order: Order, now: number) => ({
  ...namesOf(order),
  broker: venueOf(order),
  outcome: order.status,
  ...(order.error ? { code: order.error.code } : {}),
  ms: Math.max(0, now - millis(order.submittedAt)),
});
