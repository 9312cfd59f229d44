// What an instrument was traded at, part of its time by part of its time. Of the broker's own, and only to be looked at.

import type { Decimal } from './decimal.ts';

export interface Candle {
  /** When it began, in ms. */
  readonly at: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
}

const MINUTE = 60_000;

/** How long one lasts. Each begins at a whole multiple of it, in UTC. */
export const INTERVAL_MS = {
  '1m': MINUTE,
  '5m': 5 * MINUTE,
  '15m': 15 * MINUTE,
  '1h': 60 * MINUTE,
  '4h': 240 * MINUTE,
  '1d': 1440 * MINUTE,
} as const;

export type Interval = keyof typeof INTERVAL_MS;
export const INTERVALS = Object.keys(INTERVAL_MS) as Interval[];

/** No answer has more. */
export const MOST_CANDLES = 500;

/** Those that begin at `from` or later, and before `to`; both in ms. */
export interface CandleSpan {
  readonly interval: Interval;
  readonly from: number;
  readonly to: number;
}

/** Awaited before each request but the first. Throws where whoever asks is to ask no more, which is no fault of the broker's. */
export type AskMore = () => Promise<void>;

/** Widened to whole candles: who asks a little earlier or later asks for the same. */
export function wholeCandles({ interval, from, to }: CandleSpan): CandleSpan {
  const each = INTERVAL_MS[interval];
  return { interval, from: Math.floor(from / each) * each, to: Math.ceil(to / each) * each };
}

export const candlesIn = ({ interval, from, to }: CandleSpan): number =>
  Math.ceil((to - from) / INTERVAL_MS[interval]);

/** In parts of at most so many, the oldest first. */
export function partsOf({ interval, from, to }: CandleSpan, most: number): CandleSpan[] {
  const parts: CandleSpan[] = [];
  const step = most * INTERVAL_MS[interval];
  for (let begins = from; begins < to; begins += step)
    parts.push({ interval, from: begins, to: Math.min(to, begins + step) });
  return parts;
}

/** What a broker lists: in order, each once, and none that was not asked for. */
export function inOrder(candles: readonly Candle[], { from, to }: CandleSpan): Candle[] {
  const byTime = new Map(
    candles.flatMap((candle) => (candle.at >= from && candle.at < to ? [[candle.at, candle]] : [])),
  );
  return [...byTime.values()].sort((a, b) => a.at - b.at);
}
