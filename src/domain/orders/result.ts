// How an order is shown: the OrderResult that answers a signal, and the order_history record. Decimals become JSON
// numbers here and nowhere else.

import {
  absolute,
  add,
  average,
  type Decimal,
  multiply,
  sign,
  smaller,
  subtract,
  toNumber,
  toNumberOrNull,
  ZERO,
} from '../decimal.ts';
import type { Timestamp } from '../ids.ts';
import type { Protection } from '../protection/protection.ts';
import { protectionOf } from '../protection/shown.ts';
import { isHalfDone } from './half-done.ts';
import type { ExitOrderResult, Leg, Order, OrderError } from './order.ts';
import { REJECTIONS } from './rejection.ts';
import type { Sizing } from './sizing.ts';

export type OrderResult = ReturnType<typeof orderResult>;
export type OrderSummary = ReturnType<typeof orderSummary>;
export type OrderRecord = ReturnType<typeof orderRecord>;

export interface Verification {
  readonly state: 'none' | 'scheduled' | 'done' | 'dead_letter';
  readonly attempts: number;
  readonly next_at: Timestamp | null;
}

/** `protection`: the one that its wish has become. Of an order that has nothing to do with one, no word is said. */
export function orderResult(order: Order, protection: Protection | null = null) {
  const isAbout = order.wish !== undefined || order.exitReason !== undefined;
  return {
    ...plainResult(order),
    ...(isAbout ? aboutProtection(order, protection) : {}),
    ...(order.sizing ? aboutSize(order) : {}),
    ...(order.groupId === undefined ? {} : { group_id: order.groupId }),
    ...(order.priced ? aboutPrice(order) : {}),
  };
}

const aboutPrice = ({ priced }: Order) => ({
  limit_price: toNumberOrNull(priced?.limit ?? null),
  stop_price: toNumberOrNull(priced?.stop ?? null),
  time_in_force: priced?.timeInForce ?? null,
  expires_at: priced?.expiresAt ?? null,
});

const aboutSize = (order: Order) => ({
  quantity_type: order.sizing?.type ?? 'units',
  sizing: order.sizing ? shownSizing(order.sizing, order) : null,
});

/** Of an exit, what was held at most. */
const unitsShown = ({ units }: Sizing, { intent, positionBefore }: Order): Decimal | null =>
  units !== null && positionBefore !== null && intent.operation === 'PLACE_EXIT_ORDER' && !intent.target
    ? smaller(units, absolute(positionBefore))
    : units;

export const shownSizing = (sizing: Sizing, order: Order) => ({
  ...shownAmounts(sizing),
  units: toNumberOrNull(unitsShown(sizing, order)),
  text: sizing.text,
});

const shownAmounts = ({ type, asked, factor, price, equity, stop }: Sizing) => ({
  quantity_type: type,
  asked: toNumber(asked),
  factor: toNumber(factor),
  price: toNumberOrNull(price),
  equity: toNumberOrNull(equity),
  stop: toNumberOrNull(stop),
});

const aboutProtection = (order: Order, protection: Protection | null) => ({
  exit_reason: order.exitReason ?? null,
  caused_by: order.causedBy ?? null,
  unprotected_ms: order.unprotectedMs ?? null,
  protection: protectionOf(order, protection),
});

function plainResult(order: Order) {
  const fill = fillOf(order);
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
    fill_price: toNumberOrNull(fill.price),
    fill_quantity: toNumberOrNull(fill.quantity),
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
  /** What its wish has become; null: nothing yet, or it has none. */
  readonly protection: Protection | null;
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
export function orderSummary(order: Order, { verification, isRealAccount, protection }: Beside) {
  const { trace: _, ...result } = plainResult(order);
  return {
    user_id: order.userId,
    ...result,
    ...aboutProtection(order, protection),
    ...aboutSize(order),
    group_id: order.groupId ?? null,
    ...aboutPrice(order),
    entry_id: order.priced?.id ?? null,
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
}: Pick<Order, 'notes'> & {
  readonly legs: readonly Pick<Leg, 'leg' | 'side' | 'fillPrice' | 'fillQuantity'>[];
}): Decimal | null {
  const { price: fillPrice } = fillOf({ legs });
  if (price === null || fillPrice === null || isOfBothSides(legs)) return null;
  return legs.at(-1)?.side === 'buy' ? subtract(price, fillPrice) : subtract(fillPrice, price);
}

interface Fill {
  readonly price: Decimal | null;
  readonly quantity: Decimal | null;
}

type FilledLeg = Pick<Leg, 'leg' | 'side' | 'fillPrice' | 'fillQuantity'>;

const hasFill = ({ fillQuantity }: Pick<Leg, 'fillQuantity'>): boolean =>
  fillQuantity !== null && sign(fillQuantity) > 0;

/** It has closed what was held, and what an order before it had turned to the other side meanwhile. */
const isOfBothSides = (legs: readonly FilledLeg[]): boolean =>
  legs.every(({ leg }) => leg === 'exit') && new Set(legs.filter(hasFill).map(({ side }) => side)).size > 1;

/** Of what the order is about: its entry, or all of its exits; of exits on both sides, those on the first one. */
export function fillOf({ legs }: { readonly legs: readonly FilledLeg[] }): Fill {
  const name = legs.at(-1)?.leg;
  const own = legs.filter(({ leg }) => leg === name);
  return together(isOfBothSides(own) ? own.filter(({ side }) => side === own.find(hasFill)?.side) : own);
}

function together(legs: readonly Pick<Leg, 'fillPrice' | 'fillQuantity'>[]): Fill {
  const known = legs.filter(hasFill);
  const last = known.length > 0 ? known.at(-1) : legs.at(-1);
  if (known.length < 2 || !last)
    return { price: last?.fillPrice ?? null, quantity: last?.fillQuantity ?? null };
  const quantity = known.reduce<Decimal>((sum, leg) => add(sum, leg.fillQuantity ?? ZERO), ZERO);
  const value = known.reduce<Decimal>(
    (sum, leg) => add(sum, multiply(leg.fillPrice ?? ZERO, leg.fillQuantity ?? ZERO)),
    ZERO,
  );
  return { price: average(value, quantity), quantity };
}

export const brokerRefs = (order: Order): string[] =>
  order.legs.map((leg) => leg.brokerRef).filter((ref) => ref !== null);

/** Of a reversal, in the order of sending: mostly there is one. */
const reversalCloses = ({ autoExit, legs }: Order): readonly Leg[] =>
  autoExit ? legs.filter(({ leg }) => leg === 'exit') : [];

/** One in whose place another was planned, because the broker never got it or refused it, asked for the same. */
const asked = (closes: readonly Leg[]): Decimal =>
  closes.reduce<Decimal>((sum, { quantity, fillQuantity, instrument }, index) => {
    const isReplaced = closes.slice(index + 1).some((later) => later.instrument === instrument);
    return add(sum, isReplaced ? (fillQuantity ?? ZERO) : quantity);
  }, ZERO);

export function exitQuantity(order: Order): Decimal | null {
  const closes = reversalCloses(order);
  return closes.length > 0 ? asked(closes) : null;
}

export function exitOrderResult(order: Order): ExitOrderResult | null {
  const closes = reversalCloses(order);
  const close = closes.at(-1);
  if (!close) return null;
  const fill = together(closes);
  return {
    status: close.status,
    client_order_id: close.clientOrderId,
    broker_ref: close.brokerRef,
    quantity: toNumber(asked(closes)),
    fill_price: toNumberOrNull(fill.price),
    fill_quantity: toNumberOrNull(fill.quantity),
    error: explained(order.exitError),
  };
}
