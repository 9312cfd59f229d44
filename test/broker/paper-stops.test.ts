// What waits at the paper exchange: stops and limits along its prices.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { BrokerOrder, Instrument, Market, StopOrder, StopOutcome } from '../../src/broker/broker.ts';
import { pathOf, quote } from '../../src/broker/paper/market.ts';
import { openPaper } from '../../src/broker/paper/paper.ts';
import { USUAL_MANNERS } from '../../src/broker/paper/rules.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openPaperLedger } from '../../src/data/orders/paper-ledger.ts';
import { add, compare, type Decimal, decimal, multiply, negate } from '../../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import type { Side } from '../../src/domain/orders/order.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import {
  accepted,
  accountOf,
  listed,
  NO_HURRY,
  newAccount,
  OPEN_HOURS,
  orderOf,
  type PaperDesk,
  paperDesk,
  place,
  rejected,
} from './paper-desk.ts';
import { type PatientBroker, patient } from './patient.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BTC = listed('BTCUSDT');

let desk: PaperDesk;
before(async () => {
  desk = await paperDesk();
});
after(() => desk.end());

let ids = 0;
const newId = (): ClientOrderId => `fs${++ids}` as ClientOrderId;

/** So many ticks from the last price of now. */
const away = (ticks: number, symbol = 'BTCUSDT', now = desk.now): Decimal =>
  add(quote(listed(symbol), 1, now).bid, multiply(listed(symbol).tickSize, decimal(ticks)));

async function stopAt(
  broker: PatientBroker,
  side: Side,
  price: Decimal,
  symbol = 'BTCUSDT',
): Promise<StopOrder> {
  const instrument = await broker.resolve(symbol);
  assert.ok(!('rejection' in instrument));
  return { clientOrderId: newId(), instrument, side, quantity: decimal(1), price, triggerBy: 'last' };
}

function standing(outcome: StopOutcome): Extract<StopOutcome, { outcome: 'accepted' }> {
  assert.ok(outcome.outcome === 'accepted', JSON.stringify(outcome));
  return outcome;
}

function refused(outcome: StopOutcome): Extract<StopOutcome, { outcome: 'rejected' }> {
  assert.ok(outcome.outcome === 'rejected', JSON.stringify(outcome));
  return outcome;
}

/** The first whole second from then on at which it is so. */
function firstSecond(from: number, isSo: (at: number) => boolean): number {
  for (let at = (Math.floor(from / SECOND) + 1) * SECOND; at < from + DAY; at += SECOND)
    if (isSo(at)) return at;
  return assert.fail('it never is');
}

async function open(paper: Partial<PaperSettings> = {}) {
  desk.now = OPEN_HOURS;
  const id = newAccount();
  return { id, broker: await desk.open(id, paper) };
}

/** A long position of one, and a stop below it. */
async function protectedLong(paper: Partial<PaperSettings> = {}) {
  const { id, broker } = await open(paper);
  accepted(await place(broker, 'buy', 1));
  const stop = await stopAt(broker, 'sell', away(-300));
  standing(await broker.stops.place(stop));
  const fallsAt = firstSecond(desk.now, (at) => compare(quote(BTC, 1, at).bid, stop.price) <= 0);
  return { id, broker, stop, fallsAt };
}

describe('a stop on paper', () => {
  it('closes all that is held at the first second at which the price is there, whenever somebody looks', async () => {
    const { id, broker, stop, fallsAt } = await protectedLong();
    accepted(await place(broker, 'buy', 2));
    desk.now = fallsAt - 1;
    assert.deepEqual(
      (await broker.stops.standing(stop.instrument)).map(({ clientOrderId, price, quantity }) => [
        clientOrderId,
        price,
        quantity,
      ]),
      [[stop.clientOrderId, stop.price, null]],
    );
    desk.now = fallsAt + 5 * HOUR;
    const found = await broker.stops.find(stop);
    assert.equal(found?.status, 'triggered');
    assert.deepEqual(
      [found.order?.status, found.order?.fillQuantity, found.order?.fillPrice],
      ['filled', '3', quote(BTC, 1, fallsAt).bid],
    );
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
    assert.deepEqual(await broker.positions(), []);
    const kept = await desk.deps.ledger.findStop(id, stop.clientOrderId);
    assert.equal(kept?.updatedAt, timestamp(fallsAt));
    assert.equal((await desk.deps.ledger.read(id)).walkedTo, null);
  });

  it('has closed before an order that comes later, though nobody looked in between', async () => {
    const { id, broker, fallsAt } = await protectedLong();
    desk.now = fallsAt + 10 * SECOND;
    const late = await orderOf(broker, 'sell', 1, 'BTCUSDT', { reduceOnly: true });
    assert.equal(rejected(await broker.place(late)).code, 'no_position');
    accepted(await place(broker, 'sell', 1));
    assert.equal((await broker.positions())[0]?.quantity, '-1');
    assert.equal((await desk.rows(id)).length, 3);
  });

  it('of a short position is a buy, at the ask of the second at which the last price is there', async () => {
    const { broker } = await open();
    accepted(await place(broker, 'sell', 1));
    const stop = await stopAt(broker, 'buy', away(300));
    standing(await broker.stops.place(stop));
    const risesAt = firstSecond(desk.now, (at) => compare(quote(BTC, 1, at).bid, stop.price) >= 0);
    desk.now = risesAt + 1;
    assert.equal((await broker.stops.find(stop))?.order?.fillPrice, quote(BTC, 1, risesAt).ask);
    assert.deepEqual(await broker.positions(), []);
  });

  it('is refused where the price is beyond it, nothing is held, or it is between ticks', async () => {
    const { broker } = await open();
    assert.equal(
      refused(await broker.stops.place(await stopAt(broker, 'sell', away(-300)))).why,
      'no_position',
    );
    accepted(await place(broker, 'buy', 1));
    assert.equal(
      refused(await broker.stops.place(await stopAt(broker, 'buy', away(300)))).why,
      'no_position',
    );
    const passed = refused(await broker.stops.place(await stopAt(broker, 'sell', away(0))));
    assert.deepEqual([passed.why, /would trigger at once/.test(passed.words)], ['passed', true]);
    const odd = refused(
      await broker.stops.place(await stopAt(broker, 'sell', add(away(-300), decimal('0.05')))),
    );
    assert.deepEqual([odd.why, odd.words], ['refused', 'A price of BTCUSDT must be a multiple of 0.1.']);
  });

  it('is moved where it stands, and one that has ended is gone', async () => {
    const { broker, stop, fallsAt } = await protectedLong();
    const lower = { ...stop, clientOrderId: newId(), price: away(-300_000) };
    assert.equal(standing(await broker.stops.move(stop, lower)).clientOrderId, stop.clientOrderId);
    desk.now = fallsAt + HOUR;
    assert.deepEqual(
      (await broker.stops.standing(stop.instrument)).map(({ clientOrderId, price }) => [
        clientOrderId,
        price,
      ]),
      [[stop.clientOrderId, lower.price]],
    );
    assert.equal(refused(await broker.stops.move(stop, { ...stop, price: away(5) })).why, 'passed');
    await broker.stops.remove(stop);
    await broker.stops.remove(stop);
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
    const ended = await broker.stops.find(stop);
    assert.deepEqual([ended?.status, ended?.order, ended?.reason], ['ended', null, 'cancelled as asked']);
    assert.equal(refused(await broker.stops.move(stop, lower)).why, 'gone');
    assert.equal(await broker.stops.find({ ...stop, clientOrderId: newId() }), null);
  });

  it('that was placed is placed, however often: the id is known', async () => {
    const { broker, stop } = await protectedLong();
    const again = standing(await broker.stops.place({ ...stop, price: away(-400) }));
    assert.equal(again.clientOrderId, stop.clientOrderId);
    const shown = await broker.stops.standing(stop.instrument);
    assert.deepEqual(
      shown.map(({ price }) => price),
      [stop.price],
    );
    await broker.stops.remove(stop);
    standing(await broker.stops.place(stop));
    assert.equal((await broker.stops.find(stop))?.status, 'ended');
  });

  it('ends with the position, whoever closes or turns it', async () => {
    for (const quantity of [1, 2]) {
      const { broker, stop } = await protectedLong();
      accepted(await place(broker, 'sell', quantity));
      const ended = await broker.stops.find(stop);
      assert.deepEqual([ended?.status, ended?.reason], ['ended', 'the position is closed']);
    }
  });

  it('fires in parts where orders are filled so, and its order may die', async () => {
    for (const [fill, expected] of [
      ['partial', 'partially_filled'],
      ['never', 'placed'],
      ['cancel', 'cancelled'],
      ['fail', 'failed'],
    ] as const) {
      const { id, stop, fallsAt } = await protectedLong();
      const broker = await desk.open(id, { fill });
      desk.now = fallsAt + SECOND;
      const found = await broker.stops.find(stop);
      assert.deepEqual([found?.status, found?.order?.status], ['triggered', expected]);
      const held = (await broker.positions())[0]?.quantity;
      assert.equal(held, add(decimal(1), negate(found?.order?.fillQuantity ?? decimal(0))));
    }
  });

  it('whose order is rejected has ended, and says why', async () => {
    const { id, stop, fallsAt } = await protectedLong();
    const broker = await desk.open(id, { reject: 'insufficient_margin' });
    desk.now = fallsAt + SECOND;
    const found = await broker.stops.find(stop);
    assert.deepEqual([found?.status, found?.order], ['ended', null]);
    assert.match(found?.reason ?? '', /^Insufficient margin/);
    assert.equal((await broker.positions())[0]?.quantity, '1');
  });

  it('never triggers while its market is closed', async () => {
    const { id, broker } = await open();
    accepted(await place(broker, 'buy', 1, 'AAPL'));
    desk.now = Date.parse('2026-07-15T20:00:00Z');
    const stop = await stopAt(broker, 'sell', away(-1, 'AAPL'), 'AAPL');
    standing(await broker.stops.place(stop));
    const isThere = (at: number) => compare(quote(listed('AAPL'), 1, at).bid, stop.price) <= 0;
    const night = firstSecond(desk.now, isThere);
    const opening = Date.parse('2026-07-16T13:30:00Z');
    assert.ok(night < opening, 'it falls while nobody trades');
    desk.now = opening - 1;
    assert.equal((await broker.stops.find(stop))?.status, 'standing');
    desk.now = opening + 5 * HOUR;
    await broker.positions();
    const kept = await desk.deps.ledger.findStop(id, stop.clientOrderId);
    assert.equal(kept?.updatedAt, timestamp(firstSecond(opening - SECOND, isThere)));
  });
});

describe('the settings of a paper account', () => {
  it('refuse every stop, and every move, and let stops be taken away', async () => {
    const { id, stop } = await protectedLong();
    const broker = await desk.open(id, { protection: 'refuse' });
    for (const outcome of [
      await broker.stops.place({ ...stop, clientOrderId: newId() }),
      await broker.stops.move(stop, { ...stop, price: away(-200) }),
    ]) {
      const { why, words } = refused(outcome);
      assert.deepEqual([why, /refuses every stop/.test(words)], ['refused', true]);
    }
    await broker.stops.remove(stop);
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
  });

  it('lose the answer to what was taken', async () => {
    const { id, broker: good } = await open();
    accepted(await place(good, 'buy', 1));
    const broker = await desk.open(id, { protection: 'lose_answer' });
    const stop = await stopAt(broker, 'sell', away(-300));
    assert.equal((await broker.stops.place(stop)).outcome, 'unknown');
    assert.equal((await broker.stops.move(stop, { ...stop, price: away(-200) })).outcome, 'unknown');
    assert.deepEqual(
      (await broker.stops.standing(stop.instrument)).map(({ price }) => price),
      [away(-200)],
    );
    accepted(await place(broker, 'buy', 1));
  });

  it('let every stop vanish at the next look', async () => {
    const { id, stop } = await protectedLong();
    const broker = await desk.open(id, { protection: 'vanish' });
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
    assert.equal((await broker.stops.find(stop))?.status, 'ended');
    const next = { ...stop, clientOrderId: newId() };
    standing(await broker.stops.place(next));
    assert.deepEqual(await broker.stops.standing(stop.instrument), []);
  });

  it('set the last price, with the usual spread, and settle up to that moment and at it', async () => {
    const { id, broker, stop, fallsAt } = await protectedLong();
    desk.now = fallsAt - 10 * SECOND - 345;
    await settled(id, {}, false);
    const price = { 'BINANCE:BTCUSDT.P': Number(stop.price) + 50 };
    await settled(id, { price }, true);
    const pinned = await desk.open(id, { price });
    desk.now = fallsAt + HOUR;
    assert.equal((await pinned.stops.find(stop))?.status, 'standing');
    const { bid, ask } = await pinned.quote(stop.instrument);
    assert.equal(bid, decimal(price['BINANCE:BTCUSDT.P']));
    const spread = Number(quote(BTC, 1, desk.now).ask) - Number(quote(BTC, 1, desk.now).bid);
    assert.ok(Math.abs(Number(ask) - Number(bid) - spread) < 1e-6);

    desk.now += 123;
    await settled(id, { price }, false);
    await settled(id, { price: { BTCUSDT: 10 } }, true);
    const found = await broker.stops.find(stop);
    assert.deepEqual([found?.status, found?.order?.fillPrice], ['triggered', '10']);
    assert.equal((await desk.deps.ledger.findStop(id, stop.clientOrderId))?.updatedAt, timestamp(desk.now));
  });

  it('do not move the prices of a simulation', async () => {
    const id = newAccount();
    const paper = await openPaper(desk.deps)(accountOf(id, { price: { BTCUSDT: 10 } }), NO_HURRY);
    const broker = await desk.openSimulated(id, paper);
    const instrument = await broker.resolve('BTCUSDT');
    assert.ok(!('rejection' in instrument));
    assert.deepEqual(await broker.quote(instrument), quote(BTC, 1, desk.now));
  });

  async function settled(id: AccountId, paper: Partial<PaperSettings>, isJump: boolean): Promise<void> {
    const broker = await openPaper(desk.deps)(accountOf(id, paper), NO_HURRY);
    await broker.settle(isJump, NO_HURRY);
  }
});

describe('an order with a limit', () => {
  it('rests until the price is there, and fills at its price or better', async () => {
    const { broker } = await open();
    const limit = away(-200);
    const order = await orderOf(broker, 'buy', 1, 'BTCUSDT', { limit });
    assert.equal(accepted(await broker.place(order)).status, 'placed');
    const at = firstSecond(desk.now, (second) => compare(quote(BTC, 1, second).ask, limit) <= 0);
    desk.now = at - 1;
    assert.equal((await broker.find(order))?.status, 'placed');
    assert.equal((await broker.openOrders()).length, 1);
    desk.now = at + HOUR;
    const filled = await broker.find(order);
    assert.deepEqual([filled?.status, filled?.fillPrice], ['filled', quote(BTC, 1, at).ask]);
    assert.ok(compare(filled?.fillPrice ?? assert.fail(), limit) <= 0);
  });

  it('fills at once where the market is better already, at the market', async () => {
    const { broker } = await open();
    const { bid, ask } = quote(BTC, 1, desk.now);
    const buy = accepted(await place(broker, 'buy', 1, 'BTCUSDT', { limit: away(500) }));
    assert.deepEqual([buy.status, buy.fillPrice], ['filled', ask]);
    const sell = accepted(await place(broker, 'sell', 1, 'BTCUSDT', { limit: away(-500) }));
    assert.deepEqual([sell.status, sell.fillPrice], ['filled', bid]);
  });

  it('that only reduces takes what is still held, and ends when nothing is left', async () => {
    const { broker } = await open();
    accepted(await place(broker, 'buy', 2));
    const limit = away(100);
    const close = { limit, reduceOnly: true };
    const target = await orderOf(broker, 'sell', 2, 'BTCUSDT', close);
    accepted(await broker.place(target));
    accepted(await place(broker, 'sell', '1.5'));
    desk.now = firstSecond(desk.now, (at) => compare(quote(BTC, 1, at).bid, limit) >= 0);
    const ended = await broker.find(target);
    assert.deepEqual([ended?.status, ended?.fillQuantity], ['cancelled', '0.5']);
    assert.deepEqual(await broker.positions(), []);

    accepted(await place(broker, 'buy', 1));
    const next = await orderOf(broker, 'sell', 1, 'BTCUSDT', { ...close, limit: away(500_000) });
    accepted(await broker.place(next));
    accepted(await place(broker, 'sell', 1));
    const flat = await broker.find(next);
    assert.deepEqual([flat?.status, flat?.reason], ['cancelled', 'nothing is left to reduce']);
  });

  it('is cancelled, unless it was filled before', async () => {
    const { broker } = await open();
    const limit = away(-200);
    const [cancelled, filled] = [
      await orderOf(broker, 'buy', 1, 'BTCUSDT', { limit: away(-300_000) }),
      await orderOf(broker, 'buy', 1, 'BTCUSDT', { limit }),
    ];
    for (const order of [cancelled, filled]) accepted(await broker.place(order));
    const open2 = await broker.openOrders();
    desk.now = firstSecond(desk.now, (at) => compare(quote(BTC, 1, at).ask, limit) <= 0) + SECOND;
    for (const order of open2) await broker.cancel(order);
    const statuses = [await broker.find(cancelled), await broker.find(filled)].map((state) => state?.status);
    assert.deepEqual(statuses, ['cancelled', 'filled']);
  });

  it('is refused between ticks, and rests while its market is closed', async () => {
    const { broker } = await open();
    const odd = rejected(await place(broker, 'buy', 1, 'BTCUSDT', { limit: decimal('100.05') }));
    assert.match(odd.message, /multiple of 0.1/);
    desk.now = Date.parse('2026-07-18T12:00:00Z');
    const limit = add(listed('AAPL').tickSize, decimal(1000));
    const order = await orderOf(broker, 'buy', 1, 'AAPL', { limit });
    assert.equal(accepted(await broker.place(order)).status, 'placed');
    desk.now = Date.parse('2026-07-20T13:29:59Z');
    assert.equal((await broker.find(order))?.status, 'placed');
    desk.now = Date.parse('2026-07-20T13:30:01Z');
    assert.equal((await broker.find(order))?.status, 'filled');
  });

  it('with a stop beside it: whichever comes first ends the other', async () => {
    for (const first of ['limit', 'stop', 'cancel', 'remove'] as const) {
      const { id, broker } = await open();
      accepted(await place(broker, 'buy', 1));
      const [limit, stop] =
        first === 'limit' ? [100, -300_000] : first === 'stop' ? [300_000, -100] : [2e5, -2e5];
      const pair = { limit: away(limit), stop: away(stop), reduceOnly: true };
      const order = await orderOf(broker, 'sell', 1, 'BTCUSDT', pair);
      accepted(await broker.place(order));
      const asStop = { ...(await stopAt(broker, 'sell', pair.stop)), clientOrderId: order.clientOrderId };
      const [shown] = await broker.stops.standing(order.instrument);
      assert.deepEqual(
        [shown?.clientOrderId, shown?.price, shown?.quantity],
        [order.clientOrderId, pair.stop, '1'],
      );
      if (first === 'cancel') await broker.cancel((await broker.openOrders())[0] ?? assert.fail());
      if (first === 'remove') await broker.stops.remove(asStop);
      desk.now += HOUR;
      const [target, found] = [await broker.find(order), await broker.stops.find(asStop)];
      const expected = {
        limit: ['filled', 'ended', undefined],
        stop: ['cancelled', 'triggered', 'filled'],
        cancel: ['cancelled', 'ended', undefined],
        remove: ['cancelled', 'ended', undefined],
      };
      assert.deepEqual([target?.status, found?.status, found?.order?.status], expected[first]);
      assert.deepEqual((await desk.deps.ledger.read(id)).stops, []);
    }
  });
});

describe('where nothing waits', () => {
  it('an order costs no more than before: two statements and no read; beside a stop neither', async () => {
    const { id } = await open();
    const sizes: number[] = [];
    const reads: string[] = [];
    const { ledger } = desk.deps;
    const counted: typeof ledger = {
      ...ledger,
      async read(book) {
        reads.push(book);
        return ledger.read(book);
      },
      async write(book, change) {
        const { stops } = change;
        const ofStops = stops ? stops.changed.length + stops.orders.length + (stops.placed ? 1 : 0) : 0;
        sizes.push(1 + (change.placed ? 1 : 0) + change.changed.length + ofStops);
        return ledger.write(book, change);
      },
    };
    const broker = await desk.open(id, {}, counted);
    for (let times = 0; times < 3; times++) accepted(await place(broker, 'buy', '0.1'));
    assert.deepEqual([sizes, reads.length], [[2, 2, 2], 1]);
    assert.equal((await ledger.read(id)).walkedTo, null);
    standing(await broker.stops.place(await stopAt(broker, 'sell', away(-300_000))));
    for (let times = 0; times < 3; times++) accepted(await place(broker, 'buy', '0.1'));
    assert.deepEqual([sizes, reads.length], [[2, 2, 2, 2, 2, 2, 2], 1]);
  });

  it('looking writes nothing, and beside a stop once an hour', async () => {
    const { id, stop } = await protectedLong();
    const far = { ...stop, price: away(-300_000) };
    let writes = 0;
    const { ledger } = desk.deps;
    const counted: typeof ledger = {
      ...ledger,
      async write(book, change) {
        writes++;
        return ledger.write(book, change);
      },
    };
    const broker = await desk.open(id, {}, counted);
    standing(await broker.stops.move(stop, far));
    for (let minutes = 0; minutes < 90; minutes++) {
      desk.now += 60_000;
      await broker.positions();
    }
    assert.equal(writes, 1);
    desk.now += HOUR;
    await broker.positions();
    await broker.positions();
    assert.ok(writes <= 2, `${writes}`);
  });

  it('a day along the prices is gone in a moment', () => {
    const path = pathOf(BTC, 1);
    const begun = performance.now();
    for (let second = 0; second < 86_400; second++) path.bid(OPEN_HOURS + second * SECOND);
    assert.ok(performance.now() - begun < 2_000);
  });
});

describe('whoever looks, and whenever', () => {
  const MINUTE = 60_000;
  const anyWait = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 4 * SECOND }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 * HOUR }) },
  );
  const anyThing = fc.record({
    after: anyWait,
    kind: fc.constantFrom('market', 'stop', 'stop', 'limit', 'target', 'pair', 'cancel', 'remove'),
    side: fc.constantFrom<Side>('buy', 'sell'),
    ticks: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 9_000 })),
    steps: fc.integer({ min: 1, max: 3 }),
    symbol: fc.constantFrom('BTCUSDT', 'BTCUSDT', 'ES1!', 'AAPL'),
  });
  type Thing = Parameters<Parameters<typeof anyThing.map>[0]>[0];

  it('the same is filled, at the same prices and times, as if one had looked once at the end', async () => {
    let fired = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyThing, { minLength: 1, maxLength: 8 }),
        fc.array(anyWait, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(HOUR, 30 * HOUR, 50 * HOUR),
        async (things, waits, last) => {
          const tag = newId();
          const paper = { starting_cash: 1e9 };
          const outcomes: unknown[] = [];
          for (const isWatched of [false, true]) {
            desk.now = OPEN_HOURS + 123;
            const id = newAccount();
            const broker = await desk.open(id, paper);
            /** On the way there, by this connection or by another one. */
            const goOn = async (to: number) => {
              for (const [index, wait] of [...waits, ...waits].entries()) {
                if (!isWatched || desk.now + wait >= to) break;
                desk.now += wait;
                await (index % 2 ? broker : await desk.open(id, paper)).positions();
              }
              desk.now = to;
            };
            const told: unknown[] = [];
            const start = { clientOrderId: `${tag}x` as ClientOrderId };
            accepted(await broker.place(await orderOf(broker, 'buy', 2, 'BTCUSDT', start)));
            for (const [index, thing] of things.entries()) {
              await goOn(desk.now + thing.after);
              told.push(await happens(broker, `${tag}x${index}`, thing));
            }
            await goOn(desk.now + last);
            await broker.positions();
            const kept = await keptOf(id);
            fired += kept.rows.filter(({ client_order_id }) => client_order_id.endsWith('#stop')).length;
            outcomes.push([told, kept]);
          }
          assert.deepEqual(outcomes[1], outcomes[0]);
        },
      ),
      { numRuns: 60 },
    );
    assert.ok(fired > 5, `${fired} stops`);
    desk.now = OPEN_HOURS;
  });

  async function happens(
    broker: PatientBroker,
    name: string,
    { kind, side, ticks, steps, symbol }: Thing,
  ): Promise<string> {
    const clientOrderId = name as ClientOrderId;
    const quantity = multiply(listed(symbol).quantityStep, decimal(steps));
    // A sell waits below as a stop, above as a limit.
    const [below, above] = [
      away(side === 'sell' ? -ticks : ticks, symbol),
      away(side === 'sell' ? ticks : -ticks, symbol),
    ];
    const order = (more: Partial<BrokerOrder>) =>
      orderOf(broker, side, quantity, symbol, { clientOrderId, ...more });
    const stop = { ...(await stopAt(broker, side, below, symbol)), clientOrderId };
    switch (kind) {
      case 'stop':
        return (await broker.stops.place(stop)).outcome;
      case 'cancel': {
        const [resting] = await broker.openOrders();
        if (resting) await broker.cancel(resting);
        return `cancelled ${resting?.clientOrderId}`;
      }
      case 'remove': {
        const [first] = await broker.stops.standing(stop.instrument);
        if (first?.clientOrderId) await broker.stops.remove({ ...stop, clientOrderId: first.clientOrderId });
        return `removed ${first?.clientOrderId}`;
      }
      case 'market':
        return (await broker.place(await order({}))).outcome;
      case 'limit':
        return (await broker.place(await order({ limit: above }))).outcome;
      case 'target':
        return (await broker.place(await order({ limit: above, reduceOnly: true }))).outcome;
      case 'pair':
        return (await broker.place(await order({ limit: above, stop: below, reduceOnly: true }))).outcome;
      default:
        return assert.fail(kind);
    }
  }

  async function keptOf(id: AccountId) {
    const rows = (await desk.rows(id)).map((row) => ({ ...row, book: '', broker_ref: '' }));
    const { profit, holdings, resting, stops } = await desk.deps.ledger.read(id);
    const bare = (each: { brokerRef: string }) => ({ ...each, brokerRef: '' });
    return {
      rows: rows.toSorted(byId),
      profit,
      holdings,
      resting: resting.map(bare),
      stops: stops.map(bare),
    };
  }

  const byId = (a: { client_order_id: string }, b: { client_order_id: string }) =>
    a.client_order_id < b.client_order_id ? -1 : 1;

  it('what waits for longer than a day is looked at minute by minute from then on', async () => {
    const { id, broker } = await open();
    accepted(await place(broker, 'buy', 1));
    const isBelow = (price: Decimal) => (at: number) => compare(quote(BTC, 1, at).bid, price) <= 0;
    const minutes = Array.from({ length: 20 * 24 * 60 }, (_, index) => OPEN_HOURS + (index + 1) * MINUTE);
    const lowest = minutes
      .map((minute) => ({ minute, bid: quote(BTC, 1, minute).bid }))
      .reduce((low, each) => (compare(each.bid, low.bid) < 0 ? each : low));
    const falls = minutes.find(isBelow(lowest.bid)) ?? assert.fail();
    assert.ok(falls > OPEN_HOURS + DAY, 'it takes longer than a day');
    const stop = await stopAt(broker, 'sell', lowest.bid);
    standing(await broker.stops.place(stop));
    desk.now = OPEN_HOURS + 20 * DAY;
    await broker.positions();
    const kept = await desk.deps.ledger.findStop(id, stop.clientOrderId);
    assert.deepEqual([kept?.status, kept?.updatedAt], ['triggered', timestamp(falls)]);
  });
});

describe('in the market of another broker', () => {
  const gold: Instrument = {
    symbol: 'GOLD-2612',
    description: 'Gold',
    contractSize: decimal(100),
    quantityStep: decimal('0.5'),
    minQuantity: decimal('0.5'),
    tickSize: decimal('0.1'),
    open: true,
    nextOpen: null,
  };
  let price = { bid: '2700', ask: '2700.5' };
  const market: Market = {
    resolve: async () => gold,
    quote: async () => ({ bid: decimal(price.bid), ask: decimal(price.ask) }),
  };

  it('a stop and a limit go by its quote at each look', async () => {
    price = { bid: '2700', ask: '2700.5' };
    const id = newAccount();
    const broker = await desk.openSimulated(id, market);
    accepted(await place(broker, 'buy', 2, 'GC1!'));
    const stop = { ...(await stopAt(broker, 'sell', decimal('2690'), 'GC1!')), instrument: gold };
    standing(await broker.stops.place(stop));
    const entry = await orderOf(broker, 'buy', 1, 'GC1!', { limit: decimal('2695') });
    assert.equal(accepted(await broker.place(entry)).status, 'placed');
    price = { bid: '2694', ask: '2694.5' };
    assert.deepEqual(
      [(await broker.find(entry))?.status, (await broker.find(entry))?.fillPrice],
      ['filled', '2694.5'],
    );
    assert.equal((await broker.stops.find(stop))?.status, 'standing');
    price = { bid: '2680', ask: '2680.5' };
    const found = await broker.stops.find(stop);
    assert.deepEqual([found?.order?.fillQuantity, found?.order?.fillPrice], ['3', '2680']);
    assert.deepEqual(await broker.positions(), []);
  });

  it('a limit waits there without a position, for another connection too', async () => {
    price = { bid: '2700', ask: '2700.5' };
    const id = newAccount();
    const broker = await desk.openSimulated(id, market);
    const entry = await orderOf(broker, 'sell', 1, 'GC1!', { limit: decimal('2710') });
    accepted(await broker.place(entry));
    price = { bid: '2711', ask: '2712' };
    const filled = await (await desk.openSimulated(id, market)).find(entry);
    assert.deepEqual([filled?.status, filled?.fillPrice], ['filled', '2711']);
  });
});

describe('the ledger on PostgreSQL', () => {
  it('keeps what waits, moves and fires as the one on disk does', async (t) => {
    const postgres = await startPostgres().catch((fault: unknown) => {
      if (!(fault instanceof PostgresMissing)) throw fault;
      t.skip(fault.message);
    });
    if (!postgres) return;
    const db = await openPostgres(postgres);
    try {
      await migrate(db, OPEN_HOURS);
      const kept: unknown[] = [];
      const tag = newId();
      for (const ledger of [desk.deps.ledger, openPaperLedger(db)]) {
        desk.now = OPEN_HOURS;
        const id = newAccount();
        const broker = await desk.open(id, {}, ledger);
        const named = (name: string) => ({ clientOrderId: `${tag}${name}` as ClientOrderId });
        const pair = { ...named('b'), limit: away(300_000), stop: away(-300_000), reduceOnly: true };
        accepted(await broker.place(await orderOf(broker, 'buy', 3, 'BTCUSDT', named('a'))));
        accepted(await broker.place(await orderOf(broker, 'sell', 1, 'BTCUSDT', pair)));
        const stop = { ...(await stopAt(broker, 'sell', away(-400))), ...named('c') };
        standing(await broker.stops.place(stop));
        standing(await broker.stops.move(stop, { ...stop, price: away(-300), triggerBy: 'mark' }));
        kept.push(await ledger.read(id), (await broker.stops.find(stop))?.status);
        desk.now += HOUR;
        kept.push(await broker.stops.find(stop), await ledger.read(id), await broker.openOrders());
      }
      const bare = (value: unknown) => JSON.stringify(value).replaceAll(/paper-[\da-f]{20}/g, 'ref');
      assert.equal(bare(kept.slice(kept.length / 2)), bare(kept.slice(0, kept.length / 2)));
      assert.match(bare(kept), /"status":"triggered"/);
    } finally {
      await db.close();
      await postgres.stop();
    }
  });
});

describe('exchanges with other manners', () => {
  async function at(manners: Partial<typeof USUAL_MANNERS>) {
    desk.now = OPEN_HOURS;
    const paper = openPaper({ ...desk.deps, manners: () => ({ ...USUAL_MANNERS, ...manners }) });
    const broker = await paper(accountOf(newAccount(), {}), NO_HURRY);
    const wish = async (price: Decimal, quantity: string | null) => ({
      ...(await stopAt(patient(broker), 'sell', price)),
      quantity: quantity === null ? null : decimal(quantity),
    });
    return { broker: patient(broker), take: broker.stops.take, wish };
  }
  const code = (taken: object) => ('refusal' in taken ? (taken.refusal as { code: string }).code : 'taken');

  it('keep stops that have nothing to close, and let none of them open anything', async () => {
    const { broker, take, wish } = await at({ endsWithPosition: false, stopsNeedPosition: false });
    const [sized, all] = [await wish(away(-300), '1'), await wish(away(-300), null)];
    for (const each of [sized, all]) assert.equal(code(await take(each, NO_HURRY)), 'taken');
    desk.now += HOUR;
    for (const each of [sized, all]) {
      const found = await broker.stops.find({ ...each, quantity: decimal(1) });
      assert.deepEqual([found?.status, found?.reason], ['ended', 'nothing is left to reduce']);
    }
    assert.deepEqual(await broker.positions(), []);
  });

  it('have one stop of the position, and refuse or take the second in its place', async () => {
    desk.now = OPEN_HOURS;
    for (const [secondStop, expected, prices] of [
      ['beside', 'taken', [away(-300), away(-400)]],
      ['refused', 'second', [away(-300)]],
      ['instead', 'taken', [away(-400)]],
    ] as const) {
      const { broker, take, wish } = await at({ secondStop });
      accepted(await place(broker, 'buy', 1));
      const first = await wish(away(-300), null);
      await take(first, NO_HURRY);
      assert.equal(code(await take(await wish(away(-400), null), NO_HURRY)), expected);
      const shown = await broker.stops.standing(first.instrument);
      assert.deepEqual(
        shown.map(({ price }) => price),
        prices,
      );
      assert.equal(code(await take(await wish(away(-500), '0.5'), NO_HURRY)), 'taken');
    }
  });

  it('take stops of a quantity, which close that much and no more', async () => {
    const { broker, take, wish } = await at({});
    accepted(await place(broker, 'buy', 3));
    const [one, many] = [await wish(away(-300), '1'), await wish(away(-200_000), '9')];
    for (const each of [one, many]) assert.equal(code(await take(each, NO_HURRY)), 'taken');
    assert.equal(code(await take(await wish(away(-300), '0.0000001'), NO_HURRY)), 'off_step');
    desk.now += HOUR;
    assert.equal((await broker.positions())[0]?.quantity, '2');
    const bigger = { ...many, quantity: decimal(5), moves: many.clientOrderId };
    assert.equal(code(await take(bigger, NO_HURRY)), 'taken');
    const shown = await broker.stops.standing(one.instrument);
    assert.deepEqual(
      shown.map(({ quantity }) => quantity),
      ['5'],
    );
  });

  it('keep what rests would close for it alone', async () => {
    const { broker, take, wish } = await at({ reserves: true });
    accepted(await place(broker, 'buy', 3));
    assert.equal(code(await take(await wish(away(-300), '2'), NO_HURRY)), 'taken');
    assert.equal(code(await take(await wish(away(-300), '2'), NO_HURRY)), 'reserved');
    assert.match(rejected(await place(broker, 'sell', 2)).message, /1 is not kept/);
    const pair = { limit: away(300_000), stop: away(-300_000) };
    accepted(await place(broker, 'sell', 1, 'BTCUSDT', pair));
    assert.equal(rejected(await place(broker, 'sell', 1)).code, 'insufficient_margin');
    accepted(await place(broker, 'buy', 1));
    accepted(await place(broker, 'sell', 1));
  });
});
