// The same in simulation, after saying what that is. Never again in earnest: a trade is not retried from here.

import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { newKey } from '../../parts/new-key.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { countedInWords } from '../../parts/sizes.ts';
import type { Wish } from './rehearsable.ts';
import styles from './story.module.css';

export function Rehearse({
  wish,
  account,
  onClose,
}: {
  readonly wish: Wish;
  readonly account: Schemas['Account'] | undefined;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  // One wish is one order, however often it is clicked or sent again.
  const [key] = useState(() => newKey());
  const { trading_account_id, action, symbol, quantity, quantity_type, order_type } = wish;
  const isUnits = quantity_type === 'units';
  const size = quantity === null ? '' : `${countedInWords(quantity, quantity_type)}${isUnits ? '' : ' of'} `;
  const words = `${action.replaceAll('_', ' ')} ${size}${symbol}`;
  const rehearse = useMutation({
    mutationFn: () =>
      read(
        api.POST('/trading/order', {
          params: { header: { 'Idempotency-Key': key } },
          body: {
            trading_account_id,
            action,
            symbol,
            simulation: true,
            ...(quantity !== null && { quantity }),
            ...(quantity !== null && !isUnits && { quantity_type }),
            ...(order_type !== null && { order_type }),
          },
        }),
      ),
    onSuccess: ({ order_id }) => void navigate({ to: `/orders/${order_id}` }),
  });
  return (
    <Dialog title="Rehearse in simulation" onClose={onClose}>
      <p>
        Sends <b>{words}</b> to the simulated book{account && <> of {account.name}</>}, as it stands now. No
        real money is involved, and nothing is sent to the broker.
      </p>
      {wish.hadTarget && (
        <p className={styles.aside}>
          The signal also said where the strategy stands, which decided its order. A rehearsal by hand goes by
          action and quantity alone; the curl on this page rehearses the whole message.
        </p>
      )}
      {rehearse.error && <ProblemNote fault={rehearse.error} />}
      <p className={styles.choices}>
        <button type="button" className="button" onClick={onClose} data-first>
          Leave it
        </button>
        <button
          type="button"
          className="button trade"
          disabled={rehearse.isPending}
          onClick={() => rehearse.mutate()}
        >
          {`${words.charAt(0).toUpperCase()}${words.slice(1)} in simulation`}
        </button>
      </p>
    </Dialog>
  );
}
