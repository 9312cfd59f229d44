// What the notifications' page says of destinations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENTS } from '../../src/domain/notification.ts';
import {
  answerOf,
  type EventKind,
  eventsInWords,
  GROUPS,
  USUAL,
  whatToDo,
} from '../../web/pages/notifications/words.ts';

test('every event can be chosen, once', () => {
  const offered = GROUPS.flatMap(({ events }) => events.map(([kind]) => kind));
  assert.deepEqual(offered.toSorted(), EVENTS.toSorted());
});

test('what is chosen is said in words, however much it is', () => {
  assert.equal(eventsInWords(EVENTS), 'everything');
  assert.equal(eventsInWords(USUAL), 'everything but a fill');
  assert.equal(eventsInWords([]), 'nothing');
  assert.equal(eventsInWords(['fill', 'gap']), 'a fill, an alert never arrived');
  const some: EventKind[] = ['fill', 'gap', 'drift', 'silence'];
  assert.equal(eventsInWords(some), '4 of 13 kinds of events');
});

test('the first sentence is about the worst', () => {
  assert.equal(answerOf([]).lead, 'Only mail');
  assert.equal(answerOf([{ state: 'working' }, { state: 'dead' }]).lead, '1 destination is dead');
  assert.equal(answerOf([{ state: 'failing' }, { state: 'failing' }]).lead, '2 destinations do not answer');
  assert.equal(answerOf([{ state: 'working' }, { state: 'paused' }]).lead, '2 destinations');
});

test('who has a dead destination is told what to do', () => {
  for (const kind of ['telegram', 'webhook'] as const)
    assert.match(whatToDo({ state: 'dead', kind }) ?? '', /send a test/);
  assert.equal(whatToDo({ state: 'working', kind: 'slack' }), null);
});
