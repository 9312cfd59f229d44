// The two small plots in an account's row.

import type { Schemas } from '../../api/client.ts';
import styles from './accounts-table.module.css';
import { RUG, rugOf, SPARK, sparkOf } from './day-plots.ts';

type AccountToday = Schemas['AccountToday'];

export function DayRug({
  signals,
  day,
}: {
  readonly signals: AccountToday['signals_today'];
  readonly day: Parameters<typeof rugOf>[1];
}) {
  const { accepted, simulated, refused, now, words } = rugOf(signals, day);
  return (
    <svg
      className={styles.rug}
      viewBox={`0 0 ${RUG.width} ${RUG.height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      <path className={styles.axis} d={`M0 ${RUG.axis}H${RUG.width}`} />
      <path className={styles.simulated} d={simulated} />
      <path className={styles.stroke} d={accepted} />
      <path className={styles.stroke} d={refused} />
      {now !== null && <path className={styles.now} d={`M${now} 0v${RUG.height}`} />}
    </svg>
  );
}

export function ProfitSpark({ steps }: { readonly steps: AccountToday['profit_steps'] }) {
  const spark = sparkOf(steps);
  if (!spark) return null;
  return (
    <svg
      className={styles.profit}
      viewBox={`0 0 ${SPARK.width} ${SPARK.height}`}
      width={SPARK.width}
      height={SPARK.height}
      aria-hidden="true"
    >
      <path className={styles.axis} d={`M0 ${spark.zero}H${SPARK.width}`} />
      <path className={styles.curve} d={spark.curve} />
      <circle cx={spark.end.x} cy={spark.end.y} r="1.75" />
    </svg>
  );
}
