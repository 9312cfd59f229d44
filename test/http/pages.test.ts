// The dashboard's document and files, as browsers and programs ask for them.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { isPage, openPages } from '../../src/http/pages.ts';
import { openWorld, type Problem } from '../world.ts';

const DOCUMENT = '<!doctype html><title>Fillpath</title>';
const SCRIPT = 'console.log("script")';

function openServer(t: TestContext, files: Record<string, string | Buffer> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-pages-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const pages = openPages(folder);
  const server = Fastify();
  server.setNotFoundHandler((request, reply) => pages.answer(request, reply) ?? reply.code(404).send('no'));
  return server;
}

const built = {
  'index.html': DOCUMENT,
  'index.html.br': brotliCompressSync(DOCUMENT),
  'main-ABC.js': SCRIPT,
  'main-ABC.js.br': brotliCompressSync(SCRIPT),
  'main-ABC.js.gz': gzipSync(SCRIPT),
  '.built': '',
};

describe('the pages', () => {
  test('every page’s path answers the one document, which is asked for again each time', async (t) => {
    const server = openServer(t, built);
    for (const path of [
      '/',
      '/?a=1',
      '/signals',
      '/signals/01a1?x',
      '/accounts/1',
      '/reset-password?token=x',
    ]) {
      const answer = await server.inject(path);
      assert.equal(answer.statusCode, 200, path);
      assert.equal(answer.body, DOCUMENT);
      assert.equal(answer.headers['cache-control'], 'no-cache');
      const tag = answer.headers.etag as string;
      const again = await server.inject({ url: path, headers: { 'if-none-match': tag } });
      assert.deepEqual([again.statusCode, again.body], [304, '']);
    }
  });

  test('a file is kept for ever, and comes in the best encoding that the browser takes', async (t) => {
    const server = openServer(t, built);
    const read = (accepted?: string) =>
      server.inject({ url: '/static/main-ABC.js', headers: accepted ? { 'accept-encoding': accepted } : {} });
    const plain = await read();
    assert.equal(plain.body, SCRIPT);
    assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.match(plain.headers['cache-control'] as string, /immutable/);
    assert.equal(plain.headers['vary'], 'Accept-Encoding');
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['br;q=0.0,gzip;q=0', undefined],
      ['brotli', undefined],
    ] as const)
      assert.equal((await read(accepted)).headers['content-encoding'], encoding, accepted);
  });

  test('no path names a file that is not one of the pages’', async (t) => {
    const server = openServer(t, built);
    for (const path of [
      '/static/.built',
      '/static/index.html',
      '/static/../package.json',
      '/static/%2e%2e/x',
      '/static/',
      '/main-ABC.js',
    ])
      assert.equal((await server.inject({ url: path, headers: { accept: '*/*' } })).statusCode, 404, path);
    assert.equal((await server.inject({ method: 'POST', url: '/signals' })).statusCode, 404);
  });

  test('a file that is not there, of another build perhaps, is asked for again', async (t) => {
    const answer = await openServer(t, built).inject('/static/main-OTHER.js');
    assert.deepEqual([answer.statusCode, answer.headers['cache-control']], [404, 'no-store']);
  });

  test('a person at a path of nothing sees the pages’ own 404; a program gets a problem', async (t) => {
    const server = openServer(t, built);
    const person = await server.inject({ url: '/nowhere', headers: { accept: 'text/html,*/*' } });
    assert.deepEqual([person.statusCode, person.body], [404, DOCUMENT]);
    for (const path of [
      '/trading/x',
      '/settings',
      '/auth/x',
      '/deployment/x',
      '/webhook/a',
      '/public/x',
      '/static/x',
    ])
      assert.equal((await server.inject({ url: path, headers: { accept: 'text/html' } })).body, 'no', path);
  });

  test('pages that are not built say what to do', async (t) => {
    const answer = await openServer(t).inject('/signals');
    assert.equal(answer.statusCode, 503);
    assert.match(answer.body, /npm run build/);
  });
});

test('in the whole service the pages stand beside the API, in production too', async (t) => {
  const world = await openWorld(t, {
    env: {
      NODE_ENV: 'production',
      BASE_URL: 'https://fillpath.example.com',
      ALLOWED_ORIGINS: 'https://fillpath.example.com',
    },
  });
  const inject = (url: string) => world.server.inject({ url, headers: { accept: 'text/html' } });
  const page = await inject('/signals');
  assert.equal(page.statusCode, 200);
  assert.match(page.headers['content-security-policy'] as string, /script-src 'self'/);
  const [, script] = /src="(\/static\/main-[^"]+)"/.exec(page.body) ?? [];
  assert.ok(script, page.body);
  assert.equal((await inject(script)).statusCode, 200);
  const mistyped = await inject('/login/');
  assert.deepEqual([mistyped.statusCode, mistyped.body], [404, page.body]);
  const unknown = await inject('/trading/nothing');
  assert.equal(unknown.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.ok((unknown.json() as Problem).code);
});

test('the server knows the paths of web/routes.tsx, and no others', async () => {
  const { readFileSync } = await import('node:fs');
  const routes = readFileSync(new URL('../../web/routes.tsx', import.meta.url), 'utf8');
  const paths = [...routes.matchAll(/\b(?:page|outside)\('([^']+)'/g)].map(([, path]) => path as string);
  assert.ok(paths.length > 10);
  for (const path of paths) assert.ok(isPage(path.replace('$id', '01a1d03a')), path);
  for (const path of ['/signal', '/signals/', '/signals/a/b', '/orders', '/trading', '/welcome/x'])
    assert.ok(!isPage(path), path);
});
