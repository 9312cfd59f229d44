// The connector contract: what every broker behind the port must do, whatever it is. A harness stands for one fresh
// trading account at one broker (or at a stub of it), and can make that broker misbehave. After asking for a fault the
// suite opens a new connection, so a harness may put it into the account's settings as well as into a stub.
//
// A case that does not apply is skipped with the reason: read the skips, they are what the broker cannot promise.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  type Broker,
  BrokerBusy,
  type BrokerOrder,
  type BrokerOrderState,
  BrokerUnavailable,
  type Instrument,
  type OpenOrder,
  type OrderHint,
  type PlaceOutcome,
  type Position,
} from '../../src/broker/broker.ts';
import {
  add,
  compare,
  type Decimal,
  decimal,
  multiply,
  negate,
  parseDecimal,
  sign,
  ZERO,
} from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import type { OrderError, RejectionCode, Side } from '../../src/domain/orders/order.ts';
import { NEVER } from '../broker/paper-desk.ts';
import { PATIENT_MS, type PatientBroker, patient, queryOf } from '../broker/patient.ts';
import type { ProtectionHooks } from './protection-hooks.ts';

const BROKER_REJECTIONS = [
  'insufficient_margin',
  'market_closed',
  'invalid_symbol',
  'broker_rate_limited',
  'position_mode_mismatch',
] as const satisfies readonly RejectionCode[];
type BrokerRejection = (typeof BROKER_REJECTIONS)[number];

type Question = keyof ReturnType<typeof everyQuestion>;

export interface BrokerHarness {
  /** A connection to the one account of this harness; it may be opened again and twice at once. */
  open(): Promise<Broker>;
  readonly symbols: {
    /** As the charting platform writes it, in a market that is open; and the broker's own name for it. */
    readonly platform: string;
    readonly broker: string;
    /** Another one, of which the broker takes `quantity` too. */
    readonly another: string;
    readonly unknown: string;
  };
  /** Something that the account may hold and that is not traded here, as the broker names it. */
  readonly stray?: string;
  /** The broker takes this much, four times over, of `symbols.platform`. */
  readonly quantity: Decimal;
  /** A part of one that the broker takes, where its least step is worth too little. */
  readonly fraction?: Decimal;
  /** Why the broker rejects no order so. */
  readonly never?: Partial<Record<BrokerRejection, string>>;
  /** Nobody knows when a closed market opens. */
  readonly hasNoHours?: boolean;
  /** What was taken fails by no word of its own. */
  readonly hasNoFailures?: boolean;
  /** It takes no order beside one of the other side, and says that this is why. */
  readonly takesNoOpposed?: boolean;
  /** A refusal for the rate names no delay: it is a second. */
  readonly saysNoDelay?: boolean;
  /** What a fault of this account does not reach: it is answered from memory, or to anybody. */
  readonly outOfReach?: readonly Question[];
  /** What takes one word from a long answer: nonsense in the rest of it is no matter. */
  readonly readsOneWord?: readonly Question[];
  /** Each holds from the next connection on. A hook that is missing skips its cases. */
  readonly faults: {
    /** Orders are accepted and the answer does not arrive. */
    loseAnswer?(): Promise<void> | void;
    /** Every placing is rejected. */
    reject?(code: BrokerRejection): Promise<void> | void;
    /** Orders are accepted and not filled. */
    rest?(): Promise<void> | void;
    /** Nothing is answered any more, on connections that are open too. */
    hang?(): Promise<void> | void;
    /**
     * Every answer is nonsense from now on, on connections that are open too: a page, `{}`, fields that are missing or
     * wrong, one kind after the other, and as many as this says.
     */
    talkNonsense?(): Promise<number> | number;
    /** Decides the orders that rest. */
    settle?(how: 'filled' | 'partially_filled' | 'cancelled' | 'failed'): Promise<void> | void;
    /** Orders are filled in part at once, and the rest of them rests. */
    fillPartly?(): Promise<void> | void;
    /** Every call is refused for its rate, on connections that are open too, with this delay. */
    limitRate?(ms: number): Promise<void> | void;
    /** Every connection breaks before anything is taken, those that are open too. */
    disconnect?(): Promise<void> | void;
    /** `stray` is held from now on. */
    holdStray?(): Promise<void> | void;
    /** Where the broker tells by itself: whoever listens is cut off, now. */
    cutStream?(): Promise<void> | void;
    /** Whoever listens is told nonsense, now. */
    babble?(): Promise<void> | void;
    /** Ends whatever the broker was asked to do wrong. */
    heal?(): Promise<void> | void;
  };
  /** What can be done to stops there, and to prices (protection-hooks.ts). Without it every case of that suite is skipped. */
  readonly protection?: ProtectionHooks;
  /** What the broker itself has accepted, seen from behind the connector. */
  ledger(): Promise<readonly { readonly clientOrderId: string | null }[]>;
  end(): Promise<void>;
}

/** One account with its connection: what a case works with. */
export interface Desk {
  readonly harness: BrokerHarness;
  readonly broker: PatientBroker;
  /** The connection itself. */
  readonly connection: Broker;
  readonly instrument: Instrument;
  order(side: Side, times?: number, more?: Partial<BrokerOrder>): BrokerOrder;
  /** Places, follows the order to its end and returns how it ended. */
  trade(side: Side, times?: number, more?: Partial<BrokerOrder>): Promise<BrokerOrderState>;
  position(): Promise<Decimal>;
  reopen(): Promise<Desk>;
}

/** Numbers the cases of a suite; each has a fresh account and its connection. */
export function rulesFor(makeHarness: () => Promise<BrokerHarness>) {
  let cases = 0;
  return (sentence: string, body: (desk: Desk, t: TestContext) => Promise<void>) => {
    cases++;
    it(`${String(cases).padStart(2, '0')} ${sentence}`, async (t) => {
      const harness = await makeHarness();
      const connections: Broker[] = [];
      try {
        await body(await openDesk(harness, connections), t);
      } finally {
        for (const connection of connections) await connection.close();
        await harness.end();
      }
    });
  };
}

export function brokerContract(name: string, makeHarness: () => Promise<BrokerHarness>): void {
  const rule = rulesFor(makeHarness);
  describe(`the connector contract: ${name}`, () => {
    rule("the platform's symbol resolves to the broker's instrument", async ({ harness, instrument }) => {
      assert.equal(instrument.symbol, harness.symbols.broker);
      for (const size of [instrument.contractSize, instrument.quantityStep, instrument.tickSize])
        assert.equal(sign(size), 1);
      assert.equal(instrument.open, true);
      assert.equal(instrument.nextOpen, null);
    });

    rule("the broker's own name of an instrument, and of a position, resolves to it", async (desk) => {
      const { broker, instrument, trade } = desk;
      assert.deepEqual(await broker.resolve(instrument.symbol), instrument);
      await trade('buy');
      const [position] = await broker.positions();
      assert.deepEqual(await broker.resolve(position?.symbol ?? assert.fail()), instrument);
    });

    rule('an unknown symbol is rejected in words for a person', async ({ harness, broker }) => {
      const resolved = await broker.resolve(harness.symbols.unknown);
      assert.ok('rejection' in resolved);
      checkRejection(resolved.rejection, 'invalid_symbol');
    });

    rule('the list of instruments is searched and in order', async ({ broker, instrument }) => {
      const all = (await broker.instruments('')).map(({ symbol }) => symbol);
      assert.deepEqual(all, all.toSorted());
      const found = (await broker.instruments(instrument.symbol.toLowerCase())).map(({ symbol }) => symbol);
      assert.ok(found.includes(instrument.symbol));
      assert.ok(found.length < all.length || all.length === 1);
    });

    rule('the list of instruments comes in pages without a gap', async ({ broker }) => {
      const all = (await broker.instruments('')).map(({ symbol }) => symbol);
      const paged: string[] = [];
      for (;;) {
        const page = await broker.instruments('', paged.at(-1) ?? null, 3);
        assert.ok(page.length <= 3);
        if (page.length === 0) break;
        paged.push(...page.map(({ symbol }) => symbol));
        // Some brokers list thousands: a few pages tell.
        if (paged.length > 30) break;
      }
      assert.deepEqual(paged, all.slice(0, paged.length));
      assert.ok(paged.length === all.length || paged.length > 30);
    });

    rule('an account that can be traded is fit', async ({ broker }) => {
      assert.ok(Array.isArray((await broker.verify()).warnings));
    });

    rule('the balance is in one currency, and in numbers that a double carries', async ({ broker }) => {
      const { currency, equity, cash, available } = await broker.balance();
      assert.match(currency, /^[A-Z]{3,5}$/);
      for (const amount of [equity, cash, available]) assert.equal(parseDecimal(amount), amount);
    });

    rule('a quote has a bid that is not above its ask', async ({ broker, instrument }) => {
      const { bid, ask } = await broker.quote(instrument);
      assert.equal(sign(bid), 1);
      assert.ok(compare(bid, ask) <= 0, `${bid} ${ask}`);
    });

    rule('nothing is held at first', async ({ broker, position }) => {
      assert.equal(await position(), '0');
      assert.deepEqual(await broker.positions(), []);
    });

    rule(
      'a buy that is filled is a long position at its price',
      async ({ harness, broker, instrument, trade }) => {
        const bought = await trade('buy');
        assert.equal(bought.status, 'filled');
        assert.equal(bought.fillQuantity, harness.quantity);
        const [position, ...others] = await broker.positions();
        assert.deepEqual(others, []);
        const { symbol, quantity, averagePrice, lastPrice, openProfit } = position ?? assert.fail();
        assert.deepEqual(
          [symbol, quantity, averagePrice],
          [instrument.symbol, harness.quantity, bought.fillPrice],
        );
        for (const amount of [lastPrice, openProfit])
          if (amount !== null) assert.equal(parseDecimal(amount), amount);
        assert.deepEqual([position?.tradable, position?.reason], [true, null]);
      },
    );

    rule('what is held and not traded here is listed as such, and hides nothing', async (desk, t) => {
      const { harness, broker, instrument, trade } = desk;
      if (!harness.faults.holdStray) return t.skip('the account holds nothing but what is traded');
      await trade('buy');
      await harness.faults.holdStray();
      const positions = await broker.positions();
      const shown = positions.map(({ symbol, tradable }) => [symbol, tradable]).toSorted();
      const expected: [string, boolean][] = [
        [instrument.symbol, true],
        [harness.stray ?? '', false],
      ];
      assert.deepEqual(shown, expected.toSorted());
      const stray = positions.find(({ tradable }) => !tradable) ?? assert.fail();
      assert.notEqual(sign(stray.quantity), 0);
      assert.match(stray.reason ?? '', /^[A-Z].*\.$/);
      assert.equal(await desk.position(), harness.quantity);
    });

    rule('a sell from flat is a short position', async ({ harness, trade, position }) => {
      await trade('sell');
      assert.equal(await position(), negate(harness.quantity));
    });

    rule('orders of both sides net: buy 2, buy 1, sell 1 is long 2', async ({ harness, trade, position }) => {
      await trade('buy', 2);
      await trade('buy', 1);
      await trade('sell', 1);
      assert.equal(await position(), multiply(harness.quantity, decimal(2)));
    });

    rule('a position sold off is flat and no longer listed', async ({ broker, trade, position }) => {
      await trade('buy', 2);
      await trade('sell', 2);
      assert.equal(await position(), '0');
      assert.deepEqual(await broker.positions(), []);
    });

    rule('a reduce-only order of more than is held closes and never flips', async (desk, t) => {
      if (!desk.broker.capabilities.reduceOnly) return t.skip('the broker has no reduce-only orders');
      await desk.trade('buy', 2);
      const closed = await desk.trade('sell', 4, { reduceOnly: true });
      assert.equal(closed.fillQuantity, multiply(desk.harness.quantity, decimal(2)));
      assert.equal(await desk.position(), '0');
    });

    rule('a reduce-only order with nothing to reduce is rejected', async (desk, t) => {
      if (!desk.broker.capabilities.reduceOnly) return t.skip('the broker has no reduce-only orders');
      checkRejected(await desk.broker.place(desk.order('sell', 1, { reduceOnly: true })), 'no_position');
      await desk.trade('buy');
      checkRejected(await desk.broker.place(desk.order('buy', 1, { reduceOnly: true })), 'no_position');
      assert.equal(await desk.position(), desk.harness.quantity);
    });

    rule('a fraction of one is traded as it stands', async (desk, t) => {
      if (!desk.broker.capabilities.fractionalQuantities)
        return t.skip('the broker trades whole quantities only');
      const quantity = desk.harness.fraction ?? desk.instrument.quantityStep;
      const { fillQuantity } = await desk.trade('buy', 1, { quantity });
      assert.equal(fillQuantity, quantity);
    });

    rule(
      'a quantity beside the step is rejected, not rounded',
      async ({ broker, order, instrument, position }) => {
        const quantity = add(instrument.minQuantity, multiply(instrument.quantityStep, decimal('0.5')));
        checkRejected(await broker.place(order('buy', 1, { quantity })), 'invalid_quantity');
        assert.equal(await position(), '0');
      },
    );

    rule('an order is found by its client id as placing answered it', async (desk, t) => {
      if (!findsById(desk)) return t.skip('the broker finds no order by its client id');
      const order = desk.order('buy');
      const placed = acceptedState(await desk.broker.place(order));
      const found = await desk.broker.find(order);
      if (placed.brokerRef !== null) assert.equal(found?.brokerRef, placed.brokerRef);
      // An open order may have moved on between the two.
      if (!isOpen(placed)) assert.deepEqual(found, placed);
    });

    rule('an id that was never placed is not found', async (desk, t) => {
      if (!findsById(desk)) return t.skip('the broker finds no order by its client id');
      await desk.trade('buy');
      assert.equal(await desk.broker.find(desk.order('buy')), null);
    });

    rule('under the symbol of another instrument that very order is found, or none', async (desk, t) => {
      if (!findsById(desk)) return t.skip('the broker finds no order by its client id');
      const other = await desk.broker.resolve(desk.harness.symbols.another);
      assert.ok(!('rejection' in other) && other.symbol !== desk.instrument.symbol);
      const [here, there] = [desk.order('buy'), desk.order('buy', 1, { instrument: other })];
      for (const order of [here, there]) acceptedState(await desk.broker.place(order));
      const refs = [await desk.broker.find(here), await desk.broker.find(there)].map(
        (state) => state?.brokerRef ?? assert.fail('not found under its own symbol'),
      );
      assert.notEqual(refs[0], refs[1]);
      const elsewhere = await desk.broker.find(here, { symbol: other.symbol });
      if (elsewhere) assert.equal(elsewhere.brokerRef, refs[0]);
    });

    rule('the same client id twice trades once and answers with the first order', async (desk, t) => {
      if (!desk.broker.capabilities.refusesDuplicateIds) return t.skip('the broker takes an id twice');
      const order = desk.order('buy');
      const first = acceptedState(await desk.broker.place(order));
      const second = acceptedState(
        await desk.broker.place({ ...order, quantity: desk.order('buy', 2).quantity }),
      );
      assert.equal(second.brokerRef, first.brokerRef);
      assert.equal(await desk.position(), desk.harness.quantity);
      assert.equal((await desk.harness.ledger()).length, 1);
    });

    rule('the same client id by two connections at once trades once', async (desk, t) => {
      if (!desk.broker.capabilities.refusesDuplicateIds) return t.skip('the broker takes an id twice');
      const other = await desk.reopen();
      const order = desk.order('buy');
      const both = await Promise.all([desk.broker.place(order), other.broker.place(order)]);
      assert.equal(acceptedState(both[0]).brokerRef, acceptedState(both[1]).brokerRef);
      assert.equal(await desk.position(), desk.harness.quantity);
      assert.equal((await desk.harness.ledger()).length, 1);
    });

    rule(
      'a lost answer is unknown, and the order is found and there once',
      async ({ harness, reopen }, t) => {
        if (!harness.faults.loseAnswer) return t.skip('the harness cannot lose an answer');
        await harness.faults.loseAnswer();
        const { broker, order } = await reopen();
        const sent = order('buy');
        const outcome = await broker.place(sent);
        assert.equal(outcome.outcome, 'unknown');
        assert.equal((await harness.ledger()).length, 1);
        if (!findsById({ broker })) return t.skip('what is unknown here stays so: nothing to find it by');
        assert.equal((await followed(broker, sent)).status, 'filled');
      },
    );

    for (const code of BROKER_REJECTIONS)
      rule(`a rejection is told as ${code}, and nothing is in the ledger`, async ({ harness, reopen }, t) => {
        if (!harness.faults.reject) return t.skip('the harness cannot make the broker reject');
        const never = harness.never?.[code];
        if (never !== undefined) return t.skip(never);
        await harness.faults.reject(code);
        const { broker, order, position } = await reopen();
        checkRejected(await placedOrBusy(broker, order('buy')), code, harness);
        assert.deepEqual(await harness.ledger(), []);
        assert.equal(await position(), '0');
      });

    rule('an order that rests is placed and moves no position', async ({ harness, reopen }, t) => {
      if (!harness.faults.rest) return t.skip('the harness cannot let an order rest');
      await harness.faults.rest();
      const { broker, order, position } = await reopen();
      const sent = order('buy');
      const placed = acceptedState(await broker.place(sent));
      assert.deepEqual([placed.status, placed.fillQuantity, placed.fillPrice], ['placed', '0', null]);
      assert.deepEqual(await broker.find(sent, { brokerRef: placed.brokerRef }), placed);
      assert.equal(await position(), '0');
    });

    rule('an order that rests is among the open ones, and one that is filled is not', async (desk, t) => {
      const { rest } = desk.harness.faults;
      if (!rest) return t.skip('the harness cannot let an order rest');
      await desk.trade('buy');
      assert.deepEqual(await desk.broker.openOrders(), []);
      await rest();
      const { broker, order, instrument } = await desk.reopen();
      const { takesNoOpposed = false } = desk.harness;
      const opposed = order('sell', 1, { reduceOnly: broker.capabilities.reduceOnly });
      const resting = [order('buy', 2), ...(takesNoOpposed ? [] : [opposed])];
      const placed: BrokerOrderState[] = [];
      for (const sent of resting) placed.push(acceptedState(await broker.place(sent)));
      if (takesNoOpposed) {
        const refused = await broker.place(opposed);
        assert.ok(refused.outcome === 'rejected' && refused.isOpposed, JSON.stringify(refused));
      }
      const open = await broker.openOrders();
      assert.deepEqual(
        open.toSorted((a, b) => (a.side < b.side ? -1 : 1)),
        resting.map(({ clientOrderId, side, quantity, reduceOnly }, index) => ({
          clientOrderId: findsById({ broker }) ? clientOrderId : null,
          // One that was acknowledged without a name has one here.
          brokerRef: placed[index]?.brokerRef ?? open.find((row) => row.side === side)?.brokerRef,
          symbol: instrument.symbol,
          side,
          quantity,
          fillQuantity: ZERO,
          reduceOnly,
        })),
      );
    });

    rule('an order that rests is cancelled, and only that one', async ({ harness, reopen }, t) => {
      if (!harness.faults.rest) return t.skip('the harness cannot let an order rest');
      await harness.faults.rest();
      const { broker, order, position } = await reopen();
      const [unwanted, kept] = [order('buy'), order('buy')];
      const { brokerRef } = acceptedState(await broker.place(unwanted));
      const other = acceptedState(await broker.place(kept));
      await broker.cancel(await openOrder(broker, brokerRef));
      const ended = await broker.find(unwanted, { brokerRef });
      assert.equal(ended?.status, 'cancelled');
      checkFill(ended, unwanted.quantity);
      assert.deepEqual(
        (await broker.openOrders()).map((open) => open.brokerRef),
        [other.brokerRef],
      );
      assert.equal(await position(), '0');
    });

    rule('to cancel what has ended is no error and changes nothing', async ({ harness, reopen }, t) => {
      const { rest, settle } = harness.faults;
      if (!rest || !settle) return t.skip('the harness cannot decide an order that rests');
      await rest();
      const before = await reopen();
      const sent = before.order('buy');
      const { brokerRef } = acceptedState(await before.broker.place(sent));
      const open = await openOrder(before.broker, brokerRef);
      await settle('filled');
      const { broker, position } = await reopen();
      await followed(broker, sent, brokerRef);
      await broker.cancel(open);
      await broker.cancel(open);
      assert.equal((await broker.find(sent, { brokerRef }))?.status, 'filled');
      assert.equal(await position(), harness.quantity);
    });

    for (const how of ['filled', 'partially_filled', 'cancelled', 'failed'] as const)
      rule(`an order that rested and is ${how} is found so, and the position agrees`, async (desk, t) => {
        const { rest, settle } = desk.harness.faults;
        if (!rest || !settle) return t.skip('the harness cannot decide an order that rests');
        if (how === 'failed' && desk.harness.hasNoFailures)
          return t.skip('the broker has no word for it: what it took ends by being cancelled');
        await rest();
        const before = await desk.reopen();
        const sent = before.order('sell', 4);
        const { brokerRef } = acceptedState(await before.broker.place(sent));
        await settle(how);
        const { broker, position } = await desk.reopen();
        const found = await becomes(broker, { order: sent, brokerRef }, ({ status }) => status === how);
        assert.equal(await position(), negate(found.fillQuantity));
        checkFill(found, sent.quantity);
      });

    rule('an order that is filled in part at once is found so, and the position agrees', async (desk, t) => {
      const { fillPartly } = desk.harness.faults;
      if (!fillPartly) return t.skip('the harness cannot fill an order in part');
      await fillPartly();
      const { broker, order, position } = await desk.reopen();
      const sent = order('buy', 4);
      const { brokerRef } = acceptedState(await broker.place(sent));
      const found = await becomes(
        broker,
        { order: sent, brokerRef },
        ({ status }) => status === 'partially_filled',
      );
      checkFill(found, sent.quantity);
      assert.equal(await position(), found.fillQuantity);
    });

    rule(
      'what happens to an order later is told at once, by its names, where the broker tells',
      async (desk, t) => {
        const { rest, settle } = desk.harness.faults;
        if (!desk.connection.watch) return t.skip('the broker tells nothing by itself');
        if (!rest || !settle) return t.skip('the harness cannot decide an order that rests');
        await rest();
        const { broker, connection, order } = await desk.reopen();
        const ear = listening(connection);
        await ear.begun;
        const sent = order('buy');
        const { brokerRef } = acceptedState(await broker.place(sent));
        const isMeant = (hint: OrderHint) =>
          hint.clientOrderId === sent.clientOrderId || (brokerRef !== null && hint.brokerRef === brokerRef);
        await ear.heard(isMeant);
        const before = ear.hints.length;
        await settle('filled');
        await ear.heard((hint) => isMeant(hint), before);
        assert.equal((await broker.find(sent, { brokerRef }))?.status, 'filled');
        ear.leave();
        await ear.ended;
      },
    );

    rule(
      'a stream that is cut ends as such, another tells again, and orders are found as ever',
      async (desk, t) => {
        const { rest, settle, cutStream } = desk.harness.faults;
        if (!desk.connection.watch) return t.skip('the broker tells nothing by itself');
        if (!rest || !settle || !cutStream) return t.skip('the harness cannot cut it');
        await rest();
        const { broker, connection, order } = await desk.reopen();
        const sent = order('buy');
        const { brokerRef } = acceptedState(await broker.place(sent));
        const ear = listening(connection);
        await ear.begun;
        await cutStream();
        await assert.rejects(ear.ended, BrokerUnavailable);
        assert.equal((await broker.find(sent, { brokerRef }))?.status, 'placed');
        const next = listening(connection);
        await next.begun;
        await settle('filled');
        await next.heard((hint) => hint.clientOrderId === sent.clientOrderId || hint.brokerRef === brokerRef);
        await broker.close();
        await assert.rejects(next.ended, BrokerUnavailable);
      },
    );

    rule('nonsense on a stream tells of no order, and what is told after it is heard', async (desk, t) => {
      const { rest, settle, babble } = desk.harness.faults;
      if (!desk.connection.watch) return t.skip('the broker tells nothing by itself');
      if (!rest || !settle || !babble) return t.skip('the harness cannot make it babble');
      await rest();
      const { broker, connection, order } = await desk.reopen();
      const sent = order('buy');
      const { brokerRef } = acceptedState(await broker.place(sent));
      const ear = listening(connection);
      await ear.begun;
      await babble();
      await settle('filled');
      const isMeant = (hint: OrderHint) =>
        hint.clientOrderId === sent.clientOrderId || (brokerRef !== null && hint.brokerRef === brokerRef);
      await ear.heard(isMeant);
      assert.ok(ear.hints.every((hint) => isMeant(hint) || (hint.clientOrderId ?? hint.brokerRef) === null));
      ear.leave();
      await ear.ended;
    });

    rule('a close and an entry reverse: long 2, sell 2, sell 1 is short 1', async (desk) => {
      const { harness, trade, position, broker } = desk;
      await trade('buy', 2);
      await trade('sell', 2, { reduceOnly: broker.capabilities.reduceOnly });
      await trade('sell', 1);
      assert.equal(await position(), negate(harness.quantity));
    });

    rule('a limit of the rate is told with its delay, and nothing is taken', async (desk, t) => {
      const { limitRate } = desk.harness.faults;
      if (!limitRate) return t.skip('the harness cannot limit the rate');
      await limitRate(7_000);
      for (const ask of withinReach(desk)) {
        const answer = await ask(AbortSignal.timeout(PATIENT_MS)).catch((fault: unknown) => fault);
        if (isPlaceOutcome(answer)) checkRejected(answer, 'broker_rate_limited');
        else {
          assert.ok(answer instanceof BrokerBusy, String(answer));
          const { retryAfterMs } = answer;
          // Some brokers count in whole seconds.
          if (desk.harness.saysNoDelay) assert.equal(retryAfterMs, 1_000);
          else assert.ok(retryAfterMs > 5_000 && retryAfterMs <= 8_000, `${retryAfterMs} ms`);
        }
      }
      assert.deepEqual(await desk.harness.ledger(), []);
    });

    rule('what breaks off is unavailable or unknown, and afterwards all is as before', async (desk, t) => {
      const { disconnect, heal } = desk.harness.faults;
      if (!disconnect || !heal) return t.skip('the harness cannot break connections');
      await desk.trade('buy');
      await disconnect();
      for (const ask of withinReach(desk)) {
        const answer = await ask(AbortSignal.timeout(PATIENT_MS)).catch((fault: unknown) => fault);
        if (isPlaceOutcome(answer)) assert.equal(answer.outcome, 'unknown');
        else assert.ok(answer instanceof BrokerUnavailable, String(answer));
      }
      await heal();
      assert.equal(await desk.position(), desk.harness.quantity);
      assert.equal((await desk.harness.ledger()).length, 1);
    });

    rule('a closed connection says so and sends nothing', async ({ harness, broker, order, instrument }) => {
      const sent = order('buy');
      await broker.close();
      await assert.rejects(broker.place(sent), BrokerUnavailable);
      await assert.rejects(broker.position(instrument), BrokerUnavailable);
      await assert.rejects(broker.find(sent), BrokerUnavailable);
      await assert.rejects(broker.openOrders(), BrokerUnavailable);
      await assert.rejects(broker.balance(), BrokerUnavailable);
      assert.deepEqual(await harness.ledger(), []);
    });

    rule('what is asked after its time is over is not asked, and nothing is sent', async (desk) => {
      const over = AbortSignal.abort();
      for (const ask of everyCall(desk)) await assert.rejects(ask(over), BrokerUnavailable);
      assert.deepEqual(await desk.harness.ledger(), []);
    });

    rule(
      'a broker that hangs is left when the time is over, and an order is then unknown',
      async (desk, t) => {
        const { hang } = desk.harness.faults;
        if (!hang) return t.skip('the harness cannot make the broker hang');
        await hang();
        for (const ask of withinReach(desk)) {
          const answer = await ask(AbortSignal.timeout(20)).catch((fault: unknown) => fault);
          if (isPlaceOutcome(answer)) assert.equal(answer.outcome, 'unknown');
          else assert.ok(answer instanceof BrokerUnavailable, String(answer));
        }
      },
    );

    rule(
      'an answer of the wrong shape is no answer: never flat, never accepted, never not found',
      async (desk, t) => {
        const { talkNonsense } = desk.harness.faults;
        if (!talkNonsense) return t.skip('the harness cannot make the broker talk nonsense');
        await desk.trade('buy');
        const kinds = await talkNonsense();
        for (const ask of withinReach(desk, desk.harness.readsOneWord))
          for (let kind = 0; kind < kinds; kind++) {
            const answer = await ask(AbortSignal.timeout(PATIENT_MS)).catch((fault: unknown) => fault);
            if (isPlaceOutcome(answer)) assert.equal(answer.outcome, 'unknown');
            else assert.ok(answer instanceof BrokerUnavailable, JSON.stringify(answer));
          }
      },
    );

    rule('positions and orders are there again after closing and reopening', async (desk) => {
      const order = desk.order('buy', 2);
      const placed = acceptedState(await desk.broker.place(order));
      if (isOpen(placed)) await followed(desk.broker, order, placed.brokerRef);
      await desk.trade('sell', 1);
      const positions = await desk.broker.positions();
      await desk.broker.close();
      const { broker } = await desk.reopen();
      const held = ({ symbol, quantity, averagePrice }: Position) => ({ symbol, quantity, averagePrice });
      assert.deepEqual((await broker.positions()).map(held), positions.map(held));
      if (findsById({ broker }) && placed.brokerRef !== null)
        assert.equal((await broker.find(order))?.brokerRef, placed.brokerRef);
    });
  });
}

async function openDesk(harness: BrokerHarness, connections: Broker[]): Promise<Desk> {
  const connection = await harness.open();
  connections.push(connection);
  const broker = patient(connection);
  const instrument = await broker.resolve(harness.symbols.platform);
  assert.ok(!('rejection' in instrument), 'the harness names a symbol that the broker has');
  const order: Desk['order'] = (side, times = 1, more = {}) => ({
    clientOrderId: newId(),
    instrument,
    side,
    quantity: multiply(harness.quantity, decimal(times)),
    reduceOnly: false,
    sendBefore: NEVER,
    ...more,
  });
  return {
    harness,
    broker,
    connection,
    instrument,
    order,
    async trade(side, times, more) {
      const sent = order(side, times, more);
      const state = acceptedState(await broker.place(sent));
      const ended = isOpen(state) ? await followed(broker, sent, state.brokerRef) : state;
      checkFill(ended, sent.quantity);
      return ended;
    },
    position: () => broker.position(instrument),
    reopen: () => openDesk(harness, connections),
  };
}

/** Whoever waits here for longer than a test may last waits for what does not come. */
function listening(connection: Broker) {
  const leaving = new AbortController();
  const begun = Promise.withResolvers<void>();
  const hints: OrderHint[] = [];
  let news = Promise.withResolvers<void>();
  assert.ok(connection.watch);
  const ended = connection.watch((hint) => {
    if (hint) hints.push(hint);
    else begun.resolve();
    news.resolve();
    news = Promise.withResolvers();
  }, leaving.signal);
  ended.catch(begun.reject);
  begun.promise.catch(() => {});
  return {
    hints,
    begun: begun.promise,
    ended,
    leave: () => leaving.abort(),
    async heard(isIt: (hint: OrderHint) => boolean, after = 0): Promise<void> {
      while (!hints.slice(after).some(isIt)) await Promise.race([news.promise, ended]);
    },
  };
}

let ids = 0;
export const newId = (): ClientOrderId => `contract${String(++ids).padStart(12, '0')}` as ClientOrderId;

const isOpen = ({ status }: BrokerOrderState): boolean =>
  status === 'placed' || status === 'partially_filled';

/** Some brokers answer a placing with an id only: the fill comes by looking. */
async function followed(
  broker: PatientBroker,
  order: BrokerOrder,
  brokerRef: string | null = null,
): Promise<BrokerOrderState> {
  return becomes(broker, { order, brokerRef }, (state) => !isOpen(state));
}

/** Some brokers decide a moment later. */
export async function becomes(
  broker: PatientBroker,
  { order, brokerRef }: { readonly order: BrokerOrder; readonly brokerRef: string | null },
  isSo: (state: BrokerOrderState) => boolean,
): Promise<BrokerOrderState> {
  const begun = Date.now();
  for (;;) {
    const state = await broker.find(order, { brokerRef });
    assert.ok(state, `the broker has no order ${order.clientOrderId}`);
    if (isSo(state)) return state;
    if (Date.now() - begun > 60_000) assert.fail(`the order ${order.clientOrderId} stays ${state.status}`);
  }
}

const findsById = ({ broker }: Pick<Desk, 'broker'>): boolean => broker.capabilities.findsByClientIdMs > 0;

const openOrder = async (broker: PatientBroker, ref: string | null): Promise<OpenOrder> =>
  (await broker.openOrders()).find(({ brokerRef }) => brokerRef === ref) ??
  assert.fail('the order is not open');

/** A refusal for the rate may also be thrown: to the worker it is the same. */
async function placedOrBusy(broker: PatientBroker, order: BrokerOrder): Promise<PlaceOutcome> {
  try {
    return await broker.place(order);
  } catch (fault) {
    if (!(fault instanceof BrokerBusy)) throw fault;
    const error = { code: 'broker_rate_limited', message: fault.message } as const;
    return { outcome: 'rejected', error: { ...error, retry_after: fault.retryAfterMs / 1000 } };
  }
}

/** What the port can be asked. */
function everyQuestion({ connection, instrument, order }: Pick<Desk, 'connection' | 'instrument' | 'order'>) {
  const sent = order('buy');
  const { clientOrderId } = sent;
  const { symbol } = instrument;
  return {
    verify: (signal: AbortSignal) => connection.verify(signal),
    resolve: (signal: AbortSignal) => connection.resolve(symbol, signal),
    position: (signal: AbortSignal) => connection.position(instrument, signal),
    positions: (signal: AbortSignal) => connection.positions(signal),
    instruments: (signal: AbortSignal) =>
      connection.instruments({ query: '', after: null, limit: 1 }, signal),
    balance: (signal: AbortSignal) => connection.balance(signal),
    quote: (signal: AbortSignal) => connection.quote(instrument, signal),
    place: (signal: AbortSignal) => connection.place(sent, signal),
    find: (signal: AbortSignal) => connection.find(queryOf(sent), signal),
    openOrders: (signal: AbortSignal) => connection.openOrders(signal),
    cancel: (signal: AbortSignal) => connection.cancel({ clientOrderId, brokerRef: 'none', symbol }, signal),
  } as const;
}

type Ask = (signal: AbortSignal) => Promise<unknown>;
const everyCall = (desk: Desk): readonly Ask[] => Object.values(everyQuestion(desk));

const withinReach = (desk: Desk, besides: readonly Question[] = []): readonly Ask[] =>
  Object.entries(everyQuestion(desk))
    .filter(([name]) => ![...(desk.harness.outOfReach ?? []), ...besides].includes(name as Question))
    .map(([, ask]) => ask);

const isPlaceOutcome = (answer: unknown): answer is PlaceOutcome =>
  typeof answer === 'object' && answer !== null && 'outcome' in answer;

export function acceptedState(outcome: PlaceOutcome): BrokerOrderState {
  assert.equal(outcome.outcome, 'accepted', JSON.stringify(outcome));
  return (outcome as Extract<PlaceOutcome, { outcome: 'accepted' }>).state;
}

function checkRejected(
  outcome: PlaceOutcome,
  code: RejectionCode,
  harness: Pick<BrokerHarness, 'hasNoHours'> = {},
): void {
  assert.equal(outcome.outcome, 'rejected', JSON.stringify(outcome));
  checkRejection((outcome as Extract<PlaceOutcome, { outcome: 'rejected' }>).error, code, harness);
}

/** The code, words for a person, and what the spec wants told besides. */
function checkRejection(
  error: OrderError,
  code: RejectionCode,
  { hasNoHours = false }: Pick<BrokerHarness, 'hasNoHours'> = {},
): void {
  assert.equal(error.code, code);
  assert.ok(error.message.length > 10);
  if (code === 'invalid_symbol') assert.match(error.message, /not found in the broker contracts/);
  if (code === 'position_mode_mismatch') assert.match(error.message, /one-way mode/);
  if (code === 'broker_rate_limited') assert.ok((error.retry_after ?? 0) > 0);
  if (code === 'market_closed' && !hasNoHours)
    assert.ok(Number.isFinite(Date.parse(error.market_hours?.next_open ?? '')));
}

/** Numbers that a double carries, a price exactly where something was filled, a reason where it ended badly. */
function checkFill(state: BrokerOrderState, quantity: Decimal): void {
  const { status, fillQuantity, fillPrice, fee, reason } = state;
  assert.equal(parseDecimal(fillQuantity), fillQuantity);
  for (const amount of [fillPrice, fee]) if (amount !== null) assert.equal(parseDecimal(amount), amount);
  assert.equal(fillPrice !== null, fillQuantity !== ZERO);
  const filled = sign(fillQuantity);
  if (status === 'filled' || status === 'partially_filled') assert.equal(filled, 1);
  if (status === 'partially_filled') assert.notEqual(fillQuantity, quantity);
  if (status === 'cancelled' || status === 'failed') assert.ok(reason);
}
