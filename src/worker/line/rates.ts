// How much of a broker's published rate is used, by all of this process who ask there, and by what the broker itself says of it. A
// part of it is kept for orders: whoever only reads is told to come again before that is touched, and one reader leaves
// something to the others. An order is never held back here.

import type { Meter } from '../../broker/broker.ts';
import { BROKERS, type BrokerName } from '../../domain/brokers.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { noteWeight } from './errand.ts';
import { currentReader } from './reader.ts';

export interface Rate extends Meter {
  /** Until the user may send something there that is no order; 0: now. */
  keptMs(reader: UserId): number;
}

export interface Venue {
  readonly broker: BrokerName;
  readonly environment: string;
  readonly account: AccountId;
}

export type Rates = (venue: Venue) => Rate;

/** The rest is for orders. */
const FOR_READING = 0.8;
/** Of what all who read have together, where several are counted together. */
const FOR_ONE_READER = 2 / 3;
/** So many readers are remembered before those who have read nothing of late are looked for. */
const MOST_READERS = 1_000;

const UNLIMITED: Rate = { sent() {}, told() {}, keptMs: () => 0 };

/** Whom the broker counts together has one name; null: it counts nobody. */
export function countedAs({ broker, environment, account }: Venue): string | null {
  const { rate } = BROKERS[broker];
  if (rate === null) return null;
  return rate.countedBy === 'address' ? `${broker} ${environment}` : `${broker} ${environment} ${account}`;
}

/** Of this process. */
export function createRates(now: () => number = () => performance.now()): Rates {
  const rates = new Map<string, Rate>();
  return (venue) => {
    const published = BROKERS[venue.broker].rate;
    const name = countedAs(venue);
    if (published === null || name === null) return UNLIMITED;
    const known = rates.get(name) ?? createRate(published, published.countedBy === 'address', now);
    rates.set(name, known);
    return known;
  };
}

function createRate(
  { weight, windowMs }: { readonly weight: number; readonly windowMs: number },
  isShared: boolean,
  now: () => number,
): Rate {
  const all = createWindow(windowMs);
  const readers = new Map<UserId, Window>();
  const most = weight * FOR_READING;

  function windowOf(user: UserId): Window {
    const known = readers.get(user);
    if (known) return known;
    if (readers.size >= MOST_READERS)
      for (const [other, window] of readers) if (window.used(now()) === 0) readers.delete(other);
    const made = createWindow(windowMs);
    readers.set(user, made);
    return made;
  }

  return {
    sent(spent = 1) {
      if (spent <= 0) return;
      all.add(now(), spent);
      noteWeight(spent);
      const reader = isShared ? currentReader() : undefined;
      if (reader) windowOf(reader.user).add(now(), spent);
    },
    told(used) {
      const unknown = used - all.used(now());
      if (unknown > 0) all.add(now(), unknown);
    },
    keptMs(user) {
      const own = readers.get(user)?.freeInMs(now(), most * FOR_ONE_READER) ?? 0;
      return Math.max(own, all.freeInMs(now(), most));
    },
  };
}

interface Window {
  add(now: number, weight: number): void;
  used(now: number): number;
  /** Until less than that is used. */
  freeInMs(now: number, most: number): number;
}

/** A window is so many parts, and one that has only begun to be over counts whole: rather too much is counted than too little. */
const PARTS = 12;

function createWindow(windowMs: number): Window {
  const partMs = windowMs / PARTS;
  /** A ring, with one place for the part that is under way. */
  const parts = Array.from({ length: PARTS + 1 }, () => ({ nth: Number.NEGATIVE_INFINITY, weight: 0 }));
  const nthAt = (now: number) => Math.floor(now / partMs);
  const counting = (now: number) => parts.filter(({ nth }) => nth >= nthAt(now) - PARTS);
  const sum = (some: readonly { readonly weight: number }[]) =>
    some.reduce((total, { weight }) => total + weight, 0);
  return {
    add(now, weight) {
      const nth = nthAt(now);
      const place = nth % parts.length;
      const part = parts[place];
      parts[place] = { nth, weight: weight + (part?.nth === nth ? part.weight : 0) };
    },
    used: (now) => sum(counting(now)),
    freeInMs(now, most) {
      const oldestFirst = counting(now).toSorted((a, b) => a.nth - b.nth);
      let left = sum(oldestFirst);
      for (const { nth, weight } of oldestFirst) {
        if (left < most) break;
        left -= weight;
        if (left < most) return Math.max(1, Math.ceil((nth + PARTS + 1) * partMs - now));
      }
      return 0;
    },
  };
}
