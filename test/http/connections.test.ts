// Connections have an end: who holds many and says nothing, says it drop by drop, or asks and does not read, keeps nobody
// else from being served.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { openMemoryStore } from '../../src/store/memory.ts';
import { openWorld, type World } from '../world.ts';

async function listening(t: TestContext, env: Record<string, string>, parts = {}) {
  const sockets: Socket[] = [];
  // Before the world stops, which waits for what is being received.
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const world = await openWorld(t, { env, ...parts });
  await world.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.server.server.address() as AddressInfo;
  /** From one of loopback's many addresses. */
  const open = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    // A reset is an end as any other.
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  return { world, open };
}

/** Everything up to the end of the connection; null: it ended without a word. */
async function answerTo(socket: Socket, text: string): Promise<string | null> {
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(text);
  if (!socket.closed) await once(socket, 'close');
  return answer === '' ? null : (answer.split('\r\n')[0] ?? '');
}

const GET = 'GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
const isOpen = (socket: Socket) => !socket.destroyed && !socket.readableEnded;
const ended = async (socket: Socket) => {
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
};
const connections = (world: World) =>
  new Promise<number>((resolve) => world.server.server.getConnections((_, count) => resolve(count)));

describe('connections of one address', () => {
  test('are so many; the one that said nothing for longest makes room for the next', async (t) => {
    const { world, open } = await listening(t, { MAX_CONNECTIONS_PER_IP: '5' });
    const silent: Socket[] = [];
    for (let index = 0; index < 5; index++) silent.push(await open());
    assert.equal(await answerTo(await open(), GET), 'HTTP/1.1 200 OK');
    await ended(silent[0] as Socket);
    assert.equal(await connections(world), 4);
    for (let index = 0; index < 40; index++) await open();
    await world.eventually(
      () => connections(world),
      (count) => count === 5,
    );
    assert.equal(await answerTo(await open(), GET), 'HTTP/1.1 200 OK');
    assert.equal(await answerTo(await open('127.0.0.2'), GET), 'HTTP/1.1 200 OK');
  });

  test('of which none is idle are not cut: the next one is', async (t) => {
    const store = openMemoryStore({ clock: { now: () => Date.now() } });
    const { world, open } = await listening(t, { MAX_CONNECTIONS_PER_IP: '2' }, { store });
    const trader = await world.makeTrader();
    const released = Promise.withResolvers<void>();
    const { countInWindow } = store;
    let reached = 0;
    store.countInWindow = async (...call) => {
      reached++;
      await released.promise;
      return countInWindow(...call);
    };
    const body = JSON.stringify(world.signal(trader));
    const post =
      `POST /webhook/${trader.account.webhookToken}/order HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
      `content-length: ${body.length}\r\n\r\n`;
    const working = [await open(), await open()].map((socket) => answerTo(socket, post + body));
    await world.eventually(
      async () => reached,
      (count) => count === 2,
    );
    assert.equal(await answerTo(await open(), GET), null);
    released.resolve();
    const answers = await Promise.all(working);
    assert.ok(answers.includes('HTTP/1.1 200 OK'), answers.join());

    // A body that does not come is no work yet.
    store.countInWindow = countInWindow;
    const [first] = [await open(), await open()].map((socket) => {
      socket.write(`${post}{`);
      return socket;
    });
    assert.equal(await answerTo(await open(), GET), 'HTTP/1.1 200 OK');
    await ended(first as Socket);
  });

  test('are as many as it likes where it is a trusted proxy’s', async (t) => {
    const env = { MAX_CONNECTIONS_PER_IP: '2', MAX_CONNECTIONS: '3', TRUSTED_PROXIES: '127.0.0.9' };
    const { world, open } = await listening(t, env);
    const kept = await Promise.all(Array.from({ length: 10 }, () => open('127.0.0.9')));
    assert.equal(await answerTo(await open('127.0.0.8'), GET), 'HTTP/1.1 200 OK');
    assert.equal(await connections(world), 10);
    assert.ok(kept.every(isOpen));
  });
});

describe('connections in all', () => {
  test('are so many, whoever holds them: the one that said nothing for longest makes room', async (t) => {
    const { world, open } = await listening(t, { MAX_CONNECTIONS: '6' });
    const silent = await Promise.all(Array.from({ length: 30 }, (_, index) => open(`127.0.1.${index + 1}`)));
    await world.eventually(
      () => connections(world),
      (count) => count === 6,
    );
    assert.equal(await answerTo(await open(), GET), 'HTTP/1.1 200 OK');
    await ended(silent[0] as Socket);
  });
});

describe('a client that takes its time', () => {
  test('with nothing at all, or with the headers, is cut off', async (t) => {
    const { open } = await listening(t, { HEADERS_TIMEOUT_SECONDS: '0.3' });
    const silent = await open();
    const dripping = await open();
    dripping.write('GET /health/live HTTP/1.1\r\nhost: x\r\n');
    const drip = setInterval(() => dripping.write('x: y\r\n'), 50);
    t.after(() => clearInterval(drip));
    let said = '';
    dripping.setEncoding('latin1').on('data', (chunk) => {
      said += chunk;
    });
    await Promise.all([ended(silent), ended(dripping)]);
    assert.match(said, /^HTTP\/1\.1 408 .*application\/problem\+json/s);
  });

  test('to read what it asked for is dropped, with what waits for it', async (t) => {
    const { world, open } = await listening(t, { SEND_TIMEOUT_SECONDS: '0.3' });
    const greedy = await open();
    greedy.pause();
    greedy.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(60));
    await world.eventually(
      () => connections(world),
      (count) => count === 0,
    );
    // One who reads, however slowly something came, is served.
    assert.equal(await answerTo(await open(), GET), 'HTTP/1.1 200 OK');
  });

  test('is not one that waits for us, even where an earlier answer went out on the same connection', async (t) => {
    const { world, open } = await listening(t, { SEND_TIMEOUT_SECONDS: '0.2' });
    const trader = await world.makeTrader({}, { paper: { latency_ms: 800 } });
    const body = JSON.stringify(world.signal(trader));
    const order =
      `POST /webhook/${trader.account.webhookToken}/order HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`;
    const socket = await open();
    let said = '';
    socket.on('data', (chunk) => {
      said += chunk;
    });
    await answerTo(socket, `GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n${order}`);
    assert.match(said, /"status":"filled"/);
  });

  test('between two requests is kept', async (t) => {
    const { open } = await listening(t, { HEADERS_TIMEOUT_SECONDS: '0.2', SEND_TIMEOUT_SECONDS: '0.2' });
    const socket = await open();
    const keep = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';
    socket.write(keep);
    await once(socket, 'data');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(await answerTo(socket, GET), 'HTTP/1.1 200 OK');
  });
});

describe('a process that was held up for longer than a request may take', () => {
  test('reads what came meanwhile before it calls anybody late: a signal is not refused for our own sleep', async (t) => {
    const { world, open } = await listening(t, { HEADERS_TIMEOUT_SECONDS: '0.2' });
    const taken = once(world.server.server, 'connection');
    const socket = await open();
    await taken;
    const answer = answerTo(socket, GET);
    // Nothing runs here meanwhile, as in a machine that was paused.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    assert.equal(await answer, 'HTTP/1.1 200 OK');
  });
});
