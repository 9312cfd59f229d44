// A stranger's JSON: what the platform's parser reads, but nothing that two readers could read differently.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainJson, readJson } from '../../src/domain/signals/json.ts';

const read = (text: string) => readJson(new TextEncoder().encode(text));
const problemOf = (text: string) => {
  const reading = read(text);
  return 'problem' in reading ? reading.problem : null;
};

test('what JSON.stringify writes is read as it was', () => {
  const values = fc
    .jsonValue({ maxDepth: 6, noUnicodeString: false })
    .filter((value) => !hasLongNumber(value));
  fc.assert(
    fc.property(values, (value) => {
      const text = JSON.stringify(value);
      const reading = read(text);
      assert.ok('value' in reading, text);
      assert.deepEqual(plainJson(reading.value)?.plain, JSON.parse(text));
    }),
    { numRuns: 1_000 },
  );
});

/** More digits than we carry; plainJson says so, and that is another test's. */
function hasLongNumber(value: unknown): boolean {
  if (typeof value === 'number') return !/^-?\d{1,15}$/.test(String(value));
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongNumber);
}

test('a key given twice in one object is refused, however it is spelled; in two objects it is not', () => {
  const keys = fc.string({ unit: 'grapheme', maxLength: 8 });
  const escaped = (key: string) =>
    `"${key
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')}"`;
  fc.assert(
    fc.property(keys, keys, (key, other) => {
      const [plain, spelled] = [JSON.stringify(key), escaped(key)];
      for (const second of [plain, spelled]) {
        assert.match(problemOf(`{${plain}: 1, "x y": [{}], ${second}: ":"}`) ?? '', /is given twice/);
        assert.match(problemOf(`[{"a": {${spelled}: "{", ${second}: 2}}]`) ?? '', /is given twice/);
        assert.equal(problemOf(`[{${plain}: 1}, {${second}: {${spelled}: ${JSON.stringify(other)}}}]`), null);
      }
      if (key !== other) assert.equal(problemOf(`{${plain}: ":", ${JSON.stringify(other)}: "{"}`), null);
    }),
    {
      numRuns: 500,
      examples: [
        ['"', '\\'],
        ['__proto__', 'constructor'],
      ],
    },
  );
});

test('depth counts what is open at once, and nothing inside of a string', () => {
  assert.equal(problemOf(`${'['.repeat(32)}${']'.repeat(32)}`), null);
  assert.match(problemOf(`${'['.repeat(33)}${']'.repeat(33)}`) ?? '', /deeper than 32/);
  assert.equal(problemOf(`["${'['.repeat(99)}", "\\"${'{'.repeat(99)}"]`), null);
  assert.equal(problemOf(`[${'[],'.repeat(99)}1]`), null);
});

test('whatever else comes is a problem that is told, and never a fault', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,\\ua1.-e \n') }), (text) => {
      const isJson = (() => {
        try {
          JSON.parse(text);
          return true;
        } catch {
          return false;
        }
      })();
      if (!isJson) assert.notEqual(problemOf(text), null);
    }),
    { numRuns: 5_000 },
  );
});
