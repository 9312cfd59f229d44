// What is told of a change of a protection: each thing once, in words that say what to do.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId, OrderId, UserId } from '../../src/domain/ids.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { EXIT_REASONS, type Protection } from '../../src/domain/protection/protection.ts';
import { changesOf } from '../../src/domain/protection/told.ts';
import { EXIT_WORDS, protectionText } from '../../src/domain/told/protection-words.ts';

const NOW = Date.parse('2026-07-15T19:00:30Z');
const ago = (seconds: number) => timestamp(NOW - seconds * 1000);

const STANDING: Protection = {
  id: 'a-protection',
  version: 3,
  userId: 'a-user' as UserId,
  accountId: 'an-account' as AccountId,
  brokerName: 'paper',
  simulation: false,
  symbol: 'BTCUSDT',
  instrument: 'BTCUSDT',
  side: 'long',
  state: 'standing',
  reason: null,
  wantedBy: [],
  setBy: 'an-order' as OrderId,
  heard: [],
  adopted: { order: 'an-order' as OrderId, entry: decimal('65000') },
  stop: { price: decimal('64000'), kind: 'stop_loss' },
  targets: [],
  trail: null,
  breakEven: null,
  timeStopAt: null,
  revision: 2,
  legs: [],
  refused: null,
  restoredAt: [],
  targetsRestoredAt: [],
  expiredAt: [],
  movedAt: null,
  targetsAgainAt: null,
  suspendedAt: null,
  closesFor: null,
  closing: null,
  isResumed: false,
  credentialsVersion: null,
  unprotectedSince: null,
  unprotectedMs: 40,
  seenAt: ago(1),
  dueAt: null,
};

/** What the audit log says of the change from one to the other. */
function said(before: Partial<Protection>, after: Partial<Protection>): string[] {
  const to = { ...STANDING, ...after };
  const { audit } = changesOf({ ...STANDING, ...before }, to, NOW);
  return audit.map((entry) => `${entry.action}: ${protectionText(to, entry, NOW)}`);
}
const lines = (before: Partial<Protection>, after: Partial<Protection>) =>
  changesOf({ ...STANDING, ...before }, { ...STANDING, ...after }, NOW).history.map(({ what }) => what);

describe('The audit log', () => {
  test('says what a position is to be protected with, and that nothing is any more', () => {
    const set = {
      targets: [{ price: decimal('70000'), percent: decimal('50'), closed: decimal('0'), isFilled: false }],
      trail: null,
    };
    assert.deepEqual(said({ adopted: null }, set), [
      'protection_set: The long position in BTCUSDT is to be protected: a stop at 64000, a target at 70000 for 50 %.',
    ]);
    const removed = {
      adopted: { order: 'another' as OrderId, entry: decimal('65000') },
      stop: null,
    };
    assert.deepEqual(said({}, removed), [
      'protection_removed: What protected the long position in BTCUSDT was removed.',
    ]);
  });

  test('of a stop that was put back says how to remove it for good, and of the third time that it was the last', () => {
    const put = (times: number) => Array.from({ length: times }, (_, nth) => ago(10 * (times - nth)));
    const [first] = said({}, { restoredAt: put(1) });
    assert.equal(
      first,
      'protection_restored: The stop of the long position in BTCUSDT was taken away or changed at the broker, and is put back at 64000. That was the first time within an hour. To remove it for good, send "protect" with "stop_loss": "none".',
    );
    const [third] = said({ restoredAt: put(3).slice(0, 2) }, { restoredAt: put(3) });
    assert.match(third ?? '', /That was the third time within an hour: once more, and it is not put back\./);
    const [target] = said({}, { targetsRestoredAt: put(1) });
    assert.match(target ?? '', /A target of the long .* send "protect" with "take_profit": "none"\.$/);
  });

  test('does not say of the fourth time that it was put back, but that the position is unprotected', () => {
    const times = [ago(30), ago(20), ago(10), ago(1)];
    const before = { restoredAt: times.slice(0, 3) };
    const after = {
      restoredAt: times,
      state: 'unprotected',
      unprotectedSince: ago(1),
      reason: 'taken away again and again',
    } as const;
    const [only, ...others] = said(before, after);
    assert.deepEqual(others, []);
    assert.match(
      only ?? '',
      /^position_unprotected: The long position in BTCUSDT has no stop at the broker since 19:00:29 UTC\. It was put back three times within an hour/,
    );
    assert.deepEqual(lines(before, after), ['stop_not_restored', 'unprotected']);
  });

  test('tells a refusal once, in the broker’s words, however often it is tried', () => {
    const refused = (times: number) =>
      ({
        refused: { times, firstAt: ago(20), lastAt: ago(20 - times), words: 'No stops today' },
        state: 'armed',
        unprotectedSince: ago(20),
      }) as const;
    assert.deepEqual(said({ state: 'armed' }, refused(1)), [
      'protection_failed: The broker refuses the stop at 64000 of the long position in BTCUSDT: No stops today. It is tried again; if it stays refused, the account’s setting “unprotected” says whether the position is closed.',
    ]);
    assert.deepEqual(said(refused(1), refused(2)), []);
    // The history is not filled with what is the same every time.
    assert.deepEqual(lines(refused(3), refused(4)), ['refused']);
    assert.deepEqual(lines(refused(4), refused(5)), []);
  });

  test('says of a stop that the price has passed that it closes, and not that it was refused', () => {
    const passed = {
      refused: { times: 1, firstAt: ago(1), lastAt: ago(1), words: 'would trigger at once' },
      closesFor: 'stop_loss',
    } as const;
    assert.deepEqual(said({}, passed), []);
  });

  test('says of a refused target that the stop is not concerned', () => {
    const [only] = said({}, { targetsAgainAt: ago(-30), reason: 'Too many orders.' });
    assert.match(
      only ?? '',
      /^protection_failed: The broker refuses a target .*: Too many orders\. The stop is not concerned/,
    );
    assert.deepEqual(
      said({ targetsAgainAt: ago(0) }, { targetsAgainAt: ago(-30), reason: 'Too many orders.' }),
      [],
    );
  });

  test('says when a position became unprotected and when that ended, once each, though nobody could look in between', () => {
    const away = { state: 'unprotected', unprotectedSince: ago(12), reason: 'no answer' } as const;
    assert.match(
      said({ state: 'armed', unprotectedSince: ago(12) }, away)[0] ?? '',
      /^position_unprotected: .* since 19:00:18 UTC\. no answer\. Placing it at 64000 is tried again and again\. Look at the position/,
    );
    assert.deepEqual(said(away, { ...away, state: 'unwatched' }), []);
    assert.deepEqual(said({ ...away, state: 'unwatched' }, {}), [
      'position_unprotected_ended: The long position in BTCUSDT is protected again by a stop at 64000, after 12 s without a stop.',
    ]);
    assert.match(
      said(away, { state: 'ended' })[0] ?? '',
      /^position_unprotected_ended: .* is closed, or not watched any more\.$/,
    );
    // A stop that stands while nobody can look is no position without one.
    assert.deepEqual(said({}, { state: 'unwatched', reason: 'key revoked' }), []);
  });

  test('says that nothing can stand for an instrument that is gone', () => {
    const [only] = said({}, { state: 'ended', reason: 'BTCUSDT is not listed' });
    assert.match(
      only ?? '',
      /^protection_failed: .* is not protected any more: BTCUSDT is not listed\. Look at it at your broker\.$/,
    );
  });
});

test('every reason for which protection closes has its sentence', () => {
  for (const reason of EXIT_REASONS) assert.match(EXIT_WORDS[reason], /^[A-Z].*\.$/);
});
