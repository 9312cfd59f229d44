// The one confirmation of an Align. It moves the position to the strategy's, whatever is held by then: asked twice, it does
// nothing the second time.

import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, read, type Schemas } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Unreal, unrealWord } from '../../parts/figures.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import type { Book } from './books.ts';
import styles from './positions.module.css';
import { alignOrder, reasonInWords } from './standing.ts';

interface AlignDialogProps {
  readonly book: Book;
  readonly symbol: string;
  /** As it is now; null: nothing is left of it. */
  readonly position: Schemas['Position'] | null;
  readonly onClose: () => void;
}

export function AlignDialog({ book, symbol, position, onClose }: AlignDialogProps) {
  const { account, simulation } = book;
  const navigate = useNavigate();
  const align = useMutation({
    mutationFn: () =>
      read(
        api.POST('/trading/accounts/{id}/align', {
          params: { path: { id: account.id } },
          body: { symbol, simulation },
        }),
      ),
    onSuccess(order) {
      onClose();
      void navigate({ to: '/orders/$id', params: { id: order.order_id } as never });
    },
  });
  const order = position && alignOrder(position);
  const word = unrealWord({ simulation, broker_name: account.broker, environment: account.environment });
  return (
    <Dialog title={`Align ${symbol}`} onClose={onClose}>
      {order && position ? (
        <p>
          {reasonInWords(position)} {order.says}
        </p>
      ) : (
        <p>It stands where its strategy stands by now: there is nothing to align.</p>
      )}
      <p className={word ? `hatched ${styles.where}` : styles.where}>
        {word ? (
          <>
            <Unreal word={word} /> No real money, on {account.name}.
          </>
        ) : (
          `Real money, on ${account.name}.`
        )}{' '}
        It is an order of its own, and has its own story.
      </p>
      {align.isError && (
        <ProblemNote fault={align.error}>
          {problemOf(align.error).status === 0 &&
            'Asking again is safe: it moves to the same position, and there it stays.'}
        </ProblemNote>
      )}
      <div className={styles.choices}>
        {order && (
          <button
            type="button"
            className="button trade"
            disabled={align.isPending}
            onClick={() => align.mutate()}
          >
            {align.isPending ? 'Sending…' : order.button}
          </button>
        )}
        <button type="button" className="button" data-first onClick={onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  );
}
