// A client that costs little beside the server that it measures: keep-alive connections written and read by hand.

import { connect, type Socket } from 'node:net';

export interface Connection {
  /** Resolves with the whole answer, head and body. */
  post(path: string, body: string): Promise<string>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';

/** One request at a time. The server must answer with Content-Length, as ours does. */
export async function openConnection(address: string): Promise<Connection> {
  const { hostname, port, host } = new URL(address);
  const socket: Socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  let waiting: PromiseWithResolvers<string> | null = null;
  const fail = () => waiting?.reject(new Error(`the server hung up after ${JSON.stringify(received)}`));
  socket.on('error', fail).on('close', fail);
  socket.on('data', (text: string) => {
    received += text;
    const head = received.indexOf(HEAD_END);
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < head + HEAD_END.length + length) return;
    const answer = received;
    received = '';
    waiting?.resolve(answer);
  });
  return {
    post(path, body) {
      waiting = Promise.withResolvers<string>();
      // It hung up while nothing was asked.
      if (socket.closed) fail();
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      return waiting.promise;
    },
    close() {
      waiting = null;
      socket.destroy();
    },
  };
}

export interface Request {
  readonly path: string;
  readonly body: string;
}

export interface Load {
  readonly connections: number;
  /** Of those that are measured; so many more come before to warm up. */
  readonly requests: number;
  readonly warmUp: number;
  /** The measuring ends here at the latest. */
  readonly mostMs: number;
  /** The next request of this connection. */
  next(connection: number): Request;
  /** An answer that does not hold this is a fault of the run. */
  readonly expected: RegExp;
}

export interface Measured {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly perSecond: number;
}

const openAll = (address: string, connections: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: connections }, () => openConnection(address)));

/** Every connection sends its next request as soon as the last one is answered. */
export async function measure(address: string, load: Load): Promise<Measured> {
  const connections = await openAll(address, load.connections);
  const run = async (requests: number, mostMs: number): Promise<Measured> => {
    const times: number[] = [];
    const begun = performance.now();
    let left = requests;
    await Promise.all(
      connections.map(async (connection, index) => {
        while (left-- > 0 && performance.now() - begun < mostMs) {
          const { path, body } = load.next(index);
          const sent = performance.now();
          const answer = await connection.post(path, body);
          times.push(performance.now() - sent);
          if (!load.expected.test(answer)) throw new Error(`not what was expected:\n${answer}`);
        }
      }),
    );
    return summary(times, performance.now() - begun);
  };
  await run(load.warmUp, load.mostMs);
  const measured = await run(load.requests, load.mostMs);
  for (const connection of connections) connection.close();
  return measured;
}

export interface Schedule {
  readonly connections: number;
  /** When each request is due, in milliseconds from the beginning, in rising order. */
  readonly due: readonly number[];
  /** Who has no answer by then gets none. */
  readonly mostMs: number;
  next(connection: number): Request;
}

export interface Answered {
  /** From when it was due: what waits for a free connection, or for this client, waits all the same. */
  readonly ms: number;
  readonly answer: string;
}

/** Sends each request when it is due, whatever became of those before it. What the server hangs up on is answered with nothing. */
export async function sendWhenDue(
  address: string,
  { connections, due, mostMs, next }: Schedule,
): Promise<Answered[]> {
  const opened = await openAll(address, connections);
  const free = opened.map((_, index) => index);
  const answered: Answered[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = performance.now();
  const since = (at: number) => performance.now() - begun - at;
  let sent = 0;

  async function send(at: number, index: number): Promise<void> {
    const { path, body } = next(index);
    const answer = await opened[index]?.post(path, body).catch(() => '');
    answered.push({ ms: since(at), answer: answer ?? '' });
    free.push(index);
    if (answered.length === due.length) resolve();
    else sendDue();
  }
  function sendDue(): void {
    for (let at = due[sent]; at !== undefined && since(at) >= 0; at = due[sent]) {
      const index = free.shift();
      if (index === undefined) return;
      sent++;
      void send(at, index);
    }
  }
  const clock = setInterval(sendDue, 1);
  const end = setTimeout(resolve, due.length > 0 ? mostMs : 0);
  await promise;
  clearInterval(clock);
  clearTimeout(end);
  for (const connection of opened) connection.close();
  const unanswered = Array.from({ length: due.length - answered.length }, () => ({ ms: mostMs, answer: '' }));
  return [...answered, ...unanswered];
}

/** As many a second on the average as are asked for, at moments that know nothing of each other. */
export function atRandom(perSecond: number, forMs: number, chance: () => number): number[] {
  const due: number[] = [];
  for (let at = 0; ; ) {
    at += (-Math.log(1 - chance()) / perSecond) * 1_000;
    if (at >= forMs) return due;
    due.push(at);
  }
}

export function summary(times: readonly number[], elapsedMs: number): Measured {
  return {
    requests: times.length,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    p999: percentile(times, 99.9),
    perSecond: (times.length / elapsedMs) * 1000,
  };
}

/** The smallest time that so many percent do not exceed. */
export function percentile(times: readonly number[], percent: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}
