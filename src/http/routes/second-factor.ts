// /auth/totp: the second factor of somebody who is logged in.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { Enrolment, Owner } from '../../app/identity/second-factor.ts';
import type { Denial } from '../../domain/denial.ts';
import { answer } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { CodeBody, PasswordBody } from '../schemas/auth.ts';
import { Enrolment as EnrolmentSchema, RecoveryCodes } from '../schemas/identity-answers.ts';

export interface SecondFactorRoutes {
  enrol(by: Owner, password: string): Promise<Denial | Enrolment>;
  confirm(by: Owner, code: string): Promise<Denial | { recovery_codes: readonly string[] }>;
  disable(by: Owner, password: string): Promise<Denial | null>;
  contextOf(request: FastifyRequest): RequestContext;
}

/** Each of them counts as a try, right or wrong, and a session has ten in a quarter of an hour, apart from those of the login. */
const session = (doc: Omit<RouteDoc, 'tag'>) =>
  ({
    config: {
      access: 'session',
      doc: {
        tag: 'Second factor',
        ...doc,
        denials: [...(doc.denials ?? []), 'login_locked'],
      },
    },
  }) as const;

export function secondFactorRoutes(server: FastifyInstance, deps: SecondFactorRoutes): void {
  const { enrol, confirm, disable, contextOf } = deps;
  const owner = (request: FastifyRequest): Owner => {
    const { caller } = request;
    if (caller.via !== 'session') throw new Error('the guard of this route admits sessions only');
    return { user: caller.user, session: caller.session.id, context: contextOf(request) };
  };

  server.post<{ Body: Static<typeof PasswordBody> }>(
    '/auth/totp/enrol',
    {
      ...session({
        id: 'enrolTotp',
        summary: 'Start using an authenticator app',
        description: 'Login asks for no code until POST /auth/totp/confirm proves that the app works.',
        answers: { 200: EnrolmentSchema },
        denials: ['totp_already_enabled', 'password_wrong', 'passwords_busy', 'email_not_verified'],
      }),
      schema: { body: PasswordBody },
    },
    async (request, reply) => answer(request, reply, await enrol(owner(request), request.body.password)),
  );

  server.post<{ Body: Static<typeof CodeBody> }>(
    '/auth/totp/confirm',
    {
      ...session({
        id: 'confirmTotp',
        summary: 'Turn the second factor on',
        answers: { 200: RecoveryCodes },
        denials: ['totp_not_enrolled', 'totp_already_enabled', 'totp_code_wrong', 'email_not_verified'],
      }),
      schema: { body: CodeBody },
    },
    async (request, reply) => answer(request, reply, await confirm(owner(request), request.body.code)),
  );

  server.post<{ Body: Static<typeof PasswordBody> }>(
    '/auth/totp/disable',
    {
      ...session({
        id: 'disableTotp',
        summary: 'Turn the second factor off',
        answers: { 204: null },
        denials: ['totp_not_enrolled', 'password_wrong', 'passwords_busy'],
      }),
      schema: { body: PasswordBody },
    },
    async (request, reply) => answer(request, reply, await disable(owner(request), request.body.password)),
  );
}
