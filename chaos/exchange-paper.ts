// The exchange's own language, which the paper broker's connector (src/broker/paper/remote.ts) speaks:
// `/accounts/a/orders/o`, or `/w1/accounts/a/orders/o` where the asker is w1.

import { BrokerUnavailable } from '../src/broker/broker.ts';
import { RETRY_AFTER_SECONDS } from '../src/broker/paper/rejections.ts';
import { ZERO } from '../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../src/domain/ids.ts';
import { readJson } from './exchange-control.ts';
import { type Desk, PATIENT } from './exchange-desk.ts';
import {
  type Answer,
  type Dialect,
  type Office,
  type OtherVisit,
  type StopRefusalCode,
  type StopTaken,
  type Taken,
  turnedAway,
  type Visit,
  type WireRequest,
} from './exchange-dialect.ts';
import * as protocol from './exchange-protocol.ts';
import { ok, problem } from './exchange-protocol.ts';
import { PLAIN } from './exchange-traits.ts';

export const NOT_FOUND = problem(404, 'There is nothing here.');

export const paper: Dialect = {
  roots: ['accounts'],
  traits: PLAIN,
  markets: null,
  refs: {
    tell: (digest) => `paper-${digest}`,
    read: (ref) => (/^paper-[\da-f]{20}$/.test(ref) ? ref.slice('paper-'.length) : null),
  },
  idFields: ['client_order_id', 'broker_ref'],
  sample: ok(
    protocol.tellOrder({
      clientOrderId: 'none',
      ref: 'none',
      symbol: 'none',
      side: 'buy',
      quantity: ZERO,
      reduceOnly: false,
      status: 'placed',
      fillQuantity: ZERO,
      fillPrice: null,
      fee: null,
      reason: null,
      limit: null,
      trigger: null,
      waitedFor: null,
      acceptedAt: 0,
      updatedAt: 0,
    }),
  ),
  busy: (ms) => ({
    ...problem(429, 'Too many requests.'),
    headers: { 'retry-after': `${Math.ceil(ms / 1000)}`, 'retry-after-ms': `${ms}` },
  }),
  down: (text) => problem(503, text),
  denied: problem(401, 'The credentials are refused.'),
  open: (office, desk) => (request) => read(desk, office, request),
};

/** "POST orders", "GET orders/", …: a name after it makes it another one. */
function read(desk: Desk, office: Office, { method, path, query, body }: WireRequest): Visit {
  const [, id, what, ...names] = path.split('/').slice(1).map(decodeURIComponent);
  if (!id || names.length > 1) return turnedAway(NOT_FOUND);
  const account = id as AccountId;
  const [name = ''] = names;
  const asked = `${method} ${what}${names.length > 0 ? '/' : ''}`;
  const json = readJson(body);
  if (asked === 'POST orders') {
    const order = protocol.readOrder(json);
    return { what: 'order', account, order, tell: (taken) => tell(order.clientOrderId, taken) };
  }
  if (asked === 'POST stops') {
    const stop = protocol.readStop(json);
    return { what: 'stop', account, stop, tell: (taken) => tellOfStop(stop.clientOrderId, taken) };
  }
  return {
    what: KINDS[asked] ?? 'other',
    account,
    answer: () => answerTo(desk, office, { account, asked, name, query, body: json }),
  };
}

const KINDS: Readonly<Record<string, OtherVisit['what']>> = {
  'GET orders/': 'look_up',
  'GET references/': 'look_up',
  'GET stops/': 'look_up',
  'GET positions': 'positions',
  'POST cancel': 'cancel',
};

function tell(clientOrderId: string, taken: Taken): Answer {
  // Where an id is known already, the order under it is the answer.
  if (taken.order) return ok(protocol.tellOrder(taken.order));
  const rejection = taken.outcome === 'refused' ? taken.error : null;
  return { status: 422, body: { client_order_id: clientOrderId, rejection } };
}

function tellOfStop(clientOrderId: string, taken: StopTaken): Answer {
  if (taken.outcome === 'accepted') return ok(protocol.tellStop(taken.stop));
  // Where an id is known already, the stop under it is the answer.
  if (taken.stop !== null) return ok(protocol.tellStop(taken.stop));
  const { code, message } = taken;
  if (code === 'broker_rate_limited') return paper.busy(RETRY_AFTER_SECONDS * 1_000);
  return {
    status: 422,
    body: { client_order_id: clientOrderId, why: WHY[code] ?? 'refused', words: message },
  };
}

const WHY: Partial<Record<StopRefusalCode, string>> = {
  would_trigger: 'passed',
  no_position: 'no_position',
  not_found: 'gone',
};

interface Call {
  readonly account: AccountId;
  readonly asked: string;
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

async function answerTo(desk: Desk, office: Office, call: Call): Promise<Answer> {
  const { account, asked, name, query, body } = call;
  switch (asked) {
    case 'POST connect':
      return connect(desk, account, protocol.readConnect(body));
    case 'GET instruments': {
      const found = await desk.brokerOf(account).instruments(protocol.readSearch(query), PATIENT);
      return ok({ items: found.map(protocol.tellInstrument) });
    }
    case 'GET instruments/': {
      const found = await desk.brokerOf(account).resolve(name, PATIENT);
      return 'rejection' in found ? { status: 404, body: found } : ok(protocol.tellInstrument(found));
    }
    case 'GET positions': {
      const positions = await desk.positions(account);
      return ok({ items: positions.map(protocol.tellPosition) });
    }
    case 'GET orders/': {
      const order = await office.find(account, name as ClientOrderId);
      return order ? ok(protocol.tellOrder(order)) : { status: 404, body: { client_order_id: name } };
    }
    case 'GET references/': {
      const order = await office.findByRef(account, name);
      return order ? ok(protocol.tellOrder(order)) : { status: 404, body: { broker_ref: name } };
    }
    case 'GET orders': {
      const open = await desk.brokerOf(account).openOrders(PATIENT);
      return ok({ items: open.map(protocol.tellOpenOrder) });
    }
    case 'POST cancel': {
      const ref = protocol.readCancel(body);
      await office.cancel(account, ref);
      return ok({ broker_ref: ref });
    }
    case 'GET stops': {
      const symbol = query.get('symbol');
      const stops = await office.stops(account);
      const standing = stops.filter((stop) => stop.status === 'standing' && stop.symbol === symbol);
      return ok({ symbol, items: standing.map(protocol.tellStop) });
    }
    case 'GET stops/': {
      const stop = (await office.stops(account)).find(({ clientOrderId }) => clientOrderId === name);
      return stop ? ok(protocol.tellStop(stop)) : { status: 404, body: { client_order_id: name } };
    }
    case 'POST remove_stop': {
      const id = protocol.readRemoval(body);
      for (const stop of await office.stops(account))
        if (stop.clientOrderId === id && stop.status === 'standing')
          await office.removeStop(account, stop.ref);
      return ok({ client_order_id: id });
    }
    case 'GET quotes/': {
      const found = await desk.brokerOf(account).resolve(name, PATIENT);
      if ('rejection' in found) return { status: 404, body: found };
      return ok(protocol.tellQuote(name, await desk.brokerOf(account).quote(found, PATIENT)));
    }
    case 'GET balance':
      return ok(await desk.brokerOf(account).balance(PATIENT));
    case 'GET fitness':
      return ok(await desk.brokerOf(account).verify(PATIENT));
    default:
      return NOT_FOUND;
  }
}

async function connect(desk: Desk, account: AccountId, settings: unknown): Promise<Answer> {
  try {
    const { capabilities, limits } = await desk.connect(account, settings);
    return ok(protocol.tellConnected(capabilities, limits));
  } catch (fault) {
    if (fault instanceof BrokerUnavailable) return problem(422, fault.message);
    throw fault;
  }
}
