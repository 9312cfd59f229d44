// The audit log: every attempt and its outcome, newest first.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { accounts } from '../../api/queries.ts';
import { AS_CSV, CsvButton } from '../../parts/csv.tsx';
import { Mark } from '../../parts/marks.tsx';
import { More } from '../../parts/more.tsx';
import { figure } from '../../parts/numbers.ts';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { When } from '../../parts/when.tsx';
import { auditLog } from './questions.ts';
import styles from './security.module.css';
import { about } from './words.ts';

export function AuditLog() {
  const { action = '' } = useSearch({ strict: false }) as { action?: string };
  const navigate = useNavigate();
  const log = useInfiniteQuery(auditLog(action));
  const { data: all = [] } = useQuery(accounts);
  const names = new Map(all.map(({ id, name }) => [id, name]));
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  const filter = (wanted: string) =>
    void navigate({
      to: '/security',
      search: { action: wanted } as never,
      replace: true,
      resetScroll: false,
    });
  const query = action ? { action } : {};
  return (
    <Section
      title="Audit log"
      more={
        <>
          {action && (
            <>
              only <code>{action}</code>{' '}
              <button type="button" className="link" onClick={() => filter('')}>
                Show all
              </button>{' '}
            </>
          )}
          <CsvButton
            name="audit log"
            ask={() => api.GET('/settings/audit-log', { params: { query }, ...AS_CSV })}
          />
        </>
      }
    >
      {log.error ? (
        <ProblemNote fault={log.error} onAgain={log.refetch} />
      ) : log.isPending ? (
        <Skeleton rows={8} />
      ) : (
        <>
          <table className={`table dense listed ${styles.audit}`}>
            <colgroup>
              <col className={styles.entry} />
              <col className={styles.moment} />
              <col className={styles.what} />
              <col />
              <col className={styles.from} />
            </colgroup>
            <thead className="unseen">
              <tr>
                <th scope="col">Entry</th>
                <th scope="col">When</th>
                <th scope="col">Action</th>
                <th scope="col">About</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <td className="quiet">{figure(entry.id)}</td>
                  <td>
                    <When at={entry.created_at} milliseconds />
                  </td>
                  <td>
                    <button
                      type="button"
                      className={`link ${styles.action}`}
                      title={`Only ${entry.action}`}
                      onClick={() => filter(entry.action)}
                    >
                      {entry.action}
                    </button>
                    {!entry.success && (
                      <span className={`quiet ${styles.refused}`}>
                        <Mark name="refused" /> refused
                      </span>
                    )}
                  </td>
                  <td className="ellipsis" title={about(entry, names)}>
                    {about(entry, names)}
                  </td>
                  <td className="id num" title={entry.user_agent ?? undefined}>
                    {entry.ip_address}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className={styles.end}>
            <More query={log} className="link">
              Older
            </More>
            <span className="quiet">
              {entries.length === 0 ? 'No such entry.' : 'Each entry seals the one before it.'}
            </span>
          </p>
        </>
      )}
    </Section>
  );
}
