// audit_logs: append only.

import type { Timestamp, UserId } from '../domain/ids.ts';
import { type Statement, sql } from './db.ts';

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
