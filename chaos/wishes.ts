// What entries ask to protect their positions with, and what a `protect` changes: every field, in prices and in distances, near
// enough for the market to get there.

import { parseDecimal } from '../src/domain/decimal.ts';
import type { Direction } from '../src/domain/side.ts';

interface Terms {
  readonly side: Direction;
  /** Of the market, a moment ago; null: nobody knows. */
  readonly price: number | null;
  readonly random: () => number;
}

type Fields = Readonly<Record<string, unknown>>;

/** So far a level is from the entry, in percent. */
const STOP = [0.3, 1.5] as const;
const TARGET = [0.15, 0.9] as const;
const TRAIL = [0.3, 0.8] as const;
/** Seconds: the shortest that is taken, and a little more. */
const TIME_STOP = [60, 100] as const;

/** With a stop, nearly always: a position without one is what the judge is about. */
export function entryWish({ side, price, random }: Terms): Fields {
  const between = ([least, most]: readonly [number, number]) => least + random() * (most - least);
  const distance = (span: readonly [number, number]) => spelled(between(span), { price, random });
  const away = side === 'long' ? 1 : -1;
  const level = (span: readonly [number, number], sign: number) => {
    if (price === null || random() < 0.7) return distance(span);
    return onTick(price * (1 + (away * sign * between(span)) / 100));
  };
  const isTrailing = random() < 0.35;
  const hasTargets = random() < 0.5;
  const parts = Math.floor(random() * 3) + 1;
  const first = level(TARGET, 1);
  const targets = Array.from({ length: parts }, (_, index) => ({
    at: index === 0 ? first : distance([TARGET[1], TARGET[1] * 2]),
    percent: Math.floor(100 / parts) - (random() < 0.3 ? 10 : 0),
  }));
  return {
    ...((!isTrailing || random() < 0.5) && { stop_loss: level(STOP, -1) }),
    ...(isTrailing && { trailing_stop: distance(TRAIL) }),
    ...(hasTargets && { take_profit: parts === 1 ? first : targets }),
    ...(random() < 0.3 && { break_even: hasTargets && random() < 0.5 ? 'tp1' : distance(TARGET) }),
    ...(random() < 0.08 && { time_stop: Math.round(between(TIME_STOP)) }),
  };
}

/** A percentage of its own, by which its order is known again: a `protect` has no quantity. */
export function protectWish(mark: number, random: () => number): Fields {
  const own = `${(0.8 + mark / 10_000).toFixed(4)}%`;
  const kind = random();
  if (kind < 0.5) return { stop_loss: own };
  if (kind < 0.65) return { trailing_stop: own };
  if (kind < 0.85) return { take_profit: [{ at: own, percent: 50 }] };
  return { stop_loss: 'none', trailing_stop: 'none', break_even: 'none', take_profit: own };
}

/** In percent, or in points where the price is known. */
function spelled(percent: number, { price, random }: Pick<Terms, 'price' | 'random'>): string {
  return price === null || random() < 0.6
    ? `${percent.toFixed(2)}%`
    : `${parseDecimal(((price * percent) / 100).toFixed(2))}p`;
}

/** Of every market here. */
const onTick = (price: number): number => Number(price.toFixed(price > 10_000 ? 0 : 1));
