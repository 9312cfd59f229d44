// The one confirmation before an entry that rests is taken back. What became of it is said here: a fill may have come first.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { Choices, Dialog } from '../dialog.tsx';
import { minus } from '../exact.ts';
import { figure, Unreal } from '../figures.tsx';
import { ProblemNote } from '../problem-note.tsx';
import styles from './cancel-dialog.module.css';
import { isResting, type Resting, sideOf, unitsOf, whereInWords } from './words.ts';

interface CancelDialogProps {
  readonly order: Resting;
  readonly accountName: string;
  readonly unreal: string | null;
  readonly onClose: () => void;
}

export function CancelDialog({ order, accountName, unreal, onClose }: CancelDialogProps) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      read(api.POST('/trading/orders/{id}/cancel', { params: { path: { id: order.order_id } } })),
    onSuccess(after) {
      if (after.status === 'cancelled' && !after.fill_quantity) onClose();
    },
    // Whatever became of it, it is read anew: stream or not.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['orders', 'resting'] }),
        client.invalidateQueries({ queryKey: ['orders', 'one', order.order_id] }),
      ]),
  });
  const what = `${sideOf(order)} ${figure(unitsOf(order))} ${order.symbol}`;
  const filled = order.fill_quantity ?? 0;
  const isGone = problemOf(cancel.error).code === 'not_resting';
  const isOver = cancel.isSuccess || isGone;
  return (
    <Dialog title={`Cancel ${what}`} leave={isOver ? 'Close' : 'Leave it'} onClose={onClose}>
      <p>
        {filled > 0
          ? `The rest of it (${figure(minus(unitsOf(order), filled))} of ${figure(unitsOf(order))}) no longer waits to ${sideOf(order)} ${whereInWords(order)}. The ${figure(filled)} that were filled stay, with what protects them.`
          : `It no longer waits to ${sideOf(order)} ${whereInWords(order)}. Nothing is traded, and what protects a position stays.`}
      </p>
      <p className={unreal ? `hatched ${styles.where}` : styles.where}>
        {unreal ? (
          <>
            <Unreal word={unreal} /> No real money, on {accountName}.
          </>
        ) : (
          `Real money, on ${accountName}.`
        )}{' '}
        What is filled before the broker has the cancel counts.
      </p>
      <div role="status">{cancel.data && <p>{outcomeOf(cancel.data)}</p>}</div>
      {cancel.error &&
        (isGone ? (
          <p role="status">It no longer rests: its story says what became of it.</p>
        ) : (
          <ProblemNote fault={cancel.error}>
            {problemOf(cancel.error).status === 0 && 'Asking again is safe: it is taken back once.'}
          </ProblemNote>
        ))}
      <Choices>
        {!isOver && (
          <button
            type="button"
            className="button"
            disabled={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            {cancel.isPending ? 'Taking it back…' : `Take it back: ${what}`}
          </button>
        )}
        <button type="button" className="button" data-first onClick={onClose}>
          {isOver ? 'Close' : 'Leave it there'}
        </button>
      </Choices>
    </Dialog>
  );
}

/** Only where it did not simply go. */
function outcomeOf(after: Schemas['OrderResult']): string {
  const filled = after.fill_quantity ?? 0;
  if (after.status === 'filled')
    return `It was filled before it could be cancelled: ${figure(filled)} ${after.symbol}.`;
  if (after.status === 'cancelled')
    return filled > 0
      ? `Taken back. ${figure(filled)} were filled before, and stay.`
      : 'Taken back. Nothing was filled.';
  if (isResting({ limit_price: null, stop_price: null, time_in_force: null, ...after }))
    return 'Asked for. The broker has not confirmed it yet; it is asked again until it has.';
  return `It is ${after.status} now: its story says more.`;
}
