// From where a user may trade: addresses and CIDR blocks, in canonical form.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface AllowedIp {
  readonly id: string;
  readonly userId: UserId;
  readonly ipAddress: string;
  readonly label: string | null;
  readonly createdAt: Timestamp;
}

/** Guarded by `new`: an address stands once on a user's list. */
export const insertAllowedIp = (ip: AllowedIp): Statement =>
  must(
    'new',
    sql`insert into user_allowed_ips (id, user_id, ip_address, label, created_at)
        values (${ip.id}, ${ip.userId}, ${ip.ipAddress}, ${ip.label}, ${ip.createdAt})
        on conflict (user_id, ip_address) do nothing`,
  );

/** Oldest first; `after` is the last one of the page before. */
export async function listAllowedIps(
  db: Reads,
  user: UserId,
  { after, limit }: { after: string | null; limit: number },
): Promise<AllowedIp[]> {
  const conditions = [sql`where user_id = ${user}`];
  if (after) conditions.push(sql`id > ${after}`);
  const rows = await db.all<{ id: string; ip_address: string; label: string | null; created_at: Timestamp }>(
    join(
      [
        sql`select id, ip_address, label, created_at from user_allowed_ips`,
        join(conditions, ' and '),
        sql`order by id limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map((row) => ({
    id: row.id,
    userId: user,
    ipAddress: row.ip_address,
    label: row.label,
    createdAt: row.created_at,
  }));
}

/** Guarded by `found`. */
export const deleteAllowedIp = (user: UserId, id: string): Statement =>
  must('found', sql`delete from user_allowed_ips where id = ${id} and user_id = ${user}`);
