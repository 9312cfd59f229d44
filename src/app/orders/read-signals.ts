// What a user can see of what arrived at their webhooks.

import type { Db } from '../../data/engine/db.ts';
import type { SignalFilter } from '../../data/orders/signal-search.ts';
import { findSignal, type ListedSignal, listSignals } from '../../data/orders/signals.ts';

export type { SignalFilter };

import { toNumberOrNull } from '../../domain/decimal.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, type UserId } from '../../domain/ids.ts';
import { fillOf, slippage } from '../../domain/orders/result.ts';
import { verdictsUpTo } from '../../domain/signals/webhook-checks.ts';
import { onePage, type PageRequest, pageOf } from '../pages.ts';

export async function readSignals(
  { db }: { db: Db },
  user: UserId,
  { filter, ...page }: PageRequest & { readonly filter: SignalFilter },
) {
  const { found, lookedBackTo } = await listSignals(db.lists, user, { filter, ...onePage(page) });
  const shown = pageOf(found, page, showSignal);
  return { ...shown, next_cursor: shown.next_cursor ?? lookedBackTo };
}

/** In a wrapping of its own: a refused signal has a code and a detail too, and is no denial. */
export async function readSignal(
  { db }: { db: Db },
  user: UserId,
  id: string,
): Promise<Denial | { readonly signal: object }> {
  const found = isUuid(id) ? await findSignal(db.lists, user, id) : null;
  if (!found) return deny('not_found', { detail: 'You have no such signal.' });
  const { message, understood, ignored, refusedBy, detail } = found.signal;
  const checks = verdictsUpTo(refusedBy, detail);
  return { signal: { ...showSignal(found), message, understood, ignored, checks } };
}

export type ShownSignal = ReturnType<typeof showSignal>;

const showSignal = ({ signal, order, quantityType, groupId, members, isRealAccount }: ListedSignal) => ({
  id: signal.id,
  arrived_at: signal.arrivedAt,
  trading_account_id: signal.accountId,
  simulation: signal.simulation,
  real_money: isRealAccount && !signal.simulation,
  symbol: signal.symbol,
  action: signal.action,
  quantity: toNumberOrNull(signal.quantity),
  quantity_type: quantityType,
  outcome: signal.outcome,
  code: signal.code,
  detail: signal.detail,
  order_id: signal.orderId,
  order_status: order?.status ?? null,
  position_before: toNumberOrNull(order?.positionBefore ?? null),
  fill_price: toNumberOrNull(order && fillOf(order).price),
  slippage: toNumberOrNull(order && slippage(order)),
  group_id: groupId,
  orders: members.map(({ accountId, orderId, code, detail }) => ({
    trading_account_id: accountId,
    order_id: orderId,
    ...{ code, detail },
  })),
  total_ms: order ? (order.trace.answered ?? null) : signal.totalMs,
  ip_address: signal.ip,
});
