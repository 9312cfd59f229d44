// A bar beside a figure, in a cell of a table.

import type { AmountBar } from '../geometry.ts';
import styles from './bar.module.css';

interface BarProps {
  readonly lies: Pick<AmountBar, 'left' | 'width'> & Partial<AmountBar>;
  /** Of what is lost, and of what is not ours. */
  readonly isHollow?: boolean;
}

export function Bar({ lies: { zero, left, width }, isHollow = false }: BarProps) {
  return (
    <span className={styles.bar}>
      {zero !== undefined && <i className={styles.zero} style={{ left: `${zero}%` }} />}
      {width > 0 && (
        <i
          className={isHollow ? styles.hollow : styles.full}
          style={{ left: `${left}%`, width: `${width}%` }}
        />
      )}
    </span>
  );
}
