// Users spread over the hosts that are there: one that has many more than another gives some away.

import type { HostState } from './roster.ts';

/** Less than this, or than this part of its own, is no reason to move anybody. */
const LEAST_GAP = 4;
const TOLERATED = 0.2;
/** At a time: whoever moves is claimed anew, and connects anew to the broker. */
const MOST = 20;

/** How many users to give to which host; null: it is fair enough. `isCut`: one that is of no use to any of them. */
export function surplus(
  mine: number,
  others: readonly Pick<HostState, 'id' | 'workers' | 'draining'>[],
  { isCut = false } = {},
): { readonly to: string; readonly users: number } | null {
  const [emptiest] = others.filter(({ draining }) => !draining).toSorted((a, b) => a.workers - b.workers);
  if (!emptiest || mine === 0) return null;
  if (isCut) return { to: emptiest.id, users: Math.min(mine, MOST) };
  const gap = mine - emptiest.workers;
  if (gap <= Math.max(LEAST_GAP, mine * TOLERATED)) return null;
  return { to: emptiest.id, users: Math.min(Math.floor(gap / 2), MOST) };
}
