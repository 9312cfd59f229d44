// Protective orders that stay at the broker when nobody looks after them any more: they are their owner's to look after.

import { toNumberOrNull } from '../decimal.ts';
import type { Protection } from './protection.ts';

/** One of them, as it is shown. */
export interface LeftOrder {
  readonly symbol: string;
  readonly kind: 'stop' | 'target' | 'entry';
  readonly price: number | null;
  readonly broker_ref: string | null;
}

/** A simulated book has nobody else who looks at it. */
export const leftOrders = ({
  instrument,
  simulation,
  legs,
}: Pick<Protection, 'instrument' | 'simulation' | 'legs'>): readonly LeftOrder[] =>
  simulation
    ? []
    : legs.map(({ limit, stop, brokerRef }) => ({
        symbol: instrument,
        kind: limit === null ? 'stop' : 'target',
        price: toNumberOrNull(limit ?? stop),
        broker_ref: brokerRef,
      }));

/** "a stop at 190 (AAPL), a target at 210 (AAPL)" */
export const leftInWords = (left: readonly LeftOrder[]): string =>
  left
    .map(
      ({ kind, price, symbol }) =>
        `${kind === 'entry' ? 'an' : 'a'} ${kind}${price === null ? '' : ` at ${price}`} (${symbol})`,
    )
    .join(', ');

/** Why nobody looks after them any more. */
export const ACCOUNT_DELETED = 'The account was deleted: what stands at the broker stands.';
