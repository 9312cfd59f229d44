// A group is made of a name and at least two accounts; everything else can be set later.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { groups } from '../../api/queries.ts';
import { Unreal, unrealWord } from '../../parts/figures.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import accountStyles from '../../parts/settings/settings.module.css';
import styles from './groups.module.css';

type Account = Schemas['Account'];

interface MakeGroupProps {
  readonly accounts: readonly Account[];
  readonly isFirst: boolean;
}

export function MakeGroup({ accounts, isFirst }: MakeGroupProps) {
  return (
    <Page
      title="Make a group"
      answer={
        <>
          {isFirst ? 'No group yet: ' : 'Make a group: '}
          <span className="quiet">one signal for several of your accounts</span>
        </>
      }
    >
      <Section title="The group">
        {accounts.length < 2 ? (
          <p>
            A group needs two accounts, and you have {accounts.length === 0 ? 'none' : 'one'}.{' '}
            <Link to={'/accounts' as never} search={{ add: 'account' } as never}>
              Add an account
            </Link>
          </p>
        ) : (
          <MakeForm accounts={accounts} />
        )}
      </Section>
    </Page>
  );
}

function MakeForm({ accounts }: { readonly accounts: readonly Account[] }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const client = useQueryClient();
  const navigate = useNavigate();
  const make = useMutation({
    async mutationFn(name: string) {
      const members = chosen.map((trading_account_id) => ({ trading_account_id }));
      const { webhook_secret: _, ...made } = await read(
        api.POST('/trading/groups', { body: { name, members } }),
      );
      return made;
    },
    onSuccess(made) {
      client.setQueryData(groups.queryKey, (all) => [...(all ?? []), made]);
      void navigate({ to: '/groups/$id', params: { id: made.id } as never, search: {} as never });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(String(new FormData(event.currentTarget).get('name')).trim());
  };
  const isEnough = chosen.length >= 2 && chosen.length <= 20;
  return (
    <form className={accountStyles.add} onSubmit={submit} autoComplete="off">
      <label className={accountStyles.field}>
        <span>Name</span>
        <input name="name" required maxLength={100} pattern=".*\S.*" />
        <small>To tell it apart from your other groups.</small>
      </label>
      <fieldset className={styles.choose}>
        <legend>Members</legend>
        {accounts.map(({ id, name, broker, environment }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                setChosen((all) => (target.checked ? [...all, id] : all.filter((each) => each !== id)))
              }
            />{' '}
            {name} <Unreal word={unrealWord({ broker_name: broker, environment })} />
          </label>
        ))}
        <small>2 to 20. Each trades what the signal says; its factor and its symbols you set next.</small>
      </fieldset>
      {make.error && <ProblemNote fault={make.error} />}
      <p className={accountStyles.choose}>
        <button type="submit" className="button primary" disabled={!isEnough || make.isPending}>
          {isEnough ? `Make a group of ${chosen.length} accounts` : 'Choose two accounts or more'}
        </button>
      </p>
    </form>
  );
}
