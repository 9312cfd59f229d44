import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { whenClosed } from '../../src/http/reads-at-once.ts';

test('who has gone before anybody counted it is not counted for ever', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = request({ port, host: '127.0.0.1' }).end();
  client.on('error', () => {});
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse];
  const reply = { raw } as unknown as FastifyReply;
  let early = 0;
  let late = 0;
  whenClosed(reply, () => early++);
  const closed = once(raw, 'close');
  client.destroy();
  await closed;
  whenClosed(reply, () => late++);
  assert.deepEqual([early, late], [1, 1]);
});
