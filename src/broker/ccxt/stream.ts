// One life of an exchange's private stream, from its opening to its end. Whatever goes wrong ends it, and nothing else:
// whoever listens goes on by looking, and opens the next one. Nothing that it says, and no address of it, is ever shown.

import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { BrokerUnavailable, type OrderHint } from '../broker.ts';
import { asker } from './asking.ts';
import type { Exchange } from './exchange.ts';
import { type Credentials, parseExactly } from './wire.ts';

interface Listening {
  readonly exchange: Exchange;
  readonly credentials: Credentials;
  /** null: it tells from now on. */
  tell(hint: OrderHint | null): void;
  readonly signal: AbortSignal;
}

/** From the handshake until it tells. */
const AGREED_WITHIN_MS = 10_000;
const PING_EVERY_MS = 20_000;
/** Longer than the slowest answer to a ping; exchanges close what is silent for 30 s to 10 minutes. */
const SILENT_MS = 50_000;
/** A listen key holds for an hour, and a login does not hold for ever either. */
const OLDEST_MS = 50 * 60_000;
/** An update of an order is a few hundred bytes. */
const MOST_BYTES = 1024 * 1024;

/** Ends when the signal aborts; throws BrokerUnavailable, or one of its kinds, when the stream does. */
export async function listen({ exchange, credentials, tell, signal }: Listening): Promise<void> {
  const { feed, title } = exchange.profile;
  await exchange.streams.turn(signal);
  if (signal.aborted) return;
  const asked = AbortSignal.any([signal, AbortSignal.timeout(AGREED_WITHIN_MS)]);
  const { kind } = exchange;
  const stream = exchange.streams.url;
  const asking = asker(exchange, credentials, asked);
  const { url, words } = await feed.open({ asking, credentials, kind, stream });
  if (signal.aborted) return;

  const over = Promise.withResolvers<void>();
  const end = (why: string) => over.reject(new BrokerUnavailable(`The stream of ${title} ended: ${why}.`));
  const socket = new WebSocket(exchange.streams.at(url), {
    handshakeTimeout: AGREED_WITHIN_MS,
    maxPayload: MOST_BYTES,
    perMessageDeflate: false,
    headers: { 'User-Agent': 'fillpath' },
  });
  const unsaid = [...words];
  let hasBegun = false;
  let heardAt = performance.now();
  const hear = () => {
    heardAt = performance.now();
  };

  function goOn(): void {
    const next = unsaid.shift();
    if (next) socket.send(JSON.stringify(next(exchange.now())));
    else if (!hasBegun) {
      hasBegun = true;
      tell(null);
    }
  }

  function take(message: unknown): void {
    const said = feed.read(message);
    if (!said) return;
    if ('refused' in said) end(`it was refused (${said.refused.slice(0, 20)})`);
    else if ('over' in said) end('its key has expired');
    else if ('agreed' in said) goOn();
    else for (const order of said.orders) tell(order);
  }

  const timers = [
    setTimeout(() => hasBegun || end('it was not agreed to in time'), AGREED_WITHIN_MS),
    setTimeout(() => end('it was open for long enough'), OLDEST_MS),
    setInterval(() => {
      if (performance.now() - heardAt > SILENT_MS) return end('it is silent');
      if (socket.readyState !== WebSocket.OPEN) return;
      const word = feed.ping(exchange.now());
      if (word === null) socket.ping();
      else socket.send(word);
    }, PING_EVERY_MS),
  ];
  const leave = () => over.resolve();
  signal.addEventListener('abort', leave, { once: true });
  socket.on('open', goOn);
  socket.on('ping', hear);
  socket.on('pong', hear);
  socket.on('message', (data) => {
    hear();
    take(parseExactly(String(data)));
  });
  socket.on('unexpected-response', (_request, { statusCode }) => end(`its door answered ${statusCode}`));
  socket.on('error', () => end('it cannot be reached, or talks nonsense'));
  socket.on('close', () => end('it was cut'));
  try {
    await over.promise;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    // No farewell: who closes a connection does not wait for the other side.
    socket.terminate();
  }
}

/** One more of them after the other, in the time that the strictest exchange allows an address. */
export function createTurns(everyMs = 1_000, atOnce = 2): (signal: AbortSignal) => Promise<void> {
  let taken = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const now = performance.now();
    taken = Math.max(taken, now - atOnce * everyMs) + everyMs;
    if (taken > now) await sleep(taken - now, undefined, { signal, ref: false }).catch(() => {});
  };
}
