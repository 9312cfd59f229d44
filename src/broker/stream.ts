// A broker's stream of what happens to orders: one life of it, from the handshake to its end. Whatever goes wrong ends it, and
// nothing else: whoever listens goes on by looking, and opens the next one. Nothing that it says, and no address of it, is shown.

import { type ClientOptions, WebSocket } from 'ws';
import { BrokerUnavailable, type OrderHint } from './broker.ts';

export type Said =
  | { readonly agreed: true }
  /** Its code, where it gives one. */
  | { readonly refused: string }
  | { readonly orders: readonly OrderHint[] }
  /** It will tell no more. */
  | { readonly over: true };

export type Socket = Pick<WebSocket, 'on' | 'send' | 'ping' | 'terminate' | 'readyState'>;
export type OpenSocket = (url: string, options: ClientOptions) => Socket;

export interface Talk {
  /** The broker, as people call it. */
  readonly title: string;
  readonly url: string;
  /** Of the handshake. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Each is said when the one before was agreed to. */
  readonly words: readonly (() => object)[];
  /** undefined: nothing that matters here, or nonsense. */
  read(message: string): Said | undefined;
  /** What keeps it open; null: the protocol's own ping. */
  ping(): string | null;
  /** null: it tells from now on. */
  tell(hint: OrderHint | null): void;
  readonly signal: AbortSignal;
  /** Whoever writes down what is said opens it himself. */
  readonly openSocket?: OpenSocket | undefined;
  readonly times?: Partial<typeof TIMES>;
}

const TIMES = {
  /** From the handshake until it tells. */
  agreedWithinMs: 10_000,
  pingEveryMs: 20_000,
  /** Longer than the slowest answer to a ping; exchanges close what is silent for 30 s to 10 minutes. */
  silentMs: 50_000,
  /** A listen key holds for an hour, and a login does not hold for ever either. */
  oldestMs: 50 * 60_000,
};
/** An update of an order is a few hundred bytes. */
const MOST_BYTES = 1024 * 1024;

/** Ends when the signal aborts; throws BrokerUnavailable when the stream does. */
export async function talkTo({ title, url, words, read, ping, tell, signal, ...more }: Talk): Promise<void> {
  if (signal.aborted) return;
  const times = { ...TIMES, ...more.times };
  const over = Promise.withResolvers<void>();
  const end = (why: string) => over.reject(new BrokerUnavailable(`The stream of ${title} ended: ${why}.`));
  const { openSocket = (at, how) => new WebSocket(at, how) } = more;
  const socket = openSocket(url, {
    handshakeTimeout: times.agreedWithinMs,
    maxPayload: MOST_BYTES,
    perMessageDeflate: false,
    headers: { 'User-Agent': 'fillpath', ...more.headers },
  });
  const unsaid = [...words];
  let hasBegun = false;
  let heardAt = performance.now();
  const hear = () => {
    heardAt = performance.now();
  };

  function goOn(): void {
    const next = unsaid.shift();
    if (next) socket.send(JSON.stringify(next()));
    else if (!hasBegun) {
      hasBegun = true;
      tell(null);
    }
  }

  function take(said: Said | undefined): void {
    if (!said) return;
    if ('refused' in said) end(`it was refused (${said.refused.slice(0, 20)})`);
    else if ('over' in said) end('its key has expired');
    else if ('agreed' in said) goOn();
    else for (const order of said.orders) tell(order);
  }

  const timers = [
    setTimeout(() => hasBegun || end('it was not agreed to in time'), times.agreedWithinMs),
    setTimeout(() => end('it was open for long enough'), times.oldestMs),
    setInterval(() => {
      if (performance.now() - heardAt > times.silentMs) return end('it is silent');
      if (socket.readyState !== WebSocket.OPEN) return;
      const word = ping();
      if (word === null) socket.ping();
      else socket.send(word);
    }, times.pingEveryMs),
  ];
  const leave = () => over.resolve();
  signal.addEventListener('abort', leave, { once: true });
  socket.on('open', goOn);
  socket.on('ping', hear);
  socket.on('pong', hear);
  socket.on('message', (data) => {
    hear();
    try {
      take(read(String(data)));
    } catch {
      // In here it would end the process, and with it everybody else's work.
      end('it cannot be understood');
    }
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
