// What the plots draw, apart from the pointer: made anew only when the data or the width changes. Pure.

import { bars, columns, line, linearScale, logScale, spread, stacked, stairs } from '../../parts/geometry.ts';
import { figure, money, signed } from '../../parts/numbers.ts';
import { outstanding, type Row, shortDay, statusesOf, totalsOf } from './days.ts';

export const HEIGHTS = { realised: 208, orders: 116, latency: 144, slippage: 100 };
/** Between the names at the ends of lines. */
const NAME_GAP = 16;
/** A figure of 12 pixels' size is about so wide. */
const FIGURE_WIDTH = 6.9;

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });
const short = (value: number, whole: string) =>
  Math.abs(value) >= 1e6 ? `${value < 0 ? '\u2212' : ''}${COMPACT.format(Math.abs(value))}` : whole;
export const moneyTick = (value: number) =>
  value > 0 && value >= 1e6 ? `+${short(value, '')}` : short(value, signed(value));
export const countTick = (value: number) => (Number.isInteger(value) ? short(value, figure(value)) : '');

export function draw(rows: readonly Row[], width: number) {
  const totals = totalsOf(rows);
  const statuses = statusesOf(totals.orders);
  const ordersHeight = Math.max(HEIGHTS.orders, statuses.length * NAME_GAP + 8);
  const realised = rows.map((row) => row.realised);
  const accumulated = rows.map((row) => row.total);
  const slippages = rows.map(({ slippage }) => slippage);
  const shares = {
    p50: rows.map(({ p50 }) => p50),
    p90: rows.map(({ p90 }) => p90),
    p99: rows.map(({ p99 }) => p99),
  };
  const scales = {
    realised: linearScale([...realised, ...accumulated], HEIGHTS.realised, 5),
    orders: linearScale(
      rows.map(({ orderCount }) => orderCount),
      ordersHeight,
    ),
    latency: logScale([...shares.p50, ...shares.p90, ...shares.p99], HEIGHTS.latency),
    slippage: linearScale(slippages, HEIGHTS.slippage, 3),
  };
  const ends = (['p99', 'p90', 'p50'] as const).map((share) => ({
    share,
    value: totals.latest?.[share] ?? null,
  }));
  const latencyWords = ends.map(
    ({ share, value }) => `${share} ${value === null ? '' : `${figure(value)} ms`}`,
  );

  const ticks = [
    ...[...scales.realised.ticks, ...scales.slippage.ticks].map(moneyTick),
    ...[...scales.orders.ticks, ...scales.latency.ticks].map(countTick),
  ];
  const left = roomFor(ticks, 8);
  const right = Math.max(roomFor(latencyWords, 8), roomFor(statuses, 22), roomFor(['each day'], 8));
  const days = columns(rows.length, Math.max(0, width - left - right));

  const placed = spread(
    ends.map(({ value }) => scales.latency.y(value ?? 0)),
    NAME_GAP,
    8,
    HEIGHTS.latency - 8,
  );
  const [totalY = 0, eachY = 0] = spread(
    [scales.realised.y(totals.realised ?? 0), scales.realised.y(0)],
    NAME_GAP,
    8,
    HEIGHTS.realised - 8,
  );
  const worst = totals.worst && outstanding(realised) === rows.indexOf(totals.worst) ? totals.worst : null;
  const slowest = outstanding(shares.p99);
  const stems = slippages.map((value, index) =>
    value === null ? '' : `M${days.middle(index)} ${scales.slippage.y(0)}V${scales.slippage.y(value)}`,
  );
  const heads = slippages.map((value, index) =>
    value === null ? '' : `M${days.middle(index)} ${scales.slippage.y(value)}h0`,
  );
  return {
    totals,
    statuses,
    ordersHeight,
    scales,
    left,
    right,
    days,
    // The height is the plot's own. Where a day is hardly a line, weekends would only flicker.
    weekends:
      days.step < 3
        ? ''
        : rows
            .map(({ isWeekend }, index) =>
              isWeekend
                ? `M${days.left(index).toFixed(1)} 0h${days.step.toFixed(1)}vHh${(-days.step).toFixed(1)}z`
                : '',
            )
            .join(''),
    paths: {
      realised: bars(realised, days, scales.realised),
      total: stairs(accumulated, days, scales.realised),
      orders: stacked(
        statuses.map((status) => rows.map(({ orders }) => orders[status] ?? 0)),
        days,
        scales.orders,
      ),
      p50: line(shares.p50, days, scales.latency),
      p90: line(shares.p90, days, scales.latency),
      p99: line(shares.p99, days, scales.latency),
      stems: stems.join(''),
      heads: heads.join(''),
    },
    realisedNames: [
      { text: 'total', y: totalY },
      { text: 'each day', y: eachY },
    ],
    orderNames: statuses.toReversed().map((status, index) => ({
      text: status,
      y: ordersHeight - 12 - (statuses.length - 1 - index) * NAME_GAP,
      sample: status,
    })),
    latencyNames: totals.latest
      ? ends.map(({ share, value }, index) => ({
          text: share,
          y: placed[index] ?? 0,
          value: value === null ? '' : `${figure(value)} ms`,
        }))
      : [],
    slippageNames: slippageNames(scales.slippage.y(0)),
    notes: {
      realised: worst && {
        index: rows.indexOf(worst),
        text: `${shortDay(worst.day)} ${money(worst.realised ?? 0)}`,
      },
      latency:
        slowest === null
          ? null
          : {
              index: slowest,
              text: `${shortDay(rows[slowest]?.day ?? '')}: p99 ${figure(rows[slowest]?.p99 ?? 0)} ms`,
            },
    },
  };
}

/** Above zero is better, below it worse: each where there is room for it. */
function slippageNames(zero: number) {
  const better = { text: 'better', y: zero - 10 };
  const worse = { text: 'worse', y: zero + 10 };
  return [...(zero > 20 ? [better] : []), ...(zero < HEIGHTS.slippage - 20 ? [worse] : [])];
}

const roomFor = (texts: readonly string[], beside: number): number =>
  Math.ceil(Math.max(0, ...texts.map(({ length }) => length)) * FIGURE_WIDTH) + beside + 4;
