// What the account trades through: its broker, its credentials, and what it does when it is not where the strategy is.

import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { brokers } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { Section } from '../../parts/page.tsx';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { When } from '../../parts/when.tsx';
import { useChange, useCredentials, useToday, useVerify, useWarnings } from './change.ts';
import { FieldRow } from './row.tsx';
import type { Account } from './words.ts';

export function Broker({ account }: { readonly account: Account }) {
  const { data: described } = useQuery(brokers);
  const broker = described?.items.find(({ name }) => name === account.broker);
  const warnings = useWarnings(account);
  return (
    <Section title="Broker">
      <dl className={`rows ${styles.rows}`}>
        <FieldRow
          account={account}
          wide
          name="Name"
          label="Name of the account"
          stored={account.name}
          read={(text) =>
            text.trim() === '' ? { problem: 'An account needs a name.' } : { value: { name: text.trim() } }
          }
        />
        <Row name="Trades through">
          {broker?.title ?? account.broker},{' '}
          {account.broker === 'paper'
            ? 'with money that is not real'
            : account.environment.replaceAll('_', ' ')}
          <small>{broker?.symbols_help}</small>
        </Row>
        {broker && broker.credentials.length > 0 && <Credentials account={account} broker={broker} />}
        {warnings.map((warning) => (
          <Row key={warning} name="Warning">
            <span className="status act">
              <Mark name="act" />
              <span className={styles.wraps}>{warning}</span>
            </span>
          </Row>
        ))}
        {broker?.margin_help && <Margin account={account} help={broker.margin_help} />}
        <OutOfSync account={account} />
      </dl>
    </Section>
  );
}

function Credentials({ account, broker }: { readonly account: Account; readonly broker: Schemas['Broker'] }) {
  const [isEntering, setEntering] = useState(!account.has_credentials);
  const verify = useVerify(account);
  const enter = useCredentials();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    enter.mutate({ account, form: event.currentTarget, onStored: () => setEntering(false) });
  };
  const isBusy = verify.isPending || enter.isPending;
  return (
    <Row
      name="Credentials"
      fault={verify.error ?? enter.error}
      does={
        <>
          {account.has_credentials && (
            <button type="button" className="link" disabled={isBusy} onClick={() => verify.mutate()}>
              {verify.isPending
                ? 'Asking the broker'
                : `Verify${account.broker_credentials_verified ? ' again' : ''}`}
            </button>
          )}
          {account.has_credentials && (
            <button
              type="button"
              className="link"
              aria-expanded={isEntering}
              onClick={() => setEntering(!isEntering)}
            >
              {isEntering ? 'Keep the old ones' : 'Enter new ones'}
            </button>
          )}
        </>
      }
    >
      <Worth account={account} />
      <small>sealed in your browser, and opened only where your orders are sent from</small>
      {isEntering && (
        <form className={styles.credentials} onSubmit={submit} autoComplete="off">
          <CredentialFields broker={broker} />
          <button type="submit" className="button primary" disabled={isBusy}>
            {enter.isPending ? 'Asking the broker' : 'Seal, store and verify'}
          </button>
        </form>
      )}
    </Row>
  );
}

function Worth({ account }: { readonly account: Account }) {
  const today = useToday(account);
  const since = today?.credentials_since;
  if (account.broker_credentials_verified)
    return (
      <span className="status good">
        <Mark name="passed" />
        <span>verified {since && <When at={since} />}</span>
      </span>
    );
  const isRefused =
    account.credentials_refused || (account.has_credentials && today?.credentials === 'refused');
  return (
    <span className="status act">
      <Mark name="act" />
      <span className={styles.wraps}>
        {!isRefused && !account.has_credentials && 'missing: real orders are refused'}
        {account.has_credentials && !isRefused && 'not verified: real orders are refused'}
        {isRefused && <>refused by the broker {since && <When at={since} />}</>}
        {account.credentials_refused && ': entries are refused, exits and closes are still tried'}
      </span>
    </span>
  );
}

/** The connector's own fields. What is typed stays in them until it is sealed, and nowhere else. */
export function CredentialFields({ broker }: { readonly broker: Schemas['Broker'] }) {
  return broker.credentials.map(({ field, label, help, required }) => (
    <label key={field} className={styles.field}>
      <span>
        {label}
        {!required && <span className="quiet"> (not needed)</span>}
      </span>
      <input
        data-credential
        name={field}
        type="password"
        autoComplete="off"
        spellCheck={false}
        required={required}
        // Password managers take no for an answer.
        data-1p-ignore
        data-lpignore="true"
      />
      <small>{help}</small>
    </label>
  ));
}

/** What it is where the broker asks for it, and who keeps it where it does not. */
function Margin({ account, help }: { readonly account: Account; readonly help: string }) {
  const change = useChange(account);
  const wish = change.isPending ? change.variables.margin_mode : account.margin_mode;
  if (account.margin_mode === null)
    return (
      <Row name="Margin">
        as it is set at the broker
        <small>{help}</small>
      </Row>
    );
  return (
    <Row name="Margin" fault={change.error} does={<Saved when={change.isSuccess} />}>
      <span role="radiogroup" aria-label="Margin">
        {(['cross', 'isolated'] as const).map((mode) => (
          <label key={mode} className={styles.radio}>
            <input
              type="radio"
              name="margin-mode"
              checked={wish === mode}
              onChange={() => change.mutate({ margin_mode: mode })}
            />
            {mode}
          </label>
        ))}
      </span>
      <small>{help}</small>
    </Row>
  );
}

function OutOfSync({ account }: { readonly account: Account }) {
  const change = useChange(account);
  const choose = (value: 'hold' | 'follow') => change.mutate({ out_of_sync: value });
  const wish = change.isPending ? change.variables.out_of_sync : account.out_of_sync;
  return (
    <Row name="Out of sync" fault={change.error} does={<Saved when={change.isSuccess} />}>
      <span role="radiogroup" aria-label="Out of sync">
        <label className={styles.radio}>
          <input type="radio" name="out-of-sync" checked={wish === 'hold'} onChange={() => choose('hold')} />
          hold: close what exceeds the strategy, open nothing
        </label>
        <label className={styles.radio}>
          <input
            type="radio"
            name="out-of-sync"
            checked={wish === 'follow'}
            onChange={() => choose('follow')}
          />
          follow the strategy
        </label>
      </span>
    </Row>
  );
}
