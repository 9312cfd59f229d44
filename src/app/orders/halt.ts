// The kill switch. The flag comes first and holds whatever happens to the rest: from its commit on no entry is accepted,
// and a worker sends none that was accepted before. Then, where it is asked for and from where the user may trade, every
// position is closed.

import { type Account, changeAccount } from '../../data/accounts/accounts.ts';
import { findOrder } from '../../data/orders/orders.ts';
import { lookAtResting, restingOf } from '../../data/orders/resting.ts';
import { absolute, type Decimal, sign, toNumber } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import { hasEnded, hasTraded, type Order } from '../../domain/orders/order.ts';
import { positionAfter, signed } from '../../domain/orders/position.ts';
import { openEntry } from '../../domain/orders/resting.ts';
import { type OrderResult, orderResult } from '../../domain/orders/result.ts';
import type { Work } from '../../worker/host/mailbox.ts';
import { clearEntries } from '../accounts/account-broker.ts';
import {
  type AccountDeps,
  changeOwn,
  type Owner,
  ownAccount,
  type ShownAccount,
} from '../accounts/accounts.ts';
import type { AlertDeps } from '../audit/alerts.ts';
import { unavailability } from '../faults.ts';
import { admitAddress, type User } from '../identity/access.ts';
import { type Placed, type PlaceOrderDeps, placeOrder } from './place-order.ts';

export interface HaltDeps extends AccountDeps, AlertDeps, Omit<PlaceOrderDeps, 'log'> {
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
}

export interface HaltRequest {
  readonly user: User;
  readonly accountId: string;
  readonly flatten: boolean;
  readonly arrivedAt: number;
  readonly context: Owner['context'];
}

export interface Halted {
  readonly account: ShownAccount;
  /** One per position that was closed, or is being closed. */
  readonly orders: readonly OrderResult[];
  /** Null: it was not asked for. */
  readonly flatten: Flatten | null;
  /** Null: all could be read, and nothing is left open, by the broker's word and by what is saved of each close. The halt holds in any case. */
  readonly flatten_error: { readonly code: string; readonly message: string } | null;
}

interface Flatten {
  /** Orders by which a position was closed. */
  readonly closed: readonly string[];
  readonly left: readonly Left[];
  /** Entries of ours that rested at the broker and were taken back. */
  readonly cancelled: number;
  readonly cancel_error: string | null;
}

/** What is, or may be, open; `closing`: its close goes on until its deadline. */
interface Left {
  readonly symbol: string;
  readonly quantity: number;
  readonly code: string;
  readonly message: string;
}

export async function haltAccount(deps: HaltDeps, request: HaltRequest): Promise<Halted | Denial> {
  const { user, accountId, flatten, context } = request;
  const account = await changeOwn(deps, { id: user.id, context }, accountId, 'account_halted', (id) =>
    changeAccount(id, { haltedAt: timestamp(deps.clock.now()) }),
  );
  if (isDenial(account)) return account;
  // What rests would open a position on the halted account; whoever sweeps it next finds that out too.
  await deps.db
    .commit([lookAtResting(accountId as AccountId, timestamp(deps.clock.now()))])
    .catch((fault: unknown) => deps.log.warn({ fault }, 'what rests is taken back with the next sweep'));
  return {
    account,
    ...(flatten ? await closeAll(deps, request) : { orders: [], flatten: null, flatten_error: null }),
  };
}

export async function resumeAccount(
  deps: AccountDeps,
  owner: Owner,
  id: string,
): Promise<{ readonly account: ShownAccount } | Denial> {
  const account = await changeOwn(deps, owner, id, 'account_resumed', (own) =>
    changeAccount(own, { haltedAt: null }),
  );
  return isDenial(account) ? account : { account };
}

type Flattened = Pick<Halted, 'orders' | 'flatten' | 'flatten_error'>;

/** Position by position, whatever else fails; the answer comes in time, and what is still being closed goes on. */
async function closeAll(deps: HaltDeps, request: HaltRequest): Promise<Flattened> {
  const until = performance.now() + deps.responseWaitMs;
  const inTime = () => ({ ...deps, responseWaitMs: Math.max(MOMENT_MS, until - performance.now()) });
  const account = await attempt(deps, () => ownAccount(deps, request.user.id, request.accountId));
  if (isDenial(account)) return notBegun(account);
  const { user, context } = request;
  const stranger = await attempt(deps, () =>
    admitAddress(deps, { user, accountId: account.id, action: 'trading_request', context }),
  );
  if (stranger) return notBegun(stranger, await stillResting(deps, account.id));
  // What could still be filled first: it would open a position on the halted account.
  const cleared = await attempt(deps, () => clearEntries(inTime(), request.user.id, account.id));
  if (isDenial(cleared)) return notBegun(cleared, await stillResting(deps, account.id));

  const { toClose, cancelled, cancelError, unreadable } = cleared;
  const outcomes = await Promise.all(
    toClose.map(
      async (held): Promise<Outcome> =>
        held.reason === null
          ? outcomeOf(deps, held, await attempt(deps, () => close(inTime(), request, account, held)))
          : { left: leftOf(held, 'not_tradable', `It cannot be closed here: ${held.reason}`) },
    ),
  );
  const left = [
    ...outcomes.flatMap((outcome) => (outcome.left ? [outcome.left] : [])),
    ...(await stillResting(deps, account.id)),
  ];
  const orders = outcomes.flatMap((outcome) => (outcome.order ? [outcome.order] : []));
  return {
    orders: orders.map((order) => orderResult(order)),
    flatten: {
      // Where there was nothing to close, no order has closed it.
      closed: outcomes.flatMap(({ order, left: open }) =>
        order && !open && hasTraded(order) ? [order.id] : [],
      ),
      left,
      cancelled,
      cancel_error: cancelError,
    },
    flatten_error: notRead('positions', unreadable) ?? notClosed(left) ?? notRead('open orders', cancelError),
  };
}

/** Entries that nobody knows to have ended: not every broker has them in its list, and each may yet open something. */
async function stillResting({ db, log }: HaltDeps, account: AccountId): Promise<Left[]> {
  try {
    const orders = await restingOf(db, account);
    return orders.flatMap((order) => {
      const leg = order.simulation ? undefined : openEntry(order);
      if (!leg) return [];
      const quantity = signed(leg.side, leg.quantity);
      const at = { symbol: leg.instrument ?? order.symbol, quantity };
      return [
        leftOf(
          at,
          'entry_resting',
          `Its entry (order ${order.id}, ${leg.brokerRef ?? leg.clientOrderId} at the broker) is not known to have been taken back: it may rest there. It is tried again and again; cancel it at your broker.`,
        ),
      ];
    });
  } catch (fault) {
    log.error({ fault }, 'the kill switch could not read what rests');
    return [];
  }
}

/** Even where the time is over, a close is handed over. */
const MOMENT_MS = 50;

const notBegun = ({ code, detail }: Denial, left: readonly Left[] = []): Flattened => ({
  orders: [],
  flatten: { closed: [], left, cancelled: 0, cancel_error: null },
  flatten_error: {
    code,
    message:
      `The account is halted, but its positions could not be closed: ${detail} ` +
      'Look at your broker, and close them there, or flatten again.',
  },
});

interface Outcome {
  readonly order?: Order;
  readonly left?: Left;
}

type Held = Exclude<Work['flatten']['answer'], { readonly unavailable: string }>['toClose'][number];

const leftOf = (
  { symbol, quantity }: { symbol: string; quantity: Decimal },
  code: string,
  message: string,
): Left => ({
  symbol,
  quantity: toNumber(quantity),
  code,
  message,
});

/** What became of a close is what its worker wrote down. An answer can be lost, and one that came is no proof. */
async function outcomeOf(
  { db }: Pick<HaltDeps, 'db'>,
  held: Held,
  placed: Placed | Denial,
): Promise<Outcome> {
  if (isDenial(placed)) return { left: leftOf(held, placed.code, placed.detail) };
  const order = (await findOrder(db, placed.order.id).catch(() => null)) ?? placed.order;
  // Closed by this order, or by another one before it. That there was nothing to close proves it only where nothing was held:
  // what other orders hold back, or may have closed, is refused with the same word.
  const after = positionAfter(order);
  if (hasEnded(order.status) && after !== null && sign(after) === 0) return { order };
  const still = { symbol: held.symbol, quantity: after ?? held.quantity };
  if (!hasEnded(order.status) && order.status !== 'unknown')
    return {
      order,
      left: leftOf(
        still,
        'closing',
        `Its close (order ${order.id}, ${order.status}) goes on until ${order.deadlineAt}.`,
      ),
    };
  const why =
    order.error?.message ?? `It is not confirmed that order ${order.id} (${order.status}) has closed it.`;
  return { order, left: leftOf(still, order.error?.code ?? 'close_unconfirmed', why) };
}

async function close(
  deps: HaltDeps,
  { user, arrivedAt, context }: HaltRequest,
  account: Account,
  { symbol, quantity }: Held,
): Promise<Placed | Denial> {
  const nothingHoldsItBack = { user, limits: null } as const;
  const outcome = await placeOrder(deps, {
    ...nothingHoldsItBack,
    account,
    source: 'dashboard',
    simulation: false,
    action: sign(quantity) > 0 ? 'close_long' : 'close_short',
    orderType: null,
    // Whichever side it is by then: an order before it may have turned the position.
    intent: { operation: 'CLOSE_POSITION', direction: null },
    symbol,
    quantity: absolute(quantity),
    arrivedAt,
    context,
    fingerprint: null,
    async again() {
      const current = await ownAccount(deps, user.id, account.id);
      return isDenial(current) ? current : { ...nothingHoldsItBack, account: current };
    },
    claims: () => [],
  });
  // It claims nothing that anybody could contest.
  return 'contested' in outcome ? deny('account_changed') : outcome;
}

/** The account is halted by now, and the answer has to say so: a fault must not hide it behind a 500. */
async function attempt<T>({ log }: HaltDeps, work: () => Promise<T>): Promise<T | Denial> {
  try {
    return await work();
  } catch (fault) {
    log.error({ fault }, 'the kill switch could not close a position');
    return (
      unavailability(fault) ?? deny('broker_unavailable', { detail: 'Something went wrong on our side.' })
    );
  }
}

function notClosed(left: readonly Left[]): Halted['flatten_error'] {
  const [first] = left;
  if (!first) return null;
  const named = left.map(({ symbol, message }) => `${symbol}: ${message}`).join(' ');
  return {
    code:
      left.every(({ code }) => code === first.code) && first.code === 'not_tradable'
        ? first.code
        : 'close_unconfirmed',
    message: `The account is halted, but not everything is closed. ${named} Look at your broker, and flatten again where it needs that.`,
  };
}

function notRead(what: string, why: string | null): Halted['flatten_error'] {
  if (why === null) return null;
  return {
    code: 'broker_unavailable',
    message:
      `The account is halted, but the broker’s ${what} could not be read: ${why.replace(/[.\s]+$/, '')}. ` +
      'What we know of is closed, or listed as left; look at your broker, and flatten again.',
  };
}
