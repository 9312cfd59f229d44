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
