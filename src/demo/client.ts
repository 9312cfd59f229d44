// The demo's way into the service: HTTP over the loopback, as anybody else's.

import { Agent, request as httpRequest } from 'node:http';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** An object is sent as JSON, a text as it stands. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Which of the parts of the demo it is. */
  readonly as: Part;
}

export interface Answer {
  readonly status: number;
  /** What was read of the JSON; null: it was none. */
  readonly body: unknown;
}

export interface Client {
  send(request: Request): Promise<Answer>;
  /** What is under way fails. */
  close(): void;
}

/** On a loopback that has more than one address each part has its own, so that the lists can tell them apart. */
const PARTS = {
  owner: '127.0.0.1',
  strategy: '127.0.0.52',
  attacker: '127.0.0.66',
} as const;
export type Part = keyof typeof PARTS;

const LOOPBACK = '127.0.0.1';
const hasManyAddresses = process.platform === 'linux';

export function openClient({ host, port }: { host: string; port: number }): Client {
  const agent = new Agent({ keepAlive: true });
  const closing = new AbortController();
  return {
    send: ({ method, path, body, headers = {}, as }) =>
      new Promise((resolve, reject) => {
        const text = typeof body === 'object' ? JSON.stringify(body) : body;
        const own = hasManyAddresses && host === LOOPBACK ? { localAddress: PARTS[as] } : {};
        const type = text === undefined ? {} : { 'content-type': 'application/json' };
        const sent = httpRequest({
          ...{ host, port, method, path, agent, signal: closing.signal, ...own },
          headers: { 'user-agent': `Fillpath demo (${as})`, ...type, ...headers },
        });
        sent.once('error', reject);
        sent.once('response', (response) => {
          let answer = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            answer += part;
          });
          response.once('error', reject);
          response.once('end', () => resolve({ status: response.statusCode ?? 0, body: readJson(answer) }));
        });
        sent.end(text);
      }),
    close() {
      closing.abort();
      agent.destroy();
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
