// Orders of an account that wait patiently: for an entry that is not settled, a broker that is away, a position that lags. They have the
// account's lane no longer, and are still in front of what came after them; only exits of something else pass.

import type { OrderId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { isExit } from '../../domain/orders/patience.ts';
import { EVERY_SYMBOL } from '../../domain/orders/resting.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';

type Traded = Pick<Order, 'symbol' | 'brokerName'>;

export interface Resting {
  /** It is in somebody's hands already. */
  has(id: OrderId): boolean;
  /** When the first of those that the order must wait for has ended; null: it waits for none. */
  inTheWayOf(order: Order): Promise<void> | null;
  /** It rests until this has come. */
  of<T>(order: Order, wait: () => Promise<T>): Promise<T>;
  /** Its execution is over, however it ended. */
  done(order: Order): void;
}

/**
 * Of what waits, the oldest first: nothing trades before one that came earlier, but an exit of something else, which is not to stay in its
 * position for that. What is closed because it cannot be protected comes before everything that it need not wait for. A simulated order,
 * for which anybody needs nothing but the URL, comes after all real ones.
 */
export function nextOf(waiting: readonly Order[], resting: Pick<Resting, 'inTheWayOf'>): Order | undefined {
  const free = waiting.filter(
    (each, index) =>
      !resting.inTheWayOf(each) && !waiting.slice(0, index).some((earlier) => isBehind(each, earlier)),
  );
  const inEarnest = free.filter(({ simulation }) => !simulation);
  const next = inEarnest.length > 0 ? inEarnest : free;
  return next.find(({ source }) => source === 'protection') ?? next[0];
}

/** Of two orders of one account: the later one has to wait for the earlier. Only an exit of something else does not. */
const isBehind = (order: Order, earlier: Order): boolean =>
  earlier.simulation === order.simulation &&
  (!isExit(order) || (isOfSame(order, earlier) && !isTakenBackAnyway(order, earlier)));

/** Whoever exits takes back what rests by himself, and does not wait for one who asked for that alone. */
const isTakenBackAnyway = (order: Order, earlier: Order): boolean =>
  earlier.intent.operation === 'CANCEL_ENTRIES' && order.intent.operation !== 'CANCEL_ENTRIES';

/** What is taken back everywhere is about everything. */
export const isOfSame = (a: Traded, b: Traded): boolean =>
  a.symbol === EVERY_SYMBOL ||
  b.symbol === EVERY_SYMBOL ||
  canonicalSymbol(a.brokerName, a.symbol) === canonicalSymbol(b.brokerName, b.symbol);

export function createResting(): Resting {
  const inHand = new Map<OrderId, { readonly order: Order; readonly over: PromiseWithResolvers<void> }>();
  return {
    has: (id) => inHand.has(id),
    inTheWayOf(order) {
      const ahead = [...inHand.values()].filter(({ order: other }) => isBehind(order, other));
      return ahead.length === 0 ? null : Promise.race(ahead.map(({ over }) => over.promise));
    },
    of(order, wait) {
      if (!inHand.has(order.id)) inHand.set(order.id, { order, over: Promise.withResolvers() });
      return wait();
    },
    done({ id }) {
      inHand.get(id)?.over.resolve();
      inHand.delete(id);
    },
  };
}
