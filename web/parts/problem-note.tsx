// An error, from the problem document: its title, its detail, the way on, and its request id to copy.

import type { ReactNode } from 'react';
import { problemOf } from '../api/problem.ts';
import { CopyId } from './copy.tsx';
import { Mark } from './marks.tsx';
import styles from './problem-note.module.css';

interface ProblemNoteProps {
  readonly fault: unknown;
  /** Of what was read, and can be read again. */
  readonly onAgain?: () => unknown;
  /** The way on: a link or a button. */
  readonly children?: ReactNode;
}

export function ProblemNote({ fault, onAgain, children }: ProblemNoteProps) {
  const { title, detail, advice, requestId } = problemOf(fault);
  // Said once: some details begin with their title.
  const rest = detail.startsWith(`${title}: `) ? detail.slice(title.length + 2) : detail;
  return (
    <div className={styles.note} role="alert">
      <Mark name="act" />
      <p>
        <b className="act">{title.replace(/\.?$/, '.')}</b> {rest} {advice} {children}{' '}
        {onAgain && (
          <button type="button" className="link" onClick={() => void onAgain()}>
            Try again
          </button>
        )}{' '}
        {requestId && <CopyId id={requestId} />}
      </p>
    </div>
  );
}
