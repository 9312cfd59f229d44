import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SentOrder } from '../../src/broker/broker.ts';
import type { Trade } from '../../src/broker/shioaji/answers.ts';
import { isNamed, recognise, wordOf } from '../../src/broker/shioaji/recognise.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, millis, timestamp } from '../../src/domain/ids.ts';

const NOON = Date.parse('2026-11-17T12:00:00+08:00');

const sent = (name: string, more: Partial<SentOrder> = {}): SentOrder => ({
  clientOrderId: `fe${name}` as ClientOrderId,
  brokerRef: null,
  symbol: 'TXFL6',
  side: 'buy',
  quantity: decimal(1),
  sentAt: timestamp(NOON),
  ...more,
});

const trade = (id: string, at: number | null, more: Partial<Trade['order']> = {}, code = 'TXFL6'): Trade => ({
  contract: { code },
  order: { id, action: 'Buy', quantity: 1, price_type: 'MKT', order_type: 'IOC', ...more },
  status: { status: 'Filled', ...(at !== null && { order_ts: at / 1000 }) },
});

const refOf = (found: ReturnType<typeof recognise>): string =>
  'trade' in found ? found.trade.order.id : 'none' in found ? 'none' : 'doubt';

describe('an order whose answer was lost', () => {
  it('is the one of the same contract, side and quantity at that time', () => {
    assert.equal(refOf(recognise(sent('a'), [trade('x', NOON + 300)], [])), 'x');
  });

  it('is none of another contract, side, quantity, kind or hour', () => {
    const others = [
      trade('month', NOON, {}, 'TXFA7'),
      trade('side', NOON, { action: 'Sell' }),
      trade('size', NOON, { quantity: 2 }),
      trade('limit', NOON, { price_type: 'LMT' }),
      trade('resting', NOON, { order_type: 'ROD' }),
      trade('before', NOON - 600_000),
      trade('after', NOON + 600_000),
    ];
    assert.equal(refOf(recognise(sent('a'), others, [])), 'none');
    assert.equal(refOf(recognise(sent('a'), [...others, trade('it', NOON)], [])), 'it');
  });

  it('is nobody where two look like it', () => {
    assert.equal(refOf(recognise(sent('a'), [trade('x', NOON), trade('y', NOON + 900)], [])), 'doubt');
  });

  it('is not one that another of our orders has', () => {
    const answered = sent('b', { brokerRef: 'x', sentAt: timestamp(NOON + 5_000) });
    assert.equal(refOf(recognise(sent('a'), [trade('x', NOON + 5_000)], [answered])), 'none');
    const both = [trade('x', NOON + 5_000), trade('y', NOON)];
    assert.equal(refOf(recognise(sent('a'), both, [sent('a'), answered])), 'y');
  });

  it('is not one that another of ours may be, whose answer was lost too', () => {
    const lost = sent('b', { sentAt: timestamp(NOON + 5_000) });
    assert.equal(refOf(recognise(sent('a'), [trade('x', NOON + 5_000)], [lost])), 'doubt');
    const elsewhere = { ...lost, symbol: 'MXFL6' };
    assert.equal(refOf(recognise(sent('a'), [trade('x', NOON + 5_000)], [elsewhere])), 'x');
  });

  it('is the one with its word, where the server gives words back, whatever else looks like it', () => {
    const mine = trade('y', NOON, { custom_field: wordOf('fea' as ClientOrderId) });
    const theirs = trade('x', NOON, { custom_field: 'abcdef' });
    assert.equal(refOf(recognise(sent('a'), [theirs, mine, trade('z', NOON)], [sent('b')])), 'y');
    assert.equal(refOf(recognise(sent('a'), [theirs], [])), 'none');
    assert.equal(
      refOf(recognise(sent('a'), [mine, { ...mine, order: { ...mine.order, id: 'w' } }], [])),
      'doubt',
    );
  });

  it('is none without a word where the server gives words back: somebody placed that one by hand', () => {
    const word = (name: string) => ({ custom_field: wordOf(`fe${name}` as ClientOrderId) });
    const byHand = trade('x', NOON + 2_000);
    for (const [echoed, others] of [
      [trade('r', NOON + 60_000, word('b'), 'MXFL6'), [sent('b', { symbol: 'MXFL6', brokerRef: 'r' })]],
      // Ours by its word, and of another size: it is not the one, but the server does give words back.
      [trade('r', NOON, { ...word('a'), quantity: 2 }), []],
    ] as const)
      assert.equal(refOf(recognise(sent('a'), [byHand, echoed], others)), 'none');
    const strangers = trade('r', NOON, { custom_field: 'abcdef' }, 'MXFL6');
    assert.equal(refOf(recognise(sent('a'), [byHand, strangers], [])), 'x');
  });

  it('is none that came a minute and more after it, where there are no words', () => {
    assert.equal(refOf(recognise(sent('a'), [trade('x', NOON + 65_000)], [])), 'none');
  });

  it('is found though the clocks differ by 40 s, and not where there is no time', () => {
    for (const apart of [-40_000, 40_000])
      assert.equal(refOf(recognise(sent('a'), [trade('x', NOON + apart)], [])), 'x');
    assert.equal(refOf(recognise(sent('a'), [trade('x', null)], [])), 'doubt');
  });

  it('has its time in seconds, in finer units, or in words by Taipei’s clock', () => {
    const at = (status: Partial<Trade['status']>): Trade => ({
      ...trade('x', null),
      status: { status: 'Filled', ...status },
    });
    for (const unit of [1e-3, 1, 1e3, 1e6])
      assert.equal(refOf(recognise(sent('a'), [at({ order_ts: NOON * unit })], [])), 'x');
    for (const words of ['2026-11-17T12:00:01.5', '2026-11-17 12:00:01', '2026-11-17T04:00:01Z'])
      assert.equal(refOf(recognise(sent('a'), [at({ order_datetime: words })], [])), 'x', words);
    assert.equal(refOf(recognise(sent('a'), [at({ order_datetime: '2026-11-17T04:00:00' })], [])), 'none');
  });

  it('that was named is the one of that name, and not one of another day under it', () => {
    const named = sent('a', { brokerRef: 'x' });
    assert.ok(isNamed(named, trade('x', NOON)));
    assert.ok(!isNamed(named, trade('y', NOON)));
    assert.ok(!isNamed(named, trade('x', NOON + 86_400_000)));
    assert.ok(!isNamed(named, trade('x', NOON, { action: 'Sell' })));
  });

  it('is never taken for another of ours, whatever is lost when, and no order is two of ours', () => {
    const leg = fc.record({
      at: fc.integer({ min: 0, max: 400_000 }),
      delayMs: fc.integer({ min: 0, max: 20_000 }),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      hasArrived: fc.boolean(),
      isAnswered: fc.boolean(),
    });
    const legs = fc.array(leg, { minLength: 1, maxLength: 6 });
    const skew = fc.integer({ min: -40_000, max: 40_000 });
    fc.assert(
      fc.property(legs, skew, fc.boolean(), (given, skewMs, isEchoed) => {
        const orders = given.map(({ at, side }, index) =>
          sent(`${index}`, { side, sentAt: timestamp(NOON + at) }),
        );
        const trades = orders.flatMap((order, index) => {
          const { hasArrived = false, delayMs = 0 } = given[index] ?? {};
          const at = millis(order.sentAt) + delayMs + skewMs;
          const action = order.side === 'buy' ? 'Buy' : 'Sell';
          const word = isEchoed ? { custom_field: wordOf(order.clientOrderId) } : {};
          return hasArrived ? [trade(`t${index}`, at, { action, ...word } as Partial<Trade['order']>)] : [];
        });
        let known = orders.map((order, index) =>
          given[index]?.hasArrived && given[index].isAnswered ? { ...order, brokerRef: `t${index}` } : order,
        );
        known.forEach((order, index) => {
          if (order.brokerRef !== null) return;
          const found = recognise(order, trades, known);
          if (!('trade' in found)) return;
          assert.equal(found.trade.order.id, `t${index}`);
          known = known.with(index, { ...order, brokerRef: found.trade.order.id });
        });
      }),
      { numRuns: 2_000 },
    );
  });
});
