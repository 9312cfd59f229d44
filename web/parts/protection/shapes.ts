// What protects a position, as the API says it.

import type { components } from '../../api/schema.ts';

type Schemas = components['schemas'];

export type Protection = Schemas['PositionProtection'];
export type ProtectionState = Protection['state'];
export type Target = Schemas['ProtectionTarget'];
export type ExitReason = NonNullable<Schemas['OrderRecord']['exit_reason']>;

/** Of a position. */
export type Guarded = Pick<Schemas['Position'], 'protection' | 'risk'>;

export const isFilled = ({ quantity, filled }: Pick<Target, 'quantity' | 'filled'>): boolean =>
  filled > 0 && filled >= quantity;

/** Nothing limits what can be lost: the stop is wanted and does not stand, also where nobody can do anything about it. */
export const isBare = (
  protection: Pick<Protection, 'state' | 'unprotected_since'> | null | undefined,
): boolean =>
  protection?.state === 'unprotected' ||
  (protection?.state === 'unwatched' && protection.unprotected_since !== null);

const UNSETTLED: ReadonlySet<ProtectionState> = new Set(['armed', 'suspended', 'unprotected']);
/** A stop is on its way, or is missing: somebody watches. */
export const isUnsettled = ({ protection }: Pick<Guarded, 'protection'>): boolean =>
  protection !== null && UNSETTLED.has(protection.state);
