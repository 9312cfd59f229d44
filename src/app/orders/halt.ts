// The kill switch. The flag comes first and holds whatever happens to the rest: from its commit on no entry is accepted,
// and a worker sends none that was accepted before. Then, where it is asked for and from where the user may trade, every
// position is closed.

import type { Position } from '../../broker/broker.ts';
import { type Account, changeAccount } from '../../data/accounts.ts';
import { absolute, sign } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type OrderResult, orderResult } from '../../domain/order-result.ts';
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
  /** Null: nothing was left out. The halt holds in any case. */
  readonly flatten_error: { readonly code: string; readonly message: string } | null;
}

export async function haltAccount(deps: HaltDeps, request: HaltRequest): Promise<Halted | Denial> {
  const { user, accountId, flatten, context } = request;
  const account = await changeOwn(deps, { id: user.id, context }, accountId, 'account_halted', (id) =>
    changeAccount(id, { halted: true }),
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
    changeAccount(own, { halted: false }),
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

  const held = cleared.positions.filter(({ quantity }) => sign(quantity) !== 0);
  const outcomes = await Promise.all(
    held.map((position) => attempt(deps, () => close(deps, request, account, position))),
  );
  const orders = outcomes.flatMap((outcome) => (isDenial(outcome) ? [] : [orderResult(outcome.order)]));
  const denial = outcomes.find((outcome) => isDenial(outcome));
  const open = held.filter((_, index) => isDenial(outcomes[index] ?? {})).map(({ symbol }) => symbol);
  return { orders, flatten_error: denial ? notClosed(denial, open) : mayYetOpen(cleared.open) };
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
    'Look at your broker, and close them there or ask for it again.',
});
