// POST /auth/verify-email: the link that shows whose an address is, and another one.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { User } from '../../app/identity/access.ts';
import type { Denial } from '../../domain/denial.ts';
import { answer } from '../answers.ts';
import { VerifyEmailBody } from '../schemas/auth.ts';
import { NoBody } from '../schemas/requests.ts';

export interface VerifyEmailRoutes {
  verify(request: { token: string; context: RequestContext }): Promise<Denial | null>;
  resend(user: User, context: RequestContext): Promise<Denial | null>;
  contextOf(request: FastifyRequest): RequestContext;
}

export function verifyEmailRoutes(server: FastifyInstance, deps: VerifyEmailRoutes): void {
  const { contextOf } = deps;
  server.post<{ Body: Static<typeof VerifyEmailBody> }>(
    '/auth/verify-email',
    {
      config: {
        access: 'open',
        doc: {
          tag: 'Authentication',
          id: 'verifyEmail',
          summary: 'Confirm an address',
          description:
            'By the token from the mail, which works once, for 24 hours. Of several who registered the address, whoever follows a link first has it, and what others made under it is gone.',
          answers: { 204: null },
          denials: ['verify_token_invalid', 'database_unavailable'],
        },
      },
      schema: { body: VerifyEmailBody },
    },
    async (request, reply) => {
      const { token } = request.body;
      return answer(request, reply, await deps.verify({ token, context: contextOf(request) }));
    },
  );

  server.post(
    '/auth/verify-email/resend',
    {
      config: {
        access: 'session',
        doc: {
          tag: 'Authentication',
          id: 'resendVerification',
          summary: 'Ask for another link that confirms your address',
          description: 'An address gets at most 5 mails an hour and 20 a day; what exceeds that is not sent.',
          answers: { 202: { text: 'The mail is on its way.', schema: null } },
          denials: ['email_already_verified'],
        },
      },
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const denial = await deps.resend(request.caller.user, contextOf(request));
      return denial ? answer(request, reply, denial) : reply.code(202).send();
    },
  );
}
