import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type ClientRequest, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type FastifyReply, fastify } from 'fastify';
import { takeTurns } from '../../src/http/list-turns.ts';
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

test('who leaves the line of lists has no turn, no list is read for them, and nobody waits for theirs', async (t) => {
  const server = fastify();
  t.after(() => server.close());
  server.decorateRequest('caller');
  server.addHook('onRequest', (asked, _reply, done) => {
    Object.assign(asked, { caller: { user: { id: 'ada' } } });
    done();
  });
  takeTurns(server);
  const asked = new EventEmitter();
  server.addHook('preValidation', (_request, _reply, done) => {
    asked.emit('one');
    done();
  });
  const held = Promise.withResolvers<void>();
  const read: string[] = [];
  server.get<{ Params: { name: string } }>('/:name', { config: { isList: true } }, async ({ params }) => {
    read.push(params.name);
    if (params.name === 'first') await held.promise;
    return {};
  });
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const ask = async (name: string) => {
    const comes = once(asked, 'one');
    const client = request({ port, host: '127.0.0.1', path: `/${name}`, agent: false }).end();
    client.on('error', () => {});
    await comes;
    return client;
  };
  const first = await ask('first');
  let here = 0;
  const gone = Promise.withResolvers<void>();
  server.server.on('connection', (socket) => {
    here++;
    socket.on('close', () => --here === 0 && gone.resolve());
  });
  const leaving: ClientRequest[] = [];
  for (let nth = 0; nth < 20; nth++) leaving.push(await ask(`gone${nth}`));
  for (const client of leaving) client.destroy();
  await gone.promise;
  const last = await ask('last');
  const answered = Promise.all([first, last].map((client) => once(client, 'response')));
  held.resolve();
  await answered;
  assert.deepEqual(read, ['first', 'last']);
});
