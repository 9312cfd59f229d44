// A request to an address that a user has chosen reaches nobody but the public internet, whatever the name says.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { ipList } from '../../src/app/accounts/ip-list.ts';
import { isPublic } from '../../src/notify/addresses.ts';
import { openPost, type Resolve, Unanswered } from '../../src/notify/post.ts';
import { answers, openReceiver } from './receiver.ts';

const NONE = ipList([]);
const LOOPBACK = ipList(['127.0.0.0/8']);
const SENT = { headers: { 'content-type': 'application/json' }, body: '{}' };

const byTable =
  (table: Record<string, readonly string[]>): Resolve =>
  async (name) =>
    table[name] ?? [];

describe('addresses', () => {
  /** Reproducible. */
  function chance(seed: number) {
    let state = seed;
    return (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  }
  const bytes = (draw: (below: number) => number, begin: readonly number[], length: number) => [
    ...begin,
    ...Array.from({ length: length - begin.length }, () => draw(256)),
  ];
  const v4 = (octets: readonly number[]) => octets.join('.');
  const v6 = (octets: readonly number[]) =>
    Array.from({ length: 8 }, (_, at) =>
      (((octets[2 * at] ?? 0) << 8) | (octets[2 * at + 1] ?? 0)).toString(16),
    ).join(':');

  test('no address of a private, local, shared, reserved or multicast block is public', () => {
    const draw = chance(1);
    const blocks = [
      ...[[0], [10], [127], [169, 254], [192, 168], [198, 18], [198, 19], [192, 0, 2], [203, 0, 113]],
      ...Array.from({ length: 16 }, (_, at) => [172, 16 + at]),
      ...Array.from({ length: 64 }, (_, at) => [100, 64 + at]),
      ...Array.from({ length: 32 }, (_, at) => [224 + at]),
    ];
    for (const begin of blocks)
      for (let times = 0; times < 20; times++) {
        const octets = bytes(draw, begin, 4);
        assert.equal(isPublic(v4(octets)), false, v4(octets));
        // In IPv6's clothes: mapped, compatible, NAT64 (both), 6to4, and ISATAP behind a local prefix.
        const dressed = [
          [...new Array(10).fill(0), 0xff, 0xff, ...octets],
          [...new Array(12).fill(0), ...octets],
          [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, ...octets],
          [0, 0x64, 0xff, 0x9b, 0, 1, 0, 0, 0, 0, 0, 0, ...octets],
          [0x20, 0x02, ...octets, ...bytes(draw, [], 10)],
          [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0x5e, 0xfe, ...octets],
        ];
        for (const address of dressed) assert.equal(isPublic(v6(address)), false, v6(address));
      }
  });

  test('nothing outside of what is global in IPv6 is public: loopback, link-local, unique local, multicast', () => {
    const draw = chance(2);
    for (const begin of [
      [0],
      [0xfc],
      [0xfd],
      [0xfe, 0x80],
      [0xfe, 0xc0],
      [0xff],
      [0x40],
      [0x01, 0],
      [0x20, 1, 0x0d, 0xb8],
    ])
      for (let times = 0; times < 500; times++) {
        const address = v6(bytes(draw, begin, 16));
        assert.equal(isPublic(address), false, address);
      }
    for (const address of [
      '::',
      '::1',
      'fe80::1%eth0',
      '2606:4700::1%1',
      'localhost',
      '',
      '1.2.3',
      '0x7f000001',
    ])
      assert.equal(isPublic(address), false, address);
  });

  test('the public internet is', () => {
    for (const address of [
      '1.1.1.1',
      '8.8.8.8',
      '172.15.0.1',
      '172.32.0.1',
      '100.63.0.1',
      '100.128.0.1',
      '223.255.255.1',
    ])
      assert.equal(isPublic(address), true, address);
    for (const address of ['2606:4700:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888'])
      assert.equal(isPublic(address), true, address);
  });
});

describe('a request', () => {
  const refuses = (allowed: typeof NONE, url: string, resolve: Resolve = byTable({})) =>
    assert.rejects(openPost({ allowed, resolve })(url, SENT), Unanswered, url);

  test('goes to no address of the own network, however it is spelt', async (t) => {
    const receiver = await openReceiver(t);
    const hosts = [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
    ];
    for (const host of hosts)
      for (const scheme of ['http', 'https']) await refuses(NONE, `${scheme}://${host}:${receiver.port}/`);
    for (const host of [
      '169.254.169.254',
      '[fd00:ec2::254]',
      '10.0.0.1',
      '[64:ff9b::a00:1]',
      '100.100.100.200',
    ])
      await refuses(NONE, `https://${host}/latest/meta-data`);
    assert.equal(receiver.received.length, 0);
  });

  test('goes nowhere where any of the answers for its name is private', async (t) => {
    const receiver = await openReceiver(t);
    const resolve = byTable({
      'two.example': ['1.1.1.1', '127.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
    });
    await refuses(NONE, `https://two.example:8443/`, resolve);
    await refuses(NONE, `https://mapped.example/`, resolve);
    assert.equal(receiver.received.length, 0);
  });

  test('a name that is not there and one of the own network are told apart by nobody', async () => {
    const words: string[] = [];
    const post = openPost({ allowed: NONE, resolve: byTable({ 'db.internal': ['10.0.0.5'] }) });
    for (const name of ['db.internal', 'nobody.internal'])
      await post(`https://${name}/`, SENT).catch((fault: Error) => words.push(fault.message));
    assert.equal(words.length, 2);
    assert.equal(words[0], words[1]);
  });

  test('the name is asked for once: one that rebinds to the own network a moment later is connected to as it was checked', async (t) => {
    const [checked, rebound] = [await openReceiver(t), await openReceiver(t)];
    let asked = 0;
    const resolve: Resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']);
    const post = openPost({ allowed: ipList(['127.0.0.1']), resolve });
    assert.equal((await post(`http://rebind.example:${checked.port}/hook?a=b`, SENT)).status, 204);
    assert.equal(asked, 1);
    assert.deepEqual(
      checked.received.map(({ path, headers }) => [path, headers.host]),
      [['/hook?a=b', `rebind.example:${checked.port}`]],
    );
    assert.equal(rebound.received.length, 0);
  });

  test('outside of what the operator allows, only https on its own ports', async () => {
    const resolve = byTable({ 'public.example': ['1.1.1.1'] });
    for (const url of [
      'http://public.example/',
      'https://public.example:25/',
      'https://public.example:6379/',
    ])
      await assert.rejects(openPost({ allowed: NONE, resolve })(url, SENT), /port 443 or 8443/);
  });

  test('a redirect is an answer and is not followed', async (t) => {
    const secret = await openReceiver(t);
    const receiver = await openReceiver(t, answers(302, '', { location: `${secret.url}/latest/meta-data` }));
    assert.equal((await openPost({ allowed: LOOPBACK })(receiver.url, SENT)).status, 302);
    assert.equal(secret.received.length, 0);
  });

  test('a proxy of the environment is not used', async (t) => {
    const [receiver, proxy] = [await openReceiver(t), await openReceiver(t)];
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    t.after(() => {
      for (const [at, name] of names.entries())
        if (before[at] === undefined) delete process.env[name];
        else process.env[name] = before[at];
    });
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url;
    await openPost({ allowed: LOOPBACK })(receiver.url, SENT);
    assert.deepEqual([receiver.received.length, proxy.received.length], [1, 0]);
  });

  test('an answer without an end, or of gigabytes, takes neither time nor room', async (t) => {
    const receiver = await openReceiver(t, (response) => {
      response.writeHead(200);
      let isOpen = true;
      response.on('close', () => {
        isOpen = false;
      });
      const more = () => isOpen && response.write('x'.repeat(65_536), () => setImmediate(more));
      more();
    });
    const { status, body } = await openPost({ allowed: LOOPBACK })(receiver.url, SENT);
    assert.equal(status, 200);
    assert.ok(body.length <= 16_384);
  });

  async function rawServer(t: TestContext, onConnection: (socket: import('node:net').Socket) => void) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      onConnection(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const address = server.address();
    assert.ok(address && typeof address === 'object');
    return `http://127.0.0.1:${address.port}/`;
  }

  test('a server that hangs is cut off', async (t) => {
    const url = await rawServer(t, (socket) => t.after(() => socket.destroy()));
    await assert.rejects(openPost({ allowed: LOOPBACK, timeoutMs: 50 })(url, SENT), /in time/);
  });

  test('so is a name server that hangs', async () => {
    const resolve: Resolve = () => new Promise(() => {});
    await assert.rejects(
      openPost({ allowed: LOOPBACK, resolve, timeoutMs: 50 })('https://slow.example/', SENT),
      /in time/,
    );
  });

  test('a connection that is reset, or refused, is told in words without an address', async (t) => {
    const url = await rawServer(t, (socket) => socket.resetAndDestroy());
    await assert.rejects(openPost({ allowed: LOOPBACK })(url, SENT), (fault: Error) => {
      assert.ok(fault instanceof Unanswered);
      return !/127|\d{4}/.test(fault.message);
    });
  });

  test('Retry-After is read where it counts seconds', async (t) => {
    for (const [value, ms] of [
      ['7', 7_000],
      ['0.25', 250],
      ['Wed, 21 Oct 2026 07:28:00 GMT', null],
      ['-3', null],
    ] as const) {
      const receiver = await openReceiver(t, answers(429, '', { 'retry-after': value }));
      const { retryAfterMs } = await openPost({ allowed: LOOPBACK })(receiver.url, SENT);
      assert.equal(retryAfterMs, ms);
    }
  });
});
