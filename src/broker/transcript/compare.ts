// Reads a transcript through the connector again: what a broker said is said once more, and what is made of it is held against what was
// made of it then. And each reply against the fields that are known of that broker.

import { EventEmitter } from 'node:events';
import type { AccountId, Timestamp } from '../../domain/ids.ts';
import { type Broker, BrokerUnavailable, type OpenBroker, type OrderHint } from '../broker.ts';
import type { Wire } from '../registry.ts';
import type { OpenSocket, Socket } from '../stream.ts';
import type { Fetch } from '../wire.ts';
import { type Difference, differencesIn, distinct, type Known } from './fields.ts';
import type { Exchanged, PortCall, Transcript } from './format.ts';

/** What is told otherwise than it was. */
interface Otherwise {
  /** Of the port, and which one of the file. */
  readonly call: string;
  readonly nth: number;
  readonly field: string;
  readonly before: string;
  readonly now: string;
}

export interface Comparison {
  readonly calls: number;
  readonly replies: number;
  readonly otherwise: readonly Otherwise[];
  readonly fields: readonly Difference[];
}

interface Comparing {
  /** The connector, over this wire, at a time. */
  openOver(wire: Wire, clock: { now(): number }): OpenBroker;
  readonly known: Known;
}

/** Without what differs from one time to the next: times, and proofs of who asks. */
function keyOf(method: string, path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://transcript.invalid');
  const terms = [...searchParams].filter(
    ([name, value]) => !/^\d{10,}$/.test(value) && !/sign|key|window/i.test(name),
  );
  return [method, pathname, ...terms.map(([name, value]) => `${name}=${value}`).toSorted()].join(' ');
}

/** An order is never late here: it was sent then, and goes nowhere now. */
const NEVER = '9999-12-31T23:59:59.999Z' as Timestamp;
/** Nothing is asked of anybody: what takes longer hangs. */
const PATIENCE_MS = 20_000;

export async function compareTranscript(
  transcript: Transcript,
  { openOver, known }: Comparing,
): Promise<Comparison> {
  const { head, calls, exchanged, heard, hints } = transcript;
  const wire = { fetch: sayingAgain(exchanged), openSocket: tellingAgain(heard) };
  const began = Date.parse(head.began);
  const open = openOver(wire, { now: () => began });
  const otherwise: Otherwise[] = [];
  let broker: Broker | null = null;
  for (const asked of calls) {
    // Cut before it told anything.
    if (asked.asks === 'watch' ? hints.length === 0 : asked.told === null) continue;
    const now = await toldBy(async (signal) => {
      if (asked.asks === 'open') {
        broker = await open(accountOf(head.environment), signal);
        return null;
      }
      if (!broker) throw new BrokerUnavailable('the connection was not opened');
      return asked.asks === 'watch'
        ? hintsOf(broker, hints.length)
        : unnamed(await ask(broker, asked, signal));
    });
    const then = asked.asks === 'watch' ? { answer: hints } : asked.told;
    otherwise.push(
      ...compared(plain(then?.fault ?? then?.answer), plain(now.fault ?? now.answer)).map((found) => ({
        ...{ call: asked.asks, nth: asked.call },
        ...found,
      })),
    );
  }
  await (broker as Broker | null)?.close();
  const replies = exchanged.flatMap(({ method, path, status, answer }) =>
    status === undefined || answer === undefined ? [] : [{ method, url: path, status, text: answer }],
  );
  return {
    calls: calls.length,
    replies: replies.length,
    otherwise,
    fields: distinct(replies.flatMap((reply) => differencesIn(reply, known))),
  };
}

/** Of whose account it is nothing was kept. */
export const unnamed = (answer: unknown): unknown =>
  isObject(answer) && 'identity' in answer ? { ...answer, identity: 'masked' } : answer;

const accountOf = (environment: string) => ({
  id: 'transcript' as AccountId,
  environment,
  paper: null,
  credentials: {
    api_key: 'a-key-of-nobody',
    api_secret: 'a-secret-of-nobody',
    passphrase: 'a-phrase-of-nobody',
  },
});

/** In turn, by what is asked for; the last one again, where more is asked for than then. */
function sayingAgain(exchanged: readonly Exchanged[]): Fetch {
  const lines = new Map<string, Exchanged[]>();
  for (const each of exchanged) {
    const key = keyOf(each.method, each.path);
    lines.set(key, [...(lines.get(key) ?? []), each]);
  }
  return async (url, { method = 'GET' }) => {
    const line = lines.get(keyOf(method, url.replace(/^[a-z]+:\/\/[^/]+/i, ''))) ?? [];
    const said = line.length > 1 ? line.shift() : line[0];
    if (said?.status === undefined) throw new TypeError('it was not said then');
    return new Response(said.answer || null, {
      status: said.status,
      headers: new Headers(said.answer_headers),
    });
  };
}

/** A stream that says all that it said then. */
function tellingAgain(heard: readonly string[]): OpenSocket {
  return () => {
    const socket = new EventEmitter();
    setImmediate(() => {
      socket.emit('open');
      for (const text of heard) socket.emit('message', text);
    });
    return Object.assign(socket, {
      readyState: 1,
      send() {},
      ping() {},
      terminate() {},
    }) as unknown as Socket;
  };
}

async function hintsOf(broker: Broker, many: number): Promise<readonly (OrderHint | null)[]> {
  const told: (OrderHint | null)[] = [];
  const over = new AbortController();
  const enough = AbortSignal.any([over.signal, AbortSignal.timeout(PATIENCE_MS)]);
  await broker.watch?.((hint) => {
    told.push(hint);
    if (told.length === many) setImmediate(() => over.abort());
  }, enough);
  return told;
}

async function ask(broker: Broker, { asks, with: given }: PortCall, signal: AbortSignal): Promise<unknown> {
  const [front, name] = asks.includes('.') ? asks.split('.') : [null, asks];
  const port = (front === null ? broker : broker.stops) as unknown as Record<
    string,
    (...args: unknown[]) => unknown
  >;
  const method = port?.[name ?? ''];
  if (typeof method !== 'function') throw new BrokerUnavailable(`there is no ${asks} any more`);
  const args = given.map((arg) => {
    if (typeof arg !== 'object' || arg === null || Array.isArray(arg)) return arg;
    const { rivals, ...rest } = arg as { readonly rivals?: unknown };
    return {
      ...rest,
      ...('sendBefore' in rest && { sendBefore: NEVER }),
      ...(Array.isArray(rivals) && { rivals: async () => rivals }),
    };
  });
  // The signal is where each call has it.
  const isVerify = asks === 'verify';
  return method.apply(port, isVerify ? [signal, ...args] : [...args, signal]);
}

async function toldBy(
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ readonly answer?: unknown; readonly fault?: { name: string; message: string } }> {
  try {
    return { answer: await work(AbortSignal.timeout(PATIENCE_MS)) };
  } catch (fault) {
    const { name, message } = fault as Error;
    return { fault: { name, message } };
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** Each field that differs, by its path. */
function compared(then: unknown, now: unknown, field = ''): Pick<Otherwise, 'field' | 'before' | 'now'>[] {
  const [a, b] = [then, now].map((value) => JSON.stringify(value) ?? 'nothing') as [string, string];
  if (a === b) return [];
  if (!isObject(then) || !isObject(now)) return [{ field: field || '(all of it)', before: a, now: b }];
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  return names.flatMap((name) => compared(then[name], now[name], field === '' ? name : `${field}.${name}`));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
