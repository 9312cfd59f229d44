// A client of the edge: any address of 127.0.0.0/8, any path as it is written, with or without a certificate.

import { Agent, type RequestOptions, request } from 'node:https';
import { type ClientCertificate, type Edge, SERVER_NAME } from './nginx.ts';

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly from?: string;
  readonly certificate?: ClientCertificate;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Each name in lower case, as often as it was sent. */
  readonly headerNames: readonly string[];
  readonly text: string;
  /** The body's fields; none where it is no JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

export function openClient(edge: Edge) {
  const agents = new Map<string, Agent>();
  const agentOf = (from: string, certificate: ClientCertificate | undefined): Agent => {
    const key = `${from} ${certificate?.cert}`;
    const agent =
      agents.get(key) ??
      new Agent({
        keepAlive: true,
        maxSockets: 16,
        ca: edge.tls.ca,
        servername: SERVER_NAME,
        ...certificate,
      });
    agents.set(key, agent);
    return agent;
  };

  function options(
    path: string,
    { method, headers, body, from = '127.0.0.1', certificate }: Question,
  ): RequestOptions {
    return {
      host: '127.0.0.1',
      port: edge.https,
      path,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      localAddress: from,
      agent: agentOf(from, certificate),
      timeout: 20_000,
      headers: {
        host: SERVER_NAME,
        'user-agent': 'Go-http-client/1.1',
        accept: '*/*',
        ...(body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
        // By itself Node would send some bodies without a word about their length.
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(textOf(body))) }),
        ...headers,
      },
    };
  }

  return {
    options,
    ask: (path: string, question: Question = {}): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const outgoing = request(options(path, question), (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.once('error', reject);
          response.once('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              headerNames: response.rawHeaders
                .filter((_, i) => i % 2 === 0)
                .map((name) => name.toLowerCase()),
              text,
              body: fieldsOf(text),
            }),
          );
        });
        outgoing.once('error', reject);
        outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer to ${path}`)));
        outgoing.end(textOf(question.body));
      }),
    close(): void {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

const textOf = (body: unknown): string =>
  body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);

function fieldsOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
