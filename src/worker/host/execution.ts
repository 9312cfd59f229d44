// What a user's worker executes orders with: everything that it saves is saved in the name of whoever has the user.

import type { UserId } from '../../domain/ids.ts';
import { hasEnded, type Order } from '../../domain/orders/order.ts';
import { closesFirst } from '../../domain/orders/position.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import type { Execution } from '../lane/execution.ts';
import { equityNotes, judgeGuards } from '../lane/guarding.ts';
import type { Protecting } from '../lane/protecting.ts';
import { RefusedBefore } from '../line/presenting.ts';
import type { WorkerOrders } from '../orders.ts';
import type { WorkerProtections } from '../protections.ts';

interface Owner {
  readonly token: string;
  /** What was read of the account before is no longer so. */
  traded(order: Order): Order;
  /** Throws where another worker has the user. */
  mine<Saved>(order: Order, saved: Saved | 'taken'): Saved;
}

type Given = Pick<Execution, 'connections' | 'counters' | 'tracing' | 'clock' | 'wait' | 'rest' | 'rules'> & {
  readonly protecting: Pick<Protecting, 'see' | 'free' | 'has' | 'hasClosed'>;
  readonly orders: WorkerOrders;
  readonly protections: WorkerProtections;
  readonly log: { warn(context: object, text: string): void };
};

export function executionOf(deps: Given, user: UserId, { token, traded, mine }: Owner): Execution {
  const { orders, protections, log, protecting } = deps;
  return {
    ...deps,
    judge: (entry) => judgeGuards(deps, entry),
    noteEquity: equityNotes(deps),
    monthsUnder: (order) => orders.monthsUnder(order),
    isAgainstRecord: async (order) => {
      const { accountId, brokerName, symbol, simulation, intent } = order;
      if (simulation) return false;
      const reading = Promise.all([orders.heldByRecord(user, accountId), orders.monthsUnder(order)]);
      const read = await reading.catch(() => null);
      if (!read) return null;
      const [held, months] = read;
      // Under a symbol that rolls a month is held.
      const meant = new Set([symbol, ...months].map((name) => canonicalSymbol(brokerName, name)));
      return held.some(
        ([instrument, quantity]) =>
          meant.has(canonicalSymbol(brokerName, instrument)) && closesFirst(intent, quantity),
      );
    },
    forgetMonth: (order, instrument) =>
      void orders
        .forgetMonth(order, instrument)
        .catch((fault: unknown) => log.warn({ fault, user_id: user }, 'a month could not be forgotten')),
    closedBy: async (order, line) =>
      (await protecting.hasClosed(order, line)) ? 'protection' : orders.closedBy(order),
    want: async (order, of) => mine(order, await orders.want(traded(order), token, of)),
    wanted: async ({ accountId, simulation }, { instrument, side }) =>
      (await protections.kept(user, accountId)).find(
        (each) => each.simulation === simulation && each.instrument === instrument && each.side === side,
      ) ?? null,
    save: async (order, options = { settled: false }) =>
      mine(
        order,
        await orders.save(traded(order), token, { ...options, isProtected: protecting.has(order.accountId) }),
      ),
    record(order, sent) {
      const options = { settled: true, isProtected: protecting.has(order.accountId) };
      return orders.recording(traded(order), token, options, sent);
    },
    async saveSending(order, revision) {
      const saved = mine(order, await orders.saveSending(traded(order), token, revision));
      // Another was refused with them, or they were replaced, after this entry was accepted: it is not tried with them.
      if (saved === 'unverified')
        throw new RefusedBefore('the account’s credentials are not verified any more');
      return saved;
    },
    foundGone: new Map(),
    endEntry: (order, why) => orders.endEntry(order, why),
    async saveSeen(order) {
      const isProtected = protecting.has(order.accountId);
      const options = { settled: false, isProtected, isSeen: true };
      const saved = await orders.save(traded(order), token, options);
      if (saved !== 'taken') return saved;
      const current = await orders.find(order.id);
      // A poll that saw less came between: the end that was seen here is the end.
      if (!current || hasEnded(current.status) || !hasEnded(order.status)) return current ?? order;
      const again = await orders.save({ ...order, version: current.version }, token, options);
      return again === 'taken' ? current : again;
    },
  };
}
