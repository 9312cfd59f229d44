// Before something stops that others rely on: what it is, and the choice.

import type { ReactNode } from 'react';
import { Dialog } from '../dialog.tsx';
import { ProblemNote } from '../problem-note.tsx';
import styles from './settings.module.css';

interface SureProps {
  readonly title: string;
  /** The whole of what the button does. */
  readonly does: string;
  readonly mutation: {
    readonly isPending: boolean;
    readonly error: unknown;
    readonly mutate: () => void;
  };
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Says what stops working, and asks once. */
export function Sure({ title, does, mutation, onClose, children }: SureProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      {mutation.error ? <ProblemNote fault={mutation.error} /> : null}
      <div className={styles.choices}>
        <button type="button" className="button" data-first onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          className="button"
          disabled={mutation.isPending}
          onClick={() => mutation.mutate()}
        >
          {does}
        </button>
      </div>
    </Dialog>
  );
}
