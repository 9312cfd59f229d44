// What the paper exchange's answers must be to be believed. Every answer about an order names it.

import { type Static, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { MOVES, STOPS as STOP_KINDS, TIMES_IN_FORCE } from '../../domain/capabilities.ts';
import { type Decimal, parseDecimal, sign } from '../../domain/decimal.ts';
import { type ClientOrderId, millis, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { OrderError, RejectionCode } from '../../domain/orders/order.ts';
import {
  type BrokerOrderState,
  type Capabilities,
  type Instrument,
  type OpenOrder,
  type Position,
  type StandingStop,
  type StopState,
  TRADABLE,
} from '../broker.ts';

const exactly = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

const text = Type.String({ minLength: 1 });
const numeral = Type.Refine(Type.Unsafe<Decimal>(Type.String()), (value) => parseDecimal(value) === value);
const size = Type.Refine(numeral, (value) => sign(value) > 0);
const time = Type.Refine(Type.Unsafe<Timestamp>(Type.String()), (value) => {
  const ms = millis(value);
  return Number.isFinite(ms) && timestamp(ms) === value;
});
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const clientOrderId = Type.Unsafe<ClientOrderId>(Type.String());

export const PROBLEM = Compile(exactly({ problem: text }));

const Connected = exactly({
  capabilities: exactly({
    refuses_duplicate_ids: Type.Boolean(),
    // null: for ever
    finds_by_client_id_ms: orNull(Type.Number({ minimum: 0 })),
    reduce_only: Type.Boolean(),
    fractional_quantities: Type.Boolean(),
    stop: Type.Enum([...STOP_KINDS]),
    moves: Type.Enum([...MOVES]),
    reserves: Type.Boolean(),
    stop_entries: Type.Boolean(),
    time_in_force: Type.Array(Type.Enum([...TIMES_IN_FORCE])),
  }),
  // null: nobody shares this account's limit
  limits: orNull(text),
});
export const CONNECTED = Compile(Connected);

export const capabilitiesOf = ({ capabilities }: Static<typeof Connected>): Capabilities => ({
  refusesDuplicateIds: capabilities.refuses_duplicate_ids,
  findsByClientIdMs: capabilities.finds_by_client_id_ms ?? Number.POSITIVE_INFINITY,
  reduceOnly: capabilities.reduce_only,
  fractionalQuantities: capabilities.fractional_quantities,
  stop: capabilities.stop,
  moves: capabilities.moves,
  reserves: capabilities.reserves,
  stopEntries: capabilities.stop_entries,
  timeInForce: capabilities.time_in_force,
});

const InstrumentAnswer = exactly({
  symbol: text,
  description: Type.String(),
  contract_size: size,
  quantity_step: size,
  min_quantity: size,
  tick_size: size,
  open: Type.Boolean(),
  next_open: orNull(time),
});
export const INSTRUMENT = Compile(InstrumentAnswer);
export const INSTRUMENTS = Compile(exactly({ items: Type.Array(InstrumentAnswer) }));

export const instrumentOf = (answer: Static<typeof InstrumentAnswer>): Instrument => ({
  symbol: answer.symbol,
  description: answer.description,
  contractSize: answer.contract_size,
  quantityStep: answer.quantity_step,
  minQuantity: answer.min_quantity,
  tickSize: answer.tick_size,
  open: answer.open,
  nextOpen: answer.next_open,
});

export const FITNESS = Compile(exactly({ warnings: Type.Array(text) }));
export const QUOTE = Compile(exactly({ symbol: text, bid: size, ask: size }));
export const BALANCE = Compile(
  exactly({ currency: text, equity: numeral, cash: numeral, available: numeral }),
);

const PositionAnswer = exactly({
  symbol: text,
  quantity: numeral,
  average_price: numeral,
  last_price: orNull(numeral),
  open_profit: orNull(numeral),
});
export const POSITIONS = Compile(exactly({ items: Type.Array(PositionAnswer) }));

export const positionOf = (answer: Static<typeof PositionAnswer>): Position => ({
  symbol: answer.symbol,
  quantity: answer.quantity,
  averagePrice: answer.average_price,
  lastPrice: answer.last_price,
  openProfit: answer.open_profit,
  ...TRADABLE,
});

const OpenOrderAnswer = exactly({
  client_order_id: orNull(clientOrderId),
  broker_ref: text,
  symbol: text,
  side: Type.Enum(['buy', 'sell']),
  quantity: size,
  fill_quantity: numeral,
  reduce_only: Type.Boolean(),
});
export const OPEN_ORDERS = Compile(exactly({ items: Type.Array(OpenOrderAnswer) }));
export const CANCELLED = Compile(exactly({ broker_ref: text }));

export const openOrderOf = (answer: Static<typeof OpenOrderAnswer>): OpenOrder => ({
  clientOrderId: answer.client_order_id,
  brokerRef: answer.broker_ref,
  symbol: answer.symbol,
  side: answer.side,
  quantity: answer.quantity,
  fillQuantity: answer.fill_quantity,
  reduceOnly: answer.reduce_only,
});

const brokerState = Type.Refine(
  exactly({
    broker_ref: orNull(text),
    status: Type.Enum(['placed', 'partially_filled', 'filled', 'cancelled', 'failed']),
    fill_quantity: numeral,
    fill_price: orNull(numeral),
    fee: orNull(numeral),
    reason: orNull(Type.String()),
  }),
  // A price exactly where something was filled, and what the status says was.
  ({ status, fill_quantity, fill_price }) => {
    const filled = sign(fill_quantity);
    if (filled < 0 || filled > 0 !== (fill_price !== null)) return false;
    if (status === 'placed') return filled === 0;
    return filled > 0 || status === 'cancelled' || status === 'failed';
  },
);
const OrderAnswer = exactly({ client_order_id: clientOrderId, state: brokerState });
export const ORDER = Compile(OrderAnswer);
export const NO_ORDER = Compile(exactly({ client_order_id: clientOrderId }));
export const NO_REFERENCE = Compile(exactly({ broker_ref: text }));

export const stateOf = ({ state }: Static<typeof OrderAnswer>): BrokerOrderState => readState(state);

const readState = (state: Static<typeof brokerState>): BrokerOrderState => ({
  brokerRef: state.broker_ref,
  status: state.status,
  fillQuantity: state.fill_quantity,
  fillPrice: state.fill_price,
  fee: state.fee,
  reason: state.reason,
});

/** What the exchange may refuse an order with. The other codes are ours to say. */
const CODES = [
  'insufficient_margin',
  'invalid_price',
  'market_closed',
  'invalid_symbol',
  'invalid_quantity',
  'broker_rate_limited',
  'position_mode_mismatch',
  'no_position',
  'expired',
] as const satisfies readonly RejectionCode[];

const Rejection = Type.Refine(
  exactly({
    code: Type.Enum([...CODES]),
    message: text,
    retry_after: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    market_hours: Type.Optional(exactly({ timezone: text, session: text, next_open: time })),
  }),
  ({ code, retry_after, market_hours }) =>
    (code === 'broker_rate_limited') === (retry_after !== undefined) &&
    (code === 'market_closed') === (market_hours !== undefined),
);
export const UNLISTED = Compile(exactly({ rejection: Rejection }));
export const REJECTED = Compile(exactly({ client_order_id: clientOrderId, rejection: Rejection }));

export const errorOf = ({
  code,
  message,
  retry_after,
  market_hours,
}: Static<typeof Rejection>): OrderError => ({
  code,
  message,
  ...(retry_after !== undefined && { retry_after }),
  ...(market_hours !== undefined && { market_hours }),
});

const StopAnswer = Type.Refine(
  exactly({
    client_order_id: clientOrderId,
    broker_ref: text,
    symbol: text,
    side: Type.Enum(['buy', 'sell']),
    // null: all that is held
    quantity: orNull(size),
    price: size,
    status: Type.Enum(['standing', 'triggered', 'cancelled', 'expired', 'rejected']),
    order: orNull(brokerState),
    reason: orNull(Type.String()),
  }),
  // It became an order exactly where it was triggered.
  ({ status, order }) => (status === 'triggered') === (order !== null),
);
export const STOP = Compile(StopAnswer);
export const STOPS = Compile(exactly({ symbol: text, items: Type.Array(StopAnswer) }));
export const STOP_REFUSED = Compile(
  exactly({
    client_order_id: clientOrderId,
    why: Type.Enum(['passed', 'no_position', 'gone', 'refused']),
    words: text,
  }),
);

export const standingOf = (answer: Static<typeof StopAnswer>): StandingStop => ({
  clientOrderId: answer.client_order_id,
  brokerRef: answer.broker_ref,
  side: answer.side,
  price: answer.price,
  quantity: answer.quantity,
});

export const stopStateOf = (answer: Static<typeof StopAnswer>): StopState => ({
  brokerRef: answer.broker_ref,
  status: answer.status === 'standing' || answer.status === 'triggered' ? answer.status : 'ended',
  order: answer.order && readState(answer.order),
  reason: answer.reason,
  ...(answer.status === 'expired' && { hasExpired: true }),
});
