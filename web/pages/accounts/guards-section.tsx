// The guards of an account: one row each, with its unit and what it means.

import { figure } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { useChange } from './change.ts';
import {
  guardText,
  hasGuards,
  NUMBER_GUARDS,
  type NumberGuard,
  readGuard,
  suggestedGuards,
  suggestionInWords,
} from './guards.ts';
import { Hours } from './hours-row.tsx';
import { Pauses } from './pauses-row.tsx';
import { FieldRow } from './row.tsx';
import type { Account } from './words.ts';

interface GuardsProps {
  readonly account: Account;
  /** null: not known now. */
  readonly equity: number | null;
  readonly currency: string | null;
}

export function GuardRows({ account, equity, currency }: GuardsProps) {
  const suggested = suggestedGuards(equity);
  return (
    <Section
      title="Guards"
      more={
        <span className="quiet">
          checked right before an entry is sent; exits are never held back; an empty field means no guard
        </span>
      }
    >
      {!hasGuards(account.guards) && <Suggestion account={account} equity={equity} currency={currency} />}
      <dl className={`rows ${styles.rows} ${styles.guards}`}>
        {NUMBER_GUARDS.map((guard) => (
          <FieldRow
            key={guard.name}
            account={account}
            name={<code>{guard.name}</code>}
            label={guard.name}
            long={guard.perSymbol ?? false}
            stored={guardText(account.guards[guard.name])}
            placeholder="not set"
            unit={guard.unit === 'currency' ? (currency ?? '') : guard.unit}
            meaning={guard.meaning}
            read={(text) => {
              const typed = readGuard(guard, text);
              return 'value' in typed ? { value: { guards: { [guard.name]: typed.value } } } : typed;
            }}
            does={
              account.guards[guard.name] === null && (
                <Use account={account} name={guard.name} value={suggested[guard.name]} unit={guard.unit} />
              )
            }
          />
        ))}
        <RequireStop account={account} />
        <Hours account={account} />
        <Pauses account={account} />
      </dl>
    </Section>
  );
}

function RequireStop({ account }: { readonly account: Account }) {
  const change = useChange(account);
  const isOn = account.guards.require_stop === true;
  return (
    <Row
      name={<code>require_stop</code>}
      meaning="an entry without a stop is refused; a default stop counts"
      fault={change.error}
      does={<Saved when={change.isSuccess} />}
    >
      <label className={styles.radio}>
        <input
          type="checkbox"
          checked={change.isPending ? change.variables.guards?.require_stop === true : isOn}
          onChange={({ target }) => change.mutate({ guards: { require_stop: target.checked || null } })}
        />
        require a stop
      </label>
    </Row>
  );
}

interface UseProps {
  readonly account: Account;
  readonly name: NumberGuard;
  readonly value: number | Readonly<Record<string, number>> | null | undefined;
  readonly unit: string;
}

function Use({ account, name, value, unit }: UseProps) {
  const change = useChange(account);
  if (typeof value !== 'number') return null;
  return (
    <button
      type="button"
      className="link"
      disabled={change.isPending}
      title={`Set ${name} to it`}
      onClick={() => change.mutate({ guards: { [name]: value } })}
    >
      Use {figure(value)}
      {unit && unit !== 'currency' ? ` ${unit}` : ''}
      <span className="unseen"> for {name}</span>
    </button>
  );
}

function Suggestion({ account, equity, currency }: GuardsProps) {
  const change = useChange(account);
  const suggested = suggestedGuards(equity);
  return (
    <div className={styles.under}>
      <button
        type="button"
        className="button"
        disabled={change.isPending}
        onClick={() => change.mutate({ guards: suggested })}
      >
        Set {Object.keys(suggested).length} guards
      </button>
      <p>
        No guard is set. Suggested: {suggestionInWords(suggested, currency)}.
        {suggested.max_daily_loss !== undefined &&
          ' Today’s loss is counted from now on, that of each later day from its first order (UTC).'}
      </p>
      {change.error && <ProblemNote fault={change.error} />}
    </div>
  );
}
