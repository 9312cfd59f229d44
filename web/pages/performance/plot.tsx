// One plot of several that share a time axis: its figures at the left, its drawing, and a table behind it.

import { type PointerEvent, type ReactNode, useId, useState } from 'react';
import type { Columns, Scale } from '../../parts/geometry.ts';
import plots from '../../parts/plots/plots.module.css';
import { Ticks, Words } from '../../parts/plots/plots.tsx';
import { CsvButton, SheetTable } from './behind.tsx';
import type { OrderStatus, Row } from './days.ts';
import styles from './performance.module.css';
import type { Sheet } from './sheets.ts';

/** What all plots share. */
export interface Field {
  readonly rows: readonly Row[];
  readonly days: Columns;
  /** Room for the figures of the axis, and for the names at the ends of the lines. */
  readonly left: number;
  readonly right: number;
  readonly weekends: string;
  /** Under the pointer, or chosen by keyboard. */
  readonly pointed: number | null;
  point(index: number | null): void;
  readonly isNarrow: boolean;
}

interface EndName {
  readonly text: string;
  readonly y: number;
  readonly value?: string;
  /** The status of which a sample is drawn, where the name is of no line. */
  readonly sample?: OrderStatus;
}

interface PlotProps {
  readonly field: Field;
  readonly title: string;
  readonly amount: ReactNode;
  readonly unit: string;
  readonly notes: ReactNode;
  /** What it shows, in a sentence, for those who do not see it. */
  readonly says: string;
  readonly sheet: Sheet<Row>;
  readonly height: number;
  readonly scale: Scale;
  readonly tick: (value: number) => string;
  readonly names: readonly EndName[];
  /** Of the day under the pointer. */
  readonly dayWords: (row: Row) => string;
  /** A day that stands out, while no other is pointed at. */
  readonly note: { readonly index: number; readonly text: string } | null;
  readonly children: ReactNode;
}

export function Plot(props: PlotProps) {
  const { field, title, amount, unit, notes, sheet } = props;
  const [isTable, setTable] = useState(false);
  const heading = useId();
  const span = `${field.rows[0]?.day}-${field.rows.at(-1)?.day}`;
  return (
    <figure className={plots.plot} aria-labelledby={heading}>
      <figcaption className={styles.caption}>
        <h2 id={heading}>{title}</h2>
        <p className={plots.amount}>
          {amount} <small>{unit}</small>
        </p>
        <p>{notes}</p>
        <p className={styles.behind}>
          <button
            type="button"
            className="link"
            aria-label={`${isTable ? 'Plot' : 'Table'} of ${title.toLowerCase()}`}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? 'Plot' : 'Table'}
          </button>{' '}
          <CsvButton sheet={sheet} span={span} />
        </p>
      </figcaption>
      {isTable ? <SheetTable sheet={sheet} title={title} keyOf={({ day }) => day} /> : <Drawing {...props} />}
    </figure>
  );
}

function Drawing({ field, says, height, scale, tick, names, dayWords, note, children }: PlotProps) {
  const { days, left, right, pointed, point } = field;
  const row = pointed === null ? undefined : field.rows[pointed];
  const follow = ({ currentTarget, clientX }: PointerEvent<SVGSVGElement>) =>
    point(days.at(clientX - currentTarget.getBoundingClientRect().left - left));
  return (
    <svg
      className={plots.drawing}
      role="img"
      aria-label={says}
      width={left + days.width + right}
      height={height}
      onPointerMove={follow}
      onPointerDown={follow}
      // A finger that is lifted leaves the day where it was.
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && point(null)}
    >
      <g transform={`translate(${left})`}>
        <path className={plots.weekend} d={field.weekends.replaceAll('H', String(height))} />
        <Ticks scale={scale} width={days.width} tick={tick} />
        {children}
        {names.map(({ text, y, value, sample }) => (
          <g key={text}>
            {sample && <rect className={styles[sample]} x={days.width + 8} y={y - 4} width={8} height={8} />}
            <text x={days.width + (sample ? 22 : 8)} y={y}>
              {text} {value && <tspan className={plots.told}>{value}</tspan>}
            </text>
          </g>
        ))}
        {row && pointed !== null && (
          <>
            <path className={plots.pointed} d={`M${days.middle(pointed)} 0V${height}`} />
            {!field.isNarrow && (
              <Words x={days.middle(pointed)} width={days.width} y={10} text={dayWords(row)} />
            )}
          </>
        )}
        {!row && note && !field.isNarrow && (
          <Words x={days.middle(note.index)} width={days.width} y={10} text={note.text} />
        )}
      </g>
    </svg>
  );
}
