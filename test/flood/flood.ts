// 200,000 requests from 50,000 addresses, over loopback, against the program as it is run: its memory stays bounded,
// genuine webhooks are served meanwhile, and afterwards it is as healthy as before. `npm run test:flood`, some minutes.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { percentile } from '../../bench/client.ts';

const REQUESTS = 200_000;
const ADDRESSES = 50_000;
const CONNECTIONS = 64;
/** The one among them who does not stop: beyond its 2,000 it is blocked. */
const HAMMERING = { ip: '203.0.113.66', every: 20 };
const CHARTING_IP = '52.89.214.238';
const GENUINE_EVERY_MS = 50;
/** Far above what is needed, far below what a leak per request or per address would take. */
const MOST_MB = 700;

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

async function startProgram(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-flood-'));
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: dir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    TRUSTED_PROXIES: '127.0.0.1/32',
    // So that nobody leaves it meanwhile, however slow the machine is.
    EDGE_WINDOW_SECONDS: '3600',
    // Of the user: what is measured is the flood's effect on genuine signals, and they come often.
    RATE_LIMIT_REQUESTS: '1000000',
  };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => {
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });
  let printed = '';
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`;
    if (line.includes('is ready at')) break;
  }
  child.stdout.resume();
  const [, port = '', token = ''] =
    /http:\/\/localhost:(\d+)\/webhook\/([\w-]{43})\/order' -d/.exec(printed) ?? [];
  const [, secret = ''] = /"secret":"([\w-]+)"/.exec(printed) ?? [];
  return { dir, env, child, port: Number(port), token, secret };
}

type Program = Awaited<ReturnType<typeof startProgram>>;

interface Sent {
  readonly ip: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly headers?: string;
}

/** A proxy's connection: one request after the other, each for another client. */
async function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  await once(socket, 'connect');
  let received = '';
  let waiting: PromiseWithResolvers<string> | null = null;
  const fail = () => waiting?.reject(new Error(`the server hung up after ${JSON.stringify(received)}`));
  socket.on('error', fail).on('close', fail);
  socket.on('data', (text: string) => {
    received += text;
    const head = received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < head + 4 + length) return;
    waiting?.resolve(received);
    received = '';
  });
  return {
    send({ ip, method, path, body = '', headers = '' }: Sent): Promise<string> {
      waiting = Promise.withResolvers<string>();
      const length = method === 'POST' ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : '';
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.9.8.7, ${ip}\r\n${headers}${length}\r\n${body}`,
      );
      return waiting.promise;
    },
    close() {
      waiting = null;
      socket.destroy();
    },
  };
}

const JSON_TYPE = 'Content-Type: application/json\r\n';
const LOGIN = JSON.stringify({ email: 'admin@fillpath.local', password: 'not the password' });

/** What the flood is made of: unknown webhooks, unknown paths, guessed passwords, guessed keys. */
function nthRequest(index: number): Sent {
  const address = index % ADDRESSES;
  const ip =
    index % HAMMERING.every === 0
      ? HAMMERING.ip
      : `100.${64 + (address >> 16)}.${(address >> 8) & 255}.${address & 255}`;
  switch (Math.floor(index / ADDRESSES + index) % 4) {
    case 0:
      return { ip, method: 'POST', path: `/webhook/guess-${index}/order`, body: '{"action":"buy"}' };
    case 1:
      return { ip, method: 'GET', path: `/wp-admin/${index}.php?x=${index}` };
    case 2:
      return { ip, method: 'POST', path: '/auth/login', body: LOGIN, headers: JSON_TYPE };
    default:
      return { ip, method: 'GET', path: '/auth/session', headers: `Authorization: Bearer guess${index}\r\n` };
  }
}

/** "404 webhook_not_found" */
const refusalOf = (answer: string): string =>
  `${answer.slice(9, 12)} ${/"code":"(\w+)"/.exec(answer)?.[1] ?? ''}`;

/** Resident memory in MB, now and at its highest. */
function memoryOf({ child }: Program): { now: number; peak: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const read = (field: string) =>
    Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** Sends signals from the charting platform's address until told to stop; the milliseconds that each one took. */
function sendGenuine(program: Program) {
  const times: number[] = [];
  const stopping = new AbortController();
  const sending = (async () => {
    const connection = await openConnection(program.port);
    for (let index = 0; !stopping.signal.aborted; index++) {
      const order = index % 2 === 0 ? { action: 'buy' } : { action: 'sell', order_type: 'exit' };
      const timestamp = new Date().toISOString().replace('Z', `${String(index).padStart(6, '0')}Z`);
      const body = { ...order, symbol: 'BTCUSDT', quantity: 0.01, timestamp, secret: program.secret };
      const begun = performance.now();
      const answer = await connection.send({
        ip: CHARTING_IP,
        method: 'POST',
        path: `/webhook/${program.token}/order`,
        body: JSON.stringify(body),
      });
      times.push(performance.now() - begun);
      assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*"status":"filled"/);
      await new Promise((resolve) => setTimeout(resolve, GENUINE_EVERY_MS));
    }
    connection.close();
  })();
  return {
    async end(): Promise<readonly number[]> {
      stopping.abort();
      await sending;
      return times;
    },
  };
}

const told = (times: readonly number[]): string =>
  `${times.length} signals, p50 ${percentile(times, 50).toFixed(1)} ms, p99 ${percentile(times, 99).toFixed(1)} ms, ` +
  `longest ${Math.max(...times).toFixed(1)} ms`;

test('a flood from 50,000 addresses leaves memory bounded and genuine signals served', {
  timeout: 600_000,
}, async (t) => {
  const program = await startProgram(t);
  const calm = sendGenuine(program);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  t.diagnostic(`before: ${told(await calm.end())}`);
  const before = memoryOf(program);
  t.diagnostic(`before: ${before.now} MB resident`);

  const genuine = sendGenuine(program);
  const refusals = new Map<string, number>();
  const begun = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await openConnection(program.port);
      for (let index = next++; index < REQUESTS; index = next++) {
        const refusal = refusalOf(await connection.send(nthRequest(index)));
        refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1);
        if (index % (REQUESTS / 4) === REQUESTS / 4 - 1)
          t.diagnostic(`after ${index + 1} requests: ${memoryOf(program).now} MB resident`);
      }
      connection.close();
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const times = await genuine.end();
  const { peak } = memoryOf(program);
  t.diagnostic(`${REQUESTS} requests in ${seconds.toFixed(0)} s: ${Math.round(REQUESTS / seconds)} a second`);
  t.diagnostic(`answers: ${JSON.stringify(Object.fromEntries(refusals))}`);
  t.diagnostic(`during: ${told(times)}`);
  t.diagnostic(`peak: ${peak} MB resident`);

  assert.equal(
    [...refusals.values()].reduce((sum, count) => sum + count),
    REQUESTS,
  );
  const known = ['401 unauthenticated', '401 invalid_credentials', '404 webhook_not_found', '404 not_found'];
  // On a slow machine more passwords than can wait come before the account is locked.
  const others = ['429 login_locked', '503 passwords_busy', '429 edge_rate_limited'];
  for (const refusal of refusals.keys()) assert.ok([...known, ...others].includes(refusal), refusal);
  // The hammering address got its 2,000 and no more, and nobody else was blocked.
  assert.equal(refusals.get('429 edge_rate_limited'), REQUESTS / HAMMERING.every - 2000);
  assert.ok(times.length > 0);
  assert.ok(peak < MOST_MB, `${peak} MB at the peak`);

  const connection = await openConnection(program.port);
  const health = await connection.send({ ip: '192.0.2.1', method: 'GET', path: '/health' });
  connection.close();
  assert.match(health, /^HTTP\/1\.1 200 [\s\S]*"status":"up"/);
  const quiet = sendGenuine(program);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  t.diagnostic(`after: ${told(await quiet.end())}`);
  const after = memoryOf(program);
  t.diagnostic(`after: ${after.now} MB resident`);
  t.diagnostic(`database: ${Math.round(statSync(join(program.dir, 'fillpath.sqlite')).size / 2 ** 20)} MB`);

  const stopping = performance.now();
  program.child.kill('SIGTERM');
  const [code] = await once(program.child, 'exit');
  assert.equal(code, 0);
  t.diagnostic(`stopped in ${((performance.now() - stopping) / 1000).toFixed(1)} s`);
  const verified = execFileSync(process.execPath, [MAIN, 'audit', 'verify'], {
    env: program.env,
    encoding: 'utf8',
  });
  assert.match(verified, /is whole: \d+ entries sealed, 0 not yet/);
  t.diagnostic(verified.split('\n')[0] ?? '');
});
