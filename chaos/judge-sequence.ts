// Whether an account's orders are executed one at a time, in the order of the signals.

import type { OrderIntent } from '../src/domain/orders/order.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { type Finding, isProtective, type OrderRow, type Records } from './records.ts';
import { nameOfSignal, type Signal } from './signals.ts';

/**
 * Of accounts whose signals come one after the other: they reach the exchange in that order. Only an exit passes what waits
 * patiently before it, and not what is of its own symbol.
 */
export function judgeSequence(
  signals: readonly Signal[],
  rowsFor: (signal: Signal) => readonly OrderRow[],
  { requests }: ExchangeLedger,
  { legs }: Records,
): Finding {
  const arrivals = new Map<string, number>();
  const orderIdOf = new Map(legs.map((leg) => [leg.client_order_id, leg.order_id]));
  for (const request of requests) {
    const order = orderIdOf.get(request.client_order_id);
    if (order && !arrivals.has(order)) arrivals.set(order, request.arrived_at);
    else if (order) arrivals.set(order, Math.min(arrivals.get(order) ?? 0, request.arrived_at));
  }
  const problems: string[] = [];
  let checked = 0;
  for (const [desk, own] of Map.groupBy(signals, (signal) => signal.desk)) {
    if (desk.burst > 1) continue;
    const sent: { signal: Signal; at: number }[] = [];
    for (const signal of own) {
      const [row] = rowsFor(signal);
      const at = row && arrivals.get(row.order_id);
      if (!row || at === undefined) continue;
      checked++;
      const { operation } = JSON.parse(row.intent) as OrderIntent;
      const before = sent.filter(
        (each) => operation === 'PLACE_ENTRY_ORDER' || each.signal.symbol === signal.symbol,
      );
      const passed = before.find((each) => at < each.at);
      if (passed)
        problems.push(
          `${nameOfSignal(signal)} came to the exchange ${passed.at - at} ms before ${nameOfSignal(passed.signal)}, which was sent before it`,
        );
      sent.push({ signal, at });
    }
  }
  return {
    invariant: "an account's orders are sent in the order of the signals",
    kind: 'other',
    checked,
    problems,
  };
}

/**
 * One at a time: between the look at the position that an order was planned on and its first leg, no other order of the
 * account sets out and trades. (One that set out before the look may still be on its way: nobody knows of it.)
 */
export function judgeOverlaps(
  { requests, looks }: ExchangeLedger,
  { orders, legs }: Records,
  firstSent: (order: OrderRow) => number,
): Finding {
  const orderOf = new Map(orders.map((row) => [row.order_id, row]));
  const legOf = new Map(legs.map((leg) => [leg.client_order_id, leg]));
  const looksOf = Map.groupBy(looks, ({ account }) => account);
  const problems: string[] = [];
  let checked = 0;
  // What only protects trades nothing when it is placed.
  const trading = requests.filter(({ client_order_id: id }) => !isProtective(id));
  for (const [account, own] of Map.groupBy(trading, (request) => request.account)) {
    const firsts = new Map<string, (typeof own)[number]>();
    for (const request of own) {
      const order = legOf.get(request.client_order_id)?.order_id;
      // One that a busy exchange turned away, or that did not reach it, may be planned anew.
      const isTurnedAway = request.outcome === 'rejected' && request.code === 'broker_rate_limited';
      const isPlannedAnew = isTurnedAway || request.outcome === 'not_taken';
      if (order && !isPlannedAnew && !firsts.has(order)) firsts.set(order, request);
    }
    const taken = own.filter(({ outcome }) => outcome === 'accepted');
    for (const [order, first] of firsts) {
      const planned = (looksOf.get(account) ?? []).findLast(
        ({ at, asker }) => asker === first.asker && at <= first.arrived_at,
      );
      const accepted = taken.find(({ client_order_id: id }) => id === first.client_order_id);
      const row = orderOf.get(order);
      if (!planned || !accepted || !row) continue;
      // It was planned by another worker, which is gone: this one found its leg and sent it again.
      const isFound = own.some(
        ({ client_order_id: id, asker, seq }) =>
          id === first.client_order_id && asker !== first.asker && seq < first.seq,
      );
      if (isFound || planned.at < firstSent(row)) continue;
      checked++;
      // An exit of something else need not wait for one that rests.
      const mayPass = (other: OrderRow | undefined) =>
        other !== undefined &&
        other.symbol !== row.symbol &&
        (JSON.parse(other.intent) as OrderIntent).operation !== 'PLACE_ENTRY_ORDER';
      const between = taken.filter(({ seq, arrived_at, client_order_id: id }) => {
        const other = legOf.get(id)?.order_id;
        return (
          seq < accepted.seq &&
          arrived_at > planned.at &&
          other !== order &&
          !mayPass(orderOf.get(other ?? ''))
        );
      });
      for (const other of between)
        problems.push(
          `order ${order} of ${account} was planned, then ${other.client_order_id} of ${other.asker} was traded, then its first leg by ${first.asker}`,
        );
    }
  }
  return { invariant: "an account's orders are executed one at a time", kind: 'other', checked, problems };
}
