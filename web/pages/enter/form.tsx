// What the forms of entry are made of: a field with its refusal beside it, and the refusal itself.

import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { serverNow } from '../../api/clock.ts';
import { problemOf } from '../../api/problem.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Mark } from '../../parts/marks.tsx';
import { ageInWords, clockTime, useNow } from '../../parts/when.tsx';
import styles from './enter.module.css';
import { adviceOn, type Field as FieldName, fieldOf } from './ways.ts';

interface FieldProps extends ComponentProps<'input'> {
  readonly label: string;
  /** At the right of the label. */
  readonly aside?: ReactNode;
  /** Below the input, before anything is wrong. */
  readonly hint?: ReactNode;
  readonly refusal?: ReactNode;
}

export function Field({ label, aside, hint, refusal, className, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        {...(className ? { className } : {})}
        aria-invalid={refusal ? true : undefined}
        aria-describedby={refusal || hint ? `${id}-said` : undefined}
        {...input}
      />
      {/* Above the field for the eye; from field to field for the keyboard. */}
      {aside}
      {refusal ? <div id={`${id}-said`}>{refusal}</div> : hint && <p id={`${id}-said`}>{hint}</p>}
    </div>
  );
}

interface RefusalProps {
  readonly fault: unknown;
  /** In other words than the problem document's. */
  readonly as?: { readonly title: string; readonly advice: string } | undefined;
}

export function Refusal({ fault, as }: RefusalProps) {
  const problem = problemOf(fault);
  const title = as?.title ?? problem.title;
  return (
    <div className={styles.refusal} role="alert">
      <Mark name="act" />
      <p>
        <b className="act">{title.replace(/\.?$/, '.')}</b> {as?.advice ?? adviceOn(problem)}{' '}
        {problem.retryAfterSeconds !== null && (
          <Wait key={problem.requestId} seconds={problem.retryAfterSeconds} />
        )}{' '}
        {problem.requestId && <CopyId id={problem.requestId} />}
      </p>
    </div>
  );
}

/** By the service's clock: the browser's may be off, and somebody sits there waiting for it. */
function Wait({ seconds }: { readonly seconds: number }) {
  const [over] = useState(() => serverNow() + seconds * 1000);
  const left = over - useNow();
  if (left <= 0) return <b>The wait is over: try again.</b>;
  return (
    <>
      You can try again at <b>{clockTime(new Date(over))}</b>, in {ageInWords(left)}.
    </>
  );
}

/** The refusal, if it belongs to one of these places. */
export const refusalAt = (fault: unknown, ...places: readonly FieldName[]): ReactNode =>
  fault !== null && fault !== undefined && places.includes(fieldOf(problemOf(fault))) ? (
    <Refusal fault={fault} />
  ) : null;
