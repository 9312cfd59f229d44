// What a worker makes of an order that was accepted: its reply, or, where that was lost, what it saved.

import type { Db } from '../../data/engine/db.ts';
import { findOrder } from '../../data/orders/orders.ts';
import type { OrderId } from '../../domain/ids.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import { hasEnded, type Order } from '../../domain/orders/order.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';

export interface AnswerDeps {
  readonly db: Db;
  readonly mailbox: Pick<Mailbox, 'ask'>;
  readonly log: { warn(context: object, text: string): void };
  readonly responseWaitMs: number;
}

/** The worker's word, by its reply or, where that was lost, by what it saved; null: not in time. */
export async function answerOf(deps: AnswerDeps, order: Order): Promise<Order | 'not_queued' | null> {
  const { db, mailbox, log, responseWaitMs } = deps;
  const saved = lookForEnd(db, order.id);
  try {
    const reply = mailbox.ask(
      order.userId,
      { kind: 'execute', orderId: order.id, accountId: order.accountId },
      responseWaitMs,
    );
    return await Promise.race([reply, saved.order]);
  } catch (fault) {
    // The order stands in the database: it will be found there and executed, or expire, where nobody takes it back.
    log.warn({ fault, ...namesOf(order) }, 'the order could not be queued');
    return fault instanceof StoreUnavailable ? 'not_queued' : null;
  } finally {
    saved.stop();
  }
}

const LOOK_EVERY_MS = 1_000;

/** How the order stands when its worker is done with it. A worker that died may have been followed by another. */
function lookForEnd(db: Db, id: OrderId): { readonly order: Promise<Order>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<Order>();
  let isOver = false;
  let timer = setTimeout(look, LOOK_EVERY_MS);
  async function look(): Promise<void> {
    const order = await findOrder(db, id).catch(() => null);
    // A worker that has its acknowledgement may still wait for the fill.
    if (order && (hasEnded(order.status) || 'answered' in order.trace)) resolve(order);
    else if (!isOver) timer = setTimeout(look, LOOK_EVERY_MS);
  }
  return {
    order: promise,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
