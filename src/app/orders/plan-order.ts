// What an order would do: asked of the worker, who decides it as it decides every order, and sends nothing.

import type { Account } from '../../data/accounts/accounts.ts';
import { type Decimal, ONE, toNumber, ZERO } from '../../domain/decimal.ts';
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
import { describePlan, restingPlan } from '../../domain/orders/plan-words.ts';
import { type AskedPrice, pricedOf } from '../../domain/orders/priced.ts';
import { explained, shownSizing } from '../../domain/orders/result.ts';
import { takenWith } from '../../domain/orders/sized-order.ts';
import { type QuantityType, sizingOf } from '../../domain/orders/sizing.ts';
import { foreseen } from '../../domain/protection/foreseen.ts';
import type { Wish } from '../../domain/protection/wish.ts';
import { mapAction } from '../../domain/signals/mapping.ts';
import { readQuantityType } from '../../domain/signals/quantity-type.ts';
import type { Signal } from '../../domain/signals/signal.ts';
import type { Work } from '../../worker/host/mailbox.ts';
import { type AskDeps, askWorker } from '../accounts/account-broker.ts';
import { ownAccount } from '../accounts/accounts.ts';
import { newId } from '../new-id.ts';
import { readAsked, wishOf } from '../protection/wished.ts';
import { askedRefusal } from './dashboard-order.ts';
import type { PlaceOrderDeps } from './place-order.ts';
import { readPriced } from './priced.ts';

interface Drafted {
  readonly source: Source;
  readonly simulation: boolean;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly quantityType: QuantityType;
  /** With which it is taken. */
  readonly factor: Decimal;
  readonly notes: SignalNotes;
  /** What it asks for about protection; null: nothing. */
  readonly protection: Wish | null;
  /** What its entry waits for; null: it is at the market. */
  readonly priced: AskedPrice | null;
}

export interface OrderPlan {
  readonly legs: readonly { readonly leg: string; readonly side: string; readonly quantity: number }[];
  readonly text: string;
  /** null: it is not known where it would stand. */
  readonly protection:
    | readonly {
        readonly leg: 'stop' | 'target';
        readonly price: number;
        readonly quantity: number;
        readonly how: string;
      }[]
    | null;
  /** null: it trades as many units as it says. */
  readonly sizing: ReturnType<typeof shownSizing> | null;
  /** null: nothing of it would rest. */
  readonly rests: ReturnType<typeof restingPlan>;
  readonly guards: Order['guards'];
  readonly error: ReturnType<typeof explained>;
}

export async function planFor(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock'>,
  account: Account,
  drafted: Drafted,
): Promise<OrderPlan | Denial> {
  const hasGuards = Object.keys(account.guards).length > 0;
  const answer = await askWorker(deps, account.userId, {
    kind: 'plan',
    accountId: account.id,
    draft: draftOf(account, drafted, deps.clock.now()),
    guards: hasGuards ? account.guards : null,
    isProof: false,
  });
  if (isDenial(answer)) return answer;
  return showPlan(answer);
}

/** A worker of the release before says nothing of the market. */
function showPlan({
  planned,
  market = null,
}: Exclude<Work['plan']['answer'], { readonly unavailable: string }>): OrderPlan {
  const { legs, also, error } = foreseen(planned, market);
  return {
    legs: planned.legs.map(({ leg, side, quantity }) => ({ leg, side, quantity: toNumber(quantity) })),
    text: [describePlan(planned), ...also].join(' '),
    protection:
      legs === null
        ? null
        : legs.map(({ leg, price, quantity, how }) => ({
            ...{ leg, price: toNumber(price), quantity: toNumber(quantity), how },
          })),
    sizing: planned.sizing ? shownSizing(planned.sizing, planned) : null,
    rests: restingPlan(planned),
    guards: planned.guards,
    error: explained(planned.error ?? error),
  };
}

/** What is multiplied is compared in steps: then they are asked for, too. */
function asking(draft: Order, factor: Decimal): Order {
  const sizing = sizingOf('units', ZERO, factor);
  return sizing ? { ...draft, sizing } : draft;
}

/** What is held of the symbol, as an order would find it; or why nobody can tell. */
export async function positionFor(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock'>,
  account: Account,
  { factor = ONE, ...of }: Pick<Drafted, 'symbol' | 'simulation'> & { readonly factor?: Decimal },
): Promise<
  { readonly position: Decimal; readonly step: Decimal | null } | { readonly rejection: OrderError } | Denial
> {
  const answer = await askWorker(deps, account.userId, {
    kind: 'plan',
    accountId: account.id,
    draft: asking(draftOf(account, { ...CLOSE, ...of }, deps.clock.now()), factor),
    guards: null,
    isProof: true,
  });
  if (isDenial(answer)) return answer;
  const { positionBefore, error, sizing } = answer.planned;
  if (positionBefore !== null) return { position: positionBefore, step: sizing?.step ?? null };
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
  quantityType: 'units',
  factor: ONE,
  notes: NO_NOTES,
  protection: null,
  priced: null,
} as const satisfies Partial<Drafted>;

/** What a signal would order. */
export const draftedBy = (signal: Signal, simulation: boolean, factor: Decimal): Drafted => ({
  source: 'webhook',
  simulation,
  action: signal.action,
  orderType: signal.orderType,
  intent: signal.intent,
  symbol: signal.symbol,
  quantity: signal.quantity,
  quantityType: signal.quantityType,
  factor,
  notes: { ...NO_NOTES, marketPosition: signal.after?.side ?? null, price: signal.price },
  protection: signal.protection,
  priced: signal.priced,
});

export interface PlanRequest {
  readonly userId: UserId;
  /** Of one of both. */
  readonly accountId: string | undefined;
  readonly groupId: string | undefined;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly simulation: boolean;
  /** The body as validated. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What is asked for, before it is known of whom. */
export function readPlanned({
  action,
  orderType,
  symbol,
  quantity,
  simulation,
  fields,
}: PlanRequest): Omit<Drafted, 'source' | 'factor'> | Denial {
  const mapped = mapAction(action, orderType);
  if ('problem' in mapped) return deny('request_invalid', { detail: mapped.problem });
  const pricing = readPriced(fields, { ...mapped, action });
  if ('problem' in pricing) return deny('request_invalid', { detail: pricing.problem });
  const asked = readAsked(fields, mapped);
  if ('problem' in asked) return deny('request_invalid', { detail: asked.problem });
  const counts = readQuantityType(fields.quantity_type, { ...mapped, quantity });
  if ('problem' in counts) return deny('request_invalid', { detail: counts.problem });
  const { protection } = asked;
  const { intent, priced } = pricing;
  const order = { action, symbol, quantity, simulation, notes: NO_NOTES };
  return { ...mapped, ...order, intent, quantityType: counts.type, protection, priced };
}

/** Of a manual order. */
export async function planDashboardOrder(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock' | 'db'>,
  request: PlanRequest & { readonly accountId: string },
): Promise<OrderPlan | Denial> {
  const asking = readPlanned(request);
  if (isDenial(asking)) return asking;
  const account = await ownAccount(deps, request.userId, request.accountId);
  if (isDenial(account)) return account;
  const refusal = askedRefusal(account, asking);
  if (refusal) return refusal;
  return planFor(deps, account, { source: 'dashboard', ...asking, factor: ONE });
}

const LIFE_MS = 60_000;

/** It stands in no database, and is never sent. */
function draftOf(account: Account, drafted: Drafted, now: number): Order {
  const { protection, quantityType, factor, priced, ...order } = drafted;
  const wish = wishOf(account, { ...order, protection });
  const { intent, sizing } = takenWith(factor, drafted);
  return {
    ...order,
    intent,
    ...(wish && { wish }),
    ...(sizing && { sizing }),
    ...(priced && { priced: pricedOf(priced, now) }),
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
  };
}
