// A client of GET /trading/orders/stream that reads as a browser does, and what a page would show of it.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { OrderRecord } from '../../src/domain/orders/result.ts';

export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: OrderRecord;
}

export interface EventStream {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly events: readonly StreamEvent[];
  readonly comments: () => number;
  /** What a browser would send as Last-Event-ID. */
  readonly place: () => string;
  /** What is in the body of a refusal. */
  readonly text: () => string;
  /** Resolves when it holds for what has come so far; fails after `patienceMs`, or when the stream ends. */
  until(what: string, holds: () => boolean, patienceMs?: number): Promise<void>;
  order(what: string, holds: (record: OrderRecord) => boolean): Promise<OrderRecord>;
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  close(): void;
}

const PATIENCE_MS = 60_000;

/** Resolves with the head of the answer. */
export function openEventStream(
  base: string,
  { headers, after }: { readonly headers: Record<string, string>; readonly after?: string | undefined },
): Promise<EventStream> {
  const events: StreamEvent[] = [];
  const checks = new Set<() => void>();
  const ended = Promise.withResolvers<void>();
  let comments = 0;
  let place = '';
  let rest = '';
  let text = '';

  /** As the standard says, for what we send: one block is one event, a comment or a place. */
  function read(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === '') comments++;
      else fields.set(name, value);
    }
    place = fields.get('id') ?? place;
    const data = fields.get('data');
    if (data === undefined) return;
    events.push({
      event: fields.get('event') ?? 'message',
      id: place,
      data: JSON.parse(data) as OrderRecord,
    });
  }

  const until = (what: string, holds: () => boolean, patienceMs = PATIENCE_MS) =>
    new Promise<void>((resolve, reject) => {
      const check = () => holds() && settle(resolve);
      const fail = () =>
        settle(() => reject(new Error(`${what}: not in time, after ${JSON.stringify(events)}`)));
      const timer = setTimeout(fail, patienceMs);
      const settle = (then: () => void) => {
        clearTimeout(timer);
        checks.delete(check);
        then();
      };
      checks.add(check);
      check();
    });

  return new Promise((resolve, reject) => {
    const asked = request(
      `${base}/trading/orders/stream`,
      { headers: { ...headers, ...(after === undefined ? {} : { 'last-event-id': after }) }, agent: false },
      (response) => {
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          const blocks = (rest + chunk).split('\n\n');
          rest = blocks.pop() ?? '';
          if (response.statusCode === 200) blocks.forEach(read);
          for (const check of [...checks]) check();
        });
        response.on('error', () => {});
        response.once('close', ended.resolve);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          events,
          comments: () => comments,
          place: () => place,
          text: () => text,
          until,
          async order(what, holds) {
            const found = () => events.find(({ event, data }) => event === 'order' && holds(data));
            await until(what, () => found() !== undefined);
            return found()?.data ?? assert.fail(what);
          },
          ended: ended.promise,
          close: () => asked.destroy(),
        });
      },
    );
    asked.once('error', reject);
    asked.end();
  });
}
