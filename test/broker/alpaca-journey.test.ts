import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { journey } from './journey.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('alpaca', (url) => openAlpaca({ url }), 'paper');
const at = () => ({ broker: 'alpaca', url: stub.url(), environment: 'paper' });

describe('with an account at Alpaca', () => {
  it('sealed keys are verified, signals trade, fills are verified, and the history agrees with the ledger', async (t) => {
    const account = await stub.account();
    const { world, ready, until, ask } = await journey(t, at());
    const trader = await ready(account);

    const bought = await world.send(trader, { symbol: 'NASDAQ:AAPL', quantity: 1.5 });
    assert.equal(bought.status, 200, JSON.stringify(bought.body));
    const order = await until(trader, bought.body.order_id, ({ status }) => status === 'filled');
    const { orders } = await account.ledger();
    const [leg] = order.legs ?? [];
    assert.deepEqual(
      [orders.length, leg?.broker_ref, leg?.client_order_id, order.fill_quantity],
      [1, orders[0]?.broker_ref, orders[0]?.client_order_id, 1.5],
    );

    // Long 1.5; a short entry of 2 closes first.
    const reversed = await world.send(trader, { symbol: 'AAPL', action: 'sell', quantity: 2 });
    const reversal = await until(trader, reversed.body.order_id, ({ status }) => status === 'filled');
    assert.deepEqual(
      reversal.legs?.map(({ leg: name, side, quantity, status }) => `${name} ${side} ${quantity} ${status}`),
      ['exit sell 1.5 filled', 'entry sell 2 filled'],
    );
    const held = await ask<{ items: { symbol: string; quantity: number }[] }>(trader, 'positions');
    assert.deepEqual(
      held.body.items.map(({ symbol, quantity }) => [symbol, quantity]),
      [['AAPL', -2]],
    );
    const closed = await world.send(trader, { symbol: 'AAPL', action: 'close_short' });
    await until(trader, closed.body.order_id, ({ status }) => status === 'filled');
    assert.deepEqual(
      (await account.ledger()).positions.filter(({ quantity }) => quantity !== '0'),
      [],
    );

    const { body: balance } = await ask<{ currency: string; cash: number }>(trader, 'balance');
    assert.equal(balance.currency, 'USD');
    const { body: symbols } = await ask<{ items: { symbol: string; quantity_step: number }[] }>(
      trader,
      'symbols?q=gam',
    );
    assert.deepEqual(
      symbols.items.map(({ symbol, quantity_step }) => [symbol, quantity_step]),
      [['GME', 1]],
    );
  });

  it('an answer that is lost is found, and the order is there once', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    await account.breaks('lose', { calls: 'orders' });
    const sent = await world.send(trader, { symbol: 'AAPL', quantity: 1 });
    const order = await until(trader, sent.body.order_id, ({ status }) => status === 'filled');
    assert.equal(order.fill_quantity, 1);
    assert.equal((await account.ledger()).orders.length, 1);
  });

  for (const targets of [{}, { take_profit: 250 }])
    it(`a stop that is refused for an entry that rests wins over it ${JSON.stringify(targets)}`, async (t) => {
      const account = await stub.account();
      const price = (now: number | null) => stub.control('POST', 'prices', { SOLUSDT: now });
      t.after(() => price(null));
      await price(200);
      const { world, ready, until } = await journey(t, at());
      const trader = await ready(account);
      const rests = await world.send(trader, { symbol: 'AAPL', quantity: 2, id: 'A', limit_price: 190 });
      assert.equal(rests.body.status, 'placed', JSON.stringify(rests.body));
      const entry = { symbol: 'AAPL', quantity: 1, id: 'B', limit_price: 195, stop_loss: 180, ...targets };
      const filled = await world.send(trader, entry);
      assert.equal(filled.body.status, 'placed', JSON.stringify(filled.body));
      await price(194);
      await until(trader, filled.body.order_id, ({ protection }) => protection?.state === 'standing');
      const ended = await until(trader, rests.body.order_id, ({ status }) => status === 'cancelled');
      assert.equal(ended.error?.code, 'cancelled_on_request');
      assert.match(ended.error.message, /stop of the position/);
    });

  it('an exit is made though an entry at the market is not filled whole: that is taken back for it', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    await account.set({ fill: 'partial' });
    const bought = await world.send(trader, { symbol: 'AAPL', quantity: 100 });
    assert.equal(bought.body.status, 'partially_filled', JSON.stringify(bought.body));
    const closed = await world.send(trader, { symbol: 'AAPL', action: 'close_long' });
    assert.notEqual(closed.body.status, 'rejected', JSON.stringify(closed.body));
    const ended = await until(trader, bought.body.order_id, ({ status }) => status === 'cancelled');
    assert.equal(ended.error?.code, 'cancelled_on_request');
    await account.set({ fill: 'full' });
    const exit = await until(trader, closed.body.order_id, ({ status }) => status === 'filled');
    assert.equal(exit.fill_quantity, ended.fill_quantity);
    assert.deepEqual(
      (await account.ledger()).positions.filter(({ quantity }) => quantity !== '0'),
      [],
    );
  });

  it('an exit that somebody’s own order stands against is tried until that is gone', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    const bought = await world.send(trader, { symbol: 'AAPL', quantity: 2 });
    await until(trader, bought.body.order_id, ({ status }) => status === 'filled');
    const { api_key, api_secret } = account.credentials;
    const byHand = (method: string, path: string, body: object | null = null) =>
      fetch(`${stub.url()}/v2/orders${path}`, {
        method,
        headers: { 'apca-api-key-id': api_key, 'apca-api-secret-key': api_secret },
        body: body && JSON.stringify(body),
      });
    const terms = { side: 'buy', qty: '1', type: 'limit', time_in_force: 'gtc', limit_price: '1' };
    const placed = await byHand('POST', '', { symbol: 'AAPL', client_order_id: 'by-hand', ...terms });
    const { id } = (await placed.json()) as { readonly id: string };
    const closing = world.send(trader, { symbol: 'AAPL', action: 'close_long' });
    await setTimeout(1_000);
    assert.equal((await byHand('DELETE', `/${id}`)).status, 204);
    const { body } = await closing;
    const exit = await until(trader, body.order_id, ({ status }) => status !== 'executing');
    assert.equal(exit.status, 'filled', JSON.stringify(exit));
  });

  it('a stop that is refused for an entry at the market that is not filled whole wins over it, and nothing is closed', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    await account.set({ fill: 'partial' });
    const bought = await world.send(trader, { symbol: 'AAPL', quantity: 100, stop_loss: '5%' });
    assert.equal(bought.body.status, 'partially_filled', JSON.stringify(bought.body));
    const ended = await until(
      trader,
      bought.body.order_id,
      ({ status, protection }) => status === 'cancelled' && protection?.state === 'standing',
    );
    assert.equal(ended.protection?.stop_quantity, ended.fill_quantity);
    assert.deepEqual(
      (await account.ledger()).orders.map(({ side }) => side),
      ['buy'],
    );
  });

  for (const [what, targets] of [
    ['a stop', {}],
    ['targets and a stop', { take_profit: [{ at: '10%', percent: 50 }] }],
  ] as const)
    it(`what is added to a position with ${what} is taken, and the whole is protected after that`, async (t) => {
      const account = await stub.account();
      const { world, ready, until } = await journey(t, at());
      const trader = await ready(account);
      const opened = { symbol: 'AAPL', quantity: 4, stop_loss: '5%', ...targets };
      const first = await world.send(trader, opened);
      await until(trader, first.body.order_id, ({ protection }) => protection?.state === 'standing');
      const added = await world.send(trader, { symbol: 'AAPL', quantity: 2 });
      assert.equal(added.body.status, 'filled', JSON.stringify(added.body));
      const towards = { symbol: 'AAPL', quantity: 2, market_position: 'long', market_position_size: 8 };
      const target = await world.send(trader, towards);
      assert.equal(target.body.status, 'filled', JSON.stringify(target.body));
      const isWhole = ({ protection }: OrderRecord) =>
        protection?.stop_quantity === 8 && protection.state === 'standing';
      await until(trader, first.body.order_id, isWhole);
      const { positions } = await account.ledger();
      assert.deepEqual(
        positions.map(({ quantity }) => quantity),
        ['8'],
      );
    });

  it('a stop that has left for what is added stands again where that is refused for something else', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    const first = await world.send(trader, { symbol: 'AAPL', quantity: 4, stop_loss: '5%' });
    await until(trader, first.body.order_id, ({ protection }) => protection?.state === 'standing');
    const added = await world.send(trader, { symbol: 'AAPL', quantity: 100_000 });
    assert.equal(added.body.error?.code, 'insufficient_margin', JSON.stringify(added.body));
    const { protection } = await until(
      trader,
      first.body.order_id,
      (order) => order.protection?.state === 'standing',
    );
    assert.equal(protection?.stop_quantity, 4);
  });

  it('an entry that would rest is refused beside a stop, which stays', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    const first = await world.send(trader, { symbol: 'AAPL', quantity: 4, stop_loss: '5%' });
    await until(trader, first.body.order_id, ({ protection }) => protection?.state === 'standing');
    const rests = await world.send(trader, { symbol: 'AAPL', quantity: 1, limit_price: 1 });
    assert.equal(rests.body.error?.code, 'failed_at_broker', JSON.stringify(rests.body));
    assert.deepEqual(
      (await account.ledger()).stops.map(({ what }) => what),
      ['placed'],
    );
  });

  it('a stop leaves for a close that is sent, and for nothing else', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    const entry = await world.send(trader, { symbol: 'AAPL', quantity: 2, stop_loss: '5%' });
    await until(trader, entry.body.order_id, ({ protection }) => protection?.state === 'standing');
    const told = async () => (await account.ledger()).stops.map(({ what }) => what);
    assert.deepEqual(await told(), ['placed']);
    const wrongSide = await world.send(trader, { symbol: 'AAPL', action: 'close_short' });
    assert.equal(wrongSide.body.error?.code, 'no_position', JSON.stringify(wrongSide.body));
    assert.deepEqual(await told(), ['placed']);
    const closed = await world.send(trader, { symbol: 'AAPL', action: 'close_long' });
    await until(trader, closed.body.order_id, ({ status }) => status === 'filled');
    assert.deepEqual(await told(), ['placed', 'cancelled']);
  });

  it('a closed market and a symbol that is not there are told as such', async (t) => {
    const account = await stub.account();
    const { world, ready } = await journey(t, at());
    const trader = await ready(account);
    const unknown = await world.send(trader, { symbol: 'NASDAQ:AAPLE', quantity: 1 });
    assert.equal(unknown.body.error?.code, 'invalid_symbol');
    assert.match(unknown.body.error?.message ?? '', /Did you mean AAPL\?/);
    await account.set({ reject: 'market_closed' });
    const closed = await world.send(trader, { symbol: 'AAPL', quantity: 1 });
    assert.equal(closed.body.error?.code, 'market_closed');
    assert.equal(closed.body.error?.market_hours?.timezone, 'America/New_York');
    assert.deepEqual((await account.ledger()).requests, []);
  });

  it('symbols that are allowed and that it does not have are named when the keys are verified', async (t) => {
    const account = await stub.account();
    const { openAccount, putKeys, verify } = await journey(t, at());
    const trader = await openAccount({ allowed_symbols: ['NASDAQ:AAPL', 'MSFTT'] });
    await putKeys(trader, account.credentials);
    const verified = await verify(trader);
    assert.equal(verified.body.broker_credentials_verified, true);
    assert.equal(verified.body.warnings?.length, 1);
    assert.match(verified.body.warnings?.[0] ?? '', /never trade.*MSFTT is not found.*Did you mean MSFT\?/);
  });

  it('wrong keys are refused in Alpaca’s words, without the key in them', async (t) => {
    const account = await stub.account();
    const { openAccount, putKeys, verify } = await journey(t, at());
    const trader = await openAccount();
    await putKeys(trader, { ...account.credentials, api_secret: 'not-the-secret' });
    const refused = await verify(trader);
    assert.deepEqual([refused.status, refused.body.code], [400, 'credentials_rejected']);
    assert.match(refused.body.detail, /forbidden.*paper account/);
    assert.doesNotMatch(JSON.stringify(refused.body), /not-the-secret|key-alpaca/);
  });
});
