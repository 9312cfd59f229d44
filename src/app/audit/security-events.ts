// What a user can see of the audit log: all entries, and among them those that are classified as attacks.

import { listAuditEntries, type StoredEntry } from '../../data/audit/log.ts';
import type { Db } from '../../data/engine/db.ts';
import { SECURITY_EVENTS, type SecurityEvent } from '../../domain/denial.ts';
import type { OrderId, UserId } from '../../domain/ids.ts';
import { onePage, type PageRequest, pageOf } from '../pages.ts';

export async function readSecurityAttacks(
  { db }: { db: Db },
  user: UserId,
  { type, ...page }: PageRequest & { type: SecurityEvent | null },
) {
  const actions = type ? [type] : SECURITY_EVENTS;
  const entries = await listAuditEntries(db.lists, user, { actions, ...onePage(page) });
  return pageOf(entries, page, (entry) => ({ ...shown(entry), type: entry.action }));
}

export async function readAuditLog(
  { db }: { db: Db },
  user: UserId,
  { action, order, ...page }: PageRequest & { action: string | null; order: OrderId | null },
) {
  const entries = await listAuditEntries(db.lists, user, {
    actions: action ? [action] : null,
    order,
    ...onePage(page),
  });
  return pageOf(entries, page, shown);
}

export const shown = ({ id, metadata, ...entry }: StoredEntry) => ({
  id: Number(id),
  ...entry,
  metadata: JSON.parse(metadata) as Record<string, unknown>,
});
