// The equity and the drawdown below it, over one time axis. Pure: from points to paths.

import type { components } from '../../api/schema.ts';
import { linearScale, type Scale } from '../../parts/geometry.ts';
import { localDay } from './asked.ts';

type Schemas = components['schemas'];

export type Point = Schemas['TradesPoint'];

export const HEIGHTS = { equity: 190, drawdown: 84 };
const DAY_MS = 86_400_000;
/** A figure of 12 pixels' size is about so wide. */
const FIGURE_WIDTH = 6.9;
/** For `14 Oct` and what parts it from the next. */
const NAME_ROOM = 64;
/** Beyond it weekends would only flicker. */
const MOST_WEEKEND_DAYS = 120;

const px = (value: number): number => Math.round(value * 10) / 10;

export interface Drawn {
  readonly left: number;
  readonly width: number;
  readonly equity: { readonly path: string; readonly scale: Scale };
  readonly drawdown: { readonly path: string; readonly scale: Scale };
  readonly weekends: readonly { readonly x: number; readonly width: number }[];
  readonly days: readonly { readonly x: number; readonly day: string }[];
  x(at: number): number;
  /** The trade that is nearest; null: outside. */
  at(x: number): number | null;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

export function draw(
  points: readonly Point[],
  span: Span,
  room: number,
  tick: (value: number) => string,
): Drawn {
  const scales = {
    equity: linearScale(
      points.map(({ profit }) => profit),
      HEIGHTS.equity,
      5,
    ),
    drawdown: linearScale(
      points.map(({ drawdown }) => drawdown),
      HEIGHTS.drawdown,
      3,
    ),
  };
  const ticks = [...scales.equity.ticks, ...scales.drawdown.ticks].map((value) => tick(value).length);
  const left = Math.ceil(Math.max(0, ...ticks) * FIGURE_WIDTH) + 12;
  const width = Math.max(0, room - left);
  const times = points.map(({ at }) => Date.parse(at));
  const length = Math.max(1, span.to - span.from);
  const x = (at: number) => px((Math.min(span.to, Math.max(span.from, at)) - span.from) * (width / length));
  const stairs = (values: readonly number[], { y }: Scale) =>
    `M0 ${y(0)}${values.map((value, index) => `H${x(times[index] ?? 0)}V${y(value)}`).join('')}H${px(width)}`;
  const days = daysOf(span);
  const every = Math.max(1, Math.ceil(NAME_ROOM / Math.max(1, width / Math.max(1, days.length))));
  return {
    left,
    width,
    x,
    equity: {
      path: stairs(
        points.map(({ profit }) => profit),
        scales.equity,
      ),
      scale: scales.equity,
    },
    drawdown: {
      path: stairs(
        points.map(({ drawdown }) => drawdown),
        scales.drawdown,
      ),
      scale: scales.drawdown,
    },
    weekends:
      days.length > MOST_WEEKEND_DAYS
        ? []
        : days
            .filter((date) => [0, 6].includes(date.getDay()))
            .map((date) => ({
              x: x(date.getTime()),
              width: px(x(date.getTime() + DAY_MS) - x(date.getTime())),
            })),
    days: days
      .toReversed()
      .filter((_, index) => index % every === 0)
      .map((date) => ({ x: x(Math.max(span.from, date.getTime())), day: localDay(date) }))
      .filter((named) => named.x <= width - 12),
    at(place) {
      if (points.length === 0 || place < -8 || place > width + 8) return null;
      const nearest = times.reduce(
        (found, at, index) =>
          Math.abs(x(at) - place) <= Math.abs(x(times[found] ?? 0) - place) ? index : found,
        0,
      );
      return nearest;
    },
  };
}

/** No more than a screen has pixels: a foreign date does not make a million. */
const MOST_DAYS = 20_000;

/** The midnights in it, where the reader is, and the one before it. */
function daysOf({ from, to }: Span): Date[] {
  const first = new Date(from);
  first.setHours(0, 0, 0, 0);
  const days: Date[] = [];
  for (let day = first; day.getTime() < to && days.length < MOST_DAYS; ) {
    days.push(day);
    const next = new Date(day);
    next.setDate(next.getDate() + 1);
    day = next;
  }
  return days;
}
