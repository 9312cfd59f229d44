// What strangers may send to a webhook: whatever the bytes, the answer is one of ours, and never a 5xx.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type Answer, openWorld, type Problem, type Trader, type World } from '../world.ts';

const SIMULATED = { query: '?simulation=true' };
/** A fuzzer is no user, and its single address would soon be limited. */
const PATIENT = { RATE_LIMIT_REQUESTS: '1000000', WAF_RATE_LIMIT: '1000000' };

const PROBLEM_FIELDS = ['advice', 'code', 'detail', 'request_id', 'status', 'title', 'type'];

/** 200, 202, or a problem of 4xx in its shape. */
function assertSound({ status, headers, body }: Answer<unknown>): void {
  if (status === 200 || status === 202) return;
  assert.ok(status >= 400 && status < 500, `answered ${status}`);
  assert.match(String(headers['content-type']), /^application\/problem\+json/);
  assert.deepEqual(Object.keys(body as object).sort(), PROBLEM_FIELDS);
  const problem = body as Problem;
  assert.equal(problem.status, status);
  assert.ok(problem.type.endsWith(`/docs/errors#${problem.code}`), problem.type);
  assert.match(problem.request_id, /^[0-9a-f-]{36}$/);
  assert.ok(problem.title && problem.detail && problem.advice);
  assert.doesNotMatch(JSON.stringify(problem), /node_modules|\.ts:|select .* from/i);
}

async function assertRefused(world: World, trader: Trader, answer: Answer<Problem>): Promise<void> {
  assertSound(answer);
  assert.deepEqual([answer.status, answer.body.code], [400, 'webhook_payload_invalid']);
  const entry = (await world.audits(trader)).at(-1);
  assert.deepEqual([entry?.action, entry?.success], ['webhook_payload_invalid', 0]);
  assert.equal(JSON.parse(entry?.metadata ?? '{}').request_id, answer.body.request_id);
}

describe('any bytes under any headers', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.uint8Array({ minLength: 16_000, maxLength: 17_000 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  );
  const headerText = fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((c) => String.fromCharCode(c)),
  });
  const headers = fc.record(
    {
      'content-type': fc.oneof(
        headerText,
        fc.constantFrom('', 'application/json', 'text/plain;charset=x', '/'),
      ),
      'content-encoding': fc.oneof(headerText, fc.constantFrom('gzip', 'br', 'identity', 'deflate, gzip')),
      'user-agent': headerText,
      'x-forwarded-for': headerText,
      cookie: headerText,
      authorization: headerText,
      origin: headerText,
    },
    { requiredKeys: [] },
  );
  const query = fc.oneof(
    fc.constant(''),
    fc.webQueryParameters().map((text) => `?${text}`),
    fc.string({ unit: 'grapheme-ascii' }).map((text) => `?simulation=${text}`),
    fc.string({ unit: 'binary' }).map((text) => `?simulation=${encodeURIComponent(text.toWellFormed())}`),
  );

  test('get one of our answers on a known webhook, and trade nothing', async (t) => {
    const world = await openWorld(t, { env: PATIENT });
    const trader = await world.makeTrader();
    await fc.assert(
      fc.asyncProperty(bytes, headers, query, async (body, sent, asked) => {
        const answer = await world.webhook(trader, body, {
          query: asked,
          headers: sent as Record<string, string>,
        });
        assertSound(answer);
        assert.ok(answer.status === 400 || answer.status === 413);
      }),
      { numRuns: 300 },
    );
    assert.deepEqual(await world.orders(trader), []);
  });

  test('get one of our answers on any path under /webhook/', async (t) => {
    const world = await openWorld(t, { env: PATIENT });
    const { account } = await world.makeTrader();
    const piece = fc.oneof(
      fc.constantFrom(
        '',
        '.',
        '..',
        '%2e%2e',
        '%',
        '%zz',
        '%00',
        '%ff',
        '%2F',
        'order',
        '*',
        ':token',
        account.webhookToken,
      ),
      fc.webSegment(),
      fc.string({ unit: 'binary', maxLength: 200 }).map((text) => encodeURIComponent(text.toWellFormed())),
    );
    // What leads out of there is a page, and may not be built.
    const isThere = (url: string) => new URL(url, 'http://localhost').pathname.startsWith('/webhook/');
    const path = fc
      .array(piece, { maxLength: 4 })
      .map((pieces) => `/webhook/${pieces.join('/')}`)
      .filter(isThere);
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
    await fc.assert(
      fc.asyncProperty(method, path, query, async (verb, url, asked) => {
        assertSound(await world.request({ method: verb, url: `${url}${asked}`, body: '{}' }));
      }),
      { numRuns: 300 },
    );
  });

  test('of a genuine signal with strange values either trade or are refused, and the service lives', async (t) => {
    const world = await openWorld(t, { env: PATIENT });
    const trader = await world.makeTrader();
    const strange = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.double(),
      fc.bigInt().map(String),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('__proto__', 'constructor', 1e308, '1e400', '-0', '\0', '\ud800', 'BTCUSDT\n', '１'),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    );
    const field = fc.constantFrom(
      'action',
      'symbol',
      'quantity',
      'timestamp',
      'secret',
      'order_type',
      '__proto__',
    );
    await fc.assert(
      fc.asyncProperty(field, strange, fc.boolean(), async (name, value, simulated) => {
        const body = JSON.stringify({ ...world.signal(trader), [name]: value });
        assertSound(await world.webhook(trader, body, simulated ? SIMULATED : {}));
      }),
      { numRuns: 300 },
    );
    assert.equal(
      (await world.request<{ status: string }>({ method: 'GET', url: '/health' })).body.status,
      'up',
    );
  });
});

describe('a malformed body is 400 webhook_payload_invalid, audited, and trades nothing', () => {
  type Row = [name: string, body: (signal: Record<string, unknown>) => unknown];
  const without = (name: string): Row => [
    `without ${name}`,
    (signal) => Object.fromEntries(Object.entries(signal).filter(([key]) => key !== name)),
  ];
  const withField = (name: string, value: unknown): Row => [
    `${name}: ${JSON.stringify(value)}`,
    (signal) => ({ ...signal, [name]: value }),
  ];
  const spelled = (name: string, change: (text: string) => string): Row => [
    name,
    (signal) => change(JSON.stringify(signal)),
  ];
  const rows: Row[] = [
    ['nothing at all', () => ''],
    ['white space', () => ' \r\n\t'],
    ['a word', () => 'buy'],
    ['null', () => 'null'],
    ['an array', (signal) => [signal]],
    ['a string of JSON', (signal) => JSON.stringify(JSON.stringify(signal))],
    ['a number', () => '1'],
    ['JSON that is cut off', (signal) => JSON.stringify(signal).slice(0, -1)],
    ['two objects', (signal) => JSON.stringify(signal).repeat(2)],
    ['bytes that are not UTF-8', () => Buffer.from([0x7b, 0xff, 0x7d])],
    ['UTF-16', (signal) => Buffer.from(JSON.stringify(signal), 'utf16le')],
    ['gzip', (signal) => gzipSync(JSON.stringify(signal))],
    ['a form', (signal) => new URLSearchParams(signal as Record<string, string>).toString()],
    ['ten thousand brackets', () => '['.repeat(10_000)],
    ['brackets in a field', () => `{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`],
    spelled('a key given twice', (text) => text.replace('{', '{"action":"sell",')),
    spelled('a key given twice, once escaped', (text) => text.replace('{', '{"\\u0061ction":"sell",')),
    spelled('a comment', (text) => `/* go */${text}`),
    spelled('a comma too many', (text) => text.replace('}', ',}')),
    spelled('single quotes', (text) => text.replaceAll('"', "'")),
    spelled('quantity: NaN', (text) => text.replace('"quantity":1', '"quantity":NaN')),
    spelled('quantity: 01', (text) => text.replace('"quantity":1', '"quantity":01')),
    spelled('quantity: 1e400', (text) => text.replace('"quantity":1', '"quantity":1e400')),
    spelled('quantity of 16 digits', (text) => text.replace('"quantity":1', '"quantity":1.000000000000001')),
    ...['action', 'symbol', 'quantity', 'timestamp', 'secret'].map(without),
    ...['action', 'symbol', 'quantity', 'timestamp', 'secret'].map((name) => withField(name, null)),
    ...['', 'hold', 'BUY SELL', 1, true, ['buy'], { toString: 'buy' }].map((value) =>
      withField('action', value),
    ),
    ...['', ' ', 'BTC USDT', 'BTC\u0000', 'x'.repeat(65), 7, []].map((value) => withField('symbol', value)),
    ...[0, -1, '0', '', 'one', '1,5', '0x1', 'Infinity', true, [1], {}].map((value) =>
      withField('quantity', value),
    ),
    ...['', 'now', 'yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '12:00', 0, -1, true, {}].map(
      (value) => withField('timestamp', value),
    ),
    ...[1, true, [], {}].map((value) => withField('secret', value)),
    ...['', 'market', 'EXIT', 1, true].map((value) => withField('order_type', value)),
    ['an entry that exits', (signal) => ({ ...signal, action: 'long_entry', order_type: 'exit' })],
    ['an exit that enters', (signal) => ({ ...signal, action: 'short_exit', order_type: 'entry' })],
  ];
  test('row by row', async (t) => {
    const world = await openWorld(t, { env: PATIENT });
    const trader = await world.makeTrader();
    for (const [name, body] of rows)
      await t.test(name.slice(0, 60), async () => {
        await assertRefused(world, trader, await world.webhook<Problem>(trader, body(world.signal(trader))));
      });
    assert.equal((await world.audits(trader)).length, rows.length);
    assert.deepEqual(await world.orders(trader), []);
  });

  test('a string that nobody closes is refused as fast as any other body', async (t) => {
    const world = await openWorld(t, { env: PATIENT });
    const trader = await world.makeTrader();
    const hostile = `{"a":"${'\\"'.repeat(8000)}`;
    await world.webhook(trader, hostile);
    const begun = process.cpuUsage();
    for (let round = 0; round < 10; round++)
      await assertRefused(world, trader, await world.webhook<Problem>(trader, hostile));
    // Read at each of its quotes anew, it took a quarter of a second each time. In the processor's time: others use it too.
    assert.ok(process.cpuUsage(begun).user < 1_000_000);
  });

  test('a body over 16 KiB is 413, audited as webhook_payload_invalid under the token’s user', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const text = JSON.stringify(world.signal(trader));
    const padded = (size: number) => `${text.slice(0, -1)},"note":"${'x'.repeat(size - text.length - 10)}"}`;
    const [most, more] = [padded(16_384), padded(16_385)];
    assert.deepEqual([most.length, more.length], [16_384, 16_385]);
    const refused = await world.webhook<Problem>(trader, more);
    assertSound(refused);
    assert.deepEqual([refused.status, refused.body.code], [413, 'payload_too_large']);
    const entries = await world.audits(trader);
    assert.deepEqual(
      entries.map(({ action, success }) => [action, success]),
      [['webhook_payload_invalid', 0]],
    );
    assert.equal((await world.webhook(trader, most)).status, 200);
    assert.equal((await world.request({ method: 'POST', url: '/webhook/x/order', body: more })).status, 413);
  });
});

describe('what a webhook reads', () => {
  test('?simulation= takes true, 1, yes, false, 0, no in any case; anything else is 400, and so is any other parameter', async (t) => {
    const world = await openWorld(t, { env: PATIENT });
    const trader = await world.makeTrader();
    const rows: [query: string, expected: 'simulated' | 'real' | 'refused'][] = [
      ...['true', '1', 'yes', 'TRUE', 'True', 'YES', 'yEs'].map(
        (v) => [`?simulation=${v}`, 'simulated'] as const,
      ),
      ...['false', '0', 'no', 'FALSE', 'No'].map((v) => [`?simulation=${v}`, 'real'] as const),
      ...[
        '',
        'maybe',
        'on',
        'off',
        't',
        'y',
        '2',
        '-1',
        '1.0',
        'true%20',
        '%20true',
        'true,true',
        'null',
      ].map((v) => [`?simulation=${v}`, 'refused'] as const),
      ['', 'real'],
      ['?', 'real'],
      ['?other=true', 'refused'],
      ['?simulation', 'refused'],
      ['?simulation=true&simulation=true', 'refused'],
      ['?simulation=true&simulation=false', 'refused'],
      ['?other=1&simulation=yes', 'refused'],
      ['?simul%61tion=%74rue', 'simulated'],
    ].map(([query, expected]) => [query, expected] as [string, 'simulated' | 'real' | 'refused']);
    for (const [query, expected] of rows)
      await t.test(`${query || 'no query'} is ${expected}`, async () => {
        const answer = await world.send(trader, { quantity: 0.001 }, { query });
        if (expected === 'refused') return assertRefused(world, trader, answer as unknown as Answer<Problem>);
        assert.equal(answer.status, 200);
        assert.equal(answer.body.simulation, expected === 'simulated');
      });
    const [real, simulated] = await Promise.all(
      ['', 'sim:'].map((book) => world.paperOrders(`${book}${trader.account.id}`)),
    );
    const count = (kind: string) => rows.filter(([, expected]) => expected === kind).length;
    assert.deepEqual([real?.length, simulated?.length], [count('real'), count('simulated')]);
  });

  test('JSON under any content type, or none', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'text/plain',
      'text/plain; charset=utf-8',
    ];
    types.push(
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
    );
    types.push('', 'json', '/', 'text/', ';', 'application/json, text/plain', 'undefined');
    for (const [index, type] of [...types, null].entries()) {
      const made = new Date(world.clock.now() - index).toISOString();
      const body = JSON.stringify(world.signal(trader, { timestamp: made, quantity: 0.001 }));
      const answer = await world.webhook(trader, body, {
        headers: type === null ? {} : { 'content-type': type },
      });
      assert.equal(answer.status, 200, `content type ${type}`);
    }
    assert.equal((await world.paperOrders(trader.account.id)).length, types.length + 1);
  });

  test('unknown fields, a byte order mark, upper case and blanks around an action and a quantity', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const extras = { strategy: { order: { id: 'x', nested: [1, 2, 3] } }, comment: 'ü', __proto__: null };
    const spelled = { action: ' Buy ', quantity: ' 0.50 ' };
    const answer = await world.webhook(
      trader,
      `\ufeff${JSON.stringify(world.signal(trader, { ...extras, ...spelled }))}`,
    );
    assert.equal(answer.status, 200);
    assert.deepEqual([answer.body.action, answer.body.quantity, answer.body.status], ['buy', 0.5, 'filled']);
  });

  test('symbols: the allowed list as the broker reads it, and beyond it the broker’s own', async (t) => {
    const world = await openWorld(t);
    const rows: [allowed: string[], symbol: string, expected: string][] = [
      [['BTCUSDT'], 'BTCUSDT', 'filled'],
      [['BTCUSDT'], 'BINANCE:BTCUSDT.P', 'filled'],
      [['BTCUSDT'], 'binance:btcusdt.p', 'filled'],
      [['BINANCE:BTCUSDT.P'], 'BTCUSDT', 'filled'],
      [['BTCUSDT', 'ES1!'], 'CME_MINI:ES1!', 'filled'],
      [['BTCUSDT'], 'ETHUSDT', 'refused'],
      [['BTCUSDT'], 'BTCUSDTX', 'refused'],
      [['BTCUSDT'], 'NOSUCH', 'refused'],
      [['NOSUCH'], 'NOSUCH', 'invalid_symbol'],
      [[], 'NOSUCH', 'invalid_symbol'],
      [[], 'BINANCE:ETHUSDT', 'filled'],
    ];
    for (const [allowedSymbols, symbol, expected] of rows)
      await t.test(`${symbol} where [${allowedSymbols}] is allowed: ${expected}`, async () => {
        const trader = await world.makeTrader({}, { allowedSymbols });
        const answer = await world.send(trader, { symbol });
        if (expected === 'refused') return assertRefused(world, trader, answer as unknown as Answer<Problem>);
        assert.equal(answer.status, 200);
        assert.equal(answer.body.symbol, symbol);
        assert.equal(answer.body.error?.code ?? answer.body.status, expected);
        if (expected === 'invalid_symbol') assert.equal(answer.body.status, 'rejected');
      });
  });
});
