// What an order says where its broker could not be asked.

import {
  AccountUnfit,
  BrokerBusy,
  type BrokerUnavailable,
  CredentialsRejected,
} from '../../broker/broker.ts';
import type { Order, OrderError } from '../../domain/orders/order.ts';
import { rateLimited, refusedCredentials, unfit, unreachable } from '../../domain/orders/outcome.ts';
import { CredentialsUnreadable } from '../line/credentials.ts';

export function whyNot(fault: BrokerUnavailable, order: Order): OrderError {
  if (fault instanceof BrokerBusy) return rateLimited(fault.retryAfterMs, order);
  if (fault instanceof AccountUnfit) return unfit(fault.message);
  const isRefused = fault instanceof CredentialsRejected && !(fault instanceof CredentialsUnreadable);
  return isRefused ? refusedCredentials(fault.message) : unreachable(fault.message);
}
