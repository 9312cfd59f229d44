// The manners of an account's exchange, beyond those of the paper engine: what real ones do, and a broker that answers
// with the fill does not.

import type { Capabilities } from '../src/broker/broker.ts';
import { unit } from '../src/broker/paper/market.ts';
import type { Manners } from '../src/broker/paper/rules.ts';

/** From the least up to the most, drawn for each order: the same for the same order. */
export interface Span {
  readonly least: number;
  readonly most: number;
}

export interface Traits {
  /** A second order under a known id is refused, always or while the first is open; otherwise it is a second order. */
  readonly refusesDuplicates: boolean | 'while_open';
  /** Otherwise the word is not heard: a close of more than is held opens the other side. */
  readonly reduceOnly: boolean;
  /** Placing is answered with an id, and the order filled so long after; null: the answer has the fill. */
  readonly fillsAfterMs: Span | null;
  /** So long after it has ended an order is no longer found by its client's id, only by the exchange's; null: for ever. */
  readonly forgetsIdsAfterMs: Span | null;
  /** Whose calls are counted together with this account's; null: nobody's. */
  readonly limits: string | null;
  /** About stops and what rests, where they differ from the broker's. */
  readonly manners?: Partial<Manners>;
  /** In the engine's own language: which stops it says that it keeps, where they are not those of the paper broker. */
  readonly able?: Partial<Pick<Capabilities, 'stop' | 'moves'>>;
}

export const PLAIN: Traits = {
  refusesDuplicates: true,
  reduceOnly: true,
  fillsAfterMs: null,
  forgetsIdsAfterMs: null,
  limits: null,
};

export const drawn = ({ least, most }: Span, what: string, order: string): number =>
  Math.round(least + unit(`${what}:${order}`) * (most - least));
