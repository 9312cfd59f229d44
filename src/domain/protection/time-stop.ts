// When a position is closed by the clock: so long after its first fill, or at a time of day.

import { isWhole } from '../decimal.ts';
import { isUnfilled, notFilledIn } from '../signals/unfilled.ts';
import { numberText, type Problem, readNumber, shown } from '../signals/values.ts';
import { isTimezone } from '../timezone.ts';

export type TimeStop =
  | { readonly seconds: number }
  /** "15:55", and an IANA name of where the clock hangs. */
  | { readonly time: string; readonly zone: string };

const LEAST_SECONDS = 60;
const MOST_SECONDS = 2_592_000;
const EXPECTED = `whole seconds after the first fill, from ${LEAST_SECONDS} to ${MOST_SECONDS}, or a time of day with its zone, as "15:55 America/New_York"`;
const TIME_OF_DAY = /^(\d|[01]\d|2[0-3]):([0-5]\d)\s+(\S{1,64})$/;

export function readTimeStop(name: string, value: unknown): TimeStop | Problem {
  const text = numberText(value);
  if (isUnfilled(text)) return notFilledIn(name, text);
  const number = readNumber(value);
  if (number !== null) {
    const seconds = Number(number);
    if (isWhole(number) && seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS) return { seconds };
  }
  const [, hour, minute, zone] = (typeof value === 'string' && TIME_OF_DAY.exec(text)) || [];
  if (hour !== undefined && zone !== undefined && isTimezone(zone))
    return { time: `${hour.padStart(2, '0')}:${minute}`, zone: spelled(zone) };
  return { problem: `"${name}" is ${shown(value)}: send ${EXPECTED}.` };
}

/** A zone's name is read in any case, and has one spelling. */
const spelled = (zone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;

/** The one form of its spellings, which is read again as it stands. */
export const timeStopText = (stop: TimeStop): string =>
  'seconds' in stop ? String(stop.seconds) : `${stop.time} ${stop.zone}`;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The moment that it means to whoever was filled then, in epoch milliseconds: of a time of day the next one after. */
export function timeStopAt(stop: TimeStop, filledAt: number): number {
  if ('seconds' in stop) return filledAt + stop.seconds * 1000;
  const { time, zone } = stop;
  const minutes = Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const offsetAt = offsets(zone);
  const local = filledAt + offsetAt(filledAt);
  const today = local - (((local % DAY_MS) + DAY_MS) % DAY_MS);
  // A clock that goes back may show yesterday's time once more, and one that skips a day has none on it.
  const moments = [-1, 0, 1, 2].flatMap((days) =>
    momentsOf(today + days * DAY_MS + minutes * MINUTE_MS, offsetAt),
  );
  return Math.min(...moments.filter((moment) => moment > filledAt));
}

type OffsetAt = (moment: number) => number;

/** When a clock shows this local time: twice where it goes back, and where it skips it, when it would have shown it. */
function momentsOf(local: number, offsetAt: OffsetAt): readonly number[] {
  const [before, after] = [offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)];
  const shows = [local - before, local - after].filter((moment) => moment + offsetAt(moment) === local);
  return shows.length > 0 ? shows : [local - before];
}

/** By how much a zone's clocks are ahead of UTC at a moment, in ms. */
function offsets(zone: string): OffsetAt {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (moment) => {
    const parts = Object.fromEntries(
      clock.formatToParts(moment).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const shown = Date.UTC(year, month - 1, day, hour, minute, second);
    return shown - Math.floor(moment / 1000) * 1000;
  };
}
