// What somebody asks for about a position's protection: the fields as they stand in a drawer, and what is sent of them.

import Big from 'big.js';
import { figure } from '../numbers.ts';
import {
  amountOf,
  distanceFrom,
  distanceProblem,
  type Ground,
  isEmpty,
  isGiven,
  isNone,
  type LevelText,
  levelFrom,
  levelOf,
  levelProblem,
  NONE,
  priceOf,
} from './levels.ts';
import { isFilled, type Protection } from './shapes.ts';

export interface TargetText {
  readonly at: LevelText;
  /** Of the position, in percent. */
  readonly percent: string;
}

export interface Asked {
  readonly stop: LevelText;
  readonly targets: readonly TargetText[];
  readonly trail: LevelText;
  /** It follows once the price was there; empty: at once. */
  readonly trailFrom: LevelText;
  /** Where a trail that stands has brought the stop; absent: none does, or it is not known. */
  readonly trailed?: number | null;
  readonly breakEven: {
    /** `none`: not by the account's default either. */
    readonly when: 'never' | 'none' | 'tp1' | 'price';
    readonly at: LevelText;
    /** Beyond the entry, as typed: `2 ticks`. Empty: at the entry itself. */
    readonly offset: string;
  };
  /** `15:55`, `15:55 America/New_York`, `90 min`, `none`. */
  readonly time: string;
}

export const MOST_TARGETS = 5;
const NOTHING: LevelText = { text: '', unit: 'price' };

/** Nothing is asked for: distances where there is no price to begin with. */
export const asksNothing = (unit: LevelText['unit'] = 'percent'): Asked => ({
  stop: { text: '', unit },
  targets: [{ at: { text: '', unit }, percent: '100' }],
  trail: { text: '', unit: unit === 'price' ? 'points' : 'percent' },
  trailFrom: { text: '', unit },
  breakEven: { when: 'never', at: { text: '', unit }, offset: '' },
  time: '',
});

/** As it stands: what is filled is no field any more. `ground`: for how far beyond the entry a stop goes to break even. */
export function asStanding(protection: Protection | null, ground: Ground | null = null): Asked {
  const nothing = asksNothing('price');
  if (protection === null) return nothing;
  const { stop_loss, take_profit, trailing_stop, break_even } = protection;
  const price = (value: number): LevelText => ({ text: plain(value), unit: 'price' });
  const targets = take_profit.flatMap((target) =>
    isFilled(target) ? [] : [{ at: price(target.price), percent: plain(target.percent) }],
  );
  return {
    stop: stop_loss === null ? nothing.stop : price(stop_loss),
    targets: targets.length > 0 ? targets : nothing.targets,
    trail: trailing_stop ? { text: plain(trailing_stop.distance), unit: 'points' } : nothing.trail,
    trailFrom: trailing_stop?.activate_at == null ? nothing.trailFrom : price(trailing_stop.activate_at),
    ...(trailing_stop && ground && { trailed: trailedTo(trailing_stop, ground) }),
    breakEven:
      break_even === null
        ? nothing.breakEven
        : {
            when: break_even.at === 'tp1' ? 'tp1' : 'price',
            at: break_even.at === 'tp1' ? NOTHING : price(break_even.at),
            offset: offsetOf(break_even.to, ground),
          },
    time: '',
  };
}

const trailedTo = (
  { distance, best }: NonNullable<Protection['trailing_stop']>,
  ground: Ground,
): number | null => priceOf({ text: plain(distance), unit: 'points' }, 'stop', { ...ground, entry: best });

/** What is less than a tick away from the average price is at it. */
function offsetOf(to: number, ground: Ground | null): string {
  if (ground?.entry == null || ground.tick === null) return '';
  const beyond = new Big(to).minus(ground.entry).times(ground.isLong ? 1 : -1);
  return beyond.lt(ground.tick) ? '' : `${beyond.toFixed()} points`;
}

const plain = (value: number): string => amountOf(String(value))?.toFixed() ?? String(value);

/** A price as a number, a distance with its unit, or `none`. */
type Level = string | number;

/** As a body has it. */
export interface Sent {
  readonly stop_loss?: Level;
  readonly take_profit?: Level | { at: Level; percent: number }[];
  readonly trailing_stop?: string | { distance: string; activate_at: Level };
  readonly break_even?: Level | { at: Level; offset: string };
  readonly time_stop?: Level;
}

/** All that is asked for; what is empty is left out. */
export function sentOf(asked: Asked): Sent {
  const targets = asked.targets.filter(({ at }) => !isEmpty(at));
  const stop = levelOf(asked.stop);
  const trail = trailOf(asked);
  const even = evenOf(asked);
  const time = timeOf(asked.time);
  return {
    ...(stop !== null && { stop_loss: stop }),
    ...(targets.length > 0 && { take_profit: targetsSent(targets) }),
    ...(trail !== null && { trailing_stop: trail }),
    ...(even !== null && { break_even: even }),
    ...(time !== null && { time_stop: time }),
  };
}

/** The fields that send this. */
export function askedFrom(sent: Sent): Asked {
  const nothing = asksNothing();
  const { stop_loss, take_profit, trailing_stop, break_even, time_stop } = sent;
  const targets = Array.isArray(take_profit)
    ? take_profit.map(({ at, percent }) => ({ at: levelFrom(at), percent: String(percent) }))
    : [{ at: levelFrom(take_profit), percent: '100' }];
  return {
    stop: levelFrom(stop_loss),
    targets: take_profit === undefined ? nothing.targets : targets,
    ...(typeof trailing_stop === 'object'
      ? { trail: levelFrom(trailing_stop.distance), trailFrom: levelFrom(trailing_stop.activate_at) }
      : {
          trail: trailing_stop === undefined ? nothing.trail : levelFrom(trailing_stop),
          trailFrom: nothing.trailFrom,
        }),
    breakEven: evenFrom(break_even, nothing.breakEven),
    time: typeof time_stop === 'number' ? `${time_stop} s` : (time_stop ?? ''),
  };
}

function evenFrom(even: Sent['break_even'], nothing: Asked['breakEven']): Asked['breakEven'] {
  if (even === undefined) return nothing;
  if (typeof even === 'object') return { ...evenFrom(even.at, nothing), offset: even.offset };
  if (even === NONE || even === 'tp1') return { ...nothing, when: even };
  return { ...nothing, when: 'price', at: levelFrom(even) };
}

/** One level for all that is held is a level alone. */
function targetsSent(targets: readonly TargetText[]): Level | { at: Level; percent: number }[] {
  const [first] = targets;
  if (targets.length === 1 && first && Number(first.percent) === 100) return levelOf(first.at) ?? '';
  return targets.map(({ at, percent }) => ({ at: levelOf(at) ?? '', percent: Number(percent) }));
}

function trailOf({ trail, trailFrom }: Asked): Exclude<Sent['trailing_stop'], undefined> | null {
  const distance = levelOf(trail);
  const from = isGiven(trailFrom) ? levelOf(trailFrom) : null;
  if (distance === null) return null;
  return from === null || isNone(trail) ? `${distance}` : { distance: `${distance}`, activate_at: from };
}

function evenOf({ breakEven }: Asked): Exclude<Sent['break_even'], undefined> | null {
  const { when } = breakEven;
  if (when === 'never') return null;
  if (when === NONE) return NONE;
  const at = when === 'tp1' ? when : levelOf(breakEven.at);
  const beyond = distanceFrom(breakEven.offset);
  const offset = beyond && levelOf(beyond);
  return at === null || offset === null ? at : { at, offset: `${offset}` };
}

const NAMES = ['stop_loss', 'take_profit', 'trailing_stop', 'break_even', 'time_stop'] as const;

/** Of a `protect`: what differs from what stands. A part that was emptied is removed. */
export function changeOf(asked: Asked, before: Asked): Sent {
  const [now, was] = [sentOf(asked), sentOf(before)];
  const changed = NAMES.filter((name) => JSON.stringify(now[name]) !== JSON.stringify(was[name]));
  const parts: Sent = Object.fromEntries(
    changed
      .map((name) => [name, now[name] ?? NONE] as const)
      // What is not there needs no removal; a close by the clock may be there, and stands in no field.
      .filter(([name, part]) => part !== NONE || was[name] !== undefined || name === 'time_stop'),
  );
  // Without a stop there is nothing that could be moved to the entry.
  const isBare = !isGiven(asked.stop) && !isGiven(asked.trail);
  return isBare && parts.stop_loss === 'none' && was.break_even !== undefined
    ? { ...parts, break_even: 'none' }
    : parts;
}

const CLOCK = /^(\d|[01]\d|2[0-3]):([0-5]\d)(?:\s+(\S{1,64}))?$/;
const SPAN = /^(\d+)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)$/i;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const LEAST_SECONDS = 60;
const MOST_SECONDS = 2_592_000;

/** A time of day means the clock of who types it, unless another is named. */
export function timeOf(text: string): string | number | null {
  const plainText = text.trim();
  if (isNone({ text })) return NONE;
  const [, hour, minute, zone] = CLOCK.exec(plainText) ?? [];
  if (hour !== undefined) return `${hour.padStart(2, '0')}:${minute} ${zone ?? localZone()}`;
  const [, count, unit = ''] = SPAN.exec(plainText) ?? [];
  const seconds = Number(count) * (SECONDS[unit.charAt(0).toLowerCase()] ?? 0);
  return seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS ? seconds : null;
}

const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export interface Problems {
  readonly stop: string | null;
  readonly trail: string | null;
  readonly trailFrom: string | null;
  readonly breakEven: string | null;
  readonly time: string | null;
  /** Of each target, in their order. */
  readonly targets: readonly (string | null)[];
  /** Of all targets together. */
  readonly shares: string | null;
}

/** What can be seen to be wrong before anything is sent. */
export function problemsOf(asked: Asked, ground: Ground): Problems {
  const given = asked.targets.filter(({ at }) => isGiven(at));
  const sum = given.reduce((total, { percent }) => total + Number(percent), 0);
  return {
    stop: levelProblem(asked.stop, 'stop', ground),
    trail: distanceProblem(asked.trail),
    trailFrom: isGiven(asked.trail) ? distanceProblem(asked.trailFrom) : null,
    breakEven: evenProblem(asked, given.length, ground),
    time:
      asked.time.trim() === '' || timeOf(asked.time) !== null
        ? null
        : 'A time such as 15:55, or 90 min after the first fill: from 1 min to 30 days.',
    targets: asked.targets.map(({ at, percent }) =>
      !isGiven(at)
        ? null
        : (levelProblem(at, 'target', ground) ??
          (isShare(percent) ? null : 'Its share is a number above 0 and up to 100.')),
    ),
    shares:
      given.every(({ percent }) => isShare(percent)) && sum > 100
        ? `The shares are ${figure(sum)} % in all: 100 at most.`
        : null,
  };
}

const isShare = (percent: string): boolean => amountOf(percent)?.lte(100) ?? false;

function evenProblem({ stop, trail, breakEven }: Asked, targets: number, ground: Ground): string | null {
  const { when, at, offset } = breakEven;
  if (when === 'never' || when === NONE) return null;
  if (!isGiven(stop) && !isGiven(trail)) return 'There is no stop that could be moved: set one.';
  if (offset.trim() !== '' && distanceFrom(offset) === null)
    return 'How far beyond the entry: 2 ticks, 0.1 %, 5 points; or nothing.';
  if (when === 'tp1') return targets > 0 ? null : 'There is no target to wait for: set one.';
  return isEmpty(at) ? 'At which price?' : levelProblem(at, 'target', ground);
}

/** Where a stop at break even stands; null: not known. */
export function evenPriceOf({ breakEven }: Asked, ground: Ground): number | null {
  const beyond = distanceFrom(breakEven.offset);
  return beyond ? priceOf(beyond, 'target', ground) : ground.entry;
}

export const hasProblem = ({ targets, ...others }: Problems): boolean =>
  [...Object.values(others), ...targets].some((problem) => problem !== null);

/** Where its stop would stand at first: a trailing one without a stop at its own distance, and no further back than one has brought it. */
export function stopPriceOf({ stop, trail, trailed = null }: Asked, ground: Ground): number | null {
  if (isGiven(stop)) return priceOf(stop, 'stop', ground);
  if (!isGiven(trail)) return null;
  const first = priceOf(trail, 'stop', ground);
  if (first === null || trailed === null) return first ?? trailed;
  return ground.isLong ? Math.max(first, trailed) : Math.min(first, trailed);
}
