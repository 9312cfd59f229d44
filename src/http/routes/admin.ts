// /setup and /deployment: administration, from admin IPs only.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { Admin, UserChange } from '../../app/operation/admin.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { JsonReader } from '../../app/reading.ts';
import type { Denial } from '../../domain/denial.ts';
import { answer, pageOf } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { Terms } from '../schemas/answers.ts';
import {
  DeadLetter,
  Queues,
  Registered,
  UnreadableReplies,
  UserRecord,
  UserWithSessions,
  Worker,
} from '../schemas/identity-answers.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import {
  FirstAdminBody,
  NoBody,
  PageQuery,
  TermsBody,
  UserChangeBody,
  UsersQuery,
} from '../schemas/requests.ts';
import { asTimestamp } from './trading.ts';

export interface AdminRoutes {
  makeFirstAdmin(
    admin: { email: string; password: string },
    context: RequestContext,
  ): Promise<Denial | object>;
  readWorkers(page: PageRequest): Promise<object>;
  stopWorker(by: Admin, user: string): Promise<Denial | null>;
  readQueues(): Promise<object>;
  readUnreadable(): Promise<object>;
  readonly readDeadLetters: JsonReader<[page: PageRequest]>;
  retryDeadLetter(by: Admin, order: string): Promise<Denial | null>;
  readonly readUsers: JsonReader<[page: PageRequest & { email: string | null }]>;
  readUser(id: string): Promise<Denial | object>;
  changeUser(by: Admin, id: string, change: UserChange): Promise<Denial | object>;
  secureUser(by: Admin, id: string): Promise<Denial | null>;
  revokeSession(by: Admin, id: string): Promise<Denial | null>;
  publishTerms(by: Admin, terms: { version: string; text: string }): Promise<Denial | object>;
  contextOf(request: FastifyRequest): RequestContext;
}

export function adminRoutes(server: FastifyInstance, deps: AdminRoutes): void {
  const { contextOf } = deps;
  type Doc = Omit<RouteDoc, 'tag'>;
  const documented = (doc: Doc): RouteDoc => ({ tag: 'Administration', ...doc });
  const admin = (doc: Doc) => ({ config: { access: 'admin', doc: documented(doc) } }) as const;
  const action = (doc: Doc) => ({ ...admin(doc), schema: { body: NoBody } });
  const byOf = (request: FastifyRequest): Admin => ({
    id: request.caller.user.id,
    context: contextOf(request),
  });

  server.post<{ Body: Static<typeof FirstAdminBody> }>(
    '/setup/admin',
    {
      config: {
        access: 'admin_ip',
        doc: documented({
          id: 'makeFirstAdmin',
          summary: 'Make the first admin',
          description: 'Works once, on a service that has no admin.',
          answers: { 201: Registered },
          denials: ['password_weak', 'admin_exists', 'email_taken', 'database_unavailable'],
        }),
      },
      schema: { body: FirstAdminBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.makeFirstAdmin(request.body, contextOf(request)), 201),
  );

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/deployment/workers',
    {
      ...admin({
        id: 'listWorkers',
        summary: 'List the trading workers',
        description: 'Of all worker hosts, sorted by user. A host that does not answer is left out.',
        answers: { 200: pageSchema(Worker) },
        denials: ['store_unavailable'],
      }),
      schema: { querystring: PageQuery },
    },
    async (request) => deps.readWorkers(pageOf(request.query)),
  );

  server.post<{ Params: { user_id: string } }>(
    '/deployment/workers/:user_id/stop',
    action({
      id: 'stopWorker',
      summary: 'Stop a trading worker',
      description: "What it has in flight is finished first. The user's next request starts a new one.",
      params: { user_id: 'Whose worker it is.' },
      answers: { 204: null },
      denials: ['not_found', 'store_unavailable'],
    }),
    async (request, reply) =>
      answer(request, reply, await deps.stopWorker(byOf(request), request.params.user_id)),
  );

  server.get(
    '/deployment/queues',
    admin({
      id: 'readQueues',
      summary: 'Count what is waiting',
      answers: { 200: Queues },
      denials: ['store_unavailable'],
    }),
    async () => deps.readQueues(),
  );

  server.get(
    '/deployment/unreadable-replies',
    admin({
      id: 'readUnreadableReplies',
      summary: 'Show what brokers said and nobody could read',
      description:
        'How often, by broker and call, and the last 20 replies of each broker, newest first, without keys and names. What has not come again for 30 days is not there any more.',
      answers: { 200: UnreadableReplies },
    }),
    async () => deps.readUnreadable(),
  );

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/deployment/dead-letters',
    {
      ...admin({
        id: 'listDeadLetters',
        summary: 'List the orders whose fill could not be verified',
        description: 'Newest first.',
        answers: { 200: pageSchema(DeadLetter) },
      }),
      schema: { querystring: PageQuery },
    },
    async (request) => deps.readDeadLetters.asJson(pageOf(request.query)),
  );

  server.post<{ Params: { id: string } }>(
    '/deployment/dead-letters/:id/retry',
    action({
      id: 'retryDeadLetter',
      summary: 'Verify a fill again',
      description: 'At once, and with all its attempts again.',
      params: { id: 'Of the order.' },
      answers: { 204: null },
      denials: ['not_found', 'not_a_dead_letter'],
    }),
    async (request, reply) =>
      answer(request, reply, await deps.retryDeadLetter(byOf(request), request.params.id)),
  );

  server.get<{ Querystring: Static<typeof UsersQuery> }>(
    '/deployment/users',
    {
      ...admin({
        id: 'listUsers',
        summary: 'List the users',
        description: 'Newest first.',
        answers: { 200: pageSchema(UserRecord) },
      }),
      schema: { querystring: UsersQuery },
    },
    (request) => deps.readUsers.asJson({ ...pageOf(request.query), email: request.query.email ?? null }),
  );

  server.get<{ Params: { id: string } }>(
    '/deployment/users/:id',
    admin({
      id: 'readUser',
      summary: 'Read a user',
      params: { id: 'Of the user.' },
      answers: { 200: UserWithSessions },
      denials: ['not_found'],
    }),
    async (request, reply) => answer(request, reply, await deps.readUser(request.params.id)),
  );

  server.patch<{ Params: { id: string }; Body: Static<typeof UserChangeBody> }>(
    '/deployment/users/:id',
    {
      ...admin({
        id: 'changeUser',
        summary: 'Change a user',
        description:
          'A deactivation takes effect with the user’s next request. Entries that rest are taken back; what protects positions stays.',
        params: { id: 'Of the user.' },
        answers: { 200: UserWithSessions },
        denials: ['not_found', 'own_deactivation'],
      }),
      schema: { body: UserChangeBody },
    },
    async (request, reply) => {
      const { is_active: isActive, plan, plan_expires_at: expires } = request.body;
      const planExpiresAt = typeof expires === 'string' ? asTimestamp('plan_expires_at', expires) : expires;
      const outcome = await deps.changeUser(byOf(request), request.params.id, {
        ...(isActive === undefined ? {} : { isActive }),
        ...(plan === undefined ? {} : { plan }),
        ...(planExpiresAt === undefined ? {} : { planExpiresAt }),
      });
      return answer(request, reply, outcome);
    },
  );

  server.post<{ Params: { id: string } }>(
    '/deployment/users/:id/secure',
    action({
      id: 'secureUser',
      summary: 'End everything that opens a user’s doors',
      description:
        'Somebody else may have been in. Every session, API key and known device ends, and notification destinations pause until the user confirms them. Webhooks go on, and the password stays; the user’s GET /settings/after-theft lists what to replace.',
      params: { id: 'Of the user.' },
      answers: { 204: null },
      denials: ['not_found'],
    }),
    async (request, reply) => answer(request, reply, await deps.secureUser(byOf(request), request.params.id)),
  );

  server.delete<{ Params: { id: string } }>(
    '/deployment/sessions/:id',
    action({
      id: 'revokeSession',
      summary: 'End a session of a user',
      params: { id: 'Of the session; GET /deployment/users/{id} lists them.' },
      answers: { 204: null },
      denials: ['not_found'],
    }),
    async (request, reply) =>
      answer(request, reply, await deps.revokeSession(byOf(request), request.params.id)),
  );

  server.put<{ Body: Static<typeof TermsBody> }>(
    '/deployment/terms',
    {
      ...admin({
        id: 'publishTerms',
        summary: 'Publish new terms of service',
        description: 'They take effect at once: from then on whoever wants to trade must accept them first.',
        answers: { 200: Terms },
        denials: ['terms_version_exists'],
      }),
      schema: { body: TermsBody },
    },
    async (request, reply) => answer(request, reply, await deps.publishTerms(byOf(request), request.body)),
  );
}
