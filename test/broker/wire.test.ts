// What leaves us over HTTP leaves once, is followed nowhere, and is known not to have left where nobody is there.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { askWhole, isUnsent, send } from '../../src/broker/wire.ts';
import { listen } from './loopback.ts';

const faultOf = (asked: Promise<unknown>): Promise<Error | undefined> =>
  asked.then(
    () => undefined,
    (fault: Error) => fault,
  );

test('what is sent arrives as it is, and so does the answer', async (t) => {
  const heard: unknown[] = [];
  const url = await listen(t, async (request, response) => {
    const body = (await request.toArray()).join('');
    const { accept, 'accept-encoding': packing, 'x-own': own, 'content-length': length } = request.headers;
    heard.push([request.method, request.url, { accept, packing, own, length }, body]);
    response.writeHead(201, { 'x-many': ['a', 'b'] }).end('{"so":"ä"}');
  });
  const { status, headers, bytes } = await askWhole(send, `${url}/path`, {
    method: 'POST',
    headers: { Accept: 'text/plain', 'X-Own': '1' },
    body: '{"ü":1}',
  });
  assert.deepEqual(heard, [
    ['POST', '/path', { accept: 'text/plain', packing: 'identity', own: '1', length: '8' }, '{"ü":1}'],
  ]);
  assert.deepEqual(
    [status, headers.get('x-many'), Buffer.from(bytes).toString()],
    [201, 'a, b', '{"so":"ä"}'],
  );
});

test('nothing is sent twice: not where the answer asks for it, nor where the connection ends instead of one', async (t) => {
  let count = 0;
  const url = await listen(t, (request, response) => {
    count++;
    // The first one makes the connection that the second one finds.
    if (count === 1) response.end('{}');
    else if (count === 2) request.socket.destroy();
    else response.writeHead(421).end();
  });
  await askWhole(send, url, {});
  const fault = await faultOf(askWhole(send, url, {}));
  assert.ok(fault && !isUnsent(fault), `${fault}`);
  assert.equal((await askWhole(send, url, { method: 'POST', body: '{}' })).status, 421);
  assert.equal(count, 3);
});

test('a connection is offered for one request at a time, and not for HTTP/2', async (t) => {
  const hello = Promise.withResolvers<Buffer>();
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes: Buffer) => {
      hello.resolve(bytes);
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.ok(await faultOf(askWhole(send, `https://127.0.0.1:${port}/`, {})));
  const offered = (await hello.promise).toString('latin1');
  assert.deepEqual([offered.includes('\x08http/1.1'), offered.includes('\x02h2')], [true, false]);
});

test('an answer that is packed all the same is unpacked', async (t) => {
  for (const [encoding, pack] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const) {
    const url = await listen(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(pack('{"a":1}'));
    });
    assert.equal(Buffer.from((await askWhole(send, url, {})).bytes).toString(), '{"a":1}');
  }
  const url = await listen(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"a":1}');
  });
  assert.ok(await faultOf(askWhole(send, url, {})));
});

test('nobody is followed elsewhere', async (t) => {
  let count = 0;
  const url = await listen(t, (_request, response) => {
    count++;
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  assert.ok(await faultOf(askWhole(send, url, {})));
  assert.equal(count, 1);
});

test('where nobody is there nothing has left', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const fault = await faultOf(askWhole(send, `http://127.0.0.1:${port}/`, {}));
  assert.ok(isUnsent(fault));
});

test('an answer ends with the call’s signal, and with what it may be long', async (t) => {
  const url = await listen(t, (_request, response) => void response.writeHead(200).write('x'.repeat(100)));
  assert.ok(await faultOf(askWhole(send, url, { signal: AbortSignal.timeout(50) })));
  assert.match(`${await faultOf(askWhole(send, url, {}, 99))}`, /an answer of more than 99 bytes/);
});
