// Every attempt leaves an entry, with where it came from and what it was about.

import { type AuditEntry, insertAuditEntry } from '../../data/audit/log.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { type Denial, whyRefused } from '../../domain/denial.ts';
import { type Timestamp, timestamp, type UserId } from '../../domain/ids.ts';

/** What every request brings along. */
export interface RequestContext {
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly path: string;
  readonly method: string;
}

/** Nobody's request: we found it. */
export const OURSELVES: RequestContext = { requestId: '', ip: '', userAgent: null, path: '', method: '' };

export interface AuditEvent {
  readonly userId: UserId | null;
  readonly action: string;
  /** Why, or which refusal of ours; null: it succeeded. */
  readonly failure: string | Denial | null;
  readonly resource?: { readonly type: string; readonly id: string };
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function audit(context: RequestContext, event: AuditEvent, now: number): Statement {
  const at: Timestamp = timestamp(now);
  const length = event.userId === null ? STRANGERS_TEXT : 512;
  const { failure } = event;
  const why = failure !== null && typeof failure === 'object' ? whyRefused(failure) : failure;
  const entry: AuditEntry = {
    userId: event.userId,
    action: event.action,
    success: why === null,
    ipAddress: context.ip,
    userAgent: context.userAgent === null ? null : storable(context.userAgent, length),
    requestPath: storable(context.path, length),
    requestMethod: context.method,
    errorMessage: why === null ? null : storable(why, 1024),
    resourceType: event.resource?.type ?? null,
    resourceId: event.resource?.id ?? null,
    metadata: { request_id: context.requestId, ...event.metadata },
    createdAt: at,
  };
  return insertAuditEntry(entry);
}

/** Of somebody whom we do not know. */
const STRANGERS_TEXT = 128;

/** An entry of its own, for what commits nothing else. */
export async function writeAudit(
  { db, clock }: { db: Db; clock: { now(): number } },
  context: RequestContext,
  event: AuditEvent,
): Promise<void> {
  await db.commit([audit(context, event, clock.now())]);
}

/** Strangers choose these texts: bounded, and nothing that a database refuses to store. */
export const storable = (text: string, length: number): string =>
  text.slice(0, length).toWellFormed().replaceAll('\0', '\ufffd');
