// The time of a signal, in every spelling that the platform and its users have for it.

import { type JsonValue, NumberText } from './json.ts';

/** As it was written: a number keeps its digits. */
export const sourceText = (value: JsonValue): string =>
  value instanceof NumberText ? value.text : typeof value === 'string' ? value : '';

const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;
const YEAR_1 = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000 = Date.UTC(10_000, 0);
const EPOCH = /^\d{9,14}(?:\.\d{1,9})?$/;
/** Epoch seconds stay below this until the year 5138; epoch milliseconds passed it in 1973. */
const FIRST_MILLISECONDS = 1e11;

/** Epoch milliseconds, or null where the value is no point in time. */
export function readTimestamp(value: JsonValue): number | null {
  const text = sourceText(value).trim();
  if (EPOCH.test(text)) {
    const epoch = Number(text);
    return Math.trunc(epoch < FIRST_MILLISECONDS ? epoch * 1000 : epoch);
  }
  const iso = typeof value === 'string' ? ISO.exec(text) : null;
  if (!iso) return null;
  const zone = iso[1];
  const local = text
    .slice(0, zone ? -zone.length : undefined)
    .replace(' ', 'T')
    .replace('t', 'T')
    .replace(',', '.');
  const asUtc = Date.parse(`${local}Z`);
  // The parser rolls the 30th of February over into March; such a day is no day.
  if (Number.isNaN(asUtc) || new Date(asUtc).getUTCDate() !== Number(local.slice(8, 10))) return null;
  const offset = zone ? offsetMinutes(zone) : 0;
  const at = offset === null ? null : asUtc - offset * 60_000;
  // By its offset, a time may lie beyond what any database keeps.
  return at !== null && isInOurYears(at) ? at : null;
}

function offsetMinutes(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 14 || minutes > 59) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** The years 1 to 9999: what every database keeps, and what sorts among our times. */
export const isInOurYears = (ms: number): boolean => ms >= YEAR_1 && ms < YEAR_10000;
