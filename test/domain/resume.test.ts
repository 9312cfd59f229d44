// A protection that was left, and is kept again: which of the stops that stand at the broker are its own.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { type Protection, type ProtectiveLeg, protectiveId } from '../../src/domain/protection/protection.ts';
import { type FoundThere, withFound } from '../../src/domain/protection/resume.ts';
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
