// The second part of the connector contract: stops, and orders with a limit. The harness is that of the first part (broker.ts),
// with hooks of its own; what a broker cannot do, or a harness cannot make it do, is skipped with the reason.
//
// Prices are set by the harness where it can: a case begins at the price of then, and goes on from there in percent of it.

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { BrokerBusy, BrokerUnavailable, type StopState } from '../../src/broker/broker.ts';
import { compare, decimal, multiply, negate, sign, subtract, ZERO } from '../../src/domain/decimal.ts';
import { PATIENT_MS } from '../broker/patient.ts';
import { type BrokerHarness, rulesFor } from './broker.ts';
import { entryRules } from './broker-entries.ts';
import { limitRules } from './broker-limits.ts';
import {
  ends,
  everyCall,
  isOutcome,
  isOver,
  moved,
  notMoving,
  type Rule,
  reasonToSkip,
  refOf,
  refused,
  removeAll,
  reserving,
  taken,
  trading,
  until,
} from './protection-desk.ts';

export function protectionContract(name: string, makeHarness: () => Promise<BrokerHarness>): void {
  const numbered = rulesFor(makeHarness);
  const rule: Rule = (sentence, needs, body) =>
    numbered(sentence, async (desk, t) => {
      const reason = reasonToSkip(desk, needs);
      if (reason !== undefined) return t.skip(reason);
      await body(await trading(desk), t);
    });

  describe(`the connector contract, protection: ${name}`, () => {
    for (const [side, held] of [
      ['sell', 'long'],
      ['buy', 'short'],
    ] as const)
      rule(`a stop of a ${held} position is placed, and seen standing and found`, {}, async (desk) => {
        const { broker, harness } = desk;
        await desk.trade(side === 'sell' ? 'buy' : 'sell');
        const stop = desk.stop(side, side === 'sell' ? -5 : 5);
        const { clientOrderId } = taken(await broker.stops.place(stop));
        const [shown, ...others] = await desk.standing();
        assert.deepEqual(others, []);
        assert.ok(shown?.clientOrderId === null || shown?.clientOrderId === clientOrderId);
        assert.deepEqual([shown.side, shown.price], [side, stop.price]);
        assert.equal(shown.quantity, broker.capabilities.stop === 'position' ? null : harness.quantity);
        const found = await broker.stops.find(stop, { brokerRef: shown.brokerRef });
        assert.deepEqual([found?.status, found?.order], ['standing', null]);
        assert.equal(found?.brokerRef, shown.brokerRef);
      });

    rule('nothing stands, and nothing is found, before anything is placed', {}, async (desk) => {
      await desk.trade('buy');
      assert.deepEqual(await desk.standing(), []);
      const found = await desk.broker.stops.find(desk.stop('sell', -5));
      if (found) assert.equal(found.status, 'ended');
    });

    rule('what stands for another instrument is not among them', {}, async (desk) => {
      await desk.trade('buy');
      await desk.protect(desk.stop('sell', -5));
      const other = await desk.broker.resolve(desk.harness.symbols.another);
      assert.ok(!('rejection' in other));
      assert.deepEqual(await desk.broker.stops.standing(other), []);
    });

    rule('a stop is moved, as the broker moves them, and one stands in the end', {}, async (desk) => {
      await desk.trade('buy');
      const first = await desk.protect(desk.stop('sell', -5));
      const next = desk.stop('sell', -3);
      await moved(desk, first, next);
      const shown = await desk.standing();
      assert.deepEqual(
        shown.map(({ price, side }) => [price, side]),
        [[next.price, 'sell']],
      );
    });

    rule(
      'a move to the wrong side of the price leaves the stop where it was',
      { unless: notMoving },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        assert.equal(refused(await desk.broker.stops.move(stop, desk.stop('sell', 5))).why, 'passed');
        assert.deepEqual(
          (await desk.standing()).map(({ price }) => price),
          [stop.price],
        );
      },
    );

    rule(
      'to move one that stands no more is told as gone, and places none',
      { unless: notMoving },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        await desk.broker.stops.remove(stop, await refOf(desk, stop));
        assert.equal(refused(await desk.broker.stops.move(stop, desk.stop('sell', -3))).why, 'gone');
        assert.deepEqual(await desk.standing(), []);
      },
    );

    rule('a stop is removed, and to remove it again is no error', {}, async (desk) => {
      await desk.trade('buy');
      const stop = await desk.protect(desk.stop('sell', -5));
      const ref = await refOf(desk, stop);
      for (let times = 0; times < 2; times++) {
        await desk.broker.stops.remove(stop, ref);
        assert.deepEqual(await desk.standing(), []);
      }
      await isOver(desk, stop, ref);
      assert.equal(await desk.position(), desk.harness.quantity);
    });

    rule(
      'a lost answer is unknown, and the stop is then seen standing once',
      { hooks: ['loseStopAnswers'] },
      async (desk) => {
        await desk.trade('buy');
        await desk.harness.protection?.loseStopAnswers?.();
        const { broker } = await desk.reopen();
        const stop = desk.stop('sell', -5);
        assert.equal((await broker.stops.place(stop)).outcome, 'unknown');
        assert.deepEqual(
          (await desk.standing()).map(({ price }) => price),
          [stop.price],
        );
        assert.equal((await broker.stops.find(stop, await refOf(desk, stop)))?.status, 'standing');
      },
    );

    rule(
      'a lost answer to a move is unknown, and the stop is then seen where it was to be',
      { hooks: ['loseStopAnswers'], unless: notMoving },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        await desk.harness.protection?.loseStopAnswers?.();
        const { broker } = await desk.reopen();
        const next = desk.stop('sell', -3);
        assert.equal((await broker.stops.move(stop, next)).outcome, 'unknown');
        assert.deepEqual(
          (await desk.standing()).map(({ price }) => price),
          [next.price],
        );
      },
    );

    rule(
      'placed again after a lost answer, no two stand that cannot be told apart, and all can be taken away',
      { hooks: ['loseStopAnswers'] },
      async (desk) => {
        await desk.trade('buy');
        await desk.harness.protection?.loseStopAnswers?.();
        const { broker } = await desk.reopen();
        const [first, next] = [desk.stop('sell', -5), desk.stop('sell', -5)];
        for (const stop of [first, next]) await broker.stops.place(stop);
        const shown = await desk.standing();
        assert.ok(shown.length >= 1);
        const names = shown.map(
          ({ clientOrderId, brokerRef }) => brokerRef ?? clientOrderId ?? 'of the position',
        );
        assert.equal(new Set(names).size, names.length, names.join());
        await removeAll(desk, shown, next);
        assert.deepEqual(await desk.standing(), []);
      },
    );

    rule('placed twice under one id, no two stand that cannot be told apart', {}, async (desk) => {
      await desk.trade('buy');
      const stop = await desk.protect(desk.stop('sell', -5));
      // Taken, refused as known, or as one too many: never anything else.
      const again = await desk.broker.stops.place(stop);
      assert.notEqual(again.outcome, 'unknown');
      const shown = await desk.standing();
      const names = shown.map(
        ({ clientOrderId, brokerRef }) => brokerRef ?? clientOrderId ?? 'of the position',
      );
      assert.ok(names.length >= 1 && new Set(names).size === names.length, names.join());
      await removeAll(desk, shown, stop);
      assert.deepEqual(await desk.standing(), []);
    });

    for (const [side, percent] of [
      ['sell', -5],
      ['buy', 5],
    ] as const)
      rule(
        `a ${side} stop fires when the price is there, and not before, and its order is found with its fill`,
        { hooks: ['setPrice'] },
        async (desk) => {
          await desk.trade(side === 'sell' ? 'buy' : 'sell');
          const stop = await desk.protect(desk.stop(side, percent));
          const ref = await refOf(desk, stop);
          await desk.setPrice(percent * 0.9);
          assert.equal((await desk.broker.stops.find(stop, ref))?.status, 'standing');
          await desk.setPrice(percent * 1.1);
          const { status, order } = await ends(desk, stop, ref);
          assert.equal(status, 'triggered');
          assert.deepEqual([order?.status, order?.fillQuantity], ['filled', desk.harness.quantity]);
          assert.ok(
            order?.fillPrice && Math.abs(Number(order.fillPrice) / Number(desk.at(percent * 1.1)) - 1) < 0.01,
          );
          assert.equal(await desk.position(), ZERO);
          assert.deepEqual(await desk.standing(), []);
        },
      );

    rule(
      'after an add, a stop of the position closes all of it, and one of a quantity that much',
      { hooks: ['setPrice'] },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        const ref = await refOf(desk, stop);
        if (desk.harness.takesNoOpposed) {
          const refused = await desk.broker.place(desk.order('buy', 2));
          assert.ok(refused.outcome === 'rejected' && refused.isOpposed, JSON.stringify(refused));
          return;
        }
        await desk.trade('buy', 2);
        await desk.setPrice(-6);
        const { order } = await ends(desk, stop, ref);
        const times = desk.broker.capabilities.stop === 'position' ? 3 : 1;
        assert.equal(order?.fillQuantity, multiply(desk.harness.quantity, decimal(times)));
        assert.equal(await desk.position(), multiply(desk.harness.quantity, decimal(3 - times)));
      },
    );

    rule(
      'a stop whose order is filled in part is found so, and the position agrees',
      { hooks: ['setPrice'], faults: ['fillPartly'] },
      async (desk) => {
        await desk.trade('buy', 4);
        const stop = desk.stop('sell', -5, { quantity: multiply(desk.harness.quantity, decimal(4)) });
        const ref = await refOf(desk, await desk.protect(stop));
        await desk.harness.faults.fillPartly?.();
        const { broker, position } = await desk.reopen();
        await desk.setPrice(-6);
        const found = await until(
          () => broker.stops.find(stop, ref),
          (state) => state?.order !== null && sign(state?.order.fillQuantity ?? ZERO) > 0,
        );
        assert.equal(found?.status, 'triggered');
        assert.equal(compare(found.order?.fillQuantity ?? ZERO, stop.quantity), -1);
        assert.equal(await position(), subtract(stop.quantity, found.order?.fillQuantity ?? ZERO));
      },
    );

    rule(
      'a stop whose order dies says so, and the position is still held',
      { hooks: ['setPrice'], faults: ['settle'] },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        const ref = await refOf(desk, stop);
        await desk.harness.faults.settle?.('cancelled');
        const { broker, position } = await desk.reopen();
        await desk.setPrice(-6);
        const isDead = (state: StopState | null) =>
          state?.status === 'ended' ||
          state?.order?.status === 'cancelled' ||
          state?.order?.status === 'failed';
        const found = await until(() => broker.stops.find(stop, ref), isDead);
        if (found?.order) assert.equal(found.order.fillQuantity, ZERO);
        assert.ok(found?.order?.reason ?? found?.reason, 'it says why');
        assert.equal(await position(), desk.harness.quantity);
      },
    );

    rule(
      'a stop that was removed by hand is seen as not standing, and found as ended or not at all',
      { hooks: ['removeStopsByHand'] },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        const ref = await refOf(desk, stop);
        await desk.harness.protection?.removeStopsByHand?.();
        assert.deepEqual(await desk.standing(), []);
        await isOver(desk, stop, ref);
        await desk.broker.stops.remove(stop, ref);
      },
    );

    rule('a stop that vanishes is seen as not standing', { hooks: ['vanishStops'] }, async (desk) => {
      await desk.trade('buy');
      const stop = await desk.protect(desk.stop('sell', -5));
      const ref = await refOf(desk, stop);
      await desk.harness.protection?.vanishStops?.();
      const { broker, instrument } = await desk.reopen();
      assert.deepEqual(await broker.stops.standing(instrument), []);
      await isOver(desk, stop, ref);
    });

    rule(
      'once flat, what still stands is shown, and can be taken away',
      { unless: reserving },
      async (desk, t) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        await desk.trade('sell', 1, { reduceOnly: desk.broker.capabilities.reduceOnly });
        const left = await desk.standing();
        t.diagnostic(`when it is flat, ${left.length === 0 ? 'nothing stands' : 'the stop still stands'}`);
        await removeAll(desk, left, stop);
        await desk.broker.stops.remove(stop);
        assert.deepEqual(await desk.standing(), []);
      },
    );

    rule(
      'a stop never opens a position: when it is flat, the price goes through it and nothing happens',
      { hooks: ['setPrice'], unless: reserving },
      async (desk) => {
        await desk.trade('buy');
        await desk.protect(desk.stop('sell', -5));
        await desk.trade('sell', 1, { reduceOnly: desk.broker.capabilities.reduceOnly });
        const before = (await desk.harness.ledger()).length;
        await desk.setPrice(-6);
        assert.equal(await desk.position(), ZERO);
        await desk.standing();
        assert.equal(await desk.position(), ZERO);
        assert.equal((await desk.harness.ledger()).length, before);
      },
    );

    rule(
      'a stop never flips a position: of one that became smaller, or turned, it closes what there is',
      { hooks: ['setPrice'], unless: reserving },
      async (desk) => {
        await desk.trade('buy', 2);
        const stop = desk.stop('sell', -5, { quantity: multiply(desk.harness.quantity, decimal(2)) });
        const ref = await refOf(desk, await desk.protect(stop));
        await desk.trade('sell', 1, { reduceOnly: desk.broker.capabilities.reduceOnly });
        await desk.setPrice(-6);
        assert.equal((await ends(desk, stop, ref)).order?.fillQuantity, desk.harness.quantity);
        assert.equal(await desk.position(), ZERO);

        await desk.setPrice(0);
        await desk.trade('buy');
        await desk.protect(desk.stop('sell', -5));
        await desk.trade('sell', 2);
        await desk.setPrice(-6);
        await desk.standing();
        assert.equal(await desk.position(), negate(desk.harness.quantity));
      },
    );

    for (const triggerBy of ['last', 'mark'] as const)
      rule(
        `a stop that is to watch the ${triggerBy} price does`,
        { hooks: ['placedStops'] },
        async (desk, t) => {
          const { watchesOnePrice, placedStops } = desk.harness.protection ?? {};
          if (watchesOnePrice !== undefined) return t.skip(watchesOnePrice);
          await desk.trade('buy');
          const stop = await desk.protect(desk.stop('sell', -5, { triggerBy }));
          assert.deepEqual(await placedStops?.(), [{ price: stop.price, triggerBy }]);
        },
      );

    for (const [side, percent] of [
      ['sell', 5],
      ['buy', -5],
    ] as const)
      rule(`a ${side} stop on the wrong side of the price is told as passed`, {}, async (desk) => {
        await desk.trade(side === 'sell' ? 'buy' : 'sell');
        const { why, words } = refused(await desk.broker.stops.place(desk.stop(side, percent)));
        assert.equal(why, 'passed', words);
        assert.ok(words.length > 3);
        assert.deepEqual(await desk.standing(), []);
        assert.equal((await desk.harness.ledger()).length, 1);
      });

    rule('a stop where nothing is held is told as such', {}, async (desk, t) => {
      const { takesIdleStops } = desk.harness.protection ?? {};
      if (takesIdleStops !== undefined) return t.skip(takesIdleStops);
      assert.equal(refused(await desk.broker.stops.place(desk.stop('sell', -5))).why, 'no_position');
      await desk.trade('sell');
      assert.equal(refused(await desk.broker.stops.place(desk.stop('sell', -5))).why, 'no_position');
      assert.deepEqual(await desk.standing(), []);
    });

    rule("a refusal carries the broker's words", { hooks: ['refuseStops'] }, async (desk) => {
      await desk.trade('buy');
      const first = await desk.protect(desk.stop('sell', -5));
      await desk.harness.protection?.refuseStops?.();
      const { broker } = await desk.reopen();
      const outcomes = [await broker.stops.place(desk.stop('sell', -4))];
      if (!notMoving(desk)) outcomes.push(await broker.stops.move(first, desk.stop('sell', -4)));
      for (const outcome of outcomes) {
        const { why, words } = refused(outcome);
        assert.equal(why, 'refused', words);
        assert.ok(words.length > 3);
      }
      assert.deepEqual(
        (await desk.standing()).map(({ price }) => price),
        [first.price],
      );
    });

    rule(
      'a stop that is not ours is shown as such, and left alone',
      { hooks: ['foreignStop'] },
      async (desk, t) => {
        await desk.trade('buy', 2);
        await desk.harness.protection?.foreignStop?.({ side: 'sell', price: desk.at(-9) });
        const [theirs, ...others] = await desk.standing();
        assert.deepEqual([theirs?.price, others], [desk.at(-9), []]);
        if (desk.broker.capabilities.reserves) return t.skip('theirs keeps what ours would protect');
        const ours = desk.stop('sell', -5);
        assert.notEqual(theirs?.clientOrderId, ours.clientOrderId);
        taken(await desk.broker.stops.place(ours));
        const both = await desk.standing();
        const prices = both.map(({ price }) => price).toSorted();
        if (desk.broker.capabilities.moves === 'set') assert.deepEqual(prices, [ours.price]);
        else assert.deepEqual(prices, [theirs?.price, ours.price].toSorted());
        const shown = both.find(({ price }) => price === ours.price);
        await desk.broker.stops.remove(ours, { brokerRef: shown?.brokerRef ?? null });
        if (desk.broker.capabilities.moves !== 'set')
          assert.deepEqual(
            (await desk.standing()).map(({ price }) => price),
            [desk.at(-9)],
          );
      },
    );

    rule(
      'a limit of the rate is told with its delay, by every call',
      { faults: ['limitRate'] },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        await desk.harness.faults.limitRate?.(7_000);
        for (const ask of everyCall(desk, stop)) {
          const answer = await ask(AbortSignal.timeout(PATIENT_MS)).catch((fault: unknown) => fault);
          assert.ok(answer instanceof BrokerBusy, JSON.stringify(answer));
          assert.ok(answer.retryAfterMs > 0);
        }
      },
    );

    rule(
      'an answer of the wrong shape is no answer: never placed, never gone, never "nothing stands"',
      { faults: ['talkNonsense'] },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        const kinds = (await desk.harness.faults.talkNonsense?.()) ?? 0;
        for (const ask of everyCall(desk, stop))
          for (let kind = 0; kind < kinds; kind++) {
            const answer = await ask(AbortSignal.timeout(PATIENT_MS)).catch((fault: unknown) => fault);
            if (isOutcome(answer)) assert.equal(answer.outcome, 'unknown');
            else assert.ok(answer instanceof BrokerUnavailable, JSON.stringify(answer));
          }
      },
    );

    rule(
      'what breaks off is unavailable or unknown, and afterwards the stop stands as before',
      { faults: ['disconnect', 'heal'] },
      async (desk) => {
        await desk.trade('buy');
        const stop = await desk.protect(desk.stop('sell', -5));
        await desk.harness.faults.disconnect?.();
        for (const ask of everyCall(desk, stop)) {
          const answer = await ask(AbortSignal.timeout(PATIENT_MS)).catch((fault: unknown) => fault);
          if (isOutcome(answer)) assert.equal(answer.outcome, 'unknown');
          else assert.ok(answer instanceof BrokerUnavailable, JSON.stringify(answer));
        }
        await desk.harness.faults.heal?.();
        assert.deepEqual(
          (await desk.standing()).map(({ price }) => price),
          [stop.price],
        );
      },
    );

    rule('a broker that hangs is left when the time is over', { faults: ['hang'] }, async (desk) => {
      await desk.trade('buy');
      const stop = await desk.protect(desk.stop('sell', -5));
      await desk.harness.faults.hang?.();
      for (const ask of everyCall(desk, stop)) {
        const answer = await ask(AbortSignal.timeout(20)).catch((fault: unknown) => fault);
        if (isOutcome(answer)) assert.equal(answer.outcome, 'unknown');
        else assert.ok(answer instanceof BrokerUnavailable, JSON.stringify(answer));
      }
    });

    rule('a closed connection, and a time that is over, send nothing', {}, async (desk) => {
      await desk.trade('buy');
      const stop = await desk.protect(desk.stop('sell', -5));
      for (const ask of everyCall(desk, stop))
        await assert.rejects(ask(AbortSignal.abort()), BrokerUnavailable);
      const other = await desk.reopen();
      await desk.broker.close();
      for (const ask of everyCall(desk, stop))
        await assert.rejects(ask(AbortSignal.timeout(PATIENT_MS)), BrokerUnavailable);
      const shown = await other.broker.stops.standing(desk.instrument);
      assert.deepEqual(
        shown.map(({ price }) => price),
        [stop.price],
      );
    });

    rule('no call about stops ever makes an order', {}, async (desk) => {
      await desk.trade('buy');
      const before = await desk.harness.ledger();
      const stop = await desk.protect(desk.stop('sell', -5));
      const ref = await refOf(desk, stop);
      await moved(desk, stop, desk.stop('sell', -3));
      await desk.broker.stops.place(desk.stop('sell', 5));
      await desk.broker.stops.find(stop, ref);
      for (const shown of await desk.standing()) await removeAll(desk, [shown], stop);
      await desk.broker.stops.remove(stop, ref);
      assert.deepEqual(await desk.harness.ledger(), before);
      assert.equal(await desk.position(), desk.harness.quantity);
      assert.deepEqual(await desk.broker.openOrders(), []);
    });

    limitRules(rule);
    entryRules(rule);
  });
}
