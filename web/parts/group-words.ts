// What became of a group's signal, in words.

import type { components } from '../api/schema.ts';
import { reasonOf } from './reasons.ts';

type Signal = components['schemas']['SignalSummary'];
type MemberOrder = components['schemas']['MemberOrder'];

/** `3 of 4`: so many of its members took it. */
export function takenBy({ orders, outcome }: Pick<Signal, 'orders' | 'outcome'>): string {
  if (outcome !== 'order') return outcome;
  return `${orders.filter(({ order_id }) => order_id !== null).length} of ${orders.length}`;
}

/** Why a member did not. */
export const refusedFor = ({ code, detail }: Pick<MemberOrder, 'code' | 'detail'>): string =>
  reasonOf({ code, detail, ip_address: '' });

/** Who refused it, and why; of one that nobody took, why. */
export function whatHappened(signal: Signal, nameOf: (account: string) => string): string {
  const { orders, outcome } = signal;
  if (outcome === 'refused') return reasonOf(signal);
  if (outcome === 'sync') return 'Each said where it stands';
  const refused = orders.filter(({ code }) => code !== null);
  if (refused.length === 0) return `Taken by all ${orders.length}`;
  return refused
    .map((order) => `${nameOf(order.trading_account_id)} refused it: ${refusedFor(order)}`)
    .join('; ');
}
