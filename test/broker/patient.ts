// A broker as a test asks it: with time enough, and for an order by what was placed.

import assert from 'node:assert/strict';
import type {
  Broker,
  BrokerOrder,
  CancelQuery,
  Instrument,
  OpenOrder,
  OrderQuery,
  SentStop,
  StopOrder,
} from '../../src/broker/broker.ts';
import { timestamp } from '../../src/domain/ids.ts';

/** Longer than anything here takes. */
export const PATIENT_MS = 20_000;

export type PatientBroker = ReturnType<typeof patient>;

export function patient(broker: Broker, timeoutMs = PATIENT_MS) {
  const inTime = () => AbortSignal.timeout(timeoutMs);
  return {
    capabilities: broker.capabilities,
    limits: broker.limits,
    verify: () => broker.verify(inTime()),
    resolve: (symbol: string) => broker.resolve(symbol, inTime()),
    position: (instrument: BrokerOrder['instrument']) => broker.position(instrument, inTime()),
    positions: () => broker.positions(inTime()),
    instruments: (query: string, after: string | null = null, limit = 1000) =>
      broker.instruments({ query, after, limit }, inTime()),
    balance: () => broker.balance(inTime()),
    quote: (instrument: BrokerOrder['instrument']) => broker.quote(instrument, inTime()),
    place: (order: BrokerOrder) => broker.place(order, inTime()),
    find: (order: BrokerOrder, more: Partial<OrderQuery> = {}) =>
      broker.find({ ...queryOf(order), ...more }, inTime()),
    openOrders: () => broker.openOrders(inTime()),
    cancel: (order: OpenOrder & Pick<CancelQuery, 'isConditional'>) => broker.cancel(order, inTime()),
    close: () => broker.close(),
    /** Of a broker that keeps none, each call fails. */
    stops: {
      place: (stop: StopOrder) => stopsOf(broker).place(stop, inTime()),
      move: (stop: StopOrder, to: StopOrder, more: Partial<SentStop> = {}) => {
        const { move } = stopsOf(broker);
        assert.ok(move, 'the broker moves no stops');
        return move({ ...sentOf(stop), ...more }, to, inTime());
      },
      remove: (stop: StopOrder, more: Partial<SentStop> = {}) =>
        stopsOf(broker).remove({ ...sentOf(stop), ...more }, inTime()),
      standing: (instrument: Instrument) => stopsOf(broker).standing(instrument, inTime()),
      find: (stop: StopOrder, more: Partial<SentStop> = {}) =>
        stopsOf(broker).find({ ...sentOf(stop), ...more }, inTime()),
    },
  };
}

function stopsOf({ stops }: Broker) {
  assert.ok(stops, 'the broker keeps no stops');
  return stops;
}

export const sentOf = ({ clientOrderId, instrument, side, quantity, price }: StopOrder): SentStop => ({
  ...{ clientOrderId, brokerRef: null, symbol: instrument.symbol, side, quantity, price },
  sentAt: timestamp(Date.now()),
});

export const queryOf = ({ clientOrderId, instrument, side, quantity, trigger }: BrokerOrder): OrderQuery => ({
  clientOrderId,
  brokerRef: null,
  symbol: instrument.symbol,
  side,
  quantity,
  sentAt: timestamp(Date.now()),
  ...(trigger !== undefined && { isConditional: true }),
});
