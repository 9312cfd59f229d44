// The client's address through the trusted proxy chain: the rightmost address of X-Forwarded-For that is no trusted
// proxy. What a stranger writes into the header changes nothing.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { ipList } from '../../src/app/accounts/ip-list.ts';
import { clientIp } from '../../src/http/client-ip.ts';
import { openWorld } from '../world.ts';

const PROXIES = ['10.0.0.0/8', '192.0.2.1', '2001:db8:aaaa::/48'];
const trusted = ipList(PROXIES);

const ipOf = (peer: string | undefined, forwarded?: string | string[], mustName = false): string =>
  clientIp(
    {
      socket: { remoteAddress: peer },
      headers: { 'x-forwarded-for': forwarded },
    } as unknown as FastifyRequest,
    { trustedProxies: trusted, mustName },
  );

const PROXY = '10.0.0.1';
const UNKNOWN = `unknown via ${PROXY}`;

// biome-ignore format: a table, one chain a line
const CHAINS: readonly (readonly [name: string, peer: string | undefined, forwarded: string | string[] | undefined, client: string])[] = [
  ['no header', '203.0.113.7', undefined, '203.0.113.7'],
  ['no header from a proxy', PROXY, undefined, PROXY],
  ['an empty header from a proxy', PROXY, '', UNKNOWN],
  ['a stranger who claims another address', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
  ['a stranger who claims a proxy’s address', '203.0.113.7', '198.51.100.1, 10.0.0.1', '203.0.113.7'],
  ['one proxy', PROXY, '203.0.113.7', '203.0.113.7'],
  ['the rightmost is the client; further left are lies', PROXY, '1.1.1.1, 127.0.0.1, 10.0.0.9, 203.0.113.7', '203.0.113.7'],
  ['two proxies', PROXY, '203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['three proxies of different kinds', PROXY, '203.0.113.7, 192.0.2.1, 2001:db8:aaaa::5, 10.9.9.9', '203.0.113.7'],
  ['an untrusted one between trusted ones', PROXY, '1.1.1.1, 10.0.0.3, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['none but proxies: the first of them', PROXY, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['without blanks', PROXY, '1.1.1.1,203.0.113.7,10.0.0.2', '203.0.113.7'],
  ['with many blanks', PROXY, ' 1.1.1.1 ,\t203.0.113.7 \t, 10.0.0.2  ', '203.0.113.7'],
  ['several headers, as a list', PROXY, ['1.1.1.1, 203.0.113.7', '10.0.0.2'], '203.0.113.7'],

  ['IPv6', PROXY, '2001:db8::7', '2001:db8::7'],
  ['IPv6 in another spelling', PROXY, '2001:0DB8:0:0:0::7', '2001:db8::7'],
  ['an IPv6 proxy', '2001:db8:aaaa::1', '2001:db8::7', '2001:db8::7'],
  ['an IPv6 proxy in another spelling', '2001:DB8:AAAA:0:0:0:0:1', '2001:db8::7', '2001:db8::7'],
  ['an IPv6 peer next to the block of proxies', '2001:db8:aaab::1', '2001:db8::7', '2001:db8:aaab::1'],
  ['IPv4 in IPv6: the peer', '::ffff:203.0.113.7', undefined, '203.0.113.7'],
  ['IPv4 in IPv6: a proxy', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['IPv4 in IPv6: forwarded', PROXY, '::ffff:203.0.113.7', '203.0.113.7'],
  ['IPv4 in IPv6, in hex: forwarded', PROXY, '::FFFF:cb00:7107', '203.0.113.7'],
  ['IPv4 in IPv6, in hex: a proxy', PROXY, '203.0.113.7, 0:0:0:0:0:ffff:a00:2', '203.0.113.7'],
  ['IPv4 in IPv6: a stranger', '::ffff:203.0.113.7', '10.0.0.2', '203.0.113.7'],
  ['a zone: the peer', 'fe80::1%eth0', undefined, 'fe80::1'],
  ['a zone: forwarded', PROXY, 'fe80::1%25eth0', 'fe80::1'],

  ['a port', PROXY, '203.0.113.7:5678', '203.0.113.7'],
  ['a port at a proxy', PROXY, '203.0.113.7:5678, 10.0.0.2:80', '203.0.113.7'],
  ['an IPv6 address in brackets', PROXY, '[2001:db8::7]', '2001:db8::7'],
  ['an IPv6 address with a port', PROXY, '[2001:db8::7]:80', '2001:db8::7'],
  ['an IPv6 address with a zone and a port', PROXY, '[fe80::1%eth0]:80', 'fe80::1'],
  ['an IPv6 address that looks as if it had a port', PROXY, '2001:db8::7:80', '2001:db8::7:80'],

  ['garbage: nobody', PROXY, 'unknown', UNKNOWN],
  ['garbage at the right hides everything', PROXY, '203.0.113.7, _hidden', UNKNOWN],
  ['garbage at the left changes nothing', PROXY, 'unknown, <script>, 203.0.113.7', '203.0.113.7'],
  ['garbage behind the second proxy', PROXY, '203.0.113.7, unknown, 10.0.0.2', 'unknown via 10.0.0.2'],
  ['a comma at the end', PROXY, '203.0.113.7,', UNKNOWN],
  ['only commas', PROXY, ',,,', UNKNOWN],
  ['a number that is too large', PROXY, '203.0.113.256', UNKNOWN],
  ['leading zeros', PROXY, '203.0.113.007', UNKNOWN],
  ['a short form', PROXY, '127.1', UNKNOWN],
  ['one number', PROXY, '3405803783', UNKNOWN],
  ['a block', PROXY, '203.0.113.7/32', UNKNOWN],
  ['a port that is none', PROXY, '203.0.113.7:http', UNKNOWN],
  ['a port without an address', PROXY, ':80', UNKNOWN],
  ['brackets that do not close', PROXY, '[2001:db8::7', UNKNOWN],
  ['brackets with something behind', PROXY, '[2001:db8::7]x', UNKNOWN],
  ['a name', PROXY, 'localhost', UNKNOWN],
  ['RFC 7239’s form', PROXY, 'for=203.0.113.7', UNKNOWN],
  ['a line break', PROXY, '203.0.113.7\r\nx: y', UNKNOWN],
  ['a NUL', PROXY, '203.0.113.7\0', UNKNOWN],

  ['no peer: the connection is gone', undefined, undefined, '0.0.0.0'],
  ['no peer, and a header', undefined, '203.0.113.7', '0.0.0.0'],
];

describe('the client’s address', () => {
  for (const [name, peer, forwarded, client] of CHAINS)
    test(`${name}: ${client}`, () => assert.equal(ipOf(peer, forwarded), client));

  const v4 = fc.ipV4();
  const proxy = fc.oneof(
    fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((rest) => `10.${rest.join('.')}`),
    fc.constant('192.0.2.1'),
    fc.nat(0xffff).map((last) => `2001:db8:aaaa::${last.toString(16)}`),
  );
  const stranger = fc
    .oneof(
      v4,
      fc.ipV6().map((ip) => new URL(`http://[${ip}]`).hostname.slice(1, -1)),
    )
    .filter((ip) => !trusted.has(ip) && !/^::ffff:/.test(ip));
  const noise = fc.oneof(
    stranger,
    proxy,
    fc.string(),
    fc.constantFrom('unknown', '', '127.0.0.1', ',', ':::'),
  );
  const separator = fc.constantFrom(',', ', ', ' ,  ');

  test('is that of the peer, whatever an untrusted peer writes', () => {
    fc.assert(
      fc.property(stranger, fc.array(noise), separator, (peer, chain, comma) => {
        assert.equal(ipOf(peer, chain.join(comma)), peer);
      }),
    );
  });

  test('is what the outermost trusted proxy saw, whatever stands further left', () => {
    fc.assert(
      fc.property(
        fc.array(noise),
        stranger,
        fc.array(proxy, { maxLength: 5 }),
        proxy,
        separator,
        (lies, client, proxies, peer, comma) => {
          assert.equal(ipOf(peer, [...lies, client, ...proxies].join(comma)), client);
        },
      ),
    );
  });

  test('of a proxy that names nobody is, in production, unknown; of a stranger it is his own', () => {
    assert.equal(ipOf(PROXY, undefined, true), UNKNOWN);
    assert.equal(ipOf('203.0.113.7', undefined, true), '203.0.113.7');
    assert.equal(ipOf(PROXY, '203.0.113.7', true), '203.0.113.7');
  });

  test('is one of the chain, or nobody’s and on no list, whatever that allows', () => {
    const everybody = ipList(['0.0.0.0/0', '::/0']);
    fc.assert(
      fc.property(proxy, fc.array(noise), (peer, chain) => {
        const known = new Set([peer, ...chain.flatMap((entry) => entry.split(','))].map((ip) => ip.trim()));
        const client = ipOf(peer, chain.join(','));
        if (client.startsWith('unknown')) return assert.equal(everybody.has(client), false);
        const spellings = [...known].map((ip) => ipOf(ip)).filter((ip) => ip !== '0.0.0.0');
        assert.ok(known.has(client) || spellings.includes(client), client);
      }),
    );
  });

  test('is read from all headers of a request, in their order, over a real connection', async (t) => {
    const world = await openWorld(t, { env: { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' } });
    const trader = await world.makeTrader();
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    const auditedIp = async (...headers: string[]) => {
      const socket = connect(port, '127.0.0.1');
      const lines = headers.map((header) => `X-Forwarded-For: ${header}\r\n`).join('');
      socket.write(
        `POST /webhook/${trader.account.webhookToken}/order HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}` +
          'Content-Length: 2\r\n\r\n{}',
      );
      socket.resume();
      await once(socket, 'close');
      return (await world.audits(trader)).at(-1)?.ip_address;
    };
    assert.equal(await auditedIp(), '127.0.0.1');
    assert.equal(await auditedIp('203.0.113.7'), '203.0.113.7');
    assert.equal(await auditedIp('1.1.1.1', '203.0.113.7', '10.0.0.2'), '203.0.113.7');
    assert.equal(await auditedIp('203.0.113.7', '1.1.1.1, 10.0.0.2'), '1.1.1.1');
    assert.equal(await auditedIp('203.0.113.7', 'nonsense'), 'unknown via 127.0.0.1');
  });

  test('is known of a client too that hangs up before it is answered', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    for (let index = 0; index < 10; index++) {
      const body = JSON.stringify(world.signal(trader, { quantity: index + 1 }));
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.end(
        `POST /webhook/${trader.account.webhookToken}/order HTTP/1.1\r\nHost: x\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    }
    const entries = await world.eventually(
      () => world.audits(trader),
      ({ length }) => length === 10,
    );
    assert.deepEqual([...new Set(entries.map(({ ip_address }) => ip_address))], ['127.0.0.1']);
  });
});
