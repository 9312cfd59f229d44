// /auth/totp: the second factor of somebody who is logged in.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../app/audit.ts';
import type { Enrolment, Owner } from '../app/second-factor.ts';
import type { Denial } from '../domain/denial.ts';
import { answer } from './answers.ts';
import { CodeBody, PasswordBody } from './auth-schemas.ts';

export interface SecondFactorRoutes {
  enrol(by: Owner, password: string): Promise<Denial | Enrolment>;
  confirm(by: Owner, code: string): Promise<Denial | { recovery_codes: readonly string[] }>;
  disable(by: Owner, password: string): Promise<Denial | null>;
  contextOf(request: FastifyRequest): RequestContext;
}

const SESSION = { config: { access: 'session' } } as const;

export function secondFactorRoutes(server: FastifyInstance, deps: SecondFactorRoutes): void {
  const { enrol, confirm, disable, contextOf } = deps;
  const owner = (request: FastifyRequest): Owner => ({
    user: request.caller.user,
    context: contextOf(request),
  });

  server.post<{ Body: Static<typeof PasswordBody> }>(
    '/auth/totp/enrol',
    { ...SESSION, schema: { body: PasswordBody } },
    async (request, reply) => answer(request, reply, await enrol(owner(request), request.body.password)),
  );

  server.post<{ Body: Static<typeof CodeBody> }>(
    '/auth/totp/confirm',
    { ...SESSION, schema: { body: CodeBody } },
    async (request, reply) => answer(request, reply, await confirm(owner(request), request.body.code)),
  );

  server.post<{ Body: Static<typeof PasswordBody> }>(
    '/auth/totp/disable',
    { ...SESSION, schema: { body: PasswordBody } },
    async (request, reply) => answer(request, reply, await disable(owner(request), request.body.password)),
  );
}
