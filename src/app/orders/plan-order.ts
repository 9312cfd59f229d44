// What an order would do: asked of the worker, who decides it as it decides every order, and sends nothing.

import type { Account } from '../../data/accounts/accounts.ts';
import { type Decimal, toNumber, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type OrderId, timestamp, type UserId } from '../../domain/ids.ts';
import {
  type Action,
  NO_NOTES,
  type Order,
  type OrderError,
  type OrderIntent,
  type OrderType,
  type SignalNotes,
  type Source,
} from '../../domain/orders/order.ts';
import { describePlan } from '../../domain/orders/plan-words.ts';
import { explained } from '../../domain/orders/result.ts';
import { mapAction, type Signal } from '../../domain/signals/signal.ts';
import { type AskDeps, askWorker } from '../accounts/account-broker.ts';
import { ownAccount } from '../accounts/accounts.ts';
import { newId } from '../new-id.ts';
import { symbolRefusal } from './dashboard-order.ts';
import type { PlaceOrderDeps } from './place-order.ts';

interface Wish {
  readonly source: Source;
  readonly simulation: boolean;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly notes: SignalNotes;
}

export interface OrderPlan {
  readonly legs: readonly { readonly leg: string; readonly side: string; readonly quantity: number }[];
  readonly text: string;
  readonly guards: Order['guards'];
  readonly error: ReturnType<typeof explained>;
}

export async function planFor(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock'>,
  account: Account,
  wish: Wish,
): Promise<OrderPlan | Denial> {
  const hasGuards = Object.keys(account.guards).length > 0;
  const answer = await askWorker(deps, account.userId, {
    kind: 'plan',
    accountId: account.id,
    draft: draftOf(account, wish, deps.clock.now()),
    guards: hasGuards ? account.guards : null,
    isProof: false,
  });
  if (isDenial(answer)) return answer;
  const { planned } = answer;
  return {
    legs: planned.legs.map(({ leg, side, quantity }) => ({ leg, side, quantity: toNumber(quantity) })),
    text: describePlan(planned),
    guards: planned.guards,
    error: explained(planned.error),
  };
}

/** What is held of the symbol, as an order would find it; or why nobody can tell. */
export async function positionFor(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock'>,
  account: Account,
  of: Pick<Wish, 'symbol' | 'simulation'>,
): Promise<{ readonly position: Decimal } | { readonly rejection: OrderError } | Denial> {
  const answer = await askWorker(deps, account.userId, {
    kind: 'plan',
    accountId: account.id,
    draft: draftOf(account, { ...CLOSE, ...of }, deps.clock.now()),
    guards: null,
    isProof: true,
  });
  if (isDenial(answer)) return answer;
  const { positionBefore, error } = answer.planned;
  if (positionBefore !== null) return { position: positionBefore };
  if (error?.code === 'invalid_symbol') return { rejection: error };
  return deny('broker_unavailable', {
    detail: 'The broker cannot be asked for the position at present.',
    ...(error?.retry_after !== undefined && { retryAfter: error.retry_after }),
  });
}

/** Whatever is held: there is nothing in it that could be refused before the position is read. */
const CLOSE = {
  source: 'dashboard',
  action: 'close',
  orderType: null,
  intent: { operation: 'CLOSE_POSITION', direction: null },
  quantity: ZERO,
  notes: NO_NOTES,
} as const satisfies Partial<Wish>;

/** What a signal would order. */
export const wishOf = (signal: Signal, simulation: boolean): Wish => ({
  source: 'webhook',
  simulation,
  action: signal.action,
  orderType: signal.orderType,
  intent: signal.intent,
  symbol: signal.symbol,
  quantity: signal.quantity,
  notes: { ...NO_NOTES, marketPosition: signal.after?.side ?? null, price: signal.price },
});

export interface PlanRequest {
  readonly userId: UserId;
  readonly accountId: string;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly simulation: boolean;
}

/** Of a manual order. */
export async function planDashboardOrder(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock' | 'db'>,
  { userId, accountId, action, orderType, ...wish }: PlanRequest,
): Promise<OrderPlan | Denial> {
  const mapped = mapAction(action, orderType);
  if ('problem' in mapped) return deny('request_invalid', { detail: mapped.problem });
  const account = await ownAccount(deps, userId, accountId);
  if (isDenial(account)) return account;
  const refusal = symbolRefusal(account, { ...mapped, ...wish });
  if (refusal) return refusal;
  return planFor(deps, account, { source: 'dashboard', action, ...mapped, ...wish, notes: NO_NOTES });
}

const LIFE_MS = 60_000;

/** It stands in no database, and is never sent. */
const draftOf = (account: Account, wish: Wish, now: number): Order => ({
  ...wish,
  id: newId() as OrderId,
  version: 1,
  requestId: null,
  userId: account.userId,
  accountId: account.id,
  brokerName: account.brokerName,
  status: 'executing',
  guards: [],
  error: null,
  positionBefore: null,
  autoExit: false,
  awaitsRest: false,
  legs: [],
  credentialsVersion: null,
  exitError: null,
  submittedAt: timestamp(now),
  deadlineAt: timestamp(now + LIFE_MS),
  filledAt: null,
  trace: {},
});
