// The guard `pauses`: times without entries, around news.

import { type FormEvent, useState } from 'react';
import { serverNow } from '../../api/clock.ts';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { useChange } from './change.ts';
import { type Pause, pauseInWords, readPause, withPause } from './hours.ts';
import type { Account } from './words.ts';

export function Pauses({ account }: { readonly account: Account }) {
  const [isAdding, setAdding] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const change = useChange(account);
  const planned = (account.guards.pauses ?? []).filter(({ to }) => Date.parse(to) > serverNow());
  const save = (pauses: readonly Pause[]) =>
    change.mutate(
      { guards: { pauses: pauses.length === 0 ? null : pauses } },
      { onSuccess: () => setAdding(false) },
    );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '');
    const now = serverNow();
    const read = readPause({ from: text('from'), to: text('to'), label: text('label') }, now);
    setProblem('problem' in read ? read.problem : null);
    if ('value' in read) save(withPause(planned, read.value, now));
  };
  return (
    <Row
      name={<code>pauses</code>}
      fault={change.error}
      meaning={
        isAdding ? undefined : planned.length === 0 ? (
          'no entries around news, for as long as you say'
        ) : (
          <ul>
            {planned.map((pause) => (
              <li key={`${pause.from} ${pause.label}`}>
                {pauseInWords(pause)}{' '}
                <button
                  type="button"
                  className="link"
                  aria-label={`Remove the pause ${pauseInWords(pause)}`}
                  onClick={() => save(planned.filter((each) => each !== pause))}
                >
                  remove
                </button>
              </li>
            ))}
          </ul>
        )
      }
      does={
        <>
          <Saved when={change.isSuccess && !isAdding} />
          <button
            type="button"
            className="link"
            aria-expanded={isAdding}
            onClick={() => setAdding(!isAdding)}
          >
            {isAdding ? 'Leave it' : 'Add'}
            <span className="unseen">{isAdding ? ' as it is' : ' a pause'}</span>
          </button>
        </>
      }
    >
      {isAdding ? (
        <form className={styles.small} onSubmit={submit}>
          <label>
            Begins
            <input type="datetime-local" name="from" required />
          </label>
          <label>
            Ends
            <input type="datetime-local" name="to" required />
          </label>
          <label>
            Label
            <input name="label" maxLength={100} autoComplete="off" placeholder="US consumer prices" />
          </label>
          <p className={styles.choose}>
            <button type="submit" className="button primary" disabled={change.isPending}>
              Save the pause
            </button>
          </p>
          {problem && <small className="act">{problem}</small>}
        </form>
      ) : planned.length === 0 ? (
        <span className="quiet">not set</span>
      ) : (
        `${planned.length} planned`
      )}
    </Row>
  );
}
