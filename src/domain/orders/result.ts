// How an order is shown: the OrderResult that answers a signal, and the order_history record. Decimals become JSON
// numbers here and nowhere else.

import { type Decimal, subtract, toNumber, toNumberOrNull } from '../decimal.ts';
import type { Timestamp } from '../ids.ts';
import { isHalfDone } from './half-done.ts';
import { type ExitOrderResult, type Leg, legOf, mainLeg, type Order, type OrderError } from './order.ts';
import { REJECTIONS } from './rejection.ts';

export type OrderResult = ReturnType<typeof orderResult>;
export type OrderSummary = ReturnType<typeof orderSummary>;
export type OrderRecord = ReturnType<typeof orderRecord>;

export interface Verification {
  readonly state: 'none' | 'scheduled' | 'done' | 'dead_letter';
  readonly attempts: number;
  readonly next_at: Timestamp | null;
}

export function orderResult(order: Order) {
  const main = mainLeg(order);
  return {
    order_id: order.id,
    status: order.status,
    simulation: order.simulation,
    source: order.source,
    trading_account_id: order.accountId,
    broker_name: order.brokerName,
    symbol: order.symbol,
    action: order.action,
    operation: order.intent.operation,
    order_type: order.orderType,
    quantity: toNumber(order.quantity),
    broker_refs: brokerRefs(order),
    fill_price: toNumberOrNull(main?.fillPrice ?? null),
    fill_quantity: toNumberOrNull(main?.fillQuantity ?? null),
    market_position: order.notes.marketPosition,
    target: toNumberOrNull(order.intent.target?.position ?? null),
    gap: order.notes.gap,
    ignored: order.notes.ignored,
    price: toNumberOrNull(order.notes.price),
    slippage: toNumberOrNull(slippage(order)),
    auto_exit: order.autoExit,
    exit_quantity: toNumberOrNull(exitQuantity(order)),
    position_before: toNumberOrNull(order.positionBefore),
    exit_order_result: exitOrderResult(order),
    half_done: isHalfDone(order),
    settled_by: order.settledBy ?? null,
    error: explained(order.error),
    submitted_at: order.submittedAt,
    filled_at: order.filledAt,
    trace: order.trace,
  };
}

/** With what to do about it. */
export const explained = (error: OrderError | null) =>
  error && { ...error, advice: REJECTIONS[error.code].advice };

/** What an order itself does not say. */
export interface Beside {
  readonly verification: Verification;
  /** Whether its account trades real money. */
  readonly isRealAccount: boolean;
}

export function orderRecord(order: Order, beside: Beside) {
  return {
    ...orderSummary(order, beside),
    trace: order.trace,
    legs: order.legs.map((leg) => ({
      leg: leg.leg,
      client_order_id: leg.clientOrderId,
      broker_ref: leg.brokerRef,
      side: leg.side,
      quantity: toNumber(leg.quantity),
      status: leg.status,
      fill_price: toNumberOrNull(leg.fillPrice),
      fill_quantity: toNumberOrNull(leg.fillQuantity),
      fee: toNumberOrNull(leg.fee),
      sent_at: leg.sentAt,
      acked_at: leg.ackedAt,
      filled_at: leg.filledAt,
    })),
  };
}

/** The record as it stands in a list. */
export function orderSummary(order: Order, { verification, isRealAccount }: Beside) {
  const { trace: _, ...result } = orderResult(order);
  return {
    user_id: order.userId,
    ...result,
    real_money: isRealAccount && !order.simulation,
    deadline_at: order.deadlineAt,
    guards: order.guards,
    verification,
  };
}

/** In units of the price; below zero: worse for the user than the price that the signal saw. */
export function slippage({
  notes: { price },
  legs,
}: Pick<Order, 'notes'> & { readonly legs: readonly Pick<Leg, 'side' | 'fillPrice'>[] }): Decimal | null {
  // Of the last leg: it is what the order is about.
  const { side, fillPrice = null } = legs.at(-1) ?? {};
  if (price === null || fillPrice === null) return null;
  return side === 'buy' ? subtract(price, fillPrice) : subtract(fillPrice, price);
}

export const brokerRefs = (order: Order): string[] =>
  order.legs.map((leg) => leg.brokerRef).filter((ref) => ref !== null);

const reversalClose = (order: Order): Leg | undefined => (order.autoExit ? legOf(order, 'exit') : undefined);

export const exitQuantity = (order: Order) => reversalClose(order)?.quantity ?? null;

export function exitOrderResult(order: Order): ExitOrderResult | null {
  const close = reversalClose(order);
  if (!close) return null;
  return {
    status: close.status,
    client_order_id: close.clientOrderId,
    broker_ref: close.brokerRef,
    quantity: toNumber(close.quantity),
    fill_price: toNumberOrNull(close.fillPrice),
    fill_quantity: toNumberOrNull(close.fillQuantity),
    error: explained(order.exitError),
  };
}
