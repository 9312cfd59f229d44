// Which events there are in what was committed: in an order's states, in the audit log, in an account's state.

import type { Decimal } from './decimal.ts';
import { toNumberOrNull } from './decimal.ts';
import { DENIALS } from './denials.ts';
import type { AccountId, Timestamp, UserId } from './ids.ts';
import { type Event, type EventKind, oneLine } from './notification.ts';
import { hasEnded, mainLeg, type Order, type OrderStatus } from './order.ts';

/** What was told of an order. */
export interface ToldOrder {
  readonly status: OrderStatus;
  readonly deadLetter: boolean;
}

/** Nothing more can become of it that anybody wants to be told of. */
export const isTold = (order: Order): boolean => hasEnded(order.status);

/** `before`: what was told of it already; null: nothing. */
export function orderEvents(
  order: Order,
  account: string,
  seen: { readonly before: ToldOrder | null; readonly isDeadLetter: boolean; readonly at: Timestamp },
): Event[] {
  const { before, isDeadLetter, at } = seen;
  const make = (kind: EventKind, title: string, text: string): Event => ({
    kind,
    at,
    userId: order.userId,
    accountId: order.accountId,
    title: order.simulation ? `${title} (simulated)` : title,
    text,
    path: `/orders/${order.id}`,
    data: orderData(order),
  });
  const what = `${order.action} ${order.quantity} ${oneLine(order.symbol)} on ${oneLine(account)}`;
  const reason = order.error ? ` ${oneLine(order.error.message)}` : '';
  const events: Event[] = [];
  if (order.status !== before?.status) {
    if (order.status === 'unknown')
      events.push(
        make(
          'order_unknown',
          'Order unknown',
          `${what}: whether it was traded is not known yet. Fill verification is asking the broker.`,
        ),
      );
    const filled = hasEnded(order.status) ? filledOf(order) : null;
    if (filled !== null) events.push(make('fill', 'Fill', `${what}: ${filled}.`));
    if (isFailure(order.status))
      events.push(
        order.error?.code === 'guard_refused'
          ? make('guard_refused', 'A guard refused an entry', `${what}.${reason}`)
          : make('order_failed', `Order ${order.status}`, `${what}.${reason}`),
      );
    if (order.error?.code === 'broker_unavailable')
      events.push(
        make(
          'broker_disconnected',
          'The broker does not answer',
          `${oneLine(account)}:${reason || ` ${what}.`}`,
        ),
      );
  }
  if (isDeadLetter && !before?.deadLetter)
    events.push(
      make(
        'dead_letter',
        'Fill verification gave up',
        `${what} is ${order.status}, and the broker could not tell what became of it. Look at the account at your broker.`,
      ),
    );
  return events;
}

const FAILURES: ReadonlySet<OrderStatus> = new Set(['cancelled', 'failed', 'rejected', 'expired']);
const isFailure = (status: OrderStatus): boolean => FAILURES.has(status);

function filledOf(order: Order): string | null {
  const legs = order.legs.filter(
    ({ fillQuantity }) => fillQuantity !== null && fillQuantity !== ('0' as Decimal),
  );
  if (legs.length === 0) return null;
  return legs
    .map((leg) => `${leg.side} ${leg.fillQuantity}${leg.fillPrice === null ? '' : ` at ${leg.fillPrice}`}`)
    .join(', then ');
}

function orderData(order: Order): Readonly<Record<string, unknown>> {
  const main = mainLeg(order);
  return {
    order_id: order.id,
    trading_account_id: order.accountId,
    symbol: order.symbol,
    action: order.action,
    status: order.status,
    simulation: order.simulation,
    fill_price: toNumberOrNull(main?.fillPrice ?? null),
    fill_quantity: toNumberOrNull(main?.fillQuantity ?? null),
    error: order.error && { code: order.error.code, message: order.error.message },
  };
}

// The audit log

export interface Entry {
  readonly userId: UserId;
  readonly action: string;
  readonly at: Timestamp;
  readonly ip: string | null;
  readonly accountId: AccountId | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const ATTACKS: ReadonlySet<string> = new Set([
  ...Object.values(DENIALS).flatMap((rule) => ('alert' in rule ? [rule.audit] : [])),
  'refresh_token_reuse',
]);
const GAP = 'webhook_signal_gap';
const DRIFT = 'position_drift';
/** The other entries tell of nothing that is sent; those of accepted orders lead to them. */
export const TOLD_ACTIONS: readonly string[] = [...ATTACKS, GAP, DRIFT];
export const ORDER_ACTIONS = ['webhook_order', 'dashboard_order'] as const;

export function entryEvent(entry: Entry, account: string | null): Event | null {
  const { action, metadata, accountId, at, userId } = entry;
  const on = account === null ? '' : ` on ${oneLine(account)}`;
  const symbol = oneLine(String(metadata.symbol ?? ''));
  const about = { at, userId, accountId };
  const data = { action, trading_account_id: accountId };
  if (ATTACKS.has(action))
    return {
      ...about,
      kind: 'attack',
      title: 'A request was refused as an attack',
      text: `${action}${on}, from ${entry.ip || 'an unknown address'}. Nothing was traded.`,
      path: '/security',
      data: { ...data, ip_address: entry.ip },
    };
  // A rehearsal is shown, and nobody is told: whoever knows the URL can make one.
  if (metadata.simulation === true) return null;
  if (action === GAP)
    return {
      ...about,
      kind: 'gap',
      title: 'An alert never arrived',
      text: `The alert of the strategy in ${symbol}${on} begins where the last one did not end.`,
      path: '/positions',
      data: { ...data, symbol },
    };
  if (action === DRIFT) {
    const { strategy_position, broker_position } = metadata;
    return {
      ...about,
      kind: 'drift',
      title: "The position is not the strategy's",
      text: `The strategy stands at ${strategy_position} ${symbol}, ${account === null ? 'the account' : oneLine(account)} holds ${broker_position}. Align the position, or the strategy.`,
      path: '/positions',
      data: { ...data, symbol, strategy_position, broker_position },
    };
  }
  return null;
}

// States of an account and of a day

export interface TroubledAccount {
  readonly id: AccountId;
  readonly userId: UserId;
  readonly name: string;
}

export const silenceEvent = (
  { id, userId, name }: TroubledAccount,
  { at, silenceAfter }: { readonly at: Timestamp; readonly silenceAfter: number },
): Event => ({
  kind: 'silence',
  at,
  userId,
  accountId: id,
  title: 'No signal has come for a while',
  text: `${oneLine(name)}: no genuine signal for more than ${silenceAfter} seconds. Look whether the alert is still active on the charting platform.`,
  path: '/signals',
  data: { trading_account_id: id, silence_after: silenceAfter },
});

export const credentialsEvent = ({ id, userId, name }: TroubledAccount, at: Timestamp): Event => ({
  kind: 'credentials_refused',
  at,
  userId,
  accountId: id,
  title: 'The broker refuses the credentials',
  text: `${oneLine(name)}: nothing of this account can be sent until new credentials are verified.`,
  path: `/accounts/${id}`,
  data: { trading_account_id: id },
});

/** Of the day's limit, in percent. */
const NEAR = 80;

/** null: there is no limit, or it is not near. */
export function limitEvent(
  userId: UserId,
  at: Timestamp,
  { used, limit, isSimulated }: { used: number; limit: number | null; isSimulated: boolean },
): Event | null {
  if (limit === null || limit === 0 || used * 100 < limit * NEAR) return null;
  const orders = isSimulated ? 'simulated orders' : 'orders';
  return {
    kind: 'limit',
    at,
    userId,
    accountId: null,
    title: 'The daily order limit is near',
    text: `${used} of ${limit} ${orders} of this UTC day are used. Beyond the limit entries are refused; exits are not.`,
    path: '/',
    data: { used, limit, simulation: isSimulated },
  };
}

export interface Summary {
  /** Of all accounts and modes, as are what became of them. */
  readonly signals: number;
  readonly refused: number;
  readonly executed: number;
  readonly rejected: number;
  readonly orders: number;
  readonly simulated: number;
  /** Realised, by account; null: not known. */
  readonly profits: readonly {
    readonly account: string;
    readonly currency: string | null;
    readonly realised: number | null;
  }[];
}

export function summaryEvent(userId: UserId, at: Timestamp, summary: Summary): Event {
  const { signals, refused, executed, rejected, orders, simulated, profits } = summary;
  const earned = profits.map(
    ({ account, currency, realised }) =>
      `${oneLine(account)}: ${realised === null ? 'profit not counted' : `${realised} ${currency ?? ''}`.trim()}.`,
  );
  return {
    kind: 'daily_summary',
    at,
    userId,
    accountId: null,
    title: 'The last 24 hours',
    text: [
      `Signals: ${signals} (${executed} executed, ${rejected} rejected, ${refused} refused). Orders: ${orders} real, ${simulated} simulated.`,
      ...(earned.length > 0 ? ['Realised:', ...earned] : []),
    ].join(' '),
    path: '/',
    data: { signals, executed, rejected, refused, orders, simulated },
  };
}
