// The paper accounts at an exchange that is a process of its own, over HTTP. Which exchange is the operator's setting
// and not an account's: a URL that users choose would let them reach into the operator's network, and for the same
// reason no text from here names it. An answer is believed only where it is exactly what the protocol says.

import { type Static, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Decimal, parseDecimal, sign, ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, millis, type Timestamp, timestamp } from '../../domain/ids.ts';
import { plainJson, readJson } from '../../domain/json.ts';
import type { OrderError, RejectionCode } from '../../domain/order.ts';
import {
  type Broker,
  type BrokerOrderState,
  BrokerUnavailable,
  type Capabilities,
  type Instrument,
  type OpenBroker,
  type PlaceOutcome,
  type Position,
} from '../broker.ts';
import { invalidSymbol } from './engine.ts';

interface Exchange {
  /** A path in it is kept: the exchange may tell by it who asks. */
  readonly url: string;
  readonly timeoutMs: number;
  readonly fetch?: typeof globalThis.fetch;
}

export function openRemotePaper(exchange: Exchange): OpenBroker {
  const ask = asker(exchange);
  return async ({ id, paper }) => {
    const connected = await ask('POST', pathOf('accounts', id, 'connect'), { paper: paper ?? null });
    if ('fault' in connected) throw new BrokerUnavailable(connected.fault);
    const { status, body } = connected;
    if (status === 200 && CONNECTED.Check(body)) return connection(ask, id, capabilitiesOf(body));
    throw new BrokerUnavailable(
      status === 422 && PROBLEM.Check(body) ? body.problem : notAsAgreed(connected),
    );
  };
}

function connection(ask: Ask, account: string, capabilities: Capabilities): Broker {
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new BrokerUnavailable('The connection to the paper exchange is closed.');
  }

  /** `read` gives undefined where the answer is not one to this question. */
  async function question<Value>(path: string, read: (heard: Heard) => Value | undefined): Promise<Value> {
    checkOpen();
    const answer = await ask('GET', `${pathOf('accounts', account)}/${path}`);
    const value = 'fault' in answer ? undefined : read(answer);
    if (value !== undefined) return value;
    throw new BrokerUnavailable('fault' in answer ? answer.fault : notAsAgreed(answer));
  }

  const positions = () =>
    question('positions', ({ status, body }) =>
      status === 200 && POSITIONS.Check(body) ? body.items.map(positionOf) : undefined,
    );

  return {
    capabilities,

    async resolve(symbol) {
      checkOpen();
      // No URL can carry these two as a part of its path.
      if (symbol === '.' || symbol === '..') return { rejection: invalidSymbol(symbol) };
      return question(pathOf('instruments', symbol), ({ status, body }) => {
        if (status === 200 && INSTRUMENT.Check(body)) return instrumentOf(body);
        return status === 404 && UNLISTED.Check(body) ? { rejection: errorOf(body.rejection) } : undefined;
      });
    },

    instruments: (query) =>
      question(`instruments?${new URLSearchParams({ q: query })}`, ({ status, body }) =>
        status === 200 && INSTRUMENTS.Check(body) ? body.items.map(instrumentOf) : undefined,
      ),

    positions,

    position: async ({ symbol }) =>
      (await positions()).find((position) => position.symbol === symbol)?.quantity ?? ZERO,

    async place(order): Promise<PlaceOutcome> {
      checkOpen();
      const answer = await ask('POST', pathOf('accounts', account, 'orders'), {
        client_order_id: order.clientOrderId,
        symbol: order.instrument.symbol,
        side: order.side,
        quantity: order.quantity,
        reduce_only: order.reduceOnly,
        send_before: order.sendBefore,
      });
      if ('fault' in answer) {
        if (answer.isUnsent) throw new BrokerUnavailable(answer.fault);
        return { outcome: 'unknown', reason: answer.fault };
      }
      const { status, body, retryAfter } = answer;
      if (status === 200 && ORDER.Check(body) && body.client_order_id === order.clientOrderId)
        return { outcome: 'accepted', state: stateOf(body) };
      if (status === 422 && REJECTED.Check(body) && body.client_order_id === order.clientOrderId)
        return { outcome: 'rejected', error: errorOf(body.rejection) };
      // The exchange promises that it took nothing that it answers so, whatever the body.
      if (status === 429 && SECONDS.test(retryAfter))
        return { outcome: 'rejected', error: rateLimited(retryAfter) };
      return { outcome: 'unknown', reason: notAsAgreed(answer) };
    },

    find: (id) =>
      question(pathOf('orders', id), ({ status, body }) => {
        if (status === 200 && ORDER.Check(body) && body.client_order_id === id) return stateOf(body);
        // Many a proxy answers 404 for reasons of its own: only the exchange's own word, about this id, is a no.
        return status === 404 && NO_ORDER.Check(body) && body.client_order_id === id ? null : undefined;
      }),

    async close() {
      isClosed = true;
    },
  };
}

interface Heard {
  readonly status: number;
  readonly retryAfter: string;
  /** undefined: not JSON. */
  readonly body: unknown;
}

/** `isUnsent`: certainly nothing left us. */
type Answer = Heard | { readonly fault: string; readonly isUnsent: boolean };
type Ask = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Answer>;

const MOST_BYTES = 1_048_576;

function asker({ url, timeoutMs, fetch = globalThis.fetch }: Exchange): Ask {
  const { origin, pathname } = new URL(url);
  const base = origin + pathname.replace(/\/+$/, '');
  return async (method, path, body) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${base}/${path}`, {
        method,
        signal,
        redirect: 'error',
        ...(body && { headers: { 'content-type': 'application/json' }, body: once(body), duplex: 'half' }),
      });
      const reading = readJson(await readAtMost(MOST_BYTES, response));
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after') ?? '',
        body: 'value' in reading ? plainJson(reading.value)?.plain : undefined,
      };
    } catch (fault) {
      if (isUnsent(fault)) return { fault: 'The paper exchange cannot be reached.', isUnsent: true };
      const what = signal.aborted ? 'did not answer in time' : 'broke off';
      return { fault: `The paper exchange ${what}.`, isUnsent: false };
    }
  };
}

const pathOf = (...parts: string[]): string =>
  parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');

/** As a stream, because a text would be sent again by fetch itself after some answers (421 is one). */
const once = (body: object): ReadableStream => new Blob([JSON.stringify(body)]).stream();

async function readAtMost(most: number, { body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > most) throw new Error(`an answer of more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Where no connection came about, nothing was written to one. */
function isUnsent(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  if (fault instanceof AggregateError) return fault.errors.length > 0 && fault.errors.every(isUnsent);
  const { code, syscall, cause } = fault as NodeJS.ErrnoException;
  return (
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    isUnsent(cause)
  );
}

const notAsAgreed = ({ status }: Heard): string =>
  `The paper exchange answered with status ${status}, and not as agreed.`;

const SECONDS = /^[1-9]\d{0,4}$/;

const rateLimited = (retryAfter: string): OrderError => ({
  code: 'broker_rate_limited',
  message: `The paper exchange limits the rate of requests. Try again in ${retryAfter} seconds.`,
  retry_after: Number(retryAfter),
});

// The answers of the protocol. Every answer about an order names it.

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

const PROBLEM = Compile(exactly({ problem: text }));

const Connected = exactly({
  capabilities: exactly({
    refuses_duplicate_ids: Type.Boolean(),
    finds_by_client_id: Type.Boolean(),
    reduce_only: Type.Boolean(),
    fractional_quantities: Type.Boolean(),
  }),
});
const CONNECTED = Compile(Connected);

const capabilitiesOf = ({ capabilities }: Static<typeof Connected>): Capabilities => ({
  refusesDuplicateIds: capabilities.refuses_duplicate_ids,
  findsByClientId: capabilities.finds_by_client_id,
  reduceOnly: capabilities.reduce_only,
  fractionalQuantities: capabilities.fractional_quantities,
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
const INSTRUMENT = Compile(InstrumentAnswer);
const INSTRUMENTS = Compile(exactly({ items: Type.Array(InstrumentAnswer) }));

const instrumentOf = (answer: Static<typeof InstrumentAnswer>): Instrument => ({
  symbol: answer.symbol,
  description: answer.description,
  contractSize: answer.contract_size,
  quantityStep: answer.quantity_step,
  minQuantity: answer.min_quantity,
  tickSize: answer.tick_size,
  open: answer.open,
  nextOpen: answer.next_open,
});

const PositionAnswer = exactly({ symbol: text, quantity: numeral, average_price: numeral });
const POSITIONS = Compile(exactly({ items: Type.Array(PositionAnswer) }));

const positionOf = ({ symbol, quantity, average_price }: Static<typeof PositionAnswer>): Position => ({
  symbol,
  quantity,
  averagePrice: average_price,
});

const StateAnswer = Type.Refine(
  exactly({
    broker_ref: text,
    status: Type.Enum(['placed', 'partially_filled', 'filled', 'cancelled', 'failed']),
    fill_quantity: numeral,
    fill_price: orNull(numeral),
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
const OrderAnswer = exactly({ client_order_id: clientOrderId, state: StateAnswer });
const ORDER = Compile(OrderAnswer);
const NO_ORDER = Compile(exactly({ client_order_id: clientOrderId }));

const stateOf = ({ state }: Static<typeof OrderAnswer>): BrokerOrderState => ({
  brokerRef: state.broker_ref,
  status: state.status,
  fillQuantity: state.fill_quantity,
  fillPrice: state.fill_price,
  reason: state.reason,
});

/** What the exchange may refuse an order with. The other codes are ours to say. */
const CODES = [
  'insufficient_margin',
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
const UNLISTED = Compile(exactly({ rejection: Rejection }));
const REJECTED = Compile(exactly({ client_order_id: clientOrderId, rejection: Rejection }));

const errorOf = ({ code, message, retry_after, market_hours }: Static<typeof Rejection>): OrderError => ({
  code,
  message,
  ...(retry_after !== undefined && { retry_after }),
  ...(market_hours !== undefined && { market_hours }),
});
