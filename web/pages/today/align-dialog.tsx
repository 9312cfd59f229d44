// Align asks once more, and says the order: from what the broker holds now, where it answers.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { positions } from '../../api/broker-reads.ts';
import { api, read, type Schemas } from '../../api/client.ts';
import { accounts } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Held, Unreal, unrealWord } from '../../parts/figures.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { alignOrder } from './things.ts';
import styles from './today.module.css';

type Todo = Schemas['Todo'];

export function AlignDialog({ todo, onClose }: { readonly todo: Todo; readonly onClose: () => void }) {
  const { trading_account_id: id = '', symbol = '', strategy_position, broker_position } = todo;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: all } = useQuery(accounts);
  const held = useQuery({ ...positions(id), staleTime: 0 });
  const account = all?.find((one) => one.id === id);
  const name = account?.name ?? 'the account';
  const word = unrealWord({ broker_name: account?.broker, environment: account?.environment });
  const align = useMutation({
    mutationFn: () =>
      read(api.POST('/trading/accounts/{id}/align', { params: { path: { id } }, body: { symbol } })),
    async onSuccess(order) {
      void queries.invalidateQueries({ queryKey: ['overview'] });
      onClose();
      await navigate({ to: '/orders/$id', params: { id: order.order_id } });
    },
  });

  const found = held.isFetching ? undefined : held.data?.items.find((position) => position.symbol === symbol);
  const strategy = found?.strategy_position ?? strategy_position;
  // Nobody holds what the broker does not list.
  const broker = found?.quantity ?? (held.isSuccess ? 0 : broker_position);
  const order =
    strategy === undefined || broker === null || broker === undefined ? null : alignOrder(strategy, broker);
  const isThere = !held.isFetching && held.isSuccess && strategy !== undefined && order === null;

  return (
    <Dialog
      title={
        <>
          Align {symbol} on {name} <Unreal word={word} />
        </>
      }
      onClose={onClose}
    >
      <dl className="rows">
        <div>
          <dt>The strategy stands</dt>
          <dd>
            <Held position={strategy} />
          </dd>
        </div>
        <div>
          <dt>{name} holds</dt>
          <dd aria-live="polite">
            <Held position={broker} />
            <small>
              {held.isFetching
                ? ' as last compared; the broker is being asked'
                : held.isSuccess
                  ? ' as the broker says now'
                  : ' as last compared; the broker does not answer now'}
            </small>
          </dd>
        </div>
      </dl>
      <p className={styles.sentence}>
        {isThere
          ? 'Both are the same now: there is nothing to align.'
          : `${order ? `${order.sentence} ${symbol}` : `What differs in ${symbol} is traded`} at market. ${order?.closesFirst ?? ''} The position is read again before anything is sent.`}
      </p>
      {align.error && <ProblemNote fault={align.error} />}
      <div className={styles.choices}>
        {!isThere && (
          <button
            type="button"
            className="button trade"
            disabled={align.isPending}
            onClick={() => align.mutate()}
          >
            {align.isPending
              ? 'Sending…'
              : order
                ? `${order.sentence} ${symbol} on ${name}`
                : `Align ${symbol} on ${name}`}
          </button>
        )}
        <button type="button" className="button" data-first onClick={onClose}>
          {isThere ? 'Good' : 'Leave it as it is'}
        </button>
      </div>
    </Dialog>
  );
}
