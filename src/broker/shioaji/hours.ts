// When Taiwan's exchanges trade, for a person who is told that they do not: whether an order is taken is the broker's to
// say. Holidays are not known here.

import { type Timestamp, timestamp } from '../../domain/ids.ts';
import type { MarketHours } from '../../domain/orders/order.ts';

export type Market = 'futures' | 'stocks';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Taipei has no summer time. */
const AHEAD_OF_UTC = 8 * 60 * MINUTE;

interface Session {
  /** Minutes after midnight in Taipei; the night's session ends on the next day. */
  readonly opens: number;
  readonly closes: number;
}

const SESSIONS: Readonly<Record<Market, readonly Session[]>> = {
  futures: [
    { opens: 8 * 60 + 45, closes: 13 * 60 + 45 },
    { opens: 15 * 60, closes: 29 * 60 },
  ],
  stocks: [{ opens: 9 * 60, closes: 13 * 60 + 30 }],
};

const WORDS: Readonly<Record<Market, string>> = {
  futures: 'Monday-Friday 08:45-13:45 and 15:00-05:00',
  stocks: 'Monday-Friday 09:00-13:30',
};

/** Of the days around now that have one, in their order. */
function* sessionsAround(
  market: Market,
  now: number,
): Generator<{ readonly from: number; readonly to: number }> {
  const today = Math.floor((now + AHEAD_OF_UTC) / DAY) * DAY;
  // Friday's night ends on Saturday; and from Friday noon it is three days to the next.
  for (let day = today - DAY; day <= today + 4 * DAY; day += DAY) {
    const weekday = new Date(day).getUTCDay();
    if (weekday === 0 || weekday === 6) continue;
    const midnight = day - AHEAD_OF_UTC;
    for (const { opens, closes } of SESSIONS[market])
      yield { from: midnight + opens * MINUTE, to: midnight + closes * MINUTE };
  }
}

export const isOpen = (market: Market, now: number): boolean =>
  sessionsAround(market, now).some(({ from, to }) => from <= now && now < to);

/** The next opening after now, whether or not it is open now. */
export function nextOpen(market: Market, now: number): Timestamp {
  const next = sessionsAround(market, now).find(({ from }) => from > now);
  if (!next) throw new Error('five days without a session');
  return timestamp(next.from);
}

export const hoursOf = (market: Market, now: number): MarketHours => ({
  timezone: 'Asia/Taipei',
  session: WORDS[market],
  next_open: nextOpen(market, now),
});
