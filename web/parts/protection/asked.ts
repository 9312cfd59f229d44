// What somebody asks for about a position's protection: the fields as they stand in a drawer, and what is sent of them.

import { figure } from '../numbers.ts';
import {
  amountOf,
  distanceProblem,
  type Ground,
  isEmpty,
  type LevelText,
  levelFrom,
  levelOf,
  levelProblem,
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
  readonly breakEven: { readonly when: 'never' | 'tp1' | 'price'; readonly at: LevelText };
  /** `15:55`, `15:55 America/New_York`, `90 min`. */
  readonly time: string;
}

export const MOST_TARGETS = 5;
const NOTHING: LevelText = { text: '', unit: 'price' };

/** Nothing is asked for: distances where there is no price to begin with. */
export const asksNothing = (unit: LevelText['unit'] = 'percent'): Asked => ({
  stop: { text: '', unit },
  targets: [{ at: { text: '', unit }, percent: '100' }],
  trail: { text: '', unit: unit === 'price' ? 'points' : 'percent' },
  breakEven: { when: 'never', at: { text: '', unit } },
  time: '',
});

/** As it stands: what is filled is no field any more. */
export function asStanding(protection: Protection | null): Asked {
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
    breakEven:
      break_even === null
        ? nothing.breakEven
        : break_even.at === 'tp1'
          ? { when: 'tp1', at: NOTHING }
          : { when: 'price', at: price(break_even.at) },
    time: '',
  };
}

const plain = (value: number): string => amountOf(String(value))?.toFixed() ?? String(value);

/** A price as a number, a distance with its unit, or `none`. */
type Level = string | number;

/** As a body has it. */
export interface Sent {
  readonly stop_loss?: Level;
  readonly take_profit?: Level | { at: Level; percent: number }[];
  readonly trailing_stop?: string;
  readonly break_even?: Level;
  readonly time_stop?: Level;
}

/** All that is asked for; what is empty is left out. */
export function sentOf(asked: Asked): Sent {
  const targets = asked.targets.filter(({ at }) => !isEmpty(at));
  const stop = levelOf(asked.stop);
  const trail = levelOf(asked.trail);
  const even = evenOf(asked);
  const time = timeOf(asked.time);
  return {
    ...(stop !== null && { stop_loss: stop }),
    ...(targets.length > 0 && { take_profit: targetsSent(targets) }),
    ...(trail !== null && { trailing_stop: String(trail) }),
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
    trail: trailing_stop === undefined ? nothing.trail : levelFrom(trailing_stop),
    breakEven:
      break_even === undefined
        ? nothing.breakEven
        : break_even === 'tp1'
          ? { ...nothing.breakEven, when: 'tp1' }
          : { when: 'price', at: levelFrom(break_even) },
    time: typeof time_stop === 'number' ? `${time_stop} s` : (time_stop ?? ''),
  };
}

/** One level for all that is held is a level alone. */
function targetsSent(targets: readonly TargetText[]): Level | { at: Level; percent: number }[] {
  const [first] = targets;
  if (targets.length === 1 && first && Number(first.percent) === 100) return levelOf(first.at) ?? '';
  return targets.map(({ at, percent }) => ({ at: levelOf(at) ?? '', percent: Number(percent) }));
}

function evenOf({ breakEven }: Asked): string | number | null {
  if (breakEven.when === 'never') return null;
  return breakEven.when === 'tp1' ? 'tp1' : levelOf(breakEven.at);
}

const NAMES = ['stop_loss', 'take_profit', 'trailing_stop', 'break_even', 'time_stop'] as const;

/** Of a `protect`: what differs from what stands. A part that was emptied is removed. */
export function changeOf(asked: Asked, before: Asked): Sent {
  const [now, was] = [sentOf(asked), sentOf(before)];
  const changed = NAMES.filter((name) => JSON.stringify(now[name]) !== JSON.stringify(was[name]));
  const parts: Sent = Object.fromEntries(changed.map((name) => [name, now[name] ?? 'none']));
  // Without a stop there is nothing that could be moved to the entry.
  const isBare = now.stop_loss === undefined && now.trailing_stop === undefined;
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
  readonly breakEven: string | null;
  readonly time: string | null;
  /** Of each target, in their order. */
  readonly targets: readonly (string | null)[];
  /** Of all targets together. */
  readonly shares: string | null;
}

/** What can be seen to be wrong before anything is sent. */
export function problemsOf(asked: Asked, ground: Ground): Problems {
  const given = asked.targets.filter(({ at }) => !isEmpty(at));
  const sum = given.reduce((total, { percent }) => total + Number(percent), 0);
  return {
    stop: levelProblem(asked.stop, 'stop', ground),
    trail: distanceProblem(asked.trail),
    breakEven: evenProblem(asked, given.length, ground),
    time:
      asked.time.trim() === '' || timeOf(asked.time) !== null
        ? null
        : 'A time such as 15:55, or 90 min after the first fill: from 1 min to 30 days.',
    targets: asked.targets.map(({ at, percent }) =>
      isEmpty(at)
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
  if (breakEven.when === 'never') return null;
  if (isEmpty(stop) && isEmpty(trail)) return 'There is no stop that could be moved: set one.';
  if (breakEven.when === 'tp1') return targets > 0 ? null : 'There is no target to wait for: set one.';
  return isEmpty(breakEven.at) ? 'At which price?' : levelProblem(breakEven.at, 'target', ground);
}

export const hasProblem = ({ targets, ...others }: Problems): boolean =>
  [...Object.values(others), ...targets].some((problem) => problem !== null);

/** Where its stop would stand at first: a trailing one without a stop begins at its own distance. */
export function stopPriceOf({ stop, trail }: Asked, ground: Ground): number | null {
  if (!isEmpty(stop)) return priceOf(stop, 'stop', ground);
  return isEmpty(trail) ? null : priceOf(trail, 'stop', ground);
}
