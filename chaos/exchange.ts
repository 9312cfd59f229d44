// An exchange in a process of its own: the paper engine over HTTP, with its own ledger, and with faults and traps that
// a chaos runner sets. It outlives the processes that the runner kills, and its ledger is what they are judged by.
//
//   node chaos/exchange.ts --file exchange.db [--port 8090]

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BrokerUnavailable } from '../src/broker/broker.ts';
import { ZERO } from '../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../src/domain/ids.ts';
import { type Arrival, openDesk, PATIENT } from './exchange-desk.ts';
import { createFaults, garbage, type Trouble } from './exchange-faults.ts';
import * as protocol from './exchange-protocol.ts';
import { type Answer, Malformed, ok, problem } from './exchange-protocol.ts';
import { createTraps } from './exchange-traps.ts';

export interface Exchange {
  readonly url: string;
  close(): Promise<void>;
}

/** A call of an account's: `/w1/accounts/a/orders/o` is w1's, about the account a. */
interface Call {
  readonly asker: string | null;
  readonly account: AccountId;
  /** "POST orders", "GET orders/", …: a name after it makes it another one. */
  readonly what: string;
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly arrivedAt: number;
}

/** Any order's: what garbage is made of where there is no answer. */
const SAMPLE = ok(
  protocol.tellOrder('none', {
    brokerRef: 'none',
    status: 'placed',
    fillQuantity: ZERO,
    fillPrice: null,
    fee: null,
    reason: null,
  }),
);
const tooMany = (ms: number): Answer => ({
  ...problem(429, 'Too many requests.'),
  headers: { 'retry-after': `${Math.ceil(ms / 1000)}`, 'retry-after-ms': `${ms}` },
});
const NOT_FOUND = problem(404, 'There is nothing here.');
const LOOK_UPS = new Set(['GET orders/', 'GET references/']);
const MOST_CHARACTERS = 65_536;

export async function openExchange({ file, port = 0 }: { file: string; port?: number }): Promise<Exchange> {
  const closing = new AbortController();
  /** Cut short when the exchange closes. */
  const pause = async (ms: number) => {
    if (ms > 0) await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
  };
  const desk = await openDesk({ file, pause });
  const faults = createFaults();
  const traps = createTraps();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://exchange');
    const parts = pathname.split('/').slice(1).map(decodeURIComponent);
    const body = await readBody(request);
    const { method } = request;
    if (parts[0] === 'control')
      return control(`${method} ${parts.slice(1, 2)}`, parts.slice(2), body, response);
    const [asker, room, account, what, ...names] = parts[0] === 'accounts' ? [null, ...parts] : parts;
    if (room !== 'accounts' || !account || names.length > 1) return send(response, NOT_FOUND);
    const call: Call = {
      asker: asker ?? null,
      account: account as AccountId,
      what: `${method} ${what}${names.length > 0 ? '/' : ''}`,
      name: names[0] ?? '',
      query: searchParams,
      body,
      arrivedAt: Date.now(),
    };
    return call.what === 'POST orders' ? serveOrder(call, response) : serveOther(call, response);
  }

  async function serveOrder(call: Call, response: ServerResponse): Promise<void> {
    const { asker, account } = call;
    const arrival = { account, asker, arrivedAt: call.arrivedAt, ...protocol.readOrder(call.body) };
    const victim = { account, client_order_id: arrival.clientOrderId };
    await traps.pass('arrived', asker, victim);
    const trouble = faults.meet({ account, asker, call: 'orders' });
    if (!(await getsThrough(trouble, response))) {
      await desk.turnAway(arrival);
      return turnAway(trouble, response);
    }
    const { answer, isNew, isAnswered } = await takeOrder(arrival);
    if (isNew) await traps.pass('accepted', asker, victim);
    if (await deliver(answer, isAnswered ? trouble : { ...trouble, after: 'lose' }, response))
      await traps.pass('answered', asker, victim);
  }

  async function serveOther(call: Call, response: ServerResponse): Promise<void> {
    const { asker, account, what } = call;
    const trouble = faults.meet({ account, asker, call: LOOK_UPS.has(what) ? 'look_ups' : 'other' });
    if (!(await getsThrough(trouble, response))) return turnAway(trouble, response);
    const answer = await answerTo(call);
    if (what === 'GET positions') await traps.pass('position', asker, { account, client_order_id: null });
    await deliver(answer, trouble, response);
  }

  /** What it has to go through before it is taken, if it comes to that. */
  async function getsThrough({ slowMs, hang, before }: Trouble, response: ServerResponse): Promise<boolean> {
    await pause(slowMs);
    if (hang) {
      if (!isGone(response)) await Promise.race([hang, once(response, 'close')]);
      if (isGone(response)) return false;
    }
    return before === null && !closing.signal.aborted;
  }

  function turnAway({ before, turn, retryAfterMs }: Trouble, response: ServerResponse): void {
    if (before === 'reset') response.socket?.resetAndDestroy();
    else if (before === 'garbage') sendGarbage(response, turn, SAMPLE);
    else if (before === 'refuse') send(response, tooMany(retryAfterMs));
    else response.destroy();
  }

  async function takeOrder(arrival: Arrival) {
    const { clientOrderId } = arrival;
    const taken = await desk.take(arrival);
    if ('rejection' in taken) {
      const body = { client_order_id: clientOrderId, rejection: taken.rejection };
      return { answer: { status: 422, body }, isNew: false, isAnswered: true };
    }
    const { outcome, state, isAnswered } = taken;
    return {
      answer: ok(protocol.tellOrder(clientOrderId, state)),
      isNew: outcome === 'accepted',
      isAnswered,
    };
  }

  async function answerTo({ asker, account, what, name, query, body }: Call): Promise<Answer> {
    switch (what) {
      case 'POST connect':
        return connect(account, protocol.readConnect(body));
      case 'GET instruments': {
        const found = await desk.brokerOf(account).instruments(protocol.readSearch(query), PATIENT);
        return ok({ items: found.map(protocol.tellInstrument) });
      }
      case 'GET instruments/': {
        const found = await desk.brokerOf(account).resolve(name, PATIENT);
        return 'rejection' in found ? { status: 404, body: found } : ok(protocol.tellInstrument(found));
      }
      case 'GET positions': {
        const positions = await desk.brokerOf(account).positions(PATIENT);
        await desk.noteLook(account, asker);
        return ok({ items: positions.map(protocol.tellPosition) });
      }
      case 'GET orders/': {
        const state = await desk.find(account, name as ClientOrderId);
        if (!state) return { status: 404, body: { client_order_id: name } };
        return ok(protocol.tellOrder(name, state));
      }
      case 'GET references/': {
        const found = await desk.findByReference(account, name);
        if (!found) return { status: 404, body: { broker_ref: name } };
        return ok(protocol.tellOrder(found.clientOrderId, found.state));
      }
      case 'GET orders': {
        const open = await desk.brokerOf(account).openOrders(PATIENT);
        return ok({ items: open.map(protocol.tellOpenOrder) });
      }
      case 'POST cancel': {
        const brokerRef = protocol.readCancel(body);
        await desk.brokerOf(account).cancel({ clientOrderId: null, brokerRef, symbol: '' }, PATIENT);
        return ok({ broker_ref: brokerRef });
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

  async function connect(account: AccountId, paper: unknown): Promise<Answer> {
    try {
      const { capabilities, limits } = await desk.connect(account, paper);
      return ok(protocol.tellConnected(capabilities, limits));
    } catch (fault) {
      if (fault instanceof BrokerUnavailable) return problem(422, fault.message);
      throw fault;
    }
  }

  /** Whether the whole answer went out as it should. */
  async function deliver(answer: Answer, trouble: Trouble, response: ServerResponse): Promise<boolean> {
    await pause(trouble.slowAnswerMs);
    if (trouble.after === 'lose') response.destroy();
    else if (trouble.after === 'garbage') sendGarbage(response, trouble.turn, answer);
    else {
      send(response, answer);
      if (!isGone(response)) await Promise.race([once(response, 'finish'), once(response, 'close')]);
      return response.writableFinished;
    }
    return false;
  }

  async function control(
    what: string,
    [name = '', verb]: readonly string[],
    body: unknown,
    response: ServerResponse,
  ): Promise<void> {
    switch (what) {
      case 'POST accounts':
        await desk.setTraits(name as AccountId, protocol.readTraits(body));
        return send(response, ok({}));
      case 'POST faults':
        return send(response, ok({ id: faults.add(protocol.readFault(body)) }));
      case 'DELETE faults':
        faults.clear();
        return send(response, ok({}));
      case 'POST traps':
        if (verb === 'release') return send(response, ok({ released: traps.release(Number(name)) }));
        return setTrap(protocol.readTrap(body), response);
      case 'GET ledger':
        return send(response, ok(await desk.ledger()));
      default:
        return send(response, NOT_FOUND);
    }
  }

  /** The head of the answer comes as soon as the trap is set, the body when somebody fell into it. */
  async function setTrap(order: Parameters<typeof traps.set>[0], response: ServerResponse): Promise<void> {
    const { id, caught, remove } = traps.set(order);
    response.once('close', remove);
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    const victim = await caught;
    const { account, client_order_id } = victim ?? { account: null, client_order_id: null };
    response.end(JSON.stringify({ id, caught: victim !== null, account, client_order_id }));
  }

  const underWay = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const served = serve(request, response)
      .catch((fault: unknown) => send(response, faultAnswer(fault)))
      .finally(() => underWay.delete(served));
    underWay.add(served);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closing.abort();
      server.close();
      server.closeAllConnections();
      faults.clear();
      traps.close();
      await Promise.all(underWay);
      await desk.close();
    },
  };
}

const isGone = (response: ServerResponse): boolean =>
  response.destroyed || response.socket?.destroyed !== false;

async function readBody(request: IncomingMessage): Promise<unknown> {
  try {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) {
      text += chunk;
      if (text.length > MOST_CHARACTERS) throw new Malformed('the body is too long');
    }
    return text === '' ? undefined : JSON.parse(text);
  } catch (fault) {
    // Not JSON, or its sender died in the middle of it.
    throw new Malformed(String(fault));
  }
}

function faultAnswer(fault: unknown): Answer {
  if (fault instanceof Malformed) return problem(400, fault.message);
  if (fault instanceof BrokerUnavailable) return problem(503, fault.message);
  console.error(fault);
  return problem(500, String(fault));
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (response.headersSent || isGone(response)) return;
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}

function sendGarbage(response: ServerResponse, turn: number, answer: Answer): void {
  if (isGone(response)) return;
  const { status, type, body, length } = garbage(turn, answer);
  response.writeHead(status, { 'content-type': type, 'content-length': length });
  if (length === Buffer.byteLength(body)) response.end(body);
  else response.write(body, () => response.destroy());
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { file: { type: 'string' }, port: { type: 'string' } } });
  if (!values.file) throw new Error('usage: node chaos/exchange.ts --file FILE [--port N]');
  const exchange = await openExchange({ file: values.file, port: Number(values.port ?? 0) });
  console.log(`ready at ${exchange.url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void exchange.close());
}
