// How many connections there may be, and how long one may keep us waiting. Each takes a file handle of the process, and
// with the last of them the database and the brokers are out of reach too.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { canonicalBlock } from '../app/accounts/ip-block.ts';
import { canonicalIp, type IpList } from '../app/accounts/ip-list.ts';

export interface ConnectionLimits {
  readonly inAll: number;
  /** Of one address, or one /64 of IPv6. */
  readonly perAddress: number;
  /** From the first byte, or the opening of the connection, to the end of the headers. */
  readonly headersMs: number;
  /** An answer of which the client has taken nothing for so long is dropped with its connection. */
  readonly sendMs: number;
}

/** For the making of the server. The platform looks for those that are late once in 30 s, unless it is told otherwise. */
export const timeoutsOf = ({ headersMs }: ConnectionLimits) => ({
  headersTimeout: headersMs,
  connectionsCheckingInterval: Math.min(1_000, headersMs),
});

export interface Latecomers {
  /** Counts the requests of this server. */
  watch(server: Server): void;
  /** Of a connection that the platform calls late: refused, unless a whole request lay there all along. */
  judge(socket: Socket, refuse: () => void): void;
}

/**
 * The platform looks at the clock before it reads. A process that was held up (a paused machine, a starved one) would so
 * refuse requests that arrived in time and waited for it: a signal lost to our own sleep. Whoever is late is therefore
 * judged once everything that has arrived was read.
 */
export function openLatecomers(): Latecomers {
  const last = new WeakMap<Socket, IncomingMessage>();
  const wholeOf = (socket: Socket) => (last.get(socket)?.complete ? last.get(socket) : undefined);
  return {
    watch(server) {
      server.on('request', (request: IncomingMessage) => last.set(request.socket, request));
    },
    judge(socket, refuse) {
      const before = wholeOf(socket);
      setImmediate(() => {
        if (wholeOf(socket) === before) refuse();
      });
    },
  };
}

/** A trusted proxy's connections are the operator's own: it keeps them for the next request, and must find them open. */
export function limitConnections(
  server: Server,
  { inAll, perAddress, sendMs }: ConnectionLimits,
  trustedProxies: IpList,
): void {
  /** All, and those of each client; the one that was silent for longest comes first. */
  const all = new Set<Socket>();
  const byClient = new Map<string, Set<Socket>>();
  /** What was last asked on it. */
  const asked = new WeakMap<Socket, IncomingMessage>();

  server.on('connection', (socket: Socket) => {
    const ip = canonicalIp(socket.remoteAddress ?? '') ?? '';
    if (trustedProxies.has(ip)) return;
    const client = clientOf(ip);
    const mates = byClient.get(client) ?? new Set();
    if ((mates.size >= perAddress && !makeRoom(mates)) || (all.size >= inAll && !makeRoom(all))) {
      socket.destroy();
      return;
    }
    all.add(socket);
    byClient.set(client, mates.add(socket));
    socket.once('close', () => {
      all.delete(socket);
      mates.delete(socket);
      if (mates.size === 0 && byClient.get(client) === mates) byClient.delete(client);
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    asked.set(socket, request);
    // Until the last byte is taken. Before the platform's own listener, which sets its time for the next request, unless
    // that is there already and being worked on.
    response.once('prefinish', () => socket.setTimeout(sendMs));
    // What is sent piece by piece waits for the client all the while; events are waited for by both, and look after
    // themselves.
    response.once('pipe', () => socket.setTimeout(isOfEvents(response) ? 0 : sendMs));
    response.prependOnceListener('finish', () => socket.setTimeout(0));
    response.once('close', () => {
      if (asked.get(socket) === request) asked.delete(socket);
      for (const set of [all, byClient.get(clientOf(canonicalIp(socket.remoteAddress ?? '') ?? ''))])
        if (set?.delete(socket)) set.add(socket);
    });
  });

  /** Cuts the first one that nothing is being done for. A request that has not come whole is nothing yet. */
  function makeRoom(sockets: Set<Socket>): boolean {
    for (const socket of sockets) {
      if (asked.get(socket)?.complete) continue;
      socket.destroy();
      // Its own event comes later than the next connection may.
      all.delete(socket);
      sockets.delete(socket);
      return true;
    }
    return false;
  }
}

const isOfEvents = (response: ServerResponse): boolean =>
  response.getHeader('content-type') === 'text/event-stream';

const clientOf = (ip: string): string => (ip.includes(':') ? (canonicalBlock(`${ip}/64`) ?? ip) : ip);
