// A stop that does not stand is tried now: it is asked for once more, at the price where it is wanted. A look alone would keep to the
// pauses between two tries.

import { useEffect } from 'react';
import { Problem } from '../../api/problem.ts';
import { useProtect } from './use-protect.ts';

interface TryAgainProps {
  readonly accountId: string;
  readonly symbol: string;
  readonly simulation: boolean;
  /** Where it is wanted; null: that is not known (yet). */
  readonly stop: number | null;
  readonly words: string;
  /** Null: there is none any more. */
  readonly onFault: (fault: unknown) => void;
}

export function TryAgain({ accountId, symbol, simulation, stop, words, onFault }: TryAgainProps) {
  const trying = useProtect(() => {});
  const refusal = trying.data?.status === 'done' ? null : trying.data?.error;
  const { error } = trying;
  useEffect(() => {
    onFault(
      error ??
        (refusal
          ? new Problem({ title: 'Not tried', detail: refusal.message, code: refusal.code }, 409)
          : null),
    );
  }, [error, refusal, onFault]);
  return (
    <button
      type="button"
      className="button"
      disabled={stop === null || trying.isPending}
      onClick={() =>
        stop !== null && trying.mutate({ trading_account_id: accountId, symbol, simulation, stop_loss: stop })
      }
    >
      {trying.isPending ? 'Trying…' : words}
    </button>
  );
}
