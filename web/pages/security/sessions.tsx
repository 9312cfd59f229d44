// Who is logged in as this user, and from where.

import { useMutation, useQuery } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { When } from '../../parts/when.tsx';
import { sessions } from './questions.ts';
import styles from './security.module.css';
import { deviceInWords } from './words.ts';

export function Sessions() {
  const readAgain = useReadAgain();
  const { data: all, error, refetch } = useQuery(sessions);
  const end = useMutation({
    async mutationFn(ids: readonly string[]) {
      for (const id of ids) await read(api.DELETE('/auth/sessions/{id}', { params: { path: { id } } }));
    },
    onSettled: () => readAgain(sessions.queryKey),
  });
  // This one first: it is the one that one knows.
  const sorted = all?.toSorted((a, b) => Number(b.current) - Number(a.current));
  const others = all?.filter(({ current }) => !current) ?? [];
  return (
    <Section
      title="Sessions"
      more={
        others.length > 1 && (
          <button
            type="button"
            className="link"
            disabled={end.isPending}
            onClick={() => end.mutate(others.map(({ id }) => id))}
          >
            End the other {others.length}
          </button>
        )
      }
    >
      {error ? (
        <ProblemNote fault={error} onAgain={refetch} />
      ) : sorted ? (
        <dl className={`rows ${styles.rows}`}>
          {sorted.map(({ id, current, user_agent, ip_address, created_at }) => (
            <div key={id}>
              <dt>{current ? 'this one' : 'another'}</dt>
              <dd title={user_agent}>
                {deviceInWords(user_agent)}, <span className="id">{ip_address}</span>, since{' '}
                <When at={created_at} />
              </dd>
              <dd>
                {!current && (
                  <button
                    type="button"
                    className="link"
                    aria-label={`End the session of ${deviceInWords(user_agent)}, ${ip_address}`}
                    disabled={end.isPending}
                    onClick={() => end.mutate([id])}
                  >
                    End
                  </button>
                )}
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <Skeleton rows={2} />
      )}
      {all && others.length === 0 && <p className={styles.empty}>You are logged in here and nowhere else.</p>}
      {end.error && <ProblemNote fault={end.error} />}
    </Section>
  );
}
