// A setting that is typed. It saves on its own and says so; what is wrong with it stands beside it.

import type { UseMutationResult } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { Typed } from './numbers.ts';
import { Row, Saved } from './row.tsx';
import styles from './settings.module.css';

export interface FieldRowProps<Change> {
  readonly change: UseMutationResult<unknown, Error, Change>;
  readonly name: ReactNode;
  /** For who cannot see the row. */
  readonly label: string;
  /** As it is stored, in the field's own spelling. */
  readonly stored: string;
  /** What was typed → the change to make. */
  readonly read: (text: string) => Typed<Change>;
  readonly unit?: ReactNode;
  readonly meaning?: ReactNode;
  /** Where nothing is typed: another thing to do. */
  readonly does?: ReactNode;
  readonly placeholder?: string;
  /** A text, not a number. */
  readonly wide?: boolean;
  /** Several numbers fit in. */
  readonly long?: boolean;
}

export function FieldRow<Change>({
  change,
  stored,
  read,
  unit,
  label,
  wide = false,
  long = false,
  ...row
}: FieldRowProps<Change>) {
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const isChanged = draft !== null && draft.trim() !== stored;
  const save = () => {
    if (!isChanged || change.isPending) return;
    const typed = read(draft);
    if ('problem' in typed) setProblem(typed.problem);
    else change.mutate(typed.value, { onSuccess: () => setDraft(null) });
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter') save();
    if (event.key === 'Escape') {
      setDraft(null);
      setProblem(null);
    }
  };
  return (
    <Row
      name={row.name}
      fault={change.error}
      meaning={problem === null ? row.meaning : <span className="act">{problem}</span>}
      does={
        isChanged ? (
          <button type="button" className="link" onClick={save} disabled={change.isPending}>
            {change.isPending ? 'Saving' : 'Save'}
          </button>
        ) : (
          <>
            <Saved when={change.isSuccess} />
            {row.does}
          </>
        )
      }
    >
      <span className={wide ? styles.wide : long ? `${styles.amount} ${styles.long}` : styles.amount}>
        <input
          aria-label={label}
          aria-invalid={problem !== null}
          inputMode={wide || long ? undefined : 'decimal'}
          autoComplete="off"
          spellCheck={false}
          placeholder={row.placeholder}
          value={draft ?? stored}
          onChange={({ target }) => {
            setDraft(target.value);
            setProblem(null);
          }}
          onKeyDown={keys}
        />
        {unit}
      </span>
      {problem !== null && row.meaning === undefined && <small className="act">{problem}</small>}
    </Row>
  );
}
