// A name with a slip or two in it is found among thousands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearest } from '../../src/domain/nearest.ts';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.'];
const letter = fc.constantFrom(...LETTERS);
const name = fc.string({ unit: letter, minLength: 4, maxLength: 12 });

const slip = (...kinds: string[]) => fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 11 }), letter);
const simple = slip('put in', 'take out', 'exchange');

function slipped(text: string, [kind, where, by]: readonly [string, number, string]): string {
  const at = where % text.length;
  const [before, here, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)];
  if (kind === 'put in') return before + by + here + after;
  if (kind === 'take out') return before + after;
  if (kind === 'exchange') return before + by + after;
  return before + after.slice(0, 1) + here + after.slice(1);
}

test('whatever the slips are', () => {
  fc.assert(
    fc.property(name, slip('swap'), simple, simple, (wanted, swap, one, other) => {
      assert.deepEqual(nearest(slipped(wanted, swap), [wanted]), [wanted]);
      const twice = slipped(slipped(wanted, one), other);
      // Of so short a name too little is left.
      if (twice.length > 2) assert.deepEqual(nearest(twice, [wanted.toLowerCase()]), [wanted.toLowerCase()]);
    }),
    { numRuns: 2_000 },
  );
});

test('the nearest first, and nothing that is far', () => {
  const names = ['AAPL', 'APPN', 'APPS', 'MSFT', 'GOOG', 'APP'];
  assert.deepEqual(nearest('APPL', names), ['APP', 'AAPL', 'APPN']);
  assert.deepEqual(nearest('TSLA', names), []);
});
