// What a user of one of the five exchanges goes through, from sealed keys to the order history, at the exchange's stub.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import type { ExchangeName } from './ccxt-script.ts';
import { journey } from './journey.ts';
import { stubHarness } from './stub-harness.ts';

for (const name of ['binance', 'bybit', 'okx', 'gate', 'bitget'] as const satisfies readonly ExchangeName[])
  describe(`with an account at ${name}`, () => {
    const stub = stubHarness(name, (url) => openCcxt(name, { url }));
    const at = () => ({ broker: name, url: stub.url() });

    test('sealed keys are verified, signals trade, fills are verified, and the history agrees with the ledger', async (t) => {
      const account = await stub.account();
      const { world, ready, until, ask } = await journey(t, at());
      const trader = await ready(account);

      const bought = await world.send(trader, { symbol: 'BINANCE:BTCUSDT.P', quantity: 0.05 });
      assert.ok([200, 202].includes(bought.status), JSON.stringify(bought.body));
      const order = await until(trader, bought.body.order_id, ({ status }) => status === 'filled');
      const { orders } = await account.ledger();
      const [leg] = order.legs ?? [];
      assert.deepEqual([orders.length, leg?.client_order_id], [1, orders[0]?.client_order_id]);
      assert.deepEqual([order.fill_quantity, leg?.status], [0.05, 'filled']);
      assert.ok((order.fill_price ?? 0) > 0);

      // Long 0.05; a short entry of 0.1 closes first.
      const reversed = await world.send(trader, { symbol: 'BTCUSDT.P', action: 'sell', quantity: 0.1 });
      const reversal = await until(trader, reversed.body.order_id, ({ status }) => status === 'filled');
      assert.deepEqual(
        reversal.legs?.map(
          ({ leg: part, side, quantity, status }) => `${part} ${side} ${quantity} ${status}`,
        ),
        ['exit sell 0.05 filled', 'entry sell 0.1 filled'],
      );
      const held = await ask<{ items: { symbol: string; quantity: number }[] }>(trader, 'positions');
      assert.deepEqual(
        held.body.items.map(({ symbol, quantity }) => [symbol, quantity]),
        [['BTCUSDT.P', -0.1]],
      );
      const closed = await world.send(trader, { symbol: 'BTCUSDT.P', action: 'close_short' });
      await until(trader, closed.body.order_id, ({ status }) => status === 'filled');
      const { body: symbols } = await ask<{ items: { symbol: string }[] }>(trader, 'symbols?q=btcusdt');
      assert.equal(symbols.items[0]?.symbol, 'BTCUSDT.P');
      const { body: balance } = await ask<{ currency: string; equity: number }>(trader, 'balance');
      assert.equal(balance.currency, 'USDT');
      assert.ok(balance.equity > 0);
    });

    test('an answer that is lost is found, and the order is there once', async (t) => {
      const account = await stub.account();
      const { world, ready, until } = await journey(t, at());
      const trader = await ready(account);
      await account.breaks('lose', { calls: 'orders' });
      const sent = await world.send(trader, { symbol: 'BTCUSDT.P', quantity: 0.05 });
      const order = await until(trader, sent.body.order_id, ({ status }) => status === 'filled');
      assert.equal(order.fill_quantity, 0.05);
      assert.equal((await account.ledger()).orders.length, 1);
      await account.heal();
    });

    test('a fill that comes later is known at once: the exchange tells, though the next look is an hour away', async (t) => {
      const account = await stub.account();
      await account.set({ fill: 'never' });
      const { world, ready, until } = await journey(t, { ...at(), pollSeconds: 3_600 });
      const trader = await ready(account);
      const sent = await world.send(trader, { symbol: 'BTCUSDT.P', quantity: 0.05 });
      assert.equal(sent.body.status, 'placed');
      await stub.listened(account.id);
      await account.set({ fill: 'full' });
      const order = await until(trader, sent.body.order_id, ({ status }) => status === 'filled');
      assert.deepEqual([order.fill_quantity, order.verification.state], [0.05, 'done']);
    });

    test('spot is not traded as a perpetual', async (t) => {
      const account = await stub.account();
      const { world, ready } = await journey(t, at());
      const trader = await ready(account);
      const refused = await world.send(trader, { symbol: 'BTCUSDT', quantity: 0.05 });
      assert.equal(refused.body.error?.code, 'invalid_symbol');
      assert.match(refused.body.error?.message ?? '', /BTCUSDT\.P/);
      assert.deepEqual((await account.ledger()).requests, []);
    });
  });
