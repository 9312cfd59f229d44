// What stands before the API processes: it asks each for its /health, opens a connection for every request, and takes another
// process only where it got no connection. What may have been received is never sent again.

import {
  request as ask,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** As the readiness probe of deploy/kubernetes counts, only sooner. */
const HEALTH_MS = 100;
const FAILURES = 2;

interface Backend {
  readonly url: string;
  /** In a row; infinite until it was healthy for the first time. */
  failures: number;
}

export interface Balancer {
  readonly url: string;
  /** Resolves once it is sent requests. */
  join(url: string): Promise<void>;
  /** It is sent nothing from now on; what it has, it finishes. */
  leave(url: string): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const backends = new Map<string, Backend>();
  let turn = 0;

  async function look(backend: Backend): Promise<void> {
    const isUp = await fetch(`${backend.url}/health`).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status === 200;
      },
      () => false,
    );
    backend.failures = isUp ? 0 : backend.failures + 1;
  }

  function pass(incoming: IncomingMessage, body: Buffer, answer: ServerResponse, left: Backend[]): void {
    const [backend, ...others] = left;
    if (!backend) return void answer.writeHead(502).end('no process has a connection for this');
    const outgoing: ClientRequest = ask(backend.url + incoming.url, {
      method: incoming.method,
      headers: { ...incoming.headers, connection: 'close' },
      agent: false,
    });
    let isConnected = false;
    outgoing.once('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    outgoing.once('error', (fault) => {
      if (!isConnected) return pass(incoming, body, answer, others);
      answer.writeHead(502).end(`${backend.url}: ${fault.message}`);
    });
    outgoing.once('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    outgoing.end(body);
  }

  const server = createServer(async (incoming, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const healthy = [...backends.values()].filter(({ failures }) => failures < FAILURES);
    const first = turn++ % Math.max(1, healthy.length);
    pass(incoming, Buffer.concat(chunks), answer, [...healthy.slice(first), ...healthy.slice(0, first)]);
  });
  const closing = new AbortController();
  const looking = (async () => {
    while (!closing.signal.aborted) {
      await Promise.all([...backends.values()].map(look));
      await pause(HEALTH_MS);
    }
  })();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async join(url) {
      const backend: Backend = { url, failures: Number.POSITIVE_INFINITY };
      while (backend.failures > 0) await look(backend);
      backends.set(url, backend);
    },
    leave: (url) => void backends.delete(url),
    async close() {
      closing.abort();
      await looking;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
