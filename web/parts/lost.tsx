// Where there is no page, or the page has a fault of its own.

import { useQueryClient } from '@tanstack/react-query';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Unreachable } from '../api/problem.ts';
import { mayBeLoggedIn } from '../api/session.ts';
import { useLiveness } from '../live/live.tsx';
import { forgetMissing } from './later.tsx';
import { Outside } from './outside.tsx';
import { Page, useTitle } from './page.tsx';
import { ProblemNote } from './problem-note.tsx';

// Who is outside does not load it.
const Frame = lazy(async () => ({ default: (await import('./frame.tsx')).Frame }));

/** Whoever is in keeps the frame, and the kill switch with it. */
export const MissingPage = () =>
  mayBeLoggedIn() ? (
    <Suspense>
      <Frame>
        <Missing />
      </Frame>
    </Suspense>
  ) : (
    <Outside
      links={
        <>
          <Link to="/login">Log in</Link>
          <Link to="/register">Register</Link>
        </>
      }
    >
      <Missing />
    </Outside>
  );

function Missing() {
  return (
    <Page title="No such page" answer="There is no such page">
      <p>
        The address is mistyped, or what it led to is gone: go on from <Link to="/">Today</Link> or{' '}
        <Link to="/signals">Signals</Link>.
      </p>
    </Page>
  );
}

/** In the place of a page's content: the frame around it stays, and the kill switch with it. */
export function Fault({ error, reset }: ErrorComponentProps) {
  useTitle('A fault');
  const queries = useQueryClient();
  const { isLive } = useLiveness();
  const tryAgain = () => {
    forgetMissing();
    // What the page could not show is read anew; what the frame shows stays.
    queries.removeQueries({ type: 'inactive' });
    reset();
  };
  const wasAway = useRef(false);
  // Its code did not come, and somebody answers again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once with each return of the service
  useEffect(() => {
    if (isLive && wasAway.current && error instanceof Unreachable) tryAgain();
    wasAway.current = !isLive;
  }, [isLive]);
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
