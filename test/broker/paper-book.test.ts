import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { BrokerOrder } from '../../src/broker/broker.ts';
import { quote } from '../../src/broker/paper/market.ts';
import {
  add,
  compare,
  type Decimal,
  decimal,
  multiply,
  negate,
  parseDecimal,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../../src/domain/ids.ts';
import type { Side } from '../../src/domain/orders/order.ts';
import { listed, newAccount, OPEN_HOURS, orderOf, type PaperDesk, paperDesk } from './paper-desk.ts';

let desk: PaperDesk;
before(async () => {
  desk = await paperDesk();
});
after(() => desk.end());

describe('for any sequence of orders', () => {
  const SYMBOLS = ['BTCUSDT', 'DOGEUSDT', 'ES1!', 'TXF1!'] as const;
  const anyOrder = fc.record({
    symbol: fc.constantFrom(...SYMBOLS),
    side: fc.constantFrom<Side>('buy', 'sell'),
    steps: fc.integer({ min: 1, max: 7 }),
    reduceOnly: fc.boolean(),
    fill: fc.constantFrom('full', 'full', 'partial', 'never', 'cancel'),
    isLookedAt: fc.boolean(),
    later: fc.integer({ min: 0, max: 3_600_000 }),
  });
  const signed = (side: Side, quantity: Decimal): Decimal => (side === 'buy' ? quantity : negate(quantity));

  it('position, profit and memory agree with the fills, and reduce-only never flips', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyOrder, { maxLength: 25 }), async (sequence) => {
        const id = newAccount();
        desk.now = OPEN_HOURS;
        // What came of each fill, from what the broker answers alone: quantity, and price times quantity.
        const flows = new Map<ClientOrderId, { order: BrokerOrder; quantity: Decimal; value: Decimal }>();
        for (const { symbol, side, steps, reduceOnly, fill, isLookedAt, later } of sequence) {
          desk.now += later;
          const broker = await desk.open(id, { fill, starting_cash: 1e9 });
          const before = (await desk.deps.ledger.read(id)).holdings[symbol]?.quantity ?? ZERO;
          const step = listed(symbol).quantityStep;
          const order = await orderOf(broker, side, multiply(step, decimal(steps)), symbol, { reduceOnly });
          const outcome = await broker.place(order);
          assert.notEqual(outcome.outcome, 'unknown');
          if (outcome.outcome === 'rejected') assert.equal(outcome.error.code, 'no_position');
          else flows.set(order.clientOrderId, { order, quantity: ZERO, value: ZERO });
          const after = (await desk.deps.ledger.read(id)).holdings[symbol]?.quantity ?? ZERO;
          if (reduceOnly) {
            assert.ok(compare(multiply(before, after), ZERO) >= 0, 'flipped');
            assert.ok(Math.abs(Number(after)) <= Math.abs(Number(before)), 'grew');
          }
          if (isLookedAt) await broker.positions();
          await noteFills(id, flows);
        }

        const book = await desk.deps.ledger.read(id);
        const fills = [...flows.values()];
        let profit = ZERO;
        for (const symbol of SYMBOLS) {
          const listing = listed(symbol);
          const ofSymbol = fills.filter(({ order }) => order.instrument.symbol === symbol);
          const position = ofSymbol.reduce<Decimal>(
            (sum, f) => add(sum, signed(f.order.side, f.quantity)),
            ZERO,
          );
          const { quantity, cost } = book.holdings[symbol] ?? { quantity: ZERO, cost: ZERO };
          assert.equal(quantity, position);
          // Conservation: what was paid in is in the open position's cost, or it is gone or earned.
          const worth = multiply(listing.contractSize, listing.currencyRate);
          const paid = ofSymbol.reduce<Decimal>((sum, f) => add(sum, signed(f.order.side, f.value)), ZERO);
          const traded = ofSymbol.reduce<Decimal>((sum, f) => add(sum, f.value), ZERO);
          const fees = multiply(multiply(traded, worth), listing.feeRate);
          profit = add(profit, subtract(subtract(cost, multiply(paid, worth)), fees));
        }
        assert.equal(book.profit, profit);

        const reopened = await desk.open(id, { fill: 'never' });
        const held = await reopened.positions();
        assert.deepEqual(
          held.map(({ symbol, quantity }) => [symbol, quantity]),
          Object.entries(book.holdings)
            .map(([symbol, { quantity }]) => [symbol, quantity])
            .sort(),
        );
        for (const { averagePrice } of held) assert.equal(parseDecimal(averagePrice), averagePrice);
        assert.deepEqual(await desk.deps.ledger.read(id), book);
      }),
      { numRuns: 60 },
    );
    desk.now = OPEN_HOURS;
  });

  /** Each new fill at the price of this moment's quote: the ask or the bid. */
  async function noteFills(
    id: AccountId,
    flows: Map<ClientOrderId, { order: BrokerOrder; quantity: Decimal; value: Decimal }>,
  ): Promise<void> {
    for (const row of await desk.rows(id)) {
      const flow = flows.get(row.client_order_id as ClientOrderId) ?? assert.fail('an order nobody placed');
      const more = subtract(row.fill_quantity, flow.quantity);
      if (more === ZERO) continue;
      const { bid, ask } = quote(listed(row.symbol), 1, desk.now);
      flow.quantity = row.fill_quantity;
      flow.value = add(flow.value, multiply(more, row.side === 'buy' ? ask : bid));
    }
  }
});

describe('a book with what the list does not have, or not in such parts', () => {
  /** As if the list, or a step in it, had been another one when it was traded. */
  async function holding(symbol: string, quantity: string, cost: string) {
    const id = newAccount();
    desk.now = OPEN_HOURS;
    const broker = await desk.open(id);
    const book = await desk.deps.ledger.read(id);
    const holdings = { [symbol]: { quantity: decimal(quantity), cost: decimal(cost) } };
    const change = { book: { ...book, version: book.version + 1, holdings }, placed: null, changed: [] };
    assert.equal(await desk.deps.ledger.write(id, change), 'written');
    return broker;
  }

  it('shows what is not listed any more, and trades the rest', async () => {
    const broker = await holding('LUNAUSDT', '3', '30');
    assert.equal(
      (await broker.place(await orderOf(broker, 'buy', decimal(1), 'BTCUSDT'))).outcome,
      'accepted',
    );
    const shown = (await broker.positions()).map(({ symbol, tradable }) => [symbol, tradable]);
    assert.deepEqual(shown, [
      ['BTCUSDT', true],
      ['LUNAUSDT', false],
    ]);
    assert.ok(Number((await broker.balance()).equity) > 0);
  });

  it('lets out all that is held, also beside the step, and names what it leaves', async () => {
    const { quantityStep } = listed('ES1!');
    const odd = add(quantityStep, multiply(quantityStep, decimal('0.5')));
    const broker = await holding('ES1!', odd, '1000');
    const close = { reduceOnly: true } as const;
    const part = multiply(quantityStep, decimal('0.5'));
    const refused = await broker.place(await orderOf(broker, 'sell', part, 'ES1!', close));
    assert.ok(refused.outcome === 'rejected');
    assert.equal(refused.error.code, 'invalid_quantity');
    assert.match(refused.error.message, /0\.5 of ES1! is not closed/);
    const all = await broker.place(await orderOf(broker, 'sell', odd, 'ES1!', close));
    assert.equal(all.outcome === 'accepted' && all.state.status, 'filled');
    assert.deepEqual(await broker.positions(), []);
  });
});
