// The simulated book starts over: flat, as at first. Nothing trades.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Schemas } from '../../api/client.ts';
import { Choices, Dialog } from '../../parts/dialog.tsx';
import { counted } from '../../parts/figures.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

interface ResetDialogProps {
  readonly account: Schemas['Account'];
  readonly count: number;
  readonly onClose: () => void;
}

export function ResetDialog({ account, count, onClose }: ResetDialogProps) {
  const queries = useQueryClient();
  const reset = useMutation({
    mutationFn: () =>
      api.POST('/trading/accounts/{id}/simulation/reset', { params: { path: { id: account.id } } }),
    onSuccess() {
      onClose();
      return queries.invalidateQueries({ queryKey: ['positions', account.id] });
    },
  });
  return (
    <Dialog title="Reset the simulated book" onClose={onClose}>
      <p>
        The simulated book of {account.name} becomes flat, as it was at first. Its orders stay in the list.
        Nothing is sent to a broker, and no real position changes.
      </p>
      {reset.isError && <ProblemNote fault={reset.error} />}
      <Choices>
        <button type="button" className="button" disabled={reset.isPending} onClick={() => reset.mutate()}>
          Forget {counted(count, 'simulated position')}
        </button>
        <button type="button" className="button" data-first onClick={onClose}>
          Keep {count === 1 ? 'it' : 'them'}
        </button>
      </Choices>
    </Dialog>
  );
}
