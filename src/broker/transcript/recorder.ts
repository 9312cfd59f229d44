// Writes a transcript: stands between a connector and its broker, and before the connector. Nobody who trades for the service has it.

import { WebSocket } from 'ws';
import type { Broker, BrokerUnavailable, OpenBroker, OrderQuery } from '../broker.ts';
import type { Wire } from '../registry.ts';
import type { OpenSocket } from '../stream.ts';
import { askWhole, type Fetch, send } from '../wire.ts';
import { unnamed } from './compare.ts';
import { type Difference, differencesIn, distinct, type Known, type Reply } from './fields.ts';
import { type Exchanged, type Head, type Line, TRANSCRIPT_VERSION } from './format.ts';
import { createMask, thinned } from './mask.ts';

export interface Recorder {
  /** For the connector. */
  readonly wire: Wire;
  /** The connector, as the trial uses it. */
  opening(open: OpenBroker): OpenBroker;
  write(line: Line): void;
  /** By the broker's own headers, how far our clock is ahead, in ms; null: it sends none. */
  aheadMs(): number | null;
  /** In which currencies replies speak of fees. */
  feesIn(): readonly string[];
  /** Where replies differ from what is known. */
  differences(): readonly Difference[];
}

interface Recording {
  readonly head: Omit<Head, 'fillpath_transcript'>;
  /** Whatever of the account must not be in it. */
  readonly secrets: readonly string[];
  readonly known: Known;
  /** A line of the file, with its end. */
  append(text: string): void;
  readonly fetch?: Fetch;
  readonly openSocket?: OpenSocket;
  readonly clock?: { now(): number };
}

/** Of a request and of an answer: what tells nothing of anybody. */
const KEPT_HEADERS = [
  'content-type',
  'date',
  'retry-after',
  'x-gate-size-decimal',
  'paptrading',
  'x-simulated-trading',
];
const FEE_CURRENCY = /"(?:commissionAsset|feeCcy|feeCoin|feeCurrency|fee_currency)"\s*:\s*"([A-Za-z0-9]+)"/g;
const A_SECOND_MS = 1_000;

export function createRecorder({ head, secrets, known, append, ...deps }: Recording): Recorder {
  const { fetch: ask = send, clock = { now: Date.now } } = deps;
  const { openSocket: connect = (url, options) => new WebSocket(url, options) } = deps;
  const mask = createMask(secrets);
  const fees = new Set<string>();
  let found: Difference[] = [];
  let aheadMs: number | null = null;
  let call = 0;
  /** Until the account's own name is known, which may stand in any of them. */
  let held: Line[] | null = [{ fillpath_transcript: TRANSCRIPT_VERSION, ...head }];

  function write(line: Line): void {
    if (held) held.push(line);
    else append(`${mask.text(JSON.stringify(line))}\n`);
  }

  function release(): void {
    const lines = held ?? [];
    held = null;
    for (const line of lines) write(line);
  }

  function hear(reply: Reply): void {
    found = distinct([...found, ...differencesIn(reply, known)]);
    for (const [, currency] of reply.text.matchAll(FEE_CURRENCY)) if (currency) fees.add(currency);
  }

  const fetch: Fetch = async (url, init) => {
    const began = clock.now();
    const body = typeof init.body === 'string' ? init.body : undefined;
    const method = init.method ?? 'GET';
    const asked = {
      call,
      method,
      path: url.replace(/^[a-z]+:\/\/[^/]+/i, ''),
      headers: kept(new Headers(init.headers)),
      ...(body !== undefined && { body: mask.text(body) }),
    };
    const exchanged = (more: Partial<Exchanged>) =>
      write({ exchanged: { ...asked, ...more, ms: Math.round(clock.now() - began) } });
    try {
      const { status, headers, bytes } = await askWhole(ask, url, init, Number.POSITIVE_INFINITY);
      const ended = clock.now();
      const date = Date.parse(headers.get('date') ?? '');
      // A header tells whole seconds: half of one is the best guess.
      if (!Number.isNaN(date)) aheadMs = Math.round((began + ended) / 2 - date - A_SECOND_MS / 2);
      const text = thinned(new TextDecoder().decode(bytes), head.symbol);
      hear({ method, url, status, text });
      exchanged({ status, answer_headers: kept(headers), answer: mask.text(text) });
      return new Response(bytes.byteLength > 0 ? bytes : null, { status, headers });
    } catch (fault) {
      exchanged({ silence: fault instanceof Error ? fault.name : 'fault' });
      throw fault;
    }
  };

  const openSocket: OpenSocket = (url, options) => {
    const socket = connect(url, options);
    socket.on('message', (data) => write({ stream: 'heard', text: mask.text(String(data)) }));
    return {
      on: socket.on.bind(socket),
      ping: socket.ping.bind(socket),
      terminate: socket.terminate.bind(socket),
      // What is said there proves who we are: its first words are enough.
      send: ((text: unknown) => {
        const [, op = ''] = /"(?:op|action|event)"\s*:\s*"(\w+)"/.exec(String(text)) ?? [];
        write({ stream: 'said', text: op });
        socket.send(String(text));
      }) as typeof socket.send,
      get readyState() {
        return socket.readyState;
      },
    };
  };

  async function during<T>(asks: string, given: readonly unknown[], work: () => Promise<T>): Promise<T> {
    const own = ++call;
    const began = clock.now();
    const took = () => Math.round(clock.now() - began);
    write({ asks, call: own, with: given });
    try {
      const answer = await work();
      // Of whose account it is nothing is kept.
      const name = (answer as { identity?: unknown } | null)?.identity;
      if (asks === 'verify' && typeof name === 'string')
        for (const part of [name, ...name.split(' ')]) mask.learn(part);
      write({ told: own, answer: asks === 'open' ? null : plain(unnamed(answer)), ms: took() });
      return answer;
    } catch (fault) {
      const { name, message } = fault as BrokerUnavailable;
      write({ told: own, fault: { name, message }, ms: took() });
      throw fault;
    } finally {
      if (asks === 'verify') release();
    }
  }

  return {
    wire: { fetch, openSocket },
    opening: (open) => async (account, signal) =>
      recorded(await during('open', [], () => open(account, signal)), during, write),
    write(line) {
      if ('end' in line && held) release();
      write(line);
    },
    aheadMs: () => aheadMs,
    feesIn: () => [...fees],
    differences: () => found,
  };
}

const kept = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => KEPT_HEADERS.includes(name.toLowerCase())));

/** As JSON has it: without functions and signals. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

type During = <T>(asks: string, given: readonly unknown[], work: () => Promise<T>) => Promise<T>;

/** Each call is written down with what it was asked and what it told. */
function recorded(broker: Broker, during: During, write: (line: Line) => void): Broker {
  const calls = <Port extends object>(
    port: Port,
    names: readonly (keyof Port & string)[],
    front = '',
  ): Partial<Port> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const method = port[name];
        if (typeof method !== 'function') return [];
        const through = async (...args: unknown[]) => {
          const given = await Promise.all(args.filter((arg) => !(arg instanceof AbortSignal)).map(written));
          return during(`${front}${name}`, given, () => method.apply(port, args) as Promise<unknown>);
        };
        return [[name, through]];
      }),
    ) as Partial<Port>;
  const { stops, watch } = broker;
  return {
    ...broker,
    ...calls(broker, [
      ...(['verify', 'resolve', 'position', 'positions', 'balance', 'quote'] as const),
      ...(['place', 'find', 'openOrders', 'cancel', 'close'] as const),
    ]),
    ...(stops && {
      stops: { ...stops, ...calls(stops, ['place', 'move', 'remove', 'standing', 'find'], 'stops.') },
    }),
    ...(watch && {
      watch: (tell, signal) =>
        during('watch', [], () =>
          watch.call(
            broker,
            (hint) => {
              write({ hint });
              tell(hint);
            },
            signal,
          ),
        ),
    }),
  };
}

/** Whatever else was sent there is asked for now: nothing is sent meanwhile. */
async function written(arg: unknown): Promise<unknown> {
  const { rivals, ...query } = (arg ?? {}) as OrderQuery;
  return typeof rivals === 'function' ? plain({ ...query, rivals: await rivals() }) : plain(arg);
}
