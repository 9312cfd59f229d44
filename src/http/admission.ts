// What stands before every trading request that acts, that is every route under /trading but the GETs: the user's rate
// limit and IP whitelist. After validation, so that a request that says nothing counts for nothing.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestContext } from '../app/audit/audit.ts';
import type { TradingRequest } from '../app/identity/access.ts';
import type { Denial } from '../domain/denial.ts';
import { type AccountId, isUuid } from '../domain/ids.ts';
import type { Route } from './guards.ts';
import { sendDenial } from './problem.ts';
import { READING } from './reads-at-once.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What an attempt that is refused here is called in the audit log. */
    attempt?: string;
    /** The kill switch: nothing may stand between a user and it, and it is not counted. */
    isNeverHeldBack?: true;
  }
}

export interface Admission {
  admit(request: TradingRequest): Promise<Denial | null>;
  contextOf(request: FastifyRequest): RequestContext;
}

/** As the contract defines them: those under /trading that act. */
export const isHeldBack = ({ method, url, isNeverHeldBack }: Route): boolean =>
  url.startsWith('/trading/') && !READING.has(method) && !isNeverHeldBack;

export function admitTradingRequests(server: FastifyInstance, { admit, contextOf }: Admission): void {
  server.addHook('preHandler', async (request, reply) => {
    const { attempt = 'trading_request', isNeverHeldBack } = request.routeOptions.config;
    if (READING.has(request.method) || isNeverHeldBack) return;
    const denial = await admit({
      user: request.caller.user,
      accountId: accountOf(request),
      action: attempt,
      context: contextOf(request),
    });
    if (denial) return sendDenial(request, reply, denial);
  });
}

/** As the request names it; whether there is one, nobody has looked yet. */
function accountOf({ params, body, routeOptions }: FastifyRequest): AccountId | null {
  const { id } = (routeOptions.url?.startsWith('/trading/accounts/') ? params : {}) as { id?: string };
  const { trading_account_id } = (body ?? {}) as { trading_account_id?: string };
  const named = id ?? trading_account_id;
  return named !== undefined && isUuid(named) ? (named as AccountId) : null;
}
