// A leg at a broker that fills it at once, in one unit with its record: when it is sent so, and when as to any other broker.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BrokerBusy, type FillOutcome, type Instrument, type RecordFill } from '../../src/broker/broker.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import type { Instruments } from '../../src/worker/lane/instruments.ts';
import { sendLeg } from '../../src/worker/lane/send-leg.ts';
import type { Line } from '../../src/worker/line/line.ts';
import { legOfThree } from '../domain/legs.ts';
import { order } from '../domain/traded.ts';

const NOW = Date.now();
const UNIT: readonly object[] = [];
const INSTRUMENT = { symbol: 'BTCUSDT', contractSize: decimal(1) } as Instrument;

interface Sending {
  readonly legs: Order['legs'];
  fill(record: () => ReturnType<RecordFill>, pass: (ms: number) => void): FillOutcome;
  readonly recorded?: 'saved' | 'unheard';
  readonly again?: boolean;
}

/** What was done, one after the other. */
async function sent({ legs, fill, recorded = 'saved', again = false }: Sending): Promise<string[]> {
  const done: string[] = [];
  let now = NOW;
  const next = (saved: Order): Order => ({ ...saved, version: saved.version + 1 });
  const line = {
    credentialsVersion: 1,
    async fill(_order: unknown, record: RecordFill) {
      done.push('fill');
      const state = {
        brokerRef: 'ref',
        status: 'filled',
        fillPrice: decimal(1),
        fillQuantity: decimal(3),
      } as const;
      const recording = () => record({ ...state, fee: null, reason: null });
      return fill(recording, (ms) => {
        now += ms;
      });
    },
    async place() {
      done.push('place');
      return { outcome: 'unknown', reason: 'nobody answered' };
    },
  } as unknown as Line;
  const planned = order(0, [], {
    ...{ status: 'executing', legs, deadlineAt: timestamp(NOW + 60_000), submittedAt: timestamp(NOW) },
    intent: { operation: 'CLOSE_POSITION', direction: 'long' },
  });
  const { order: after } = await sendLeg(
    {
      async save(saved) {
        done.push(`save ${saved.status}, ${saved.legs.length} legs`);
        return next(saved);
      },
      async saveSending(saved) {
        done.push('save sending');
        return next(saved);
      },
      record: (ended) => ({
        unit: UNIT,
        async saved(isCertain) {
          done.push(`${isCertain ? 'told' : 'not told'} of ${ended.status}`);
          return recorded === 'saved' ? next(ended) : null;
        },
      }),
      clock: { now: () => now },
      counters: UNCOUNTED,
      rules: { giveUpMs: 30_000 },
    },
    line,
    { get: () => INSTRUMENT } as unknown as Instruments,
    {
      ...{ order: planned, leg: 'exit', again, revision: null, refusals: 0 },
      ...{ makeWay: async () => false, now: () => now },
    },
  );
  return [...done, after.status];
}

const close = legOfThree('exit', 'planned');
const fillsIt: Sending['fill'] = (record) => (record() ? { outcome: 'filled' } : { outcome: 'apart' });
const AS_ANY = ['save sending', 'place', 'executing'];

test('what is filled with its record is saved by that', async () => {
  assert.deepEqual(await sent({ legs: [close], fill: fillsIt }), ['fill', 'told of filled', 'filled']);
});

test('where nobody says whether it was, what is recorded counts; where nothing is, it is sent as to any other broker', async () => {
  const fill: Sending['fill'] = (record) => {
    record();
    return { outcome: 'unknown', reason: 'nobody answered' };
  };
  const found = await sent({ legs: [close], fill });
  assert.deepEqual(found, ['fill', 'not told of filled', 'filled']);
  const missed = await sent({ legs: [close], fill, recorded: 'unheard' });
  assert.deepEqual(missed, ['fill', 'not told of filled', ...AS_ANY]);
});

test('what cannot be filled so, or is turned away, is sent as to any other broker', async () => {
  assert.deepEqual(await sent({ legs: [close], fill: () => ({ outcome: 'apart' }) }), ['fill', ...AS_ANY]);
  const busy = () => {
    throw new BrokerBusy('not now', 1_000);
  };
  assert.deepEqual(await sent({ legs: [close], fill: busy }), ['fill', ...AS_ANY]);
});

test('what was sent before, or is not the last leg, is not filled so', async () => {
  assert.deepEqual(await sent({ legs: [close], fill: fillsIt, again: true }), AS_ANY);
  const reversal = [close, legOfThree('entry', 'planned')];
  assert.deepEqual(await sent({ legs: reversal, fill: fillsIt }), AS_ANY);
});

test('a process that stood still before the fill was decided fills nothing, and plans anew', async () => {
  const fill: Sending['fill'] = (record, pass) => {
    pass(6_000);
    return fillsIt(record, pass);
  };
  assert.deepEqual(await sent({ legs: [close], fill }), [
    ...['fill', 'save sending'],
    ...['save executing, 0 legs', 'executing'],
  ]);
});
