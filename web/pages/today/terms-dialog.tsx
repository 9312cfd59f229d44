// The terms of service, to be read and accepted where they are missing.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';
import { Choices, Dialog } from '../../parts/dialog.tsx';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from './terms-dialog.module.css';

export function TermsDialog({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const { data: terms, error } = useQuery({
    queryKey: ['terms'],
    queryFn: () => read(api.GET('/public/terms')),
    // What is accepted must be what is in force.
    staleTime: 0,
  });
  const accept = useMutation({
    mutationFn: (version: string) => read(api.POST('/settings/terms', { body: { version } })),
    async onSuccess() {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['overview'] }),
        queries.invalidateQueries({ queryKey: ['session'] }),
      ]);
      onClose();
    },
  });
  return (
    <Dialog
      title={terms ? `Terms of service, version ${terms.version}` : 'Terms of service'}
      onClose={onClose}
    >
      {terms ? (
        <div className={styles.terms}>{terms.text}</div>
      ) : error ? (
        <ProblemNote fault={error} />
      ) : (
        <Skeleton />
      )}
      {accept.error && <ProblemNote fault={accept.error} />}
      <Choices>
        {terms && (
          <button
            type="button"
            className="button primary"
            data-first
            disabled={accept.isPending}
            onClick={() => accept.mutate(terms.version)}
          >
            Accept version {terms.version}
          </button>
        )}
        <button type="button" className="button" onClick={onClose}>
          Not now
        </button>
      </Choices>
    </Dialog>
  );
}
