// What a number of trades came to: won and lost, how deep it went below its highest point, and by day, symbol, strategy, hour
// and what closed them. Of one currency: amounts of several are never added.

import {
  absolute,
  add,
  average,
  compare,
  type Decimal,
  decimal,
  rounded,
  sign,
  subtract,
  toNumber,
  ZERO,
} from '../decimal.ts';
import { millis, type Timestamp } from '../ids.ts';
import { clockOf } from '../timezone.ts';
import type { RoundTrip } from './trades.ts';

/** From so many on a ratio says something. */
export const ENOUGH_TRADES = 20;
/** Of the equity's points: a page is not wider. */
const MOST_POINTS = 1_000;
/** Of symbols and of strategies; some senders number their alerts. */
const MOST_ROWS = 100;

/** A trade that was closed, and whose it was. */
export interface ClosedTrade extends RoundTrip {
  readonly closedAt: Timestamp;
  /** The `id` of the alert that opened it. */
  readonly strategy: string | null;
}

interface Sum {
  trades: number;
  won: number;
  profit: Decimal;
}

interface Point {
  readonly at: Timestamp;
  readonly equity: Decimal;
  readonly drawdown: Decimal;
}

/** The highest point, the lowest behind it, and when it was as high again. */
interface Drawdown {
  readonly amount: Decimal;
  readonly from: Timestamp;
  readonly to: Timestamp;
  back: Timestamp | null;
}

interface Run {
  readonly trades: number;
  readonly from: Timestamp;
  readonly to: Timestamp;
  readonly profit: Decimal;
}

/** Of trades as they were closed; days and hours are those of the zone. */
export function openFigures(zone: string) {
  const clock = clockOf(zone);
  const sums = { all: newSum(), known: newSum(), wins: newSum(), losses: newSum() };
  const by = {
    days: new Map<string, Sum>(),
    symbols: new Map<string, Sum>(),
    strategies: new Map<string | null, Sum>(),
    hours: new Map<number, Sum>(),
    closers: new Map<string, Sum>(),
  };
  const points: Point[] = [];
  const money = { fees: ZERO, feesUnknown: 0, slippage: null as Decimal | null };
  let top: { readonly at: Timestamp; readonly equity: Decimal } | null = null;
  let best: Decimal | null = null;
  let worst: Decimal | null = null;
  let deepest: Drawdown | null = null;
  /** The one that goes on. */
  let falling: Drawdown | null = null;
  let run: Run | null = null;
  let longest: Run | null = null;

  function follow({ closedAt: at, openedAt }: ClosedTrade): void {
    top ??= { at: openedAt, equity: ZERO };
    const equity = sums.all.profit;
    const drawdown = subtract(equity, top.equity);
    if (sign(drawdown) >= 0) {
      if (falling) falling.back = at;
      falling = null;
      top = { at, equity };
    } else if (!falling || compare(drawdown, falling.amount) < 0) {
      const isDeepest = deepest === null || deepest === falling || compare(drawdown, deepest.amount) < 0;
      falling = { amount: drawdown, from: top.at, to: at, back: null };
      if (isDeepest) deepest = falling;
    }
    points.push({ at, equity, drawdown: sign(drawdown) < 0 ? drawdown : ZERO });
  }

  function countRun({ closedAt: to, profit }: ClosedTrade): void {
    if (sign(profit) >= 0) {
      run = null;
      return;
    }
    const before: Run | null = run;
    run = {
      trades: (before?.trades ?? 0) + 1,
      from: before?.from ?? to,
      to,
      profit: add(before?.profit ?? ZERO, profit),
    };
    const isWorse =
      !longest ||
      run.trades > longest.trades ||
      (run.trades === longest.trades && compare(run.profit, longest.profit) < 0);
    if (isWorse) longest = run;
  }

  return {
    take(trade: ClosedTrade): void {
      const { profit, fees, feesUnknown, slippage, closedAt, openedAt, symbol, strategy, closedBy } = trade;
      // What somebody else closed may have won or lost: only its fees are known.
      const isKnown = trade.closedElsewhere === ZERO;
      for (const sum of [
        sums.all,
        ...(isKnown ? [sums.known] : []),
        ...(isKnown && sign(profit) > 0 ? [sums.wins] : []),
        ...(isKnown && sign(profit) < 0 ? [sums.losses] : []),
        entryOf(by.days, clock(millis(closedAt)).day),
        entryOf(by.symbols, symbol),
        entryOf(by.strategies, strategy),
        entryOf(by.hours, clock(millis(openedAt)).hour),
        entryOf(by.closers, closedBy ?? ''),
      ])
        count(sum, profit, isKnown);
      money.fees = add(money.fees, fees);
      money.feesUnknown += feesUnknown;
      if (slippage !== null) money.slippage = add(money.slippage ?? ZERO, slippage);
      follow(trade);
      if (!isKnown) return;
      if (best === null || compare(profit, best) > 0) best = profit;
      if (worst === null || compare(profit, worst) < 0) worst = profit;
      countRun(trade);
    },
    /** Of all that were taken, to the last digit. */
    sum: (): Decimal => sums.all.profit,
    read() {
      const { all, known, wins, losses } = sums;
      const isEnough = known.trades >= ENOUGH_TRADES;
      const each = (sum: Sum) => (sum.trades === 0 ? null : told(average(sum.profit, decimal(sum.trades))));
      const earned = absolute(losses.profit);
      return {
        trades: all.trades,
        won: wins.trades,
        lost: losses.trades,
        not_known: all.trades - known.trades,
        profit: told(all.profit),
        won_profit: told(wins.profit),
        lost_profit: told(losses.profit),
        fees: told(money.fees),
        fees_unknown: money.feesUnknown,
        slippage: money.slippage && told(money.slippage),
        win_rate: isEnough ? toNumber(average(decimal(wins.trades), decimal(known.trades))) : null,
        profit_factor: isEnough && earned !== ZERO ? toNumber(average(wins.profit, earned)) : null,
        expectancy: isEnough ? each(known) : null,
        average_win: each(wins),
        average_loss: each(losses),
        best_trade: best && told(best),
        worst_trade: worst && told(worst),
        losses_in_a_row: longest && { ...longest, profit: told(longest.profit) },
        drawdown: deepest && {
          amount: told(deepest.amount),
          from: deepest.from,
          to: deepest.to,
          back_at: deepest.back,
        },
        equity: thinned(points).map(({ at, equity, drawdown }) => ({
          at,
          profit: told(equity),
          drawdown: told(drawdown),
        })),
        days: inOrder(by.days).map(([day, sum]) => ({ day, ...shown(sum) })),
        symbols: mostTraded(by.symbols).map(([symbol, sum]) => ({ symbol, ...shown(sum) })),
        strategies: mostTraded(by.strategies).map(([strategy, sum]) => ({ strategy, ...shown(sum) })),
        hours: inOrder(by.hours).map(([hour, sum]) => ({ hour, ...shown(sum) })),
        closed_by: mostTraded(by.closers).map(([closed_by, sum]) => ({ closed_by, ...shown(sum) })),
      };
    },
  };
}

const newSum = (): Sum => ({ trades: 0, won: 0, profit: ZERO });

function count(sum: Sum, profit: Decimal, isKnown: boolean): void {
  sum.trades++;
  if (isKnown && sign(profit) > 0) sum.won++;
  sum.profit = add(sum.profit, profit);
}

function entryOf<Key>(map: Map<Key, Sum>, key: Key): Sum {
  const known = map.get(key);
  if (known) return known;
  const made = newSum();
  map.set(key, made);
  return made;
}

export const told = (amount: Decimal): number => toNumber(rounded(amount));
const shown = ({ trades, won, profit }: Sum) => ({ trades, won, profit: told(profit) });

const inOrder = <Key extends string | number>(map: ReadonlyMap<Key, Sum>): [Key, Sum][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));
const mostTraded = <Key>(map: ReadonlyMap<Key, Sum>): [Key, Sum][] =>
  [...map].sort(([, a], [, b]) => b.trades - a.trades).slice(0, MOST_ROWS);

/** Of many points those that show: in each stretch the highest and the lowest, and the last of all. */
function thinned(points: readonly Point[]): Point[] {
  if (points.length <= MOST_POINTS) return [...points];
  const stretch = Math.ceil(points.length / ((MOST_POINTS - 2) / 2));
  const kept: Point[] = [];
  for (let from = 0; from < points.length; from += stretch) {
    const among = points.slice(from, from + stretch);
    const by = (sought: 1 | -1) =>
      among.reduce((found, point) => (compare(point.equity, found.equity) === sought ? point : found));
    const [high, low] = [by(1), by(-1)];
    kept.push(...among.filter((point) => point === high || point === low));
  }
  const last = points.at(-1);
  return last && kept.at(-1) !== last ? [...kept, last] : kept;
}
