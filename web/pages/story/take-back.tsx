// What can be done about an entry that rests.

import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { unrealOf } from '../../parts/numbers.ts';
import { useOver } from '../../parts/over.tsx';
import { CancelDialog } from '../../parts/resting/cancel-dialog.tsx';
import { draftOf } from '../../parts/resting/draft.ts';

interface TakeBackProps {
  readonly order: Schemas['OrderRecord'];
  readonly account: Schemas['Account'] | undefined;
}

export function TakeBack({ order, account }: TakeBackProps) {
  const { openTrade } = useOver();
  const [asks, setAsks] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => openTrade(draftOf(order))}>
        Move…
      </button>
      <button type="button" className="button" onClick={() => setAsks(true)}>
        Cancel…
      </button>
      {asks && (
        <CancelDialog
          order={order}
          accountName={account?.name ?? 'a deleted account'}
          unreal={unrealOf(order, account)}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  );
}
