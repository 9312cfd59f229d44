// An order of the ledger, as the port tells of it.

import { rounded } from '../../domain/decimal.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import type { OpenOrder } from '../broker.ts';
import type { PaperOrder } from './ledger.ts';

export const stateOf = ({
  brokerRef,
  status,
  fillQuantity,
  fillPrice,
  fee,
  reason,
}: PaperOrder): BrokerOrderState => ({
  brokerRef,
  status,
  fillQuantity,
  fillPrice,
  fee: fee && rounded(fee),
  reason,
});

export const openOrderOf = (order: PaperOrder): OpenOrder => ({
  clientOrderId: order.clientOrderId,
  brokerRef: order.brokerRef,
  symbol: order.symbol,
  side: order.side,
  quantity: order.quantity,
  fillQuantity: order.fillQuantity,
  reduceOnly: order.reduceOnly,
});
