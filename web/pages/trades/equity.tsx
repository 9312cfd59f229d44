// The equity, trade by trade, and how far it stood below its highest point, on one time axis.

import { type PointerEvent, type ReactNode, useMemo, useState } from 'react';
import { serverNow } from '../../api/clock.ts';
import type { Scale } from '../../parts/geometry.ts';
import { money, signed } from '../../parts/numbers.ts';
import plots from '../../parts/plots/plots.module.css';
import { Ticks, TimeAxis, Words } from '../../parts/plots/plots.tsx';
import { useWidth } from '../../parts/use-width.ts';
import { clockTime } from '../../parts/when.tsx';
import { localDay, shortDay } from './asked.ts';
import { type Drawn, draw, HEIGHTS, type Point } from './drawing.ts';
import styles from './trades.module.css';
import type { Summary } from './words.ts';

interface EquityProps {
  readonly summary: Summary;
  readonly first: string | null;
  readonly last: string;
}

export function Equity({ summary, first, last }: EquityProps) {
  const { equity: points, currency, days, drawdown } = summary;
  const [measure, width] = useWidth();
  const [chosen, choose] = useState<number | null>(null);
  const drawn = useMemo(
    () => draw(points, spanIn(points, first, last), width, signed),
    [points, first, last, width],
  );
  const pointed = chosen !== null && chosen < points.length ? chosen : null;
  const point = pointed === null ? undefined : points[pointed];
  const unit = currency ?? '';
  const best = days.toSorted((a, b) => b.profit - a.profit)[0];
  const worst = days.toSorted((a, b) => a.profit - b.profit)[0];
  const lowest = drawdown && points.findIndex(({ at }) => at === drawdown.to);
  const field = { drawn, points, pointed, choose };
  return (
    <section id="equity" tabIndex={-1} className={`${plots.plots} ${styles.equity}`}>
      <Plot
        title="Equity"
        amount={money(summary.profit)}
        unit={unit}
        notes={
          <>
            trade by trade
            {best && best.profit > 0 && `, best day ${money(best.profit)}, ${shortDay(best.day)}`}
            {worst && worst.profit < 0 && `, worst ${money(worst.profit)}, ${shortDay(worst.day)}`}
          </>
        }
        says={`The sum of ${points.length} trades after fees, ending at ${money(summary.profit)} ${unit}.`}
        height={HEIGHTS.equity}
        scale={drawn.equity.scale}
        path={drawn.equity.path}
        words={point && `${momentOf(point)}: ${money(point.profit)}`}
        {...field}
      />
      <Plot
        title="Drawdown"
        amount={drawdown ? money(drawdown.amount) : '0.00'}
        unit={unit}
        notes="below the highest point so far"
        says={`How far the sum stood below its highest point so far; at most ${drawdown ? money(drawdown.amount) : 'nothing'} ${unit}.`}
        height={HEIGHTS.drawdown}
        scale={drawn.drawdown.scale}
        path={drawn.drawdown.path}
        words={point && money(point.drawdown)}
        note={
          drawdown && lowest !== null
            ? `${shortDay(localDay(new Date(drawdown.to)))}: ${money(drawdown.amount)}`
            : null
        }
        noteAt={drawdown && drawn.x(Date.parse(drawdown.to))}
        {...field}
      />
      <TimeAxis
        measure={measure}
        width={width}
        names={drawn.days.map(({ x, day }) => ({ x: drawn.left + x, text: shortDay(day) }))}
        of="Trade"
        count={points.length}
        pointed={pointed}
        point={choose}
        saying={(index) => {
          const said = points[index];
          return said ? inWords(said, unit) : '';
        }}
      />
    </section>
  );
}

const momentOf = ({ at }: Point): string => {
  const date = new Date(at);
  return `${shortDay(localDay(date))} ${clockTime(date)}`;
};
const inWords = (point: Point, unit: string): string =>
  `${momentOf(point)}: ${money(point.profit)} ${unit} in all, ${point.drawdown === 0 ? 'as high as ever' : `${money(point.drawdown)} below the highest point`}`;

/** From the first day, or the first trade, to the end of the last, or now. */
function spanIn(points: readonly Point[], first: string | null, last: string) {
  const midnight = (day: string) => new Date(`${day}T00:00:00`).getTime();
  const begins = points[0] ? Date.parse(points[0].at) : serverNow();
  const ends = Math.min(serverNow(), midnight(last) + 86_400_000);
  const from = first ? Math.min(midnight(first), begins) : new Date(begins).setHours(0, 0, 0, 0);
  return { from, to: Math.max(ends, Date.parse(points.at(-1)?.at ?? '') || 0, from + 1) };
}

interface PlotProps {
  readonly title: string;
  readonly amount: string;
  readonly unit: string;
  readonly notes: ReactNode;
  /** For those who do not see it. */
  readonly says: string;
  readonly height: number;
  readonly scale: Scale;
  readonly path: string;
  /** Of the trade under the pointer. */
  readonly words: string | undefined;
  readonly note?: string | null;
  readonly noteAt?: number | null;
  readonly drawn: Drawn;
  readonly points: readonly Point[];
  readonly pointed: number | null;
  readonly choose: (index: number | null) => void;
}

function Plot(props: PlotProps) {
  const { title, amount, unit, notes, says, height, scale, path, drawn, points, pointed, choose } = props;
  const { left, width, weekends } = drawn;
  const follow = ({ currentTarget, clientX }: PointerEvent<SVGSVGElement>) =>
    choose(drawn.at(clientX - currentTarget.getBoundingClientRect().left - left));
  const at = pointed === null ? null : drawn.x(Date.parse(points[pointed]?.at ?? ''));
  return (
    <figure className={plots.plot}>
      <figcaption>
        <h2>{title}</h2>
        <p className={plots.amount}>
          {amount} <small>{unit}</small>
        </p>
        <p>{notes}</p>
      </figcaption>
      <svg
        className={plots.drawing}
        role="img"
        aria-label={says}
        width={left + width}
        height={height}
        onPointerMove={follow}
        onPointerDown={follow}
        // A finger that is lifted leaves it where it was.
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && choose(null)}
      >
        <g transform={`translate(${left})`}>
          {weekends.map((weekend) => (
            <rect key={weekend.x} className={plots.weekend} {...weekend} y={0} height={height} />
          ))}
          <Ticks scale={scale} width={width} tick={signed} />
          {width > 0 && <path className={plots.line} d={path} />}
          {at !== null && (
            <>
              <path className={plots.pointed} d={`M${at} 0V${height}`} />
              <Words x={at} width={width} text={props.words ?? ''} y={10} />
            </>
          )}
          {at === null && props.note && (
            <Words x={props.noteAt ?? 0} width={width} text={props.note} y={height - 8} />
          )}
        </g>
      </svg>
    </figure>
  );
}
