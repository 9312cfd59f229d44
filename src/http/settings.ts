// What users settle for themselves. Keys are managed by sessions only.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { User } from '../app/access.ts';
import type { Owner } from '../app/accounts.ts';
import type { RequestContext } from '../app/audit.ts';
import type { PageRequest } from '../app/pages.ts';
import type { Denial, SecurityEvent } from '../domain/denial.ts';
import type { UserId } from '../domain/ids.ts';
import { answer, pageOf, secretAnswer } from './answers.ts';
import {
  AcceptTermsBody,
  AllowedIpBody,
  ApiKeyBody,
  AuditLogQuery,
  NoBody,
  PageQuery,
  SecurityAttacksQuery,
} from './schemas.ts';

export interface SettingsRoutes {
  readApiKeys(user: UserId, page: PageRequest): Promise<object>;
  createApiKey(owner: Owner, key: { name: string; expiresInDays: number | null }): Promise<object>;
  removeApiKey(owner: Owner, id: string): Promise<Denial | null>;
  readAllowedIps(user: UserId, page: PageRequest): Promise<object>;
  addAllowedIp(owner: Owner, ip: { ipAddress: string; label: string | null }): Promise<Denial | object>;
  removeAllowedIp(owner: Owner, id: string): Promise<Denial | null>;
  acceptTerms(owner: Owner, version: string): Promise<Denial | null>;
  readSubscription(user: User): Promise<object>;
  readSecurityAttacks(user: UserId, page: PageRequest & { type: SecurityEvent | null }): Promise<object>;
  readAuditLog(user: UserId, page: PageRequest & { action: string | null }): Promise<object>;
  contextOf(request: FastifyRequest): RequestContext;
}

/** Of the audit log: its ids count up. */
const isEntryId = (text: string): boolean => /^\d{1,15}$/.test(text);

export function settingsRoutes(server: FastifyInstance, deps: SettingsRoutes): void {
  const user = { config: { access: 'user' } } as const;
  const session = { config: { access: 'session' } } as const;
  const ownerOf = (request: FastifyRequest): Owner => ({
    id: request.caller.user.id,
    context: deps.contextOf(request),
  });

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/settings/api-keys',
    { ...session, schema: { querystring: PageQuery } },
    (request) => deps.readApiKeys(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof ApiKeyBody> }>(
    '/settings/api-keys',
    { ...session, schema: { body: ApiKeyBody } },
    async (request, reply) => {
      const { name, expires_in_days: expiresInDays = null } = request.body;
      const made = await deps.createApiKey(ownerOf(request), { name, expiresInDays });
      return secretAnswer(request, reply, made, 201);
    },
  );

  server.delete<{ Params: { id: string } }>(
    '/settings/api-keys/:id',
    { ...session, schema: { body: NoBody } },
    async (request, reply) =>
      answer(request, reply, await deps.removeApiKey(ownerOf(request), request.params.id)),
  );

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/settings/allowed-ips',
    { ...user, schema: { querystring: PageQuery } },
    (request) => deps.readAllowedIps(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof AllowedIpBody> }>(
    '/settings/allowed-ips',
    { ...user, schema: { body: AllowedIpBody } },
    async (request, reply) => {
      const { ip_address: ipAddress, label = null } = request.body;
      return answer(request, reply, await deps.addAllowedIp(ownerOf(request), { ipAddress, label }), 201);
    },
  );

  server.delete<{ Params: { id: string } }>(
    '/settings/allowed-ips/:id',
    { ...user, schema: { body: NoBody } },
    async (request, reply) =>
      answer(request, reply, await deps.removeAllowedIp(ownerOf(request), request.params.id)),
  );

  server.post<{ Body: Static<typeof AcceptTermsBody> }>(
    '/settings/terms',
    { ...user, schema: { body: AcceptTermsBody } },
    async (request, reply) =>
      answer(request, reply, await deps.acceptTerms(ownerOf(request), request.body.version)),
  );

  server.get<{ Querystring: Static<typeof SecurityAttacksQuery> }>(
    '/settings/security-attacks',
    { ...user, schema: { querystring: SecurityAttacksQuery } },
    (request) => {
      const { type = null, ...page } = request.query;
      return deps.readSecurityAttacks(request.caller.user.id, { type, ...pageOf(page, isEntryId) });
    },
  );

  server.get<{ Querystring: Static<typeof AuditLogQuery> }>(
    '/settings/audit-log',
    { ...user, schema: { querystring: AuditLogQuery } },
    (request) => {
      const { action = null, ...page } = request.query;
      return deps.readAuditLog(request.caller.user.id, { action, ...pageOf(page, isEntryId) });
    },
  );

  server.get('/settings/subscription', user, (request) => deps.readSubscription(request.caller.user));
}
