// Stops at Alpaca: what exactly is asked for, and what is made of what it says.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { json, refusal, type Said } from './alpaca-script.ts';
import {
  at,
  BY_ID,
  desk,
  FIRST,
  HELD,
  isRejected,
  MOVED,
  SECOND,
  STOP,
  sentAs,
  silences,
  WITH_LEG,
} from './alpaca-stop-script.ts';
import { NO_HURRY } from './paper-desk.ts';

describe('a stop at Alpaca', () => {
  it('is a stop order until it is cancelled, under our id, and nothing else', async () => {
    const { place, asked, bodies } = await desk();
    assert.deepEqual(await place(), { outcome: 'accepted', clientOrderId: FIRST, brokerRef: STOP.id });
    assert.deepEqual(bodies('POST'), [
      {
        client_order_id: FIRST,
        qty: '3',
        side: 'sell',
        stop_price: '170',
        symbol: 'AAPL',
        time_in_force: 'gtc',
        type: 'stop',
      },
    ]);
    // It waits for the morning where the market is closed: nobody asks for the hours.
    assert.ok(!asked.includes('GET /v2/clock'));
  });

  it('protects a short position by buying', async () => {
    const { place, bodies } = await desk({
      'GET /v2/positions': json([{ ...HELD, qty: '-3', side: 'short' }]),
      'POST /v2/orders': json({ ...STOP, side: 'buy', stop_price: '190' }),
    });
    const outcome = await place({ side: 'buy', price: decimal(190) });
    assert.equal(outcome.outcome, 'accepted');
    assert.deepEqual(
      bodies('POST').map((body) => (body as { side: string }).side),
      ['buy'],
    );
  });

  it('for a fraction of a share is refused in words, and nothing is asked', async () => {
    const { place, move, asked } = await desk();
    const before = asked.length;
    isRejected(
      await place({ quantity: decimal('3.5') }),
      'refused',
      /^Alpaca keeps stops for whole shares only: send 3, not 3\.5\.$/,
    );
    isRejected(await place({ quantity: decimal('0.5') }), 'refused', /send a whole number, not 0\.5\.$/);
    isRejected(await move(sentAs(FIRST), { quantity: decimal('2.25') }), 'refused', /send 2, not 2\.25\.$/);
    assert.equal(asked.length, before);
  });

  it('where nothing is held on its side is not sent: Alpaca would sell short', async () => {
    for (const rows of [
      [],
      [{ ...HELD, symbol: 'GME' }],
      [{ ...HELD, qty: '-3', side: 'short' }],
      [{ ...HELD, asset_class: 'crypto' }],
    ]) {
      const { place, bodies } = await desk({ 'GET /v2/positions': json(rows) });
      isRejected(await place(), 'no_position', /nothing of AAPL is held/);
      assert.deepEqual(bodies('POST'), []);
    }
  });

  for (const [status, code, words, why] of [
    [422, 42210000, 'stop price must be less than current price', 'passed'],
    [422, 42210000, 'stop price must be greater than current price', 'passed'],
    [422, 42210000, 'stop price must be less than base_price - 0.01', 'passed'],
    [403, 40310000, 'insufficient qty available for order (requested: 3, available: 0)', 'refused'],
    [403, 40310000, 'asset "AAPL" cannot be sold short', 'no_position'],
    [403, 40310000, 'account is not allowed to short', 'no_position'],
    [
      422,
      42210000,
      'position intent mismatch, inferred: sell_to_open, specified: sell_to_close',
      'no_position',
    ],
    [403, 40310000, 'potential wash trade detected. opposite side market/stop order exists', 'opposed'],
    [403, 40310000, 'cannot open a short sell while a long buy order is open', 'opposed'],
    [422, 42210000, 'fractional orders must be DAY orders', 'refused'],
    [422, 42210000, 'asset AAPL is not active', 'refused'],
    [422, 40010001, 'stop price must be a multiple of 0.01', 'refused'],
  ] as const)
    it(`that is refused with “${words}” is ${why}, in Alpaca’s words`, async () => {
      const { place } = await desk({ 'POST /v2/orders': refusal(status, code, words) });
      const outcome = await place();
      isRejected(outcome, why, /./);
      assert.equal(outcome.outcome === 'rejected' && outcome.words, words);
    });

  it('for shares that another order holds back is refused, and for shares that nobody has finds no position', async () => {
    for (const [existing, why] of [
      ['3', 'refused'],
      ['0', 'no_position'],
    ] as const) {
      const body = {
        available: '0',
        code: 40310000,
        existing_qty: existing,
        held_for_orders: existing,
        message: 'insufficient qty available for order (requested: 3, available: 0)',
        symbol: 'AAPL',
      };
      const { place } = await desk({ 'POST /v2/orders': json(body, 403) });
      isRejected(await place(), why, /available: 0/);
    }
  });

  it('under an id that is known is the one that has it', async () => {
    const answers = { 'POST /v2/orders': refusal(422, 40010001, 'client_order_id must be unique') };
    const known = await desk({ ...answers, [BY_ID]: json(STOP) });
    assert.deepEqual(await known.place(), {
      outcome: 'accepted',
      clientOrderId: FIRST,
      brokerRef: STOP.id,
    });
    for (const answer of [refusal(404, 40410000, 'order not found'), refusal(500, null, 'oh'), json({})]) {
      const { place } = await desk({ ...answers, [BY_ID]: answer });
      assert.equal((await place()).outcome, 'unknown');
    }
  });

  it('is unknown where nobody says that it was not taken', async () => {
    const others: Said[] = [
      { client_order_id: 'another' },
      { symbol: 'GME' },
      { qty: '2' },
      { side: 'buy' },
      { stop_price: '171' },
      { stop_price: null },
      { type: 'market' },
      { id: '' },
    ].map((change) => json({ ...STOP, ...change }));
    for (const [index, answer] of [...silences, ...others].entries()) {
      const { place } = await desk({ 'POST /v2/orders': answer });
      assert.equal((await place()).outcome, 'unknown', `answer ${index}`);
    }
  });

  it('was certainly not taken where there is no connection, no right, too many requests, or no word of the position', async () => {
    const refused = Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' });
    for (const [answers, kind] of [
      [
        { 'POST /v2/orders': () => Promise.reject(new TypeError('no', { cause: refused })) },
        BrokerUnavailable,
      ],
      [{ 'POST /v2/orders': refusal(403, null, 'forbidden.') }, CredentialsRejected],
      [{ 'POST /v2/orders': json({ message: 'too many requests.' }, 429) }, BrokerBusy],
      [{ 'GET /v2/positions': json({}) }, BrokerUnavailable],
    ] as [Record<string, Said>, typeof BrokerUnavailable][])
      await assert.rejects((await desk(answers)).place(), (fault: unknown) => fault instanceof kind);
  });
});

describe('a stop at Alpaca that is moved', () => {
  const known = { [BY_ID]: json(STOP) };

  it('is a new order under the new id, in the place of the old one', async () => {
    const { move, bodies, asked } = await desk({ ...known, [at('PATCH', STOP)]: json(MOVED) });
    assert.deepEqual(await move(sentAs(FIRST, { brokerRef: STOP.id })), {
      outcome: 'accepted',
      clientOrderId: SECOND,
      brokerRef: MOVED.id,
    });
    assert.deepEqual(bodies('PATCH'), [{ client_order_id: SECOND, stop_price: '175' }]);
    assert.ok(asked.includes(at('PATCH', STOP)));
  });

  it('gets another quantity with it', async () => {
    const { move, bodies } = await desk({ ...known, [at('PATCH', STOP)]: json({ ...MOVED, qty: '2' }) });
    assert.equal((await move(sentAs(FIRST), { quantity: decimal(2) })).outcome, 'accepted');
    assert.deepEqual(bodies('PATCH'), [{ client_order_id: SECOND, qty: '2', stop_price: '175' }]);
  });

  it('to where it stands is as it was, under its own id, and nothing is sent', async () => {
    const { move, bodies } = await desk(known);
    const asItWas = { outcome: 'accepted', clientOrderId: FIRST, brokerRef: STOP.id };
    assert.deepEqual(await move(sentAs(FIRST), { price: decimal(170) }), asItWas);
    assert.deepEqual(bodies('PATCH'), []);
    const unchanged = refusal(422, 42210000, 'order parameters are not changed');
    const late = await desk({ ...known, [at('PATCH', STOP)]: unchanged });
    assert.deepEqual(await late.move(sentAs(FIRST)), asItWas);
  });

  for (const [change, words] of [
    [{ status: 'canceled' }, /cancelled/],
    [{ status: 'expired' }, /90 days/],
    [{ status: 'rejected' }, /rejected/],
    [{ status: 'replaced', replaced_by: MOVED.id }, /replaced by order aaaaaaaa/],
    [{ status: 'filled', filled_qty: '3', filled_avg_price: '169.9' }, /triggered/],
    [{ status: 'partially_filled', filled_qty: '1', filled_avg_price: '169.9' }, /triggered/],
  ] as const)
    it(`and is ${change.status} is gone, and nothing is sent`, async () => {
      const { move, bodies } = await desk({ [BY_ID]: json({ ...STOP, ...change }) });
      isRejected(await move(sentAs(FIRST)), 'gone', words);
      assert.deepEqual(bodies('PATCH'), []);
    });

  it('and was never there is gone', async () => {
    isRejected(await (await desk()).move(sentAs(FIRST)), 'gone', /no stop under the id fs/);
  });

  for (const [status, code, words, why] of [
    [404, 40410000, 'order not found', 'gone'],
    [422, 42210000, 'order already replaced', 'gone'],
    [422, 42210000, 'cannot replace order in filled status', 'gone'],
    [422, 40010001, 'unable to replace order, order is not open', 'gone'],
    // It stands, and cannot be moved as it is.
    [422, 42210000, 'cannot replace order in accepted status', 'refused'],
    [422, 42210000, 'cannot replace order in pending_new status', 'refused'],
    [422, 42210000, 'cannot replace order in pending_replace status', 'refused'],
    [422, 40010001, "unable to replace order, order isn't sent to exchange yet", 'refused'],
    [422, 42210000, 'order chain not fully replaced', 'refused'],
    [422, 42210000, 'stop price must be less than current price', 'passed'],
    [403, 40310000, 'insufficient qty available for order (requested: 4, available: 3)', 'refused'],
  ] as const)
    it(`and is refused with “${words}” is ${why}`, async () => {
      const { move } = await desk({ ...known, [at('PATCH', STOP)]: refusal(status, code, words) });
      // What is under the new id is asked for: nothing.
      isRejected(await move(sentAs(FIRST)), why, /./);
    });

  it('is unknown where the answer is lost, or about something else', async () => {
    const others = [{ client_order_id: 'another' }, { stop_price: '170' }, { qty: '2' }, { id: STOP.id }];
    for (const answer of [...silences, ...others.map((change) => json({ ...MOVED, ...change }))]) {
      const { move } = await desk({ ...known, [at('PATCH', STOP)]: answer });
      assert.equal((await move(sentAs(FIRST))).outcome, 'unknown');
    }
  });

  it('twice under one id was moved the first time', async () => {
    let asked = 0;
    const { move } = await desk({
      [BY_ID]: () => Response.json(asked++ === 0 ? STOP : MOVED),
      [at('PATCH', STOP)]: refusal(422, 40010001, 'client_order_id must be unique'),
    });
    assert.deepEqual(await move(sentAs(FIRST)), {
      outcome: 'accepted',
      clientOrderId: SECOND,
      brokerRef: MOVED.id,
    });
  });
});

describe('what has become of a stop at Alpaca', () => {
  const filled = { filled_qty: '3', filled_avg_price: '169.5' };
  for (const [change, status, isTraded] of [
    [{ status: 'new' }, 'standing', false],
    [{ status: 'accepted' }, 'standing', false],
    [{ status: 'pending_new' }, 'standing', false],
    [{ status: 'pending_replace' }, 'standing', false],
    [{ status: 'pending_cancel' }, 'standing', false],
    [{ status: 'done_for_day' }, 'standing', false],
    [{ status: 'stopped' }, 'triggered', true],
    [{ status: 'partially_filled', filled_qty: '1', filled_avg_price: '169.5' }, 'triggered', true],
    [{ status: 'filled', ...filled }, 'triggered', true],
    [{ status: 'canceled' }, 'ended', false],
    [{ status: 'canceled', filled_qty: '1', filled_avg_price: '169.5' }, 'ended', true],
    [{ status: 'expired' }, 'ended', false],
    [{ status: 'replaced', replaced_by: MOVED.id }, 'ended', false],
    [{ status: 'rejected' }, 'ended', false],
  ] as const)
    it(`is ${status} by ${JSON.stringify(change)}`, async () => {
      const { find } = await desk({ [BY_ID]: json({ ...STOP, ...change }) });
      const state = (await find(sentAs(FIRST))) ?? assert.fail('it is found');
      assert.deepEqual([state.brokerRef, state.status], [STOP.id, status]);
      assert.equal(state.order !== null, isTraded);
      assert.equal(state.reason !== null, status === 'ended');
      assert.equal(state.hasExpired ?? false, change.status === 'expired');
      if ('filled_qty' in change) {
        assert.deepEqual([state.order?.fillQuantity, state.order?.fillPrice], [change.filled_qty, '169.5']);
        assert.equal(state.order?.brokerRef, STOP.id);
      }
    });

  const rejected = { ...MOVED, status: 'rejected', replaces: STOP.id };
  for (const [before, status, taken] of [
    [{ status: 'filled', ...filled }, 'triggered', '3'],
    [{ status: 'partially_filled', filled_qty: '1', filled_avg_price: '169.5' }, 'triggered', '1'],
    [{ status: 'new' }, 'ended', null],
    [{ status: 'canceled' }, 'ended', null],
  ] as const)
    it(`is ${status} where the one in its place was rejected, by ${JSON.stringify(before)}`, async () => {
      const { find } = await desk({
        [BY_ID]: json(rejected),
        [at('GET', STOP)]: json({ ...STOP, ...before }),
      });
      const state = (await find(sentAs(SECOND))) ?? assert.fail('it is found');
      assert.deepEqual(
        [state.brokerRef, state.status, state.order?.fillQuantity ?? null, state.order?.brokerRef ?? null],
        [MOVED.id, status, taken, taken && STOP.id],
      );
    });

  it('is not known while the one that it was to replace cannot be asked for', async () => {
    const { find } = await desk({ [BY_ID]: json(rejected), [at('GET', STOP)]: json({}) });
    await assert.rejects(find(sentAs(SECOND)), BrokerUnavailable);
  });

  it('is nothing by Alpaca’s own word alone', async () => {
    assert.equal(await (await desk()).find(sentAs(FIRST)), null);
    for (const answer of [
      json({}),
      json(MOVED),
      () => new Response('<html>', { status: 404 }),
      refusal(404, null, 'not found'),
    ])
      await assert.rejects((await desk({ [BY_ID]: answer })).find(sentAs(FIRST)), BrokerUnavailable);
  });
});

describe('a stop at Alpaca that is removed', () => {
  it('is cancelled by Alpaca’s id, or by what ours leads to', async () => {
    for (const [from, looks] of [
      [sentAs(FIRST, { brokerRef: STOP.id }), 0],
      [sentAs(FIRST), 1],
    ] as const) {
      const { remove, asked } = await desk({
        [BY_ID]: json(STOP),
        [at('DELETE', STOP)]: () => new Response(null, { status: 204 }),
      });
      await remove(from);
      assert.equal(asked.filter((what) => what === at('DELETE', STOP)).length, 1);
      assert.equal(asked.filter((what) => what === BY_ID).length, looks);
    }
  });

  it('and has ended, or was never there, is no error', async () => {
    await (await desk()).remove(sentAs(FIRST));
    const from = sentAs(FIRST, { brokerRef: STOP.id });
    await (await desk({ [at('DELETE', STOP)]: refusal(404, 40410000, 'order not found') })).remove(from);
    for (const status of ['canceled', 'expired', 'replaced', 'pending_cancel']) {
      const { remove } = await desk({
        [at('DELETE', STOP)]: refusal(422, 42210000, `order is already in "${status}" state`),
        [at('GET', STOP)]: json({ ...STOP, status }),
      });
      await remove(from);
    }
  });

  it('while it is being replaced still stands, and that is told', async () => {
    const { remove, broker } = await desk({
      [at('DELETE', STOP)]: refusal(422, 42210000, 'order is pending replacement'),
      [at('GET', STOP)]: json({ ...STOP, status: 'pending_replace' }),
    });
    await assert.rejects(
      remove(sentAs(FIRST, { brokerRef: STOP.id })),
      /does not cancel.*pending replacement/,
    );
    await assert.rejects(
      broker.cancel({ clientOrderId: FIRST, brokerRef: STOP.id, symbol: 'AAPL' }, NO_HURRY),
      BrokerUnavailable,
    );
  });
});

describe('whatever is asked of stops at Alpaca', () => {
  it('no order at the market is ever sent', async () => {
    const { place, move, remove, find, standing, sent } = await desk({
      [BY_ID]: json(STOP),
      [at('PATCH', STOP)]: json(MOVED),
      [at('DELETE', STOP)]: () => new Response(null, { status: 204 }),
      'GET /v2/orders': json([STOP, WITH_LEG]),
    });
    await place();
    await move(sentAs(FIRST));
    await find(sentAs(FIRST));
    await standing();
    await remove(sentAs(FIRST));
    const made = sent.filter(({ what }) => what === 'POST /v2/orders');
    assert.deepEqual(
      made.map(({ body }) => (body as { type: string }).type),
      ['stop'],
    );
    const methods = new Set(sent.map(({ what }) => what.split(' ')[0]));
    assert.deepEqual([...methods].toSorted(), ['DELETE', 'GET', 'PATCH', 'POST']);
  });
});
