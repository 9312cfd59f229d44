// Where a chart's candles, lines and marks lie. Pure: from prices and times to paths. Drawn by hand, as the other plots are: hollow and
// filled candles, one strong line and numbers that a list repeats need no library.

import type { components } from '../../api/schema.ts';
import { rangeScale, type Scale, spread } from '../geometry.ts';
import { figure } from '../numbers.ts';
import type { Numbered, Step, Target } from './happened.ts';
import { type Span, timesIn } from './spans.ts';

export type Candle = components['schemas']['Candle'];

export interface Charted {
  readonly span: Span;
  /** How long a candle lasts. */
  readonly intervalMs: number;
  readonly candles: readonly Candle[];
  readonly numbered: readonly Numbered[];
  readonly stop: readonly Step[];
  readonly targets: readonly Target[];
  /** The average price. */
  readonly entry: number | null;
  readonly side: 'long' | 'short';
  readonly opened: number;
  /** null: it is open. */
  readonly closed: number | null;
}

interface Place {
  readonly x: number;
  readonly y: number;
}
interface Sign extends Place {
  readonly no: number;
  readonly path: string;
}

const px = (value: number): number => Math.round(value * 10) / 10;
/** A letter of 11.5 pixels' size is about so wide. */
const LETTER = 6.2;
const LINE_HEIGHT = 14;
const TIME_ROOM = 64;
/** A disc, and what parts it from the next. */
const DISC = 18;

export function draw(charted: Charted, room: number, height: number) {
  const { span, candles, numbered, stop, entry, closed } = charted;
  const scale = rangeScale(pricesIn(charted), height, Math.max(3, Math.floor(height / 70)));
  const targets = charted.targets.filter(({ price }) => price >= scale.low && price <= scale.high);
  const lastStop = stop.findLast(({ price }) => price !== null)?.price ?? null;
  const lastPrice = candles.at(-1)?.close ?? null;
  const names = [
    ...(lastStop === null ? [] : [{ price: lastStop, text: `stop ${figure(lastStop)}` }]),
    ...(entry === null ? [] : [{ price: entry, text: `entry ${figure(Number(entry.toPrecision(7)))}` }]),
    ...(lastPrice === null ? [] : [{ price: lastPrice, text: `price ${figure(lastPrice)}` }]),
  ];
  const gutter = Math.ceil(Math.max(0, ...names.map(({ text }) => text.length)) * LETTER) + 8;
  const width = Math.max(0, room - gutter);
  const x = (at: number) =>
    px(((Math.min(span.to, Math.max(span.from, at)) - span.from) / Math.max(1, span.to - span.from)) * width);
  const until = x(closed ?? span.to);
  const placed = spread(
    names.map(({ price }) => scale.y(price)),
    LINE_HEIGHT,
    8,
    height - 4,
  );
  const flat = (price: number, from: number, to: number) => `M${x(from)} ${scale.y(price)}H${px(to)}`;
  return {
    width,
    scale,
    held: { x: x(charted.opened), width: px(Math.max(1, until - x(charted.opened))) },
    ...candlePaths(charted, x, scale, width),
    stop: stopPath(stop, { x, y: scale.y, until }),
    targets: targets.map(({ price, name, from, to }) => ({
      path: flat(price, from, to === null ? until : x(to)),
      x: x(from) + 6,
      y: px(scale.y(price) - 5),
      text: `${name} ${figure(price)}`,
    })),
    entry: entry === null ? '' : flat(entry, charted.opened, until),
    asked: numbered.flatMap(({ no, at, fill }) =>
      fill?.asked == null ? [] : [{ no, path: diamond(x(Date.parse(at)) - 9, scale.y(fill.asked)) }],
    ),
    ...marks(charted, x, scale, height),
    names: names.map(({ text }, index) => ({ text, x: width + 6, y: placed[index] ?? 0 })),
    times: timesIn(span, width, TIME_ROOM).map((at) => ({ at, x: x(at) })),
  };
}

/** All that is drawn has a place; a target that is far away does not make everything else flat. */
function pricesIn({ candles, numbered, stop, targets, entry }: Charted): number[] {
  const near = [
    ...candles.flatMap(({ high, low }) => [high, low]),
    ...numbered.flatMap(({ fill }) => [fill?.price ?? null, fill?.asked ?? null]),
    ...stop.map(({ price }) => price),
    entry,
  ].filter((price) => price !== null);
  const [least, most] = [Math.min(...near), Math.max(...near)];
  const room = Math.max(most - least, Math.abs(most) * 0.005);
  const reached = targets
    .map(({ price }) => price)
    .filter((price) => price >= least - room && price <= most + room);
  return [...near, ...reached];
}

/** Hollow ones rose, filled ones fell; a wick does not run through a hollow body. */
function candlePaths(
  { candles, intervalMs, span }: Charted,
  x: (at: number) => number,
  { y }: Scale,
  width: number,
) {
  const step = (width * intervalMs) / Math.max(1, span.to - span.from);
  const body = px(Math.max(1, Math.min(14, step * 0.65)));
  let [wicks, rose, fell] = ['', '', ''];
  for (const { at, open, high, low, close } of candles) {
    const begins = Date.parse(at);
    // What began before what is shown, or ends after it, would hang over the edge.
    if (begins + intervalMs / 2 < span.from || begins + intervalMs / 2 > span.to) continue;
    const middle = x(begins + intervalMs / 2);
    const [top, bottom] = [y(Math.max(open, close)), y(Math.min(open, close))];
    wicks += `M${middle} ${y(high)}V${top}M${middle} ${bottom}V${y(low)}`;
    const drawn = `M${px(middle - body / 2)} ${top}h${body}V${Math.max(bottom, px(top + 1))}h${-body}z`;
    if (close >= open) rose += drawn;
    else fell += drawn;
  }
  return { wicks, rose, fell };
}

function stopPath(
  stop: readonly Step[],
  { x, y, until }: { x(at: number): number; y(price: number): number; readonly until: number },
): string {
  let path = '';
  for (const [index, { at, price }] of stop.entries()) {
    if (price === null) continue;
    const next = stop[index + 1];
    const begins = Math.min(x(at), until);
    const joined = path !== '' && (stop[index - 1]?.price ?? null) !== null;
    path += `${joined ? `V${y(price)}` : `M${begins} ${y(price)}`}H${next ? Math.min(x(next.at), until) : until}`;
  }
  return path;
}

const diamond = (x: number, y: number): string => `M${px(x - 4.5)} ${y}l4.5 -4.5 4.5 4.5 -4.5 4.5z`;

/** Fills are discs with a tip at their price, what was bought from below; moves are rings at the far side of the stop. Those at one place stand behind each other. */
function marks({ numbered, side }: Charted, x: (at: number) => number, { y }: Scale, height: number) {
  const fills: Sign[] = [];
  const moves: Omit<Sign, 'path'>[] = [];
  const taken: Place[] = [];
  const freeAt = (wanted: Place, step: number): Place => {
    let { y: place } = wanted;
    const isTaken = () =>
      taken.some((other) => Math.abs(other.x - wanted.x) < DISC && Math.abs(other.y - place) < DISC);
    for (let tries = 0; tries < 8 && isTaken(); tries++) place += step;
    const found = { x: wanted.x, y: px(Math.min(height - 9, Math.max(9, place))) };
    taken.push(found);
    return found;
  };
  for (const { no, at, fill, move } of numbered) {
    const price = fill ? fill.price : move.price;
    if (price === null) continue;
    const [left, top] = [x(Date.parse(at)), y(price)];
    const below = fill ? fill.side === 'buy' : side === 'long';
    const way = below ? 1 : -1;
    const place = freeAt({ x: left, y: top + way * 24 }, way * DISC);
    if (fill) fills.push({ no, ...place, path: `M${left} ${px(top + way * 7)}l5.5 ${way * 9}h-11z` });
    else moves.push({ no, ...place });
  }
  return { fills, moves };
}
