// The accounts at the left, the one that is looked at beside them.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { accounts } from '../../api/queries.ts';
import { Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark, type MarkName } from '../../parts/marks.tsx';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from '../../parts/settings/settings.module.css';
import { AccountView } from './account.tsx';
import { AddAccount } from './add.tsx';
import { type Account, type Standing, standingOf } from './words.ts';

export default function Accounts() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { add } = useSearch({ strict: false }) as { add?: string };
  const { data: all, error, refetch } = useQuery(accounts);
  if (!all)
    return (
      <Page title="Accounts" answer={error ? 'The accounts could not be read' : 'Accounts'}>
        {error ? <ProblemNote fault={error} onAgain={refetch} /> : <Skeleton rows={8} />}
      </Page>
    );
  if (all.length === 0) return <AddAccount isFirst />;
  const shown =
    add === undefined ? (id === undefined ? all[0] : all.find((each) => each.id === id)) : undefined;
  return (
    <div className={styles.withList}>
      <List all={all} shown={shown} isAdding={add !== undefined} />
      {shown ? (
        <AccountView key={shown.id} account={shown} />
      ) : add !== undefined ? (
        <div>
          <AddAccount isFirst={false} />
        </div>
      ) : (
        <Page title="No such account" answer="There is no such account">
          <p>It was deleted, or it belongs to somebody else. Your accounts are listed at the side.</p>
        </Page>
      )}
    </div>
  );
}

const MARKS: Readonly<Record<Standing, { readonly mark: MarkName; readonly tone: string }>> = {
  'takes entries': { mark: 'filled', tone: 'good' },
  halted: { mark: 'stop', tone: '' },
  missing: { mark: 'act', tone: 'act' },
  'not verified': { mark: 'act', tone: 'act' },
  refused: { mark: 'act', tone: 'act' },
};
const WORDS: Readonly<Record<Standing, string>> = {
  'takes entries': 'takes entries',
  halted: 'halted',
  missing: 'credentials are missing',
  'not verified': 'credentials are not verified',
  refused: 'credentials are refused',
};

interface ListProps {
  readonly all: readonly Account[];
  readonly shown: Account | undefined;
  readonly isAdding: boolean;
}

function List({ all, shown, isAdding }: ListProps) {
  return (
    <nav aria-label="Accounts" className={styles.list}>
      <ul>
        {all.map((account) => {
          const standing = standingOf(account);
          const { mark, tone } = MARKS[standing];
          return (
            <li key={account.id}>
              <Link
                to="/accounts/$id"
                params={{ id: account.id } as never}
                aria-current={account.id === shown?.id ? 'page' : undefined}
                title={`${account.name}: ${WORDS[standing]}`}
              >
                <span className={`status ${tone}`}>
                  <Mark name={mark} />
                </span>
                <span className={styles.name}>
                  {account.name}
                  <span className="unseen">, {WORDS[standing]}</span>
                </span>
                <Unreal
                  word={unrealWord({ broker_name: account.broker, environment: account.environment })}
                />
              </Link>
            </li>
          );
        })}
        <li>
          <Link
            to="/accounts"
            search={{ add: 'account' } as never}
            className={styles.addLink}
            aria-current={isAdding ? 'page' : undefined}
          >
            Add an account
          </Link>
        </li>
      </ul>
    </nav>
  );
}
