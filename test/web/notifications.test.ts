// What the notifications' page says of destinations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GivenAddress, readAddress } from '../../src/domain/told/destination-address.ts';
import { EVENTS } from '../../src/domain/told/notification.ts';
import {
  answerOf,
  type EventKind,
  eventsInWords,
  GROUPS,
  mailInWords,
  refusedField,
  USUAL,
  whatToDo,
} from '../../web/pages/notifications/words.ts';
import { TELEGRAM } from '../notify/desk.ts';

const WITH_MAIL = { mail: true };
const WITHOUT_MAIL = { mail: false };

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
  assert.equal(eventsInWords(some), '4 of 18 kinds of events');
});

test('the first sentence is about the worst', () => {
  assert.equal(answerOf([{ state: 'working' }, { state: 'dead' }], WITH_MAIL).lead, '1 destination is dead');
  assert.equal(
    answerOf([{ state: 'failing' }, { state: 'failing' }], WITH_MAIL).lead,
    '2 destinations are failing',
  );
  assert.equal(answerOf([{ state: 'working' }, { state: 'paused' }], WITH_MAIL).lead, '2 destinations');
});

test('mail tells only where the operator has a mail server', () => {
  const whole = (...asked: Parameters<typeof answerOf>) => {
    const { lead, rest } = answerOf(...asked);
    return lead + rest;
  };
  assert.equal(whole([], WITH_MAIL), 'Only mail tells you when something happens');
  assert.equal(whole([], WITHOUT_MAIL), 'Nothing tells you when something happens');
  assert.equal(whole([{ state: 'working' }], WITH_MAIL), '1 destination beside mail');
  assert.equal(whole([{ state: 'working' }], WITHOUT_MAIL), '1 destination, and no mail');
  // Until it is known, neither is said.
  assert.equal(whole([{ state: 'working' }], { mail: null }), '1 destination');
  assert.doesNotMatch(whole([], { mail: null }), /mail|Nothing/);
  assert.match(mailInWords(false) ?? '', /no mail server/);
});

test('a wrong address is refused at its field, in the words of the page', () => {
  const bad: [GivenAddress, string, string][] = [
    [{ kind: 'telegram', botToken: 'x', chatId: '1' }, 'bot_token', 'The bot token must'],
    [{ kind: 'telegram', botToken: TELEGRAM.bot_token, chatId: 'a b' }, 'chat_id', 'The chat id must'],
    [{ kind: 'discord', url: 'https://example.com/x' }, 'url', 'The address must be a Discord webhook'],
    [{ kind: 'slack', url: 'https://example.com/x' }, 'url', 'The address must be a Slack incoming webhook'],
    [{ kind: 'webhook', url: 'example.com' }, 'url', 'The address must look like https://'],
    [{ kind: 'webhook', url: 'http://example.com/x' }, 'url', 'The address must begin with https://'],
    [{ kind: 'webhook', url: 'https://a:b@example.com/x' }, 'url', 'The address must not contain a user'],
    [{ kind: 'webhook', url: 'https://example.com/#x' }, 'url', 'The address must not contain a fragment'],
  ];
  for (const [given, field, begins] of bad) {
    const read = readAddress(given, { mayBePlain: false });
    assert.ok('problem' in read);
    const refused = refusedField({ code: 'notification_address_invalid', detail: read.problem });
    assert.equal(refused?.field, field);
    assert.ok(refused?.words.startsWith(begins), refused?.words);
    assert.doesNotMatch(refused?.words ?? '', /url|_/);
  }
  assert.equal(refusedField({ code: 'too_many', detail: 'url must be else' }), null);
});

test('who has a dead destination is told what to do', () => {
  for (const kind of ['telegram', 'webhook'] as const)
    assert.match(whatToDo({ state: 'dead', kind }) ?? '', /send a test/);
  assert.equal(whatToDo({ state: 'working', kind: 'slack' }), null);
});

test('who has a failing one is told what is tried again, and what to look for', () => {
  for (const kind of ['telegram', 'slack'] as const)
    assert.match(whatToDo({ state: 'failing', kind }) ?? '', /a test is not\..*send a test/);
});
