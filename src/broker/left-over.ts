// A close that the broker refuses for its size leaves something behind, and says how much.

import type { OrderError } from '../domain/orders/order.ts';
import type { BrokerOrder } from './broker.ts';

/** Of a close that the broker itself refused for its size: nobody but it can take what is left. */
export const withLeftOver = (
  error: OrderError,
  { reduceOnly, quantity, instrument }: BrokerOrder,
): OrderError =>
  reduceOnly && error.code === 'invalid_quantity'
    ? {
        ...error,
        message: `${error.message} ${quantity} of ${instrument.symbol} is not closed and is left there.`,
      }
    : error;
