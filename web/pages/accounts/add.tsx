// An account is added by its connector's own description: environments, fields and help.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { accounts, brokers } from '../../api/queries.ts';
import { Page, Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from '../../parts/settings/settings.module.css';
import { CredentialFields } from './broker.tsx';
import { useCredentials } from './change.ts';
import type { Account } from './words.ts';

type NewAccount = Pick<Account, 'name' | 'broker'> & { readonly environment?: string };

function useMake() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn(account: NewAccount): Promise<Account> {
      const { webhook_secret: _, ...made } = await read(api.POST('/trading/accounts', { body: account }));
      return made;
    },
    onSuccess(made) {
      client.setQueryData(accounts.queryKey, (all) => [...(all ?? []), made]);
      void client.invalidateQueries({ queryKey: ['overview'] });
    },
  });
}

export function AddAccount({ isFirst }: { readonly isFirst: boolean }) {
  const described = useQuery(brokers);
  return (
    <Page
      title="Add an account"
      answer={
        isFirst ? (
          <>
            No account yet: <span className="quiet">a paper account trades at once, without money</span>
          </>
        ) : (
          <>
            Add an account:{' '}
            <span className="quiet">its credentials are sealed before they leave this browser</span>
          </>
        )
      }
    >
      {isFirst && <OneClick />}
      <Section title={isFirst ? 'Or add another broker' : 'The account'}>
        {described.error ? (
          <ProblemNote fault={described.error} />
        ) : described.data ? (
          <AddForm brokers={described.data.items} isFirst={isFirst} />
        ) : (
          <Skeleton rows={5} />
        )}
      </Section>
    </Page>
  );
}

function OneClick() {
  const make = useMake();
  const navigate = useNavigate();
  return (
    <div className={styles.under}>
      <button
        type="button"
        className="button primary"
        disabled={make.isPending}
        onClick={() =>
          make.mutate(
            { name: 'Paper', broker: 'paper' },
            { onSuccess: ({ id }) => void navigate({ to: '/accounts/$id', params: { id } as never }) },
          )
        }
      >
        Make a paper account
      </button>
      <p>It starts with 100,000 USD of play money, has its own webhook, and fills every order at once.</p>
      {make.error && <ProblemNote fault={make.error} />}
    </div>
  );
}

interface AddFormProps {
  readonly brokers: readonly Schemas['Broker'][];
  readonly isFirst: boolean;
}

function AddForm({ brokers: all, isFirst }: AddFormProps) {
  const offered = isFirst ? all.filter(({ credentials }) => credentials.length > 0) : all;
  const [chosen, setChosen] = useState(offered[0]?.name ?? 'paper');
  const [made, setMade] = useState<Account | null>(null);
  const make = useMake();
  const enter = useCredentials();
  const navigate = useNavigate();
  const broker = all.find(({ name }) => name === chosen);
  if (!broker) return null;

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    try {
      const account =
        made ??
        (await make.mutateAsync({
          name: String(given.get('name')).trim(),
          broker: broker.name,
          environment: String(given.get('environment') ?? broker.environments[0]),
        }));
      setMade(account);
      if (broker.credentials.length > 0) await enter.mutateAsync({ account, form });
      await navigate({ to: '/accounts/$id', params: { id: account.id } as never });
    } catch {
      // Both say by themselves what went wrong, below.
    }
  };
  const isBusy = make.isPending || enter.isPending;
  return (
    <form className={styles.add} onSubmit={(event) => void submit(event)} autoComplete="off">
      <label className={styles.field}>
        <span>Broker</span>
        <select
          value={chosen}
          disabled={made !== null}
          onChange={({ target }) => setChosen(target.value as typeof chosen)}
        >
          {offered.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
        <small>{broker.symbols_help}</small>
      </label>
      {broker.environments.length > 1 && (
        <label className={styles.field}>
          <span>Environment</span>
          <select key={chosen} name="environment" disabled={made !== null}>
            {broker.environments.map((environment) => (
              <option key={environment} value={environment}>
                {environment.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
          <small>You cannot change it later. Only the one called live trades real money.</small>
        </label>
      )}
      <label className={styles.field}>
        <span>Name</span>
        <input
          key={chosen}
          name="name"
          required
          maxLength={100}
          pattern=".*\S.*"
          defaultValue={broker.title}
          disabled={made !== null}
        />
        <small>To tell it apart from your other accounts.</small>
      </label>
      <CredentialFields key={chosen} broker={broker} />
      {make.error && <ProblemNote fault={make.error} />}
      {enter.error && (
        <ProblemNote fault={enter.error}>
          {made && (
            <>
              The account has been added.{' '}
              <Link to="/accounts/$id" params={{ id: made.id } as never}>
                Go to the account
              </Link>
            </>
          )}
        </ProblemNote>
      )}
      <p className={styles.choose}>
        <button type="submit" className={isFirst ? 'button' : 'button primary'} disabled={isBusy}>
          {isBusy
            ? broker.credentials.length > 0
              ? 'Asking the broker'
              : 'Adding'
            : broker.credentials.length > 0
              ? made
                ? 'Try these credentials'
                : `Add the ${broker.title} account and verify it`
              : 'Add a paper account'}
        </button>
      </p>
    </form>
  );
}
