// /setup and /deployment: administration, from admin IPs only.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Admin, UserChange } from '../app/admin.ts';
import type { RequestContext } from '../app/audit.ts';
import type { PageRequest } from '../app/pages.ts';
import type { Denial } from '../domain/denial.ts';
import { answer, pageOf } from './answers.ts';
import { FirstAdminBody, NoBody, PageQuery, TermsBody, UserChangeBody, UsersQuery } from './schemas.ts';
import { asTimestamp } from './trading.ts';

export interface AdminRoutes {
  makeFirstAdmin(
    admin: { email: string; password: string },
    context: RequestContext,
  ): Promise<Denial | object>;
  readWorkers(page: PageRequest): object;
  stopWorker(by: Admin, user: string): Promise<Denial | null>;
  readQueues(): Promise<object>;
  readDeadLetters(page: PageRequest): Promise<object>;
  retryDeadLetter(by: Admin, order: string): Promise<Denial | null>;
  readUsers(page: PageRequest & { email: string | null }): Promise<object>;
  readUser(id: string): Promise<Denial | object>;
  changeUser(by: Admin, id: string, change: UserChange): Promise<Denial | object>;
  revokeSession(by: Admin, id: string): Promise<Denial | null>;
  publishTerms(by: Admin, terms: { version: string; text: string }): Promise<Denial | object>;
  contextOf(request: FastifyRequest): RequestContext;
}

export function adminRoutes(server: FastifyInstance, deps: AdminRoutes): void {
  const { contextOf } = deps;
  const admin = { config: { access: 'admin' } } as const;
  const action = { ...admin, schema: { body: NoBody } };
  const byOf = (request: FastifyRequest): Admin => ({
    id: request.caller.user.id,
    context: contextOf(request),
  });

  server.post<{ Body: Static<typeof FirstAdminBody> }>(
    '/setup/admin',
    { config: { access: 'admin_ip' }, schema: { body: FirstAdminBody } },
    async (request, reply) =>
      answer(request, reply, await deps.makeFirstAdmin(request.body, contextOf(request)), 201),
  );

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/deployment/workers',
    { ...admin, schema: { querystring: PageQuery } },
    async (request) => deps.readWorkers(pageOf(request.query)),
  );

  server.post<{ Params: { user_id: string } }>(
    '/deployment/workers/:user_id/stop',
    action,
    async (request, reply) =>
      answer(request, reply, await deps.stopWorker(byOf(request), request.params.user_id)),
  );

  server.get('/deployment/queues', admin, async () => deps.readQueues());

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/deployment/dead-letters',
    { ...admin, schema: { querystring: PageQuery } },
    async (request) => deps.readDeadLetters(pageOf(request.query)),
  );

  server.post<{ Params: { id: string } }>(
    '/deployment/dead-letters/:id/retry',
    action,
    async (request, reply) =>
      answer(request, reply, await deps.retryDeadLetter(byOf(request), request.params.id)),
  );

  server.get<{ Querystring: Static<typeof UsersQuery> }>(
    '/deployment/users',
    { ...admin, schema: { querystring: UsersQuery } },
    async (request) => deps.readUsers({ ...pageOf(request.query), email: request.query.email ?? null }),
  );

  server.get<{ Params: { id: string } }>('/deployment/users/:id', admin, async (request, reply) =>
    answer(request, reply, await deps.readUser(request.params.id)),
  );

  server.patch<{ Params: { id: string }; Body: Static<typeof UserChangeBody> }>(
    '/deployment/users/:id',
    { ...admin, schema: { body: UserChangeBody } },
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

  server.delete<{ Params: { id: string } }>('/deployment/sessions/:id', action, async (request, reply) =>
    answer(request, reply, await deps.revokeSession(byOf(request), request.params.id)),
  );

  server.put<{ Body: Static<typeof TermsBody> }>(
    '/deployment/terms',
    { ...admin, schema: { body: TermsBody } },
    async (request, reply) => answer(request, reply, await deps.publishTerms(byOf(request), request.body)),
  );
}
