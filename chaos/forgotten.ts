// What can no longer be found out: an exchange that forgets ids is asked too late for an order whose own reference never
// reached us. Only its ledger can say that this is so.

import { millis } from '../src/domain/ids.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import type { Records } from './records.ts';
import type { Desk } from './traffic.ts';

/** So often a "no" was heard while it could still be believed, that the order should have come to its end by it. */
const ENOUGH = 3;
/** As the cluster's settings have it: what is not there so long after it was sent never comes. */
const GIVE_UP_MS = 8_000;
/** Between clocks. */
const APART_MS = 6_000;

/** Client order ids of legs that the exchange had and forgot, or never had and was not asked about in time. */
export function forgottenLegs(
  desks: readonly Desk[],
  { not_found, orders }: ExchangeLedger,
  { legs }: Records,
): Set<string> {
  const forgets = new Map<string, number>();
  for (const { trader, traits } of desks)
    if (traits.forgetsIdsAfterMs) forgets.set(trader.account.id, traits.forgetsIdsAfterMs.least);
  const known = new Set(orders.map((order) => order.client_order_id));
  const answers = Map.groupBy(not_found, (each) => each.client_order_id);
  return new Set(
    legs
      .filter(({ client_order_id: id, broker_ref, sent_at }) => {
        const said = answers.get(id) ?? [];
        if (broker_ref !== null || sent_at === null) return false;
        if (known.has(id)) return said.some(({ forgotten }) => forgotten);
        const inTime = said.filter(({ at, account }) => {
          const age = at - millis(sent_at);
          return age > GIVE_UP_MS && age < (forgets.get(account) ?? Number.POSITIVE_INFINITY) - APART_MS;
        });
        return said.some(({ account }) => forgets.has(account)) && inTime.length < ENOUGH;
      })
      .map((leg) => leg.client_order_id),
  );
}
