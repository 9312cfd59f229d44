import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openExchange } from '../../chaos/exchange.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { GARBAGE_KINDS } from '../../chaos/exchange-faults.ts';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { openRemotePaper } from '../../src/broker/paper/remote.ts';
import { openBrokers } from '../../src/broker/registry.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import { type BrokerHarness, brokerContract } from '../contracts/broker.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { startProgram } from '../orders/kill-harness.ts';
import { type ExchangeDesk, exchangeDesk, type Ledger, until } from './exchange-desk.ts';
import { accepted, accountOf, NO_HURRY, newAccount, orderOf, place, rejected } from './paper-desk.ts';
import { patient } from './patient.ts';

let desk: ExchangeDesk;
before(async () => {
  desk = await exchangeDesk();
});
after(() => desk.end());

/** `terms`: what is so of the account's exchange. */
async function harness(terms: object = {}): Promise<BrokerHarness> {
  const id = newAccount();
  await desk.control('POST', `accounts/${id}`, terms);
  let paper: Partial<PaperSettings> = {};
  const set = (change: Partial<PaperSettings>) => () => {
    paper = { ...paper, ...change };
  };
  const fills = { filled: 'full', partially_filled: 'partial', cancelled: 'cancel', failed: 'fail' } as const;
  return {
    open: () => desk.connect(id, paper),
    symbols: {
      platform: 'BINANCE:BTCUSDT.P',
      broker: 'BTCUSDT',
      another: 'ETHUSDT',
      unknown: 'NASDAQ:NOSUCH',
    },
    quantity: decimal(1),
    faults: {
      loseAnswer: set({ lose_answer: true }),
      reject: (code) => set({ reject: code })(),
      rest: set({ fill: 'never' }),
      async talkNonsense() {
        await desk.breaks(id, 'garbage', { taken: true });
        return GARBAGE_KINDS;
      },
      hang: async () => {
        await desk.breaks(id, 'hang');
      },
      settle: (how) => set({ fill: fills[how] })(),
      fillPartly: set({ fill: 'partial' }),
      limitRate: async (ms) => {
        await desk.breaks(id, 'refuse', { retry_after_ms: ms });
      },
      disconnect: async () => {
        await desk.breaks(id, 'reset');
      },
      heal: async () => {
        await desk.heal();
      },
    },
    protection: {
      setPrice: async (price) => void (await desk.control('POST', 'prices', { BTCUSDT: Number(price) })),
      refuseStops: set({ protection: 'refuse' }),
      loseStopAnswers: set({ protection: 'lose_answer' }),
      vanishStops: set({ protection: 'vanish' }),
      removeStopsByHand: async () => void (await desk.control('DELETE', `stops/${id}`)),
      foreignStop: async (stop) =>
        void (await desk.control('POST', `stops/${id}`, { ...stop, symbol: 'BTCUSDT' })),
      placedStops: async () => {
        const { stops } = await desk.control<ExchangeLedger>('GET', 'ledger');
        return stops
          .filter(({ account, what }) => account === id && what === 'placed')
          .map(({ price, trigger_by }) => ({ price, triggerBy: trigger_by }));
      },
    },
    ledger: async () =>
      (await desk.ledgerOf(id)).orders.map((row) => ({ clientOrderId: row.client_order_id })),
    end: async () => void (await desk.control('POST', 'prices', { BTCUSDT: null })),
  };
}

for (const suite of [brokerContract, protectionContract])
  suite('paper, at an exchange in a process of its own', () => harness());
// What other brokers' stops are like, and whether the contract can tell.
for (const [kind, terms] of [
  ['of a quantity, a new one before the old one goes', { stop: 'sized', moves: 'replace' }],
  ['of a quantity, and what is protected is kept', { stop: 'sized', reserves: true, reduce_only: false }],
  ['one of the position, and the next takes its place', { moves: 'set', second_stop: 'instead' }],
  [
    'that stay when it is flat, and ids that are taken twice',
    { ends_with_position: false, refuses_duplicates: false },
  ],
  ['filled later', { fills_after_ms: { least: 5, most: 50 }, refuses_duplicates: 'while_open' }],
  ['none at all', { stop: 'none' }],
] as const)
  protectionContract(`paper, with stops ${kind}`, () => harness(terms));

describe('the connector', () => {
  it('is the paper broker where the operator names an exchange', async () => {
    const id = newAccount();
    const unused = () => assert.fail('our own ledger is not asked');
    const { paper } = openBrokers({
      ledger: { read: unused, find: unused, findStop: unused, write: unused },
      clock: { now: Date.now },
      wait: unused,
      urls: { paper: desk.url },
    });
    const broker = await paper(accountOf(id, { latency_ms: 1 }), NO_HURRY);
    accepted(await place(patient(broker), 'buy', 1));
    assert.equal((await desk.ledgerOf(id)).orders.length, 1);
  });

  it('keeps the path of the URL, with a slash at its end or without', async () => {
    const id = newAccount();
    for (const path of ['', '/', '/w1', '/w2/'])
      accepted(await place(await desk.open(id, {}, path), 'buy', 1, 'MES1!'));
    const askers = (await desk.ledgerOf(id)).requests.map(({ asker }) => asker);
    assert.deepEqual(askers, [null, null, 'w1', 'w2']);
  });

  it('opens nothing under settings that are none', async () => {
    await assert.rejects(desk.open(newAccount(), { fill: 'x' as 'full' }), (fault: Error) => {
      assert.ok(fault instanceof BrokerUnavailable);
      assert.match(fault.message, /^The paper settings: paper.fill must be one of/);
      return true;
    });
  });

  it('asks for any symbol, whatever it would do to a path', async () => {
    const broker = await desk.open(newAccount());
    for (const symbol of ['.', '..', '%2e%2e', '../orders', 'a/b', 'x?q=1#y', 'ünï', '\ud800'])
      assert.ok('rejection' in (await broker.resolve(symbol)), symbol);
    assert.ok('symbol' in (await broker.resolve('CME_MINI:ES1!')));
  });

  it('has certainly not sent what met a closed door', async () => {
    const own = await openExchange({ file: join(desk.dir, 'closed.db') });
    const open = openRemotePaper({ url: own.url });
    const account = accountOf(newAccount(), {});
    const broker = patient(await open(account, NO_HURRY));
    const order = await orderOf(broker, 'buy', 1);
    await own.close();
    // The first to ask may still be met by the end of the connection that was open.
    await assert.rejects(broker.find(order), BrokerUnavailable);
    await assert.rejects(broker.place(order), BrokerUnavailable);
    await assert.rejects(open(account, NO_HURRY), BrokerUnavailable);
  });
});

describe('the exchange', () => {
  it('takes no order that arrives after its deadline', async () => {
    const id = newAccount();
    const broker = await desk.open(id);
    const late = await orderOf(broker, 'buy', 1, 'BTCUSDT', { sendBefore: timestamp(Date.now() - 1) });
    assert.equal(rejected(await broker.place(late)).code, 'expired');
    assert.equal(await broker.find(late), null);
    assert.deepEqual(await desk.outcomes(id), ['late']);
  });

  it('lets a careless account take every order under one id, even of two at once', async () => {
    const id = newAccount();
    await desk.control('POST', `accounts/${id}`, { refuses_duplicates: false });
    const broker = await desk.open(id, { latency_ms: 5 });
    assert.equal(broker.capabilities.refusesDuplicateIds, false);
    const order = await orderOf(broker, 'buy', 1);
    const first = accepted(await broker.place(order));
    const more = await Promise.all([broker.place(order), broker.place({ ...order, side: 'sell' })]);
    const refs = [first, ...more.map(accepted)].map(({ brokerRef }) => brokerRef);
    assert.equal(new Set(refs).size, 3);
    assert.deepEqual(await broker.find(order), first);
    const { orders, positions } = await desk.ledgerOf(id);
    const stored = ['', '#2', '#3'].map((copy) => order.clientOrderId + copy);
    assert.deepEqual(orders.map((row) => row.client_order_id).toSorted(), stored);
    assert.deepEqual(positions, [{ account: id, symbol: 'BTCUSDT', quantity: '1' }]);
    assert.deepEqual(await desk.outcomes(id), ['accepted', 'accepted', 'accepted']);
  });

  it('loses the answers of a careless account as of any other, and takes the order again', async () => {
    const id = newAccount();
    await desk.control('POST', `accounts/${id}`, { refuses_duplicates: false });
    const broker = await desk.open(id, { lose_answer: true });
    const order = await orderOf(broker, 'buy', 1);
    for (let times = 0; times < 2; times++) assert.equal((await broker.place(order)).outcome, 'unknown');
    assert.equal((await desk.ledgerOf(id)).orders.length, 2);
  });

  it('may acknowledge an order with its id, and fill it a moment later whether anybody looks or not', async () => {
    const id = newAccount();
    await desk.control('POST', `accounts/${id}`, { fills_after_ms: { least: 40, most: 60 } });
    const broker = await desk.open(id);
    const order = await orderOf(broker, 'buy', 1);
    const placed = accepted(await broker.place(order));
    assert.deepEqual([placed.status, placed.fillQuantity, placed.fillPrice], ['placed', '0', null]);
    const held = async () => (await desk.ledgerOf(id)).positions.map(({ quantity }) => quantity);
    assert.deepEqual(await held(), []);
    await until(async () => (await held()).length > 0);
    assert.deepEqual(await held(), ['1']);
    assert.equal((await broker.find(order))?.status, 'filled');
  });

  it('may forget the ids that clients gave, and says for how long it knows them, but never its own', async () => {
    const id = newAccount();
    await desk.control('POST', `accounts/${id}`, { forgets_ids_after_ms: { least: 0, most: 0 } });
    const broker = await desk.open(id);
    assert.equal(broker.capabilities.findsByClientIdMs, 0);
    const order = await orderOf(broker, 'buy', 1);
    const placed = accepted(await broker.place(order));
    await until(async () => (await broker.find(order)) === null);
    assert.deepEqual(await broker.find(order, { brokerRef: placed.brokerRef }), placed);
    assert.equal(await broker.find(order, { brokerRef: 'paper-none' }), null);
    const { not_found } = await desk.control<Ledger & { not_found: { forgotten: boolean }[] }>(
      'GET',
      'ledger',
    );
    assert.equal(not_found.at(-1)?.forgotten, true);
  });

  it('may have no reduce-only: a close beyond what is held opens the other side', async () => {
    const id = newAccount();
    await desk.control('POST', `accounts/${id}`, { reduce_only: false });
    const broker = await desk.open(id);
    assert.equal(broker.capabilities.reduceOnly, false);
    accepted(await place(broker, 'buy', 1));
    accepted(await place(broker, 'sell', 3, 'BTCUSDT', { reduceOnly: true }));
    assert.deepEqual((await desk.ledgerOf(id)).positions, [
      { account: id, symbol: 'BTCUSDT', quantity: '-2' },
    ]);
  });

  it('says whose calls it counts together', async () => {
    const [one, two, alone] = [newAccount(), newAccount(), newAccount()];
    for (const id of [one, two]) await desk.control('POST', `accounts/${id}`, { limits: 'shared' });
    const limits = async (id: typeof one) => (await desk.open(id)).limits;
    assert.equal(await limits(one), await limits(two));
    assert.notEqual(await limits(one), await limits(alone));
  });

  it('tells what happened, in its order', async () => {
    const id = newAccount();
    const broker = await desk.open(id, {}, '/teller');
    const bought = await orderOf(broker, 'buy', '0.5');
    accepted(await broker.place(bought));
    accepted(await broker.place(bought));
    rejected(await place(broker, 'buy', 1, 'BTCUSDT', { reduceOnly: true }));
    const sold = await orderOf(broker, 'sell', 2, 'BTCUSDT', { reduceOnly: true });
    accepted(await broker.place(sold));
    accepted(await place(broker, 'sell', 1, 'MES1!'));
    const { orders, positions, requests } = await desk.ledgerOf(id);
    const told = orders.map((row) => `${row.side} ${row.fill_quantity} of ${row.quantity} ${row.symbol}`);
    assert.deepEqual(told, ['buy 0.5 of 0.5 BTCUSDT', 'sell 0.5 of 0.5 BTCUSDT', 'sell 1 of 1 MES1!']);
    assert.deepEqual(positions, [{ account: id, symbol: 'MES1!', quantity: '-1' }]);
    assert.deepEqual(
      requests.map(({ outcome, code }) => code ?? outcome),
      ['accepted', 'duplicate', 'no_position', 'accepted', 'accepted'],
    );
    const { arrived_at, seq, ...request } = requests[3] ?? assert.fail();
    assert.ok(Math.abs(arrived_at - Date.now()) < 60_000 && seq > 0);
    assert.deepEqual(request, {
      account: id,
      client_order_id: sold.clientOrderId,
      asker: 'teller',
      symbol: 'BTCUSDT',
      side: 'sell',
      quantity: '2',
      reduce_only: true,
      limit_price: null,
      trigger_price: null,
      time_in_force: null,
      stop_price: null,
      send_before: sold.sendBefore,
      outcome: 'accepted',
      code: null,
    });
  });

  it('says by which of two who send at once each order came about', async () => {
    const id = newAccount();
    const [one, two] = [await desk.open(id, {}, '/one'), await desk.open(id, {}, '/two')];
    const orders = await Promise.all(Array.from({ length: 20 }, () => orderOf(one, 'buy', '0.01')));
    await Promise.all(orders.flatMap((order) => [one.place(order), two.place(order)]));
    const ledger = await desk.ledgerOf(id);
    assert.deepEqual(acceptedIds(ledger), orderIds(ledger));
    for (const requests of Map.groupBy(ledger.requests, (row) => row.client_order_id).values()) {
      assert.deepEqual(requests.map(({ asker }) => asker).toSorted(), ['one', 'two']);
      assert.deepEqual(requests.map(({ outcome }) => outcome).toSorted(), ['accepted', 'duplicate']);
    }
  });

  it('is a program, and has everything again when it was killed', async () => {
    const id = newAccount();
    const start = () =>
      startProgram(desk.dir, {}, ['chaos/exchange.ts', '--file', join(desk.dir, 'program.db')]);
    const first = start();
    const account = accountOf(id, { fill: 'never', latency_ms: 0 });
    const traits = { method: 'POST', body: JSON.stringify({ refuses_duplicates: false }) };
    await fetch(`${await first.ready}/control/accounts/${id}`, traits);
    const broker = patient(await openRemotePaper({ url: await first.ready })(account, NO_HURRY));
    const orders = await Promise.all(Array.from({ length: 30 }, () => orderOf(broker, 'buy', '0.01')));
    const placing = orders.map((order) => broker.place(order).catch(() => null));
    const told = await Promise.any(placing);
    await first.kill();
    await Promise.all(placing);
    assert.equal(told?.outcome, 'accepted');

    const second = start();
    const url = await second.ready;
    const ledger = (await (await fetch(`${url}/control/ledger`)).json()) as Ledger;
    assert.ok(ledger.orders.length > 0);
    assert.deepEqual(acceptedIds(ledger), orderIds(ledger));
    // Nobody has connected to it: it knows the account's settings by itself, and its traits.
    const [known] = orderIds(ledger);
    const found = (await (await fetch(`${url}/accounts/${id}/orders/${known}`)).json()) as object;
    assert.equal((found as { state: { status: string } }).state.status, 'placed');
    const { capabilities } = await openRemotePaper({ url })(account, NO_HURRY);
    assert.equal(capabilities.refusesDuplicateIds, false);
    await second.kill('SIGTERM');
  });
});

const orderIds = ({ orders }: Ledger) => orders.map((row) => row.client_order_id);
const acceptedIds = ({ requests }: Ledger) =>
  requests.filter(({ outcome }) => outcome === 'accepted').map((row) => row.client_order_id);
