// What users settle for themselves. Sessions only: the keys, and the list of addresses, which would otherwise undo itself.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Maker, Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { User } from '../../app/identity/access.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { ListReader } from '../../app/reading.ts';
import type { Denial, SecurityEvent } from '../../domain/denial.ts';
import type { OrderId, UserId } from '../../domain/ids.ts';
import { answer, pageOf } from '../answers.ts';
import { sendList, wantsCsv } from '../csv-answers.ts';
import { ATTACKS_CSV, AUDIT_CSV } from '../csv-columns.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import {
  AllowedIp,
  ApiKey,
  AuditEntry,
  NewApiKey,
  SecurityAttack,
  Subscription,
} from '../schemas/answers.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import { AuditLogQuery, SecurityAttacksQuery } from '../schemas/queries.ts';
import { AcceptTermsBody, AllowedIpBody, ApiKeyBody, NoBody, PageQuery } from '../schemas/requests.ts';

export interface SettingsRoutes {
  readApiKeys(user: UserId, page: PageRequest): Promise<object>;
  createApiKey(owner: Maker, key: { name: string; expiresInDays: number | null }): Promise<object>;
  removeApiKey(owner: Owner, id: string): Promise<Denial | null>;
  readAllowedIps(user: UserId, page: PageRequest): Promise<object>;
  addAllowedIp(owner: Maker, ip: { ipAddress: string; label: string | null }): Promise<Denial | object>;
  removeAllowedIp(owner: Owner, id: string): Promise<Denial | null>;
  acceptTerms(owner: Owner, version: string): Promise<Denial | null>;
  readSubscription(user: User): Promise<object>;
  readonly readSecurityAttacks: ListReader<
    [user: UserId, page: PageRequest & { type: SecurityEvent | null }]
  >;
  readonly readAuditLog: ListReader<
    [user: UserId, page: PageRequest & { action: string | null; order: OrderId | null }]
  >;
  contextOf(request: FastifyRequest): RequestContext;
}

/** Of the audit log: its ids count up. */
const isEntryId = (text: string): boolean => /^\d{1,15}$/.test(text);

export function settingsRoutes(server: FastifyInstance, deps: SettingsRoutes): void {
  type Doc = Omit<RouteDoc, 'tag'>;
  const documented = (doc: Doc): RouteDoc => ({ tag: 'Settings', ...doc });
  const user = (doc: Doc) => ({ config: { access: 'user', doc: documented(doc) } }) as const;
  const session = (doc: Doc) => ({ config: { access: 'session', doc: documented(doc) } }) as const;
  const ownerOf = (request: FastifyRequest): Maker => ({
    id: request.caller.user.id,
    user: request.caller.user,
    context: deps.contextOf(request),
    ...(request.caller.via === 'session' ? { sessionId: request.caller.session.id } : {}),
  });

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/settings/api-keys',
    {
      ...session({
        id: 'listApiKeys',
        summary: 'List the API keys',
        description: 'Oldest first, without revoked ones.',
        answers: { 200: pageSchema(ApiKey) },
      }),
      schema: { querystring: PageQuery },
    },
    (request) => deps.readApiKeys(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof ApiKeyBody> }>(
    '/settings/api-keys',
    {
      ...session({
        id: 'createApiKey',
        summary: 'Make an API key',
        answers: { 201: NewApiKey },
        denials: ['too_many', 'email_not_verified'],
      }),
      schema: { body: ApiKeyBody },
    },
    async (request, reply) => {
      const { name, expires_in_days: expiresInDays = null } = request.body;
      const made = await deps.createApiKey(ownerOf(request), { name, expiresInDays });
      return answer(request, reply, made, 201);
    },
  );

  server.delete<{ Params: { id: string } }>(
    '/settings/api-keys/:id',
    {
      ...session({
        id: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'From the very next request on, nobody gets in with it.',
        params: { id: 'Of the API key.' },
        answers: { 204: null },
        denials: ['not_found'],
      }),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.removeApiKey(ownerOf(request), request.params.id)),
  );

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/settings/allowed-ips',
    {
      ...user({
        id: 'listAllowedIps',
        summary: 'List the allowed addresses',
        description: 'Oldest first. While the list is empty, requests may come from anywhere.',
        answers: { 200: pageSchema(AllowedIp) },
      }),
      schema: { querystring: PageQuery },
    },
    (request) => deps.readAllowedIps(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof AllowedIpBody> }>(
    '/settings/allowed-ips',
    {
      ...session({
        id: 'addAllowedIp',
        summary: 'Allow an address or a block',
        description:
          'From the first entry on, webhook and trading requests from any other address are refused, and you get a mail.',
        answers: { 201: AllowedIp },
        denials: ['allowed_ip_exists', 'too_many'],
      }),
      schema: { body: AllowedIpBody },
    },
    async (request, reply) => {
      const { ip_address: ipAddress, label = null } = request.body;
      return answer(request, reply, await deps.addAllowedIp(ownerOf(request), { ipAddress, label }), 201);
    },
  );

  server.delete<{ Params: { id: string } }>(
    '/settings/allowed-ips/:id',
    {
      ...session({
        id: 'removeAllowedIp',
        summary: 'Take an address off the list',
        params: { id: 'Of the entry.' },
        answers: { 204: null },
        denials: ['not_found'],
      }),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.removeAllowedIp(ownerOf(request), request.params.id)),
  );

  server.post<{ Body: Static<typeof AcceptTermsBody> }>(
    '/settings/terms',
    {
      ...user({
        id: 'acceptTerms',
        summary: 'Accept the terms of service',
        description: 'Real orders are refused until the current version is accepted.',
        answers: { 204: null },
        denials: ['terms_version_outdated'],
      }),
      schema: { body: AcceptTermsBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.acceptTerms(ownerOf(request), request.body.version)),
  );

  server.get<{ Querystring: Static<typeof SecurityAttacksQuery> }>(
    '/settings/security-attacks',
    {
      ...user({
        id: 'listSecurityAttacks',
        summary: 'List the attacks',
        description: 'The classified entries of your audit log, newest first.',
        answers: { 200: pageSchema(SecurityAttack) },
        csv: true,
      }),
      schema: { querystring: SecurityAttacksQuery },
    },
    (request, reply) => {
      const { type = null, ...query } = request.query;
      const page = pageOf(query, isEntryId);
      const user = request.caller.user.id;
      if (wantsCsv(request))
        return sendList(request, reply, ATTACKS_CSV, (each) =>
          deps.readSecurityAttacks.asCsv(user, { type, ...each }),
        );
      return deps.readSecurityAttacks.asJson(user, { type, ...page });
    },
  );

  server.get<{ Querystring: Static<typeof AuditLogQuery> }>(
    '/settings/audit-log',
    {
      ...user({
        id: 'listAuditLog',
        summary: 'List the audit log',
        description: 'Every attempt and its outcome, newest first.',
        answers: { 200: pageSchema(AuditEntry) },
        csv: true,
      }),
      schema: { querystring: AuditLogQuery },
    },
    (request, reply) => {
      const { action = null, order_id, ...query } = request.query;
      const order = (order_id as OrderId | undefined) ?? null;
      const page = pageOf(query, isEntryId);
      const user = request.caller.user.id;
      if (wantsCsv(request))
        return sendList(request, reply, AUDIT_CSV, (each) =>
          deps.readAuditLog.asCsv(user, { action, order, ...each }),
        );
      return deps.readAuditLog.asJson(user, { action, order, ...page });
    },
  );

  server.get(
    '/settings/subscription',
    user({ id: 'readSubscription', summary: 'Read the plan and its limits', answers: { 200: Subscription } }),
    (request) => deps.readSubscription(request.caller.user),
  );
}
