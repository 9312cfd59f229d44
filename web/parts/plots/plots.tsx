// What plots over one time axis are made of, whichever page draws them.

import type { Scale } from '../geometry.ts';
import styles from './plots.module.css';

interface TicksProps {
  readonly scale: Scale;
  readonly width: number;
  readonly tick: (value: number) => string;
}

/** The values' lines, and their figures at the left. */
export const Ticks = ({ scale, width, tick }: TicksProps) =>
  scale.ticks.map((value) => (
    <g key={value}>
      <path className={value === 0 ? styles.zero : styles.grid} d={`M0 ${scale.y(value)}H${width}`} />
      <text className={styles.tick} x={-8} y={scale.y(value)}>
        {tick(value)}
      </text>
    </g>
  ));

interface WordsProps {
  readonly x: number;
  readonly y: number;
  /** Of the drawing. */
  readonly width: number;
  readonly text: string;
}

/** Beside their place, on the side where there is room. */
export function Words({ x, y, width, text }: WordsProps) {
  const isLeft = x > width * 0.6;
  return (
    <text
      className={isLeft ? `${styles.words} ${styles.leftwards}` : styles.words}
      x={isLeft ? x - 6 : x + 6}
      y={y}
    >
      {text}
    </text>
  );
}

interface TimeAxisProps {
  readonly measure: (element: HTMLElement | null) => undefined | (() => void);
  readonly width: number;
  readonly names: readonly { readonly x: number; readonly text: string; readonly isPointed?: boolean }[];
  /** What is pointed at, one by one: `Day`, `Trade`. */
  readonly of: string;
  readonly count: number;
  readonly pointed: number | null;
  point(index: number | null): void;
  /** The one at that place, in words. */
  saying(index: number): string;
}

/** The days' names. The arrow keys move what is pointed at from here, and a screen reader says it in words. */
export function TimeAxis({ measure, width, names, of, count, pointed, point, saying }: TimeAxisProps) {
  const last = count - 1;
  return (
    <div className={styles.axis}>
      <div ref={measure} className={styles.inside}>
        <svg className={styles.drawing} width={width} height={20} aria-hidden="true">
          {names.map(({ x, text, isPointed }) => (
            <text
              key={`${x} ${text}`}
              className={isPointed ? `${styles.name} ${styles.told}` : styles.name}
              x={x}
              y={10}
            >
              {text}
            </text>
          ))}
        </svg>
        {count > 0 && (
          <input
            type="range"
            className={styles.slider}
            aria-label={of}
            min={0}
            max={last}
            value={pointed ?? last}
            aria-valuetext={saying(pointed ?? last)}
            onChange={({ target }) => point(Number(target.value))}
            onKeyDown={({ key }) => key === 'Escape' && point(null)}
            onFocus={({ target }) => target.matches(':focus-visible') && point(pointed ?? last)}
            onBlur={() => point(null)}
          />
        )}
      </div>
    </div>
  );
}
