// The price while something was held, with what we did and what the strategy asked for. Candles are the broker's own, and may come late
// or not at all: the rest is drawn without them, in the same room.

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { candles as candlesOf } from '../../api/broker-reads.ts';
import { serverNow } from '../../api/clock.ts';
import { figure } from '../numbers.ts';
import { Section } from '../page.tsx';
import { minuteOf, shortDay } from '../times.ts';
import { useWidth } from '../use-width.ts';
import { type Candle, draw } from './drawing.ts';
import { inWords, type Numbered, type Step, type Target } from './happened.ts';
import styles from './price-chart.module.css';
import { around, askedSpan, INTERVALS, type Interval, msOf, offered, usualInterval } from './spans.ts';

export interface PriceChartProps {
  readonly accountId: string;
  readonly symbol: string;
  readonly side: 'long' | 'short';
  readonly opened: string;
  /** null: it is open. */
  readonly closed: string | null;
  readonly numbered: readonly Numbered[];
  readonly stop: readonly Step[];
  readonly targets: readonly Target[];
  readonly entry: number | null;
  /** What is not real money is hatched, here too. */
  readonly isUnreal?: boolean;
  /** Where nothing else on the page has its numbers. */
  readonly isListed?: boolean;
}

/** A last candle still moves. */
const AGAIN_MS = 15_000;
/** Of the window: below it the drawing is lower. */
const NARROW = 640;
const HEIGHTS = { wide: 380, narrow: 320 };
/** For the names of times below. */
const AXIS = 22;

export function PriceChart(props: PriceChartProps) {
  const { accountId, symbol, numbered, closed, isUnreal = false, isListed = false } = props;
  const [measure, width] = useWidth();
  const [now] = useState(serverNow);
  const [chosen, choose] = useState<Interval | null>(null);
  const opened = Date.parse(props.opened);
  const ends = closed === null ? null : Date.parse(closed);
  const span = useMemo(() => around(opened, ends, now), [opened, ends, now]);
  const interval = chosen ?? usualInterval(span, width);
  const isOpen = ends === null;
  const asked = useQuery({
    ...candlesOf(accountId, { symbol, interval, ...askedSpan(span, interval, isOpen) }),
    // In which candles depends on how wide it is.
    enabled: width > 0,
    ...(isOpen && { refetchInterval: AGAIN_MS }),
  });
  const candles = asked.data?.candles ?? NONE;
  // Until that is known there is room for them: what comes late moves nothing.
  const isNone = asked.data?.source === 'none';
  const last = candles.at(-1);
  const shown = useMemo(
    () => (isOpen && last ? { ...span, to: Math.max(span.to, Date.parse(last.at) + msOf(interval)) } : span),
    [isOpen, last, span, interval],
  );
  // As its room is in the style sheet.
  const height = window.innerWidth < NARROW ? HEIGHTS.narrow : HEIGHTS.wide;
  const name = INTERVALS.find((one) => one.interval === interval)?.name ?? interval;
  return (
    <Section
      title={symbol}
      className={`${styles.section} ${isUnreal ? 'hatched' : ''}`}
      more={
        <fieldset className={styles.tabs} aria-label="Candles of">
          {offered(span).map((one) => (
            <button
              key={one.interval}
              type="button"
              className={styles.tab}
              aria-pressed={one.interval === interval}
              onClick={() => choose(one.interval)}
            >
              {one.name}
            </button>
          ))}
        </fieldset>
      }
    >
      <figure className={styles.chart}>
        <div ref={measure} className={styles.room}>
          {width > 0 && (
            <Drawing
              {...props}
              candles={candles}
              span={shown}
              intervalMs={msOf(interval)}
              width={width}
              height={height}
              says={saysOf(symbol, name, shown, numbered, candles.length > 0)}
            />
          )}
        </div>
        <figcaption className={styles.key}>
          <Key {...props} hasCandles={!isNone} name={name} />
          <span role="status">
            {asked.data
              ? isNone
                ? 'this broker gives no candles'
                : candles.length > 0
                  ? 'the broker’s own candles'
                  : 'the broker has no candles of this time'
              : asked.error
                ? 'the candles did not come '
                : 'the candles are on their way'}
            {asked.error && !asked.data && (
              <button type="button" className="link" onClick={() => void asked.refetch()}>
                Ask again
              </button>
            )}
          </span>
        </figcaption>
      </figure>
      {isListed && <List numbered={numbered} />}
      <div className={styles.table}>{!isNone && <Table candles={candles} />}</div>
    </Section>
  );
}

const NONE: readonly Candle[] = [];

const minute = (at: number, now: number): string => minuteOf(new Date(at), new Date(now));

/** For those who do not see it; the list has the rest. */
function saysOf(
  symbol: string,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
  numbered: readonly Numbered[],
  hasCandles: boolean,
): string {
  const now = serverNow();
  const what = hasCandles ? `Price of ${symbol} in candles of ${name}` : symbol;
  const events = numbered
    .slice(0, MOST_SAID)
    .map((one) => `${one.no}, ${minute(Date.parse(one.at), now)}: ${inWords(one)}`);
  const rest = numbered.length > MOST_SAID ? `; and ${figure(numbered.length - MOST_SAID)} more` : '';
  return `${what} from ${minute(from, now)} to ${minute(to, now)}. ${events.join('; ')}${rest}.`;
}
const MOST_SAID = 12;

interface DrawingProps extends PriceChartProps {
  readonly candles: readonly Candle[];
  readonly span: { readonly from: number; readonly to: number };
  readonly intervalMs: number;
  readonly width: number;
  readonly height: number;
  readonly says: string;
}

function Drawing(props: DrawingProps) {
  const { candles, span, intervalMs, width, height, says, numbered, stop, targets, entry, side } = props;
  const opened = Date.parse(props.opened);
  const closed = props.closed === null ? null : Date.parse(props.closed);
  const drawn = useMemo(
    () =>
      draw(
        { candles, span, intervalMs, numbered, stop, targets, entry, side, opened, closed },
        width,
        height,
      ),
    [candles, span, intervalMs, numbered, stop, targets, entry, side, opened, closed, width, height],
  );
  return (
    <svg className={styles.drawing} role="img" aria-label={says} width={width} height={height + AXIS}>
      <rect className={styles.held} {...drawn.held} y={0} height={height} />
      {drawn.scale.ticks.map((value) => (
        <path key={value} className={styles.grid} d={`M0 ${drawn.scale.y(value)}H${drawn.width}`} />
      ))}
      <path className={styles.wick} d={drawn.wicks} />
      <path className={styles.rose} d={drawn.rose} />
      <path className={styles.fell} d={drawn.fell} />
      {drawn.scale.ticks.map((value) => (
        <text key={value} className={styles.price} x={2} y={drawn.scale.y(value) - 4}>
          {figure(value)}
        </text>
      ))}
      <path className={styles.entry} d={drawn.entry} />
      {drawn.targets.map(({ path, x, y, text }) => (
        <g key={text}>
          <path className={styles.target} d={path} />
          <text className={styles.name} x={x} y={y}>
            {text}
          </text>
        </g>
      ))}
      <path className={styles.stop} d={drawn.stop} data-line="stop" />
      {drawn.names.map(({ text, x, y }) => (
        <text key={text} className={styles.name} x={x} y={y + 4}>
          {text}
        </text>
      ))}
      {/* By its number: of two fills at once both stand in one place. */}
      {drawn.asked.map(({ no, path }) => (
        <path key={no} className={styles.asked} d={path} data-mark="asked" />
      ))}
      {drawn.fills.map(({ no, x, y, path }) => (
        <g key={no} data-mark="fill">
          <path className={styles.sign} d={path} />
          <circle className={styles.sign} cx={x} cy={y} r={8} />
          <text className={styles.no} x={x} y={y + 3.8}>
            {no}
          </text>
        </g>
      ))}
      {drawn.moves.map(({ no, x, y }) => (
        <g key={no} data-mark="move">
          <circle className={styles.asked} cx={x} cy={y} r={7.5} />
          <text className={styles.ringNo} x={x} y={y + 3.8}>
            {no}
          </text>
        </g>
      ))}
      {drawn.times.map(({ at, x }) => (
        <text key={at} className={styles.time} x={Math.max(16, x)} y={height + 17}>
          {timeName(at)}
        </text>
      ))}
    </svg>
  );
}

function timeName(at: number): string {
  const date = new Date(at);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isMidnight ? shortDay(date) : minuteOf(date, date);
}

function Key({
  hasCandles,
  name,
  stop,
  targets,
  entry,
  numbered,
}: PriceChartProps & { readonly hasCandles: boolean; readonly name: string }) {
  return (
    <>
      {hasCandles && (
        <Sample says={`rose, fell in ${name}`}>
          <rect className={styles.rose} x="3.5" y="1.5" width="5" height="9" />
          <rect className={styles.fell} x="14.5" y="1.5" width="5" height="9" />
        </Sample>
      )}
      {stop.length > 0 && (
        <Sample says="stop">
          <path className={styles.stop} d="M0 10h10V3h14" />
        </Sample>
      )}
      {targets.length > 0 && (
        <Sample says="target">
          <path className={styles.target} d="M0 6h24" />
        </Sample>
      )}
      {entry !== null && (
        <Sample says="entry">
          <path className={styles.entry} d="M0 6h24" />
        </Sample>
      )}
      {numbered.some(({ fill }) => fill) && (
        <Sample says="fill, from below bought, from above sold">
          <path className={styles.sign} d="M12 0l4 6h-8z" />
          <circle className={styles.sign} cx="12" cy="8" r="4" />
        </Sample>
      )}
      {numbered.some(({ fill }) => fill?.asked != null) && (
        <Sample says="what the strategy asked for">
          <path className={styles.asked} d="M12 1l5 5-5 5-5-5z" />
        </Sample>
      )}
    </>
  );
}

const Sample = ({ says, children }: { readonly says: string; readonly children: ReactNode }) => (
  <span>
    <svg viewBox="0 0 24 12" width={24} height={12} aria-hidden="true">
      {children}
    </svg>
    {says}
  </span>
);

/** Filled for a fill, hollow for a move. */
export const No = ({ one: { no, fill } }: { readonly one: Numbered }) => (
  <span className={fill ? styles.disc : styles.ring}>{no}</span>
);

function List({ numbered }: { readonly numbered: readonly Numbered[] }) {
  const now = serverNow();
  return (
    <ol className={styles.list}>
      {numbered.map((one) => (
        <li key={one.no}>
          <No one={one} /> <time dateTime={one.at}>{minute(Date.parse(one.at), now)}</time> {inWords(one)}
          {one.fill?.asked != null && (
            <span className="quiet">, the strategy asked for {figure(one.fill.asked)}</span>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The candles themselves, for whoever wants the numbers. */
function Table({ candles }: { readonly candles: readonly Candle[] }) {
  const [isOpen, open] = useState(false);
  const now = serverNow();
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>The candles as a table</summary>
      {isOpen && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">From</th>
              {['Open', 'High', 'Low', 'Close'].map((head) => (
                <th key={head} scope="col" className="num">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {candles.map(({ at, open: first, high, low, close }) => (
              <tr key={at}>
                <td>{minute(Date.parse(at), now)}</td>
                <td className="num">{figure(first)}</td>
                <td className="num">{figure(high)}</td>
                <td className="num">{figure(low)}</td>
                <td className="num">{figure(close)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
