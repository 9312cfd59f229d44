// A signal's or an order's status.

import { Mark, Status } from './marks.tsx';

/** A report that traded nothing ended well, as a `done` does. */
export function SignalStatus({
  status,
  share = null,
}: {
  readonly status: string;
  readonly share?: number | null;
}) {
  if (status !== 'sync') return <Status status={status} share={share} />;
  return (
    <span className="status usual">
      <Mark name="done" />
      sync
    </span>
  );
}
