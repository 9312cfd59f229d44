// What an order's size is computed by: the price and the equity, each asked for only where it counts.

import {
  AccountUnfit,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
  unitValueOf,
} from '../../broker/broker.ts';
import type { Order } from '../../domain/orders/order.ts';
import { isExit } from '../../domain/orders/patience.ts';
import type { OrderMarket } from '../../domain/orders/sized-order.ts';
import { needsEquity, needsPrice, type Sizing } from '../../domain/orders/sizing.ts';
import type { Line } from '../line/line.ts';

/** Of what such a broker says an order makes its own error. */
const KEEPS_ITS_NAME = [BrokerBusy, CredentialsRejected, AccountUnfit];

export async function marketFor(
  line: Pick<Line, 'quote' | 'balance' | 'capabilities'>,
  instrument: Instrument,
  order: Order,
  sizing: Sizing,
): Promise<OrderMarket> {
  // What waits for a price is counted at that.
  const fixed = order.priced && (order.priced.limit ?? order.priced.stop);
  const isPatient = isExit(order);
  /** Who waits for a broker that is away waits for this, too; who does not is told what was missing. */
  const orNull = (fault: unknown): null => {
    const isAway =
      fault instanceof BrokerUnavailable && !KEEPS_ITS_NAME.some((kind) => fault instanceof kind);
    if (isPatient || !isAway) throw fault;
    return null;
  };
  const [quote, balance] = await Promise.all([
    fixed ? { bid: fixed, ask: fixed } : needsPrice(sizing) ? line.quote(instrument).catch(orNull) : null,
    needsEquity(sizing) ? line.balance().catch(orNull) : null,
  ]);
  const { tickSize: tick, quantityStep: step, minQuantity: least } = instrument;
  const { wholeStops = false } = line.capabilities;
  return {
    ...{ quote, tick, step, least, wholeStops },
    equity: balance?.equity ?? null,
    currency: balance?.currency ?? null,
    unitValue: unitValueOf(instrument),
  };
}
