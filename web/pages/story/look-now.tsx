// Asks the broker again, at once. Nothing is sent, and no try is used up.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';

/** A look takes a moment; what it found is read then, stream or not. */
const READ_AFTER_MS = 1_500;

export function LookNow({
  orderId,
  isMain = false,
}: {
  readonly orderId: string;
  readonly isMain?: boolean;
}) {
  const client = useQueryClient();
  const look = useMutation({
    mutationFn: () => read(api.POST('/trading/orders/{id}/look', { params: { path: { id: orderId } } })),
    onSettled: () =>
      setTimeout(
        () => void client.invalidateQueries({ queryKey: ['orders', 'one', orderId] }),
        READ_AFTER_MS,
      ),
  });
  return (
    <>
      <button
        type="button"
        className={isMain ? 'button primary' : 'button'}
        disabled={look.isPending}
        onClick={() => look.mutate()}
      >
        Look now
      </button>
      <span role="status" className="quiet">
        {look.isSuccess && 'Being looked up'}
      </span>
      {look.error && <ProblemNote fault={look.error} />}
    </>
  );
}
