// A position that is closed by the clock: how it is said, and which moment is meant.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readTimeStop, timeStopAt, timeStopText } from '../../src/domain/protection/time-stop.ts';
import { readJson } from '../../src/domain/signals/json.ts';

function written(json: string): unknown {
  const reading = readJson(Buffer.from(json));
  assert.ok('value' in reading, json);
  return reading.value;
}

const read = (value: unknown) => {
  const stop = readTimeStop('time_stop', value);
  return 'problem' in stop ? stop.problem : timeStopText(stop);
};

describe('A time stop', () => {
  // biome-ignore format: a table, one form a line
  const FORMS: Readonly<Record<string, readonly string[]>> = {
    '3600': ['3600', '"3600"', '3600.0', '3.6e3', '" 3600 "'],
    '60': ['60'],
    '2592000': ['2592000', '"2592000"'],
    '15:55 America/New_York': ['"15:55 America/New_York"', '"15:55  america/new_york"', '" 15:55 AMERICA/NEW_YORK "'],
    '09:30 Asia/Taipei': ['"09:30 Asia/Taipei"', '"9:30 Asia/Taipei"'],
    '00:00 UTC': ['"00:00 UTC"', '"0:00 utc"'],
  };
  for (const [form, spellings] of Object.entries(FORMS))
    test(`${form} is one form of ${spellings.length} spellings`, () => {
      for (const spelling of spellings) {
        assert.equal(read(written(spelling)), form, spelling);
        assert.equal(read(JSON.parse(spelling)), form, spelling);
      }
      assert.equal(read(form), form);
    });

  // biome-ignore format: a list
  for (const spelling of ['59', '2592001', '0', '-60', '90.5', '1e300', '""', '"soon"', '"1h"', '"15:55"', '"24:00 UTC"', '"15:60 UTC"', '"15:5 UTC"', '"15:55 Mars/Phobos"', '"15:55 +08:00"', '"15:55 America/New_York tomorrow"', '"3:55 pm America/New_York"', 'true', 'null', '[]', '{"seconds": 60}'])
    test(`is not ${spelling}`, () => {
      const words = read(written(spelling));
      assert.ok(words.startsWith('"time_stop" is '), words);
      assert.match(words, /send whole seconds after the first fill, from 60 to 2592000, or a time of day with its zone, as "15:55 America\/New_York"\.$/);
    });

  test('is not what the platform did not fill in', () => {
    for (const value of ['NaN', 'na', '{{plot_0}}']) assert.match(read(value), /did not fill it in/);
  });
});

const at = (iso: string) => Date.parse(iso);
const iso = (ms: number) => new Date(ms).toISOString();
const closes = (said: string, filledAt: number): number => {
  const stop = readTimeStop('time_stop', said);
  assert.ok(!('problem' in stop));
  return timeStopAt(stop, filledAt);
};

describe('The moment of a time stop', () => {
  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [said: string, filled: string, moment: string, why: string])[] = [
    ['3600', '2026-11-15T10:00:00.500Z', '2026-11-15T11:00:00.500Z', 'seconds after the fill'],
    ['15:55 America/New_York', '2026-11-16T15:00:00Z', '2026-11-16T20:55:00.000Z', 'later on that day, in winter'],
    ['15:55 America/New_York', '2026-07-15T15:00:00Z', '2026-07-15T19:55:00.000Z', 'later on that day, in summer'],
    ['15:55 America/New_York', '2026-11-16T20:55:00Z', '2026-11-17T20:55:00.000Z', 'at that very moment: the next day'],
    ['15:55 America/New_York', '2026-11-16T20:54:59.999Z', '2026-11-16T20:55:00.000Z', 'just before it'],
    ['15:55 America/New_York', '2026-11-16T22:00:00Z', '2026-11-17T20:55:00.000Z', 'past it: the next day'],
    ['15:55 America/New_York', '2026-03-07T21:00:00Z', '2026-03-08T19:55:00.000Z', 'over the change to summer time: 23 hours'],
    ['15:55 America/New_York', '2026-10-31T20:00:00Z', '2026-11-01T20:55:00.000Z', 'over the change to winter time: 25 hours'],
    ['02:30 America/New_York', '2026-03-08T05:00:00Z', '2026-03-08T07:30:00.000Z', 'a time that is skipped: when the clock would have shown it'],
    ['01:30 America/New_York', '2026-11-01T04:00:00Z', '2026-11-01T05:30:00.000Z', 'a time that comes twice: the first'],
    ['01:30 America/New_York', '2026-11-01T05:45:00Z', '2026-11-01T06:30:00.000Z', 'between the two: the second'],
    ['13:25 Asia/Taipei', '2026-11-16T04:00:00Z', '2026-11-16T05:25:00.000Z', 'east of here'],
    ['00:00 Asia/Taipei', '2026-11-16T15:59:59Z', '2026-11-16T16:00:00.000Z', 'midnight, there'],
    ['02:15 Australia/Lord_Howe', '2026-10-03T14:00:00Z', '2026-10-03T15:45:00.000Z', 'where half an hour is skipped'],
    ['12:00 UTC', '1969-12-31T11:00:00Z', '1969-12-31T12:00:00.000Z', 'before the epoch'],
  ];
  for (const [said, filled, moment, why] of ROWS)
    test(`${said}, filled at ${filled}: ${why}`, () => {
      assert.equal(iso(closes(said, at(filled))), moment);
    });

  const zone = fc.constantFrom(
    ...['America/New_York', 'Europe/Berlin', 'Asia/Taipei', 'Australia/Lord_Howe', 'UTC', 'America/St_Johns'],
    ...['Pacific/Apia', 'Asia/Kolkata', 'Pacific/Chatham', 'America/Santiago', 'Africa/Casablanca'],
  );
  const clockAt = (moment: number, timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(moment);

  test('is the first minute after the fill at which a clock there shows it, unless that is skipped', () => {
    fc.assert(
      fc.property(
        zone,
        fc.nat({ max: 1439 }),
        fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') }),
        (where, minutes, filledAt) => {
          const time = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
          const moment = closes(`${time} ${where}`, filledAt);
          assert.ok(moment > filledAt && moment - filledAt <= 26 * 3_600_000);
          assert.equal(moment % 60_000, 0);
          if (clockAt(moment, where) !== time) return;
          // No quarter of an hour before it shows it: clocks change by no less.
          for (let earlier = moment - 900_000; earlier > filledAt; earlier -= 900_000)
            assert.notEqual(clockAt(earlier, where), time);
        },
      ),
      { numRuns: 300 },
    );
  });
});
