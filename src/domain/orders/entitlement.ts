// May this order be placed at all? Halt, plan, terms, credentials, daily limit, in the contract's order.

import { type Denial, deny } from '../denial.ts';
import { timestamp } from '../ids.ts';
import type { OrderIntent } from './order.ts';

export interface Plan extends Partial<Room> {
  readonly simulation_only: boolean;
  /** null: no limit. */
  readonly daily_orders: number | null;
}

/** How many of each a user may have: nobody fills the service. */
export interface Room {
  readonly accounts: number;
  readonly api_keys: number;
  readonly allowed_ips: number;
}
/** Where a plan does not say it: anybody can register for one that only simulates. */
const ROOM: Room = { accounts: 200, api_keys: 200, allowed_ips: 200 };
const ROOM_TO_SIMULATE: Room = { accounts: 20, api_keys: 20, allowed_ips: 50 };

export function roomOf(plan: Plan): Room {
  const room = plan.simulation_only ? ROOM_TO_SIMULATE : ROOM;
  const { accounts = room.accounts, api_keys = room.api_keys, allowed_ips = room.allowed_ips } = plan;
  return { accounts, api_keys, allowed_ips };
}

export type Plans = Readonly<Record<string, Plan>> & { readonly free: Plan };

export const DEFAULT_PLANS: Plans = {
  free: { simulation_only: true, daily_orders: 100 },
  starter: { simulation_only: false, daily_orders: 200 },
  pro: { simulation_only: false, daily_orders: 2000 },
  desk: { simulation_only: false, daily_orders: null },
};

export interface Subscription {
  readonly plan: string;
  /** Epoch milliseconds; null: does not expire. */
  readonly planExpiresAt: number | null;
}

/** An expired plan, or one that the configuration no longer knows, behaves as `free`. */
export function effectivePlan(plans: Plans, { plan, planExpiresAt }: Subscription, now: number): string {
  const hasExpired = planExpiresAt !== null && planExpiresAt <= now;
  return hasExpired || !Object.hasOwn(plans, plan) ? 'free' : plan;
}

export interface Standing {
  readonly intent: OrderIntent;
  readonly simulation: boolean;
  readonly plan: Plan;
  /** There was a plan beyond `free`, now or at some time. */
  readonly hadPlan: boolean;
  readonly halted: boolean;
  /** `outdated`: earlier ones were accepted, and not yet those that stand now. */
  readonly terms: 'accepted' | 'outdated' | 'never_accepted';
  /** `refused`: they were verified once, and the broker refused them later. */
  readonly credentials: 'verified' | 'refused' | 'never_verified';
  /** Of the same kind, real or simulated. */
  readonly ordersToday: number;
  /** It is none of those that are counted. */
  readonly isUncounted?: boolean;
  /** Seconds until the next UTC day. */
  readonly secondsLeftToday: number;
}

export const isEntry = ({ operation }: OrderIntent): boolean => operation === 'PLACE_ENTRY_ORDER';

/**
 * Every refusal there would be, in the contract's order. Exits and closes pass where an entry does not: nothing that
 * changed since may keep anybody in a position.
 */
export function entitlements(standing: Standing): Denial[] {
  const { simulation, plan, terms, credentials } = standing;
  const isExit = !isEntry(standing.intent);
  const mayTrade = simulation || !plan.simulation_only || (isExit && standing.hadPlan);
  const termsPass = simulation || terms === 'accepted' || (isExit && terms === 'outdated');
  const mayLogIn = simulation || credentials === 'verified' || (isExit && credentials === 'refused');
  const isCounted = !isExit && !standing.isUncounted;
  const isUsedUp = plan.daily_orders !== null && isCounted && standing.ordersToday >= plan.daily_orders;
  return [
    ...(standing.halted && !isExit ? [deny('account_halted')] : []),
    ...(mayTrade ? [] : [deny('plan_simulation_only')]),
    ...(termsPass ? [] : [deny('terms_not_accepted')]),
    ...(mayLogIn ? [] : [deny('credentials_not_verified')]),
    ...(isUsedUp ? [deny('daily_limit_reached', { retryAfter: standing.secondsLeftToday })] : []),
  ];
}

/** A day is a UTC day. */
export const dayOf = (now: number): string => timestamp(now).slice(0, 10);

const DAY_MS = 86_400_000;
export const secondsLeftOfDay = (now: number): number => Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
