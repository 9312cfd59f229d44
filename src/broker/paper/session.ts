// When a market is open. There is no calendar of holidays: on Thanksgiving the paper exchange trades as on any other
// Thursday. Zones and their summer time come from Intl.

import { timestamp } from '../../domain/ids.ts';
import type { MarketHours } from '../../domain/orders/order.ts';

export interface Session {
  isOpen(now: number): boolean;
  /** The next opening after now, whether or not it is open now. */
  nextOpen(now: number): number;
  /** When the session ends that is now, or comes next; null: it never does. */
  nextClose(now: number): number | null;
  hours(now: number): MarketHours;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Never closed of itself; a closure that is rehearsed ends with the hour. */
export const AROUND_THE_CLOCK: Session = {
  isOpen: () => true,
  nextOpen: (now) => (Math.floor(now / HOUR) + 1) * HOUR,
  nextClose: () => null,
  hours: (now) => ({
    timezone: 'UTC',
    session: 'around the clock',
    next_open: timestamp(AROUND_THE_CLOCK.nextOpen(now)),
  }),
};

const NEW_YORK = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
});
/** Hours that New York is behind UTC: in summer and in winter. */
const BEHIND_UTC = [4, 5];
const OPENS = 9 * 60 + 30;
const CLOSES = 16 * 60;

export const US_STOCKS: Session = {
  isOpen(now) {
    const { date, minutes } = inNewYork(now);
    return isWeekday(date) && minutes >= OPENS && minutes < CLOSES;
  },
  nextOpen(now) {
    const today = inNewYork(now).date;
    // Friday's session over, the next is three days on; no stretch without one is longer.
    for (let days = 0; days <= 3; days++) {
      const date = today + days * 24 * HOUR;
      const opening = openingOn(date);
      if (isWeekday(date) && opening > now) return opening;
    }
    throw new Error('four days without a weekday');
  },
  nextClose(now) {
    const opening = US_STOCKS.isOpen(now) ? openingOn(inNewYork(now).date) : US_STOCKS.nextOpen(now);
    return opening + (CLOSES - OPENS) * MINUTE;
  },
  hours: (now) => ({
    timezone: 'America/New_York',
    session: 'Monday-Friday 09:30-16:00',
    next_open: timestamp(US_STOCKS.nextOpen(now)),
  }),
};

/** The date there, written as its midnight in UTC, and the minutes since midnight there. */
function inNewYork(now: number): { date: number; minutes: number } {
  const parts = NEW_YORK.formatToParts(now);
  const read = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((part) => part.type === type)?.value);
  return {
    date: Date.UTC(read('year'), read('month') - 1, read('day')),
    minutes: read('hour') * 60 + read('minute'),
  };
}

function openingOn(date: number): number {
  const candidates = BEHIND_UTC.map((behind) => date + OPENS * MINUTE + behind * HOUR);
  const opening = candidates.find((candidate) => inNewYork(candidate).minutes === OPENS);
  if (opening === undefined) throw new Error('New York is no longer four or five hours behind UTC');
  return opening;
}

function isWeekday(date: number): boolean {
  const day = new Date(date).getUTCDay();
  return day !== 0 && day !== 6;
}
