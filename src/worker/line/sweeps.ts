// Sweeping and following take at most a fifth of what a broker publishes that it takes, all of this process who are counted there
// together. Where that is not enough for everybody, they stand in one line, first come, first served: the time between two sweeps of an
// account grows, and how long it is by now is shown. What protects a position that lacks something never stands in it.

import { BROKER_NAMES, BROKERS, type BrokerName } from '../../domain/brokers.ts';
import { type Errand, weighed } from './errand.ts';
import { countedAs, type Venue } from './rates.ts';

/** A sweep compares everything with what stands at the broker; who follows asks for a price. */
export type Kind = 'sweep' | 'follow';

/** In the line. */
export interface Place {
  leave(): void;
}

export interface Sweeps {
  /** null: it may begin now, and is to. Else `begin` is called when its turn has come. */
  queue(venue: Venue, kind: Kind, begin: () => void): Place | null;
  /** One whose turn has come, whatever it has turned out to be since. */
  run<T>(venue: Venue, kind: Kind, work: () => Promise<T>, errand: Errand): Promise<T>;
  /** How much later than it is due a sweep comes by now, at the busiest place of the broker. */
  lateMs(broker: BrokerName): number;
}

/** Of the broker's rate. */
const SHARE = 1 / 5;
/** Of that, what may come at once; the rest comes one after the other, and both together are no more than the share in any window. */
const AT_ONCE = 1 / 5;
/** What one weighs, before any was. */
const FIRST_GUESS: Readonly<Record<Kind, number>> = { sweep: 6, follow: 1 };
/** How much the last one counts for what the next is taken to weigh. */
const LAST_COUNTS = 1 / 5;

/** Of this process. */
export function createSweeps(now: () => number = () => performance.now()): Sweeps {
  const lines = new Map<string, { readonly broker: BrokerName; readonly line: Queue }>();

  function lineAt(venue: Venue): Queue | null {
    const name = countedAs(venue);
    const { rate } = BROKERS[venue.broker];
    if (name === null || rate === null) return null;
    const known = lines.get(name) ?? { broker: venue.broker, line: createQueue(rate, now) };
    lines.set(name, known);
    return known.line;
  }

  return {
    queue: (venue, kind, begin) => lineAt(venue)?.queue(kind, begin) ?? null,
    run: (venue, kind, work, errand) =>
      weighed(errand, work, (weight) => {
        lineAt(venue)?.cost(kind, weight);
      }),
    lateMs(broker) {
      const late = [...lines.values()].flatMap((each) => (each.broker === broker ? each.line.lateMs() : []));
      return Math.max(0, ...late);
    },
  };
}

interface Queue {
  queue(kind: Kind, begin: () => void): Place | null;
  cost(kind: Kind, weight: number): void;
  lateMs(): number;
}

function createQueue(
  { weight, windowMs }: { readonly weight: number; readonly windowMs: number },
  now: () => number,
): Queue {
  const msEach = windowMs / (weight * SHARE * (1 - AT_ONCE));
  const aheadMs = weight * SHARE * AT_ONCE * msEach;
  /** At one after the other, all that have begun would be over by then. */
  let paidUntil = Number.NEGATIVE_INFINITY;
  /** Of those that have begun, by what they were taken to weigh. */
  const guessed: Record<Kind, number[]> = { sweep: [], follow: [] };
  const usual: Record<Kind, number> = { ...FIRST_GUESS };
  const waiting = new Map<symbol, { readonly kind: Kind; begin(): void }>();
  let next: NodeJS.Timeout | undefined;

  const pay = (some: number) => {
    paidUntil = Math.max(paidUntil, now()) + some * msEach;
  };
  const untilFree = () => Math.max(0, paidUntil - aheadMs - now());
  const start = (kind: Kind) => {
    guessed[kind].push(usual[kind]);
    pay(usual[kind]);
  };

  function serve(): void {
    for (const [place, { kind, begin }] of waiting) {
      if (untilFree() > 0) break;
      waiting.delete(place);
      start(kind);
      begin();
    }
    if (waiting.size > 0) serveLater();
  }
  function serveLater(): void {
    clearTimeout(next);
    next = setTimeout(serve, Math.ceil(untilFree())).unref();
  }

  const lateMs = () => {
    let sum = 0;
    for (const { kind } of waiting.values()) sum += usual[kind] * msEach;
    return untilFree() + sum;
  };

  return {
    queue(kind, begin) {
      if (waiting.size === 0 && untilFree() === 0) {
        start(kind);
        return null;
      }
      const place = Symbol(kind);
      waiting.set(place, { kind, begin });
      // Never before whoever asks knows that it waits.
      if (waiting.size === 1) serveLater();
      return { leave: () => void waiting.delete(place) };
    },
    cost(kind, spent) {
      const guess = guessed[kind].shift() ?? 0;
      usual[kind] += (spent - usual[kind]) * LAST_COUNTS;
      pay(spent - guess);
      // It may have been less.
      serve();
    },
    lateMs,
  };
}

/** By broker, where anybody waits. */
export const lateSweeps = (sweeps: Pick<Sweeps, 'lateMs'>) =>
  BROKER_NAMES.map((broker) => ({ broker, ms: sweeps.lateMs(broker) }));
