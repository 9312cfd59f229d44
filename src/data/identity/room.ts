// No user fills the service: of what is kept per user there is an end.

import type { UserId } from '../../domain/ids.ts';
import type { Room } from '../../domain/orders/entitlement.ts';
import { must, type Statement, sql } from '../engine/db.ts';

const ROOM = {
  allowed_ips: (user: UserId, most: number) =>
    sql`select 1 from users where id = ${user}
        and (select count(*) from user_allowed_ips where user_id = ${user}) < ${most}`,
  api_keys: (user: UserId, most: number) =>
    sql`select 1 from users where id = ${user}
        and (select count(*) from api_keys where user_id = ${user} and revoked_at is null) < ${most}`,
  accounts: (user: UserId, most: number) =>
    sql`select 1 from users where id = ${user}
        and (select count(*) from trading_accounts where user_id = ${user} and deleted_at is null) < ${most}`,
};

/**
 * Guarded by `room`. The user's row is written as it is, so that two at once take turns; and the count is a statement of
 * its own, because only one that begins after the wait sees what the other has added.
 */
export const roomFor = (what: keyof Room, user: UserId, room: Room): Statement[] => [
  sql`update users set plan = plan where id = ${user}`,
  must('room', ROOM[what](user, room[what])),
];
