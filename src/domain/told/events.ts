// Which events there are in what was committed: in an order's states, in the audit log, in an account's state.

import { toNumberOrNull, ZERO } from '../decimal.ts';
import { DENIALS } from '../denials.ts';
import type { AccountId, Timestamp, UserId } from '../ids.ts';
import { isHalfDone } from '../orders/half-done.ts';
import { type Action, hasEnded, type Leg, type Order, type OrderStatus, openLeg } from '../orders/order.ts';
import { isExit } from '../orders/patience.ts';
import { fillOf } from '../orders/result.ts';
import { sizeSaid } from '../orders/sizing.ts';
import { type Event, type EventKind, oneLine } from './notification.ts';
import { fillTold, protectionEvent, TOLD_OF_PROTECTION, whyClosed } from './protection-events.ts';
import { span } from './trouble.ts';

/** What was told of an order. */
export interface ToldOrder {
  readonly status: OrderStatus;
  readonly deadLetter: boolean;
}

/** Nothing more can become of it that anybody wants to be told of: also not of a close that a failed reversal left at the broker. */
export const isTold = (order: Order): boolean => hasEnded(order.status) && openLeg(order) === undefined;

/** Ours are whole sentences, with the ids to look for at their end. */
const MOST_OF_A_REASON = 600;

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
    ...(kind === 'order_failed' && mayLeaveHeld(order) && { mustBeNamed: true }),
  });
  const what = `${whyClosed(order)}${asked(order)} on ${oneLine(account)}`;
  const reason = reasonOf(order);
  const events: Event[] = [];
  if (order.status !== before?.status) {
    if (order.status === 'unknown')
      events.push(
        make(
          'order_unknown',
          'Order unknown',
          // Nothing can be looked for where there is no leg: such a one waited in a restored backup, and says itself what to do.
          openLeg(order)
            ? `${what}: whether it was traded is not known yet. Fill verification is asking the broker.`
            : `${what}: whether it was traded is not known.${reason}`,
        ),
      );
    const filled = hasEnded(order.status) ? filledOf(order) : null;
    if (filled !== null)
      events.push(make(...fillTold(order), `${filled} on ${oneLine(account)}${bySettling(order)}.`));
    if (isFailure(order.status))
      events.push(
        order.error?.code === 'guard_refused'
          ? make('guard_refused', 'A guard refused an entry', `${what} was refused.${reason}`)
          : make('order_failed', `Order ${order.status}`, `${what} ${FAILED[order.status]}.${reason}`),
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
  const close = before?.status === order.status ? closeLeftBehind(order) : undefined;
  if (close) events.push(...endOfClose(order, close, account).map((told) => make(...told)));
  if (isDeadLetter && !before?.deadLetter) {
    const left = hasEnded(order.status) ? openLeg(order) : undefined;
    const which = left ? `The close of a reversal that failed (${traded(left)}): ${what}` : what;
    const seen = (left ?? order).status.replace('_', ' ');
    events.push(
      make(
        'dead_letter',
        'Fill verification gave up',
        `${which} was last seen as ${seen}, and the broker could not tell what became of it. Look at the account at your broker.`,
      ),
    );
  }
  return events;
}

/** What a reversal that failed had left at the broker, once it has ended there. It is watched only for that. */
const closeLeftBehind = (order: Order): Leg | undefined =>
  hasEnded(order.status) && isTold(order)
    ? order.legs.findLast(({ leg, sentAt }) => leg === 'exit' && sentAt !== null)
    : undefined;

function endOfClose(
  order: Order,
  close: Leg,
  account: string,
): [kind: EventKind, title: string, text: string][] {
  const where = `on ${oneLine(account)}${bySettling(order)}`;
  const then = isHalfDone(order)
    ? 'The position is closed, and the entry was not made.'
    : 'The entry was not sent. Look at the position.';
  const filled = filledOf({ ...order, legs: [close] });
  const told: [EventKind, string, string][] = [];
  if (filled !== null)
    told.push([
      'fill',
      'The close of a failed reversal was filled',
      `${filled} ${where}: the close of a reversal that had failed. ${then}`,
    ]);
  if (close.status !== 'filled') {
    const why = order.exitError ? ` ${oneLine(order.exitError.message, MOST_OF_A_REASON)}` : '';
    told.push([
      'order_failed',
      `The close of a failed reversal: ${close.status}`,
      `The close of a reversal that had failed (${traded(close)} ${oneLine(order.symbol)}) ${ENDS[close.status] ?? 'ended without a fill'} ${where}. ${then}${why}`,
    ]);
  }
  return told;
}

const ENDS: { readonly [status in Leg['status']]?: string } = {
  cancelled: 'was cancelled',
  failed: 'failed',
  rejected: 'was rejected',
  expired: 'never arrived at the broker',
};

/** "buy 2" */
const traded = ({ side, quantity }: Leg): string => `${side} ${quantity}`;

const bySettling = ({ settledBy }: Order): string => (settledBy === 'user' ? ', as you said' : '');

/** With what it means where a reversal closed and did not open. */
function reasonOf(order: Order): string {
  // Which symbol it was stands there, and is whoever's who sent it.
  const isForeign = isUnknownSymbol(order);
  const why = order.error && !isForeign ? ` ${oneLine(order.error.message, MOST_OF_A_REASON)}` : '';
  const half = isHalfDone(order) ? ' The position was closed, and what was to be opened is not.' : '';
  const said =
    order.settledBy === 'user' && order.status === 'cancelled' ? ' You said that it was not filled.' : '';
  return `${why}${said}${half}`;
}

/** What it was to close may still be held. */
const mayLeaveHeld = (order: Order): boolean =>
  !order.simulation &&
  order.error?.code !== 'no_position' &&
  (isExit(order) || order.legs.some(({ leg, status }) => leg === 'exit' && status !== 'filled'));

const FAILED = {
  cancelled: 'was cancelled',
  failed: 'failed',
  rejected: 'was rejected',
  expired: 'expired',
} as const;
const isFailure = (status: OrderStatus): status is keyof typeof FAILED => Object.hasOwn(FAILED, status);

/** "Buy 2 BTCUSDT". Who closes or aligns names no quantity. */
function asked({ action, ...order }: Order): string {
  const words = ACTION_WORDS[action];
  const symbol = isUnknownSymbol(order) ? 'of a symbol that the broker does not have' : order.symbol;
  return order.quantity === ZERO || action === 'sync'
    ? `${words} ${oneLine(symbol)}`
    : `${words} ${sizeSaid(order)} ${oneLine(symbol)}`;
}

/** Nobody's but the sender's: it is quoted to nobody. */
const isUnknownSymbol = ({ error }: Pick<Order, 'error'>): boolean => error?.code === 'invalid_symbol';

const ACTION_WORDS: Readonly<Record<Action, string>> = {
  buy: 'Buy',
  sell: 'Sell',
  close_long: 'Close long',
  close_short: 'Close short',
  long_entry: 'Long entry',
  long_exit: 'Long exit',
  short_entry: 'Short entry',
  short_exit: 'Short exit',
  close: 'Close',
  sync: 'Align',
  protect: 'Protect',
  cancel: 'Cancel',
};

/** "Sold 0.1 BTCUSDT at 60000, then sold 0.2 at 59990,": what goes on behind it is where. */
function filledOf({ legs, symbol }: Order): string | null {
  const [first, ...others] = legs.filter(
    ({ fillQuantity }) => fillQuantity !== null && fillQuantity !== ZERO,
  );
  if (!first) return null;
  const done = ({ side, quantity, fillQuantity, fillPrice }: Leg, name: string) =>
    `${side === 'buy' ? 'bought' : 'sold'} ${fillQuantity}${fillQuantity === quantity ? '' : ` of ${quantity}`}${name}` +
    (fillPrice === null ? '' : ` at ${fillPrice}`);
  const said = capital(done(first, ` ${oneLine(symbol)}`));
  return others.length === 0 ? said : `${[said, ...others.map((leg) => done(leg, ''))].join(', then ')},`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function orderData(order: Order): Readonly<Record<string, unknown>> {
  const { price, quantity } = fillOf(order);
  return {
    order_id: order.id,
    trading_account_id: order.accountId,
    symbol: isUnknownSymbol(order) ? null : order.symbol,
    action: order.action,
    status: order.status,
    simulation: order.simulation,
    half_done: isHalfDone(order),
    ...(order.exitReason && { exit_reason: order.exitReason, caused_by: order.causedBy ?? null }),
    fill_price: toNumberOrNull(price),
    fill_quantity: toNumberOrNull(quantity),
    error: order.error && {
      code: order.error.code,
      message: isUnknownSymbol(order) ? null : order.error.message,
    },
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

/** What was attempted, by the audit log's word for it. */
export const ATTACK_WORDS: Readonly<Record<string, string>> = {
  webhook_ip_blocked: 'The request came from an address that is not on your list of allowed IPs.',
  webhook_timestamp_expired: "The signal's timestamp was older, or further ahead, than the account allows.",
  webhook_credential_attack: 'The signal carried a wrong webhook secret.',
  webhook_replay_attack: 'A signal that was received before was sent again.',
  refresh_token_reuse:
    'A refresh token was used a second time: somebody else may have it, and its session has ended.',
};
const ATTACKS: ReadonlySet<string> = new Set([
  ...Object.values(DENIALS).flatMap((rule) => ('alert' in rule ? [rule.audit] : [])),
  'refresh_token_reuse',
]);
export const GAP = 'webhook_signal_gap';
const DRIFT = 'position_drift';
/** The other entries tell of nothing that is sent; those of accepted orders lead to them. */
export const TOLD_ACTIONS: readonly string[] = [...ATTACKS, GAP, DRIFT, ...TOLD_OF_PROTECTION];
export const ORDER_ACTIONS = ['webhook_order', 'dashboard_order'] as const;

export function entryEvent(entry: Entry, account: string | null): Event | null {
  const { action, metadata, accountId, at, userId } = entry;
  const on = account === null ? '' : ` on ${oneLine(account)}`;
  const holder = account === null ? 'the account' : oneLine(account);
  const symbol = oneLine(String(metadata.symbol ?? ''));
  const about = { at, userId, accountId };
  const data = { action, trading_account_id: accountId };
  if (ATTACKS.has(action))
    return {
      ...about,
      kind: 'attack',
      title: 'A request was refused as an attack',
      text: `${ATTACK_WORDS[action] ?? 'A request was refused.'} It came from ${entry.ip || 'an unknown address'}${account === null ? '' : `, for ${oneLine(account)}`}. Nothing was traded.`,
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
      text: `The strategy's last alert in ${symbol}${on} does not begin where the one before it ended: one in between never arrived. Check that the position is the strategy's.`,
      path: '/positions',
      data: { ...data, symbol },
    };
  if (action === DRIFT) {
    const { strategy_position, broker_position } = metadata;
    return {
      ...about,
      kind: 'drift',
      title: "The position is not the strategy's",
      text: `The strategy is ${stance(strategy_position, symbol)}, ${holder} is ${stance(broker_position)}. Align the position, or the strategy.`,
      path: '/positions',
      data: { ...data, symbol, strategy_position, broker_position },
    };
  }
  return protectionEvent(entry, holder);
}

/** "long 2 BTCUSDT", "flat in BTCUSDT", "short 1" */
function stance(position: unknown, symbol = ''): string {
  const size = Number(position);
  if (size === 0) return symbol === '' ? 'flat' : `flat in ${symbol}`;
  return `${size > 0 ? 'long' : 'short'} ${Math.abs(size)} ${symbol}`.trim();
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
  text: `${oneLine(name)}: no genuine signal for more than ${span(silenceAfter)}. Check whether the alert is still active on the charting platform.`,
  path: '/signals',
  data: { trading_account_id: id, silence_after: silenceAfter },
});

export const credentialsEvent = (
  { id, userId, name }: TroubledAccount,
  { at, wereGood }: { readonly at: Timestamp; readonly wereGood: boolean },
): Event => ({
  kind: 'credentials_refused',
  at,
  userId,
  accountId: id,
  title: 'The broker refuses the credentials',
  text: wereGood
    ? `${oneLine(name)}: entries are refused until credentials are verified. Exits, closes and flatten are still tried, once each; look at your broker.`
    : `${oneLine(name)}: nothing of this account can be sent until new credentials are verified.`,
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
