// A leg of a reversal, for what is decided of it.

import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, type Timestamp, timestamp } from '../../src/domain/ids.ts';
import { clientOrderId, type Leg, type LegName, type LegStatus } from '../../src/domain/orders/order.ts';

export const legOfThree = (name: LegName, status: LegStatus, sentAt: Timestamp = timestamp(0)): Leg => ({
  leg: name,
  nth: 1,
  clientOrderId: clientOrderId('order' as OrderId, name),
  brokerRef: null,
  side: 'sell',
  quantity: decimal(3),
  status,
  fillPrice: null,
  fillQuantity: null,
  fee: null,
  instrument: 'BTCUSDT',
  unitValue: null,
  sentAt,
  ackedAt: null,
  filledAt: null,
});
