// What can no longer be found out: an exchange that forgets ids is asked too late for an order whose own reference never
// reached us. Only its ledger can say that this is so.

import { type ClientOrderId, millis } from '../src/domain/ids.ts';
import type { Desk } from './desks.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import type { Records } from './records.ts';

/** Between clocks: so much sooner its "no" is no longer believed. */
const APART_MS = 5_000;

/**
 * Client order ids of legs that the exchange had, and has forgotten by its own word; or that it never had, and said so
 * when it could have forgotten them by then: to us that is the same answer.
 */
export function forgottenLegs(
  desks: readonly Desk[],
  { not_found, orders }: ExchangeLedger,
  { legs }: Records,
): Set<string> {
  const remembersMs = new Map<string, number>();
  for (const { trader, traits } of desks)
    if (traits.forgetsIdsAfterMs) remembersMs.set(trader.account.id, traits.forgetsIdsAfterMs.least);
  const known = new Set(orders.map((order) => order.client_order_id));
  const answers = Map.groupBy(not_found, (each) => each.client_order_id);
  return new Set(
    legs
      .filter(({ client_order_id: id, broker_ref, sent_at }) =>
        answers.get(id)?.some(({ at, account, forgotten }) => {
          if (broker_ref !== null || sent_at === null) return false;
          if (known.has(id)) return forgotten;
          return at - millis(sent_at) > (remembersMs.get(account) ?? Number.POSITIVE_INFINITY) - APART_MS;
        }),
      )
      .map((leg) => leg.client_order_id),
  );
}

/** At a broker that takes no ids of ours: legs whose fate it never told us, and nobody can ask for. */
export const namelessLegs = ({ legs }: Records): Set<string> =>
  new Set(
    legs
      .filter(({ status, broker_ref }) => status === 'unknown' && broker_ref === null)
      .map((leg) => leg.client_order_id),
  );

/** The ledger with our ids in it, where the exchange knows our legs by other names. */
export function withOurIds(
  ledger: ExchangeLedger,
  { legs }: Records,
  nameOf: (clientOrderId: ClientOrderId) => string,
): ExchangeLedger {
  const ours = new Map(legs.map(({ client_order_id: id }) => [nameOf(id as ClientOrderId), id]));
  const renamed = <Row extends { readonly client_order_id: string }>(row: Row): Row => {
    const [, name = '', copy = ''] = /^(.*?)(#\d+)?$/.exec(row.client_order_id) ?? [];
    return { ...row, client_order_id: (ours.get(name) ?? name) + copy };
  };
  return {
    ...ledger,
    orders: ledger.orders.map(renamed),
    fills: ledger.fills.map(renamed),
    requests: ledger.requests.map(renamed),
    not_found: ledger.not_found.map(renamed),
  };
}
