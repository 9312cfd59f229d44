// What a stream of orders does with clients that do not take it, and with those that have nothing to take.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify from 'fastify';
import { ipList } from '../../src/app/accounts/ip-list.ts';
import type { Caller } from '../../src/app/identity/access.ts';
import type { FeedEvent, Reader } from '../../src/app/orders/feeds.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { limitConnections } from '../../src/http/connections.ts';
import { orderStreamRoutes } from '../../src/http/routes/order-stream.ts';
import { stopwatch } from '../stopwatch.ts';

const SEND_MS = 300;
/** Far more than is kept for anybody, and than the network takes by itself. */
const MOST_TOLD = 64;
const LARGE = { note: 'x'.repeat(1_000_000) } as unknown as OrderRecord;

async function openRoute(t: TestContext, { sendMs = SEND_MS, first = [] as FeedEvent[] } = {}) {
  const readers: Reader[] = [];
  const closed = Promise.withResolvers<void>();
  const server = Fastify();
  limitConnections(server.server, { inAll: 10, perAddress: 10, headersMs: 1_000, sendMs }, ipList([]));
  const sockets: Socket[] = [];
  server.server.on('connection', (socket) => sockets.push(socket));
  server.addHook('onRequest', async (asked) => {
    asked.caller = { user: { id: 'somebody' } } as unknown as Caller;
  });
  orderStreamRoutes(server, {
    isStillIn: async () => true,
    async openStream(_user, _after, reader) {
      readers.push(reader);
      reader.tell([...first, { kind: 'place', place: 'a-1' }]);
      return { prolong() {}, close: async () => closed.resolve() };
    },
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  const asked = request({ port, path: '/trading/orders/stream', agent: false });
  asked.on('error', () => {});
  t.after(() => asked.destroy());
  const response = await new Promise<import('node:http').IncomingMessage>((resolve) =>
    asked.once('response', resolve).end(),
  );
  response.on('error', () => {});
  return {
    reader: readers[0] ?? assert.fail('nobody reads'),
    closed: closed.promise,
    response,
    socket: sockets[0] ?? assert.fail('nobody is connected'),
    stop: () => server.close(),
  };
}

describe('A stream of orders', { concurrency: true }, () => {
  test('whose client takes nothing is cut off before much is kept for it', async (t) => {
    const { reader, closed } = await openRoute(t);
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    let told = 0;
    for (; told < MOST_TOLD && !isClosed; told++) {
      reader.tell([{ kind: 'order', place: `a-${told}`, record: LARGE }]);
      await pause(5);
    }
    await closed;
    assert.ok(told < MOST_TOLD, `${told} MB were kept`);
  });

  test('that begins with more than is kept for anybody is not cut off before its client could take it', async (t) => {
    const first = ['a-0', 'a-1'].map((place): FeedEvent => ({ kind: 'order', place, record: LARGE }));
    const { reader, response } = await openRoute(t, { first });
    assert.equal(response.statusCode, 200);
    let taken = 0;
    const all = new Promise<void>((resolve) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        taken += chunk.length;
        if (chunk.endsWith('data: {}\n\n')) resolve();
      });
    });
    while (taken < 2_000_000) await pause(5);
    reader.tell([{ kind: 'reset', place: 'a-2' }]);
    await all;
  });

  test('whose client takes nothing does not hold a service that stops', async (t) => {
    const { reader, closed, socket, stop } = await openRoute(t, { sendMs: 60_000 });
    while (socket.writableLength === 0) {
      reader.tell([{ kind: 'order', place: 'a-1', record: LARGE }]);
      await pause(5);
    }
    const passed = stopwatch();
    await stop();
    await closed;
    assert.ok(passed() < 5_000);
  });

  test('that has nothing to say for long is not taken for one that nobody takes', async (t) => {
    const { reader, response } = await openRoute(t);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await pause(3 * SEND_MS);
    const heard = new Promise((resolve) => response.once('data', resolve));
    reader.tell([{ kind: 'reset', place: 'a-2' }]);
    await heard;
    assert.equal(text, 'id: a-1\n\nevent: reset\nid: a-2\ndata: {}\n\n');
  });
});
