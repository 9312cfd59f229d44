// A table of steps with their bars: linear from arrival, in milliseconds, or in seconds where it took long.

import type { ReactNode } from 'react';
import { figure } from '../../parts/numbers.ts';
import styles from './fall.module.css';
import { ticksOf, type Whose } from './steps.ts';

/** Where zero stands, in percent of the bars' column, with and without a time before it. */
export const ZERO_AFTER = 10.5;
const ZERO = 1.5;
const RIGHT = 98;
/** From here on the ticks are seconds. */
const IN_SECONDS_MS = 5_000;

export const seconds = (ms: number): string =>
  ms < IN_SECONDS_MS ? `${figure(ms)} ms` : `${figure(Math.round(ms / 100) / 10)} s`;

/** Milliseconds → percent of the bars' column. */
export type Place = (ms: number) => number;

export function placeUpTo(end: number, { hasBefore = false } = {}): Place {
  const zero = hasBefore ? ZERO_AFTER : ZERO;
  return (ms) => zero + (ms / end) * (RIGHT - zero);
}

interface FallProps {
  readonly title: string;
  /** Whose time each colour is. */
  readonly legend: ReactNode;
  readonly end: number;
  readonly place: Place;
  readonly children: ReactNode;
}

export function Fall({ title, legend, end, place, children }: FallProps) {
  return (
    <section className={`section ${styles.fall}`}>
      <header>
        <h2>{title}</h2>
        <span className={styles.key}>{legend}</span>
      </header>
      <table className={`table dense ${styles.steps}`}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" className="num">
              At, ms
            </th>
            <th scope="col" className="num">
              Took, ms
            </th>
            <th scope="col" className="num">
              Position
            </th>
            <th scope="col" className={styles.bars}>
              <span className="unseen">Bar</span>
              <span className={styles.ticks} aria-hidden="true">
                {ticksOf(end).map((tick) => (
                  <i key={tick} style={{ left: `${place(tick)}%` }}>
                    {tick === 0 ? '0' : end < IN_SECONDS_MS ? figure(tick) : `${figure(tick / 1000)} s`}
                  </i>
                ))}
              </span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly name: string;
  readonly from: number;
  /** null: it has not ended. */
  readonly at: number | null;
  readonly whose: Whose;
  readonly position: ReactNode;
  /** In the place of its bar; undefined: it has one. */
  readonly note?: ReactNode;
  readonly place: Place;
}

export function FallRow({ name, from, at, whose, position, note, place }: RowProps) {
  return (
    <tr>
      <td title={name}>{name}</td>
      <td className="num">{at === null ? '…' : figure(at)}</td>
      <td className="num">{at === null ? '…' : figure(at - from)}</td>
      <td className="num">{position}</td>
      <td className={styles.bars}>
        {at === null || note !== undefined ? (
          <span className={styles.note} style={{ left: `${place(0)}%` }}>
            {note}
          </span>
        ) : (
          <span
            className={`${styles.bar} ${styles[whose]}`}
            style={{ left: `${place(from)}%`, width: `${place(at) - place(from)}%` }}
          />
        )}
      </td>
    </tr>
  );
}

/** One of the legend. */
export const Swatch = ({ whose, children }: { readonly whose: Whose; readonly children: ReactNode }) => (
  <span>
    <i className={`${styles.swatch} ${styles[whose]}`} />
    {children}
  </span>
);
