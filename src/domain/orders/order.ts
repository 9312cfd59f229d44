// What an order is: its words, its statuses and the one table of how a status may change.

import { hash } from 'node:crypto';
import type { BrokerName } from '../brokers.ts';
import { type Decimal, ZERO } from '../decimal.ts';
import {
  type AccountId,
  type ClientOrderId,
  type GroupId,
  millis,
  type OrderId,
  type Timestamp,
  type UserId,
} from '../ids.ts';
import type { ExitReason } from '../protection/protection.ts';
import type { OrderWish } from '../protection/wish.ts';
import type { Direction, Side } from '../side.ts';
import type { StanceSide } from '../signals/strategy.ts';
import type { Priced } from './priced.ts';
import type { Sizing } from './sizing.ts';

export type { Direction, Side };

export const ACTIONS = [
  'buy',
  'sell',
  'close_long',
  'close_short',
  'long_entry',
  'long_exit',
  'short_entry',
  'short_exit',
  'close',
  'sync',
  /** Sets, moves and removes what protects a position. */
  'protect',
  /** Takes back entries that rest. */
  'cancel',
] as const;
export type Action = (typeof ACTIONS)[number];

export const ORDER_TYPES = ['entry', 'exit'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

/** Where an order is to bring the position, and in which direction it may open something on the way. */
export interface Target {
  /** Signed. */
  readonly position: Decimal;
  /** What exceeds or contradicts the target is always closed; opened is only this way. null: either. */
  readonly opens: Side | null;
}

/** What the worker is to do: the spec's internal operations, and where the position is to end, if the strategy said so. */
export type OrderIntent = { readonly target?: Target } & (
  | { readonly operation: 'PLACE_ENTRY_ORDER'; readonly side: Side }
  | { readonly operation: 'PLACE_EXIT_ORDER'; readonly direction: Direction }
  /** null: whichever side is held. */
  | { readonly operation: 'CLOSE_POSITION'; readonly direction: Direction | null }
  /** Trades nothing. Whichever side is held. */
  | { readonly operation: 'PROTECT_POSITION'; readonly direction: null }
  /** Trades nothing. Entries that rest, of that name; without one all of them. */
  | { readonly operation: 'CANCEL_ENTRIES'; readonly direction: null; readonly id?: string }
);

export const SOURCES = ['webhook', 'dashboard', 'protection'] as const;
export type Source = (typeof SOURCES)[number];

export const ORDER_STATUSES = [
  'queued',
  'executing',
  'placed',
  'partially_filled',
  'filled',
  'done',
  'cancelled',
  'failed',
  'rejected',
  'expired',
  'unknown',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * The only way a status may change. `executing → executing` is a takeover: a new worker bumps the order's version so
 * that a predecessor that still lives can write, and therefore send, nothing more.
 */
const TRANSITIONS: Record<OrderStatus, readonly OrderStatus[]> = {
  queued: ['executing', 'expired'],
  executing: [
    'executing',
    'placed',
    'partially_filled',
    'filled',
    'done',
    'cancelled',
    'failed',
    'rejected',
    'expired',
    'unknown',
  ],
  placed: ['placed', 'partially_filled', 'filled', 'cancelled', 'failed'],
  partially_filled: ['partially_filled', 'filled', 'cancelled', 'failed'],
  // `expired` out of unknown: the broker, asked long enough after the sending, never got it.
  unknown: ['unknown', 'placed', 'partially_filled', 'filled', 'cancelled', 'failed', 'rejected', 'expired'],
  filled: [],
  // It ended well, and nothing had to be traded for it.
  done: [],
  cancelled: [],
  failed: [],
  rejected: [],
  expired: [],
};

export const canMove = (from: OrderStatus, to: OrderStatus): boolean => TRANSITIONS[from].includes(to);
/** A worker is to do something about it, or is doing it. */
export const isUnderWay = (status: OrderStatus): boolean => status === 'queued' || status === 'executing';
export const hasEnded = (status: OrderStatus): boolean => TRANSITIONS[status].length === 0;

/** Refusals that come from the broker, or from what we find there. A refusal of ours is a denial. */
export const REJECTION_CODES = [
  'insufficient_margin',
  'market_closed',
  'invalid_symbol',
  'invalid_quantity',
  'broker_rate_limited',
  'position_mode_mismatch',
  'no_position',
  'reversal_timeout',
  'broker_unavailable',
  'credentials_rejected',
  'expired',
  'account_halted',
  'out_of_sync',
  'superseded',
  'guard_refused',
  'cancelled_by_broker',
  'failed_at_broker',
  'invalid_protection',
  'protection_failed',
  'stopped_out',
  'sizing_failed',
  'invalid_price',
  'too_many_resting',
  'replaced',
  'cancelled_on_request',
  'lapsed',
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

export interface MarketHours {
  readonly timezone: string;
  readonly session: string;
  readonly next_open: Timestamp;
}

export interface OrderError {
  readonly code: RejectionCode;
  readonly message: string;
  /** Seconds. */
  readonly retry_after?: number;
  readonly market_hours?: MarketHours;
  /** Which of the account's guards. */
  readonly guard?: string;
}

export type LegName = 'exit' | 'entry';
/** Which of an order's legs: of several exits the second is `exit 2`. */
export type LegKey = LegName | `${LegName} ${number}`;

/** `planned` was never sent, `sending` may have been: only the broker knows. */
export const LEG_STATUSES = [
  'planned',
  'sending',
  'unknown',
  'placed',
  'partially_filled',
  'filled',
  'cancelled',
  'failed',
  'rejected',
  'expired',
] as const;
export type LegStatus = (typeof LEG_STATUSES)[number];

/** At the broker, or perhaps there: what fill verification follows. */
export const OPEN_LEG_STATUSES: readonly LegStatus[] = ['sending', 'unknown', 'placed', 'partially_filled'];
export const isOpenLeg = (leg: Leg): boolean => OPEN_LEG_STATUSES.includes(leg.status);

export interface Leg {
  readonly leg: LegName;
  /** The first of its name, the second …: an exit may take several. */
  readonly nth: number;
  readonly clientOrderId: ClientOrderId;
  readonly brokerRef: string | null;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly status: LegStatus;
  readonly fillPrice: Decimal | null;
  readonly fillQuantity: Decimal | null;
  /** In the account's currency; null: not known. */
  readonly fee: Decimal | null;
  /** The broker's own symbol of what it trades, pinned when it is sent: it is looked up under no other. */
  readonly instrument: string | null;
  /** What one is worth at a price of 1, in the account's currency, noted when it is sent; null: it was not. */
  readonly unitValue: Decimal | null;
  readonly sentAt: Timestamp | null;
  /** When we first learnt that the broker has it. */
  readonly ackedAt: Timestamp | null;
  readonly filledAt: Timestamp | null;
}

/** The close that an auto-reversal made before its entry. */
export interface ExitOrderResult {
  readonly status: LegStatus;
  readonly client_order_id: ClientOrderId;
  readonly broker_ref: string | null;
  readonly quantity: number;
  readonly fill_price: number | null;
  readonly fill_quantity: number | null;
  readonly error: OrderError | null;
}

export const TRACE_HOPS = ['validated', 'queued', 'taken', 'sent', 'acked', 'answered'] as const;
/** Milliseconds since arrival at each hop that the order has passed. */
type Trace = { readonly [hop in (typeof TRACE_HOPS)[number]]?: number };

/** What a guard of the account's said, right before an entry was sent. */
export interface GuardVerdict {
  readonly guard: string;
  readonly outcome: 'passed' | 'refused';
  readonly reason: string;
}

/** What a signal said besides what it asked for. */
export interface SignalNotes {
  readonly marketPosition: StanceSide | null;
  /** An alert before this one never arrived. */
  readonly gap: boolean;
  /** The strategy had said something later already: it still stands there. (Orders of old do not say.) */
  readonly outOfTurn?: boolean;
  /** And goes elsewhere: not to be traded. */
  readonly superseded: boolean;
  /** Protection has closed all of it, and the strategy has not been flat since: it is not opened again. */
  readonly stoppedOut?: boolean;
  /** By its own word the strategy was on that side already: what protection closes before it is planned is not opened again either. */
  readonly staysIn?: boolean;
  /** Names of fields that nobody knows. */
  readonly ignored: readonly string[];
  readonly price: Decimal | null;
}

export const NO_NOTES: SignalNotes = {
  marketPosition: null,
  gap: false,
  superseded: false,
  ignored: [],
  price: null,
};

/**
 * The first leg is sent first; the last one is what the order is about. Before it there may be exits: a reversal's close, one
 * for each month that is held, and those that the broker never got.
 */
export interface Order {
  readonly id: OrderId;
  readonly version: number;
  /** Of the request that it came with; null: it is older than our memory of that. */
  readonly requestId: string | null;
  readonly userId: UserId;
  readonly accountId: AccountId;
  readonly brokerName: BrokerName;
  readonly source: Source;
  readonly simulation: boolean;
  readonly symbol: string;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  /** As it was sent; what it counts stands in `sizing`. */
  readonly quantity: Decimal;
  /** Absent: it counts units. */
  readonly sizing?: Sizing;
  readonly notes: SignalNotes;
  readonly guards: readonly GuardVerdict[];
  readonly status: OrderStatus;
  readonly error: OrderError | null;
  readonly positionBefore: Decimal | null;
  /** How much of each other leg is in that, of those that were open there when it was planned. */
  readonly counted?: Readonly<Record<ClientOrderId, Decimal>> | undefined;
  readonly autoExit: boolean;
  /** Another order that is not settled may bring more for this exit to take: the fill of its legs is not its end. */
  readonly awaitsRest: boolean;
  readonly legs: readonly Leg[];
  /** Of the credentials with which its legs were sent; null: none was. "Not found" with others decides nothing. */
  readonly credentialsVersion: number | null;
  readonly exitError: OrderError | null;
  readonly submittedAt: Timestamp;
  readonly deadlineAt: Timestamp;
  readonly filledAt: Timestamp | null;
  readonly trace: Trace;
  /**
   * What protects the position that it opened was made with its fill, and nobody has looked after it yet. Only in the word of the worker
   * that did it: it is not saved.
   */
  readonly protectedAs?: { readonly id: string; readonly since: Timestamp };
  /** What is to protect the position that it opens; absent: nothing was asked for. */
  readonly wish?: OrderWish;
  /** What its entry waits for; absent: it is at the market. */
  readonly priced?: Priced;
  /** When more of what rests was last known to be filled, however long after it was sent; absent: it is at the market, or nothing was. */
  readonly tradedAt?: Timestamp;
  /** Why its entry is taken back, from before the broker is asked to; absent: it is not. */
  readonly ending?: OrderError;
  /** Of what a protection closed: why, and for which order. */
  readonly exitReason?: ExitReason;
  readonly causedBy?: OrderId;
  /** From its first fill until its stop was seen. */
  readonly unprotectedMs?: number;
  /** Whose signal it came from; absent: one to its account alone. */
  readonly groupId?: GroupId;
  /** Its owner said what became of it (settle.ts); otherwise what is known of it is the broker's word. */
  readonly settledBy?: 'user';
}

/** How much it is to trade. Nobody asks for it before it is computed. */
export const unitsOf = ({ quantity, sizing }: Pick<Order, 'quantity' | 'sizing'>): Decimal =>
  sizing ? (sizing.units ?? ZERO) : quantity;

export const keyOf = ({ leg, nth }: Pick<Leg, 'leg' | 'nth'>): LegKey => (nth === 1 ? leg : `${leg} ${nth}`);
export const legOf = (order: Order, key: LegKey): Leg | undefined =>
  order.legs.find((leg) => keyOf(leg) === key);
export const mainLeg = (order: Order): Leg | undefined => order.legs.at(-1);
export const openLeg = (order: Order): Leg | undefined => order.legs.find(isOpenLeg);

/**
 * Derived, never drawn: whoever takes an order over after a crash asks the broker for the very id that the dead
 * worker used. 24 characters of [a-z0-9] that do not start with t suit every broker we know.
 */
export function clientOrderId(order: OrderId, leg: LegName, nth = 1): ClientOrderId {
  const digest = hash('sha256', nth === 1 ? `${order}:${leg}` : `${order}:${leg}:${nth}`);
  const tail = BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-22);
  return `f${leg === 'exit' ? 'x' : 'e'}${tail}` as ClientOrderId;
}

/** Of an order at the broker, whoever sent it: an entry, an exit, or what protects. */
export const isOurs = (id: string): boolean => /^f[a-z][0-9a-z]{22}$/.test(id);
/** Of an order at the broker, whoever sent it. */
export const isOurEntry = (id: string): boolean => /^fe[0-9a-z]{22}$/.test(id);

/** Something of the order was filled. */
export const hasTraded = ({ legs }: Pick<Order, 'legs'>): boolean =>
  legs.some(
    ({ status, fillQuantity }) => status === 'filled' || (fillQuantity !== null && fillQuantity !== '0'),
  );

/** Or may have been. */
export const wasSent = (order: Order): boolean => order.legs.some(({ status }) => status !== 'planned');

/** Of each instrument that it closes, the last attempt. */
export const lastCloses = ({ legs }: Pick<Order, 'legs'>): readonly Leg[] =>
  legs.filter(
    ({ leg, instrument }, index) =>
      leg === 'exit' &&
      !legs.slice(index + 1).some((later) => later.leg === 'exit' && later.instrument === instrument),
  );

/** Under way, or followed by fill verification. */
export const isUnsettled = (order: Order): boolean =>
  isUnderWay(order.status) || openLeg(order) !== undefined;

/** The one writer of a status. An illegal move is a fault in our code, never an outcome. */
export function moveTo(
  order: Order,
  status: OrderStatus,
  change: Partial<Omit<Order, 'id' | 'status'>> = {},
): Order {
  if (!canMove(order.status, status))
    throw new Error(`order ${order.id}: ${order.status} → ${status} is not in the table`);
  return { ...order, ...change, status };
}

export const withLeg = (order: Order, key: LegKey, change: Partial<Omit<Leg, 'leg' | 'nth'>>): Order => ({
  ...order,
  legs: order.legs.map((leg) => (keyOf(leg) === key ? { ...leg, ...change } : leg)),
});

/** Notes the hop once, in milliseconds since the signal's arrival. */
export const passed = (order: Order, hop: (typeof TRACE_HOPS)[number], now: number): Order =>
  hop in order.trace
    ? order
    : { ...order, trace: { ...order.trace, [hop]: Math.max(0, now - millis(order.submittedAt)) } };

/** Milliseconds since it was accepted: what came before that is the sender's and ours, not the worker's. */
export const sinceAccepted = ({ submittedAt, trace }: Order, now: number): number =>
  Math.max(0, now - millis(submittedAt) - (trace.queued ?? 0));

export const isLate = (order: Order, now: number): boolean => now > millis(order.deadlineAt);
