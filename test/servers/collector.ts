// A collector of traces on the loopback, as far as we speak with one: OTLP over HTTP, in JSON.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** The role of the process that sent it. */
  readonly role: unknown;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly Span[];
  /** As they came, for what must not be in them. */
  readonly texts: readonly string[];
  readonly headers: readonly (string | undefined)[];
  /** The next batch has come, whether it is answered or not. */
  asked(): Promise<void>;
  close(): Promise<void>;
}

interface Keyed {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
const recordOf = (attributes: readonly Keyed[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** `answers: false`: it takes what comes, and says nothing. */
export async function startCollector({ answers = true } = {}): Promise<Collector> {
  const spans: Span[] = [];
  const texts: string[] = [];
  const headers: (string | undefined)[] = [];
  let waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    texts.push(text);
    headers.push(request.headers['x-collector-key'] as string | undefined);
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans)
      for (const { spans: found } of scopeSpans)
        for (const span of found)
          spans.push({
            links: [],
            ...span,
            attributes: recordOf(span.attributes),
            role: recordOf(resource.attributes)['fillpath.role'],
          });
    for (const tell of waiting) tell();
    waiting = [];
    if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    headers,
    asked: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The way of an order that fills at once: each part, and whose part it is. */
export const WAY = {
  webhook: null,
  checks: 'webhook',
  commit: 'webhook',
  queue: 'webhook',
  execute: 'webhook',
  'broker ask': 'execute',
  'broker place': 'execute',
  result: 'webhook',
} as const;

/** The spans of the trace in which this order is. */
export function traceOf(collector: Collector, order: string): readonly Span[] {
  const id = collector.spans.find(({ attributes }) => attributes['fillpath.order_id'] === order)?.traceId;
  return collector.spans.filter(({ traceId }) => traceId === id);
}

export const parentsIn = (trace: readonly Span[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    trace.map(({ name, parentSpanId }) => [
      name,
      parentSpanId ? (trace.find(({ spanId }) => spanId === parentSpanId)?.name ?? 'missing') : null,
    ]),
  );
