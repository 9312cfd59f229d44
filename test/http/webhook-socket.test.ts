// Raw bytes on a listening socket: what is no request is refused in the same shape, and the server stays healthy.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openWorld, type Problem, type Trader } from '../world.ts';

/** A connection that the server forgets to close fails. */
const SOON = { timeout: 60_000 };

async function openDoor(t: TestContext) {
  const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '100000' } });
  await world.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = world.server.server.address() as AddressInfo;
  const trader = await world.makeTrader();

  async function open(): Promise<{ socket: Socket; gone: Promise<unknown> }> {
    const accepted = once(world.server.server, 'connection') as Promise<[Socket]>;
    const socket = connect(port, '127.0.0.1');
    // A reset is one of the ways in which a refused connection ends.
    socket.on('error', () => {});
    const [served] = await accepted;
    return { socket, gone: once(served, 'close') };
  }

  return {
    world,
    trader,
    /** Until the server has closed the connection. */
    async say(bytes: string | Uint8Array): Promise<string> {
      const { socket } = await open();
      const heard: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => heard.push(chunk));
      socket.write(bytes);
      await once(socket, 'close');
      return Buffer.concat(heard).toString();
    },
    /** Leaves as soon as the bytes are sent, and ends when the server has noticed. */
    async sayAndLeave(bytes: string): Promise<void> {
      const { socket, gone } = await open();
      await new Promise<void>((sent) => socket.write(bytes, () => sent()));
      socket.destroy();
      await gone;
    },
    async assertHealthy(): Promise<void> {
      const health = await fetch(`http://127.0.0.1:${port}/health`);
      assert.equal(health.status, 200);
      await health.body?.cancel();
      const { body } = await world.send(trader, { quantity: 0.001 }, { query: '?simulation=true' });
      assert.equal(body.status, 'filled');
    },
  };
}

/** A request of this trader as bytes; `change` is what is wrong with it. */
function post(
  { account }: Trader,
  body: string,
  headers: string[] = [`Content-Length: ${body.length}`],
): string {
  const lines = [
    `POST /webhook/${account.webhookToken}/order HTTP/1.1`,
    'Host: x',
    'Connection: close',
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
const problemOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Problem;

test('bytes that are no request are refused with a problem, and the server goes on', SOON, async (t) => {
  const { world, trader, say, assertHealthy } = await openDoor(t);
  const signal = JSON.stringify(world.signal(trader));
  const path = `/webhook/${trader.account.webhookToken}/order`;
  const rows: [name: string, bytes: string | Buffer, status: number][] = [
    ['words', 'hello\r\n\r\n', 400],
    ['a TLS greeting', Buffer.from('1603010200010001fc0303', 'hex'), 400],
    ['zeros', Buffer.alloc(2000), 400],
    ['a version nobody speaks', `POST ${path} HTTP/9.9\r\nHost: x\r\n\r\n`, 400],
    ['a method nobody knows', `FROB ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
    [
      'bytes above ASCII in the path',
      Buffer.from('POST /webhook/\xff/order HTTP/1.1\r\n\r\n', 'latin1'),
      400,
    ],
    ['a NUL in a header', post(trader, signal, ['User-Agent: a\0b']), 400],
    ['a header folded over two lines', post(trader, signal, ['X-A: b', ' c: d', 'Content-Length: x']), 400],
    ['a negative length', post(trader, signal, ['Content-Length: -1']), 400],
    ['a length in words', post(trader, signal, ['Content-Length: many']), 400],
    ['two lengths', post(trader, signal, ['Content-Length: 1', 'Content-Length: 2']), 400],
    [
      'a length and chunks',
      post(trader, chunked(signal), ['Content-Length: 9', 'Transfer-Encoding: chunked']),
      400,
    ],
    ['a broken chunk', post(trader, 'zz\r\n{}\r\n0\r\n\r\n', ['Transfer-Encoding: chunked']), 400],
    ['an unknown transfer encoding', post(trader, signal, ['Transfer-Encoding: rot13']), 400],
    ['headers of 20 KiB', post(trader, signal, [`X-Long: ${'y'.repeat(20_480)}`]), 431],
    [
      'ten thousand headers',
      post(
        trader,
        signal,
        Array.from({ length: 10_000 }, (_, n) => `X-${n}: y`),
      ),
      431,
    ],
    ['a path of 20 KiB', `POST /webhook/${'y'.repeat(20_480)}/order HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ];
  for (const [name, bytes, status] of rows)
    await t.test(`${name}: ${status}`, async () => {
      const answer = await say(bytes);
      assert.equal(statusOf(answer), status);
      assert.match(answer, /\r\ncontent-type: application\/problem\+json/i);
      const problem = problemOf(answer);
      assert.deepEqual(Object.keys(problem).sort(), [
        'advice',
        'code',
        'detail',
        'request_id',
        'status',
        'title',
        'type',
      ]);
      assert.deepEqual([problem.status, problem.code], [status, 'request_invalid']);
      await assertHealthy();
    });
  assert.deepEqual(await world.paperOrders(trader.account.id), []);
});

test('requests that can be read are answered as any other', SOON, async (t) => {
  const { world, trader, say, assertHealthy } = await openDoor(t);
  const signal = (age: number) =>
    JSON.stringify(
      world.signal(trader, { timestamp: new Date(Date.now() - age).toISOString(), quantity: 0.001 }),
    );
  const plain = signal(1000);
  const rows: [name: string, bytes: string, status: number, code?: string][] = [
    ['a signal', post(trader, plain), 200],
    ['a signal in chunks', post(trader, chunked(signal(2000)), ['Transfer-Encoding: chunked']), 200],
    ['a path with a host', post(trader, signal(3000)).replace('/webhook', 'http://elsewhere/webhook'), 200],
    ['a length that cuts the body off', post(trader, plain, ['Content-Length: 40']), 400],
    ['a body of 17 KiB', post(trader, 'x'.repeat(17_408)), 413, 'payload_too_large'],
    [
      '17 KiB in chunks',
      post(trader, chunked('x'.repeat(17_408)), ['Transfer-Encoding: chunked']),
      413,
      'payload_too_large',
    ],
    [
      '17 KiB announced and never sent',
      post(trader, '', ['Content-Length: 17408']),
      413,
      'payload_too_large',
    ],
    ['no body', post(trader, '', []), 400, 'webhook_payload_invalid'],
    [
      'gzip that is none',
      post(trader, '{}', ['Content-Encoding: gzip', 'Content-Length: 2']),
      400,
      'webhook_payload_invalid',
    ],
  ];
  for (const [name, bytes, status, code] of rows)
    await t.test(`${name}: ${status}`, async () => {
      const answer = await say(bytes);
      assert.equal(statusOf(answer), status);
      if (code) assert.equal(problemOf(answer).code, code);
      await assertHealthy();
    });
  assert.equal((await world.paperOrders(trader.account.id)).length, 3);
  const paths = new Set((await world.audits(trader)).map(({ request_path }) => request_path));
  assert.deepEqual([...paths], [`/webhook/${trader.account.webhookToken.slice(0, 6)}…/order`]);
});

test('whoever leaves in the middle of a request trades nothing', SOON, async (t) => {
  const { world, trader, sayAndLeave, assertHealthy } = await openDoor(t);
  const whole = post(trader, JSON.stringify(world.signal(trader)));
  for (const part of [1, 20, whole.indexOf('\r\n\r\n'), whole.indexOf('\r\n\r\n') + 4, whole.length - 1])
    await sayAndLeave(whole.slice(0, part));
  await assertHealthy();
  assert.deepEqual(await world.paperOrders(trader.account.id), []);
});

test('whoever sends a whole signal and leaves before the answer has traded once', SOON, async (t) => {
  const { world, trader, sayAndLeave, assertHealthy } = await openDoor(t);
  const whole = post(trader, JSON.stringify(world.signal(trader)));
  for (const _ of [1, 2]) await sayAndLeave(whole);
  await world.eventually(
    () => world.audits(trader),
    (entries) => entries.length === 2,
  );
  const orders = await world.eventually(
    () => world.orders(trader),
    (all) => all.every(({ status }) => status === 'filled'),
  );
  assert.equal(orders.length, 1);
  assert.equal((await world.paperOrders(trader.account.id)).length, 1);
  await assertHealthy();
});
