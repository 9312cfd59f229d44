// What users can be told of beside mail, and to which of their destinations it goes. An event is made of what was committed;
// its words are plain, short and without secrets. How a channel writes them is the channel's business.

import { type AccountId, millis, type Timestamp, type UserId } from '../ids.ts';

export const EVENTS = [
  'order_failed',
  'order_unknown',
  'dead_letter',
  'fill',
  'stop_hit',
  'target_hit',
  'unprotected',
  'protection_failed',
  'protection_restored',
  'gap',
  'drift',
  'silence',
  'guard_refused',
  'broker_disconnected',
  'credentials_refused',
  'attack',
  'limit',
  'daily_summary',
] as const;
export type EventKind = (typeof EVENTS)[number];

export const DESTINATION_KINDS = ['telegram', 'discord', 'slack', 'webhook'] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/** Of one user: destinations cost us requests to strangers. */
export const MOST_DESTINATIONS = 10;

export interface Event {
  readonly kind: EventKind;
  readonly at: Timestamp;
  readonly userId: UserId;
  /** null: it is about no account. */
  readonly accountId: AccountId | null;
  readonly title: string;
  readonly text: string;
  /** Of the page that shows it. */
  readonly path: string;
  /** For programs; what is in it has a name in the API too. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Behind another one's words nobody would look after it, and it is about real money: many of a minute are told by themselves. */
  readonly mustBeNamed?: boolean;
}

/** What is about several accounts, as one event for each destination. */
export interface Several {
  readonly userId: UserId;
  /** null: there is nothing in it that is wanted. */
  as(filter: Filter): Event | null;
}

/** What is sent: an event, or that many of a kind were folded, or a trial. */
export interface Message {
  /** The same with every attempt: who gets it twice can tell. */
  readonly id: string;
  readonly event: EventKind | 'test';
  readonly at: Timestamp;
  readonly title: string;
  readonly text: string;
  readonly link: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Filter {
  readonly events: readonly EventKind[];
  /** null: of all. */
  readonly accountIds: readonly AccountId[] | null;
  /** Of its making, or since it is no longer paused: what was before does not concern it. */
  readonly listensSince: Timestamp;
}

/** As it is told there; null: it is not. What is about no account concerns whoever asked for it. */
export function toldAt(filter: Filter, told: Event | Several, begunAt: Timestamp): Event | null {
  if (begunAt < filter.listensSince) return null;
  if ('as' in told) return told.as(filter);
  const { events, accountIds } = filter;
  const isMeant = told.accountId === null || accountIds === null || accountIds.includes(told.accountId);
  return isMeant && events.includes(told.kind) ? told : null;
}

// Bursts

/**
 * Of these each is another position or order that somebody has to look at: whatever a burst holds, each is told by itself, and has room
 * where nothing else has.
 */
const NEVER_FOLDED: ReadonlySet<EventKind> = new Set([
  'order_unknown',
  'dead_letter',
  'unprotected',
  'protection_failed',
]);
export const isNeverFolded = ({ kind }: Event): boolean => NEVER_FOLDED.has(kind);

/** Of one kind, to one destination, within a minute; of the others of that minute those with one title become one message. */
const MOST_IN_A_MINUTE = 5;
/** A strategy may send an exit a second into a closed market, for as long as it is closed. */
const MOST_NAMED_IN_A_MINUTE = 20;

/** `alone`: so many of its kind are told by themselves in this minute. */
export const isFolded = (event: Event, alone: number): boolean =>
  !isNeverFolded(event) && alone >= (event.mustBeNamed ? MOST_NAMED_IN_A_MINUTE : MOST_IN_A_MINUTE);

const MINUTE_MS = 60_000;

export const endOfMinute = (now: number): number => now - (now % MINUTE_MS) + MINUTE_MS;

/**
 * All of one minute that say the same have one; unique per destination. The title tells what was simulated from what was not; what is to
 * be named stands behind the words of its like only.
 */
export const foldOf = ({ kind, title, mustBeNamed }: Event, now: number): string =>
  `${kind}:${endOfMinute(now)}:${mustBeNamed ? 'named:' : ''}${title}`;

export const foldedText = (last: string, folded: number): string =>
  folded <= 1 ? last : `${last} And ${folded - 1} more of this kind within the same minute.`;

// Attempts

/** What became of an attempt. `again`: it may go well later; `isRefusal`: unless it is this message that is refused. `unfit`: this message is refused, and others need not be. `gone`: nothing sent there will ever arrive. */
export type Attempt =
  | { readonly outcome: 'delivered' }
  | {
      readonly outcome: 'again';
      readonly error: string;
      readonly retryAfterMs?: number;
      readonly isRefusal?: boolean;
    }
  | { readonly outcome: 'unfit' | 'gone'; readonly error: string };

/** A receiver that is being changed may refuse everything for so long. What it still refuses then holds up no other message. */
const REFUSED_MS = 600_000;

/** `before`: the message, with what its last attempt failed for. One refusal alone, or the first one after an outage, is no verdict. */
export const outcomeOf = (
  attempt: Attempt,
  before: { readonly createdAt: Timestamp; readonly lastError: string | null },
  now: number,
): Attempt =>
  attempt.outcome === 'again' &&
  attempt.isRefusal &&
  attempt.error === before.lastError &&
  now - millis(before.createdAt) >= REFUSED_MS
    ? { outcome: 'unfit', error: attempt.error }
    : attempt;

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** A message that is older is of no use to anybody, and a destination that took none for so long is dead. */
export const DELIVERY_LIFE_MS = 86_400_000;
/** Within it: a destination that was tried less often has not had its chance. */
const FEWEST_FAILURES = 10;

/** After this failure in a row, the first being 1. `luck`, from 0 to 1, spreads those who fail together. */
export function pauseMs(failures: number, luck: number, retryAfterMs = 0): number {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20));
  // A stranger does not make us wait for ever.
  return Math.round(Math.max(pause * (0.8 + 0.4 * luck), Math.min(retryAfterMs, LONGEST_PAUSE_MS)));
}

export const isHopeless = ({ failures, failingMs }: { failures: number; failingMs: number }): boolean =>
  failures >= FEWEST_FAILURES && failingMs >= DELIVERY_LIFE_MS;

// The state of a destination, as it is shown

export const DESTINATION_STATES = ['new', 'working', 'failing', 'dead', 'paused'] as const;
export type DestinationState = (typeof DESTINATION_STATES)[number];

export interface Health {
  readonly createdAt: Timestamp;
  readonly pausedAt: Timestamp | null;
  readonly deadSince: Timestamp | null;
  readonly failingSince: Timestamp | null;
  readonly workingSince: Timestamp | null;
}

export function stateOf(health: Health): { readonly state: DestinationState; readonly since: Timestamp } {
  const { createdAt, pausedAt, deadSince, failingSince, workingSince } = health;
  if (deadSince) return { state: 'dead', since: deadSince };
  if (pausedAt) return { state: 'paused', since: pausedAt };
  if (failingSince) return { state: 'failing', since: failingSince };
  return workingSince ? { state: 'working', since: workingSince } : { state: 'new', since: createdAt };
}

/** The next time that it is this hour in UTC. */
export function nextSummary(hour: number, now: number): number {
  const day = new Date(now).setUTCHours(hour, 0, 0, 0);
  return day > now ? day : day + DELIVERY_LIFE_MS;
}

/** A name chosen by somebody must not lay out our message, nor hide in it. */
export const oneLine = (text: string, most = 200): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, most);
