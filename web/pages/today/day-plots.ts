// The two small plots of an account's day: a stroke per signal, and the profit in steps. As paths of an SVG.

import type { components } from '../../api/schema.ts';

type AccountToday = components['schemas']['AccountToday'];

/** Of the rug's own units: it is stretched to its column. */
export const RUG = { width: 240, height: 24, axis: 16.5 } as const;

export interface Rug {
  readonly accepted: string;
  readonly simulated: string;
  readonly refused: string;
  /** Where the present is; null: the day is over. */
  readonly now: number | null;
  readonly words: string;
}

export function rugOf(
  signals: AccountToday['signals_today'],
  day: { readonly start: number; readonly end: number; readonly now: number },
): Rug {
  const length = day.end - day.start;
  const place = (at: number) => Math.round(((at - day.start) / length) * RUG.width * 10) / 10;
  const isInside = (x: number) => x >= 0 && x <= RUG.width;
  const strokes = (chosen: AccountToday['signals_today'], line: string) => {
    // Signals of one moment are one stroke.
    const places = new Set(chosen.map(({ at }) => place(Date.parse(at))).filter(isInside));
    return [...places].map((x) => `M${x} ${line}`).join('');
  };
  const refused = signals.filter((signal) => signal.refused);
  const accepted = signals.filter((signal) => !signal.refused);
  const now = place(day.now);
  return {
    accepted: strokes(
      accepted.filter(({ simulation }) => !simulation),
      '4v12',
    ),
    simulated: strokes(
      accepted.filter(({ simulation }) => simulation),
      '4v12',
    ),
    refused: strokes(refused, '17v6'),
    now: isInside(now) ? now : null,
    words: `${accepted.length} accepted and ${refused.length} refused signals today`,
  };
}

/** Hours of the axis, with their place in percent. A day of 23 or 25 hours has its own. */
export function hoursOf(start: number, end: number): { readonly hour: string; readonly percent: number }[] {
  return [0, 6, 12, 18, 24].map((hour) => {
    const date = new Date(start);
    date.setHours(hour, 0, 0, 0);
    return {
      hour: String(hour).padStart(2, '0'),
      percent: Math.round(((date.getTime() - start) / (end - start)) * 10_000) / 100,
    };
  });
}

export const SPARK = { width: 64, height: 20, inset: 2 } as const;

export interface Spark {
  readonly curve: string;
  readonly zero: number;
  readonly end: { readonly x: number; readonly y: number };
}

/** From nothing at the day's beginning; each step stands as long as the others. null: nothing was earned or lost. */
export function sparkOf(steps: AccountToday['profit_steps']): Spark | null {
  if (steps.length === 0) return null;
  const values = [0, ...steps.map(({ realised }) => realised)];
  const most = Math.max(...values);
  const least = Math.min(...values);
  const { width, height, inset } = SPARK;
  const rounded = (value: number) => Math.round(value * 10) / 10;
  const y = (value: number) =>
    rounded(
      most === least ? height - inset : inset + ((most - value) / (most - least)) * (height - 2 * inset),
    );
  const x = (place: number) => rounded(1 + (place / (values.length - 1)) * (width - 4));
  const curve = values
    .map((value, place) => (place === 0 ? `M${x(0)} ${y(value)}` : `H${x(place)}V${y(value)}`))
    .join('');
  return { curve, zero: y(0), end: { x: x(values.length - 1), y: y(values.at(-1) ?? 0) } };
}
