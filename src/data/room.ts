// No user fills the service: of what is kept per user there is an end.

import type { Room } from '../domain/entitlement.ts';
import type { UserId } from '../domain/ids.ts';
import { must, type Statement, sql } from './db.ts';

/** Guarded by `room`. The user's row is written as it is: two at once could both hold it, but have to take turns here. */
const ROOM = {
  allowed_ips: (user: UserId, most: number) =>
    sql`update users set plan = plan where id = ${user}
        and (select count(*) from user_allowed_ips where user_id = ${user}) < ${most}`,
  api_keys: (user: UserId, most: number) =>
    sql`update users set plan = plan where id = ${user}
        and (select count(*) from api_keys where user_id = ${user} and revoked_at is null) < ${most}`,
  accounts: (user: UserId, most: number) =>
    sql`update users set plan = plan where id = ${user}
        and (select count(*) from trading_accounts where user_id = ${user} and deleted_at is null) < ${most}`,
};

export const roomFor = (what: keyof Room, user: UserId, room: Room): Statement =>
  must('room', ROOM[what](user, room[what]));
