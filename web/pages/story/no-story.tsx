import { Link } from '@tanstack/react-router';
import { isRefusal } from '../../api/problem.ts';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

/** Not yet, or not at all. */
export function NoStory({ fault, onAgain }: { readonly fault: unknown; readonly onAgain: () => void }) {
  if (!fault)
    return (
      <Page title="A signal’s story" answer={<span className="quiet">A signal’s story</span>}>
        <Skeleton rows={12} />
      </Page>
    );
  return (
    <Page title="No story" answer="This story cannot be told">
      <ProblemNote fault={fault}>
        {!isRefusal(fault) && (
          <button type="button" className="link" onClick={onAgain}>
            Try again
          </button>
        )}{' '}
        <Link to={'/signals' as never}>Go to the signals</Link>
      </ProblemNote>
    </Page>
  );
}
