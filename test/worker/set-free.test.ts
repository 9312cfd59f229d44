// What protects a position leaves for an order that is sent for it: how its state is kept meanwhile.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Instrument } from '../../src/broker/broker.ts';
import type { AccountId, UserId } from '../../src/domain/ids.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import { protectiveLegs } from '../../src/worker/lane/protect-legs.ts';
import type { Trades } from '../../src/worker/lane/trades.ts';
import type { Line } from '../../src/worker/line/line.ts';
import type { WorkerProtections } from '../../src/worker/protections.ts';

const INSTRUMENT = { symbol: 'AAPL' } as Instrument;
const line = { resolve: async () => INSTRUMENT } as unknown as Line;
const trades = { closed() {} } as unknown as Trades;

/** One without a leg, and how often it is saved. */
function openLegs(state: Protection['state']) {
  const book = { accountId: 'a' as AccountId, simulation: false };
  let kept = { ...book, instrument: 'AAPL', side: 'long', state, suspendedAt: null, legs: [] } as unknown;
  let saves = 0;
  const protections = {
    kept: async () => [kept as Protection],
    async save(protection: Protection) {
      saves++;
      kept = protection;
      return protection;
    },
  } as unknown as WorkerProtections;
  const legs = protectiveLegs(
    {
      protections,
      clock: { now: () => 0 },
      wait: async () => {},
      token: 't',
      mine: (_, saved) => saved as Protection,
    },
    'u' as UserId,
  );
  return {
    free: () => legs.free(book, { instrument: INSTRUMENT, side: 'sell' }, line, trades),
    kept: () => kept as Protection,
    saves: () => saves,
  };
}

describe('for an order that needs what its stop reserves', () => {
  it('a position is suspended, once', async () => {
    const { free, kept, saves } = openLegs('standing');
    assert.deepEqual([await free(), await free()], [true, false]);
    assert.deepEqual([kept().state, saves()], ['suspended', 1]);
  });
  it('one that has no stop is unprotected on, and its owner is not told so again', async () => {
    const { free, kept, saves } = openLegs('unprotected');
    assert.deepEqual([await free(), await free()], [true, false]);
    assert.deepEqual([kept().state, kept().suspendedAt !== null, saves()], ['unprotected', true, 1]);
  });
});
