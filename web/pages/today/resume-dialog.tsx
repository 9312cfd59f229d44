// Off with the kill switch of one account. Nothing is sent by it, and from then on the next signal trades.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from './today.module.css';

export function ResumeDialog({
  account: { id, name },
  onClose,
}: {
  readonly account: Pick<Schemas['AccountToday'], 'id' | 'name'>;
  readonly onClose: () => void;
}) {
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => read(api.POST('/trading/accounts/{id}/resume', { params: { path: { id } } })),
    async onSuccess() {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['overview'] }),
        queries.invalidateQueries({ queryKey: ['accounts'] }),
      ]);
      onClose();
    },
  });
  return (
    <Dialog title={`Resume ${name}`} onClose={onClose}>
      <p className={styles.sentence}>
        Nothing is sent now. From the next signal on, entries are taken again, and what came while it was
        halted is not made up for.
      </p>
      {resume.error && <ProblemNote fault={resume.error} />}
      <div className={styles.choices}>
        <button
          type="button"
          className="button primary"
          disabled={resume.isPending}
          onClick={() => resume.mutate()}
        >
          Resume {name}
        </button>
        <button type="button" className="button" data-first onClick={onClose}>
          Keep it halted
        </button>
      </div>
    </Dialog>
  );
}
