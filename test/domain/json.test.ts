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

test('what has been changed anywhere is read as the platform reads it, or refused', () => {
  const put = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.constantFrom(
      '\\',
      '\\"',
      '\\u00e9',
      '\\ud83d',
      '\\x',
      '\n',
      '\t',
      '"',
      '1e5',
      '-0',
      '.5',
      '01',
      '\ufeff',
      '\u2028',
    ),
  );
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), put, (json, where, more) => {
      const at = where % (json.length + 1);
      // As it comes over the wire, which has no half of a character.
      const text = (json.slice(0, at) + more + json.slice(at)).toWellFormed();
      const reading = read(text);
      let parsed: unknown;
      try {
        parsed = JSON.parse(text.replace(/^\ufeff/, ''));
      } catch {
        return assert.ok('problem' in reading, text);
      }
      if ('problem' in reading) return assert.match(reading.problem, /is given twice/, text);
      const plain = plainJson(reading.value);
      if (plain) assert.deepEqual(plain.plain, withoutMinusZero(parsed), text);
    }),
    { numRuns: 3_000 },
  );
});

/** We carry no such zero. */
const withoutMinusZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a string is as long as it takes, and a name may be any', () => {
  const long = `\\"${'\\\\'.repeat(20_000)}${'\\"'.repeat(20_000)}`;
  const reading = read(`{"__proto__": {"a": "${long}"}, "constructor": 1}`);
  assert.ok('value' in reading);
  const value = reading.value as Record<string, unknown>;
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  const [[name, own] = [], [other] = []] = Object.entries(value);
  assert.deepEqual([name, other], ['__proto__', 'constructor']);
  assert.deepEqual(own, { a: JSON.parse(`"${long}"`) });
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
