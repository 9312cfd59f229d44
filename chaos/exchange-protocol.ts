// What the exchange reads and says, in the words of its protocol. The connector (src/broker/paper/remote.ts) has its
// own reading of it, on purpose: a mistake in one of them shows.

import { Type } from 'typebox';
import type { Broker, Capabilities, Instrument, OpenOrder, Position, Quote } from '../src/broker/broker.ts';
import { TIMES_IN_FORCE } from '../src/domain/capabilities.ts';
import { type Decimal, parseDecimal } from '../src/domain/decimal.ts';
import { millis, type Timestamp, timestamp } from '../src/domain/ids.ts';
import { exactly, read } from './exchange-control.ts';
import type { Answer, AskedOrder, SeenOrder, SeenStop, StopVisit } from './exchange-dialect.ts';
import { sentUnder } from './exchange-office.ts';

export const ok = (body: object): Answer => ({ status: 200, body });
export const problem = (status: number, text: string): Answer => ({ status, body: { problem: text } });

const isTime = (text: string): boolean => {
  const ms = millis(text as Timestamp);
  return Number.isFinite(ms) && timestamp(ms) === text;
};

const amount = Type.Refine(Type.Unsafe<Decimal>(Type.String()), (text) => parseDecimal(text) === text);
// No "#": a careless account numbers its copies with it.
const clientOrderId = Type.String({ pattern: '^[\\w-]{1,64}$' });

const Order = exactly({
  client_order_id: clientOrderId,
  symbol: Type.String({ minLength: 1 }),
  side: Type.Enum(['buy', 'sell']),
  quantity: amount,
  reduce_only: Type.Boolean(),
  limit: Type.Optional(amount),
  trigger: Type.Optional(amount),
  time_in_force: Type.Optional(Type.Enum([...TIMES_IN_FORCE])),
  stop: Type.Optional(amount),
  send_before: Type.Refine(Type.Unsafe<Timestamp>(Type.String()), isTime),
});

export function readOrder(body: unknown): AskedOrder {
  const asked = read(Order, body);
  const { client_order_id, symbol, side, quantity, reduce_only, send_before } = asked;
  const { limit, trigger, time_in_force, stop } = asked;
  return {
    clientOrderId: client_order_id,
    symbol,
    side,
    quantity,
    reduceOnly: reduce_only,
    sendBefore: millis(send_before),
    ...(limit !== undefined && { limit }),
    ...(trigger !== undefined && { trigger }),
    ...(time_in_force !== undefined && { timeInForce: time_in_force }),
    ...(stop !== undefined && { stop }),
  };
}

const Stop = exactly({
  client_order_id: clientOrderId,
  symbol: Type.String({ minLength: 1 }),
  side: Type.Enum(['buy', 'sell']),
  // null: all that is held
  quantity: Type.Union([amount, Type.Null()]),
  price: amount,
  trigger_by: Type.Enum(['last', 'mark']),
  moves: Type.Optional(Type.String({ minLength: 1 })),
});

export function readStop(body: unknown): StopVisit['stop'] {
  const { client_order_id, trigger_by, moves, ...stop } = read(Stop, body);
  return {
    ...stop,
    clientOrderId: client_order_id,
    triggerBy: trigger_by,
    ...(moves !== undefined && { moves }),
  };
}

export const readRemoval = (body: unknown): string =>
  read(exactly({ client_order_id: clientOrderId }), body).client_order_id;

export const readCancel = (body: unknown): string =>
  read(exactly({ broker_ref: Type.String({ minLength: 1 }) }), body).broker_ref;

const Search = exactly({
  q: Type.String(),
  after: Type.Optional(Type.String()),
  limit: Type.String({ pattern: '^[1-9]\\d{0,4}$' }),
});

export function readSearch(query: URLSearchParams): Parameters<Broker['instruments']>[0] {
  const { q, after, limit } = read(Search, Object.fromEntries(query));
  return { query: q, after: after ?? null, limit: Number(limit) };
}

export const readConnect = (body: unknown): unknown => read(exactly({ paper: Type.Unknown() }), body).paper;

export const tellConnected = (able: Capabilities, limits: string | null) => ({
  capabilities: {
    refuses_duplicate_ids: able.refusesDuplicateIds,
    // JSON has no word for ever.
    finds_by_client_id_ms: Number.isFinite(able.findsByClientIdMs) ? able.findsByClientIdMs : null,
    reduce_only: able.reduceOnly,
    fractional_quantities: able.fractionalQuantities,
    stop: able.stop,
    moves: able.moves,
    reserves: able.reserves,
    stop_entries: able.stopEntries,
    time_in_force: able.timeInForce,
  },
  limits,
});

export const tellInstrument = (instrument: Instrument) => ({
  symbol: instrument.symbol,
  description: instrument.description,
  contract_size: instrument.contractSize,
  quantity_step: instrument.quantityStep,
  min_quantity: instrument.minQuantity,
  tick_size: instrument.tickSize,
  open: instrument.open,
  next_open: instrument.nextOpen,
});

export const tellPosition = (position: Position) => ({
  symbol: position.symbol,
  quantity: position.quantity,
  average_price: position.averagePrice,
  last_price: position.lastPrice,
  open_profit: position.openProfit,
});

export const tellQuote = (symbol: string, { bid, ask }: Quote) => ({ symbol, bid, ask });

export const tellOpenOrder = (order: OpenOrder) => ({
  client_order_id: order.clientOrderId === null ? null : sentUnder(order.clientOrderId),
  broker_ref: order.brokerRef,
  symbol: order.symbol,
  side: order.side,
  quantity: order.quantity,
  fill_quantity: order.fillQuantity,
  reduce_only: order.reduceOnly,
});

export const tellOrder = (order: SeenOrder) => ({
  client_order_id: order.clientOrderId,
  state: tellState(order),
});

const tellState = (order: SeenOrder) => ({
  broker_ref: order.ref,
  status: order.status,
  fill_quantity: order.fillQuantity,
  fill_price: order.fillPrice,
  fee: order.fee,
  reason: order.reason,
});

export const tellStop = (stop: SeenStop) => ({
  client_order_id: stop.clientOrderId,
  broker_ref: stop.ref,
  symbol: stop.symbol,
  side: stop.side,
  quantity: stop.quantity,
  price: stop.price,
  status: stop.status,
  order: stop.order && tellState(stop.order),
  reason: stop.reason,
});
