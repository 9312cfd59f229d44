// A group's signals: one body for several accounts. Each member's part in it is a signal of that account, so that whatever must hold of
// signals must hold of it.

import type { Decimal } from '../src/domain/decimal.ts';
import { symbolFor } from '../src/domain/groups.ts';
import type { OrderResult } from '../src/domain/orders/result.ts';
import type { Team } from './desks.ts';
import type { Delivery, Signal } from './signals.ts';
import type { Venue } from './venue.ts';

export interface TeamDelivery {
  readonly sentAt: number;
  readonly ms: number;
  /** null: no answer, or one that broke off. */
  readonly answer: { readonly status: number; readonly body: TeamAnswer } | null;
}

export interface TeamAnswer {
  readonly code?: string;
  readonly group_id?: string;
  readonly members?: readonly {
    readonly trading_account_id: string;
    readonly order: OrderResult | null;
    readonly error: { readonly status: number; readonly code: string } | null;
  }[];
  /** Of a repeat, and of one that nobody took. */
  readonly orders?: readonly { readonly trading_account_id: string; readonly order_id: string | null }[];
}

export interface TeamSignal {
  readonly team: Team;
  readonly action: string;
  readonly quantity: Decimal;
  readonly path: string;
  readonly body: string;
  readonly deliveries: TeamDelivery[];
  /** Each member's part in it, in their order. */
  readonly parts: readonly Signal[];
}

/** What the member's account trades where the signal names `symbol`. */
export const tradedBy = ({ member }: Team['members'][number], symbol: string, { broker }: Venue): string =>
  symbolFor(broker, member.symbols, symbol);

/** What a member was told by an answer to all; null: nothing of its own. */
export function partOf(
  { status, body }: NonNullable<TeamDelivery['answer']>,
  account: string,
): Delivery['answer'] {
  const isIt = (each: { readonly trading_account_id: string }) => each.trading_account_id === account;
  if (status === 409) {
    // One that was refused the first time is refused again, and is not judged by that twice.
    const order = body.orders?.find(isIt)?.order_id;
    return order ? { status, body: { order_id: order } as OrderResult } : null;
  }
  const own = body.members?.find(isIt);
  if (own?.order) return { status, body: own.order };
  if (own?.error) return { status: own.error.status, body: own.error as unknown as OrderResult };
  const isTaken = status === 200 || status === 202;
  // Nothing is said of it, though it is a member.
  return isTaken
    ? { status: 0, body: { code: 'absent' } as unknown as OrderResult }
    : { status, body: body as OrderResult };
}
