// Which answers are compressed, and for whom.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { openWorld } from '../world.ts';

/** Without what goes on meanwhile: the clock, and the sealing of the audit log. */
const timeless = (text: string) => text.replaceAll(/"checked_at":"[^"]+"|"audit":\{[^}]*\}/g, '');

const LISTS = ['/trading/orders', '/trading/signals', '/trading/overview'];

async function worldWithOrders(t: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  for (let n = 0; n < 4; n++) await world.webhook(trader, world.signal(trader, { comment: `signal ${n}` }));
  const read = async (url: string, encoding: string) => {
    const headers = { authorization: `Bearer ${trader.apiKey}`, 'accept-encoding': encoding };
    return world.server.inject({ method: 'GET', url, headers });
  };
  return { read };
}

test('what lists orders and signals comes compressed to who takes that', async (t) => {
  const { read } = await worldWithOrders(t);
  for (const url of LISTS) {
    const plain = await read(url, 'identity');
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.match(String(plain.headers.vary), /Accept-Encoding/);
    for (const [encoding, unpack] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, rawPayload } = await read(url, encoding);
      assert.equal(headers['content-encoding'], encoding, url);
      assert.equal(headers['content-length'], String(rawPayload.length));
      assert.equal(timeless(String(unpack(rawPayload))), timeless(plain.body));
    }
  }
});

test('what may hold a secret never does', async (t) => {
  const { read } = await worldWithOrders(t);
  for (const url of ['/trading/accounts', '/public/brokers']) {
    const { statusCode, headers } = await read(url, 'br, gzip');
    assert.equal(statusCode, 200, url);
    assert.equal(headers['content-encoding'], undefined, url);
  }
});
