// Where there is no page, or the page has a fault of its own.

import { useQueryClient } from '@tanstack/react-query';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useTitle } from './page.tsx';
import { ProblemNote } from './problem-note.tsx';

export function MissingPage() {
  useTitle('No such page');
  return (
    <main className="unscripted">
      <h1 className="answer">There is no such page</h1>
      <p>
        <Link to="/">To Today</Link>
      </p>
    </main>
  );
}

/** In the place of a page's content: the frame around it stays, and the kill switch with it. */
export function Fault({ error, reset }: ErrorComponentProps) {
  useTitle('A fault');
  const queries = useQueryClient();
  const tryAgain = () => {
    // What the page could not show is read anew; what the frame shows stays.
    queries.removeQueries({ type: 'inactive' });
    reset();
  };
  return (
    <>
      <h1 className="answer">This page could not be shown</h1>
      <ProblemNote fault={error}>
        <button type="button" className="link" onClick={tryAgain}>
          Try again
        </button>{' '}
        or{' '}
        <button type="button" className="link" onClick={() => location.reload()}>
          reload the page
        </button>
      </ProblemNote>
    </>
  );
}

export const FaultPage = (props: ErrorComponentProps) => (
  <main className="unscripted">
    <Fault {...props} />
  </main>
);
