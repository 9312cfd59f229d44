// The groups at the left, the one that is looked at beside them.

import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { accounts as allAccounts, groups } from '../../api/queries.ts';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from '../../parts/settings/settings.module.css';
import type { Group } from './change.ts';
import { GroupView } from './group.tsx';
import { MakeGroup } from './make.tsx';

export default function Groups() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { add } = useSearch({ strict: false }) as { add?: string };
  const { data: all, error, refetch } = useQuery(groups);
  const { data: accounts } = useQuery(allAccounts);
  if (!all || !accounts)
    return (
      <Page title="Groups" answer={error ? 'The groups could not be read' : 'Groups'}>
        {error ? <ProblemNote fault={error} onAgain={refetch} /> : <Skeleton rows={8} />}
      </Page>
    );
  if (all.length === 0) return <MakeGroup accounts={accounts} isFirst />;
  const shown =
    add === undefined ? (id === undefined ? all[0] : all.find((each) => each.id === id)) : undefined;
  return (
    <div className={styles.withList}>
      <List all={all} shown={shown} isAdding={add !== undefined} />
      {shown ? (
        <GroupView key={shown.id} group={shown} accounts={accounts} />
      ) : add !== undefined ? (
        <div>
          <MakeGroup accounts={accounts} isFirst={false} />
        </div>
      ) : (
        <Page title="No such group" answer="There is no such group">
          <p>It was deleted, or it belongs to somebody else. Your groups are listed at the side.</p>
        </Page>
      )}
    </div>
  );
}

interface ListProps {
  readonly all: readonly Group[];
  readonly shown: Group | undefined;
  readonly isAdding: boolean;
}

function List({ all, shown, isAdding }: ListProps) {
  return (
    <nav aria-label="Groups" className={styles.list}>
      <ul>
        {all.map(({ id, name, enabled }) => (
          <li key={id}>
            <Link
              to="/groups/$id"
              params={{ id } as never}
              aria-current={id === shown?.id ? 'page' : undefined}
              title={name}
            >
              <span className={styles.name}>{name}</span>
              {!enabled && <span className="quiet">disabled</span>}
            </Link>
          </li>
        ))}
        <li>
          <Link
            to="/groups"
            search={{ add: 'group' } as never}
            className={styles.addLink}
            aria-current={isAdding ? 'page' : undefined}
          >
            Make a group
          </Link>
        </li>
      </ul>
    </nav>
  );
}
