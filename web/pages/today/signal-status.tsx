// The status of a signal: its order's, or what became of it without one.

import type { Schemas } from '../../api/client.ts';
import { Mark, Status } from '../../parts/marks.tsx';

export function SignalStatus({
  signal: { outcome, order_status },
}: {
  readonly signal: Pick<Schemas['SignalSummary'], 'outcome' | 'order_status'>;
}) {
  const status = order_status ?? outcome;
  if (status !== 'sync') return <Status status={status} />;
  // A report that traded nothing ended well, as a `done` does.
  return (
    <span className="status usual">
      <Mark name="done" />
      sync
    </span>
  );
}
