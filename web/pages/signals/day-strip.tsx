// The day at a glance, above the list.

import { useId, useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useNow } from '../../parts/when.tsx';
import styles from './signals.module.css';
import { type Arrival, HEIGHT, placeOf, stripOf, WIDTH } from './strip.ts';

const HOURS = ['00', '03', '06', '09', '12', '15', '18', '21', '24'];
/** The overview has no more of one account. */
const MOST_OF_ACCOUNT = 300;

export function DayStrip({
  accounts,
  dayStart,
}: {
  readonly accounts: readonly Schemas['AccountToday'][];
  readonly dayStart: number;
}) {
  const hatch = useId();
  const now = useNow(60_000);
  const strip = useMemo(() => stripOf(accounts.flatMap(arrivalsOf), dayStart), [accounts, dayStart]);
  const isCut = accounts.some(({ signals_today }) => signals_today.length >= MOST_OF_ACCOUNT);
  const place = placeOf(now, dayStart).toFixed(1);
  return (
    <figure className={styles.day}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Signals today, by quarters of an hour"
      >
        <defs>
          <pattern
            id={hatch}
            width="4"
            height="4"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <path d="M0 0v4" className={styles.hatchLine} />
          </pattern>
        </defs>
        <path className={styles.axis} d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        <path className={styles.ok} d={strip.ok} />
        <path fill={`url(#${hatch})`} d={strip.sim} />
        <path className={styles.no} d={strip.no} />
        <path className={styles.now} d={`M${place} 0v${HEIGHT}`} />
      </svg>
      <figcaption className={styles.hours}>
        {HOURS.map((hour, index) => (
          <i key={hour} style={{ left: `${index * 12.5}%` }}>
            {hour}
          </i>
        ))}
        <span className="unseen">
          Refused ones are dark, those without real money hatched.
          {isCut && ` Of each account, only the newest ${MOST_OF_ACCOUNT} are drawn.`}
        </span>
      </figcaption>
    </figure>
  );
}

const arrivalsOf = ({ signals_today, real_money }: Schemas['AccountToday']): Arrival[] =>
  signals_today.map(({ at, refused, simulation }) => ({
    at: Date.parse(at),
    kind: refused ? 'no' : simulation || !real_money ? 'sim' : 'ok',
  }));
