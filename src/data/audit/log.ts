// audit_logs: append only.

import type { ChainedEntry } from '../../domain/audit-chain.ts';
import type { OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';
import { untilDone } from '../engine/steps.ts';

export interface AuditEntry {
  readonly userId: UserId | null;
  readonly action: string;
  readonly success: boolean;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly requestPath: string | null;
  readonly requestMethod: string | null;
  readonly errorMessage: string | null;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: Timestamp;
}

export function insertAuditEntry(entry: AuditEntry): Statement {
  return sql`insert into audit_logs (user_id, action, success, ip_address, user_agent, request_path, request_method,
      error_message, resource_type, resource_id, metadata, created_at)
    values (${entry.userId}, ${entry.action}, ${entry.success}, ${entry.ipAddress}, ${entry.userAgent},
      ${entry.requestPath}, ${entry.requestMethod}, ${entry.errorMessage}, ${entry.resourceType},
      ${entry.resourceId}, ${JSON.stringify(entry.metadata)}, ${entry.createdAt})`;
}

/** As it is shown to its user. */
export interface StoredEntry extends Omit<ChainedEntry, 'id'> {
  readonly id: string;
}

/** Newest first; `after` is the id of the last entry of the page before. */
export async function listAuditEntries(
  db: Reads,
  user: UserId,
  {
    actions,
    order = null,
    until = null,
    after,
    limit,
  }: {
    actions: readonly string[] | null;
    /** Only what is about it. */
    order?: OrderId | null;
    /** Only what was done by then. Whatever is newer is passed over one by one: `after` is to be near. */
    until?: Timestamp | null;
    after: string | null;
    limit: number;
  },
): Promise<StoredEntry[]> {
  const newest = (action: string | null): Statement => {
    const conditions = [sql`where user_id = ${user}`];
    if (after !== null) conditions.push(sql`id < ${Number(after)}`);
    if (action !== null) conditions.push(sql`action = ${action}`);
    if (until !== null) conditions.push(sql`created_at <= ${until}`);
    // In the words of the index, which would not be taken otherwise.
    if (order !== null) conditions.push(sql`resource_type = 'order' and resource_id = ${order}`);
    return join(
      [
        sql`select id, user_id, action, success, ip_address, user_agent, request_path, request_method, error_message,
              resource_type, resource_id, metadata, created_at
            from audit_logs`,
        join(conditions, ' and '),
        sql`order by id desc limit ${limit}`,
      ],
      ' ',
    );
  };
  // One by one, each by its index: a few attacks among a million orders are not to be looked for one by one.
  const each = (actions ?? [null]).map((action) =>
    join([sql`select * from (`, newest(action), sql`) as newest`], ''),
  );
  const rows = await db.all<Omit<StoredEntry, 'id' | 'success'> & { id: number; success: number | boolean }>(
    join([join(each, ' union all '), sql`order by id desc limit ${limit}`], ' '),
  );
  return rows.map((row) => ({ ...row, id: String(row.id), success: Boolean(row.success) }));
}

/**
 * The place in the log, among the user's entries, before which all were written by then. By halves: entries are numbered as they are
 * written, but for those that were committed at one moment.
 */
export async function placeAfter(db: Reads, user: UserId, at: Timestamp): Promise<string> {
  const last = await db.get<{ id: number }>(
    sql`select id from audit_logs where user_id = ${user} order by id desc limit 1`,
  );
  let [written, later] = [0, (last?.id ?? 0) + 1];
  await untilDone(async () => {
    if (written + 1 >= later) return false;
    const middle = Math.floor((written + later) / 2);
    const found = await db.get<{ id: number; created_at: Timestamp }>(
      sql`select id, created_at from audit_logs where user_id = ${user} and id >= ${middle} order by id limit 1`,
    );
    if (found && found.created_at <= at) written = found.id;
    else later = middle;
    return true;
  });
  return String(later);
}
