// What an order asks for, on what is wanted already: which stop stands from then on.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import type { OrderId } from '../../src/domain/ids.ts';
import { adopt, adoptBehind, type Ground, stopAlone } from '../../src/domain/protection/adopt.ts';
import { follow } from '../../src/domain/protection/follow.ts';
import { type Protection, wantsSomething } from '../../src/domain/protection/protection.ts';
import type { Wish } from '../../src/domain/protection/wish.ts';

const TICK = decimal(1);
const price = (value: number) => ({ unit: 'price', value: decimal(value) }) as const;
const points = (value: number) => ({ unit: 'points', value: decimal(value) }) as const;
const trail = (distance: number, from: number | null = null) => ({
  distance: points(distance),
  activateAt: from === null ? null : price(from),
});

const by = (order: string, entry: Decimal = decimal(100)): Ground => ({
  ...{ order: order as OrderId, entry, tick: TICK, filledAt: 0 },
});

const nothing = (side: Protection['side'] = 'long'): Protection =>
  ({
    ...{ side, wantedBy: [], adopted: null, heard: [], stop: null, targets: [], trail: null },
    ...{ breakEven: null, timeStopAt: null, legs: [], refused: null, movedAt: null, closesFor: null },
  }) as unknown as Protection;

/** After an entry at 100 that asked for this. */
const opened = (wish: Wish, side?: Protection['side']): Protection =>
  adopt(nothing(side), wish, by('opening'));

const protect = (protection: Protection, wish: Wish): Protection => adopt(protection, wish, by('protect'));

const seen = (protection: Protection, at: number): Protection =>
  follow(protection, { bid: decimal(at), ask: decimal(at) }, TICK, 0);

const stopOf = ({ stop }: Protection) => stop && [stop.price, stop.kind];

describe('a trailing stop beside a stop that is declined', () => {
  it('is the first stop of an entry: its distance away', () => {
    assert.deepEqual(stopOf(opened({ stop: 'none', trail: trail(10) })), ['90', 'trailing_stop']);
    assert.deepEqual(stopOf(opened({ stop: 'none', trail: trail(10) }, 'short')), ['110', 'trailing_stop']);
  });
  it('is moved with the average at the end of that entry', () => {
    const wish = { stop: 'none', trail: trail(10) } as const;
    assert.deepEqual(stopOf(adopt(opened(wish), wish, by('opening', decimal(98)))), ['88', 'trailing_stop']);
  });
  it('takes the place of the stop that stood', () => {
    const kept = protect(opened({ stop: price(95) }), { stop: 'none', trail: trail(10) });
    assert.deepEqual(stopOf(kept), ['90', 'trailing_stop']);
  });
  it('loosens none that has followed the price already', () => {
    const followed = seen(opened({ trail: trail(10) }), 150);
    const kept = protect(followed, { stop: 'none', trail: trail(20) });
    assert.deepEqual(stopOf(kept), ['140', 'trailing_stop']);
  });
});

it('a trailing stop that is given alone leaves the stop that stands where it is', () => {
  assert.deepEqual(stopOf(protect(opened({ stop: price(80) }), { trail: trail(10) })), ['80', 'stop_loss']);
});

describe('a stop that is taken away from a position that trails', () => {
  const asks = { stop: price(95), trail: trail(10) };
  const away = { stop: 'none' } as const;
  it('leaves the trail’s own, away from the best price that it has seen', () => {
    const kept = protect(seen(opened({ ...asks, stop: price(99) }), 108), away);
    assert.deepEqual([stopOf(kept), kept.trail?.best], [['98', 'trailing_stop'], '108']);
  });
  it('leaves the trail’s own, away from the entry, where it has not begun to follow', () => {
    const waits = opened({ stop: price(95), trail: trail(10, 120) });
    assert.deepEqual(stopOf(protect(seen(waits, 115), away)), ['90', 'trailing_stop']);
  });
  it('brings no stop nearer: who adds without one closes nothing', () => {
    const far = opened({ stop: price(80), trail: trail(10) });
    assert.deepEqual(stopOf(adopt(seen(far, 100), away, by('add'))), ['80', 'stop_loss']);
  });
  it('leaves the one that the trail has brought there', () => {
    const followed = seen(opened(asks), 120);
    assert.deepEqual(stopOf(followed), ['110', 'trailing_stop']);
    assert.deepEqual(stopOf(protect(followed, away)), ['110', 'trailing_stop']);
  });
  it('goes for good where the trail is taken away with it', () => {
    const kept = protect(opened(asks), { ...away, trail: 'none' });
    assert.deepEqual([kept.stop, wantsSomething(kept)], [null, false]);
  });
});

it('a trail is something wanted, whatever else is not', () => {
  assert.equal(wantsSomething({ ...opened({ trail: trail(10) }), stop: null }), true);
});

it('a trail of an entry that is known only after its stop was declined has its own all the same', () => {
  const declined = adopt(nothing(), { stop: 'none' }, by('protect'));
  const known = adoptBehind(declined, { stop: price(95), trail: trail(10) }, { stop: 'none' }, by('opening'));
  assert.deepEqual(stopOf(known), ['90', 'trailing_stop']);
  assert.equal(known.adopted?.order, 'protect');
});

describe('a close for a stop that was passed', () => {
  const asks = { stop: price(95), timeStop: { seconds: 600 } } as const;
  const closing: Protection = { ...opened(asks), closesFor: 'stop_loss' };
  for (const [what, wish, is] of [
    ['whoever gives another stop', { stop: price(70) }, null],
    ['whoever wants none', { stop: 'none' }, null],
    ['whoever lets it trail from now on', { trail: trail(10) }, null],
    ['nobody who speaks of targets alone', { targets: 'none' }, 'stop_loss'],
    ['nobody who speaks of the clock alone', { timeStop: 'none' }, 'stop_loss'],
  ] as const)
    it(`is taken back by ${what}`, () => {
      assert.equal(protect(closing, wish).closesFor, is);
    });
  it('is taken back by an add that brings its own stop, and not by one without', () => {
    assert.equal(adopt(closing, { stop: price(70) }, by('add')).closesFor, null);
    assert.equal(adopt(closing, {}, by('add')).closesFor, 'stop_loss');
  });
  it('stays when the end of the entry is known that asked for the stop', () => {
    const ended = adopt(closing, asks, by('opening', decimal(98)));
    assert.deepEqual([ended.adopted?.entry, ended.closesFor], ['98', 'stop_loss']);
  });
  it('stays where an entry before it is known only now, and the stop that has moved since stays', () => {
    const moved = { ...closing, stop: { price: decimal(96), kind: 'trailing_stop' } } as const;
    const known = adoptBehind(moved, { stop: price(90) }, {}, by('before'));
    assert.deepEqual([known.stop?.price, known.closesFor], ['96', 'stop_loss']);
    assert.equal(adoptBehind(closing, { stop: price(90) }, {}, by('before')).closesFor, null);
  });
  it('leaves a close by the clock where it is', () => {
    assert.equal(protect(closing, { stop: price(70) }).timeStopAt, closing.timeStopAt);
  });
  it('is none of a position that may be another one', () => {
    assert.equal(stopAlone(closing).closesFor, null);
  });
});
