// What an order's size is computed by: the price and the equity, each asked for only where it counts.

import {
  AccountUnfit,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
  unitValueOf,
} from '../../broker/broker.ts';
import type { OrderMarket } from '../../domain/orders/sized-order.ts';
import { needsEquity, needsPrice, type Sizing } from '../../domain/orders/sizing.ts';
import type { Line } from '../line/line.ts';

/** Of what such a broker says an order makes its own error. */
const KEEPS_ITS_NAME = [BrokerBusy, CredentialsRejected, AccountUnfit];

export async function marketFor(
  line: Pick<Line, 'quote' | 'balance' | 'capabilities'>,
  instrument: Instrument,
  sizing: Sizing,
  { isPatient }: { readonly isPatient: boolean },
): Promise<OrderMarket> {
  /** Who waits for a broker that is away waits for this, too; who does not is told what was missing. */
  const orNull = (fault: unknown): null => {
    const isAway =
      fault instanceof BrokerUnavailable && !KEEPS_ITS_NAME.some((kind) => fault instanceof kind);
    if (isPatient || !isAway) throw fault;
    return null;
  };
  const [quote, balance] = await Promise.all([
    needsPrice(sizing) ? line.quote(instrument).catch(orNull) : null,
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
