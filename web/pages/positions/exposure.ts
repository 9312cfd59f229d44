// What positions can lose down to their stops, and which of them have none. What has no stop is never added to what has one.

import { plus } from '../../parts/exact.ts';
import type { Guarded } from '../../parts/protection/shapes.ts';

export interface Exposure {
  /** Positions whose stop is wanted. */
  readonly stops: number;
  /** Those that the broker shows. */
  readonly standing: number;
  /** Wanted, and not there. */
  readonly unprotected: number;
  /** Of all that have a stop; null: not known of one. */
  readonly risk: number | null;
}

export function exposureOf(positions: readonly Guarded[]): Exposure {
  const wanted = positions.filter(({ protection }) => protection && protection.stop_loss !== null);
  const bare = wanted.filter(({ protection }) => protection?.state === 'unprotected');
  const safe = wanted.filter(({ protection }) => protection?.state !== 'unprotected');
  const risks = safe.map(({ risk }) => risk ?? null);
  return {
    stops: wanted.length,
    standing: wanted.filter(({ protection }) => protection?.state === 'standing').length,
    unprotected: bare.length,
    risk: risks.includes(null)
      ? null
      : risks.reduce<number>((sum, risk) => plus(sum, Math.max(0, risk ?? 0)), 0),
  };
}
