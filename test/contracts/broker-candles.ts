// The connector contract about candles: what a broker that gives any must say, of an instrument that is traded around the clock. A
// broker without them has no `candles`, and nothing of this is asked of it.

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { BrokerUnavailable, type Instrument } from '../../src/broker/broker.ts';
import {
  type Candle,
  type CandleSpan,
  INTERVAL_MS,
  INTERVALS,
  type Interval,
  MOST_CANDLES,
} from '../../src/domain/candles.ts';
import { compare, isOnStep, larger, parseDecimal, sign, smaller } from '../../src/domain/decimal.ts';
import { PATIENT_MS } from '../broker/patient.ts';
import { type BrokerHarness, type Desk, rulesFor } from './broker.ts';

/** `now`: by the broker's clock. */
export function candlesContract(
  name: string,
  makeHarness: () => Promise<BrokerHarness>,
  now: () => number = Date.now,
): void {
  const rule = rulesFor(makeHarness);

  /** So many that are over, and the one that runs. */
  const untilNow = (interval: Interval, over: number): CandleSpan => {
    const each = INTERVAL_MS[interval];
    // One that begins this very moment may not be there yet.
    const runs = Math.floor((now() - 1) / each) * each;
    return { interval, from: runs - over * each, to: runs + each };
  };

  describe(`the connector contract about candles: ${name}`, () => {
    rule('of each interval there are those of the span, the oldest first, without a gap', async (desk) => {
      for (const interval of INTERVALS) {
        const span = untilNow(interval, 5);
        assert.deepEqual(timesOf(await read(desk, span)), beginsIn(span), interval);
      }
    });

    rule('a candle holds its prices, which are exact and on the tick', async (desk) => {
      for (const interval of INTERVALS)
        for (const { open, high, low, close } of await read(desk, untilNow(interval, 5))) {
          for (const price of [open, high, low, close]) {
            assert.equal(parseDecimal(price), price);
            assert.equal(sign(price), 1);
            assert.ok(isOnStep(price, desk.instrument.tickSize), `${price}`);
          }
          assert.ok(compare(low, smaller(open, close)) <= 0, `${low} is the lowest of ${open} and ${close}`);
          assert.ok(
            compare(larger(open, close), high) <= 0,
            `${high} is the highest of ${open} and ${close}`,
          );
        }
    });

    rule('what is over is the same whenever, and in whatever span, it is asked for', async (desk) => {
      const span = untilNow('1m', 20);
      const [all, again] = [await read(desk, span), await read(desk, span)];
      const over = all.slice(0, -1);
      assert.deepEqual(again.slice(0, -1), over);
      const part = {
        ...span,
        from: span.from + 3 * INTERVAL_MS['1m'],
        to: span.from + 9 * INTERVAL_MS['1m'],
      };
      assert.deepEqual(await read(desk, part), over.slice(3, 9));
      assert.ok(new Set(over.map(({ close }) => close)).size > 1, 'the price moves');
    });

    rule('as many as anybody may ask for come at once', async (desk) => {
      const span = untilNow('5m', MOST_CANDLES - 1);
      assert.deepEqual(timesOf(await read(desk, span)), beginsIn(span));
    });

    rule('what is yet to come has none', async (desk) => {
      const { from, to } = untilNow('1d', 0);
      const later = to - from;
      assert.deepEqual(await read(desk, { interval: '1d', from: to + later, to: to + 3 * later }), []);
    });

    rule('of a symbol that the broker does not have there are none, and never another’s', async (desk) => {
      const unknown: Instrument = { ...desk.instrument, symbol: desk.harness.symbols.unknown };
      const given = await read({ ...desk, instrument: unknown }, untilNow('1m', 5)).catch((fault) => {
        assert.ok(fault instanceof BrokerUnavailable, `${fault}`);
        return [];
      });
      assert.deepEqual(given, []);
    });
  });
}

async function read({ connection, instrument }: Desk, span: CandleSpan): Promise<readonly Candle[]> {
  assert.ok(connection.candles, 'the broker gives candles');
  return connection.candles(instrument, span, AbortSignal.timeout(PATIENT_MS));
}

const timesOf = (candles: readonly Candle[]): readonly number[] => candles.map(({ at }) => at);

const beginsIn = ({ interval, from, to }: CandleSpan): readonly number[] =>
  Array.from({ length: (to - from) / INTERVAL_MS[interval] }, (_, nth) => from + nth * INTERVAL_MS[interval]);
