// Which time a chart shows, and in candles of which length. Pure.

import type { components } from '../../api/schema.ts';

export type Interval = components['schemas']['Candles']['interval'];

const MINUTE = 60_000;

export const INTERVALS: readonly {
  readonly interval: Interval;
  readonly ms: number;
  readonly name: string;
}[] = [
  { interval: '1m', ms: MINUTE, name: '1 min' },
  { interval: '5m', ms: 5 * MINUTE, name: '5 min' },
  { interval: '15m', ms: 15 * MINUTE, name: '15 min' },
  { interval: '1h', ms: 60 * MINUTE, name: '1 h' },
  { interval: '4h', ms: 240 * MINUTE, name: '4 h' },
  { interval: '1d', ms: 1440 * MINUTE, name: '1 day' },
];
const LONGEST = INTERVALS.length - 1;

/** The API gives no more than 500; an open trade goes on while one looks. */
const MOST = 480;
/** Fewer say nothing. */
const LEAST = 6;
const SHORTEST_MS = 30 * MINUTE;

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** With a part of it before and after, and nothing that is yet to come. */
export function around(opened: number, closed: number | null, now: number): Span {
  const end = closed ?? now;
  const beside = Math.max(end - opened, SHORTEST_MS) / 4;
  const to = Math.max(Math.min(now, end + beside), opened);
  return { from: Math.min(opened - beside, to - SHORTEST_MS), to };
}

const countIn = ({ from, to }: Span, ms: number): number => (to - from) / ms;

export const offered = (span: Span) =>
  INTERVALS.filter(({ ms }, index) =>
    index === LONGEST ? countIn(span, ms) >= LEAST : countIn(span, ms) <= MOST && countIn(span, ms) >= LEAST,
  );

/** On a phone fewer, wider candles. */
export function usualInterval(span: Span, width: number): Interval {
  const most = Math.max(24, width / 11);
  const found = INTERVALS.find(({ ms }, index) => index === LONGEST || countIn(span, ms) <= most);
  return found?.interval ?? '1d';
}

export const msOf = (interval: Interval): number =>
  INTERVALS.find((one) => one.interval === interval)?.ms ?? MINUTE;

/** Whole candles, so that the same chart asks for the same ones; of very many the last. */
export function askedSpan({ from, to }: Span, interval: Interval, isOpen: boolean) {
  const ms = msOf(interval);
  const end = Math.ceil(to / ms) * ms;
  return { from: Math.max(Math.floor(from / ms) * ms, end - MOST * ms), to: isOpen ? null : end };
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 10_080, 43_200, 129_600];

/** Round times where the reader is, so far apart that their names have room. */
export function timesIn({ from, to }: Span, width: number, room: number): readonly number[] {
  const most = Math.max(1, width / room);
  const step = (TIME_STEPS.find((minutes) => (to - from) / (minutes * MINUTE) <= most) ?? 525_600) * MINUTE;
  const midnight = new Date(from).setHours(0, 0, 0, 0);
  const times: number[] = [];
  for (let at = midnight; at <= to; at += step) if (at >= from) times.push(at);
  return times;
}
