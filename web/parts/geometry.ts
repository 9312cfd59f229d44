// Where things lie in a plot: from values to pixels. Pure; whatever the values are, no path says NaN.

export interface Scale {
  readonly low: number;
  readonly high: number;
  /** Round numbers between both ends. */
  readonly ticks: readonly number[];
  /** From the top; what lies outside stands at the edge. */
  y(value: number): number;
}

const isNumber = (value: number | null): value is number => value !== null && Number.isFinite(value);
/** In pixels or percent: enough for a screen, and no rest of a binary fraction. */
const px = (value: number): number => Math.round(value * 10) / 10;

/** 1, 2 or 5 times a power of ten: the smallest that makes at most so many steps. */
function roundStep(width: number, most: number): number {
  const rough = width / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function ticksWithin(low: number, high: number, most: number): number[] {
  const step = roundStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Room above the values, for a line of words, and below them, in pixels. */
const ABOVE = 22;
const BELOW = 8;

/** Linear, and zero is always in it: a bar stands on something. */
export function linearScale(values: readonly (number | null)[], height: number, mostTicks = 4): Scale {
  const known = values.filter(isNumber);
  const low = Math.min(0, ...known);
  const high = Math.max(0, ...known);
  const [top, bottom] = [ABOVE, Math.max(ABOVE, height - BELOW)];
  const width = high - low;
  // Nothing but zeros: they lie at the bottom, and no other number stands beside them.
  if (!(width > 0 && Number.isFinite(width))) return { low: 0, high: 0, ticks: [0], y: () => bottom };
  const y = (value: number) => px(bottom - ((bound(value, low, high) - low) / width) * (bottom - top));
  return { low, high, ticks: ticksWithin(low, high, mostTicks), y };
}

/** Linear, from the lowest to the highest with a little room: of prices, which stand on nothing. */
export function rangeScale(values: readonly (number | null)[], height: number, mostTicks = 5): Scale {
  const known = values.filter(isNumber);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (known.length === 0 || !Number.isFinite(most - least)) return linearScale([], height);
  // One price alone lies in the middle.
  const room = (most - least) * 0.06 || Math.abs(most) * 0.01 || 1;
  const [low, high] = [least - room, most + room];
  const y = (value: number) => px(height - ((bound(value, low, high) - low) / (high - low)) * height);
  return { low, high, ticks: ticksWithin(low, high, mostTicks), y };
}

/** 1, 3, 10, 30 … */
const logStep = (index: number): number => 10 ** Math.floor(index / 2) * (index % 2 === 0 ? 1 : 3);
/** Times are whole milliseconds: what took none lies below 1. */
const LEAST_MS = 0.5;

/** Logarithmic, between two of its own ticks. */
export function logScale(values: readonly (number | null)[], height: number): Scale {
  const known = values.filter(isNumber).map((value) => Math.max(value, LEAST_MS));
  const least = Math.min(...known, Number.MAX_VALUE);
  const most = Math.max(...known, LEAST_MS);
  let [from, to] = [0, 1];
  if (known.length > 0) {
    while (logStep(from + 1) <= least) from++;
    to = from + 1;
    while (logStep(to) < most && to < 40) to++;
  }
  const low = Math.min(logStep(from), least);
  const high = logStep(to);
  const [top, bottom] = [ABOVE, Math.max(ABOVE, height - BELOW)];
  const width = Math.log(high) - Math.log(low);
  const y = (value: number) =>
    px(bottom - ((Math.log(bound(value, low, high)) - Math.log(low)) / width) * (bottom - top));
  const every = Math.ceil((to - from + 1) / 5);
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => logStep(from + index));
  return { low, high, ticks: ticks.filter((_, index) => index % every === 0), y };
}

const bound = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

/** The days beside each other. */
export interface Columns {
  readonly count: number;
  readonly width: number;
  readonly step: number;
  readonly barWidth: number;
  left(index: number): number;
  middle(index: number): number;
  /** The day at a place; null where there is none. */
  at(x: number): number | null;
}

/** A single day would be a wall. */
const WIDEST_BAR = 32;

export function columns(count: number, width: number): Columns {
  const step = count > 0 ? Math.max(0, width) / count : 0;
  return {
    count,
    width: Math.max(0, width),
    step,
    barWidth: Math.min(WIDEST_BAR, step > 4 ? step * 0.75 : step),
    left: (index) => index * step,
    middle: (index) => px((index + 0.5) * step),
    at: (x) => (step > 0 && x >= 0 && x <= width ? Math.min(count - 1, Math.floor(x / step)) : null),
  };
}

const bar = ({ left, step, barWidth }: Columns, index: number, from: number, to: number): string => {
  const x = px(left(index) + (step - barWidth) / 2);
  return `M${x} ${px(from)}h${px(barWidth)}V${px(to)}h${px(-barWidth)}z`;
};

/** What was earned stands on zero, what was lost hangs from it. */
export function bars(values: readonly (number | null)[], days: Columns, { y }: Scale) {
  const drawn = (wanted: (value: number) => boolean) =>
    values
      .map((value, index) => (isNumber(value) && wanted(value) ? bar(days, index, y(0), y(value)) : ''))
      .join('');
  return { above: drawn((value) => value > 0), below: drawn((value) => value < 0) };
}

/** One path a layer, each on top of those before it. */
export function stacked(layers: readonly (readonly number[])[], days: Columns, { y }: Scale): string[] {
  const reached = new Array<number>(days.count).fill(0);
  return layers.map((layer) =>
    layer
      .map((value, index) => {
        if (!(value > 0)) return '';
        const from = reached[index] ?? 0;
        reached[index] = from + value;
        return bar(days, index, y(from), y(from + value));
      })
      .join(''),
  );
}

/** A level for each day: what it came to stands for the whole of it. */
export function stairs(values: readonly (number | null)[], days: Columns, { y }: Scale): string {
  return values
    .map((value, index) => {
      if (!isNumber(value)) return '';
      const before = values[index - 1];
      const start =
        index > 0 && isNumber(before ?? null) ? `V${y(value)}` : `M${px(days.left(index))} ${y(value)}`;
      return `${start}H${px(days.left(index + 1))}`;
    })
    .join('');
}

/** From day to day; a day without a value parts it, and one alone is a point. */
export function line(values: readonly (number | null)[], days: Columns, { y }: Scale): string {
  let isDown = false;
  return values
    .map((value, index) => {
      if (!isNumber(value)) {
        isDown = false;
        return '';
      }
      const place = `${days.middle(index)} ${y(value)}`;
      const isAlone = !isDown && !isNumber(values[index + 1] ?? null);
      const drawn = isDown ? `L${place}` : isAlone ? `M${place}h0` : `M${place}`;
      isDown = true;
      return drawn;
    })
    .join('');
}

/** Names at the ends of lines: each as near to its own line as the others let it, in the order of the lines. */
export function spread(wanted: readonly number[], gap: number, top: number, bottom: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = order.map((index) => wanted[index] ?? 0);
  const lowest = (index: number) => bottom - (placed.length - 1 - index) * gap;
  for (let index = 0; index < placed.length; index++)
    placed[index] = Math.min(
      lowest(index),
      Math.max(placed[index] ?? 0, index === 0 ? top : (placed[index - 1] ?? 0) + gap),
    );
  const result = new Array<number>(wanted.length).fill(0);
  for (const [place, index] of order.entries()) result[index] = placed[place] ?? 0;
  return result;
}

const DAY_STEPS = [1, 2, 5, 7, 14, 30, 60, 120, 365, 730];

/** Which days are named below: the last one, and those before it that have room. */
export function namedDays({ count, step }: Columns, room: number): number[] {
  if (count === 0 || step === 0) return [];
  const every = DAY_STEPS.find((days) => days * step >= room) ?? count;
  const named = [];
  for (let index = count - 1; index >= 0; index -= every) named.unshift(index);
  return named;
}

/** In percent of its cell. */
export interface AmountBar {
  readonly zero: number;
  readonly left: number;
  readonly width: number;
}

/** Beside each other's figures, from a zero that all of them share; none where nothing was earned or lost. */
export function amountBars(amounts: readonly number[]): (AmountBar | null)[] {
  const low = Math.min(0, ...amounts);
  const high = Math.max(0, ...amounts);
  const width = high - low;
  if (width === 0) return amounts.map(() => null);
  const percent = (amount: number) => px(((amount - low) / width) * 100);
  const zero = percent(0);
  return amounts.map((amount) => {
    const end = percent(amount);
    return { zero, left: Math.min(zero, end), width: px(Math.abs(end - zero)) };
  });
}
