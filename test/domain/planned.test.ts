// What would stand for a position, at which prices and for how much, and where the market does not let it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import {
  add,
  compare,
  type Decimal,
  decimal,
  isOnStep,
  multiply,
  sign,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import { priceOf } from '../../src/domain/protection/level.ts';
import { targetShares } from '../../src/domain/protection/parcels.ts';
import {
  type PlannedLeg,
  type Protected,
  planProtection,
  whyAgainstMarket,
} from '../../src/domain/protection/planned.ts';
import { asksForStop, isGiven, readWish, type Wish } from '../../src/domain/protection/wish.ts';
import { anyWish, positive } from './wishes.ts';

function wish(fields: Record<string, unknown>): Wish {
  const read = readWish(fields);
  assert.ok('wish' in read, JSON.stringify(read));
  return read.wish;
}
const on = (more: Partial<Record<keyof Protected, string>> = {}): Protected => ({
  side: (more.side ?? 'long') as Protected['side'],
  entry: decimal(more.entry ?? '64000'),
  held: decimal(more.held ?? '0.4'),
  tick: decimal(more.tick ?? '0.1'),
  step: decimal(more.step ?? '0.001'),
  least: decimal(more.least ?? '0.001'),
});
function planned(fields: Record<string, unknown>, position = on()) {
  const plan = planProtection(wish(fields), position);
  assert.ok('legs' in plan, JSON.stringify(plan));
  return plan;
}
const shown = ({ leg, price, quantity }: PlannedLeg) => [leg, price, quantity];

describe('The legs of a protection', () => {
  test('are a stop for all that is held, and targets for their parts, in words', () => {
    const plan = planned({
      stop_loss: '2%',
      take_profit: [
        { at: 66000, percent: 50 },
        { at: '150 points', percent: 50 },
      ],
    });
    assert.deepEqual(
      plan.legs.map(({ leg, price, quantity, how }) => ({ leg, price, quantity, how })),
      [
        {
          leg: 'stop',
          price: '62720',
          quantity: '0.4',
          how: 'Closes all 0.4 at the market once the price falls to 62720, 2% below the entry at 64000.',
        },
        { leg: 'target', price: '66000', quantity: '0.2', how: 'Sells 0.2 of 0.4 at 66000 or better.' },
        {
          leg: 'target',
          price: '64150',
          quantity: '0.2',
          how: 'Sells 0.2 of 0.4 at 64150 or better, 150 points above the entry at 64000.',
        },
      ],
    );
    assert.deepEqual(plan.also, []);
  });

  test('lie the other way round of a short position', () => {
    const { legs } = planned({ stop_loss: '1t', take_profit: '2%' }, on({ side: 'short' }));
    assert.deepEqual(
      legs.map(({ how }) => how),
      [
        'Closes all 0.4 at the market once the price rises to 64000.1, 1 tick above the entry at 64000.',
        'Buys back all 0.4 at 62720 or better, 2% below the entry at 64000.',
      ],
    );
  });

  test('are none where nothing is asked for, or all is declined', () => {
    assert.deepEqual(planned({}), { legs: [], also: [] });
    assert.deepEqual(
      planned({
        stop_loss: 'none',
        take_profit: 'none',
        trailing_stop: 'none',
        break_even: 'none',
        time_stop: 'none',
      }),
      { legs: [], also: [] },
    );
  });

  test('of a trailing stop begin at its distance, or at the stop that is given', () => {
    const alone = planned({ trailing_stop: { distance: '1%', activate_at: 65000 } });
    assert.deepEqual(alone.legs.map(shown), [['stop', '63360', '0.4']]);
    assert.deepEqual(alone.also, [
      'Once the price was at 65000, the stop follows the best price at a distance of 640, and never back.',
    ]);
    const both = planned({ trailing_stop: '1%', stop_loss: 60000 });
    assert.deepEqual(both.legs.map(shown), [['stop', '60000', '0.4']]);
    assert.deepEqual(both.also, ['The stop follows the best price at a distance of 640, and never back.']);
  });

  test('are told with what is made by us', () => {
    assert.deepEqual(
      planned({
        stop_loss: '2%',
        take_profit: '4%',
        break_even: { at: 'tp1', offset: '5t' },
        time_stop: 3600,
      }).also,
      [
        'Once the first target is filled, the stop goes to 64000.5.',
        'Closes the position at the market 3600 s after the first fill.',
      ],
    );
    assert.deepEqual(
      planned({ stop_loss: '2%', break_even: '1%', time_stop: '15:55 America/New_York' }).also,
      [
        'Once the price was at 64640, the stop goes to 64000.',
        'Closes the position at the market at the next 15:55 in America/New_York after the first fill.',
      ],
    );
  });

  // biome-ignore format: a table, one case a line
  for (const [fields, side, words] of [
    [{ stop_loss: '120%' }, 'long', /^"stop_loss" is 120%: from an entry at 64000 there is no price above zero so far away/],
    [{ trailing_stop: '100%' }, 'long', /^"trailing_stop" is 100%/],
    [{ take_profit: '64000 points' }, 'short', /^"take_profit" is 64000p/],
    [{ stop_loss: '1%', break_even: '200%' }, 'short', /^"break_even" is 200%/],
    [{ stop_loss: '1%', break_even: { at: '1%', offset: '150%' } }, 'short', /^"break_even" is 150%/],
    [{ trailing_stop: { distance: '1%', activate_at: '100%' } }, 'short', /^"trailing_stop" is 100%/],
  ] as const)
    test(`are refused of ${JSON.stringify(fields)} on a ${side} position: there is no such price`, () => {
      const plan = planProtection(wish(fields), on({ side }));
      assert.ok('problem' in plan);
      assert.match(plan.problem, words);
    });

  const position = fc
    .tuple(
      fc.constantFrom('long', 'short'),
      positive(10n ** 7n, 3),
      positive(10n ** 5n, 3),
      fc.constantFrom('0.01', '0.5', '1'),
      fc.constantFrom('0.001', '1'),
    )
    .map(([side, entry, held, tick, step]) => on({ side, entry, held, tick, step, least: step }));

  test('have the prices of their levels, one stop at most, and no more in all than is held', () => {
    fc.assert(
      fc.property(anyWish, position, (any, where) => {
        const plan = planProtection(any, where);
        if ('problem' in plan) return assert.match(plan.problem, /^"\w+" is \S+: .* no price above zero/);
        const [stops, targets] = ['stop', 'target'].map((leg) =>
          plan.legs.filter((each) => each.leg === leg),
        );
        assert.equal(stops?.length, asksForStop(any) ? 1 : 0);
        const sum = (targets ?? []).reduce<Decimal>((total, { quantity }) => add(total, quantity), ZERO);
        assert.ok(compare(sum, where.held) <= 0);
        for (const { price, quantity } of plan.legs)
          assert.ok(sign(price) > 0 && sign(quantity) > 0 && isOnStep(price, where.tick));
        if (isGiven(any.stop)) assert.equal(stops?.[0]?.price, priceOf(any.stop, { ...where, leg: 'stop' }));
        assert.ok(!JSON.stringify(plan).includes('null'));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('Of what stands already, with a trail of 10 points from an entry at 100', () => {
  const standing = (stop: number, best: number, kind: 'stop_loss' | 'trailing_stop' = 'stop_loss') => ({
    stop: { price: decimal(stop), kind },
    trail: { distance: decimal(10), activateAt: null, from: decimal(100), best: decimal(best) },
  });
  const plannedOn = (fields: Record<string, unknown>, kept: Protected['kept']) =>
    planned(fields, { ...on({ entry: '100', tick: '1' }), ...(kept !== undefined && { kept }) });

  test('the stop that is taken away leaves the one that trails, and the market is to let that stand', () => {
    const { legs } = plannedOn({ stop_loss: 'none' }, standing(95, 100));
    assert.deepEqual(legs.map(shown), [['stop', '90', '0.4']]);
    assert.match(
      whyAgainstMarket(legs, 'long', { bid: decimal(85), ask: decimal(85) }) ?? '',
      /^"trailing_stop" is 10p, which is 90, and the market is at 85 .*: the stop of a long position lies below/,
    );
    const followed = plannedOn({ stop_loss: 'none' }, standing(139, 150, 'trailing_stop'));
    assert.deepEqual(followed.legs.map(shown), [['stop', '140', '0.4']]);
  });
  test('a trail that has not begun to follow brings no stop nearer because that one is taken away', () => {
    assert.deepEqual(plannedOn({ stop_loss: 'none' }, standing(80, 100)).legs.map(shown), [
      ['stop', '80', '0.4'],
    ]);
  });
  test('a wider trail does not bring back the stop that one before it has brought nearer', () => {
    const wider = { stop_loss: 'none', trailing_stop: '20p' };
    assert.deepEqual(plannedOn(wider, standing(140, 150, 'trailing_stop')).legs.map(shown), [
      ['stop', '140', '0.4'],
    ]);
    assert.deepEqual(plannedOn(wider, standing(70, 100)).legs.map(shown), [['stop', '80', '0.4']]);
  });
  test('a trail that is given alone leaves the stop where it is', () => {
    const given = { trailing_stop: '5p' };
    assert.deepEqual(plannedOn(given, standing(80, 100)).legs, []);
    assert.deepEqual(plannedOn(given, null).legs.map(shown), [['stop', '95', '0.4']]);
  });
  test('nothing is left where both are taken away', () => {
    assert.deepEqual(plannedOn({ stop_loss: 'none', trailing_stop: 'none' }, standing(80, 100)).legs, []);
  });
});

describe('How much each target closes', () => {
  const quantitiesOf = (
    percents: readonly number[],
    { base, step, least }: { readonly base: Decimal; readonly step: Decimal; readonly least: Decimal },
  ) =>
    targetShares(
      percents.map((percent) => ({ percent: decimal(percent), closed: ZERO, isFilled: false })),
      base,
      { quantityStep: step, minQuantity: least },
    );
  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [base: string, percents: readonly number[], step: string, least: string, quantities: readonly string[], why: string])[] = [
    ['1', [100], '0.001', '0.001', ['1'], 'a lone one takes all'],
    ['1', [50, 50], '0.001', '0.001', ['0.5', '0.5'], 'halves'],
    ['1', [33, 33, 34], '0.1', '0.1', ['0.3', '0.3', '0.4'], 'the last takes the rest'],
    ['10', [33, 33], '1', '1', ['3', '3'], 'down to the step, the rest is left'],
    ['10', [10, 20, 70], '1', '2', ['0', '3', '7'], 'what is too little joins the next'],
    ['3', [20, 20, 20, 20, 20], '1', '1', ['0', '1', '0', '1', '1'], 'what is less than a step joins the next'],
    ['2', [10, 10], '1', '1', ['0', '0'], 'too little in all: nothing'],
    ['5', [60, 10], '1', '1', ['3', '0'], 'after the last there is none to join'],
    ['10', [60, 30, 10], '1', '2', ['6', '4', '0'], 'the last is too little: it joins the one before'],
    ['0.0005', [100], '0.001', '0.001', ['0'], 'less than anybody takes: the stop has it'],
    ['1.0005', [50, 50], '0.001', '0.001', ['0.5', '0.5005'], 'the last takes what is no step too'],
    ['1', [1, 99], '0.01', '0.1', ['0', '1'], 'a little one joins the rest'],
  ];
  for (const [base, percents, step, least, quantities, why] of ROWS)
    test(`${percents.join(' + ')} % of ${base} in steps of ${step}, at least ${least}: ${why}`, () => {
      assert.deepEqual(
        quantitiesOf(percents, { base: decimal(base), step: decimal(step), least: decimal(least) }),
        quantities,
      );
    });

  test('is never more than its share and what joined it, and with 100 percent all is closed but what is less than a step', () => {
    const shares = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }).map((all) => {
      const sum = all.reduce((total, each) => total + each, 0);
      return sum > 100 ? all.map((each) => Math.max(1, Math.floor((each * 100) / sum))) : all;
    });
    const isToRest = fc.boolean();
    const market = fc.tuple(fc.constantFrom('0.001', '0.1', '1', '5'), fc.integer({ min: 1, max: 5 }));
    fc.assert(
      fc.property(shares, isToRest, positive(10n ** 6n, 3), market, (some, fills, base, [step, steps]) => {
        const sum = some.reduce((total, each) => total + each, 0);
        const percents = fills && sum < 100 ? [...some.slice(0, -1), (some.at(-1) ?? 0) + 100 - sum] : some;
        const isAll = percents.reduce((total, each) => total + each, 0) === 100;
        const least = multiply(decimal(step), decimal(steps));
        const quantities = quantitiesOf(percents, { base, step: decimal(step), least });
        assert.equal(quantities.length, percents.length);
        const total = quantities.reduce(add, ZERO);
        assert.ok(compare(total, base) <= 0);
        const isPlaced = sign(total) > 0;
        if (isAll && isPlaced) assert.ok(compare(subtract(base, total), decimal(step)) < 0);
        if (isAll && quantities.at(-1) !== ZERO) assert.equal(total, base);
        // Up to each level, no more than the shares up to it; the last one, and what joined it, apart.
        let [closed, share] = [new Big(0), new Big(0)];
        for (const [index, quantity] of quantities.slice(0, -1).entries()) {
          closed = closed.plus(quantity);
          share = share.plus(new Big(base).times(percents[index] ?? 0).div(100));
          const isLast = quantities.slice(index + 1).every((later) => later === ZERO);
          assert.ok(closed.lte(share) || isLast);
        }
        const placed = quantities.filter((quantity) => sign(quantity) > 0);
        for (const quantity of placed) assert.ok(compare(quantity, least) >= 0);
        if (!isAll) for (const quantity of placed) assert.ok(isOnStep(quantity, decimal(step)));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('The market', () => {
  const market = { bid: decimal('64000'), ask: decimal('64010') };
  const why = (side: 'long' | 'short', fields: Record<string, unknown>) =>
    whyAgainstMarket(
      planned(fields, on({ side, entry: side === 'long' ? '64010' : '64000' })).legs,
      side,
      market,
    );

  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [side: 'long' | 'short', fields: Record<string, unknown>, words: string | null])[] = [
    ['long', { stop_loss: 63999.9, take_profit: 64010.1 }, null],
    ['long', { stop_loss: 64000 }, '"stop_loss" is 64000 and the market is at 64000 (bid) and 64010 (ask): a stop inside the spread would close the position at once.'],
    ['long', { stop_loss: 64009.9 }, '"stop_loss" is 64009.9 and the market is at 64000 (bid) and 64010 (ask): a stop inside the spread would close the position at once.'],
    ['long', { stop_loss: 65000 }, '"stop_loss" is 65000 and the market is at 64000 (bid) and 64010 (ask): the stop of a long position lies below the market.'],
    ['long', { trailing_stop: '20t' }, '"trailing_stop" is 20t, which is 64008, and the market is at 64000 (bid) and 64010 (ask): a stop inside the spread would close the position at once.'],
    ['long', { take_profit: 64000 }, '"take_profit" is 64000 and the market is at 64000 (bid) and 64010 (ask): the target of a long position lies above the market.'],
    ['long', { take_profit: 64005 }, null],
    ['long', { stop_loss: 63000, take_profit: [{ at: 65000, percent: 50 }, { at: 63500, percent: 50 }] }, '"take_profit" is 63500 and the market is at 64000 (bid) and 64010 (ask): the target of a long position lies above the market.'],
    ['short', { stop_loss: 64010.1, take_profit: 63999.9 }, null],
    ['short', { stop_loss: 64010 }, '"stop_loss" is 64010 and the market is at 64000 (bid) and 64010 (ask): a stop inside the spread would close the position at once.'],
    ['short', { stop_loss: 63000 }, '"stop_loss" is 63000 and the market is at 64000 (bid) and 64010 (ask): the stop of a short position lies above the market.'],
    ['short', { take_profit: 64010 }, '"take_profit" is 64010 and the market is at 64000 (bid) and 64010 (ask): the target of a short position lies below the market.'],
    ['short', { take_profit: '2%' }, null],
    ['long', {}, null],
  ];
  for (const [side, fields, words] of ROWS)
    test(`${words === null ? 'lets stand' : 'is against'} ${JSON.stringify(fields)} of a ${side} position`, () => {
      assert.equal(why(side, fields), words);
    });

  test('has a stop that it lets stand on the losing side of every price, and a target that does not fill at once', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('stop', 'target'),
        fc.constantFrom('long', 'short'),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 100, max: 300 }),
        fc.nat({ max: 5 }),
        (leg, side, at, bid, spread) => {
          const each: PlannedLeg = {
            leg,
            price: decimal(at),
            quantity: decimal(1),
            how: '',
            field: leg === 'stop' ? 'stop_loss' : 'take_profit',
            said: String(at),
          };
          const found = whyAgainstMarket([each], side, { bid: decimal(bid), ask: decimal(bid + spread) });
          const isAway = side === 'long' ? at < bid : at > bid + spread;
          const fillsAtOnce = side === 'long' ? at <= bid : at >= bid + spread;
          assert.equal(found === null, leg === 'stop' ? isAway : !fillsAtOnce);
          if (found !== null)
            assert.ok(found.includes(` ${at} `) && found.includes(`${bid} (bid) and ${bid + spread} (ask)`));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
