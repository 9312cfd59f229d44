// An exchange in a process of its own: the paper engine over HTTP, with its own ledger, and with faults and traps that
// a chaos runner sets. It outlives the processes that the runner kills, and its ledger is what they are judged by. It speaks
// its own language, or that of a broker (exchange-dialect.ts).
//
//   node chaos/exchange.ts --file exchange.db [--port 8090] [--broker binance]

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BrokerUnavailable } from '../src/broker/broker.ts';
import type { AccountId } from '../src/domain/ids.ts';
import { stubOf } from '../test/stubs/stubs.ts';
import * as told from './exchange-control.ts';
import { openDesk } from './exchange-desk.ts';
import type { Answer, Dialect, OrderVisit, OtherVisit, StopVisit } from './exchange-dialect.ts';
import { createFaults, garbage, type Trouble } from './exchange-faults.ts';
import { openHands } from './exchange-hands.ts';
import { openOffice, partStepOf } from './exchange-office.ts';
import { NOT_FOUND, paper } from './exchange-paper.ts';
import { ok, problem } from './exchange-protocol.ts';
import { openStreams } from './exchange-streams.ts';
import { createTraps } from './exchange-traps.ts';

export interface Exchange {
  readonly url: string;
  close(): Promise<void>;
}

interface ExchangeOptions {
  readonly file: string;
  readonly port?: number;
  /** The paper broker's own where there is none. */
  readonly dialect?: Dialect;
}

/** The answer to a cancel is lost as one to an order is. */
const CALLS = { look_up: 'look_ups', cancel: 'orders', positions: 'other', other: 'other' } as const;

const MOST_CHARACTERS = 65_536;

/** Who sent a request, and when it came. */
interface From {
  readonly asker: string | null;
  readonly arrivedAt: number;
}

/** What may be taken, and what is to be told of it. */
interface Taking {
  readonly call: 'orders' | 'stops';
  readonly what: 'entry' | 'close' | 'stop';
  readonly refuses: OrderVisit['refuses'];
  readonly victim: { readonly account: AccountId; readonly client_order_id: string };
  note(outcome: 'not_taken' | 'rejected'): Promise<void>;
  take(): Promise<{ answer: Answer; isNew: boolean; isAnswered: boolean }>;
}

export async function openExchange({ file, port = 0, dialect = paper }: ExchangeOptions): Promise<Exchange> {
  const closing = new AbortController();
  /** Cut short when the exchange closes. */
  const pause = async (ms: number) => {
    if (ms > 0) await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
  };
  const desk = await openDesk({
    file,
    pause,
    traits: dialect.traits,
    manners: dialect.manners,
    partStepOf: (listing) => partStepOf(dialect, listing),
    onChange: (account, orders) => streams.changed(account, orders.map(seen)),
  });
  let aheadMs = 0;
  const { office, seen, refOf, ...counter } = openOffice(desk, dialect, () => aheadMs);
  const hands = openHands(desk, { office, ...counter }, dialect);
  const read = dialect.open(office, desk);
  const faults = createFaults();
  const streams = openStreams({
    dialect: dialect.stream,
    open(visit) {
      if (!dialect.stream) throw new Error('this broker tells nothing by itself');
      return dialect.stream.open(office, visit);
    },
    faults,
  });
  const traps = createTraps();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = Date.now();
    const { url = '/', method = 'GET', headers } = request;
    const { pathname, searchParams } = new URL(url, 'http://exchange');
    const [first = '', ...parts] = pathname.split('/').slice(1);
    const body = await readBody(request);
    if (first === 'control') return control(`${method} ${parts[0]}`, parts.slice(1), body, response);
    const asker = dialect.roots.includes(first) ? null : decodeURIComponent(first);
    if (asker !== null && !dialect.roots.includes(parts[0] ?? '')) return send(response, NOT_FOUND);
    const visit = await read({
      method,
      path: asker === null ? pathname : `/${parts.join('/')}`,
      search: url.includes('?') ? url.slice(url.indexOf('?') + 1) : '',
      query: searchParams,
      headers,
      body,
      address: request.socket.remoteAddress ?? '',
    });
    const from = { asker, arrivedAt };
    return desk.by(asker, () => {
      if (visit.what === 'order') return serveOrder(visit, from, response);
      return visit.what === 'stop' ? serveStop(visit, from, response) : serveOther(visit, asker, response);
    });
  }

  async function serveOrder(visit: OrderVisit, from: From, response: ServerResponse): Promise<void> {
    const { account, order, tell } = visit;
    const arrival = counter.arrivalOf({ account, ...from }, order);
    return serveTaking(
      {
        call: 'orders',
        what: order.reduceOnly ? 'close' : 'entry',
        refuses: visit.refuses,
        victim: { account, client_order_id: arrival.clientOrderId },
        note: (outcome) => desk.note(arrival, outcome, null),
        async take() {
          const { taken, ...more } = await counter.take(arrival, order);
          return { answer: tell(taken), ...more };
        },
      },
      from.asker,
      response,
    );
  }

  async function serveStop(visit: StopVisit, from: From, response: ServerResponse): Promise<void> {
    const { account, stop, tell } = visit;
    const arrival = await counter.stopArrivalOf({ account, ...from }, stop);
    return serveTaking(
      {
        call: 'stops',
        what: 'stop',
        refuses: visit.refuses,
        victim: { account, client_order_id: arrival.clientOrderId },
        note: (outcome) => desk.stops.note(arrival, outcome, null),
        async take() {
          const { taken, ...more } = await counter.takeStop(arrival, stop);
          return { answer: tell(taken), ...more };
        },
      },
      from.asker,
      response,
    );
  }

  /** An order, or a stop. */
  async function serveTaking(
    { call, what, refuses, victim, note, take }: Taking,
    asker: string | null,
    response: ServerResponse,
  ): Promise<void> {
    const { account } = victim;
    await traps.pass('arrived', asker, victim, what);
    const trouble = faults.meet({ account, asker, call });
    if (!(await getsThrough(trouble, response))) {
      await note('not_taken');
      return turnAway(trouble, { account, asker }, response);
    }
    const refusal = await refuses?.();
    if (refusal) {
      await note('rejected');
      return void (await deliver(refusal, trouble, response));
    }
    const { answer, isNew, isAnswered } = await take();
    if (isNew) await traps.pass('accepted', asker, victim, what);
    if (await deliver(answer, isAnswered ? trouble : { ...trouble, after: 'lose' }, response))
      await traps.pass('answered', asker, victim, what);
  }

  async function serveOther(
    { account, what, answer }: OtherVisit,
    asker: string | null,
    response: ServerResponse,
  ): Promise<void> {
    const call = CALLS[what];
    const trouble = faults.meet({ account, asker, call });
    if (!(await getsThrough(trouble, response))) return turnAway(trouble, { account, asker }, response);
    const said = await desk.lagging(trouble.lagMs, answer);
    if (what === 'positions' && account !== null) {
      await desk.noteLook(account, asker, trouble.lagMs);
      await traps.pass('position', asker, { account, client_order_id: null });
    }
    await deliver(said, trouble, response);
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

  async function turnAway(
    trouble: Trouble,
    { account, asker }: { account: AccountId | null; asker: string | null },
    response: ServerResponse,
  ): Promise<void> {
    const { before, retryAfterMs } = trouble;
    if (before === 'deny' && account !== null) await desk.noteDenial(account, asker);
    if (before === 'reset') response.socket?.resetAndDestroy();
    else if (before === 'garbage') sendGarbage(response, trouble, dialect.sample);
    else if (before === 'refuse') send(response, dialect.busy(retryAfterMs));
    else if (before === 'deny') send(response, dialect.denied);
    else response.destroy();
  }

  /** Whether the whole answer went out as it should. */
  async function deliver(answer: Answer, trouble: Trouble, response: ServerResponse): Promise<boolean> {
    await pause(trouble.slowAnswerMs);
    if (trouble.after === 'lose') response.destroy();
    else if (trouble.after === 'stall') await stall(response, answer);
    else if (trouble.after === 'garbage') sendGarbage(response, trouble, answer);
    else {
      send(response, answer);
      if (!isGone(response)) await Promise.race([once(response, 'finish'), once(response, 'close')]);
      return response.writableFinished;
    }
    return false;
  }

  /** Until the client has had enough. */
  async function stall(response: ServerResponse, { status, body }: Answer): Promise<void> {
    if (isGone(response)) return;
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.write(text.slice(0, Math.floor(text.length / 2)));
    await once(response, 'close');
  }

  function sendGarbage(response: ServerResponse, trouble: Trouble, answer: Answer): void {
    if (isGone(response)) return;
    const { status, type, body, length } = garbage(trouble.garbage, answer, dialect.idFields);
    response.writeHead(status, { 'content-type': type, 'content-length': length });
    if (length === Buffer.byteLength(body)) response.end(body);
    else response.write(body, () => response.destroy());
  }

  async function control(
    what: string,
    [name = '', verb]: readonly string[],
    text: string,
    response: ServerResponse,
  ): Promise<void> {
    const body = told.readJson(text);
    const account = name as AccountId;
    switch (what) {
      case 'POST accounts':
        await desk.register(account, told.readRegistration(body, desk.usual));
        return send(response, ok({}));
      case 'PATCH accounts':
        await desk.register(account, told.readRegistration(body, desk.registered(account)));
        // Who listens is told without having asked.
        if (streams.state(account).listening > 0) await desk.stir(account);
        return send(response, ok({}));
      case 'POST prices':
        await desk.setPrices(told.readPrices(body));
        return send(response, ok({}));
      case 'POST clock':
        aheadMs = told.readClock(body);
        return send(response, ok({}));
      case 'POST faults':
        return send(response, ok({ id: faults.add(told.readFault(body)) }));
      case 'DELETE faults':
        faults.clear();
        return send(response, ok({}));
      case 'POST traps':
        if (verb === 'release') return send(response, ok({ released: traps.release(Number(name)) }));
        return setTrap(told.readTrap(body), response);
      case 'GET streams':
        return send(response, ok(streams.state(account)));
      case 'POST streams':
        if (verb === 'cut') streams.cut(account);
        else streams.babble(account);
        return send(response, ok({}));
      case 'GET ledger':
        return send(response, ok(await ledger()));
      default:
        return send(response, (await hands(what, account, verb, body)) ?? NOT_FOUND);
    }
  }

  /** With the ids as they stood on the wire. */
  async function ledger() {
    const { orders, stops, ...rest } = await desk.ledger();
    const onTheWire = <Row extends { broker_ref: string }>(row: Row): Row => ({
      ...row,
      broker_ref: refOf(row.broker_ref),
    });
    return { orders: orders.map(onTheWire), stops: stops.map(onTheWire), ...rest };
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
      .catch((fault: unknown) => send(response, faultAnswer(fault, dialect)))
      .finally(() => underWay.delete(served));
    underWay.add(served);
  });
  // Who comes back after a while on a busy machine is not to meet a connection that is just being closed.
  server.keepAliveTimeout = 60_000;
  server.on('upgrade', (request, socket, head) => streams.upgrade(request, socket, head));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closing.abort();
      await streams.close();
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

async function readBody(request: IncomingMessage): Promise<string> {
  try {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) {
      text += chunk;
      if (text.length > MOST_CHARACTERS) throw new told.Malformed('the body is too long');
    }
    return text;
  } catch (fault) {
    // Its sender died in the middle of it.
    throw new told.Malformed(String(fault));
  }
}

function faultAnswer(fault: unknown, dialect: Dialect): Answer {
  if (fault instanceof told.Malformed) return problem(400, fault.message);
  if (fault instanceof BrokerUnavailable) return dialect.down(fault.message);
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

if (import.meta.main) {
  const { values } = parseArgs({
    options: { file: { type: 'string' }, port: { type: 'string' }, broker: { type: 'string' } },
  });
  if (!values.file) throw new Error('usage: node chaos/exchange.ts --file FILE [--port N] [--broker NAME]');
  const exchange = await openExchange({
    file: values.file,
    port: Number(values.port ?? 0),
    ...(values.broker && { dialect: await stubOf(values.broker) }),
  });
  console.log(`ready at ${exchange.url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void exchange.close());
}
