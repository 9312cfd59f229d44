// A signal's or an order's status.

import { Mark, Status } from './marks.tsx';

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
