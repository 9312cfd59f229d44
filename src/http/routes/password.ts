// POST /auth/password: a new password for somebody who is logged in.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { PasswordChange } from '../../app/identity/change-password.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import { sendDenial } from '../problem.ts';
import { ChangePasswordBody } from '../schemas/auth.ts';
import { DEVICE_COOKIE, setDeviceCookie } from '../session-cookies.ts';

export interface PasswordRoutes {
  change(change: PasswordChange): Promise<Denial | { readonly deviceToken: string }>;
  contextOf(request: FastifyRequest): RequestContext;
}

export const KNOWN_DEVICE =
  'known_device, which gives this device login tries of its own, apart from strangers’.';

export function passwordRoutes(server: FastifyInstance, { change, contextOf }: PasswordRoutes): void {
  server.post<{ Body: Static<typeof ChangePasswordBody> }>(
    '/auth/password',
    {
      config: {
        access: 'session',
        doc: {
          tag: 'Authentication',
          id: 'changePassword',
          summary: 'Change your password',
          description:
            'Ends every other session of yours; this one goes on, and API keys keep working. Needs the current password and, where the second factor is on, a code. You are told by mail.',
          answers: {
            204: {
              text: 'The new password is set.',
              schema: null,
              headers: { 'Set-Cookie': KNOWN_DEVICE },
            },
          },
          denials: ['password_weak', 'password_wrong', 'totp_code_wrong', 'login_locked', 'passwords_busy'],
        },
      },
      schema: { body: ChangePasswordBody },
    },
    async (request, reply) => {
      const { caller, body, cookies } = request;
      if (caller.via !== 'session') throw new Error('the guard of this route admits sessions only');
      const outcome = await change({
        user: caller.user,
        session: caller.session,
        current: body.current_password,
        password: body.password,
        code: body.code,
        deviceToken: cookies[DEVICE_COOKIE],
        context: contextOf(request),
      });
      if (isDenial(outcome)) return sendDenial(request, reply, outcome);
      setDeviceCookie(reply, outcome.deviceToken);
      return reply.code(204).send();
    },
  );
}
