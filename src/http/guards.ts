// Who is asking. Nothing behind a guard is open to strangers.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { User } from '../app/access.ts';
import { type Denial, deny, isDenial } from '../domain/denial.ts';
import { sendDenial } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard before any handler of a guarded scope runs. */
    user: User;
  }
}

export interface Guard {
  authenticateApiKey(key: string): Promise<User | null>;
}

/** Every route of this scope asks for a user first, before a body is read. */
export function guardScope(scope: FastifyInstance, guard: Guard): void {
  scope.addHook('onRequest', async (request, reply) => {
    const caller = await authenticate(guard, request);
    if (isDenial(caller)) return sendDenial(request, reply, caller);
    request.user = caller;
  });
}

async function authenticate({ authenticateApiKey }: Guard, request: FastifyRequest): Promise<User | Denial> {
  const key = /^Bearer +([\w~+/.-]{1,512}=*)$/i.exec(request.headers.authorization ?? '')?.[1];
  const user = key ? await authenticateApiKey(key) : null;
  if (!user) return deny('unauthenticated');
  return user.isActive ? user : deny('user_deactivated');
}
