// For those who run the service: whether it answers, who works where, what waits, who may do what.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Problem } from '../../api/problem.ts';
import { ownSession } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { Page, WaitingPage } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useTogether } from '../../parts/together.ts';
import { ageInWords, useNow } from '../../parts/when.tsx';
import { type Asked, useAsked } from './asked.ts';
import { DeadLetters } from './dead-letters.tsx';
import { Hosts } from './hosts.tsx';
import styles from './operation.module.css';
import {
  deadLetters as deadLettersQuery,
  health as healthQuery,
  queues as queuesQuery,
  terms as termsQuery,
  unreadableReplies as unreadableQuery,
  users as usersQuery,
  workers as workersQuery,
} from './questions.ts';
import { Queues } from './queues.tsx';
import { Terms } from './terms.tsx';
import { UnreadableReplies } from './unreadable.tsx';
import { Users } from './users.tsx';
import { answerOf, missingIn, partsOf, sharedFault, whyNot } from './words.ts';
import { Workers } from './workers.tsx';

const ASKING = 'Asking whether everything answers';

export default function Operation() {
  const { data: session, error, refetch } = useQuery(ownSession);
  if (!session)
    return error ? (
      <Page title="Operation" answer={<span className="quiet">Operation</span>}>
        <ProblemNote fault={error} onAgain={refetch} />
      </Page>
    ) : (
      <WaitingPage name="Operation" words={ASKING} />
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
          Go to Today
        </Link>
      </p>
    </Page>
  );
}

function Administration({ user }: { readonly user: { email: string; is_admin: boolean; id: string } }) {
  const health = useQuery(healthQuery);
  const queues = useQuery(queuesQuery);
  const workers = useInfiniteQuery(workersQuery);
  const letters = useInfiniteQuery(deadLettersQuery);
  const { email = '' } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const users = useInfiniteQuery(usersQuery(email));
  const terms = useQuery(termsQuery);
  const unreadable = useQuery(unreadableQuery);
  const isThere = useTogether(health, queues, workers, letters, users, terms, unreadable);
  const askedHealth = useAsked('health', health);
  const asked = {
    queues: useAsked('worker hosts, queues', queues),
    workers: useAsked('workers', workers),
    letters: useAsked('dead letters', letters),
    unreadable: useAsked('replies of brokers', unreadable),
    users: useAsked('users', users),
    terms: useAsked('terms', terms),
  };
  const all = [askedHealth, ...Object.values(asked)];
  const shared = sharedFault(all);
  const partOf = (asked: Asked) => ({ asked, isSaid: shared?.of.includes(asked) ?? false });
  /** Nothing is shown that is not there, where it is said above. */
  const isShown = (asked: Asked) => asked.isKnown || !partOf(asked).isSaid;
  const refused = queues.error instanceof Problem ? whyNot(user, queues.error) : null;
  if (refused) return <NotYours why={refused} />;
  if (!isThere) return <WaitingPage name="Operation" words={ASKING} />;
  // What was said before it fell silent is no word on how it is now.
  const said = askedHealth.fault ? undefined : health.data;
  const answer = said && answerOf(said);
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
            {askedHealth.fault
              ? shared?.of.length === all.length
                ? 'Nothing answers'
                : 'Whether everything answers is not known'
              : ASKING}
          </span>
        )
      }
      facts={
        said && (
          <>
            <span>
              version <b>{said.version}</b>
            </span>
            <span>
              checked <Checked at={health.dataUpdatedAt} />
            </span>
          </>
        )
      }
    >
      {shared && (
        <ProblemNote
          fault={shared.fault}
          onAgain={() => Promise.all(shared.of.map((asked) => asked.again()))}
        >
          {missingIn(shared, all)} Trying again every few seconds.
        </ProblemNote>
      )}
      {askedHealth.fault && !partOf(askedHealth).isSaid ? (
        <ProblemNote fault={askedHealth.fault} onAgain={askedHealth.again} />
      ) : null}
      <dl className={styles.parts}>
        {said
          ? partsOf(said).map(({ name, isUp, detail }) => (
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
      {isShown(asked.queues) && <Hosts queues={queues.data} part={partOf(asked.queues)} />}
      {isShown(asked.workers) && <Workers query={workers} part={partOf(asked.workers)} />}
      <div className={`columns ${styles.beside}`}>
        {isShown(asked.letters) && (
          <DeadLetters query={letters} part={partOf(asked.letters)} ownId={user.id} />
        )}
        {isShown(asked.queues) && <Queues queues={queues.data} hasFailed={asked.queues.fault !== null} />}
      </div>
      {isShown(asked.unreadable) && (
        <UnreadableReplies unreadable={unreadable.data} part={partOf(asked.unreadable)} />
      )}
      {isShown(asked.users) && (
        <Users query={users} part={partOf(asked.users)} email={email} ownId={user.id} />
      )}
      {isShown(asked.terms) && <Terms terms={terms.data} part={partOf(asked.terms)} />}
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
