import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { GARBAGE_KINDS } from '../../chaos/exchange-faults.ts';
import { BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type ExchangeDesk, exchangeDesk, until } from './exchange-desk.ts';
import { accepted, newAccount, orderOf, place, rejected } from './paper-desk.ts';

let desk: ExchangeDesk;
before(async () => {
  desk = await exchangeDesk();
});
after(() => desk.end());

describe('a fault at the exchange', () => {
  for (const [kind, more, outcome, journaled] of [
    ['slow', { ms: 5 }, 'accepted', 'accepted'],
    ['slow_answer', { ms: 5 }, 'accepted', 'accepted'],
    ['reset', {}, 'unknown', 'not_taken'],
    ['lose', {}, 'unknown', 'accepted'],
    ['refuse', { retry_after_ms: 300 }, 'busy', 'not_taken'],
  ] as const)
    it(`${kind}: an order is ${outcome} to us and ${journaled} there`, async () => {
      const id = newAccount();
      const broker = await desk.open(id);
      const order = await orderOf(broker, 'buy', 1);
      await desk.breaks(id, kind, { ...more, calls: 'orders' });
      const busy = (fault: unknown) => {
        assert.ok(fault instanceof BrokerBusy);
        assert.equal(fault.retryAfterMs, 300);
        return { outcome: 'busy' };
      };
      assert.equal((await broker.place(order).catch(busy)).outcome, outcome);
      assert.deepEqual(await desk.outcomes(id), [journaled]);
      const isThere = (await broker.find(order)) !== null;
      assert.equal(isThere, journaled === 'accepted');
      await desk.heal();
      accepted(await broker.place(order));
      assert.equal((await desk.ledgerOf(id)).orders.length, 1);
    });

  for (const taken of [true, false])
    it(`garbage of every kind is never believed, where the order is ${taken ? 'taken' : 'not taken'}`, async () => {
      const id = newAccount();
      const broker = await desk.open(id);
      const some = Array.from({ length: GARBAGE_KINDS });
      const orders = await Promise.all(some.map(() => orderOf(broker, 'buy', 1, 'MES1!')));
      const missing = await orderOf(broker, 'buy', 1);
      await desk.breaks(id, 'garbage', { taken });
      for (const order of orders) assert.equal((await broker.place(order)).outcome, 'unknown');
      for (const ask of [
        () => broker.find(missing),
        () => broker.resolve('BTCUSDT'),
        () => broker.positions(),
        () => broker.instruments(''),
        () => broker.balance(),
        () => broker.quote(missing.instrument),
        () => broker.openOrders(),
        () => broker.verify(),
        () => desk.open(id),
      ])
        for (const _ of some) await assert.rejects(ask(), BrokerUnavailable);
      await desk.heal();
      assert.deepEqual(await desk.outcomes(id), Array(GARBAGE_KINDS).fill(taken ? 'accepted' : 'not_taken'));
    });

  for (const kind of ['reset', 'lose', 'refuse'])
    it(`${kind}: a question has no answer, and says so`, async () => {
      const id = newAccount();
      const broker = await desk.open(id);
      const order = await orderOf(broker, 'buy', 1);
      await desk.breaks(id, kind);
      await assert.rejects(broker.find(order), BrokerUnavailable);
      await assert.rejects(broker.position(order.instrument), BrokerUnavailable);
      await assert.rejects(desk.open(id), BrokerUnavailable);
      await desk.heal();
      assert.equal(await broker.find(order), null);
    });

  it('slow: an order is taken even where its sender has gone by then', async () => {
    const id = newAccount();
    const { broker, die } = await desk.openMortal(id, '/slow');
    const order = await orderOf(broker, 'buy', 1);
    await desk.breaks(id, 'slow', { ms: 20, calls: 'orders' });
    const arrived = await desk.setTrap('slow', 'arrived');
    const taken = await desk.setTrap('slow', 'accepted');
    const placing = broker.place(order);
    await arrived.caught();
    die();
    assert.equal((await placing).outcome, 'unknown');
    await arrived.release();
    assert.equal((await taken.caught()).client_order_id, order.clientOrderId);
    await taken.release();
    await desk.heal();
    assert.deepEqual(await desk.outcomes(id), ['accepted']);
  });

  it('slow_answer: an order is there while its answer is not', async () => {
    const id = newAccount();
    const { broker, die } = await desk.openMortal(id, '/slow');
    const order = await orderOf(broker, 'buy', 1);
    await desk.breaks(id, 'slow_answer', { ms: 60_000, calls: 'orders' });
    const placing = broker.place(order);
    await until(async () => (await desk.outcomes(id)).length > 0);
    assert.notEqual(await (await desk.open(id)).find(order), null);
    die();
    assert.equal((await placing).outcome, 'unknown');
    await desk.heal();
  });

  for (const garbage of ['another', 'nameless'])
    it(`an answer about ${garbage === 'another' ? 'another order' : 'no order in particular'} is not believed`, async () => {
      const id = newAccount();
      const broker = await desk.open(id);
      const order = await orderOf(broker, 'buy', 1);
      await desk.breaks(id, 'garbage', { garbage, taken: true });
      assert.equal((await broker.place(order)).outcome, 'unknown');
      await assert.rejects(broker.find(order), BrokerUnavailable);
      await desk.heal();
      assert.equal((await broker.find(order))?.status, 'filled');
    });

  it('stall: the order is taken, and the answer never comes to its end', async () => {
    const id = newAccount();
    const { broker, die } = await desk.openMortal(id, '/stalled');
    const order = await orderOf(broker, 'buy', 1);
    await desk.breaks(id, 'stall', { calls: 'orders' });
    const placing = broker.place(order);
    await until(async () => (await desk.outcomes(id)).length > 0);
    die();
    assert.equal((await placing).outcome, 'unknown');
    assert.deepEqual(await desk.outcomes(id), ['accepted']);
    await desk.heal();
  });

  it('hang: an order is not taken where its sender has gone', async () => {
    const id = newAccount();
    const { broker, die } = await desk.openMortal(id, '/hung');
    const order = await orderOf(broker, 'buy', 1);
    await desk.breaks(id, 'hang');
    const trap = await desk.setTrap('hung', 'arrived');
    const placing = broker.place(order);
    await trap.caught();
    await trap.release();
    assert.deepEqual(await desk.outcomes(id), []);
    die();
    assert.equal((await placing).outcome, 'unknown');
    await until(async () => (await desk.outcomes(id)).length > 0);
    await desk.heal();
    assert.deepEqual(await desk.outcomes(id), ['not_taken']);
  });

  it('hang: an order is taken when that ends, and refused where it is too late by then', async () => {
    const id = newAccount();
    const broker = await desk.open(id, {}, '/hung');
    const order = await orderOf(broker, 'buy', 1);
    await desk.breaks(id, 'hang', { calls: 'orders' });
    const trap = await desk.setTrap('hung', 'arrived');
    const placing = broker.place(order);
    await trap.caught();
    await trap.release();
    assert.deepEqual(await desk.outcomes(id), []);
    await desk.heal();
    accepted(await placing);

    const late = await orderOf(broker, 'buy', 1, 'BTCUSDT', { sendBefore: timestamp(Date.now() + 50) });
    await desk.breaks(id, 'hang', { ttl_ms: 100 });
    assert.equal(rejected(await broker.place(late)).code, 'expired');
    assert.deepEqual(await desk.outcomes(id), ['accepted', 'late']);
  });

  it('deny: right credentials are refused, orders and questions alike, and pass again after so many', async () => {
    const id = newAccount();
    const broker = await desk.open(id, {}, '/denied');
    const order = await orderOf(broker, 'buy', 1);
    await desk.breaks(id, 'deny', { times: 3 });
    await assert.rejects(broker.place(order), CredentialsRejected);
    await assert.rejects(broker.position(order.instrument), CredentialsRejected);
    await assert.rejects(desk.open(id), CredentialsRejected);
    accepted(await broker.place(order));
    assert.deepEqual(await desk.outcomes(id), ['not_taken', 'accepted']);
    const { denials } = await desk.control<ExchangeLedger>('GET', 'ledger');
    assert.equal(denials.filter(({ account }) => account === id).length, 3);
  });

  it('lag: what is held is told as it was before, and an order meets it as it is', async () => {
    const id = newAccount();
    const broker = await desk.open(id, {}, '/lagging');
    const { instrument } = await orderOf(broker, 'buy', 1);
    accepted(await place(broker, 'buy', 2));
    await desk.breaks(id, 'lag', { ms: 60_000 });
    assert.equal(await broker.position(instrument), '0');
    assert.deepEqual(await broker.positions(), []);
    const close = accepted(await place(broker, 'sell', 3, 'BTCUSDT', { reduceOnly: true }));
    assert.equal(close.fillQuantity, '2');
    await desk.heal();
    assert.equal(await broker.position(instrument), '0');

    accepted(await place(broker, 'buy', 1));
    const bought = await desk.lastChange(id);
    await until(async () => Date.now() > bought + 300);
    accepted(await place(broker, 'buy', 4));
    await desk.breaks(id, 'lag', { ms: Date.now() - bought });
    assert.equal(await broker.position(instrument), '1');
    await desk.heal();
    assert.equal(await broker.position(instrument), '5');
    const { looks } = await desk.control<ExchangeLedger>('GET', 'ledger');
    const lags = looks.filter(({ account }) => account === id).map(({ lag_ms }) => lag_ms > 0);
    assert.deepEqual(lags, [true, true, false, true, false]);
  });

  it('strikes whom it is meant for, and by the chance of its seed', async () => {
    const id = newAccount();
    const [one, two] = [await desk.open(id, {}, '/one'), await desk.open(id, {}, '/two')];
    const struck = async (seed: number) => {
      await desk.breaks(id, 'reset', { askers: ['one'], calls: 'orders', probability: 0.5, seed });
      const placed: string[] = [];
      for (let times = 0; times < 12; times++) placed.push((await place(one, 'buy', '0.01')).outcome);
      accepted(await place(two, 'buy', '0.01'));
      await desk.heal();
      return placed.join();
    };
    const first = await struck(7);
    assert.match(first, /unknown/);
    assert.match(first, /accepted/);
    assert.equal(await struck(7), first);
    assert.notEqual(await struck(8), first);
  });
});

describe('a fault', () => {
  it('may strike look-ups alone: the order is taken, and nobody can say so', async () => {
    const id = newAccount();
    const broker = await desk.open(id);
    await desk.breaks(id, 'lose', { calls: 'look_ups' });
    const order = await orderOf(broker, 'buy', 1);
    const { brokerRef } = accepted(await broker.place(order));
    await assert.rejects(broker.find(order), BrokerUnavailable);
    await assert.rejects(broker.find(order, { brokerRef }), BrokerUnavailable);
    assert.equal(await broker.position(order.instrument), '1');
    await desk.heal();
    assert.equal((await broker.find(order))?.status, 'filled');
  });
});

describe('a trap', () => {
  it('holds an order that arrived, and lets it go on even where its sender is dead', async () => {
    const id = newAccount();
    const { broker, die } = await desk.openMortal(id, '/t1');
    const order = await orderOf(broker, 'buy', 1);
    const trap = await desk.setTrap('t1', 'arrived');
    const placing = broker.place(order);
    assert.deepEqual(await trap.caught(), { account: id, client_order_id: order.clientOrderId });
    die();
    assert.equal((await placing).outcome, 'unknown');
    assert.deepEqual(await desk.ledgerOf(id), { orders: [], positions: [], requests: [] });
    assert.equal(await trap.release(), true);
    await until(async () => (await desk.outcomes(id)).length > 0);
    assert.deepEqual(await desk.outcomes(id), ['accepted']);
    assert.equal(await trap.release(), false);
  });

  it('holds the answer to an order that is accepted', async () => {
    const id = newAccount();
    const broker = await desk.open(id, {}, '/t2');
    const order = await orderOf(broker, 'buy', 1);
    const trap = await desk.setTrap('t2', 'accepted');
    let isAnswered = false;
    const placing = broker.place(order).finally(() => {
      isAnswered = true;
    });
    await trap.caught();
    assert.deepEqual(await desk.outcomes(id), ['accepted']);
    assert.equal(isAnswered, false);
    await trap.release();
    accepted(await placing);
  });

  it('holds a position, and no order and nobody else', async () => {
    const id = newAccount();
    const [broker, other] = [await desk.open(id, {}, '/t3'), await desk.open(id, {}, '/other')];
    const trap = await desk.setTrap('t3', 'position');
    const { instrument } = await orderOf(broker, 'buy', 1);
    accepted(await place(broker, 'buy', 1));
    assert.equal(await other.position(instrument), '1');
    const position = broker.position(instrument);
    assert.deepEqual(await trap.caught(), { account: id, client_order_id: null });
    accepted(await place(other, 'buy', 1));
    await trap.release();
    // The answer is that of the moment in which it was asked for.
    assert.equal(await position, '1');
  });

  it('may be for closes alone', async () => {
    const broker = await desk.open(newAccount(), {}, '/t6');
    const trap = await desk.setTrap('t6', 'accepted', { closes: true });
    accepted(await place(broker, 'buy', 1));
    const order = await orderOf(broker, 'sell', 1, 'BTCUSDT', { reduceOnly: true });
    const closing = broker.place(order);
    assert.equal((await trap.caught()).client_order_id, order.clientOrderId);
    await trap.release();
    accepted(await closing);
  });

  it('tells of an answer that was just sent', async () => {
    const broker = await desk.open(newAccount(), {}, '/t4');
    const trap = await desk.setTrap('t4', 'answered');
    const order = await orderOf(broker, 'buy', 1, 'BTCUSDT', { reduceOnly: true });
    rejected(await broker.place(order));
    assert.equal((await trap.caught()).client_order_id, order.clientOrderId);
    assert.equal(await trap.release(), false);
  });

  it('is given up where nobody comes, and lets go by itself', async () => {
    const nobody = await desk.setTrap('t5', 'arrived', { within_ms: 1 });
    await assert.rejects(nobody.caught(), /nobody/);
    const broker = await desk.open(newAccount(), {}, '/t5');
    const trap = await desk.setTrap('t5', 'arrived', { hold_ms: 20 });
    accepted(await place(broker, 'buy', 1));
    await trap.caught();
    accepted(await place(broker, 'buy', 1));
  });
});
