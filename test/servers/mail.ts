// Mail servers on loopback: one that takes every mail, and bad ones. And the reading of what they got.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly secure: boolean;
  /** By their names in lower case; a name that stands there twice has two. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** Decoded. */
  readonly text: string;
  readonly html: string;
  readonly raw: string;
}

/** Takes every mail, unless `options` say otherwise. */
export async function startMailServer(t: TestContext, options: SMTPServerOptions = {}) {
  const mails: Received[] = [];
  const waiting: (() => void)[] = [];
  let connections = 0;
  let most = 0;
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    closeTimeout: 100,
    logger: false,
    onConnect(_session, callback) {
      most = Math.max(most, ++connections);
      callback();
    },
    onClose() {
      connections--;
    },
    async onData(stream, session, callback) {
      const { mailFrom, rcptTo } = session.envelope;
      const from = mailFrom ? mailFrom.address : '';
      const to = rcptTo.map(({ address }) => address);
      const raw = Buffer.concat(await stream.toArray()).toString();
      mails.push({ from, to, secure: session.secure, raw, ...readMail(raw) });
      callback();
      for (const wake of waiting.splice(0)) wake();
    },
    ...options,
  });
  // What a client does to its connection is no fault of the test.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    mostConnections: () => most,
    /** Once so many have come. */
    async received(count: number): Promise<readonly Received[]> {
      while (mails.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return mails;
    },
  };
}

/** Speaks as `talk` says, and knows who is connected. */
export async function startBadServer(t: TestContext, talk: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    connected: async (): Promise<Socket> => {
      const [first] = sockets;
      return first ?? ((await once(server, 'connection'))[0] as Socket);
    },
  };
}

/** A port that nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function readMail(raw: string): Pick<Received, 'headers' | 'text' | 'html'> {
  const { headers, body } = split(raw);
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(headers.get('content-type')?.[0] ?? '') ?? [];
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, '')));
  const content = (type: string): string => {
    const part = parts.find((one) => one.headers.get('content-type')?.[0]?.startsWith(type));
    return part ? decoded(part.body, part.headers.get('content-transfer-encoding')?.[0]) : '';
  };
  return { headers, text: content('text/plain'), html: content('text/html') };
}

function split(raw: string) {
  const end = raw.indexOf('\r\n\r\n');
  const headers = new Map<string, string[]>();
  for (const line of raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(name.length + 2)]);
  }
  return { headers, body: raw.slice(end + 4) };
}

function decoded(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
