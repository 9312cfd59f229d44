// What a worker makes of an account's orders that stand `queued` or `executing` in the database, oldest first. A message is
// only a hint that there is one: those before it, whose messages were lost or whose worker died, come first. An order whose
// legs were provably never sent is traded if it is still fresh, a leg that the broker has is adopted, and the rest is
// `expired` or `unknown`: executeOrder decides that from what was saved.

import type { AccountId, OrderId } from '../../domain/ids.ts';
import { namesOf, orderLine } from '../../domain/orders/log-line.ts';
import {
  hasEnded,
  isUnderWay,
  moveTo,
  type Order,
  openLeg,
  sinceAccepted,
} from '../../domain/orders/order.ts';
import { isExit } from '../../domain/orders/patience.ts';
import { traceNames } from '../../domain/tracing.ts';
import type { Unsettled } from '../orders.ts';
import { cancelEntries } from './cancel-entries.ts';
import { executeOrder } from './execute.ts';
import type { Execution } from './execution.ts';
import type { Turn } from './lanes.ts';
import { OrderTaken } from './order-taken.ts';
import { protectPosition } from './protect-order.ts';
import { nextOf, type Resting } from './resting.ts';
import type { Trades } from './trades.ts';

export interface WorkOff {
  /** Up to this order and with it; null: all of them. */
  readonly upTo: OrderId | null;
  readonly turn: Turn;
  /** Orders of the account that wait patiently, beside the lane. */
  readonly resting: Resting;
  /** Of the account, or of its simulated book. `open`: its orders with an open leg, as they stand now. */
  tradesOf(order: Order, open: readonly Order[]): Promise<Trades>;
  /** Before an entry: what has happened to the account's positions is seen to. false: nothing was to be done. */
  protectFirst?(account: AccountId, turn: Turn): Promise<boolean>;
  /** How often each order could not be brought to its end, by this worker. */
  readonly faults: Map<OrderId, number>;
  /** How an order stands when its execution is over. */
  onDone?(order: Order): void;
  /** Between two orders the worker may stop, and while one rests. */
  readonly signal: AbortSignal;
  readonly log: { info(context: object, text: string): void; error(context: object, text: string): void };
}

/** The outcome of the order that it was to go up to; null where that was not among them. */
export async function workOff(
  execution: Execution,
  read: () => Promise<Unsettled>,
  { upTo, turn, resting, tradesOf, protectFirst, faults, onDone, signal, log }: WorkOff,
): Promise<Order | null> {
  const { clock, counters, tracing } = execution;
  const tried = new Set<OrderId>();
  const yielded = new Map<OrderId, number>();
  let { orders, version, guards, revision } = await read();
  const readAgain = async () => {
    ({ orders, version, guards, revision } = await read());
  };
  for (;;) {
    const waiting = orders.filter(
      ({ id, status }) => isUnderWay(status) && !tried.has(id) && !resting.has(id),
    );
    const [first] = waiting;
    if (!first) return null;
    if (signal.aborted) throw new Interrupted();
    const order = nextOf(waiting, resting);
    if (!order) {
      const ahead = resting.inTheWayOf(first);
      await turn.aside(() => stoppable(ahead ?? Promise.resolve()));
      await readAgain();
      continue;
    }
    // What has been opened is protected before more is, and before it is seen what becomes of orders that the broker has. Whoever
    // wants to be out, and is not on the way yet, does not wait for that.
    const times = yielded.get(order.id) ?? 0;
    const waits = !isExit(order) || isAtBroker(order);
    if (waits && times < MOST_YIELDS && (await protectFirst?.(order.accountId, turn))) {
      yielded.set(order.id, times + 1);
      await readAgain();
      continue;
    }
    tried.add(order.id);
    let hasRested = false;
    try {
      if (order.status === 'queued') counters.orderTaken(sinceAccepted(order, clock.now()));
      // Saving bumps the version: a predecessor that still lives can save, and therefore send, nothing more.
      const mine = order.status === 'executing' ? await takeOver(order) : order;
      const task = {
        ...{ order: mine, version, guards, revision },
        others: others(order),
        async now() {
          await readAgain();
          await tradesOf(order, [order, ...others(order)]);
          return { others: others(order), version };
        },
        trades: await tradesOf(order, [order, ...others(order)]),
        rest: (ms: number) => {
          hasRested = true;
          return resting.of(order, () => turn.aside(() => stoppable(execution.rest(ms, signal))));
        },
      };
      const done = await traced(order, () => executionFor(order)(execution, task));
      task.trades.executed(done);
      onDone?.(done);
      // Of one that has ended, whoever saved the end tells.
      if (!hasEnded(done.status)) log.info(orderLine(done, clock.now()), 'order left to fill verification');
      if (order.id === upTo) return done;
      // Others may have had the lane meanwhile.
      if (hasRested) await readAgain();
      else orders = orders.map((other) => (other.id === order.id ? done : other));
    } catch (fault) {
      if (fault instanceof Interrupted) throw fault;
      const times = (faults.get(order.id) ?? 0) + 1;
      faults.set(order.id, times);
      // Those behind it must not trade before it; it is tried again with the next request, or by the rescue.
      if (fault instanceof OrderTaken || order.id === upTo || times < MOST_FAULTS) throw fault;
      log.error({ fault, ...namesOf(order) }, 'an order could not be recovered');
      // What it left is in the database and nowhere else, and the next one is planned on that.
      await readAgain();
    } finally {
      resting.done(order);
    }
  }

  function others(order: Order): Order[] {
    return orders.filter(
      (other) => other.id !== order.id && other.simulation === order.simulation && openLeg(other),
    );
  }

  /** A worker that stops leaves what rests to its successor: all that was learnt is saved. */
  async function stoppable<T>(waiting: Promise<T>): Promise<T> {
    const outcome = await waiting;
    if (signal.aborted) throw new Interrupted();
    return outcome;
  }

  /** The message that this trace came with was about one of them. */
  function traced(order: Order, work: () => Promise<Order>): Promise<Order> {
    if (order.id !== upTo) return tracing.apart(work);
    return tracing.during('execute', traceNames(order), async (span) => {
      const done = await work();
      span.set({ 'fillpath.outcome': done.status });
      return done;
    });
  }

  async function takeOver(order: Order): Promise<Order> {
    const mine = await execution.save(moveTo(order, 'executing'));
    counters.takenOver('order');
    log.info(namesOf(order), 'order taken over');
    return mine;
  }
}

/** Two of them trade nothing. */
export function executionFor({ intent }: Pick<Order, 'intent'>) {
  if (intent.operation === 'PROTECT_POSITION') return protectPosition;
  return intent.operation === 'CANCEL_ENTRIES' ? cancelEntries : executeOrder;
}

/** By its own word: all that is left is to look. */
function isAtBroker(order: Order): boolean {
  const leg = openLeg(order);
  return leg?.status === 'placed' || leg?.status === 'partially_filled';
}

/** A broker may tell of something all the time: an entry is not to wait for ever. */
const MOST_YIELDS = 3;

/** One that fails again and again is our fault, and not to hold back its account for ever. */
const MOST_FAULTS = 5;

/** The worker stops; what it has not come to is left to the next one. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
