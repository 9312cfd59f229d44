// Off with the kill switch of one account. Nothing is sent by it, and from then on the next signal trades.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, read, type Schemas } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { Choices, Dialog } from './dialog.tsx';
import { ProblemNote } from './problem-note.tsx';
import styles from './resume-dialog.module.css';

/** No answer, or none of the service's own making: it may have been done. */
const isOpen = ({ status }: Problem): boolean => status === 0 || status >= 500;

export function ResumeDialog({
  account: { id, name },
  onClose,
  onResumed,
}: {
  readonly account: Pick<Schemas['AccountToday'], 'id' | 'name'>;
  readonly onClose: () => void;
  readonly onResumed?: () => void;
}) {
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => read(api.POST('/trading/accounts/{id}/resume', { params: { path: { id } } })),
    async onSuccess() {
      onResumed?.();
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
        Nothing is sent now. From the next signal on entries are taken again. Signals that came while it was
        halted are not caught up.
      </p>
      {resume.error && (
        <ProblemNote fault={resume.error}>
          {isOpen(problemOf(resume.error)) &&
            'Whether it was resumed is not known. Until it is, assume that the next signal trades.'}
        </ProblemNote>
      )}
      <Choices>
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
      </Choices>
    </Dialog>
  );
}
