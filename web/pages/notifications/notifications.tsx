// Where a user is told, beside mail: whether it arrives, and of what.

import { useQuery } from '@tanstack/react-query';
import { accounts, publicConfig } from '../../api/queries.ts';
import { Page, Section, Skeleton, WaitingPage } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useTogether } from '../../parts/together.ts';
import { Add } from './add.tsx';
import { DestinationRow } from './destination.tsx';
import styles from './notifications.module.css';
import { destinations } from './questions.ts';
import { answerOf, mailInWords } from './words.ts';

export default function Notifications() {
  const asked = useQuery(destinations);
  const askedConfig = useQuery(publicConfig);
  const isThere = useTogether(asked, askedConfig, useQuery(accounts));
  const { data, error } = asked;
  const { data: config } = askedConfig;
  const mail = config?.mail ?? null;
  const answer = data && answerOf(data, { mail });
  if (!isThere) return <WaitingPage name="Notifications" />;
  return (
    <Page
      title={answer ? answer.lead + answer.rest : 'Notifications'}
      answer={
        answer ? (
          <>
            {answer.lead}
            <span className="quiet">{answer.rest}</span>
          </>
        ) : (
          <span className="quiet">Notifications</span>
        )
      }
      facts={<span>{mailInWords(mail)}</span>}
    >
      <Section title="Destinations">
        {error ? (
          <ProblemNote fault={error} />
        ) : !data ? (
          <Skeleton rows={3} />
        ) : data.length === 0 ? (
          <p className="quiet">
            None yet. Add one below: a chat on your phone tells you of a failed order before you look here.
          </p>
        ) : (
          <ul className={styles.list}>
            {data.map((destination) => (
              <DestinationRow key={destination.id} destination={destination} />
            ))}
          </ul>
        )}
      </Section>
      <Add />
    </Page>
  );
}
