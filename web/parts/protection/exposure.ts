// What positions can lose down to their stops, and which of them have none. What has no stop, or one that nobody has seen to
// stand yet, is never added to what has one.

import { plus } from '../exact.ts';
import { type Guarded, isBare, type ProtectionState } from './shapes.ts';

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
    protection && protection.stop_loss !== null
      ? [{ state: protection.state, isBare: isBare(protection), risk }]
      : [],
  );
  const risks = wanted.flatMap((each) => (THERE.has(each.state) && !each.isBare ? [each.risk] : []));
  return {
    stops: wanted.length,
    standing: wanted.filter(({ state }) => state === 'standing').length,
    unprotected: wanted.filter((each) => each.isBare).length,
    risk:
      risks.length === 0 || risks.includes(null)
        ? null
        : risks.reduce<number>((sum, risk) => plus(sum, Math.max(0, risk ?? 0)), 0),
  };
}
