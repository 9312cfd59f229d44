// The plots over one time axis: what was earned, what became of the orders, how fast brokers answered, at which prices.

import { useCallback, useMemo, useState } from 'react';
import { counted, figure, money, signed } from '../../parts/numbers.ts';
import {
  dayInWords,
  latencyInWords,
  ordersInWords,
  outcomesInWords,
  outstanding,
  type Row,
  realisedInWords,
  shortDay,
  slippageInWords,
  spanInWords,
  statusesOf,
  totalsOf,
} from './days.ts';
import {
  bars,
  columns,
  line,
  linearScale,
  logScale,
  namedDays,
  spread,
  stacked,
  stairs,
} from './geometry.ts';
import styles from './performance.module.css';
import { type Field, Plot } from './plot.tsx';
import { sheetsOf } from './sheets.ts';

const HEIGHTS = { realised: 208, orders: 116, latency: 144, slippage: 100 };
/** Between the names at the ends of lines. */
const NAME_GAP = 16;
/** A figure of 12 pixels' size is about so wide. */
const FIGURE_WIDTH = 6.9;
/** Below it the words of a day stand under the plots. */
const NARROW = 640;
/** For `14 Oct` and what parts it from the next. */
const DAY_ROOM = 64;

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });
const short = (value: number, whole: string) =>
  Math.abs(value) >= 1e6 ? `${value < 0 ? '\u2212' : ''}${COMPACT.format(Math.abs(value))}` : whole;
const moneyTick = (value: number) =>
  value > 0 && value >= 1e6 ? `+${short(value, '')}` : short(value, signed(value));
const countTick = (value: number) => (Number.isInteger(value) ? short(value, figure(value)) : '');

interface PlotsProps {
  readonly rows: readonly Row[];
  readonly currency: string | null;
  /** Null: it is real money, or the page says apart from it what is not. */
  readonly isUnreal: boolean;
}

export function Plots({ rows, currency, isUnreal }: PlotsProps) {
  const [measure, width] = useWidth();
  const [pointed, point] = useState<number | null>(null);
  const drawn = useMemo(() => draw(rows, width), [rows, width]);
  const sheets = useMemo(() => sheetsOf(rows, currency), [rows, currency]);
  const { totals, days, scales, paths } = drawn;
  const field: Field = {
    rows,
    days,
    left: drawn.left,
    right: drawn.right,
    weekends: drawn.weekends,
    pointed: pointed !== null && pointed < rows.length ? pointed : null,
    point,
    isNarrow: width < NARROW,
  };
  const money_ = (value: number | null) => (value === null ? 'not known' : money(value));
  const span = spanInWords(rows);
  return (
    <div className={isUnreal ? `${styles.plots} hatched` : styles.plots}>
      {totals.realised !== null && (
        <Plot
          field={field}
          title="Realised profit"
          amount={money(totals.realised)}
          unit={currency ?? ''}
          notes={
            <>
              by average cost, known fees counted
              {totals.best && (
                <>
                  <br />
                  best {money_(totals.best.realised)} on {shortDay(totals.best.day)}
                </>
              )}
              {totals.worst && (
                <>
                  <br />
                  worst {money_(totals.worst.realised)} on {shortDay(totals.worst.day)}
                </>
              )}
            </>
          }
          says={`Realised profit from ${span}: it comes to ${money(totals.realised)} ${currency ?? ''}.`}
          sheet={sheets.realised}
          height={HEIGHTS.realised}
          scale={scales.realised}
          tick={moneyTick}
          names={drawn.realisedNames}
          dayWords={(row) => `${shortDay(row.day)}: ${realisedInWords(row, currency)}`}
          note={drawn.notes.realised}
        >
          <path className={styles.bars} d={paths.realised.above} />
          <path className={styles.hollow} d={paths.realised.below} />
          <path className={styles.main} d={paths.total} />
        </Plot>
      )}
      <Plot
        field={field}
        title="Orders by outcome"
        amount={figure(totals.orderCount)}
        unit={totals.orderCount === 1 ? 'order' : 'orders'}
        notes={outcomesInWords(totals.orders)}
        says={`Orders by outcome, a bar a day, from ${span}: ${counted(totals.orderCount, 'order')}, ${outcomesInWords(totals.orders)}.`}
        sheet={sheets.orders}
        height={drawn.ordersHeight}
        scale={scales.orders}
        tick={countTick}
        names={drawn.orderNames}
        dayWords={ordersInWords}
        note={null}
      >
        {drawn.statuses.map((status, index) => (
          <path key={status} className={styles[status]} d={paths.orders[index]} />
        ))}
      </Plot>
      <Plot
        field={field}
        title="Accepted to answered"
        amount={totals.latest?.p50 == null ? '–' : `${figure(totals.latest.p50)} ms`}
        unit={totals.latest ? `p50 on ${shortDay(totals.latest.day)}` : 'no broker answered'}
        notes="from our acceptance to the broker’s answer; per day, logarithmic"
        says={`Milliseconds from the acceptance of an order to the broker’s answer, per day from ${span}${totals.latest ? `; last ${latencyInWords(totals.latest)}` : ''}.`}
        sheet={sheets.latency}
        height={HEIGHTS.latency}
        scale={scales.latency}
        tick={countTick}
        names={drawn.latencyNames}
        dayWords={latencyInWords}
        note={drawn.notes.latency}
      >
        <path className={styles.third} d={paths.p99} />
        <path className={styles.second} d={paths.p90} />
        <path className={styles.main} d={paths.p50} />
      </Plot>
      {totals.realised !== null && (
        <Plot
          field={field}
          title="Slippage"
          amount={totals.slippage === null ? '–' : money(totals.slippage)}
          unit={totals.slippage === null ? 'no signal had a price' : (currency ?? '')}
          notes="against the signals’ own prices, in money"
          says={`Slippage in money, per day from ${span}: ${totals.slippage === null ? 'no signal had a price' : `${money(totals.slippage)} ${currency ?? ''} in all`}.`}
          sheet={sheets.slippage}
          height={HEIGHTS.slippage}
          scale={scales.slippage}
          tick={moneyTick}
          names={drawn.slippageNames}
          dayWords={(row) => slippageInWords(row, currency)}
          note={null}
        >
          <path className={styles.second} d={paths.stems} />
          <path className={styles.heads} d={paths.heads} />
        </Plot>
      )}
      <TimeAxis field={field} measure={measure} width={width} currency={currency} />
      {field.isNarrow && <Sentence row={rows[field.pointed ?? -1]} currency={currency} />}
    </div>
  );
}

interface TimeAxisProps {
  readonly field: Field;
  readonly measure: (element: HTMLElement | null) => undefined | (() => void);
  readonly width: number;
  readonly currency: string | null;
}

/** The days' names. The arrow keys move the day from here, and a screen reader says it in words. */
function TimeAxis({ field, measure, width, currency }: TimeAxisProps) {
  const { rows, days, left, pointed, point } = field;
  const row = pointed === null ? undefined : rows[pointed];
  const named = namedDays(days, DAY_ROOM).filter(
    (index) => pointed === null || Math.abs(index - pointed) * days.step >= DAY_ROOM - 12,
  );
  const shown = pointed === null ? named : [...named, pointed];
  const last = rows.at(-1);
  return (
    <div className={styles.axis}>
      <div ref={measure} className={styles.axisInside}>
        <svg className={styles.drawing} width={width} height={20} aria-hidden="true">
          {shown.map((index) => (
            <text
              key={index}
              className={index === pointed ? `${styles.dayName} ${styles.told}` : styles.dayName}
              x={left + days.middle(index)}
              y={10}
            >
              {shortDay(rows[index]?.day ?? '')}
            </text>
          ))}
        </svg>
        {last && (
          <input
            type="range"
            className={styles.slider}
            aria-label="Day"
            min={0}
            max={rows.length - 1}
            value={pointed ?? rows.length - 1}
            aria-valuetext={dayInWords(row ?? last, currency)}
            onChange={({ target }) => point(Number(target.value))}
            onKeyDown={({ key }) => key === 'Escape' && point(null)}
            onFocus={({ target }) => target.matches(':focus-visible') && point(pointed ?? rows.length - 1)}
            onBlur={() => point(null)}
          />
        )}
      </div>
    </div>
  );
}

/** Where there is no room beside the day: at the lower edge of the window, whichever plot is touched. */
function Sentence({ row, currency }: { readonly row: Row | undefined; readonly currency: string | null }) {
  return row ? (
    <p className={`${styles.sentence} ${styles.afloat}`}>{dayInWords(row, currency)}</p>
  ) : (
    <p className={`${styles.sentence} quiet`}>Touch a day for its figures.</p>
  );
}

// What is drawn, apart from the pointer: made anew only when the data or the width changes.

function draw(rows: readonly Row[], width: number) {
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
      sample: styles[status],
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

function useWidth(): [(element: HTMLElement | null) => undefined | (() => void), number] {
  const [width, setWidth] = useState(0);
  const measure = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [measure, width];
}
