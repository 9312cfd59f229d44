// For those who run the service: whether it answers, who works where, what waits, who may do what.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Problem } from '../../api/problem.ts';
import { ownSession } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ageInWords, useNow } from '../../parts/when.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { Hosts } from './hosts.tsx';
import styles from './operation.module.css';
import { health as healthQuery, queues as queuesQuery } from './questions.ts';
import { Queues } from './queues.tsx';
import { Terms } from './terms.tsx';
import { Users } from './users.tsx';
import { answerOf, partsOf, whyNot } from './words.ts';
import { Workers } from './workers.tsx';

export default function Operation() {
  const { data: session, error, refetch } = useQuery(ownSession);
  if (!session)
    return (
      <Page title="Operation" answer={<span className="quiet">Operation</span>}>
        {error ? <ProblemNote fault={error} onAgain={refetch} /> : <Skeleton rows={12} />}
      </Page>
    );
  return session.user.is_admin ? (
    <Administration user={session.user} />
  ) : (
    <NotYours why={whyNot(session.user, null)} />
  );
}

function NotYours({ why }: { readonly why: string | null }) {
  return (
    <Page title="Operation" answer="Operation is not shown here">
      <p className={styles.sentence}>{why}</p>
      <p className={styles.buttons}>
        <Link to="/" className="button">
          To Today
        </Link>
      </p>
    </Page>
  );
}

function Administration({ user }: { readonly user: { email: string; is_admin: boolean; id: string } }) {
  const health = useQuery(healthQuery);
  const queues = useQuery(queuesQuery);
  const refused = queues.error instanceof Problem ? whyNot(user, queues.error) : null;
  if (refused) return <NotYours why={refused} />;
  const answer = health.data && answerOf(health.data);
  return (
    <Page
      title={answer ? [answer.said, answer.risk].filter(Boolean).join(', ') : 'Operation'}
      answer={
        answer ? (
          <>
            <span className={answer.isDown ? 'act' : ''}>
              {answer.said}
              {answer.risk && ','}
            </span>{' '}
            {answer.risk && <span className="risk">{answer.risk}</span>}
          </>
        ) : (
          <span className="quiet">
            {health.error ? 'Nothing answers' : 'Asking whether everything answers'}
          </span>
        )
      }
      facts={
        health.data && (
          <>
            <span>
              version <b>{health.data.version}</b>
            </span>
            <span>
              checked <Checked at={health.dataUpdatedAt} />
            </span>
          </>
        )
      }
    >
      {health.error && <ProblemNote fault={health.error}>Trying again every few seconds.</ProblemNote>}
      <dl className={styles.parts}>
        {health.data
          ? partsOf(health.data).map(({ name, isUp, detail }) => (
              <div key={name}>
                <dt className={isUp ? styles.up : styles.down}>
                  <Mark name={isUp ? 'filled' : 'act'} />
                  {name}
                </dt>
                <dd className={isUp ? '' : 'act'}>{detail}</dd>
              </div>
            ))
          : null}
      </dl>
      {queues.error && <ProblemNote fault={queues.error} onAgain={queues.refetch} />}
      <Hosts queues={queues.data} />
      <Workers />
      <div className="columns">
        <DeadLetters ownId={user.id} />
        <Queues queues={queues.data} />
      </div>
      <Users ownId={user.id} />
      <Terms />
    </Page>
  );
}

/** By the browser's own clock on both ends, and so right whatever it shows. */
function Checked({ at }: { readonly at: number }) {
  useNow();
  return (
    <>
      <b>{ageInWords(Date.now() - at)}</b> ago
    </>
  );
}
