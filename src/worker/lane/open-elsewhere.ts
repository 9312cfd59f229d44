// Legs of an account's other orders that are open as far as we know, and what a look at them tells.

import { isOpenLeg, type Leg, type Order, type OrderError } from '../../domain/orders/order.ts';
import { inTheWayOf, isForgotten, type OtherLeg } from '../../domain/orders/other-legs.ts';
import type { Facts } from '../../domain/orders/step.ts';
import { isGone, isOfAnotherLogin, queryOf } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';
import { type TakingBack, takeBack } from './take-back.ts';
import type { Trades } from './trades.ts';

export interface OpenElsewhere extends OtherLeg {
  readonly order: Order;
  readonly instrument: string;
}

export const openElsewhere = (orders: readonly Order[]): OpenElsewhere[] =>
  orders.flatMap((order) =>
    order.legs
      .filter((leg) => isOpenLeg(leg) && leg.sentAt !== null)
      .map((leg) => {
        const instrument = leg.instrument ?? order.symbol;
        return { orderId: order.id, order, leg: { ...leg, instrument }, instrument };
      }),
  );

/**
 * Entries of them that rest are taken back. Those that did not end in time are as they were seen last; those that the account does not
 * have, however they ended, are noted as gone.
 */
export async function takenBack(
  {
    line,
    trades,
    gone,
    ...taking
  }: TakingBack & { readonly line: Line; readonly trades: Pick<Trades, 'seen'>; readonly gone: Set<string> },
  open: readonly OpenElsewhere[],
  which: readonly OtherLeg[],
  why: OrderError,
): Promise<OpenElsewhere[]> {
  const isMeant = ({ orderId }: OtherLeg) => which.some((other) => other.orderId === orderId);
  const rested = open.filter(isMeant).map(({ order }) => order);
  const taken = await takeBack(taking, line, rested, () => why);
  for (const leg of taken.flatMap(({ order }) => order.legs)) trades.seen(leg);
  return open.flatMap((other) => {
    const became = taken.find(({ order }) => order.id === other.orderId);
    const leg = became?.order.legs.find(({ clientOrderId }) => clientOrderId === other.leg.clientOrderId);
    if (!became || !leg) return [other];
    if (became.isElsewhere) gone.add(leg.clientOrderId);
    if (became.isElsewhere && isOpenLeg(leg)) return [];
    const { order, isOutOfReach = false } = became;
    return [{ ...other, order, isOutOfReach, leg: { ...leg, instrument: other.instrument } }];
  });
}

/** As they are saved by now, but for those of which more was seen here: they have ended, or were never received. */
export function refreshed(
  saved: readonly Order[],
  seen: readonly OpenElsewhere[],
  gone: ReadonlySet<string>,
): OpenElsewhere[] {
  const ended = new Map(
    seen.filter(({ leg }) => !isOpenLeg(leg)).map((other) => [other.leg.clientOrderId, other]),
  );
  return openElsewhere(saved)
    .filter(({ leg }) => !gone.has(leg.clientOrderId))
    .map((other) => ended.get(other.leg.clientOrderId) ?? other);
}

interface LookDeps {
  /** Whoever looks, and what its broker has refused it. */
  readonly order: Order;
  readonly opposed: Facts['opposed'];
  readonly line: Line;
  readonly now: number;
  readonly withinMs: number;
  readonly rules: { readonly giveUpMs: number };
  /** A look that had no answer; it may throw. */
  onFault(fault: unknown): null;
  onSeen(leg: Leg): void;
}

/**
 * None: it is gone. Of an entry that waits for its price one look does not say so to whoever cannot stay beside it: as the price is
 * reached it may be in no list for a moment, and it is looked for longer as it is taken back. Nobody else would: to those it is gone.
 */
export async function lookElsewhere(
  { order, opposed, line, now, withinMs, rules, onFault, onSeen }: LookDeps,
  other: OpenElsewhere,
): Promise<OpenElsewhere[]> {
  // Nothing was heard of it for long, and every look costs the broker's patience: it is a person's to settle.
  if (isForgotten(other.leg, now)) return [other];
  const query = queryOf(other.leg, { ...other.order, symbol: other.instrument });
  const state = await line.find(query, withinMs).catch((fault) => onFault(fault) ?? undefined);
  const isKnown = other.leg.ackedAt !== null && !isOfAnotherLogin(other.order, line);
  const mayBeMoving =
    isKnown && other.order.priced !== undefined && inTheWayOf(order, [other], opposed).length > 0;
  if (state === null && !mayBeMoving && isGone(other.order, other.leg, line, now, rules)) return [];
  if (!state) return [other];
  const { status, fillPrice, fillQuantity } = state;
  const leg = { ...other.leg, status, fillPrice, fillQuantity };
  onSeen(leg);
  return [{ ...other, leg }];
}
