// The edge of deploy/edge in front of an upstream that shows what it was sent: headers, limits, the paths to the admin's
// routes, streams and failures. The limits are small here; edge.ts tries those of the spec.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { openClient, type Question } from './client.ts';
import { eventually } from './kept.ts';
import { type Edge, missingPackages, SERVER_NAME, startEdge } from './nginx.ts';

const skip = missingPackages();
if (skip) console.error(`The edge is not tested: ${skip}`);

const TRUSTED_PROXY = '127.0.0.99';
const CHARTING = ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7'];
const LIMITS = { all: 40, auth: 10, connections: 4, connectionsInAll: 20, headersSeconds: 1 };

describe('the door', { skip, timeout: 120_000 }, () => {
  let upstream: Server;
  let edge: Edge;
  let client: ReturnType<typeof openClient>;
  /** What reached the upstream, oldest first. */
  const arrived: IncomingMessage[] = [];
  let stream: ServerResponse | null = null;
  const stops: (() => unknown)[] = [];

  before(async () => {
    upstream = createServer((incoming, response) => {
      arrived.push(incoming);
      incoming.resume();
      if (incoming.url === '/hang-up') return incoming.socket.destroy();
      if (incoming.url === '/trading/orders/stream') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        return stream.write('event: order\ndata: 1\n\n');
      }
      // Nothing that an upstream says may send the door elsewhere.
      response.setHeader('x-accel-redirect', '/.edge/rules/refused');
      response.setHeader('content-type', 'application/json');
      incoming.once('end', () => response.end(JSON.stringify({ url: incoming.url })));
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    stops.push(() => upstream.close().closeAllConnections());
    edge = await startEdge({
      productPort: (upstream.address() as AddressInfo).port,
      limits: LIMITS,
      local: {
        'admin-ips.conf': '127.0.0.10 1;',
        'trusted-proxies.conf': `set_real_ip_from ${TRUSTED_PROXY}; real_ip_header X-Forwarded-For; real_ip_recursive on;`,
        'client-cert.conf':
          'ssl_client_certificate TLS/charting-ca.pem; ssl_verify_client optional_no_ca; ssl_verify_depth 2;',
      },
    });
    stops.push(edge.stop);
    client = openClient(edge);
    stops.push(client.close);
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  /** Each test comes from an address of its own: what one sends does not count for another. */
  let addresses = 100;
  const newAddress = () => `127.0.1.${addresses++}`;
  /** As somebody whose address a trusted proxy vouches for. */
  const as = (ip: string) => ({ from: TRUSTED_PROXY, headers: { 'x-forwarded-for': ip } });

  it('passes a request on as it is, with headers that only it can set', async () => {
    const from = newAddress();
    const token = 'abcdefghijklmnopqrstuvwxyz_-0123456789';
    const answer = await client.ask(`/webhook/${token}/order?simulation=true`, {
      from,
      body: '{"a":1}',
      headers: {
        'content-type': 'text/plain',
        'x-forwarded-for': '198.51.100.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'evil.example.com',
        'x-forwarded-port': '1',
        proxy: 'http://evil.example.com',
        'x-real-ip': '198.51.100.1',
        forwarded: 'for=198.51.100.1',
        'x-edge-webhook-token': 'other',
        'x-edge-request-id': 'other',
        'x-custom': 'kept',
      },
    });
    assert.deepEqual(answer.body, { url: `/webhook/${token}/order?simulation=true` }, answer.text);
    assert.deepEqual(
      { ...arrived.at(-1)?.headersDistinct },
      {
        host: ['fillpath.example.com'],
        'content-length': ['7'],
        'content-type': ['text/plain'],
        'x-forwarded-for': [from],
        'x-forwarded-proto': ['https'],
        'x-charting-client-cert': ['none'],
        'x-custom': ['kept'],
        'user-agent': ['Go-http-client/1.1'],
        accept: ['*/*'],
      },
    );
  });

  describe("tells who has the charting platform's certificate", () => {
    const told = async (certificate: Exclude<keyof Edge['tls'], 'ca'> | null, headers = {}) => {
      const answer = await client.ask('/health', {
        from: newAddress(),
        headers,
        ...(certificate ? { certificate: edge.tls[certificate] } : {}),
      });
      assert.equal(answer.status, 200, answer.text);
      return arrived.at(-1)?.headersDistinct['x-charting-client-cert'];
    };

    it('verified', async () => assert.deepEqual(await told('charting'), ['verified']));
    it('nobody without one', async () => assert.deepEqual(await told(null), ['none']));
    it('nobody of another name', async () => assert.deepEqual(await told('otherName'), ['none']));
    it('nobody with the name inside another field', async () =>
      assert.deepEqual(await told('nameInside'), ['none']));
    it('nobody whom another authority calls so, who gets in nevertheless', async () =>
      assert.deepEqual(await told('stranger'), ['none']));
    it('least of all one whose authority has the same name: a signature that is false is refused', async () => {
      const before = arrived.length;
      const { impostor } = edge.tls;
      assert.equal((await client.ask('/health', { from: newAddress(), certificate: impostor })).status, 400);
      assert.equal(arrived.length, before);
    });
    it('and nobody who says so himself', async () => {
      assert.deepEqual(await told(null, { 'x-charting-client-cert': 'verified' }), ['none']);
      assert.deepEqual(await told(null, { 'X-CHARTING-CLIENT-CERT': ['verified', 'verified'] }), ['none']);
      assert.deepEqual(await told(null, { X_Charting_Client_Cert: 'verified' }), ['none']);
    });
  });

  describe("lets nobody but admins reach the admin's routes, however they are spelled", () => {
    for (const path of [
      '/setup',
      '/setup/',
      '/setup/admin',
      '/deployment/users',
      '/metrics',
      '/metrics?x=1',
      '//setup/admin',
      '/%73etup/admin',
      '/%53%45%54%55%50/admin',
      '/SETUP/admin',
      '/x/../setup/admin',
      '/x/%2e%2e/setup/admin',
      '/x/%2e%2e%2fsetup/admin',
      '/./setup/admin',
      '/setup/./admin',
      '/setup;x/admin',
      '/setup;/admin',
      '/setup%3bx/admin',
      '/;/setup/admin',
      '/setup%2fadmin',
      '/setup%20/admin',
      '/setup%3f/admin',
      '/setup%23/admin',
      '/setup\\admin',
      '/setup%5cadmin',
      '/\\setup/admin',
      '/%2573etup/admin',
      '/webhook/x/../../setup/admin',
      // These are resolved to something else, but a router that does not resolve them would take them for an admin's.
      '/deployment/users/%2e%2e%2f%2e%2e%2fhealth',
      '/deployment/users/../../health',
      '/deployment/../health',
    ])
      it(path, async () => {
        const before = arrived.length;
        const answer = await client.ask(path, { from: '127.0.2.1' });
        assert.equal(answer.status, 403, answer.text);
        assert.equal(arrived.length, before, 'nothing reached the upstream');
      });

    it('as an absolute URL, or with the name of an admin in its headers', async () => {
      const before = arrived.length;
      const from = '127.0.2.1';
      assert.equal((await client.ask('https://fillpath.example.com/setup/admin', { from })).status, 403);
      const headers = {
        'x-forwarded-for': '127.0.0.10',
        'x-original-url': '/health',
        'x-rewrite-url': '/health',
      };
      assert.equal((await client.ask('/setup/admin', { from, headers })).status, 403);
      assert.equal(arrived.length, before);
    });

    it('while an admin does, and others reach what only looks similar', async () => {
      assert.equal((await client.ask('/%73etup/admin', { from: '127.0.0.10' })).status, 200);
      assert.equal((await client.ask('/setups', { from: '127.0.2.2' })).status, 200);
      assert.equal((await client.ask('/public/metrics', { from: '127.0.2.2' })).status, 200);
      assert.equal((await client.ask('/x?next=/setup//admin', { from: '127.0.2.2' })).status, 200);
    });
  });

  describe('limits the rate of an address', () => {
    const statuses = async (count: number, send: (i: number) => Promise<{ status: number }>) => {
      const seen: number[] = [];
      for (let i = 0; i < count; i++) seen.push((await send(i)).status);
      return seen;
    };
    const times = (count: number, status: number) => Array.from({ length: count }, () => status);

    it('on the authentication paths together, however they are spelled', async () => {
      const from = newAddress();
      const paths = [
        '/auth/login',
        '/auth/register',
        '/auth/forgot-password',
        '/auth/%6cogin',
        '/auth/login?x=1',
      ];
      const seen = await statuses(12, (i) => client.ask(paths[i % 5] ?? '', { from, body: {} }));
      assert.deepEqual(seen, [...times(10, 200), 429, 429]);
      const codes = ['/auth/token', '/auth/login/totp'];
      const tried = await statuses(12, (i) => client.ask(codes[i % 2] ?? '', { from, body: {} }));
      assert.deepEqual(tried, [...times(10, 200), 429, 429]);
      assert.equal((await client.ask('/auth/silent-refresh', { from, body: {} })).status, 200);
      assert.equal((await client.ask('/auth/login', { from: newAddress(), body: {} })).status, 200);
    });

    it('overall, with a problem that says when to come back, and the next address is free', async () => {
      const from = newAddress();
      assert.deepEqual(await statuses(42, () => client.ask('/health', { from })), [
        ...times(40, 200),
        429,
        429,
      ]);
      const answer = await client.ask('/health', { from });
      assert.equal(answer.headers['content-type'], 'application/problem+json');
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal(answer.body.code, 'rate_limited');
      assert.equal((await client.ask('/health', { from: newAddress() })).status, 200);
    });

    it('counting what the rules refuse, so that an attacker is turned away unread', async () => {
      const from = newAddress();
      const seen = await statuses(42, () => client.ask("/health?q='%20OR%201=1%20--", { from }));
      assert.deepEqual(seen, [...times(40, 403), 429, 429]);
    });

    it('but not of the charting platform on /webhook', async () => {
      for (const ip of CHARTING) {
        const seen = await statuses(60, () => client.ask('/webhook/abc/order', { ...as(ip), body: {} }));
        assert.deepEqual(seen, times(60, 200));
      }
      const elsewhere = await statuses(42, () => client.ask('/health', as(CHARTING[0] ?? '')));
      assert.deepEqual(elsewhere, [...times(40, 200), 429, 429]);
      const others = await statuses(42, () =>
        client.ask('/webhook/abc/order', { ...as('192.0.2.1'), body: {} }),
      );
      assert.deepEqual(others, [...times(40, 200), 429, 429]);
    });

    it('and of an IPv6 network as one', async () => {
      const seen = await statuses(42, (i) => client.ask('/health', as(`2001:db8:0:7::${i.toString(16)}`)));
      assert.deepEqual(seen, [...times(40, 200), 429, 429]);
      assert.equal((await client.ask('/health', as('2001:db8:0:8::1'))).status, 200);
    });

    it('and of a /48 as four, however many networks it has', async () => {
      const seen = await statuses(162, (i) => client.ask('/health', as(`2001:db8:1:${i.toString(16)}::1`)));
      assert.deepEqual(seen, [...times(160, 200), 429, 429]);
      const logins = await statuses(42, (i) =>
        client.ask('/auth/login', { ...as(`2001:db8:2:${i.toString(16)}::1`), body: {} }),
      );
      assert.deepEqual(logins, [...times(40, 200), 429, 429]);
      assert.equal((await client.ask('/health', as('2001:db8:3::1'))).status, 200);
    });
  });

  describe('limits the connections', () => {
    /** A stream that is read and does not end: its status, and how to hang up. */
    const hold = async (question: Question) => {
      const outgoing = request({ ...client.options('/trading/orders/stream', question), agent: newAgent() });
      const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
      response.on('error', () => {}).resume();
      return { status: response.statusCode, hangUp: () => outgoing.destroy() };
    };
    const newAgent = () => new Agent({ ca: edge.tls.ca, servername: SERVER_NAME });
    const holdAll = async (count: number, question: (i: number) => Question) => {
      const held: Awaited<ReturnType<typeof hold>>[] = [];
      for (let i = 0; i < count; i++) held.push(await hold(question(i)));
      return {
        statuses: held.map(({ status }) => status),
        hangUp: () => {
          for (const each of held) each.hangUp();
        },
      };
    };
    /** nginx needs a moment to see that somebody is gone. */
    const isServed = (question: Question) =>
      eventually(
        async () => ((await client.ask('/health', question)).status === 200 ? true : null),
        edge.logs,
      );

    it('of an address: the next one is 429 and says when to come back, until one of them ends', async () => {
      const from = newAddress();
      const { statuses, hangUp } = await holdAll(5, () => ({ from }));
      assert.deepEqual(statuses, [200, 200, 200, 200, 429]);
      const refused = await client.ask('/health', { from });
      assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
      assert.equal(refused.headers['retry-after'], '1');
      assert.equal(refused.headers['content-type'], 'application/problem+json');
      assert.equal((await client.ask('/health', { from: newAddress() })).status, 200);
      assert.equal(edge.accessLog().at(-2)?.connections, 'REJECTED');
      hangUp();
      await isServed({ from });
    });

    it('of an IPv6 network as of one address, and of a /48 as of four', async () => {
      const network = await holdAll(5, (i) => as(`2001:db8:4:1::${i}`));
      assert.deepEqual(network.statuses, [200, 200, 200, 200, 429]);
      network.hangUp();
      await isServed(as('2001:db8:4:1::1'));
      const site = await holdAll(17, (i) => as(`2001:db8:5:${i}::1`));
      assert.deepEqual(site.statuses, [...Array.from({ length: 16 }, () => 200), 429]);
      assert.equal((await client.ask('/health', as('2001:db8:6::1'))).status, 200);
      site.hangUp();
      await isServed(as('2001:db8:5:99::1'));
    });

    it('in all, and the charting platform finds room on /webhook nevertheless', async () => {
      const everybody = await holdAll(21, (i) => as(`192.0.2.${100 + i}`));
      assert.deepEqual(everybody.statuses, [...Array.from({ length: 20 }, () => 200), 429]);
      assert.equal((await client.ask('/health', { from: newAddress() })).status, 429);
      for (const ip of CHARTING)
        assert.equal((await client.ask('/webhook/abc/order', { ...as(ip), body: {} })).status, 200);
      everybody.hangUp();
      await isServed({ from: newAddress() });
    });
  });

  describe('does not wait for who takes his time', () => {
    /** How long it lasts, in seconds. */
    const lifeOf = async (socket: Socket): Promise<number> => {
      const begun = performance.now();
      socket.on('error', () => {}).resume();
      if (!socket.closed) await once(socket, 'close');
      return (performance.now() - begun) / 1000;
    };
    const tls = () =>
      connectTls({ host: '127.0.0.1', port: edge.https, ca: edge.tls.ca, servername: SERVER_NAME });

    it('to say anything at all: neither on 80, nor before or after the handshake', async () => {
      const silent = [connect(edge.http, '127.0.0.1'), connect(edge.https, '127.0.0.1'), tls()];
      for (const life of await Promise.all(silent.map(lifeOf)))
        assert.ok(life > 0.5 && life < 5, `${life} s`);
    });

    it('and to say it drop by drop', async () => {
      const socket = tls();
      const life = lifeOf(socket);
      await once(socket, 'secureConnect');
      socket.write(`GET /health HTTP/1.1\r\nHost: ${SERVER_NAME}\r\n`);
      const drops = setInterval(() => socket.write('x: y\r\n'), 100);
      try {
        assert.ok((await life) < 5);
      } finally {
        clearInterval(drops);
      }
    });
  });

  describe('takes a new list of addresses of bad reputation', () => {
    /** For a moment after a reload the old workers still answer, or hang up. */
    const turns = (expected: Record<string, number>) =>
      eventually(async () => {
        const fresh = openClient(edge);
        try {
          for (const [ip, status] of Object.entries(expected))
            if ((await fresh.ask('/health', as(ip))).status !== status) return null;
          return true;
        } catch {
          return null;
        } finally {
          fresh.close();
        }
      }, edge.logs);

    it('without what is no address, and without blocks that would shut out everybody', async () => {
      const said = edge.updateReputation(`
        # a comment
        192.0.2.200
        198.51.100.0/25 ; SBL1
        2001:db8:dead::/48
        0.0.0.0/0
        10.0.0.0/8
        ::/0
        192.0.2.999
        <html>`);
      assert.deepEqual(said, { code: 0, text: '3 addresses and blocks in use\n' });
      await turns({ '192.0.2.200': 403, '198.51.100.7': 403, '2001:db8:dead::7': 403 });
      await turns({ '198.51.100.200': 200, '10.1.2.3': 200, '2001:db8:beef::7': 200 });
    });

    it('and keeps the old one where the new one is empty or wrong', async () => {
      for (const list of ['<html>Not found</html>', '2001:db8:::1']) {
        const { code, text } = edge.updateReputation(list);
        assert.equal(code, 1);
        assert.match(text, /the list in use stays/);
      }
      await turns({ '192.0.2.200': 403, '10.1.2.3': 200 });
    });
  });

  it('passes events on as they come', async () => {
    const options = client.options('/trading/orders/stream', { from: newAddress() });
    const outgoing = request(options).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const [first] = await once(response, 'data');
    assert.equal(String(first), 'event: order\ndata: 1\n\n');
    stream?.write('event: order\ndata: 2\n\n');
    const [second] = await once(response, 'data');
    assert.equal(String(second), 'event: order\ndata: 2\n\n');
    stream?.end();
    await once(response, 'end');
  });

  describe('when the product does not answer', () => {
    it('says so, and never sends a request twice', async () => {
      const before = arrived.length;
      const answer = await client.ask('/hang-up', { from: newAddress(), body: {} });
      assert.equal(arrived.length, before + 1);
      assert.equal(answer.status, 502);
      assert.equal(answer.headers['content-type'], 'application/problem+json');
      assert.equal(answer.body.code, 'service_unreachable');
      assert.equal(new Set(answer.headerNames).size, answer.headerNames.length);
    });

    it('because it is not there', async () => {
      upstream.closeAllConnections();
      await once(upstream.close(), 'close');
      const answer = await client.ask('/health', { from: newAddress() });
      assert.deepEqual([answer.status, answer.body.code], [502, 'service_unreachable']);
    });
  });
});
