// Old stop, new stop, entry, last price and targets on one line. Drawn for its width; the sentence says the same.

import { useCallback, useState } from 'react';
import { figure } from '../../parts/numbers.ts';
import styles from './ladder.module.css';

interface LadderProps {
  readonly was: number | null;
  readonly stop: number | null;
  readonly entry: number | null;
  readonly last: number | null;
  readonly targets: readonly { readonly price: number; readonly share: string }[];
}

/** Of a drawer on a desktop: what is drawn before it is measured. */
const USUAL_WIDTH = 432;
const EDGE = 9;
/** So wide is a letter of its labels, about. */
const LETTER = 6.2;

type Anchor = 'start' | 'middle' | 'end';

interface Named {
  readonly at: number;
  readonly text: string;
  readonly isName?: boolean;
}

export function Ladder({ was, stop, entry, last, targets }: LadderProps) {
  const [width, ref] = useWidth();
  const known = [was, stop, entry, last, ...targets.map(({ price }) => price)].filter((at) => at !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (known.length < 2 || least === most) return null;
  const x = (price: number) => EDGE + ((price - least) / (most - least)) * (width - 2 * EDGE);
  const isMoved = was !== null && was !== stop;
  const above: Named[] = [
    ...(stop === null ? [] : [{ at: stop, text: `stop ${figure(stop)}`, isName: true }]),
    ...(last === null ? [] : [{ at: last, text: `last ${figure(last)}`, isName: true }]),
  ];
  const below: Named[] = [
    ...(isMoved ? [{ at: was, text: `was ${figure(was)}` }] : []),
    ...(entry === null ? [] : [{ at: entry, text: `entry ${figure(entry)}` }]),
    ...targets.map(({ price, share }) => ({ at: price, text: `${figure(price)} ${share}` })),
  ];
  const bar = (a: number, b: number) => ({ x: Math.min(x(a), x(b)), width: Math.abs(x(a) - x(b)) });
  return (
    <svg
      ref={ref}
      className={styles.ladder}
      viewBox={`0 0 ${width} 68`}
      role="img"
      aria-label={inWords(above, below)}
    >
      <path className={styles.axis} d={`M0 34.5H${width}`} />
      {stop !== null && entry !== null && (
        <rect className={styles.loss} {...bar(stop, entry)} y="31" height="7" />
      )}
      {entry !== null && last !== null && (
        <rect className={styles.gain} {...bar(entry, last)} y="31" height="7" />
      )}
      {isMoved && <path className={styles.was} d={`M${x(was)} 24V45`} />}
      {entry !== null && <path className={styles.axis} d={`M${x(entry)} 24V45`} />}
      {targets.map(({ price }) => (
        <path key={price} className={styles.ink} strokeDasharray="3 2" d={`M${x(price)} 24V45`} />
      ))}
      {stop !== null && <path className={styles.ink} d={`M${x(stop)} 20V48`} />}
      {last !== null && <circle className={styles.last} cx={x(last)} cy="34.5" r="3.5" />}
      <Labels y={13} labels={above} x={x} width={width} />
      <Labels y={60} labels={below} x={x} width={width} />
    </svg>
  );
}

/** Drawn for its width, never scaled: letters keep their size. */
function useWidth() {
  const [width, setWidth] = useState(USUAL_WIDTH);
  const ref = useCallback((drawn: SVGSVGElement | null) => {
    if (!drawn) return;
    const watch = new ResizeObserver(() => setWidth(drawn.clientWidth || USUAL_WIDTH));
    watch.observe(drawn);
    return () => watch.disconnect();
  }, []);
  return [width, ref] as const;
}

/** Those that would lie over each other give way: what comes first in the row stays. */
function Labels({
  y,
  labels,
  x,
  width,
}: {
  readonly y: number;
  readonly labels: readonly Named[];
  readonly x: (price: number) => number;
  readonly width: number;
}) {
  const taken: [number, number][] = [];
  return labels.map(({ at, text, isName = false }) => {
    const wide = text.length * LETTER;
    const fits = (anchor: Anchor): [number, number] | null => {
      const left = x(at) - (anchor === 'start' ? 4 : anchor === 'middle' ? wide / 2 : wide - 4);
      const span: [number, number] = [left, left + wide];
      const isFree = taken.every(([from, to]) => span[1] + 6 < from || span[0] - 6 > to);
      return isFree && left >= 0 && span[1] <= width ? span : null;
    };
    const anchor = (['middle', 'start', 'end'] as const).find((each) => fits(each) !== null);
    if (!anchor) return null;
    taken.push(fits(anchor) as [number, number]);
    const dx = anchor === 'start' ? -4 : anchor === 'end' ? 4 : 0;
    return (
      <text key={text} x={x(at) + dx} y={y} textAnchor={anchor} className={isName ? styles.name : undefined}>
        {text}
      </text>
    );
  });
}

const inWords = (above: readonly Named[], below: readonly Named[]): string =>
  `On one line: ${[...below, ...above].map(({ text }) => text).join('; ')}`;
