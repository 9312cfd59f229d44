// Where no broker can tell what became of an order, its owner can. Nothing is sent by it, and it is the last word.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Choices, Dialog } from '../../parts/dialog.tsx';
import { figure } from '../../parts/numbers.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useNow } from '../../parts/when.tsx';
import styles from './settle.module.css';
import { isSettleable, openLegOf, readSaid, type Said } from './settleable.ts';

type Order = Schemas['OrderRecord'];

export function Settle({ order }: { readonly order: Order }) {
  const [isOpen, setOpen] = useState(false);
  const now = useNow();
  if (!isSettleable(order, now)) return null;
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        I know what became of it…
      </button>
      {isOpen && <SettleDialog order={order} onClose={() => setOpen(false)} />}
    </>
  );
}

function SettleDialog({ order, onClose }: { readonly order: Order; readonly onClose: () => void }) {
  const { order_id, symbol, broker_name } = order;
  const leg = openLegOf(order);
  const queries = useQueryClient();
  const [outcome, setOutcome] = useState<string>('');
  const [problem, setProblem] = useState<string | null>(null);
  const settle = useMutation({
    mutationFn: (body: Said) =>
      read(api.POST('/trading/orders/{id}/settle', { params: { path: { id: order_id } }, body })),
    async onSuccess() {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['orders'] }),
        queries.invalidateQueries({ queryKey: ['overview'] }),
      ]);
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '');
    const said = readSaid(
      { outcome, price: text('price'), quantity: text('quantity') },
      leg?.quantity ?? null,
    );
    setProblem('problem' in said ? said.problem : null);
    if (!('problem' in said)) settle.mutate(said);
  };
  return (
    <Dialog title="What became of it?" onClose={onClose}>
      <form className={styles.settle} onSubmit={submit}>
        <p>
          {leg ? (
            <>
              Look for <CopyId id={leg.client_order_id} whole /> at {broker_name} first:{' '}
              {leg.leg === 'exit' ? 'the close, ' : ''}
              {leg.side} {figure(leg.quantity)} {symbol}.
            </>
          ) : (
            `Look for it at ${broker_name} first.`
          )}{' '}
          Nothing is sent by this, and it is no longer looked up.
        </p>
        <fieldset>
          <legend className="unseen">What became of it</legend>
          <label>
            <input
              type="radio"
              name="outcome"
              value="filled"
              data-first
              checked={outcome === 'filled'}
              onChange={() => setOutcome('filled')}
            />
            It was filled, or a part of it
          </label>
          {outcome === 'filled' && (
            <div className={styles.fill}>
              <label>
                Quantity
                <input
                  name="quantity"
                  inputMode="decimal"
                  autoComplete="off"
                  defaultValue={leg?.quantity}
                  required
                />
              </label>
              <label>
                Average price
                <input name="price" inputMode="decimal" autoComplete="off" required />
              </label>
            </div>
          )}
          <label>
            <input
              type="radio"
              name="outcome"
              value="not_filled"
              checked={outcome === 'not_filled'}
              onChange={() => setOutcome('not_filled')}
            />
            It was not filled
          </label>
        </fieldset>
        {problem && (
          <p role="alert" className="act">
            {problem}
          </p>
        )}
        {settle.error && <ProblemNote fault={settle.error} />}
        <Choices>
          <button type="submit" className="button primary" disabled={outcome === '' || settle.isPending}>
            {outcome === 'not_filled' ? 'Record that it was not filled' : 'Record the fill'}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Leave it open
          </button>
        </Choices>
      </form>
    </Dialog>
  );
}
