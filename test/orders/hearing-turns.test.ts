// Whose turn it is to be heard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as aMoment } from 'node:timers/promises';
import { createHearingTurns } from '../../src/app/orders/hearing-turns.ts';

const MINUTE = 60_000;

/** What each does is noted as it is done. */
function webhook(patienceMs = MINUTE) {
  const turns = createHearingTurns(patienceMs);
  const heard: string[] = [];
  return {
    heard,
    arrive(name: string) {
      const place = turns.arrive('a webhook');
      return {
        end: place.end,
        turn: (about: string) => place.turn(about).then(() => void heard.push(name)),
      };
    },
  };
}

test('Whoever arrived first is heard first, also where a later one was let in sooner', async () => {
  const { heard, arrive } = webhook();
  const [first, second, third] = [arrive('first'), arrive('second'), arrive('third')];
  const later = [third.turn('BTCUSDT'), second.turn('BTCUSDT')];
  await aMoment();
  assert.deepEqual(heard, []);
  await first.turn('BTCUSDT');
  first.end();
  await later[1];
  await aMoment();
  assert.deepEqual(heard, ['first', 'second']);
  second.end();
  await later[0];
  assert.deepEqual(heard, ['first', 'second', 'third']);
});

test('Nobody waits for whoever is refused, is about another symbol, or arrived later', async () => {
  const { heard, arrive } = webhook();
  const [refused, other, own, late] = [arrive('refused'), arrive('other'), arrive('own'), arrive('late')];
  const turns = [other.turn('ETHUSDT'), own.turn('BTCUSDT'), late.turn('BTCUSDT')];
  await aMoment();
  assert.deepEqual(heard, [], 'of the first nobody knows yet what it is about');
  refused.end();
  await Promise.all(turns.slice(0, 2));
  await aMoment();
  assert.deepEqual(heard, ['other', 'own']);
  own.end();
  await turns[2];
  assert.deepEqual(heard, ['other', 'own', 'late']);
});

test('Nor for whoever takes too long; and what has ended twice has ended', async () => {
  const { heard, arrive } = webhook(20);
  const [stuck, second] = [arrive('stuck'), arrive('second')];
  await second.turn('BTCUSDT');
  assert.deepEqual(heard, ['second']);
  second.end();
  second.end();
  stuck.end();
  const third = arrive('third');
  await third.turn('BTCUSDT');
  third.end();
  assert.deepEqual(heard, ['second', 'third']);
});

test('Of whoever hangs for ever one waits in vain, and those that come later do not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { heard, arrive } = webhook();
  const [stuck, second, other] = [arrive('stuck'), arrive('second'), arrive('other')];
  const waits = [second.turn('BTCUSDT'), other.turn('ETHUSDT')];
  t.mock.timers.tick(MINUTE);
  await Promise.all(waits);
  const third = arrive('third');
  const last = third.turn('BTCUSDT');
  await aMoment();
  assert.deepEqual(heard, ['second', 'other'], 'the second is heard now, and the third waits for that');
  second.end();
  await last;
  assert.deepEqual(heard, ['second', 'other', 'third']);
  // It comes to itself, and waits for nobody who was heard since.
  third.end();
  await stuck.turn('BTCUSDT');
  assert.deepEqual(heard, ['second', 'other', 'third', 'stuck']);
});
