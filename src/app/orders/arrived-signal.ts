// What is kept of every arrival at a user's webhook: the message as received, the secret masked, and what was made of it.

import type { User } from '../../data/identity/users.ts';
import type { ArrivedSignal } from '../../data/orders/signals.ts';
import { toNumberOrNull } from '../../domain/decimal.ts';
import { type Denial, toldOf } from '../../domain/denial.ts';
import { type AccountId, type GroupId, type OrderId, timestamp } from '../../domain/ids.ts';
import { wishJson } from '../../domain/protection/wish.ts';
import { maskMessage } from '../../domain/signals/masking.ts';
import { type BodyReading, readBody, type Signal } from '../../domain/signals/signal.ts';
import { positionOf } from '../../domain/signals/strategy.ts';
import { type Check, checkOf } from '../../domain/signals/webhook-checks.ts';
import { type RequestContext, storable } from '../audit/audit.ts';
import { newId } from '../new-id.ts';
import type { SecretBox } from '../secret-box.ts';
import type { Lock } from './judge-message.ts';
import type { Attempt } from './once.ts';

interface Arrival {
  readonly body: Uint8Array | null;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

/** Whose webhook it arrived at. */
export interface Whose {
  /** Of a group, its first member; null: it has none. */
  readonly accountId: AccountId | null;
  readonly groupId: GroupId | null;
  readonly name: string;
  readonly lock: Pick<Lock, 'id' | 'webhookSecret'>;
}

/** What is known of a request by the time it is denied; it goes into the audit entry. */
export interface Findings {
  user?: User;
  whose?: Whose;
  /** Whoever it is had no secret, and was not even listened to. */
  isStranger?: boolean;
  /** It is refused before any limit has counted it: too large, or for a user who is deactivated. */
  isBeforeLimit?: boolean;
  /** The user's own, and more than the user may send. */
  isOverLimit?: boolean;
  metadata: Readonly<Record<string, unknown>>;
  /** Where its code does not say it. */
  refusedBy?: Check;
  /** The body, where it was looked at. */
  reading?: BodyReading;
  signal?: Signal;
  /** What decides it, where it came so far. */
  attempt?: Attempt;
  /** It asked for a rehearsal, plainly: so it is shown, however early it was refused. */
  readonly simulation: boolean;
}

/** `end`: the order that it became, the report that it was, or why it was refused. null: it was at nobody's webhook. */
export function arrivedSignal(
  { secrets, clock }: { readonly secrets: SecretBox; readonly clock: { now(): number } },
  { body, arrivedAt, context }: Arrival,
  { user, whose, reading, signal, simulation, refusedBy, isStranger }: Findings,
  end: OrderId | 'sync' | Denial,
): ArrivedSignal | null {
  if (!user || !whose?.accountId) return null;
  const { lock } = whose;
  const denial = typeof end === 'object' ? end : null;
  return {
    id: newId(),
    userId: user.id,
    accountId: whose.accountId,
    arrivedAt: timestamp(arrivedAt),
    simulation,
    symbol: signal?.symbol ?? null,
    action: signal?.action ?? null,
    quantity: signal?.quantity ?? null,
    outcome: denial ? 'refused' : signal?.action === 'sync' ? 'sync' : 'order',
    code: denial?.code ?? null,
    detail: denial && storable(toldOf(denial), 1024),
    refusedBy: denial && (refusedBy ?? checkOf(denial.code)),
    orderId: denial || end === 'sync' ? null : (end as OrderId),
    totalMs: denial || end === 'sync' ? Math.max(0, clock.now() - arrivedAt) : null,
    ip: context.ip,
    // Of a stranger beyond the limit: it was not listened to, and nobody is to fill the disk with it.
    message:
      isStranger || !body
        ? null
        : storable(
            maskMessage(reading ?? readBody(body), secrets.open(lock.webhookSecret, lock.id)),
            MOST_CHARACTERS,
          ),
    understood: signal ? understanding(signal) : null,
    ignored: signal?.ignored ?? [],
  };
}

const MOST_CHARACTERS = 16_384;

/** A signal as it was understood. */
export const understanding = (signal: Signal) => ({
  action: signal.action,
  symbol: signal.symbol,
  ...(signal.asReceived.apart?.id && { id: signal.asReceived.apart.id }),
  quantity: toNumberOrNull(signal.quantity),
  ...(signal.quantityType !== 'units' && { quantity_type: signal.quantityType }),
  operation: signal.intent.operation,
  order_type: signal.orderType,
  target: toNumberOrNull(signal.intent.target?.position ?? null),
  market_position: signal.after?.side ?? null,
  strategy_position: signal.after && toNumberOrNull(positionOf(signal.after)),
  prev_market_position: signal.before?.side ?? null,
  prev_strategy_position: signal.before && toNumberOrNull(positionOf(signal.before)),
  price: toNumberOrNull(signal.price),
  signal_time: signal.timestamp === null ? null : timestamp(signal.timestamp),
  ...(signal.protection && { protection: wishJson(signal.protection) }),
  ...(signal.priced && {
    limit_price: toNumberOrNull(signal.priced.limit),
    stop_price: toNumberOrNull(signal.priced.stop),
    time_in_force: signal.priced.timeInForce,
    expires_in: signal.priced.expiresInSeconds,
  }),
});
