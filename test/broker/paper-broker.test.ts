import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Broker, BrokerUnavailable, type Instrument, type Market } from '../../src/broker/broker.ts';
import { quote } from '../../src/broker/paper/market.ts';
import { openPaper, openSimulated } from '../../src/broker/paper/paper.ts';
import { invalidSymbol } from '../../src/broker/paper/rejections.ts';
import { openBrokers } from '../../src/broker/registry.ts';
import { openPaperLedger } from '../../src/data/orders/paper-ledger.ts';
import { BROKER_NAMES } from '../../src/domain/brokers.ts';
import {
  add,
  average,
  compare,
  type Decimal,
  decimal,
  multiply,
  sign,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import { type BrokerHarness, brokerContract } from '../contracts/broker.ts';
import { candlesContract } from '../contracts/broker-candles.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import {
  accepted,
  accountOf,
  listed,
  NO_HURRY,
  NOBODY,
  newAccount,
  OPEN_HOURS,
  orderOf,
  type PaperDesk,
  paperDesk,
  place,
  rejected,
} from './paper-desk.ts';
import { patient } from './patient.ts';

let desk: PaperDesk;
before(async () => {
  desk = await paperDesk();
});
after(() => desk.end());

const SYMBOLS = {
  platform: 'BINANCE:BTCUSDT.P',
  broker: 'BTCUSDT',
  another: 'ETHUSDT',
  unknown: 'NASDAQ:NOSUCH',
};

async function paper(): Promise<BrokerHarness> {
  const id = newAccount();
  let settings: Partial<PaperSettings> = {};
  let price: Decimal | undefined;
  const set = (change: Partial<PaperSettings>) => () => {
    settings = { ...settings, ...change };
  };
  const fills = { filled: 'full', partially_filled: 'partial', cancelled: 'cancel', failed: 'fail' } as const;
  const lastPrice = (symbol: string) => (symbol === 'BTCUSDT' ? price : undefined);
  const open = () => openPaper({ ...desk.deps, lastPrice })(accountOf(id, settings), NO_HURRY);
  return {
    open,
    symbols: SYMBOLS,
    quantity: decimal(1),
    faults: {
      loseAnswer: set({ lose_answer: true }),
      reject: (code) => set({ reject: code })(),
      rest: set({ fill: 'never' }),
      settle: (how) => set({ fill: fills[how] })(),
      fillPartly: set({ fill: 'partial' }),
    },
    protection: {
      async setPrice(last) {
        await (await open()).settle(false, NO_HURRY);
        price = last;
        await (await open()).settle(true, NO_HURRY);
      },
      refuseStops: set({ protection: 'refuse' }),
      loseStopAnswers: set({ protection: 'lose_answer' }),
      vanishStops: set({ protection: 'vanish' }),
      removeStopsByHand: async () => removeStops(await open(), 'BTCUSDT'),
      async foreignStop(stop) {
        const broker = await open();
        const instrument = await broker.resolve('BTCUSDT', NO_HURRY);
        assert.ok(!('rejection' in instrument));
        const wish = { quantity: null, ...stop, clientOrderId: 'byhand' as ClientOrderId, instrument };
        assert.ok('stop' in (await broker.stops.take({ ...wish, triggerBy: 'last' }, NO_HURRY)));
      },
      placedStops: async () =>
        (await desk.deps.ledger.read(id)).stops.map(({ price: at, triggerBy }) => ({ price: at, triggerBy })),
    },
    ledger: () => ledgerOf(id),
    end: async () => {},
  };
}

const ledgerOf = async (book: string) =>
  (await desk.rows(book)).map((row) => ({ clientOrderId: row.client_order_id }));

async function removeStops(broker: Broker, symbol: string): Promise<void> {
  const instrument = await broker.resolve(symbol, NO_HURRY);
  assert.ok(!('rejection' in instrument) && broker.stops);
  for (const { clientOrderId, brokerRef, side, price } of await broker.stops.standing(instrument, NO_HURRY)) {
    const sent = { clientOrderId: clientOrderId ?? assert.fail(), brokerRef, symbol, side, price };
    await broker.stops.remove({ ...sent, quantity: ZERO, sentAt: timestamp(0) }, NO_HURRY);
  }
}

/** A simulation, in our own market or in one whose prices can be set. */
const simulated = (market: Market, more: Pick<BrokerHarness, 'symbols'> & Partial<BrokerHarness>) => {
  const id = newAccount();
  // Settings that would reject everything: a simulation does not know them.
  const account = accountOf(id, { reject: 'market_closed', protection: 'refuse', price: { BTCUSDT: 1 } });
  const open = () => openSimulated(desk.deps)(account, market, NO_HURRY);
  return {
    open,
    quantity: decimal(1),
    faults: {},
    protection: { removeStopsByHand: async () => removeStops(await open(), more.symbols.platform) },
    ledger: () => ledgerOf(`sim:${id}`),
    end: async () => {},
    ...more,
  } satisfies BrokerHarness;
};

const atHome = async () => simulated(NOBODY, { symbols: SYMBOLS });

async function abroad(): Promise<BrokerHarness> {
  let bid = decimal(2000);
  const instrumentOf = (symbol: string): Instrument => ({
    symbol,
    description: `${symbol} abroad`,
    contractSize: decimal(10),
    quantityStep: decimal(1),
    minQuantity: decimal(1),
    tickSize: decimal('0.5'),
    open: true,
    nextOpen: null,
  });
  const market: Market = {
    resolve: async (symbol) =>
      ['GOLD', 'SILVER'].includes(symbol) ? instrumentOf(symbol) : { rejection: invalidSymbol(symbol) },
    quote: async () => ({ bid, ask: add(bid, decimal('0.5')) }),
  };
  const symbols = { platform: 'GOLD', broker: 'GOLD', another: 'SILVER', unknown: 'TIN' };
  const harness = simulated(market, { symbols });
  const setPrice = (price: Decimal) => {
    bid = price;
  };
  return { ...harness, protection: { ...harness.protection, setPrice } };
}

for (const [name, makeHarness] of [
  ['paper', paper],
  ['simulation', atHome],
] as const) {
  brokerContract(name, makeHarness);
  candlesContract(name, makeHarness, () => desk.now);
  protectionContract(name, makeHarness);
}
protectionContract('simulation in the market of another broker', abroad);

describe('the paper broker', () => {
  it('is in the complete record of brokers', () => {
    assert.deepEqual(Object.keys(openBrokers(desk.deps)), [...BROKER_NAMES]);
  });

  it('lets the default cash hold one of every contract at once', async () => {
    const broker = await desk.open(newAccount());
    for (const { symbol } of await broker.instruments('')) accepted(await place(broker, 'buy', 1, symbol));
    assert.equal((await broker.positions()).length, (await broker.instruments('')).length);
  });

  it('buys at the ask, sells at the bid, and keeps the profit less fees', async () => {
    const id = newAccount();
    const broker = await desk.open(id);
    const es = listed('ES1!');
    const { ask } = quote(es, 1, desk.now);
    assert.equal(accepted(await place(broker, 'buy', 2, 'ES1!')).fillPrice, ask);
    desk.now += 3_600_000;
    const { bid } = quote(es, 1, desk.now);
    assert.equal(accepted(await place(broker, 'sell', 2, 'ES1!')).fillPrice, bid);
    const gain = multiply(subtract(bid, ask), decimal(100));
    const fees = multiply(multiply(add(bid, ask), decimal(100)), es.feeRate);
    assert.equal((await desk.deps.ledger.read(id)).profit, subtract(gain, fees));
    desk.now = OPEN_HOURS;
  });

  it('keeps the average price while a position is reduced, and starts a new one when it flips', async () => {
    const broker = await desk.open(newAccount());
    const averagePrice = async () => (await broker.positions())[0]?.averagePrice;
    const first = accepted(await place(broker, 'buy', 1, 'ETHUSDT')).fillPrice ?? assert.fail();
    desk.now += 600_000;
    const second = accepted(await place(broker, 'buy', 2, 'ETHUSDT')).fillPrice ?? assert.fail();
    const both = average(add(first, multiply(second, decimal(2))), decimal(3));
    assert.equal(await averagePrice(), both);
    for (let times = 0; times < 2; times++) {
      desk.now += 600_000;
      accepted(await place(broker, 'sell', '0.7', 'ETHUSDT'));
      assert.equal(await averagePrice(), both);
    }
    assert.equal(accepted(await place(broker, 'sell', 3, 'ETHUSDT')).fillPrice, await averagePrice());
    desk.now = OPEN_HOURS;
  });

  it('refuses what the margin does not carry, says what is needed, and always lets a position be reduced', async () => {
    const id = newAccount();
    const error = rejected(await place(await desk.open(id), 'buy', 25));
    assert.equal(error.code, 'insufficient_margin');
    assert.match(error.message, /needs 1[12]\d{4}\.\d\d and 100000\.00 is available/);
    accepted(await place(await desk.open(id), 'buy', 2));
    const poor = await desk.open(id, { starting_cash: 0 });
    assert.equal(rejected(await place(poor, 'buy', 1)).code, 'insufficient_margin');
    assert.equal(rejected(await place(poor, 'sell', 5)).code, 'insufficient_margin');
    accepted(await place(poor, 'sell', 1));
    accepted(await place(poor, 'sell', 1, 'BTCUSDT', { reduceOnly: true }));
  });

  it('counts an order that rests as if it were filled', async () => {
    const broker = await desk.open(newAccount(), { fill: 'never' });
    accepted(await place(broker, 'buy', 15));
    assert.equal(rejected(await place(broker, 'buy', 15)).code, 'insufficient_margin');
    accepted(await place(broker, 'sell', 10));
  });

  it('counts no margin for a reduce-only order that rests', async () => {
    const id = newAccount();
    accepted(await place(await desk.open(id), 'sell', 5));
    const never = await desk.open(id, { fill: 'never' });
    for (let times = 0; times < 4; times++)
      accepted(await place(never, 'buy', 5, 'BTCUSDT', { reduceOnly: true }));
    accepted(await place(never, 'sell', 5));
    accepted(await place(never, 'buy', 9));
  });

  it('fills no order that rests while its market is closed', async () => {
    const id = newAccount();
    const never = await desk.open(id, { fill: 'never' });
    const order = await orderOf(never, 'buy', 1, 'AAPL');
    accepted(await never.place(order));
    const full = await desk.open(id);
    desk.now = Date.parse('2026-07-15T20:00:00Z');
    assert.equal((await full.find(order))?.status, 'placed');
    desk.now = Date.parse('2026-07-16T13:30:00Z');
    assert.equal((await full.find(order))?.status, 'filled');
    desk.now = OPEN_HOURS;
  });

  it('refuses a quantity below the minimum, beyond the limit or beside the step', async () => {
    const broker = await desk.openSimulated(newAccount());
    for (const quantity of ['0', '-1', '0.000001', '1.000001', '1000000001'])
      assert.equal(rejected(await place(broker, 'buy', quantity)).code, 'invalid_quantity', quantity);
    accepted(await place(broker, 'buy', '999999999.99999'));
    assert.equal(rejected(await place(broker, 'buy', 1)).code, 'invalid_quantity');
    accepted(await place(broker, 'sell', 1));
  });

  it('lets the latency pass before the accept, so that a close meanwhile means not sent', async () => {
    const id = newAccount();
    let broker = await desk.open(id, { latency_ms: 700 });
    await place(broker, 'buy', 1);
    assert.equal(desk.waited.at(-1), 700);
    const closing = openPaper({ ...desk.deps, wait: () => broker.close() });
    broker = patient(await closing(accountOf(id, {}), NO_HURRY));
    await assert.rejects(place(broker, 'buy', 1), BrokerUnavailable);
    assert.equal((await desk.rows(id)).length, 1);
  });

  it('sends nothing where its time is over before the latency has passed', async () => {
    const id = newAccount();
    const over = new AbortController();
    const slow = openPaper({ ...desk.deps, wait: () => new Promise(() => over.abort()) });
    const broker = await slow(accountOf(id, {}), NO_HURRY);
    await assert.rejects(
      broker.place(await orderOf(patient(broker), 'buy', 1), over.signal),
      BrokerUnavailable,
    );
    assert.deepEqual(await desk.rows(id), []);
  });

  it('is unknown where its time is over while the ledger writes', async () => {
    const id = newAccount();
    const over = new AbortController();
    const written = Promise.withResolvers<void>();
    const { ledger } = desk.deps;
    const slow: typeof ledger = {
      ...ledger,
      async write(book, change) {
        const outcome = await ledger.write(book, change);
        over.abort();
        await written.promise;
        return outcome;
      },
    };
    const broker = await openPaper({ ...desk.deps, ledger: slow })(accountOf(id, {}), NO_HURRY);
    const order = await orderOf(patient(broker), 'buy', 1);
    assert.equal((await broker.place(order, over.signal)).outcome, 'unknown');
    written.resolve();
    assert.equal((await patient(broker).find(order))?.status, 'filled');
  });

  describe('in one unit with what its worker records', () => {
    const UNIT: readonly object[] = [];
    const STATED = { status: 'filled', fillQuantity: '1' };

    it('is filled; what cannot be filled whole and at once, or recorded, is not touched', async () => {
      const id = newAccount();
      const fill = async (paper: Partial<PaperSettings>, more = {}, unit: typeof UNIT | null = UNIT) => {
        const broker = await openPaper(desk.deps)(accountOf(id, paper), NO_HURRY);
        const order = await orderOf(patient(broker), 'buy', 1, 'BTCUSDT', more);
        const told: unknown[] = [];
        const outcome = await broker.fill?.(
          order,
          ({ status, fillQuantity }) => {
            told.push({ status, fillQuantity });
            return unit;
          },
          NO_HURRY,
        );
        return [outcome?.outcome, ...told];
      };
      assert.deepEqual(await fill({}, {}, null), ['apart', STATED]);
      assert.deepEqual(await fill({ reject: 'market_closed' }), ['apart']);
      assert.deepEqual(await fill({}, { limit: decimal(1) }), ['apart']);
      assert.deepEqual(await fill({}, { reduceOnly: true }), ['apart']);
      for (const paper of [{ fill: 'partial' }, { lose_answer: true }, { latency_ms: 21 }] as const)
        assert.deepEqual(await fill(paper), [undefined]);
      assert.deepEqual(await desk.rows(id), []);
      assert.deepEqual(await fill({}), ['filled', STATED]);
      assert.equal((await desk.rows(id)).length, 1);
    });

    it('is decided once: what is to be decided anew after its time is over is recorded by nobody', async () => {
      const id = newAccount();
      const over = new AbortController();
      const { ledger } = desk.deps;
      let writes = 0;
      const slow: typeof ledger = {
        ...ledger,
        async write() {
          writes++;
          over.abort();
          return 'stale';
        },
      };
      const broker = await openPaper({ ...desk.deps, ledger: slow })(accountOf(id, {}), NO_HURRY);
      let records = 0;
      const record = () => {
        records++;
        return UNIT;
      };
      const order = await orderOf(patient(broker), 'buy', 1);
      assert.equal((await broker.fill?.(order, record, over.signal))?.outcome, 'unknown');
      await broker.close();
      assert.deepEqual([records, writes], [1, 1]);
    });
  });

  it('tells the fees of all the fills of an order', async () => {
    const id = newAccount();
    const partial = await desk.open(id, { fill: 'partial' });
    const order = await orderOf(partial, 'buy', 2);
    const part = accepted(await partial.place(order));
    const { feeRate } = listed('BTCUSDT');
    const feeOf = (price: Decimal | null, quantity: Decimal) =>
      multiply(multiply(price ?? ZERO, quantity), feeRate);
    assert.equal(part.fee, feeOf(part.fillPrice, part.fillQuantity));
    desk.now += 60_000;
    const rest = feeOf(
      quote(listed('BTCUSDT'), 1, desk.now).ask,
      subtract(order.quantity, part.fillQuantity),
    );
    const filled = await (await desk.open(id)).find(order);
    assert.equal(filled?.fee, add(part.fee ?? assert.fail(), rest));
    desk.now = OPEN_HOURS;
  });

  it('has a balance that agrees with its positions: equity is cash and what they would bring', async () => {
    const id = newAccount();
    const broker = await desk.open(id);
    accepted(await place(broker, 'buy', 1));
    accepted(await place(broker, 'sell', 2, 'ES1!'));
    desk.now += 3_600_000;
    const { currency, equity, cash, available } = await broker.balance();
    const { profit } = await desk.deps.ledger.read(id);
    assert.equal(currency, 'USD');
    assert.equal(cash, add(decimal(100_000), profit));
    const positions = await broker.positions();
    const open = positions.reduce<Decimal>((sum, { openProfit }) => add(sum, openProfit ?? ZERO), ZERO);
    assert.equal(equity, add(cash, open));
    assert.ok(compare(available, equity) < 0);
    for (const { symbol, quantity, averagePrice, lastPrice, openProfit } of positions) {
      const { bid, ask } = quote(listed(symbol), 1, desk.now);
      assert.equal(lastPrice, sign(quantity) > 0 ? bid : ask);
      const moved = subtract(lastPrice ?? ZERO, averagePrice);
      assert.equal(openProfit, multiply(multiply(moved, quantity), listed(symbol).contractSize));
    }
    desk.now = OPEN_HOURS;
  });

  it('fills the same part for the same seed and order, and the rest when the settings say so', async () => {
    const id = newAccount();
    const partial = await desk.open(id, { fill: 'partial' });
    const order = await orderOf(partial, 'buy', 2);
    const part = accepted(await partial.place(order));
    assert.equal(part.status, 'partially_filled');
    assert.deepEqual(await partial.find(order), part);
    const twin = await desk.open(newAccount(), { fill: 'partial' });
    assert.equal(accepted(await twin.place(order)).fillQuantity, part.fillQuantity);

    desk.now += 60_000;
    const full = await desk.open(id, { fill: 'full' });
    assert.equal(await full.position(order.instrument), '2');
    const filled = await full.find(order);
    assert.equal(filled?.status, 'filled');
    assert.notEqual(filled.fillPrice, part.fillPrice);
    assert.equal((await full.positions())[0]?.averagePrice, filled.fillPrice);
    desk.now = OPEN_HOURS;
  });

  it('fills nothing yet where one step cannot be parted', async () => {
    const broker = await desk.open(newAccount(), { fill: 'partial' });
    assert.equal(accepted(await place(broker, 'buy', 1, 'ES1!')).status, 'placed');
  });

  it('ends a reduce-only order that rested too long with what was still held', async () => {
    const id = newAccount();
    accepted(await place(await desk.open(id), 'buy', 2));
    const never = await desk.open(id, { fill: 'never' });
    const close = await orderOf(never, 'sell', 2, 'BTCUSDT', { reduceOnly: true });
    accepted(await never.place(close));
    // Placing is no look: the close rests on while another order takes half of the position.
    const broker = await desk.open(id);
    accepted(await place(broker, 'sell', '1.5'));
    const ended = await broker.find(close);
    assert.deepEqual([ended?.status, ended?.fillQuantity], ['cancelled', '0.5']);
    assert.deepEqual(await broker.positions(), []);
  });

  it('answers a known id with its order even where it would reject desk.now', async () => {
    const id = newAccount();
    const broker = await desk.open(id);
    const order = await orderOf(broker, 'buy', 1);
    const first = accepted(await broker.place(order));
    const closed = await desk.open(id, { reject: 'market_closed' });
    assert.deepEqual(accepted(await closed.place(order)), first);
  });

  it('does not say no from an old memory', async () => {
    const id = newAccount();
    const [one, two] = [await desk.open(id), await desk.open(id)];
    accepted(await place(one, 'buy', 1));
    accepted(await place(two, 'sell', 1));
    accepted(await place(two, 'buy', 3, 'ETHUSDT'));
    accepted(await place(one, 'sell', 3, 'ETHUSDT', { reduceOnly: true }));
    assert.equal(rejected(await place(one, 'sell', 1, 'BTCUSDT', { reduceOnly: true })).code, 'no_position');
  });

  it('is unknown where the ledger fails while writing, unavailable where it failed before', async () => {
    const fails = () => Promise.reject(new Error('/secret/path'));
    const outcome = await place(
      await desk.open(newAccount(), {}, { ...desk.deps.ledger, write: fails }),
      'buy',
      1,
    );
    assert.equal(outcome.outcome, 'unknown');
    assert.ok(!JSON.stringify(outcome).includes('secret'));
    const broker = await desk.open(newAccount(), {}, { ...desk.deps.ledger, read: fails });
    await assert.rejects(place(broker, 'buy', 1), BrokerUnavailable);
  });

  it('places with one write and no read once the book is known', async () => {
    const calls: string[] = [];
    const note =
      <Args extends unknown[], Answer>(name: string, call: (...args: Args) => Answer) =>
      (...args: Args): Answer => {
        calls.push(name);
        return call(...args);
      };
    const { read, find, findStop, write } = desk.deps.ledger;
    const counted = {
      read: note('read', read),
      find: note('find', find),
      findStop: note('find', findStop),
      write: note('write', write),
    };
    const broker = await desk.open(newAccount(), {}, counted);
    for (let times = 0; times < 3; times++) accepted(await place(broker, 'buy', '0.1'));
    assert.deepEqual(calls, ['read', 'write', 'write', 'write']);
  });

  it('keeps one book whole under four connections on two databases at once', async () => {
    const id = newAccount();
    const otherDb = desk.openDb();
    const { ledger } = desk.deps;
    const ledgers = [ledger, ledger, openPaperLedger(otherDb), openPaperLedger(otherDb)];
    const brokers = await Promise.all(ledgers.map((over) => desk.open(id, {}, over)));
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        place(brokers[index % 4] ?? assert.fail(), index % 3 === 0 ? 'sell' : 'buy', '0.01').then(accepted),
      ),
    );
    for (const broker of brokers) assert.equal((await broker.positions())[0]?.quantity, '0.2');
    assert.equal((await desk.rows(id)).length, 60);
    assert.equal((await desk.deps.ledger.read(id)).version, 60);
    await otherDb.close();
  });

  it('has its book again after a restart of the database', async () => {
    const id = newAccount();
    const broker = await desk.open(id, { fill: 'partial' });
    for (const symbol of ['BTCUSDT', 'SOLUSDT', 'NQ1!']) accepted(await place(broker, 'sell', 1, symbol));
    const [book, positions] = [await desk.deps.ledger.read(id), await broker.positions()];
    await broker.close();
    await desk.restart();
    assert.deepEqual(await desk.deps.ledger.read(id), book);
    assert.deepEqual(await (await desk.open(id, { fill: 'partial' })).positions(), positions);
  });
});

describe('a simulation in the market of another broker', () => {
  const gold: Instrument = {
    symbol: 'GOLD-2612',
    description: 'Gold',
    contractSize: decimal(100),
    quantityStep: decimal('0.5'),
    minQuantity: decimal('1.5'),
    tickSize: decimal('0.1'),
    open: false,
    nextOpen: timestamp(OPEN_HOURS + 1000),
  };
  const marketAt = (price: { bid: string; ask: string } | Error): Market => ({
    resolve: async (symbol) => (symbol === 'GC1!' ? gold : { rejection: invalidSymbol(symbol) }),
    async quote() {
      if (price instanceof Error) throw price;
      return { bid: decimal(price.bid), ask: decimal(price.ask) };
    },
  });

  it('trades its instruments by their terms and at its prices, whether or not it is open', async () => {
    const id = newAccount();
    const broker = await desk.openSimulated(id, marketAt({ bid: '2700', ask: '2700.5' }));
    assert.deepEqual(await broker.resolve('GC1!'), { ...gold, open: true, nextOpen: null });
    for (const [quantity, problem] of [
      ['1', 'at least 1.5'],
      ['1.7', 'a multiple of 0.5'],
    ] as const)
      assert.match(rejected(await place(broker, 'buy', quantity, 'GC1!')).message, new RegExp(problem));
    const bought = accepted(await place(broker, 'buy', 2, 'GC1!'));
    assert.deepEqual([bought.fillPrice, bought.fee], ['2700.5', null]);

    const later = await desk.openSimulated(id, marketAt({ bid: '2710.5', ask: '2711' }));
    assert.deepEqual(await later.positions(), [
      {
        symbol: gold.symbol,
        quantity: '2',
        averagePrice: '2700.5',
        lastPrice: '2710.5',
        openProfit: '2000',
        tradable: true,
        reason: null,
      },
    ]);
    assert.equal((await later.balance()).equity, '102000');
    accepted(await place(later, 'sell', 2, 'GC1!', { reduceOnly: true }));
    assert.deepEqual(await later.positions(), []);
    assert.equal((await later.balance()).cash, '102000');
  });

  it('has what that broker has, and of our own list nothing else', async () => {
    const broker = await desk.openSimulated(newAccount(), marketAt({ bid: '1', ask: '1' }));
    const resolved = await broker.resolve('BTCUSDT');
    assert.ok('rejection' in resolved);
    assert.equal(resolved.rejection.code, 'invalid_symbol');
  });

  it('sends nothing where there is no price', async () => {
    const id = newAccount();
    const broker = await desk.openSimulated(id, marketAt(new BrokerUnavailable('gone')));
    await assert.rejects(place(broker, 'buy', 2, 'GC1!'), BrokerUnavailable);
    assert.deepEqual(await desk.rows(`sim:${id}`), []);
  });

  it('of the paper broker is the same as without it, whatever the account’s seed', async () => {
    const paper = await openPaper(desk.deps)(accountOf(newAccount(), { seed: 7 }), NO_HURRY);
    const [asked, unasked] = [
      await desk.openSimulated(newAccount(), paper),
      await desk.openSimulated(newAccount()),
    ];
    for (const symbol of ['BINANCE:BTCUSDT.P', 'TXF1!', 'AAPL']) {
      assert.deepEqual(await asked.resolve(symbol), await unasked.resolve(symbol));
      const [one, two] = [await place(asked, 'buy', 1, symbol), await place(unasked, 'buy', 1, symbol)];
      assert.deepEqual({ ...accepted(one), brokerRef: '' }, { ...accepted(two), brokerRef: '' });
    }
    assert.deepEqual(await asked.positions(), await unasked.positions());
  });
});
