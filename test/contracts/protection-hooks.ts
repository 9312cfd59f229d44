// What a harness can do to stops and prices at its broker. A hook that is missing skips its cases.

import type { Decimal } from '../../src/domain/decimal.ts';
import type { Side } from '../../src/domain/orders/order.ts';

export interface ProtectionHooks {
  /** The last price of `symbols.platform` from now on, on connections that are open too. */
  setPrice?(price: Decimal): Promise<void> | void;
  /** Every placing and moving of a stop is refused, from the next connection on. */
  refuseStops?(): Promise<void> | void;
  /** Stops are placed and moved, and the answer does not arrive, from the next connection on. */
  loseStopAnswers?(): Promise<void> | void;
  /** Every stop is gone when somebody looks, from the next connection on. */
  vanishStops?(): Promise<void> | void;
  /** The account's owner takes all stops away, at the broker's own pages. */
  removeStopsByHand?(): Promise<void> | void;
  /** The account's owner sets one there; without a quantity for all that is held. */
  foreignStop?(stop: {
    readonly side: Side;
    readonly price: Decimal;
    readonly quantity?: Decimal;
  }): Promise<void> | void;
  /** What the broker itself has of stops that were placed, seen from behind the connector. */
  placedStops?(): Promise<readonly { readonly price: string; readonly triggerBy: string }[]>;
  /** Why the broker takes a stop where nothing is held. */
  readonly takesIdleStops?: string;
  /** Why a stop there does not watch the price that is asked for. */
  readonly watchesOnePrice?: string;
}
