// /auth/totp: the second factor of somebody who is logged in.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../app/audit.ts';
import type { Enrolment, Owner } from '../app/second-factor.ts';
import { type Denial, isDenial } from '../domain/denial.ts';
import { CodeBody, PasswordBody } from './auth-schemas.ts';
import { sendDenial } from './problem.ts';

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
    async (request, reply) => {
      const outcome = await enrol(owner(request), request.body.password);
      return isDenial(outcome) ? sendDenial(request, reply, outcome) : outcome;
    },
  );

  server.post<{ Body: Static<typeof CodeBody> }>(
    '/auth/totp/confirm',
    { ...SESSION, schema: { body: CodeBody } },
    async (request, reply) => {
      const outcome = await confirm(owner(request), request.body.code);
      return isDenial(outcome) ? sendDenial(request, reply, outcome) : outcome;
    },
  );

  server.post<{ Body: Static<typeof PasswordBody> }>(
    '/auth/totp/disable',
    { ...SESSION, schema: { body: PasswordBody } },
    async (request, reply) => {
      const denial = await disable(owner(request), request.body.password);
      return denial ? sendDenial(request, reply, denial) : reply.code(204).send();
    },
  );
}
