// What positions can lose down to their stops, and which of them have none. What has no stop, or one that nobody has seen to
// stand yet, is never added to what has one.

import { plus } from '../../parts/exact.ts';
import type { Guarded, ProtectionState } from '../../parts/protection/shapes.ts';

export interface Exposure {
  /** Positions whose stop is wanted. */
  readonly stops: number;
  /** Those that the broker shows. */
  readonly standing: number;
  /** Wanted, and not there. */
  readonly unprotected: number;
  /** Of all whose stop is there; null: there is none, or it is not known of one. */
  readonly risk: number | null;
}

/** It was seen at the broker, and nothing has taken it away since. */
const THERE: ReadonlySet<ProtectionState> = new Set(['standing', 'unwatched', 'left']);

export function exposureOf(positions: readonly Guarded[]): Exposure {
  const wanted = positions.flatMap(({ protection, risk }) =>
    protection && protection.stop_loss !== null ? [{ state: protection.state, risk }] : [],
  );
  const count = (state: ProtectionState) => wanted.filter((each) => each.state === state).length;
  const risks = wanted.flatMap(({ state, risk }) => (THERE.has(state) ? [risk] : []));
  return {
    stops: wanted.length,
    standing: count('standing'),
    unprotected: count('unprotected'),
    risk:
      risks.length === 0 || risks.includes(null)
        ? null
        : risks.reduce<number>((sum, risk) => plus(sum, Math.max(0, risk ?? 0)), 0),
  };
}
