// Stops and limits at the exchange: what its control room does to them, what befalls them, and what is written down.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openExchange } from '../../chaos/exchange.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { BrokerBusy, type StopOrder, type StopOutcome } from '../../src/broker/broker.ts';
import { openRemotePaper } from '../../src/broker/paper/remote.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../../src/domain/ids.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import { type ExchangeDesk, exchangeDesk, until } from './exchange-desk.ts';
import { accepted, accountOf, NO_HURRY, newAccount, orderOf, place, rejected } from './paper-desk.ts';
import { type PatientBroker, patient } from './patient.ts';

let desk: ExchangeDesk;
before(async () => {
  desk = await exchangeDesk();
});
after(() => desk.end());

let ids = 0;
const newId = (): ClientOrderId => `fs${++ids}` as ClientOrderId;

async function stopAt(broker: PatientBroker, price: string | number, symbol = 'BTCUSDT'): Promise<StopOrder> {
  const instrument = await broker.resolve(symbol);
  assert.ok(!('rejection' in instrument));
  const [clientOrderId, quantity] = [newId(), decimal(1)];
  return { clientOrderId, instrument, side: 'sell', quantity, price: decimal(price), triggerBy: 'mark' };
}

const prices = (set: Record<string, number | null>) => desk.control('POST', 'prices', set);

async function stopsOf(account: AccountId) {
  const { stops, stop_requests } = await desk.control<ExchangeLedger>('GET', 'ledger');
  const own = (row: { account: string }) => row.account === account;
  return { events: stops.filter(own), requests: stop_requests.filter(own) };
}

function taken(outcome: StopOutcome) {
  assert.ok(outcome.outcome === 'accepted', JSON.stringify(outcome));
  return outcome;
}

/** Long one at 50,000, and a stop at 49,000. */
async function protectedLong(paper: Partial<PaperSettings> = {}, path = '') {
  await prices({ BTCUSDT: 50_000 });
  const id = newAccount();
  const broker = await desk.open(id, paper, path);
  accepted(await place(broker, 'buy', 1));
  const stop = await stopAt(broker, 49_000);
  return { id, broker, stop };
}

describe('prices that the control room sets', () => {
  it('are those of quotes, fills and triggers of everybody', async () => {
    const [one, two] = [await protectedLong(), await protectedLong({ seed: 7 })];
    for (const { broker, stop } of [one, two]) {
      assert.equal((await broker.quote(stop.instrument)).bid, '50000');
      taken(await broker.stops.place(stop));
    }
    await prices({ BTCUSDT: 48_999.9 });
    for (const { id, broker, stop } of [one, two]) {
      assert.deepEqual((await desk.ledgerOf(id)).positions, [], 'nobody has looked');
      const found = await broker.stops.find(stop);
      assert.deepEqual([found?.status, found?.order?.fillPrice], ['triggered', '48999.9']);
    }
    await prices({ BTCUSDT: null });
    assert.notEqual((await one.broker.quote(one.stop.instrument)).bid, '48999.9');
  });

  it('are refused where the engine lists no such thing', async () => {
    for (const body of [{ NOSUCH: 1 }, { BTCUSDT: 0 }, { BTCUSDT: 'x' }, [1]]) {
      const response = await fetch(`${desk.url}/control/prices`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      assert.equal(response.status, 400);
    }
  });

  it('of an account’s own settings come first, and settle what waits', async () => {
    const { id, broker, stop } = await protectedLong();
    taken(await broker.stops.place(stop));
    const own = await desk.open(id, { price: { BTCUSDT: 40_000 } });
    assert.equal((await own.quote(stop.instrument)).bid, '40000');
    assert.equal((await own.stops.find(stop))?.order?.fillPrice, '40000');
  });

  it('are there again after a restart, and what waited waits on', async () => {
    const file = join(desk.dir, 'again.db');
    const first = await openExchange({ file });
    const set = (url: string, body: object) =>
      fetch(`${url}/control/prices`, { method: 'POST', body: JSON.stringify(body) });
    await set(first.url, { ETHUSDT: 3000 });
    const account = accountOf(newAccount(), { latency_ms: 0 });
    const broker = patient(await openRemotePaper({ url: first.url })(account, NO_HURRY));
    accepted(await place(broker, 'buy', 1, 'ETHUSDT'));
    const stop = await stopAt(broker, 2900, 'ETHUSDT');
    taken(await broker.stops.place(stop));
    await first.close();
    const second = await openExchange({ file });
    await set(second.url, { ETHUSDT: 2899 });
    const ledger = (await (await fetch(`${second.url}/control/ledger`)).json()) as ExchangeLedger;
    assert.deepEqual(
      ledger.stops.map(({ what }) => what),
      ['placed', 'triggered'],
    );
    await second.close();
  });
});

describe('a stop at the exchange', () => {
  it('is placed, moved, removed and fired on the record, with times and who asked', async () => {
    const { id, broker, stop } = await protectedLong({}, '/w1');
    const begun = Date.now();
    taken(await broker.stops.place(stop));
    taken(await broker.stops.move(stop, { ...stop, clientOrderId: newId(), price: decimal(49_500) }));
    await broker.stops.remove(stop);
    const next = await stopAt(broker, 49_000);
    taken(await broker.stops.place(next));
    await prices({ BTCUSDT: 48_000 });
    const { events, requests } = await stopsOf(id);
    assert.deepEqual(
      events.map(({ what, client_order_id, price, quantity, asker }) => [
        what,
        client_order_id,
        price,
        quantity,
        asker,
      ]),
      [
        ['placed', stop.clientOrderId, '49000', null, 'w1'],
        ['moved', stop.clientOrderId, '49500', null, 'w1'],
        ['cancelled', stop.clientOrderId, '49500', null, 'w1'],
        ['placed', next.clientOrderId, '49000', null, 'w1'],
        ['triggered', next.clientOrderId, '49000', null, null],
      ],
    );
    for (const { at, noted_at } of events) assert.ok(begun <= at && at <= noted_at && noted_at <= Date.now());
    assert.deepEqual(
      requests.map(({ outcome, moves }) => [outcome, moves]),
      [
        ['accepted', null],
        ['accepted', stop.clientOrderId],
        ['accepted', null],
      ],
    );
    const { orders } = await desk.ledgerOf(id);
    assert.equal(orders.at(-1)?.client_order_id, events.at(-1)?.order_id);
    assert.equal(events[0]?.trigger_by, 'mark');
  });

  it('meets the faults of orders, and those of stops alone', async () => {
    const { id, broker, stop } = await protectedLong();
    await desk.breaks(id, 'refuse', { calls: 'stops', retry_after_ms: 7_000 });
    await assert.rejects(broker.stops.place(stop), BrokerBusy);
    accepted(await place(broker, 'buy', 1));
    await desk.heal();
    await desk.breaks(id, 'lose', { calls: 'orders' });
    assert.equal((await broker.stops.place(stop)).outcome, 'unknown');
    await desk.heal();
    assert.equal((await broker.stops.find(stop))?.status, 'standing');
    await desk.breaks(id, 'garbage', { calls: 'stops', taken: true });
    assert.equal((await broker.stops.move(stop, { ...stop, price: decimal(49_100) })).outcome, 'unknown');
    await desk.heal();
    assert.equal((await broker.stops.standing(stop.instrument))[0]?.price, '49100');
    const { requests } = await stopsOf(id);
    assert.deepEqual(
      requests.map(({ outcome }) => outcome),
      ['not_taken', 'accepted', 'accepted'],
    );
  });

  it('is refused, lost or gone as the account’s settings say, and the words arrive', async () => {
    const { id, stop } = await protectedLong();
    const refusing = await desk.open(id, { protection: 'refuse' });
    const outcome = await refusing.stops.place(stop);
    assert.deepEqual(outcome, {
      outcome: 'rejected',
      why: 'refused',
      words: 'The paper exchange refuses every stop, as the settings say.',
    });
    const deaf = await desk.open(id, { protection: 'lose_answer' });
    assert.equal((await deaf.stops.place(stop)).outcome, 'unknown');
    assert.equal((await deaf.stops.standing(stop.instrument)).length, 1);
    const busy = await desk.open(id, { reject: 'broker_rate_limited' });
    await assert.rejects(busy.stops.place(await stopAt(busy, 49_000)), BrokerBusy);
    const vanishing = await desk.open(id, { protection: 'vanish' });
    assert.deepEqual(await vanishing.stops.standing(stop.instrument), []);
    assert.equal((await vanishing.stops.find(stop))?.status, 'ended');
  });

  it('under a known id is a second one only where the account is careless', async () => {
    const { id, broker, stop } = await protectedLong();
    taken(await broker.stops.place(stop));
    taken(await broker.stops.place(stop));
    assert.equal((await broker.stops.standing(stop.instrument)).length, 1);
    await desk.control('PATCH', `accounts/${id}`, { refuses_duplicates: false });
    taken(await broker.stops.place(stop));
    const shown = await broker.stops.standing(stop.instrument);
    assert.deepEqual(
      shown.map(({ clientOrderId }) => clientOrderId),
      [stop.clientOrderId, stop.clientOrderId],
    );
    await broker.stops.remove(stop);
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
    await desk.control('PATCH', `accounts/${id}`, { refuses_duplicates: 'while_open' });
    taken(await broker.stops.place(stop));
    taken(await broker.stops.place(stop));
    assert.equal((await broker.stops.standing(stop.instrument)).length, 1);
  });

  it('is set and removed by hand', async () => {
    const { id, broker, stop } = await protectedLong();
    taken(await broker.stops.place(stop));
    await desk.control('POST', `stops/${id}`, {
      symbol: 'BTCUSDT',
      side: 'sell',
      price: '48000',
      quantity: '0.5',
    });
    const shown = await broker.stops.standing(stop.instrument);
    assert.deepEqual(shown.map(({ quantity }) => quantity).toSorted(), ['0.5', null].toSorted());
    await desk.control('DELETE', `stops/${id}`);
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
  });

  it('fires though nobody looks, and its order is filled later where the exchange does so', async () => {
    const id = newAccount();
    await prices({ BTCUSDT: 50_000 });
    await desk.control('POST', `accounts/${id}`, { fills_after_ms: { least: 30, most: 60 } });
    const broker = await desk.open(id);
    const bought = await orderOf(broker, 'buy', 1);
    accepted(await broker.place(bought));
    await until(async () => (await desk.ledgerOf(id)).positions.length > 0);
    const stop = await stopAt(broker, 49_000);
    taken(await broker.stops.place(stop));
    await prices({ BTCUSDT: 48_000 });
    const { events } = await stopsOf(id);
    assert.equal(events.at(-1)?.what, 'triggered');
    await until(async () => (await desk.ledgerOf(id)).positions.length === 0);
    assert.equal((await broker.stops.find(stop))?.order?.status, 'filled');
  });

  it('beside the first of the position is refused, taken in its place, or taken, as the exchange has it', async () => {
    for (const [second_stop, expected] of [
      ['beside', ['49000', '48000']],
      ['refused', ['49000']],
      ['instead', ['48000']],
    ] as const) {
      const { id, broker, stop } = await protectedLong();
      await desk.control('PATCH', `accounts/${id}`, { second_stop });
      taken(await broker.stops.place(stop));
      await broker.stops.place(await stopAt(broker, 48_000));
      const shown = await broker.stops.standing(stop.instrument);
      assert.deepEqual(shown.map(({ price }) => price).toSorted(), [...expected].toSorted());
    }
  });

  it('stands still in a trap for stops, and in no other', async () => {
    const { broker, stop } = await protectedLong({}, '/trapped');
    const forOrders = await desk.setTrap('trapped', 'arrived', { within_ms: 50 });
    const forStops = await desk.setTrap('trapped', 'arrived', { stops: true });
    const placing = broker.stops.place(stop);
    assert.equal((await forStops.caught()).client_order_id, stop.clientOrderId);
    await forStops.release();
    taken(await placing);
    await assert.rejects(forOrders.caught(), /nobody fell into it/);
  });
});

describe('an order with a limit at the exchange', () => {
  it('rests, fills at its price or better, and is on the record with it', async () => {
    const { id, broker } = await protectedLong();
    const target = await orderOf(broker, 'sell', 1, 'BTCUSDT', { limit: decimal(51_000), reduceOnly: true });
    assert.equal(accepted(await broker.place(target)).status, 'placed');
    await prices({ BTCUSDT: 51_500 });
    const filled = await broker.find(target);
    assert.deepEqual([filled?.status, filled?.fillPrice], ['filled', '51500']);
    const ledger = await desk.control<ExchangeLedger>('GET', 'ledger');
    assert.equal(ledger.orders.findLast(({ account }) => account === id)?.limit_price, '51000');
  });

  it('with a stop beside it: the one ends the other, and what rests is kept where the exchange reserves', async () => {
    const { id, broker } = await protectedLong();
    await desk.control('PATCH', `accounts/${id}`, { reserves: true });
    assert.equal((await desk.open(id)).capabilities.reserves, true);
    const pair = { limit: decimal(51_000), stop: decimal(49_000) };
    const target = await orderOf(broker, 'sell', 1, 'BTCUSDT', pair);
    accepted(await broker.place(target));
    assert.match(rejected(await place(broker, 'sell', 1)).message, /not kept for other orders/);
    const [shown] = await broker.stops.standing(target.instrument);
    assert.deepEqual([shown?.clientOrderId, shown?.quantity], [target.clientOrderId, '1']);
    await prices({ BTCUSDT: 48_500 });
    assert.equal((await broker.find(target))?.status, 'cancelled');
    const asStop = { ...(await stopAt(broker, 49_000)), clientOrderId: target.clientOrderId };
    assert.equal((await broker.stops.find(asStop))?.order?.status, 'filled');
    assert.deepEqual(await broker.positions(), []);
  });
});
