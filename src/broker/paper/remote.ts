// The paper accounts at an exchange that is a process of its own, over HTTP. Which exchange is the operator's setting
// and not an account's: a URL that users choose would let them reach into the operator's network, and for the same
// reason no text from here names it. An answer is believed only where it is exactly what the protocol says.

import { ZERO } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { plainJson, readJson } from '../../domain/signals/json.ts';
import {
  type Balance,
  type Broker,
  BrokerBusy,
  BrokerUnavailable,
  type Capabilities,
  CredentialsRejected,
  type Fitness,
  type OpenBroker,
  type PlaceOutcome,
  type Quote,
  type StopOrder,
  type StopOutcome,
  type Stops,
} from '../broker.ts';
import { askWhole, baseAddress, isUnsent, send, type Wire } from '../wire.ts';
import { invalidSymbol } from './rejections.ts';
import {
  BALANCE,
  CANCELLED,
  CONNECTED,
  capabilitiesOf,
  errorOf,
  FITNESS,
  INSTRUMENT,
  INSTRUMENTS,
  instrumentOf,
  NO_ORDER,
  NO_REFERENCE,
  OPEN_ORDERS,
  ORDER,
  openOrderOf,
  POSITIONS,
  PROBLEM,
  positionOf,
  QUOTE,
  REJECTED,
  STOP,
  STOP_REFUSED,
  STOPS,
  standingOf,
  stateOf,
  stopStateOf,
  UNLISTED,
} from './remote-answers.ts';

interface Exchange {
  /** A path in it is kept: the exchange may tell by it who asks. */
  readonly url: string;
  readonly fetch?: Wire;
}

export function openRemotePaper(exchange: Exchange): OpenBroker {
  const ask = asker(exchange);
  return async ({ id, paper }, signal) => {
    const connected = await ask(signal, 'POST', pathOf('accounts', id, 'connect'), { paper: paper ?? null });
    if ('fault' in connected) throw new BrokerUnavailable(connected.fault);
    const { status, body } = connected;
    if (status === 200 && CONNECTED.Check(body))
      return connection(ask, id, { capabilities: capabilitiesOf(body), limits: body.limits ?? id });
    if (status === 422 && PROBLEM.Check(body)) throw new BrokerUnavailable(body.problem);
    throw unanswered(connected);
  };
}

function connection(
  ask: Ask,
  account: string,
  { capabilities, limits }: { readonly capabilities: Capabilities; readonly limits: string },
): Broker {
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new BrokerUnavailable('The connection to the paper exchange is closed.');
  }

  /** `read` gives undefined where the answer is not one to this question. */
  async function question<Value>(
    signal: AbortSignal,
    path: string,
    read: (heard: Heard) => Value | undefined,
    body?: object,
  ): Promise<Value> {
    checkOpen();
    const method = body ? 'POST' : 'GET';
    const answer = await ask(signal, method, `${pathOf('accounts', account)}/${path}`, body);
    const value = 'fault' in answer ? undefined : read(answer);
    if (value === undefined) throw unanswered(answer);
    return value;
  }

  /** It may have been taken, whatever comes back: `read` gives undefined where that is no answer to it. */
  async function send<Outcome>(
    signal: AbortSignal,
    path: string,
    body: object,
    read: (heard: Heard) => Outcome | undefined,
  ): Promise<Outcome | { readonly outcome: 'unknown'; readonly reason: string }> {
    checkOpen();
    const answer = await ask(signal, 'POST', pathOf('accounts', account, path), body);
    if ('fault' in answer) {
      if (answer.isUnsent) throw new BrokerUnavailable(answer.fault);
      return { outcome: 'unknown', reason: answer.fault };
    }
    const outcome = read(answer);
    if (outcome !== undefined) return outcome;
    // The exchange promises that it took nothing that it answers so, whatever the body.
    if (answer.status === 429 && SECONDS.test(answer.retryAfter)) throw tooFast(answer);
    if (isDenied(answer)) throw unanswered(answer);
    return { outcome: 'unknown', reason: notAsAgreed(answer) };
  }

  /** `moves`: under which id the one stands that is to be so from now on. */
  const sendStop = (stop: StopOrder, signal: AbortSignal, moves?: ClientOrderId): Promise<StopOutcome> =>
    send<StopOutcome>(
      signal,
      'stops',
      {
        client_order_id: stop.clientOrderId,
        symbol: stop.instrument.symbol,
        side: stop.side,
        quantity: capabilities.stop === 'position' ? null : stop.quantity,
        price: stop.price,
        trigger_by: stop.triggerBy,
        ...(moves !== undefined && { moves }),
      },
      ({ status, body }) => {
        // Where another takes the place of the first, it has the first one's name.
        const isIt = (id: ClientOrderId) =>
          id === stop.clientOrderId || id === moves || capabilities.moves === 'set';
        if (status === 200 && STOP.Check(body) && isIt(body.client_order_id))
          return { outcome: 'accepted', clientOrderId: body.client_order_id, brokerRef: body.broker_ref };
        if (status === 422 && STOP_REFUSED.Check(body) && body.client_order_id === stop.clientOrderId)
          return { outcome: 'rejected', why: body.why, words: body.words };
        return undefined;
      },
    );

  const stops: Stops = {
    place: (stop, signal) => sendStop(stop, signal),

    ...(capabilities.moves === 'amend' && {
      move: ({ clientOrderId }, to, signal) => sendStop(to, signal, clientOrderId),
    }),

    async remove({ clientOrderId: id }, signal) {
      await question(
        signal,
        'remove_stop',
        ({ status, body }) =>
          status === 200 && NO_ORDER.Check(body) && body.client_order_id === id ? true : undefined,
        { client_order_id: id },
      );
    },

    standing: ({ symbol }, signal) =>
      question(signal, `stops?${new URLSearchParams({ symbol })}`, ({ status, body }) =>
        status === 200 && STOPS.Check(body) && body.symbol === symbol && body.items.every(isStanding)
          ? body.items.map(standingOf)
          : undefined,
      ),

    find: ({ clientOrderId: id }, signal) =>
      question(signal, pathOf('stops', id), ({ status, body }) => {
        if (status === 200 && STOP.Check(body) && body.client_order_id === id) return stopStateOf(body);
        return status === 404 && NO_ORDER.Check(body) && body.client_order_id === id ? null : undefined;
      }),
  };

  const positions = (signal: AbortSignal) =>
    question(signal, 'positions', ({ status, body }) =>
      status === 200 && POSITIONS.Check(body) ? body.items.map(positionOf) : undefined,
    );

  return {
    capabilities,
    limits: `paper:${limits}`,

    verify: (signal) =>
      question(signal, 'fitness', ({ status, body }): Fitness | undefined =>
        status === 200 && FITNESS.Check(body) ? body : undefined,
      ),

    async resolve(symbol, signal) {
      checkOpen();
      // No URL can carry these two as a part of its path.
      if (symbol === '.' || symbol === '..') return { rejection: invalidSymbol(symbol) };
      return question(signal, pathOf('instruments', symbol), ({ status, body }) => {
        if (status === 200 && INSTRUMENT.Check(body)) return instrumentOf(body);
        return status === 404 && UNLISTED.Check(body) ? { rejection: errorOf(body.rejection) } : undefined;
      });
    },

    async instruments({ query, after, limit }, signal) {
      const search = { q: query, limit: String(limit), ...(after !== null && { after }) };
      return question(signal, `instruments?${new URLSearchParams(search)}`, ({ status, body }) =>
        status === 200 && INSTRUMENTS.Check(body) ? body.items.map(instrumentOf) : undefined,
      );
    },

    quote: ({ symbol }, signal) =>
      question(signal, pathOf('quotes', symbol), ({ status, body }): Quote | undefined =>
        status === 200 && QUOTE.Check(body) && body.symbol === symbol
          ? { bid: body.bid, ask: body.ask }
          : undefined,
      ),

    positions,

    position: async ({ symbol }, signal) =>
      (await positions(signal)).find((position) => position.symbol === symbol)?.quantity ?? ZERO,

    balance: (signal) =>
      question(signal, 'balance', ({ status, body }): Balance | undefined =>
        status === 200 && BALANCE.Check(body) ? body : undefined,
      ),

    place: (order, signal) =>
      send<PlaceOutcome>(
        signal,
        'orders',
        {
          client_order_id: order.clientOrderId,
          symbol: order.instrument.symbol,
          side: order.side,
          quantity: order.quantity,
          reduce_only: order.reduceOnly,
          send_before: order.sendBefore,
          ...(order.limit !== undefined && { limit: order.limit }),
          ...(order.trigger !== undefined && { trigger: order.trigger }),
          ...(order.timeInForce !== undefined && { time_in_force: order.timeInForce }),
          ...(order.stop !== undefined && { stop: order.stop }),
        },
        ({ status, body }) => {
          if (status === 200 && ORDER.Check(body) && body.client_order_id === order.clientOrderId)
            return { outcome: 'accepted', state: stateOf(body) };
          if (status === 422 && REJECTED.Check(body) && body.client_order_id === order.clientOrderId)
            return { outcome: 'rejected', error: errorOf(body.rejection) };
          return undefined;
        },
      ),

    // Many a proxy answers 404 for reasons of its own: only the exchange's own word, about this id, is a no.
    find({ clientOrderId: id, brokerRef: ref }, signal) {
      const isIt = (body: unknown) => ORDER.Check(body) && body.client_order_id === id && body;
      if (ref === null)
        return question(signal, pathOf('orders', id), ({ status, body }) => {
          const order = status === 200 && isIt(body);
          if (order) return stateOf(order);
          return status === 404 && NO_ORDER.Check(body) && body.client_order_id === id ? null : undefined;
        });
      // The exchange may forget our ids, and never its own.
      return question(signal, pathOf('references', ref), ({ status, body }) => {
        const order = status === 200 && isIt(body);
        if (order && order.state.broker_ref === ref) return stateOf(order);
        return status === 404 && NO_REFERENCE.Check(body) && body.broker_ref === ref ? null : undefined;
      });
    },

    openOrders: (signal) =>
      question(signal, 'orders', ({ status, body }) =>
        status === 200 && OPEN_ORDERS.Check(body) ? body.items.map(openOrderOf) : undefined,
      ),

    async cancel({ brokerRef }, signal) {
      await question(
        signal,
        'cancel',
        ({ status, body }) =>
          status === 200 && CANCELLED.Check(body) && body.broker_ref === brokerRef ? true : undefined,
        { broker_ref: brokerRef },
      );
    },

    ...(capabilities.stop !== 'none' && { stops }),

    async close() {
      isClosed = true;
    },
  };
}

const isStanding = ({ status }: { readonly status: string }): boolean => status === 'standing';

interface Heard {
  readonly status: number;
  readonly retryAfter: string;
  readonly retryAfterMs: string;
  /** undefined: not JSON. */
  readonly body: unknown;
}

/** `isUnsent`: certainly nothing left us. */
type Answer = Heard | { readonly fault: string; readonly isUnsent: boolean };
type Ask = (signal: AbortSignal, method: 'GET' | 'POST', path: string, body?: object) => Promise<Answer>;

function asker({ url, fetch = send }: Exchange): Ask {
  const base = baseAddress(url);
  return async (signal, method, path, body) => {
    if (signal.aborted) return { fault: 'The paper exchange was not asked in time.', isUnsent: true };
    try {
      const { status, headers, bytes } = await askWhole(fetch, `${base}/${path}`, {
        method,
        signal,
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const reading = readJson(bytes);
      return {
        status,
        retryAfter: headers.get('retry-after') ?? '',
        retryAfterMs: headers.get('retry-after-ms') ?? '',
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

const notAsAgreed = ({ status }: Heard): string =>
  `The paper exchange answered with status ${status}, and not as agreed.`;

/** It knows the account by its address, and may refuse it as any broker refuses a key. */
const isDenied = ({ status, body }: Heard): boolean => status === 401 && PROBLEM.Check(body);

const SECONDS = /^[1-9]\d{0,4}$/;
const MILLISECONDS = /^[1-9]\d{0,7}$/;

/** Of a question that got no answer which could be believed. */
function unanswered(answer: Answer): BrokerUnavailable {
  if ('fault' in answer) return new BrokerUnavailable(answer.fault);
  if (isDenied(answer)) return new CredentialsRejected('The paper exchange refuses the account.');
  return answer.status === 429 ? tooFast(answer) : new BrokerUnavailable(notAsAgreed(answer));
}

/** The header of HTTP has whole seconds only; the exchange's own is more exact. */
function tooFast({ retryAfter, retryAfterMs }: Heard): BrokerBusy {
  const seconds = SECONDS.test(retryAfter) ? Number(retryAfter) : 1;
  const ms = MILLISECONDS.test(retryAfterMs) ? Number(retryAfterMs) : seconds * 1000;
  return new BrokerBusy('The paper exchange limits the rate of requests.', ms);
}
