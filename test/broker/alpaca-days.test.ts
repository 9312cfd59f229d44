// Alpaca on its bad days: each has a code, and words that tell what to do.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import {
  AccountUnfit,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type PlaceOutcome,
} from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type AccountId, millis, timestamp } from '../../src/domain/ids.ts';
import type { RejectionCode } from '../../src/domain/orders/order.ts';
import { stopwatch } from '../stopwatch.ts';
import { ACCOUNT, CLOCK, ID, json, KEYS, ORDER, opened, order, refusal, type Said } from './alpaca-script.ts';
import { NO_HURRY } from './paper-desk.ts';
import { patient } from './patient.ts';
import { stubHarness } from './stub-harness.ts';

async function isRejected(outcome: PlaceOutcome, code: RejectionCode, words: RegExp): Promise<void> {
  assert.equal(outcome.outcome, 'rejected', JSON.stringify(outcome));
  const { error } = outcome as Extract<PlaceOutcome, { outcome: 'rejected' }>;
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
}

const fails = (kind: typeof BrokerUnavailable, words: RegExp) => (fault: unknown) => {
  assert.ok(fault instanceof kind, String(fault));
  assert.match(fault.message, words);
  assert.ok(!fault.message.includes(KEYS.api_secret));
  return true;
};

describe('a key at Alpaca', () => {
  it('that is wrong, revoked, of the other account or bound to another address is refused, with what to check', async () => {
    const answers = [
      refusal(403, null, 'forbidden.'),
      refusal(401, 40110000, 'request is not authorized'),
      refusal(403, 40310000, 'access forbidden: address not allowed'),
    ];
    for (const answer of answers)
      await assert.rejects(
        opened({ 'GET /v2/account': answer }, 'paper'),
        fails(CredentialsRejected, /paper account.*addresses/),
      );
  });

  it('that is no key is not presented', async () => {
    const open = openAlpaca({ fetch: () => assert.fail('nobody is asked') });
    for (const credentials of [
      null,
      {},
      { api_key: 'a' },
      { api_key: 'a b', api_secret: 'c' },
      { api_key: 'a', api_secret: 'c\n' },
    ])
      await assert.rejects(
        open({ id: 'a' as AccountId, environment: 'live', paper: null, credentials }, NO_HURRY),
        fails(CredentialsRejected, /Copy both again/),
      );
  });

  it('that is refused with an order has traded nothing', async () => {
    const { broker } = await opened({ 'POST /v2/orders': refusal(403, null, 'forbidden.') });
    await assert.rejects(broker.place(order()), fails(CredentialsRejected, /forbidden/));
  });

  it('is a good one where the order is refused by a code, whatever the words', async () => {
    for (const words of ['account not authorized to trade this symbol', 'asset AAPL is forbidden to you']) {
      const { broker } = await opened({ 'POST /v2/orders': refusal(403, 40310000, words) });
      await isRejected(await broker.place(order()), 'failed_at_broker', new RegExp(words));
    }
    const { broker } = await opened({ 'POST /v2/orders': refusal(401, 40110000, 'not authorized') });
    await assert.rejects(broker.place(order()), CredentialsRejected);
  });

  it('is sent to Alpaca’s own hosts, and to the other for prices', async () => {
    const hosts = new Set<string>();
    for (const environment of ['live', 'paper']) {
      const open = openAlpaca({
        fetch: async (url, { headers }) => {
          const { host, pathname } = new URL(url);
          hosts.add(`${environment} ${host}`);
          assert.equal(new Headers(headers).get('apca-api-secret-key'), KEYS.api_secret);
          if (pathname.startsWith('/v2/stocks'))
            return Response.json({
              symbol: 'AAPL',
              quote: { t: '2026-11-17T15:00:00.123456789Z', bp: 179.5, ap: 179.52 },
            });
          return Response.json(ACCOUNT);
        },
      });
      const account = { id: 'a' as AccountId, environment, paper: null, credentials: KEYS };
      assert.deepEqual(await patient(await open(account, NO_HURRY)).quote(order().instrument), {
        bid: '179.5',
        ask: '179.52',
      });
    }
    assert.deepEqual([...hosts].toSorted(), [
      'live api.alpaca.markets',
      'live data.alpaca.markets',
      'paper data.alpaca.markets',
      'paper paper-api.alpaca.markets',
    ]);
  });
});

describe('an account at Alpaca', () => {
  for (const [what, words] of [
    [{ status: 'ONBOARDING' }, /ONBOARDING.*must be ACTIVE/],
    [{ account_blocked: true }, /blocked.*support/],
    [{ trading_blocked: true }, /trading is blocked/],
    [{ trade_suspended_by_user: true }, /Switch “suspend trade” off/],
  ] as const)
    it(`with ${JSON.stringify(what)} is unfit, and told why`, async () => {
      const { broker } = await opened({ 'GET /v2/account': json({ ...ACCOUNT, ...what }) });
      await assert.rejects(broker.verify(), fails(AccountUnfit, words));
    });

  it('that cannot sell short is fit, with a warning', async () => {
    const { broker } = await opened({ 'GET /v2/account': json({ ...ACCOUNT, shorting_enabled: false }) });
    assert.match((await broker.verify()).warnings.join(), /cannot sell short/);
  });

  it('for paper only is fit on paper, and nowhere else', async () => {
    const answers = { 'GET /v2/account': json({ ...ACCOUNT, status: 'PAPER_ONLY' }) };
    assert.deepEqual((await (await opened(answers, 'paper')).broker.verify()).warnings, []);
    await assert.rejects((await opened(answers)).broker.verify(), AccountUnfit);
  });
});

describe('a symbol at Alpaca', () => {
  it('is that of an American exchange, in its own spelling', async () => {
    const { broker } = await opened();
    for (const symbol of ['AAPL', 'NASDAQ:AAPL', 'nyse:aapl', 'BATS_DLY:AAPL']) {
      const found = await broker.resolve(symbol);
      assert.equal('symbol' in found && found.symbol, 'AAPL', symbol);
    }
  });

  it('that means something else, or nothing, is refused, and the nearest names are offered', async () => {
    const { broker } = await opened();
    for (const [symbol, words] of [
      ['AAPLX', /Did you mean AAPL\?/],
      ['APPL', /Did you mean AAPL\?/],
      ['LSE:AAPL', /Did you mean AAPL\?/],
      ['AAPL.P', /Did you mean AAPL\?/],
      ['ES1!', /such as AAPL/],
    ] as const) {
      const found = await broker.resolve(symbol);
      assert.ok('rejection' in found, symbol);
      assert.equal(found.rejection.code, 'invalid_symbol');
      assert.match(found.rejection.message, words);
    }
  });

  it('that is not traded at present is known and offered to nobody: its market is closed, and nobody knows until when', async () => {
    for (const clock of [CLOCK, { ...CLOCK, is_open: false }]) {
      const { broker } = await opened({ 'GET /v2/clock': json(clock) });
      const found = await broker.resolve('OLD');
      assert.ok('symbol' in found);
      assert.deepEqual([found.symbol, found.open, found.nextOpen], ['OLD', false, null]);
      assert.deepEqual(await broker.instruments('OLD'), []);
    }
  });

  it('is looked up in a list that is read once, however many ask', async () => {
    const { broker, asked } = await opened();
    await Promise.all(['AAPL', 'GME', 'AAPL'].map((symbol) => broker.resolve(symbol)));
    assert.equal(asked.filter((what) => what === 'GET /v2/assets').length, 1);
  });

  it('is not believed to be nothing where the list is none', async () => {
    for (const answer of [json([]), json({}), json([{ symbol: 'AAPL' }]), () => new Response('<html>')])
      await assert.rejects(
        (await opened({ 'GET /v2/assets': answer })).broker.resolve('AAPL'),
        BrokerUnavailable,
      );
  });
});

describe('an order at Alpaca', () => {
  it('is a market order for the day, under our id, with the quantity as it stands', async () => {
    let body = '';
    const { broker } = await opened({
      'POST /v2/orders': async (init) => {
        body = await new Response(init.body).text();
        return Response.json({ ...ORDER, qty: '0.015', side: 'sell' });
      },
    });
    await broker.place(order({ side: 'sell', quantity: decimal('0.015') }));
    assert.deepEqual(JSON.parse(body), {
      client_order_id: ID,
      qty: '0.015',
      side: 'sell',
      symbol: 'AAPL',
      time_in_force: 'day',
      type: 'market',
    });
  });

  it('is not sent while the market is closed, and the hours are told', async () => {
    const { broker, asked } = await opened({ 'GET /v2/clock': json({ ...CLOCK, is_open: false }) });
    const outcome = await broker.place(order());
    await isRejected(outcome, 'market_closed', /2026-11-18T14:30:00.000Z; send it again then/);
    const { error } = outcome as Extract<PlaceOutcome, { outcome: 'rejected' }>;
    assert.deepEqual(error.market_hours, {
      timezone: 'America/New_York',
      session: 'Monday-Friday 09:30-16:00',
      next_open: '2026-11-18T14:30:00.000Z',
    });
    assert.ok(!asked.includes('POST /v2/orders'));
  });

  it('is not sent in the last seconds before the close: it would wait until morning', async () => {
    const at = (timestamp: string) => json({ ...CLOCK, timestamp });
    const { broker, asked } = await opened({ 'GET /v2/clock': at('2026-11-17T15:59:50-05:00') });
    const outcome = await broker.place(order());
    await isRejected(outcome, 'market_closed', /2026-11-18T14:30:00.000Z; send it again then/);
    const { error } = outcome as Extract<PlaceOutcome, { outcome: 'rejected' }>;
    assert.equal(error.market_hours?.next_open, '2026-11-18T14:30:00.000Z');
    assert.ok(!asked.includes('POST /v2/orders'));
    const before = await opened({ 'GET /v2/clock': at('2026-11-17T15:59:40-05:00') });
    assert.equal((await before.broker.place(order())).outcome, 'accepted');
  });

  it('is not sent where the clock cannot be read', async () => {
    for (const answer of [json({}), json({ ...CLOCK, next_open: 'soon' }), refusal(500, null, 'oh')]) {
      const { broker, asked } = await opened({ 'GET /v2/clock': answer });
      await assert.rejects(broker.place(order()), BrokerUnavailable);
      assert.ok(!asked.includes('POST /v2/orders'));
    }
  });

  it('is not sent once its time is over, though the clock was asked for in time', async () => {
    const sendBefore = timestamp(Date.now() + 200);
    const { broker, asked } = await opened({
      'GET /v2/clock': async () => {
        while (Date.now() < millis(sendBefore)) await setTimeout(20);
        return Response.json(CLOCK);
      },
    });
    await isRejected(await broker.place(order({ sendBefore })), 'expired', /not sent.*before/);
    assert.ok(!asked.includes('POST /v2/orders'));
  });

  it('off the step is refused before it is sent', async () => {
    const { broker, asked } = await opened();
    const whole = { ...order().instrument, symbol: 'GME', quantityStep: decimal(1) };
    await isRejected(
      await broker.place(order({ instrument: whole, quantity: decimal('1.5') })),
      'invalid_quantity',
      /steps of 1,/,
    );
    await isRejected(
      await broker.place(order({ quantity: decimal('0.0000000001') })),
      'invalid_quantity',
      /multiple/,
    );
    assert.ok(!asked.includes('POST /v2/orders'));
  });

  for (const [status, code, said, ours, words] of [
    [403, 40310000, 'insufficient buying power', 'insufficient_margin', /Add funds/],
    [
      403,
      40310000,
      'insufficient qty available for order (requested: 2, available: 1)',
      'no_position',
      /not held/,
    ],
    [403, 40310000, 'fractional orders cannot be sold short', 'invalid_quantity', /whole number/],
    [403, 40310000, 'cost basis must be >= minimal amount of order 1', 'invalid_quantity', /a dollar/],
    [
      403,
      40310000,
      'potential wash trade detected. use complex orders',
      'failed_at_broker',
      /cancel it at Alpaca/,
    ],
    [403, 40310000, 'asset "GME" cannot be sold short', 'failed_at_broker', /sold short/],
    [403, 40310100, 'trade denied due to pattern day trading protection', 'failed_at_broker', /day trades/],
    [422, 42210000, 'asset "AAPLX" not found', 'invalid_symbol', /not found in the broker contracts/],
    [422, 42210000, 'asset AAPL is not active', 'market_closed', /not traded at present/],
    [422, 42210000, 'asset "AAPL" is not tradable', 'market_closed', /not traded at present/],
    [422, 40010001, 'qty must be integer', 'invalid_quantity', /step/],
    [400, 40010000, 'request body format is invalid', 'failed_at_broker', /Nothing was traded/],
  ] as const)
    it(`that is refused with “${said}” is ${ours}, in Alpaca’s words`, async () => {
      const { broker } = await opened({ 'POST /v2/orders': refusal(status, code, said) });
      const outcome = await broker.place(order());
      await isRejected(outcome, ours, words);
      await isRejected(outcome, ours, new RegExp(`${code}`));
    });

  it('under an id that is known is the order that has it', async () => {
    const { broker } = await opened({
      'POST /v2/orders': refusal(422, 40010001, 'client_order_id must be unique'),
      'GET /v2/orders:by_client_order_id': json({
        ...ORDER,
        status: 'filled',
        filled_qty: '1',
        filled_avg_price: '179.51',
      }),
    });
    const outcome = await broker.place(order());
    assert.ok(outcome.outcome === 'accepted');
    assert.deepEqual([outcome.state.status, outcome.state.fillPrice], ['filled', '179.51']);
  });

  it('under an id that is known and not shown is unknown', async () => {
    for (const answer of [refusal(404, 40410000, 'order not found'), refusal(500, null, 'oh'), json({})]) {
      const { broker } = await opened({
        'POST /v2/orders': refusal(422, 40010001, 'client_order_id must be unique'),
        'GET /v2/orders:by_client_order_id': answer,
      });
      assert.equal((await broker.place(order())).outcome, 'unknown');
    }
  });

  it('is unknown where nobody says that it was not taken', async () => {
    const silent: Said[] = [
      refusal(500, null, 'internal server error'),
      refusal(503, null, 'maintenance'),
      refusal(504, 50410000, 'timeout'),
      refusal(408, 40810000, 'timeout'),
      () => new Response('<html>down for maintenance</html>', { status: 200 }),
      () => new Response('<html>forbidden</html>', { status: 403 }),
      () => new Response('<html>not found</html>', { status: 404 }),
      json({}),
      json({ ...ORDER, client_order_id: 'another' }),
      json({ ...ORDER, symbol: 'GME' }),
      json({ ...ORDER, qty: '2' }),
      json({ ...ORDER, side: 'sell' }),
      json({ ...ORDER, id: '' }),
      json({ ...ORDER, status: 'filled' }),
      json({ ...ORDER, status: 'filled', filled_qty: '1' }),
      json({ ...ORDER, filled_avg_price: '179', status: 'canceled' }),
      json({ ...ORDER, status: 'perhaps' }),
      () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }),
        ),
    ];
    for (const [index, answer] of silent.entries()) {
      const { broker } = await opened({ 'POST /v2/orders': answer });
      assert.equal((await broker.place(order())).outcome, 'unknown', `answer ${index}`);
    }
  });

  it('was certainly not sent where there is no connection', async () => {
    const refused = Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' });
    const { broker } = await opened({
      'POST /v2/orders': () => Promise.reject(new TypeError('fetch failed', { cause: refused })),
    });
    await assert.rejects(broker.place(order()), fails(BrokerUnavailable, /cannot be reached/));
  });

  it('is refused for the rate with the delay that Alpaca gives, but for what only our clock makes of it', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const [headers, least, most] of [
      [{ 'x-ratelimit-reset': `${now + 20}` }, 18_000, 21_000],
      [{ 'retry-after': '3' }, 3_000, 3_000],
      [{}, 1_000, 1_000],
      // A clock that is wrong.
      [{ 'x-ratelimit-reset': `${now - 40}` }, 1_000, 1_000],
      [{ 'x-ratelimit-reset': `${now + 4_000}` }, 60_000, 60_000],
    ] as [Record<string, string>, number, number][]) {
      const { broker } = await opened({
        'POST /v2/orders': json({ message: 'too many requests.' }, 429, headers),
      });
      await assert.rejects(broker.place(order()), (fault: unknown) => {
        assert.ok(fault instanceof BrokerBusy);
        assert.ok(fault.retryAfterMs >= least && fault.retryAfterMs <= most, `${fault.retryAfterMs}`);
        return true;
      });
    }
  });

  for (const [status, filled, state] of [
    ['new', '0', 'placed'],
    ['accepted', '0', 'placed'],
    ['partially_filled', '0.5', 'partially_filled'],
    ['pending_cancel', '0.5', 'partially_filled'],
    ['done_for_day', '0.5', 'partially_filled'],
    ['calculated', '1', 'filled'],
    ['filled', '1', 'filled'],
    ['canceled', '0.5', 'cancelled'],
    ['expired', '0', 'cancelled'],
    ['replaced', '0', 'cancelled'],
    ['rejected', '0', 'failed'],
  ] as const)
    it(`that is ${status} with ${filled} of 1 is ${state}`, async () => {
      const seen = {
        ...ORDER,
        status,
        filled_qty: filled,
        filled_avg_price: filled === '0' ? null : '179.5',
      };
      const { broker } = await opened({ 'GET /v2/orders:by_client_order_id': json(seen) });
      const found = await broker.find(order());
      assert.deepEqual([found?.status, found?.fillQuantity], [state, filled]);
      assert.equal(found?.reason !== null, state === 'cancelled' || state === 'failed');
    });

  it('is not found only by Alpaca’s own word', async () => {
    const { broker } = await opened();
    assert.equal(await broker.find(order()), null);
    for (const answer of [
      () => new Response('<html>', { status: 404 }),
      refusal(404, null, 'not found'),
      json(null),
      json({ ...ORDER, client_order_id: 'another' }),
    ])
      await assert.rejects(
        (await opened({ 'GET /v2/orders:by_client_order_id': answer })).broker.find(order()),
        BrokerUnavailable,
      );
  });
});

describe('a question to Alpaca', () => {
  it('about positions is never answered with “flat” by mistake', async () => {
    const row = {
      asset_id: 'a',
      symbol: 'AAPL',
      asset_class: 'us_equity',
      qty: '-5',
      side: 'short',
      avg_entry_price: '100.0',
    };
    const { broker } = await opened({
      'GET /v2/positions': json([row, { ...row, asset_class: 'crypto', symbol: 'BTCUSD' }]),
    });
    assert.equal(await broker.position(order().instrument), '-5');
    assert.deepEqual(
      (await broker.positions()).map(({ symbol, tradable }) => [symbol, tradable]),
      [
        ['AAPL', true],
        ['BTCUSD', false],
      ],
    );
    for (const body of [
      {},
      null,
      [{}],
      [{ ...row, qty: true }],
      [{ ...row, side: 'long' }],
      [{ ...row, qty: 'x' }],
    ])
      await assert.rejects(
        (await opened({ 'GET /v2/positions': json(body) })).broker.positions(),
        BrokerUnavailable,
      );
    await assert.rejects(
      (await opened({ 'GET /v2/positions': () => new Response('<html>') })).broker.position(
        order().instrument,
      ),
      BrokerUnavailable,
    );
  });

  it('for a price while nobody bids or asks is answered with the last one', async () => {
    const { broker } = await opened({
      'GET /v2/stocks/AAPL/quotes/latest': json({
        symbol: 'AAPL',
        quote: { t: '2026-11-17T23:00:00Z', bp: 179, ap: 0 },
      }),
      'GET /v2/stocks/AAPL/trades/latest': json({
        symbol: 'AAPL',
        trade: { t: '2026-11-17T22:00:00Z', p: 179.4 },
      }),
    });
    assert.deepEqual(await broker.quote(order().instrument), { bid: '179.4', ask: '179.4' });
  });

  it('for a price that is none is unavailable, and does not blame the key', async () => {
    const quote = 'GET /v2/stocks/AAPL/quotes/latest';
    for (const answer of [
      refusal(403, null, 'subscription does not permit querying recent SIP data'),
      json({ symbol: 'AAPL', quote: { t: '2026-11-17T15:00:00Z', bp: 0, ap: 0 } }),
      json({ symbol: 'AAPL', quote: { t: '2026-11-17T15:00:00Z', bp: 2, ap: 1 } }),
    ]) {
      const { broker } = await opened({ [quote]: answer });
      await assert.rejects(broker.quote(order().instrument), (fault: unknown) => {
        assert.ok(fault instanceof BrokerUnavailable && !(fault instanceof CredentialsRejected));
        return true;
      });
    }
  });
});

describe('a stub of Alpaca', () => {
  const stub = stubHarness('alpaca', (url) => openAlpaca({ url }), 'paper');

  it('that stalls in the middle of an answer is left in time, and the order is unknown and there', async () => {
    const account = await stub.account();
    const connection = await account.connect();
    await account.breaks('stall', { calls: 'orders' });
    const passed = stopwatch();
    const outcome = await connection.place(order(), AbortSignal.timeout(1_500));
    assert.equal(outcome.outcome, 'unknown');
    assert.ok(passed() < 10_000);
    assert.equal((await account.ledger()).orders.length, 1);
    await account.heal();
    assert.equal((await patient(connection).find(order()))?.status, 'filled');
  });

  it('that gives another’s order, or one without a name, is not believed', async () => {
    for (const garbage of ['another', 'nameless', 'empty_lists']) {
      const account = await stub.account();
      const broker = await account.open();
      await account.breaks('garbage', { garbage, taken: true, calls: 'orders' });
      const outcome = await broker.place(order());
      if (garbage !== 'empty_lists') assert.equal(outcome.outcome, 'unknown', garbage);
      await account.heal();
    }
  });

  it('binds a key to addresses', async () => {
    const account = await stub.account({ addresses: ['192.0.2.1'] });
    await assert.rejects(account.open(), fails(CredentialsRejected, /this server’s must be among them/));
  });
});
