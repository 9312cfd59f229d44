// What somebody sees whose address is not confirmed yet: that a link was mailed, and how to get another.

import { useMutation, useQuery } from '@tanstack/react-query';
import { api, read } from '../api/client.ts';
import { ownSession } from '../api/queries.ts';
import { ProblemNote } from './problem-note.tsx';

export function Unconfirmed({ className }: { readonly className: string | undefined }) {
  const { data: session } = useQuery(ownSession);
  const resend = useMutation({ mutationFn: () => read(api.POST('/auth/verify-email/resend')) });
  if (session?.email_verified !== false) return null;
  return (
    <div className={className} role="status">
      <b>Confirm your address.</b> Follow the link that was mailed to <b>{session.user.email}</b>. Until then
      there are no second factor, API keys and notifications; rehearsals and paper accounts work.{' '}
      {resend.isSuccess ? (
        'Another one is on its way.'
      ) : (
        <button type="button" className="link" disabled={resend.isPending} onClick={() => resend.mutate()}>
          Send it again
        </button>
      )}
      {resend.error && <ProblemNote fault={resend.error} />}
    </div>
  );
}
