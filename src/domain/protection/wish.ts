// What a message asks for about the protection of a position: an entry sets it, a `protect` changes what is there. A part that is
// given replaces, one that is absent leaves what stands, and "none" removes.

import { add, compare, type Decimal, decimal, sign, ZERO } from '../decimal.ts';
import { isUnfilled, notFilledIn } from '../signals/unfilled.ts';
import {
  field,
  isProblem,
  isRecord,
  numberText,
  optional,
  type Problem,
  readNumber,
  shown,
} from '../signals/values.ts';
import {
  type Distance,
  type Level,
  levelText,
  type Placing,
  priceOf,
  readDistance,
  readLevel,
} from './level.ts';
import { readTimeStop, type TimeStop, timeStopText } from './time-stop.ts';

interface Target {
  readonly at: Level;
  /** Of the position: above 0, and with the others at most 100. */
  readonly percent: Decimal;
}

interface Trail {
  readonly distance: Distance;
  /** It begins to follow once the price was there; null: at once. */
  readonly activateAt: Level | null;
}

export interface BreakEven {
  /** Once the price was there, or the first target is filled. */
  readonly at: Level | 'tp1';
  /** Beyond the entry, in profit. */
  readonly offset: Distance | null;
}

export type None = 'none';

export interface Wish {
  readonly stop?: Level | None;
  /** 1 to 5, in the order in which they were said. */
  readonly targets?: readonly Target[] | None;
  readonly trail?: Trail | None;
  readonly breakEven?: BreakEven | None;
  readonly timeStop?: TimeStop | None;
}

/** What an order asks for. */
export interface OrderWish {
  readonly own: Wish;
  /** With the account's defaults: for an entry that opens a position from nothing. */
  readonly fromFlat: Wish;
}

/** The fields by which a message says it. */
export const PROTECTION_FIELDS = [
  'stop_loss',
  'take_profit',
  'trailing_stop',
  'break_even',
  'time_stop',
] as const;
export type ProtectionField = (typeof PROTECTION_FIELDS)[number];

export const isProtectionField = (name: string): name is ProtectionField =>
  PROTECTION_FIELDS.some((known) => known === name);

export const MOST_TARGETS = 5;
const HUNDRED = decimal(100);

/** Of a body's fields, whatever else is among them. Empty: it says nothing of it. */
export function readWish(fields: Readonly<Record<string, unknown>>): { readonly wish: Wish } | Problem {
  const parts = {
    stop: part(fields, 'stop_loss', readLevel),
    targets: part(fields, 'take_profit', readTargets),
    trail: part(fields, 'trailing_stop', readTrail),
    breakEven: part(fields, 'break_even', readBreakEven),
    timeStop: part(fields, 'time_stop', readTimeStop),
  };
  const given = Object.entries(parts).filter(([, value]) => value !== null);
  const problem = given.map(([, value]) => value).find(isProblem);
  return problem ?? { wish: Object.fromEntries(given) as Wish };
}

function part<Part>(
  fields: Readonly<Record<string, unknown>>,
  name: ProtectionField,
  read: (name: string, value: unknown) => Part | Problem,
): Part | None | Problem | null {
  const value = optional(fields, name);
  if (value === null) return null;
  return isWord(value, 'none') ? 'none' : read(name, value);
}

const isWord = (value: unknown, word: string): boolean =>
  typeof value === 'string' && value.trim().toLowerCase() === word;

/** A level alone is for the whole position. */
function readTargets(name: string, value: unknown): readonly Target[] | Problem {
  if (isRecord(value) && Object.hasOwn(value, 'at')) return readTargets(name, [value]);
  if (!Array.isArray(value)) {
    const at = readLevel(name, value);
    return isProblem(at) ? at : [{ at, percent: HUNDRED }];
  }
  if (value.length === 0 || value.length > MOST_TARGETS)
    return {
      problem: `"${name}" has ${value.length} levels: send 1 to ${MOST_TARGETS}, or "none" to have none.`,
    };
  const targets: Target[] = [];
  for (const [index, each] of value.entries()) {
    const target = readTarget(`${name}[${index}]`, each);
    if (isProblem(target)) return target;
    targets.push(target);
  }
  const sum = targets.reduce<Decimal>((total, { percent }) => add(total, percent), ZERO);
  if (compare(sum, HUNDRED) > 0)
    return {
      problem: `"${name}" closes ${sum} percent of the position in all: send levels whose "percent" add up to 100 at most.`,
    };
  return targets;
}

const A_TARGET = '{"at": a level, "percent": how much of the position, above 0 and up to 100}';

function readTarget(name: string, value: unknown): Target | Problem {
  const fields = onlyThese(name, value, ['at', 'percent'], A_TARGET);
  if (isProblem(fields)) return fields;
  const at = readLevel(`${name}.at`, field(fields, 'at'));
  if (isProblem(at)) return at;
  const said = field(fields, 'percent');
  if (isUnfilled(numberText(said))) return notFilledIn(`${name}.percent`, numberText(said));
  const percent = readNumber(said);
  if (percent === null || sign(percent) <= 0 || compare(percent, HUNDRED) > 0)
    return {
      problem: `"${name}.percent" is ${shown(said)}: send how much of the position is closed there, a number above 0 and up to 100.`,
    };
  return { at, percent };
}

function readTrail(name: string, value: unknown): Trail | Problem {
  if (!isRecord(value) || !Object.hasOwn(value, 'distance')) {
    const distance = readDistance(name, value);
    return isProblem(distance) ? distance : { distance, activateAt: null };
  }
  const fields = onlyThese(
    name,
    value,
    ['distance', 'activate_at'],
    '{"distance": "1%", "activate_at": a level}',
  );
  if (isProblem(fields)) return fields;
  const distance = readDistance(`${name}.distance`, field(fields, 'distance'));
  if (isProblem(distance)) return distance;
  const begins = optional(fields, 'activate_at');
  const activateAt = begins === null ? null : readLevel(`${name}.activate_at`, begins);
  return isProblem(activateAt) ? activateAt : { distance, activateAt };
}

const OR_TP1 = '; or "tp1", which is when the first target is filled';

function readBreakEven(name: string, value: unknown): BreakEven | Problem {
  const has = isRecord(value) && Object.hasOwn(value, 'at');
  const fields = has
    ? onlyThese(name, value, ['at', 'offset'], '{"at": a level or "tp1", "offset": "2t"}')
    : { at: value };
  if (isProblem(fields)) return fields;
  const said = field<unknown>(fields, 'at');
  const at = isWord(said, 'tp1') ? 'tp1' : readLevel(has ? `${name}.at` : name, said, OR_TP1);
  if (isProblem(at)) return at;
  const beyond = optional<unknown>(fields, 'offset');
  const offset = beyond === null ? null : readDistance(`${name}.offset`, beyond);
  return isProblem(offset) ? offset : { at, offset };
}

/** The fields of one that has no others. */
function onlyThese(
  name: string,
  value: unknown,
  names: readonly string[],
  expected: string,
): Readonly<Record<string, unknown>> | Problem {
  const other = isRecord(value) ? Object.keys(value).find((key) => !names.includes(key)) : undefined;
  if (isRecord(value) && other === undefined) return value;
  const what = other === undefined ? `is ${shown(value)}` : `has "${other.slice(0, 64)}"`;
  return { problem: `"${name}" ${what}: send ${expected}.` };
}

export const isGiven = <Part>(part: Part | None | undefined): part is Part =>
  part !== undefined && part !== 'none';

/** It names prices, and not only distances from the entry. */
export const hasPrices = ({ stop, targets, trail, breakEven }: Wish): boolean =>
  [
    ...(isGiven(stop) ? [stop] : []),
    ...(isGiven(targets) ? targets.map(({ at }) => at) : []),
    ...(isGiven(trail) && trail.activateAt ? [trail.activateAt] : []),
    ...(isGiven(breakEven) && breakEven.at !== 'tp1' ? [breakEven.at] : []),
  ].some(({ unit }) => unit === 'price');

/** Something of it counts from the entry. */
export const countsFromEntry = ({ stop, targets, trail, breakEven }: Wish): boolean =>
  isGiven(trail) ||
  isGiven(breakEven) ||
  (isGiven(stop) && stop.unit !== 'price') ||
  (isGiven(targets) && targets.some(({ at }) => at.unit !== 'price'));

/** It leads to a stop at the broker: a trailing one is the stop that it begins with. */
export const asksForStop = ({ stop, trail }: Wish): boolean => isGiven(stop) || isGiven(trail);

/**
 * What makes no sense together; null: nothing. From flat what is absent is not there; where something is held it may stand
 * there, and only what is removed is known to be missing.
 */
export function contradiction(wish: Wish, { isFromFlat }: { readonly isFromFlat: boolean }): string | null {
  const { stop, trail, targets, breakEven } = wish;
  if (!isGiven(breakEven)) return null;
  const isMissing = (part: unknown) => part === 'none' || (isFromFlat && part === undefined);
  if (isMissing(stop) && isMissing(trail))
    return '"break_even" moves a stop, and there is none: send "stop_loss" or "trailing_stop" with it, or leave it out.';
  if (breakEven.at === 'tp1' && isMissing(targets))
    return '"break_even" waits for the first target, and there is none: send "take_profit" with it, or a level instead of "tp1".';
  return null;
}

/**
 * The one form of all its spellings, under the names of a message: what is kept, what a fingerprint is made of, and what
 * readWish reads again.
 */
export function wishJson(wish: Wish): Readonly<Partial<Record<ProtectionField, unknown>>> {
  const { stop, targets, trail, breakEven, timeStop } = wish;
  return {
    ...written('stop_loss', stop, levelText),
    ...written('take_profit', targets, (all) =>
      all.map(({ at, percent }) => ({ at: levelText(at), percent })),
    ),
    ...written('trailing_stop', trail, ({ distance, activateAt }) => ({
      distance: levelText(distance),
      ...(activateAt && { activate_at: levelText(activateAt) }),
    })),
    ...written('break_even', breakEven, ({ at, offset }) => ({
      at: at === 'tp1' ? at : levelText(at),
      ...(offset && { offset: levelText(offset) }),
    })),
    ...written('time_stop', timeStop, timeStopText),
  };
}

const written = <Part>(
  name: ProtectionField,
  part: Part | None | undefined,
  write: (part: Part) => unknown,
): object => (part === undefined ? {} : { [name]: isGiven(part) ? write(part) : part });

/** As it was kept. */
export function wishFromJson(json: unknown): Wish {
  const read = isRecord(json) ? readWish(json) : { problem: 'It is no object.' };
  if ('problem' in read) throw new Error(`What was kept of a protection cannot be read: ${read.problem}`);
  return read.wish;
}

/** Where the stop goes when the position is to break even: to the entry, or beyond it by the offset; never to a loss. */
export const breakEvenPrice = (
  { offset }: BreakEven,
  { side, entry, tick }: Omit<Placing, 'leg'>,
): Decimal | null => priceOf(offset ?? { unit: 'price', value: entry }, { leg: 'target', side, entry, tick });
