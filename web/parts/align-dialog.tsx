// The one confirmation of an Align. It moves the position to the strategy's, whatever is held by then: asked twice, it does
// nothing the second time. The order that it names is of what the broker holds now: until that is read, none can be sent.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { positions } from '../api/broker-reads.ts';
import { api, read, type Schemas } from '../api/client.ts';
import { serverNow } from '../api/clock.ts';
import { problemOf } from '../api/problem.ts';
import styles from './align-dialog.module.css';
import { Choices, Dialog } from './dialog.tsx';
import { Unreal, unrealWord } from './figures.tsx';
import { ProblemNote } from './problem-note.tsx';
import { alignOrder, isFresh, positionNow, reasonInWords } from './standing.ts';
import { ageInWords } from './times.ts';
import { useNow } from './when.tsx';

interface AlignDialogProps {
  readonly account: Pick<Schemas['Account'], 'id' | 'name' | 'broker' | 'environment'>;
  readonly symbol: string;
  readonly simulation?: boolean;
  /** Where the strategy stands, by what told of the difference. */
  readonly told?: number | undefined;
  readonly onClose: () => void;
}

export function AlignDialog({ account, symbol, simulation = false, told, onClose }: AlignDialogProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const held = useQuery({ ...positions(account.id, { simulation }), staleTime: 0 });
  const now = useNow();
  const readAt = held.data ? held.dataUpdatedAt + serverNow() - Date.now() : null;
  const canSend = isFresh({ isReading: held.isFetching, readAt }, now);
  const align = useMutation({
    mutationFn: () =>
      read(
        api.POST('/trading/accounts/{id}/align', {
          params: { path: { id: account.id } },
          body: { symbol, simulation },
        }),
      ),
    onSuccess(order) {
      void queries.invalidateQueries({ queryKey: ['overview'] });
      onClose();
      void navigate({ to: '/orders/$id', params: { id: order.order_id } as never });
    },
  });
  const position = held.data ? positionNow(held.data.items, symbol, told) : null;
  const order = position && alignOrder(position);
  const word = unrealWord({ simulation, broker_name: account.broker, environment: account.environment });
  return (
    <Dialog title={`Align ${symbol}`} onClose={onClose}>
      <p>
        {order && position
          ? `${reasonInWords(position)} ${order.says}`
          : held.data
            ? 'By now it stands where its strategy stands: there is nothing to align.'
            : 'What the broker holds is not known yet.'}
      </p>
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
      <p className={styles.age} aria-live="polite">
        {held.isFetching
          ? 'The broker is being asked what it holds.'
          : readAt !== null && !canSend && `Read ${ageInWords(now - readAt)} ago: read it again first.`}
      </p>
      {held.error && !held.isFetching && <ProblemNote fault={held.error} />}
      {align.isError && (
        <ProblemNote fault={align.error}>
          {problemOf(align.error).status === 0 &&
            'Asking again is safe: it moves to the same position, and there it stays.'}
        </ProblemNote>
      )}
      <Choices>
        {order && (
          <button
            type="button"
            className="button trade"
            disabled={!canSend || align.isPending}
            onClick={() => align.mutate()}
          >
            {align.isPending ? 'Sending…' : order.button}
          </button>
        )}
        {!canSend && !held.isFetching && (
          <button type="button" className="button" onClick={() => void held.refetch()}>
            Read the position again
          </button>
        )}
        <button type="button" className="button" data-first onClick={onClose}>
          Leave it
        </button>
      </Choices>
    </Dialog>
  );
}
