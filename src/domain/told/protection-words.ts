// What is said of a protection in the audit log, in notifications and on the first page: what happened, and what to do about it.

import { millis, type Timestamp } from '../ids.ts';
import { isNotListed } from '../protection/credentials.ts';
import type { ExitReason, Protection } from '../protection/protection.ts';
import type { ToldEntry, ToldLeg } from '../protection/told.ts';
import { isPartTold } from '../protection/whole.ts';

/** Why a position was closed, as a sentence. */
export const EXIT_WORDS: Readonly<Record<ExitReason, string>> = {
  stop_loss: 'The stop was reached.',
  trailing_stop: 'The trailing stop was reached.',
  break_even: 'The stop at break-even was reached.',
  take_profit: 'A target was reached.',
  time_stop: 'The time of its time stop had come.',
  unprotected:
    'The broker did not take its stop, and the account’s setting “unprotected” says to close then.',
};

/** Of what somebody takes away at the broker, and we put back. */
const REMOVE_FOR_GOOD: Readonly<Record<ToldLeg, string>> = {
  stop: 'To remove it for good, send "protect" with "stop_loss": "none".',
  target: 'To remove it for good, send "protect" with "take_profit": "none".',
};

/** "the long position in BTCUSDT" */
export const positionOf = ({ side, symbol }: Pick<Protection, 'side' | 'symbol'>): string =>
  `the ${side} position in ${symbol}`;

/** A sentence, or a few. */
export function protectionText(
  protection: Protection,
  { action, metadata, failure }: ToldEntry,
  now: number,
): string {
  const position = positionOf(protection);
  const leg = metadata.leg as ToldLeg | undefined;
  switch (action) {
    case 'protection_set':
      return `${capital(position)} is to be protected: ${wantedInWords(protection)}.`;
    case 'protection_removed':
      return `What protected ${position} was removed.`;
    case 'protection_triggered':
      return `${EXIT_WORDS[metadata.exit_reason as ExitReason]} It closes ${metadata.exit_reason === 'take_profit' ? 'its part of ' : ''}${position}.`;
    case 'protection_restored':
      if (metadata.has_expired === true)
        return `The stop of ${position} has expired at the broker, and is placed again${at(protection)}. Nobody took it away.`;
      return `${restored(protection, leg)} ${times(metadata)} ${REMOVE_FOR_GOOD[leg ?? 'stop']}`;
    case 'protection_failed':
      return failed(protection, metadata, stopped(failure ?? ''));
    case 'position_unprotected':
      return unprotectedText(protection, metadata.is_given_up === true);
    case 'position_unprotected_ended':
      return metadata.state === 'standing'
        ? `${capital(position)} is protected again${stopAt(protection)}, after ${lasted(metadata.since, now)} without a stop.`
        : `${capital(position)}, which had no stop for ${lasted(metadata.since, now)}, is closed, or not watched any more.`;
  }
}

const unprotectedText = (protection: Protection, isGivenUp: boolean): string => {
  const { unprotectedSince } = protection;
  const since = unprotectedSince === null ? '' : ` since ${clockTime(unprotectedSince)}`;
  return `${capital(positionOf(protection))} has no stop at the broker${since}. ${whyUnprotected(protection, isGivenUp)}`;
};

/** What is the matter, and what to do. `isGivenUp`: it was put back again and again, and is not any more. */
export function whyUnprotected(protection: Protection, isGivenUp: boolean): string {
  const { reason, refused, stop, state } = protection;
  if (isGivenUp)
    return `It was put back three times within an hour, and taken away or changed again each time: another program, or another person, does not want it. Find out who does that, then send "protect" with the stop that you want, or with "stop_loss": "none", or close the position.`;
  const why = refused?.words ?? reason;
  const tried =
    state === 'unwatched' && !isNotListed(protection)
      ? 'Nothing can be placed there until new credentials are verified.'
      : stop === null || state === 'unwatched' || isPartTold(protection)
        ? ''
        : `Placing it at ${stop.price} is tried again and again.`;
  return [
    why === null ? '' : stopped(why),
    tried,
    'Look at the position at your broker, and set the stop there or close the position if you do not want to wait.',
  ]
    .filter(Boolean)
    .join(' ');
}

const wantedInWords = ({ stop, targets, trail, breakEven, timeStopAt }: Protection): string =>
  [
    ...(stop ? [`a stop at ${stop.price}`] : []),
    ...(trail ? [`which follows at a distance of ${trail.distance}`] : []),
    ...(breakEven
      ? [`at break-even from ${breakEven.at === 'tp1' ? 'the first target' : breakEven.at} on`]
      : []),
    ...targets.map(({ price, percent }) => `a target at ${price} for ${percent} %`),
    ...(timeStopAt ? [`a close at ${timeStopAt}`] : []),
  ].join(', ');

const stopAt = ({ stop }: Protection): string => (stop === null ? '' : ` by a stop at ${stop.price}`);

const restored = (protection: Protection, leg: ToldLeg | undefined): string =>
  leg === 'target'
    ? `A target of ${positionOf(protection)} was taken away or changed at the broker, and is put back.`
    : `The stop of ${positionOf(protection)} was taken away or changed at the broker, and is put back${protection.stop ? ` at ${protection.stop.price}` : ''}.`;

const times = ({ times_in_an_hour, is_last }: ToldEntry['metadata']): string =>
  is_last === true
    ? 'That was the third time within an hour: once more, and it is not put back.'
    : `That was the ${times_in_an_hour === 2 ? 'second' : 'first'} time within an hour.`;

function failed(protection: Protection, metadata: ToldEntry['metadata'], words: string): string {
  const position = positionOf(protection);
  if (metadata.exit_reason !== undefined)
    return `No stop could be placed for ${position}: ${words} It is closed at the market, as the account’s setting “unprotected” says.`;
  if (metadata.state === 'ended')
    return `${capital(position)} is not protected any more: ${words} Look at it at your broker.`;
  if (metadata.is_given_up === true)
    return `${capital(position)}: ${words} The stop is not concerned. Send "protect" with the targets that you want.`;
  if (metadata.leg === 'target')
    return `The broker refuses a target of ${position}: ${words} The stop is not concerned; the target is tried again with every sweep. Set another one with "protect", or remove it.`;
  if (metadata.state === 'standing')
    return `The broker refuses the new stop${at(protection)} of ${position}: ${words} What stood before stands on, and it is tried again. Set another one with "protect".`;
  return `The broker refuses the stop${at(protection)} of ${position}: ${words} It is tried again; if it stays refused, the account’s setting “unprotected” says whether the position is closed.`;
}

const at = ({ stop }: Protection): string => (stop === null ? '' : ` at ${stop.price}`);

/** With a full stop at its end. */
export const stopped = (words: string): string => `${words.replace(/[.\s]+$/, '')}.`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "19:00:10 UTC" */
const clockTime = (time: Timestamp): string => `${time.slice(11, 19)} UTC`;

function lasted(since: unknown, now: number): string {
  const seconds = Math.max(1, Math.round((now - millis(since as Timestamp)) / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
}
