// A signal's or an order's status, and whether real money is in it.

import type { Schemas } from '../api/client.ts';
import { Mark, Status } from './marks.tsx';
import { unrealWord } from './numbers.ts';

export const unrealOf = (simulation: boolean, account: Schemas['Account'] | undefined): string | null =>
  unrealWord({ simulation, broker_name: account?.broker, environment: account?.environment });

/** A report that traded nothing ended well, as a `done` does. */
export function SignalStatus({ status }: { readonly status: string }) {
  if (status !== 'sync') return <Status status={status} />;
  return (
    <span className="status usual">
      <Mark name="done" />
      sync
    </span>
  );
}
