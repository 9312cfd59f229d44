// A protection that was left, and is kept again: which of the stops that stand at the broker are its own.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, type OrderId, timestamp } from '../../src/domain/ids.ts';
import { type Protection, type ProtectiveLeg, protectiveId } from '../../src/domain/protection/protection.ts';
import { type FoundThere, resumed, withFound } from '../../src/domain/protection/resume.ts';
import type { ShownStop } from '../../src/domain/protection/step.ts';

const ID = '00000000-0000-7000-8000-00000000000a';
const LEG = {
  ...{ level: 0, revision: 3, clientOrderId: protectiveId(ID, 0, 3), formerIds: [], brokerRef: '77' },
  ...{ stop: decimal(90), limit: null, quantity: decimal(1), filled: decimal(0) },
} as unknown as ProtectiveLeg;

const left = (side: Protection['side'] = 'long'): Protection =>
  ({
    ...{ id: ID, side, revision: 104, legs: [LEG], wantedBy: [], targets: [] },
    stop: { price: decimal(90), kind: 'stop_loss' },
  }) as unknown as Protection;

const shown = (price: number, more: Partial<ShownStop> = {}): ShownStop => ({
  ...{ clientOrderId: null, brokerRef: null, side: 'sell', price: decimal(price), quantity: null },
  ...more,
});

const found = (names: FoundThere['names'], ...stops: readonly ShownStop[]): FoundThere => ({
  ...{ stops, targets: [], names, at: timestamp(0) },
});

const namesOf = ({ legs }: Protection) => legs.map(({ clientOrderId }) => clientOrderId);

it('closes nothing for what was passed before it was left: what is passed now is seen when its stop is placed', () => {
  assert.equal(resumed({ ...left(), closesFor: 'stop_loss' }, 0).closesFor, null);
});

describe('where the broker shows its own ids alone', () => {
  it('is the one that it knows by its id, wherever that stands by now', () => {
    const kept = withFound(left(), found('theirs', shown(95, { brokerRef: '77' })));
    assert.deepEqual([kept.stop?.price, kept.legs.length], ['95', 1]);
  });
  it('is the only one there, at the price that is saved: its name was lost', () => {
    const kept = withFound(left(), found('theirs', shown(90, { brokerRef: '78' })));
    assert.deepEqual([kept.stop?.price, kept.legs.length], ['90', 2]);
    assert.equal(kept.legs[1]?.brokerRef, '78');
  });
  it('is none that stands elsewhere under another name, though it is the only one: that is somebody else’s', () => {
    const kept = withFound(left(), found('theirs', shown(85, { brokerRef: '78' })));
    assert.deepEqual([kept.stop?.price, namesOf(kept)], ['90', [LEG.clientOrderId]]);
  });
  it('is one with an id of ours, where the broker repeats it', () => {
    const name = protectiveId(ID, 0, 40);
    const kept = withFound(left(), found('theirs', shown(95, { brokerRef: '99', clientOrderId: name })));
    assert.deepEqual([kept.stop?.price, namesOf(kept)], ['95', [LEG.clientOrderId, name]]);
  });
});

describe('where the position has one stop, without any id', () => {
  it('stays where it stands, where that is nearer to the market than what is saved', () => {
    assert.equal(withFound(left(), found('none', shown(95))).stop?.price, '95');
    assert.equal(withFound(left('short'), found('none', shown(85))).stop?.price, '85');
  });
  it('goes back to what is saved where it stands further away: that nobody of us did', () => {
    const kept = withFound(left(), found('none', shown(85)));
    assert.deepEqual([kept.stop?.price, namesOf(kept)], ['90', [LEG.clientOrderId]]);
    assert.equal(withFound(left('short'), found('none', shown(95))).stop?.price, '90');
  });
  it('is somebody else’s, where nothing of ours is saved', () => {
    const bare = { ...left(), stop: null, legs: [] };
    assert.equal(withFound(bare, found('none', shown(85))).stop, null);
  });
});

describe('where the broker shows our ids', () => {
  it('is the one of ours that was set since, also where its owner has set it further away', () => {
    const name = protectiveId(ID, 0, 40);
    const kept = withFound(left(), found('ours', shown(85, { clientOrderId: name })));
    assert.equal(kept.stop?.price, '85');
  });
  it('is none of a name that nobody of us gave', () => {
    const kept = withFound(left(), found('ours', shown(95, { clientOrderId: 'mine' as ClientOrderId })));
    assert.deepEqual([kept.stop?.price, namesOf(kept)], ['90', [LEG.clientOrderId]]);
  });
});

describe('where nothing of it stands any more', () => {
  const add = { wantedBy: ['an-add' as OrderId] };
  it('is placed again as it was promised, though an order of before is not taken in yet', () => {
    const kept = withFound({ ...left(), ...add, isResumed: true }, found('ours'));
    assert.equal(kept.stop?.price, '90');
  });
  it('is of a position that was closed since, where a protect speaks of it', () => {
    const kept = withFound({ ...left(), ...add, isResumed: 'asked' }, found('ours'));
    assert.equal(kept.stop, null);
  });
});

describe('where a protect speaks of it, and a stop stands that may be its owner’s own', () => {
  const full: Protection = {
    ...left(),
    ...{ isResumed: 'asked', timeStopAt: timestamp(1), trail: null, breakEven: null },
    targets: [{ price: decimal(110), percent: decimal(100), closed: decimal(0), isFilled: false }],
  };
  const parts = ({ stop, targets, timeStopAt }: Protection) => [stop?.price, targets.length, timeStopAt];
  it('that one stays where it stands, and no target and no end of before is wanted', () => {
    assert.deepEqual(parts(withFound(full, found('none', shown(85)))), ['85', 0, null]);
    assert.deepEqual(parts(withFound(full, found('theirs', shown(90, { brokerRef: '78' })))), [
      '90',
      0,
      null,
    ]);
  });
  it('and all of it counts on where the stop is known by its name', () => {
    const known = found('theirs', shown(95, { brokerRef: '77' }));
    assert.deepEqual(parts(withFound(full, known)), ['95', 1, timestamp(1)]);
  });
  it('or where its owner says so on Today', () => {
    const kept = withFound({ ...full, isResumed: true }, found('none', shown(85)));
    assert.deepEqual(parts(kept), ['90', 1, timestamp(1)]);
  });
});
