// How much of everything a user may make, by the plan that holds now.

import type { User } from '../../data/identity/users.ts';
import { millis } from '../../domain/ids.ts';
import { effectivePlan, type Plans, type Room, roomOf } from '../../domain/orders/entitlement.ts';

export interface RoomDeps {
  readonly plans: Plans;
  readonly clock: { now(): number };
}

export function roomOfUser({ plans, clock }: RoomDeps, user: User): Room {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  return roomOf(plans[effectivePlan(plans, { plan: user.plan, planExpiresAt }, clock.now())] ?? plans.free);
}
