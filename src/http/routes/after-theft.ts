// Somebody else may have been in: how a user ends everything that opens a door, and what is left to do.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { User } from '../../app/identity/access.ts';
import { answer } from '../answers.ts';
import { AfterTheft } from '../schemas/after-theft.ts';
import { NoBody } from '../schemas/requests.ts';
import { type CookieSettings, clearSessionCookies } from '../session-cookies.ts';

export interface AfterTheftRoutes {
  logoutEverywhere(user: User, context: RequestContext): Promise<void>;
  readAfterTheft(user: User): Promise<object>;
  readonly cookies: CookieSettings;
  contextOf(request: FastifyRequest): RequestContext;
}

export function afterTheftRoutes(server: FastifyInstance, deps: AfterTheftRoutes): void {
  const { contextOf, cookies } = deps;

  server.post(
    '/auth/logout-everywhere',
    {
      config: {
        access: 'session',
        doc: {
          tag: 'Authentication',
          id: 'logoutEverywhere',
          summary: 'Log out everywhere',
          description:
            'Every session, API key and known device ends. Notification destinations pause until they are confirmed. Webhooks go on; GET /settings/after-theft lists what to replace. If somebody else knows your password, set a new one by mail instead: that does all of this, too.',
          answers: { 204: null },
        },
      },
      schema: { body: NoBody },
    },
    async (request, reply) => {
      await deps.logoutEverywhere(request.caller.user, contextOf(request));
      clearSessionCookies(reply, cookies);
      return reply.code(204).send();
    },
  );

  server.get(
    '/settings/after-theft',
    {
      config: {
        access: 'session',
        doc: {
          tag: 'Settings',
          id: 'readAfterTheft',
          summary: 'Read what a thief may have seen, and what to replace',
          description:
            'After a new password by mail, "log out everywhere", an administrator’s word or a restore. What is replaced, and who is confirmed, is no longer listed.',
          answers: { 200: AfterTheft },
        },
      },
    },
    async (request, reply) => answer(request, reply, await deps.readAfterTheft(request.caller.user)),
  );
}
