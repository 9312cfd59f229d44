// The kill switch. The flag comes first and holds whatever happens to the rest: from its commit on no entry is accepted,
// and a worker sends none that was accepted before. Then, where it is asked for and from where the user may trade, every
// position is closed.

import type { Position } from '../../broker/broker.ts';
import { type Account, changeAccount } from '../../data/accounts/accounts.ts';
import { findOrder } from '../../data/orders/orders.ts';
import { absolute, sign } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { timestamp } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { positionAfter } from '../../domain/orders/position.ts';
import { type OrderResult, orderResult } from '../../domain/orders/result.ts';
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
  /** Null: nothing is left open, by the broker's word and by what is saved of each close. The halt holds in any case. */
  readonly flatten_error: { readonly code: string; readonly message: string } | null;
}

export async function haltAccount(deps: HaltDeps, request: HaltRequest): Promise<Halted | Denial> {
  const { user, accountId, flatten, context } = request;
  const account = await changeOwn(deps, { id: user.id, context }, accountId, 'account_halted', (id) =>
    changeAccount(id, { haltedAt: timestamp(deps.clock.now()) }),
  );
  if (isDenial(account)) return account;
  return { account, ...(flatten ? await closeAll(deps, request) : { orders: [], flatten_error: null }) };
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

async function closeAll(
  deps: HaltDeps,
  request: HaltRequest,
): Promise<Pick<Halted, 'orders' | 'flatten_error'>> {
  const account = await attempt(deps, () => ownAccount(deps, request.user.id, request.accountId));
  if (isDenial(account)) return { orders: [], flatten_error: notClosed(account, []) };
  const { user, context } = request;
  const stranger = await attempt(deps, () =>
    admitAddress(deps, { user, accountId: account.id, action: 'trading_request', context }),
  );
  if (stranger) return { orders: [], flatten_error: notClosed(stranger, []) };
  // What could still be filled first: it would open a position on the halted account.
  const cleared = await attempt(deps, () => clearEntries(deps, request.user.id, account.id));
  if (isDenial(cleared)) return { orders: [], flatten_error: notClosed(cleared, []) };

  const held = cleared.positions.filter(
    ({ quantity, tradable }) => sign(quantity) !== 0 && tradable !== false,
  );
  const outcomes = await Promise.all(
    held.map((position) => attempt(deps, () => close(deps, request, account, position))),
  );
  const denial = outcomes.find((outcome) => isDenial(outcome));
  const open = held.filter((_, index) => isDenial(outcomes[index] ?? {})).map(({ symbol }) => symbol);
  const placed = outcomes.flatMap((outcome) => (isDenial(outcome) ? [] : [outcome.order]));
  const { orders, unconfirmed } = await asSaved(deps, placed);
  return {
    orders: orders.map(orderResult),
    flatten_error: denial ? notClosed(denial, open) : (notConfirmed(unconfirmed) ?? mayYetOpen(cleared.open)),
  };
}

/** What became of the closes is what their worker wrote down. An answer can be lost, and one that came is no proof. */
async function asSaved(
  { db }: Pick<HaltDeps, 'db'>,
  placed: readonly Order[],
): Promise<{ readonly orders: readonly Order[]; readonly unconfirmed: readonly Order[] }> {
  const saved = await Promise.all(placed.map(({ id }) => findOrder(db, id).catch(() => null)));
  const orders = placed.map((order, index) => saved[index] ?? order);
  // Closed by this order, or by another one before it. That there was nothing to close proves it only where nothing was held:
  // what other orders hold back, or may have closed, is refused with the same word.
  const isClosed = (order: Order | null | undefined) => {
    const left = order ? positionAfter(order) : null;
    return left !== null && sign(left) === 0;
  };
  return { orders, unconfirmed: orders.filter((_, index) => !isClosed(saved[index])) };
}

async function close(
  deps: HaltDeps,
  { user, arrivedAt, context }: HaltRequest,
  account: Account,
  { symbol, quantity }: Position,
): Promise<Placed | Denial> {
  const direction = sign(quantity) > 0 ? 'long' : 'short';
  const nothingHoldsItBack = { user, limits: null } as const;
  const outcome = await placeOrder(deps, {
    ...nothingHoldsItBack,
    account,
    source: 'dashboard',
    simulation: false,
    action: direction === 'long' ? 'close_long' : 'close_short',
    orderType: null,
    intent: { operation: 'CLOSE_POSITION', direction },
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

function notConfirmed(closes: readonly Order[]): Halted['flatten_error'] {
  if (closes.length === 0) return null;
  const named = closes.map(({ id, symbol, status }) => `${symbol} (order ${id}: ${status})`).join(', ');
  return {
    code: 'close_unconfirmed',
    message:
      `The account is halted, but it is not confirmed that everything is closed: ${named}. ` +
      'Look at these orders again in a moment, and at your broker; close there what is still open, or flatten again.',
  };
}

function mayYetOpen(entries: readonly { readonly orderId: string; readonly symbol: string }[]) {
  if (entries.length === 0) return null;
  const named = entries.map(({ orderId, symbol }) => `${orderId} (${symbol})`).join(', ');
  return {
    code: 'entries_open',
    message:
      `The account is halted, but an entry that was sent before has not ended at the broker and may yet open a position: ` +
      `order ${named}. Cancel it at your broker, or flatten again when it has ended.`,
  };
}

const notClosed = ({ code, detail }: Denial, open: readonly string[]): Halted['flatten_error'] => ({
  code,
  message:
    `The account is halted, but ${open.length > 0 ? open.join(', ') : 'its positions'} could not be closed: ${detail} ` +
    'Look at your broker, and close them there, or flatten again.',
});
