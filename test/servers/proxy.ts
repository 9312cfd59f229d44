// A way to a server that can be cut, at the moment in which an answer passes.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  readonly port: number;
  /** Every connection that there is, and while it is closed every one to come. */
  cut(more?: { closed?: boolean }): void;
  /** Again, after it was closed. */
  open(): void;
  /** The first answer like this is not delivered, and its connection is cut. Resolves then. */
  cutAtAnswer(like: RegExp): Promise<void>;
  close(): Promise<void>;
}

/** `to`: the path of the server's unix socket, or its port on the loopback. */
export async function startProxy(to: string | number): Promise<Proxy> {
  const clients = new Set<Socket>();
  let isClosed = false;
  let trap: { like: RegExp; sprung(): void } | null = null;
  const server = createServer((client) => {
    if (isClosed) return client.destroy();
    const upstream =
      typeof to === 'number' ? connect({ host: '127.0.0.1', port: to }) : connect({ path: to });
    clients.add(client);
    client.on('close', () => {
      clients.delete(client);
      // What the server has received, it has: only the way back is gone.
      upstream.end();
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
    upstream.on('close', () => client.destroy());
    client.on('data', (bytes) => upstream.write(bytes));
    let passed = '';
    upstream.on('data', (bytes) => {
      passed = trap ? passed + bytes.toString('latin1') : '';
      if (!trap?.like.test(passed)) return client.write(bytes);
      trap.sprung();
      trap = null;
      client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut({ closed = false } = {}) {
      isClosed = closed;
      for (const client of clients) client.destroy();
    },
    open() {
      isClosed = false;
    },
    cutAtAnswer: (like) =>
      new Promise((resolve) => {
        trap = { like, sprung: resolve };
      }),
    async close() {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
