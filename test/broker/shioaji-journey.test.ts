import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { journey } from './journey.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('shioaji', (url) => openShioaji({ url, clock: { now: Date.now } }));
const at = () => ({ broker: 'shioaji', url: stub.url() });

describe('with an account at SinoPac', () => {
  it('sealed keys are verified, signals trade the month that they mean, and the history agrees with the ledger', async (t) => {
    const account = await stub.account();
    const { world, ready, until, ask } = await journey(t, at());
    const trader = await ready(account);

    const bought = await world.send(trader, { symbol: 'TAIFEX:TXF1!', quantity: 2 });
    assert.equal(bought.status, 200, JSON.stringify(bought.body));
    const order = await until(trader, bought.body.order_id, ({ status }) => status === 'filled');
    const { orders } = await account.ledger();
    assert.deepEqual([orders.length, order.legs?.[0]?.broker_ref], [1, orders[0]?.broker_ref]);

    const reversed = await world.send(trader, { symbol: 'TXFR1', action: 'sell', quantity: 1 });
    const reversal = await until(trader, reversed.body.order_id, ({ status }) => status === 'filled');
    assert.deepEqual(
      reversal.legs?.map(({ leg, side, quantity, status }) => `${leg} ${side} ${quantity} ${status}`),
      ['exit sell 2 filled', 'entry sell 1 filled'],
    );
    const held = await ask<{ items: { symbol: string; quantity: number }[] }>(trader, 'positions');
    assert.deepEqual(
      held.body.items.map(({ symbol, quantity }) => [symbol, quantity]),
      [['TXFL6', -1]],
    );
    const closed = await world.send(trader, { symbol: 'TXFL6', action: 'close_short' });
    await until(trader, closed.body.order_id, ({ status }) => status === 'filled');
    assert.deepEqual(
      (await account.ledger()).positions.filter(({ quantity }) => quantity !== '0'),
      [],
    );

    const half = await world.send(trader, { symbol: 'TXF1!', quantity: 0.5 });
    assert.equal(half.body.error?.code, 'invalid_quantity');
    const { body: balance } = await ask<{ currency: string }>(trader, 'balance');
    assert.equal(balance.currency, 'TWD');
    const { body: symbols } = await ask<{ items: { symbol: string }[] }>(trader, 'symbols?q=txf');
    assert.deepEqual(
      symbols.items.map(({ symbol }) => symbol),
      ['TXFA7', 'TXFL6'],
    );
  });

  it('an answer that is lost is found again by comparison, where only one order can be meant', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    await account.breaks('lose', { calls: 'orders' });
    const sent = await world.send(trader, { symbol: 'TXF1!', quantity: 1 });
    assert.equal(sent.body.status, 'unknown');
    await account.heal();
    const order = await until(trader, sent.body.order_id, ({ status }) => status === 'filled');
    const { orders } = await account.ledger();
    assert.deepEqual([orders.length, order.legs?.[0]?.broker_ref], [1, orders[0]?.broker_ref]);
  });

  it('what nobody took of a close at that moment is closed a moment later, and no more than is held', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    const bought = await world.send(trader, { symbol: 'TXF1!', quantity: 5 });
    await until(trader, bought.body.order_id, ({ status }) => status === 'filled');
    await account.set({ fill: 'cancel' });
    const { body } = await world.send(trader, { symbol: 'TXF1!', action: 'close_long' });
    await account.set({ fill: 'full' });
    const order = await until(trader, body.order_id, ({ status }) => status === 'filled');
    const exits = order.legs?.filter(({ leg }) => leg === 'exit') ?? [];
    assert.deepEqual([exits[0]?.status, exits.at(-1)?.status], ['cancelled', 'filled']);
    const { orders, positions } = await account.ledger();
    assert.equal(orders.length, exits.length + 1);
    assert.deepEqual(
      positions.filter(({ quantity }) => quantity !== '0'),
      [],
    );
  });

  it('two that are alike and both lost stay unknown, are shown as such, and none is sent again', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, at());
    const trader = await ready(account);
    await account.breaks('lose', { calls: 'orders' });
    // What is looked for alone would be found: nobody gets an answer before both were sent.
    await account.breaks('reset', { calls: 'look_ups' });
    const sent = [
      await world.send(trader, { symbol: 'TXF1!', quantity: 1 }),
      await world.send(trader, { symbol: 'TXF1!', quantity: 1 }),
    ].map(({ body }) => body.order_id);
    const isGivenUp = ({ verification }: OrderRecord) => verification?.state === 'dead_letter';
    for (const id of sent) await until(trader, id, isGivenUp);
    await account.heal();
    for (const id of sent) {
      const again = await world.as(trader, 'POST', `/deployment/dead-letters/${id}/retry`);
      assert.ok(again.status < 300, JSON.stringify(again.body));
      assert.equal((await until(trader, id, isGivenUp)).status, 'unknown');
    }
    assert.equal((await account.ledger()).orders.length, 2);
  });

  it('one that is answered keeps its fill from another that is like it and was lost on the way', async (t) => {
    const account = await stub.account();
    const { world, ready, until } = await journey(t, { ...at(), pollSeconds: 0.7 });
    const trader = await ready(account);
    await account.breaks('reset', { calls: 'orders' });
    const lost = await world.send(trader, { symbol: 'MXF1!', quantity: 1 });
    assert.equal(lost.body.status, 'unknown');
    await account.heal();
    const answered = await world.send(trader, { symbol: 'MXF1!', quantity: 1 });
    await until(trader, answered.body.order_id, ({ status }) => status === 'filled');
    const order = await until(
      trader,
      lost.body.order_id,
      ({ verification }) => verification?.state === 'dead_letter',
    );
    assert.equal(order.status, 'unknown');
    assert.equal((await account.ledger()).orders.length, 1);
  });

  it('a server that simulates is no place for a live account, nor wrong keys for any', async (t) => {
    const account = await stub.account();
    const simulated = await journey(t, { ...at(), environment: 'simulation' });
    const unfit = await simulated.openAccount();
    await simulated.putKeys(unfit, account.credentials);
    const told = await simulated.verify(unfit);
    assert.deepEqual([told.status, told.body.code], [409, 'account_unfit']);
    assert.match(told.body.detail, /trades for real/);
    const { openAccount, putKeys, verify } = await journey(t, at());
    const trader = await openAccount();
    await putKeys(trader, { ...account.credentials, api_secret: 'not-the-secret' });
    const refused = await verify(trader);
    assert.deepEqual([refused.status, refused.body.code], [400, 'credentials_rejected']);
    assert.doesNotMatch(JSON.stringify(refused.body), /not-the-secret|key-shioaji/);
  });
});
