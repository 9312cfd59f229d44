// The terms as they are published: a text of the operator's, shown as a text.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Outside } from '../../parts/outside.tsx';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { dayOf } from '../../parts/when.tsx';
import styles from './enter.module.css';
import { publishedTerms } from './terms-query.ts';

export default function Terms() {
  const { data: terms, error, refetch } = useQuery(publishedTerms);
  const links = (
    <>
      <Link to="/login">Log in</Link>
      <Link to="/register">Register</Link>
    </>
  );
  return (
    <Outside links={links}>
      {error ? (
        <Page title="The terms" answer="The terms cannot be read now">
          <ProblemNote fault={error} onAgain={refetch} />
        </Page>
      ) : terms === undefined ? (
        <Page title="The terms" answer="The terms">
          <Skeleton rows={8} />
        </Page>
      ) : terms === null ? (
        <Page title="No terms" answer="No terms are published">
          <p>There is nothing to accept before trading.</p>
        </Page>
      ) : (
        <Page
          title={`The terms, version ${terms.version}`}
          answer={
            <>
              The terms, <span className="quiet">version {terms.version}</span>
            </>
          }
          facts={<span>published on {dayOf(new Date(terms.published_at))}</span>}
        >
          <p className={styles.longText}>{terms.text}</p>
        </Page>
      )}
    </Outside>
  );
}
