// Rows of settings. Each saves on its own and says so; what went wrong stands below it.

import type { ReactNode } from 'react';
import { ProblemNote } from '../problem-note.tsx';
import styles from './settings.module.css';

interface RowProps {
  readonly name: ReactNode;
  readonly children: ReactNode;
  /** What it means, in a column of its own. */
  readonly meaning?: ReactNode;
  readonly does?: ReactNode;
  readonly fault?: unknown;
}

export function Row({ name, children, meaning, does, fault }: RowProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={meaning === undefined ? styles.across : undefined}>{children}</dd>
      {meaning !== undefined && <dd className="quiet">{meaning}</dd>}
      <dd className={styles.does}>{does}</dd>
      {fault ? (
        <dd className={styles.wrong}>
          <ProblemNote fault={fault} />
        </dd>
      ) : null}
    </div>
  );
}

export const Saved = ({ when }: { readonly when: boolean }) => (
  <span role="status" className={styles.saved}>
    {when && 'Saved'}
  </span>
);
