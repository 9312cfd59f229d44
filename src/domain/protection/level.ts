// A level: where something is to happen, as a price or as a distance from the entry. Every spelling of it is read here and
// becomes one form; a price is made of it where the entry is known.

import {
  add,
  compare,
  type Decimal,
  decimal,
  downTo,
  multiply,
  parseDecimal,
  sign,
  subtract,
} from '../decimal.ts';
import type { Direction } from '../side.ts';
import { isUnfilled, notFilledIn } from '../signals/unfilled.ts';
import { inexact, isRecord, numberText, type Problem, shown } from '../signals/values.ts';

/** Above zero. Percent of the entry price, ticks of the instrument, or points, which are units of the price. */
export interface Distance {
  readonly unit: 'percent' | 'ticks' | 'points';
  readonly value: Decimal;
}

export type Level = Distance | { readonly unit: 'price'; readonly value: Decimal };
type Unit = Level['unit'];

const UNITS: readonly Unit[] = ['price', 'percent', 'ticks', 'points'];

/** What a text ends with where it is no price, as we write it. */
const SUFFIXES: Readonly<Record<Distance['unit'], string>> = { percent: '%', ticks: 't', points: 'p' };
/** And as others do. */
const SUFFIXED = /^(?<number>.*?)\s*(?:(?<percent>%)|(?<ticks>ticks?|t)|(?<points>points?|p))$/is;

/** The one form of all its spellings: "64000", "2%", "20t", "150p". It is read again as it stands. */
export const levelText = ({ unit, value }: Level): string =>
  unit === 'price' ? value : `${value}${SUFFIXES[unit]}`;

const A_DISTANCE = '"2%" of the entry price, "20t" (ticks), or "150p" (points, units of the price)';
const A_LEVEL = `a price as a number, or a distance: ${A_DISTANCE}`;

/** `name`: the field, for the words that refuse it; `or`: what it may be besides. */
export function readLevel(name: string, value: unknown, or = ''): Level | Problem {
  return read(name, value, `${A_LEVEL}${or}`);
}

export function readDistance(name: string, value: unknown): Distance | Problem {
  const level = read(name, value, `a distance: ${A_DISTANCE}`);
  if ('problem' in level) return level;
  if (level.unit !== 'price') return level;
  return {
    problem: `"${name}" is ${shown(value)}, which would be a price. Send a distance: ${A_DISTANCE}.`,
  };
}

/** Longer than any number with its unit. */
const LONGEST = 80;

function read(name: string, value: unknown, expected: string): Level | Problem {
  if (isRecord(value)) return readUnit(name, value, expected);
  const text = numberText(value);
  if (isUnfilled(text)) return notFilledIn(name, text);
  if (text === '' || text.length > LONGEST) return unreadable(name, value, expected);
  const { unit, number } = splitUnit(text);
  if (isUnfilled(number)) return notFilledIn(name, text);
  return amount(name, value, unit, number, expected);
}

/** A number alone is a price. */
function splitUnit(text: string): { readonly unit: Unit; readonly number: string } {
  const groups = SUFFIXED.exec(text)?.groups;
  const unit = UNITS.find((known) => groups?.[known] !== undefined);
  if (groups?.number !== undefined && unit !== undefined) return { unit, number: groups.number };
  return { unit: 'price', number: text };
}

/** {"percent": 2}: one unit, and nothing besides. */
function readUnit(
  name: string,
  fields: Readonly<Record<string, unknown>>,
  expected: string,
): Level | Problem {
  const names = Object.keys(fields);
  const unit = UNITS.find((known) => known === names[0]);
  if (unit === undefined || names.length !== 1)
    return {
      problem: `"${name}" is ${shown(fields)}: it has exactly one of ${UNITS.join(', ')}. Send ${expected}.`,
    };
  const number = numberText(fields[unit]);
  if (isUnfilled(number)) return notFilledIn(`${name}.${unit}`, number);
  return amount(`${name}.${unit}`, fields[unit], unit, number, 'a number');
}

function amount(name: string, value: unknown, unit: Unit, text: string, expected: string): Level | Problem {
  const number = parseDecimal(text);
  if (number === null) return inexact(name, value, text) ?? unreadable(name, value, expected);
  if (sign(number) > 0) return { unit, value: number };
  const what =
    sign(number) === 0
      ? 'it must be above zero. Leave it out, or send "none" to have none'
      : unit === 'price'
        ? 'a price is above zero'
        : 'a distance has no sign, since its side is known. Send it without';
  return { problem: `"${name}" is ${shown(value)}: ${what}.` };
}

const unreadable = (name: string, value: unknown, expected: string): Problem => ({
  problem: `"${name}" is ${shown(value)}: send ${expected}.`,
});

/** What a distance counts from. */
export interface Entry {
  /** The average price of the fill. */
  readonly entry: Decimal;
  /** Of the instrument: prices are its multiples. */
  readonly tick: Decimal;
}

/** Which side of the entry is meant: a stop lies where the position loses, a target where it wins. */
export interface Placing extends Entry {
  readonly leg: 'stop' | 'target';
  /** Of the position. */
  readonly side: Direction;
}

/**
 * The price of a level, on the tick, rounded towards the entry. Rounding never brings it onto the entry or beyond:
 * where no tick lies between, it is the next one away from the entry. A price that is the entry's own goes to the winning side. null:
 * there is no price above zero there, as 120 % below the entry.
 */
export function priceOf(level: Level, { leg, side, entry, tick }: Placing): Decimal | null {
  const isAbove = (side === 'long') === (leg === 'target');
  const away = level.unit === 'price' ? null : exactDistance(level, { entry, tick });
  const exact = away === null ? level.value : (isAbove ? add : subtract)(entry, away);
  if (sign(exact) <= 0) return null;
  const below = downTo(exact, tick);
  if (below === exact) return exact;
  const above = add(below, tick);
  const price = nearer({ below, exact, above }, entry, side);
  return sign(price) > 0 ? price : null;
}

function nearer(
  { below, exact, above }: Readonly<Record<'below' | 'exact' | 'above', Decimal>>,
  entry: Decimal,
  side: Direction,
): Decimal {
  switch (compare(exact, entry)) {
    case -1:
      return compare(above, entry) < 0 ? above : below;
    case 1:
      return compare(below, entry) > 0 ? below : above;
    default:
      return side === 'long' ? above : below;
  }
}

/** In units of the price, on the tick, rounded towards the entry, and never less than a tick. */
export function distanceOf(distance: Distance, { entry, tick }: Entry): Decimal {
  const whole = downTo(exactDistance(distance, { entry, tick }), tick);
  return sign(whole) > 0 ? whole : tick;
}

const HUNDREDTH = decimal('0.01');

function exactDistance({ unit, value }: Distance, { entry, tick }: Entry): Decimal {
  switch (unit) {
    case 'percent':
      return multiply(entry, multiply(value, HUNDREDTH));
    case 'ticks':
      return multiply(value, tick);
    case 'points':
      return value;
  }
}
