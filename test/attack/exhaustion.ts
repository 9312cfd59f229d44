// Items 1 and 5: taking the service down by reading, by not reading, by saying nothing and by saying it slowly. Measured
// with what the owner of another account has of the service meanwhile.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Attack, WITHOUT_SERVERS } from './attacks.ts';
import type { Desk, Person } from './desk.ts';
import { type Figures, observe } from './figures.ts';
import { readElsewhere } from './reading.ts';

const PHASE_MS = 3_000;
/** A busy machine is slow before and during: what counts is by how much it got slower. The attacks made it hundreds of times. */
const MOST_TIMES = 10;
const ALWAYS_GOOD_MS = 250;
const MOST_MORE_MB = 400;

function isServed(figures: readonly Figures[]): boolean {
  const [{ p50: calm, memory } = { p50: 0, memory: 0 }] = figures;
  return figures.every(
    (each) =>
      each.failed === 0 &&
      each.p50 < Math.max(ALWAYS_GOOD_MS, calm * MOST_TIMES) &&
      each.memory - memory < MOST_MORE_MB,
  );
}

const worst = (figures: readonly Figures[]): string => {
  const [calm] = figures;
  const slowest = figures.toSorted((a, b) => b.p50 - a.p50)[0];
  const failed = figures.reduce((sum, each) => sum + each.failed, 0);
  const memory = Math.max(...figures.map((each) => each.memory));
  return (
    `webhook p50 ${slowest?.p50.toFixed(0)} ms, p99 ${slowest?.p99.toFixed(0)} ms when slowest (${calm?.p50.toFixed(0)} and ` +
    `${calm?.p99.toFixed(0)} before), ${failed} failed; ${memory} MB (${calm?.memory} before)`
  );
};

const LONG_SYMBOLS = Array.from({ length: 500 }, (_, index) => `${index}`.padStart(64, 'X'));

/** As many accounts with as many symbols as the service takes, of 200 and 500. */
async function fatten(attacker: Person): Promise<{ accounts: number; symbols: number }> {
  let symbols = LONG_SYMBOLS.length;
  let accounts = 0;
  while (accounts < 200) {
    const body = { name: 'Fat', broker: 'paper', allowed_symbols: LONG_SYMBOLS.slice(0, symbols) };
    const { status, text } = await attacker.ask('POST', '/trading/accounts', body);
    if (status === 201) accounts++;
    else if (status === 409 && accounts === 0 && symbols > 100) symbols = 100;
    else if (status === 409) break;
    else throw new Error(`making an account answered ${status}: ${text.slice(0, 200)}`);
  }
  return { accounts, symbols };
}

/** Each from an address of its own. */
const readAtOnce = (desk: Desk, key: string, readers: number) =>
  readElsewhere({
    port: desk.product.port,
    path: '/trading/accounts?limit=200',
    key,
    places: Array.from({ length: readers }, () => desk.placeOf(desk.newAddress())),
  });

export const readers: Attack = {
  item: 1,
  title: 'one user reads its own fat list, 12 and 30 times at once, and 150 connections ask and do not read',
  before: 'a 6.6 MB list; the webhook of others from 29 ms to 4.6 s and 10.9 s; 3.1 GB held',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    // The most that any plan has room for; a free user has a tenth.
    const attacker = await desk.person('desk');
    const { accounts, symbols } = await fatten(attacker);
    const key = await desk.apiKey(attacker);
    const list = await desk.byKey(key, desk.newAddress())('GET', '/trading/accounts?limit=200');

    const figures = [await observe(desk, 'before', account, PHASE_MS)];
    for (const count of [12, 30]) {
      const reading = await readAtOnce(desk, key, count);
      figures.push(await observe(desk, `${count} readers`, account, PHASE_MS));
      await reading.end();
    }
    const greedy = await askAndDoNotRead(desk, key, 150);
    figures.push(await observe(desk, '150 that do not read', account, PHASE_MS));
    for (const socket of greedy) socket.destroy();
    await pause(1_000);
    figures.push(await observe(desk, 'after', account, PHASE_MS));
    const size = (list.text.length / 2 ** 20).toFixed(1);
    return {
      got: `${accounts} accounts with ${symbols} symbols, an answer of ${size} MB; ${worst(figures)}`,
      isClosed: isServed(figures),
      figures,
    };
  },
};

async function askAndDoNotRead(desk: Desk, key: string, count: number): Promise<Socket[]> {
  const [host, port] = ['127.0.0.1', desk.product.port];
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      // From two addresses: each has fewer than it may have.
      const { localAddress, headers } = desk.placeOf(60_000 + (index % 2));
      const socket = connect({ host, port, localAddress });
      socket.on('error', () => {}).pause();
      await once(socket, 'connect');
      const proxied = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const get = `GET /trading/accounts?limit=200 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${proxied.join('')}\r\n`;
      socket.write(get.repeat(4));
      return socket;
    }),
  );
}

/** Without waiting for what the server does with it; who is refused by the kernel comes later. */
function openSilent(desk: Desk, count: number, addressOf: (index: number) => string): Socket[] {
  return Array.from({ length: count }, (_, index) => {
    const socket = connect({ host: '127.0.0.1', port: desk.product.port, localAddress: addressOf(index) });
    return socket.on('error', () => {}).resume();
  });
}

const LONGEST_MS = 14_000;

/** How long it lives, in seconds; as long as we looked, where it lives on. */
async function lifeOf(socket: Socket): Promise<number> {
  const begun = performance.now();
  socket.on('error', () => {}).resume();
  await Promise.race([socket.closed ? null : once(socket, 'close'), pause(LONGEST_MS)]);
  socket.destroy();
  return (performance.now() - begun) / 1000;
}

async function lives(desk: Desk): Promise<{ silent: number; dripping: number }> {
  const open = (localAddress: string) =>
    connect({ host: '127.0.0.1', port: desk.product.port, localAddress });
  const dripping = open('127.9.9.2');
  dripping.write('GET /health/live HTTP/1.1\r\nhost: x\r\n');
  const drops = setInterval(() => dripping.writable && dripping.write('x: y\r\n'), 500);
  const [silent, dripped] = await Promise.all([lifeOf(open('127.9.9.1')), lifeOf(dripping)]);
  clearInterval(drops);
  return { silent, dripping: dripped };
}

export const connections: Attack = {
  item: 5,
  title:
    '1,100 silent connections of one address and 1,200 of twenty, at 1,024 file handles; silence; dripping headers',
  before: 'every webhook reset; idle connections lived 69 s, dripping headers 86 s',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const figures = [await observe(desk, 'before', account, PHASE_MS)];
    const living = lives(desk);
    const one = openSilent(desk, 1_100, () => '127.9.0.1');
    figures.push(await observe(desk, '1,100 of one address', account, PHASE_MS));
    const many = openSilent(desk, 1_200, (index) => `127.9.1.${1 + (index % 20)}`);
    figures.push(await observe(desk, '1,200 of twenty', account, PHASE_MS));
    const { silent, dripping } = await living;
    for (const socket of [...one, ...many]) socket.destroy();
    await pause(500);
    figures.push(await observe(desk, 'after', account, PHASE_MS));
    const lived = (seconds: number) =>
      seconds * 1000 >= LONGEST_MS ? `more than ${LONGEST_MS / 1000} s` : `${seconds.toFixed(0)} s`;
    return {
      got: `${worst(figures)}; silence lived ${lived(silent)}, dripping headers ${lived(dripping)}`,
      isClosed: isServed(figures) && Math.max(silent, dripping) < 13,
      figures,
    };
  },
};
