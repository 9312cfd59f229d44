// What the exchange reads and says, in the words of its protocol. The connector (src/broker/paper/remote.ts) has its
// own reading of it, on purpose: a mistake in one of them shows.

import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import type {
  Broker,
  BrokerOrderState,
  Capabilities,
  Instrument,
  OpenOrder,
  Position,
  Quote,
} from '../src/broker/broker.ts';
import { type Decimal, parseDecimal } from '../src/domain/decimal.ts';
import { type ClientOrderId, millis, type Timestamp, timestamp } from '../src/domain/ids.ts';
import type { Arrival } from './exchange-desk.ts';
import { FAULTS, type FaultOrder } from './exchange-faults.ts';
import { PLAIN, type Span, type Traits } from './exchange-traits.ts';
import { MOMENTS, type TrapOrder } from './exchange-traps.ts';

export interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: object): Answer => ({ status: 200, body });
export const problem = (status: number, text: string): Answer => ({ status, body: { problem: text } });

/** A request that is not one of the protocol's. */
export class Malformed extends Error {}

const exactly = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

function read<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  if (Value.Check(schema, body)) return body as Static<Schema>;
  const [error] = Value.Errors(schema, body);
  throw new Malformed(`${error?.instancePath || 'the body'} ${error?.message ?? 'is not as agreed'}`);
}

const isTime = (text: string): boolean => {
  const ms = millis(text as Timestamp);
  return Number.isFinite(ms) && timestamp(ms) === text;
};

const Order = exactly({
  // No "#": a careless account numbers its copies with it.
  client_order_id: Type.Unsafe<ClientOrderId>(Type.String({ pattern: '^[\\w-]{1,64}$' })),
  symbol: Type.String({ minLength: 1 }),
  side: Type.Enum(['buy', 'sell']),
  quantity: Type.Refine(Type.Unsafe<Decimal>(Type.String()), (text) => parseDecimal(text) === text),
  reduce_only: Type.Boolean(),
  send_before: Type.Refine(Type.Unsafe<Timestamp>(Type.String()), isTime),
});

export function readOrder(body: unknown): Omit<Arrival, 'account' | 'asker' | 'arrivedAt'> {
  const { client_order_id, symbol, side, quantity, reduce_only, send_before } = read(Order, body);
  return {
    clientOrderId: client_order_id,
    symbol,
    side,
    quantity,
    reduceOnly: reduce_only,
    sendBefore: send_before,
  };
}

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

const ms = Type.Integer({ minimum: 0, maximum: 3_600_000 });
const span = Type.Union([exactly({ least: ms, most: ms }), Type.Null()]);

const TraitsRead = exactly({
  refuses_duplicates: Type.Optional(Type.Boolean()),
  reduce_only: Type.Optional(Type.Boolean()),
  fills_after_ms: Type.Optional(Type.Unsafe<Span | null>(span)),
  forgets_ids_after_ms: Type.Optional(Type.Unsafe<Span | null>(span)),
  limits: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Null()])),
});

/** What is not said is plain. */
export function readTraits(body: unknown): Traits {
  const told = read(TraitsRead, body);
  return {
    refusesDuplicates: told.refuses_duplicates ?? PLAIN.refusesDuplicates,
    reduceOnly: told.reduce_only ?? PLAIN.reduceOnly,
    fillsAfterMs: told.fills_after_ms ?? PLAIN.fillsAfterMs,
    forgetsIdsAfterMs: told.forgets_ids_after_ms ?? PLAIN.forgetsIdsAfterMs,
    limits: told.limits ?? PLAIN.limits,
  };
}

const names = Type.Array(Type.String(), { minItems: 1 });

const Fault = exactly({
  kind: Type.Enum([...FAULTS]),
  ttl_ms: ms,
  accounts: Type.Optional(names),
  askers: Type.Optional(names),
  calls: Type.Optional(Type.Enum(['all', 'orders', 'look_ups'])),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: Type.Optional(Type.Integer()),
  ms: Type.Optional(ms),
  taken: Type.Optional(Type.Boolean()),
  retry_after_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 9_999_999 })),
});
export const readFault = (body: unknown): FaultOrder => read(Fault, body) as FaultOrder;

const Trap = exactly({
  asker: Type.Union([Type.String(), Type.Null()]),
  at: Type.Enum([...MOMENTS]),
  within_ms: Type.Optional(ms),
  hold_ms: Type.Optional(ms),
});
export const readTrap = (body: unknown): TrapOrder => read(Trap, body) as TrapOrder;

export const tellConnected = (able: Capabilities, limits: string | null) => ({
  capabilities: {
    refuses_duplicate_ids: able.refusesDuplicateIds,
    // JSON has no word for ever.
    finds_by_client_id_ms: Number.isFinite(able.findsByClientIdMs) ? able.findsByClientIdMs : null,
    reduce_only: able.reduceOnly,
    fractional_quantities: able.fractionalQuantities,
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

/** Of a careless account's copies, what they were sent under. */
const sentUnder = (id: string): string => id.replace(/#\d+$/, '');

export const tellOpenOrder = (order: OpenOrder) => ({
  client_order_id: order.clientOrderId === null ? null : sentUnder(order.clientOrderId),
  broker_ref: order.brokerRef,
  symbol: order.symbol,
  side: order.side,
  quantity: order.quantity,
  fill_quantity: order.fillQuantity,
  reduce_only: order.reduceOnly,
});

export const tellOrder = (clientOrderId: string, state: BrokerOrderState) => ({
  client_order_id: sentUnder(clientOrderId),
  state: {
    broker_ref: state.brokerRef,
    status: state.status,
    fill_quantity: state.fillQuantity,
    fill_price: state.fillPrice,
    fee: state.fee,
    reason: state.reason,
  },
});
