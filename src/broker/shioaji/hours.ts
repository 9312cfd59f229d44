// When Taiwan's exchanges trade. What arrives before they open is kept for the opening there, and not refused: so nothing is sent then.
// Holidays are not known here, and are the broker's to say.

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

/** Of futures on currencies, gold and oil, and on some funds of what trades abroad. */
const LATEST: Session = { opens: 8 * 60 + 45, closes: 16 * 60 + 15 };

const WORDS: Readonly<Record<Market, string>> = {
  futures: 'Monday-Friday 08:45-13:45 and 15:00-05:00',
  stocks: 'Monday-Friday 09:00-13:30',
};

/** Of the days around now that have one, in their order. */
function* sessionsAround(
  sessions: readonly Session[],
  now: number,
): Generator<{ readonly from: number; readonly to: number }> {
  const today = Math.floor((now + AHEAD_OF_UTC) / DAY) * DAY;
  // Friday's night ends on Saturday; and from Friday noon it is three days to the next.
  for (let day = today - DAY; day <= today + 4 * DAY; day += DAY) {
    const weekday = new Date(day).getUTCDay();
    if (weekday === 0 || weekday === 6) continue;
    const midnight = day - AHEAD_OF_UTC;
    for (const { opens, closes } of sessions)
      yield { from: midnight + opens * MINUTE, to: midnight + closes * MINUTE };
  }
}

const isIn = (sessions: readonly Session[], now: number): boolean =>
  sessionsAround(sessions, now).some(({ from, to }) => from <= now && now < to);

export const isOpen = (market: Market, now: number): boolean => isIn(SESSIONS[market], now);

/** Which of them are known to have a longer day. */
const LATE = /^(?:XEF|XJF|XBF|XAF|RHF|RTF|GDF|TGF|BRF|TJF)/;

/** As far as its hours are known. */
export const mayTrade = (symbol: string, market: Market, now: number): boolean =>
  LATE.test(symbol) ? !isClosedToAll(market, now) : isOpen(market, now);

/** Nothing there trades now, whatever its hours: whoever wants out is not held back by a guess. */
export const isClosedToAll = (market: Market, now: number): boolean =>
  !isIn(market === 'futures' ? [...SESSIONS.futures, LATEST] : SESSIONS[market], now);

/** The next opening after now, whether or not it is open now. */
export function nextOpen(market: Market, now: number): Timestamp {
  const next = sessionsAround(SESSIONS[market], now).find(({ from }) => from > now);
  if (!next) throw new Error('five days without a session');
  return timestamp(next.from);
}

export const hoursOf = (market: Market, now: number): MarketHours => ({
  timezone: 'Asia/Taipei',
  session: WORDS[market],
  next_open: nextOpen(market, now),
});
