// Wishes of every kind, for properties.

import Big from 'big.js';
import fc from 'fast-check';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import type { Distance, Level } from '../../src/domain/protection/level.ts';
import type { Wish } from '../../src/domain/protection/wish.ts';

export const positive = (most: bigint, places: number): fc.Arbitrary<Decimal> =>
  fc
    .tuple(fc.bigInt({ min: 1n, max: most }), fc.nat({ max: places }))
    .map(([digits, point]) => decimal(new Big(String(digits)).times(new Big(10).pow(-point))));

export const anyDistance: fc.Arbitrary<Distance> = fc
  .tuple(fc.constantFrom('percent', 'ticks', 'points'), positive(10n ** 6n, 5))
  .map(([unit, value]) => ({ unit, value }));

export const anyLevel: fc.Arbitrary<Level> = fc.oneof(
  anyDistance,
  positive(10n ** 9n, 6).map((value) => ({ unit: 'price' as const, value })),
);

/** Up to 5 of them, 20 percent each at most. */
const targets = (at: fc.Arbitrary<Level>) =>
  fc.array(
    fc.tuple(at, fc.integer({ min: 1, max: 200 })).map(([level, tenths]) => ({
      at: level,
      percent: decimal(new Big(tenths).div(10)),
    })),
    { minLength: 1, maxLength: 5 },
  );

const none = fc.constant('none' as const);

/** Each part given, removed or absent. `at`: what levels are made of. */
export const wishOf = (at: fc.Arbitrary<Level>): fc.Arbitrary<Wish> =>
  fc
    .record(
      {
        stop: fc.oneof(at, none),
        targets: fc.oneof(targets(at), none),
        trail: fc.oneof(fc.record({ distance: anyDistance, activateAt: fc.option(at) }), none),
        breakEven: fc.oneof(
          fc.record({ at: fc.oneof(at, fc.constant('tp1' as const)), offset: fc.option(anyDistance) }),
          none,
        ),
        timeStop: fc.oneof(
          fc.integer({ min: 60, max: 2_592_000 }).map((seconds) => ({ seconds })),
          fc.constant({ time: '15:55', zone: 'America/New_York' }),
          none,
        ),
      },
      { requiredKeys: [] },
    )
    .map((wish) => structuredClone({ ...wish }));

export const anyWish = wishOf(anyLevel);
