// The plots over one time axis: what was earned, what became of the orders, how fast brokers answered, at which prices.

import { useMemo, useState } from 'react';
import { namedDays } from '../../parts/geometry.ts';
import { counted, figure, money } from '../../parts/numbers.ts';
import plots from '../../parts/plots/plots.module.css';
import { TimeAxis } from '../../parts/plots/plots.tsx';
import { useWidth } from '../../parts/use-width.ts';
import {
  dayInWords,
  latencyInWords,
  ordersInWords,
  outcomesInWords,
  type Row,
  realisedInWords,
  shortDay,
  slippageInWords,
  spanInWords,
} from './days.ts';
import { countTick, draw, HEIGHTS, moneyTick } from './drawing.ts';
import styles from './performance.module.css';
import { type Field, Plot } from './plot.tsx';
import { sheetsOf } from './sheets.ts';

/** Below it the words of a day stand under the plots. */
const NARROW = 640;
/** For `14 Oct` and what parts it from the next. */
const DAY_ROOM = 64;

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
  const span = spanInWords(rows);
  return (
    <div className={isUnreal ? `${plots.plots} hatched` : plots.plots}>
      {totals.realised !== null && (
        <Plot
          field={field}
          title="Realised profit"
          amount={money(totals.realised)}
          unit={currency ?? ''}
          notes={
            <>
              by average cost, known fees included
              {totals.best && (
                <>
                  <br />
                  best {money(totals.best.realised ?? 0)} on {shortDay(totals.best.day)}
                </>
              )}
              {totals.worst && (
                <>
                  <br />
                  worst {money(totals.worst.realised ?? 0)} on {shortDay(totals.worst.day)}
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
          <path className={plots.bars} d={paths.realised.above} />
          <path className={plots.hollow} d={paths.realised.below} />
          <path className={plots.line} d={paths.total} />
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
        unit={
          totals.latest ? `or less for half of them on ${shortDay(totals.latest.day)}` : 'no broker answered'
        }
        notes="from our acceptance to the broker’s answer, each day; p50: half took no longer, p90: 9 of 10, p99: 99 of 100"
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
        <path className={plots.line} d={paths.p50} />
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
      <Days field={field} measure={measure} width={width} currency={currency} />
      {field.isNarrow && <Sentence row={rows[field.pointed ?? -1]} currency={currency} />}
    </div>
  );
}

interface DaysProps {
  readonly field: Field;
  readonly measure: (element: HTMLElement | null) => undefined | (() => void);
  readonly width: number;
  readonly currency: string | null;
}

/** Those whose names have room; and the one that is pointed at always. */
function Days({ field, measure, width, currency }: DaysProps) {
  const { rows, days, left, pointed, point } = field;
  const named = namedDays(days, DAY_ROOM).filter(
    (index) => pointed === null || Math.abs(index - pointed) * days.step >= DAY_ROOM - 12,
  );
  const shown = pointed === null ? named : [...named, pointed];
  return (
    <TimeAxis
      measure={measure}
      width={width}
      names={shown.map((index) => ({
        x: left + days.middle(index),
        text: shortDay(rows[index]?.day ?? ''),
        isPointed: index === pointed,
      }))}
      of="Day"
      count={rows.length}
      pointed={pointed}
      point={point}
      saying={(index) => {
        const row = rows[index];
        return row ? dayInWords(row, currency) : '';
      }}
    />
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
