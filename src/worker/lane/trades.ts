// What an account should hold by our own fills of a moment ago, which the broker's positions may not show yet.

import { add, type Decimal, negate, sign, subtract, ZERO } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import type { Leg } from '../../domain/orders/order.ts';

/** What this account should hold of an instrument, by what this worker has read and seen filled. */
export interface Trades {
  /** An order was planned on this position, in which the fills of these legs are, as far as they are known. */
  planned(instrument: string, position: Decimal, open: readonly Leg[]): void;
  /** As it was seen, by whomever and however often: only what is new counts. */
  seen(leg: Leg): void;
  /** null: nothing was filled a moment ago. */
  expected(instrument: string): Decimal | null;
  /** The same of every instrument where something was. */
  recent(): readonly (readonly [instrument: string, position: Decimal])[];
}

/** A broker's positions may lag so far behind its fills. */
const RECENT_MS = 5_000;

interface Known {
  readonly position: Decimal;
  readonly tradedAt: number;
  /** How much of each leg is in the position. */
  readonly counted: ReadonlyMap<ClientOrderId, Decimal>;
}

export function recentTrades(now: () => number = () => performance.now()): Trades {
  const known = new Map<string, Known>();
  const filledOf = ({ fillQuantity }: Leg): Decimal => fillQuantity ?? ZERO;
  const isRecent = ({ tradedAt }: Known) => now() - tradedAt < RECENT_MS;
  return {
    planned(instrument, position, open) {
      const counted = new Map(open.map((leg) => [leg.clientOrderId, filledOf(leg)]));
      known.set(instrument, { position, tradedAt: Number.NEGATIVE_INFINITY, counted });
    },
    seen(leg) {
      const before = leg.instrument === null ? undefined : known.get(leg.instrument);
      const more = subtract(filledOf(leg), before?.counted.get(leg.clientOrderId) ?? ZERO);
      if (leg.instrument === null || !before || sign(more) <= 0) return;
      known.set(leg.instrument, {
        position: add(before.position, leg.side === 'buy' ? more : negate(more)),
        tradedAt: now(),
        counted: new Map(before.counted).set(leg.clientOrderId, filledOf(leg)),
      });
    },
    expected(instrument) {
      const last = known.get(instrument);
      return last && isRecent(last) ? last.position : null;
    },
    recent: () =>
      [...known].filter(([, last]) => isRecent(last)).map(([symbol, { position }]) => [symbol, position]),
  };
}
