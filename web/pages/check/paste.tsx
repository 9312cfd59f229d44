// Where a message is pasted or dropped, and as whose it is read.

import { type DragEvent, type FormEvent, useId } from 'react';
import type { Schemas } from '../../api/client.ts';
import { unrealWord } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from './check.module.css';
import { EXAMPLES } from './words.ts';

export interface Wish {
  readonly message: string;
  readonly accountId: string;
  readonly simulation: boolean;
}

interface ReadAsProps {
  readonly wish: Wish;
  readonly all: readonly Schemas['Account'][];
  readonly change: (part: Partial<Wish>) => void;
}

export function ReadAs({ wish, all, change }: ReadAsProps) {
  const account = all.find(({ id }) => id === wish.accountId);
  const inEarnest =
    (account && unrealWord({ broker_name: account.broker, environment: account.environment })) ?? 'real';
  return (
    <>
      <select
        aria-label="Account"
        className={styles.account}
        value={wish.accountId}
        onChange={({ target }) => change({ accountId: target.value })}
      >
        {all.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <span role="radiogroup" aria-label="Mode" className={styles.modes}>
        {[false, true].map((simulation) => (
          <label key={String(simulation)}>
            <input
              type="radio"
              name="mode"
              checked={wish.simulation === simulation}
              onChange={() => change({ simulation })}
            />
            {simulation ? 'simulated' : inEarnest}
          </label>
        ))}
      </span>
    </>
  );
}

interface PasteProps extends ReadAsProps {
  readonly isBusy: boolean;
  readonly fault: unknown;
  readonly run: (message: string) => void;
}

/** A webhook takes no more than this. */
const MOST_BYTES = 16 * 1024;

export function Paste({ wish, all, change, isBusy, fault, run }: PasteProps) {
  const field = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wish.message.trim() !== '') run(wish.message);
  };
  // A dropped text comes by itself; of a dropped file the browser would open the page.
  const drop = async (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    change({ message: (await file.slice(0, MOST_BYTES + 1).text()).trim() });
  };
  return (
    <div className="columns even">
      <Section title={<label htmlFor={field}>Your message</label>}>
        <form onSubmit={submit}>
          <textarea
            id={field}
            className={styles.field}
            rows={12}
            spellCheck={false}
            autoComplete="off"
            placeholder="Paste or drop an alert’s message here, also one written for another service"
            value={wish.message}
            onChange={({ target }) => change({ message: target.value })}
            onDrop={(event) => void drop(event)}
          />
          <div className={styles.under}>
            <button type="submit" className="button primary" disabled={isBusy || wish.message.trim() === ''}>
              {isBusy ? 'Checking' : 'Check this message'}
            </button>
            <ReadAs wish={wish} all={all} change={change} />
          </div>
          {fault ? <ProblemNote fault={fault} /> : null}
        </form>
      </Section>
      <Section title="Or try one of these">
        <ul className={styles.examples}>
          {EXAMPLES.map(({ title, message }) => (
            <li key={title}>
              <button type="button" className="link" disabled={isBusy} onClick={() => run(message)}>
                {title}
              </button>
              <code>{message}</code>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  );
}
