// Who may call a route. Every route says so itself, in its config; one that does not say is not registered. Before a
// body is read, the guard has authenticated the caller, or refused.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Caller, type Credentials, isCsrfProven } from '../app/access.ts';
import type { AuditEvent, RequestContext } from '../app/audit.ts';
import type { IpList } from '../app/ip-list.ts';
import { type Denial, deny, isDenial } from '../domain/denial.ts';
import { sendDenial } from './problem.ts';

export type Access =
  /** Anybody; what the route needs, it checks itself. */
  | 'open'
  /** A session, or an API key. */
  | 'user'
  /** A session only: managing sessions, keys and passwords. */
  | 'session'
  /** An admin's session or API key, from an admin IP. */
  | 'admin'
  /** Anybody at an admin IP. */
  | 'admin_ip';

/** A route as the guard knows it: what a test of all routes, or their description, is made from. */
export interface Route {
  readonly method: string;
  readonly url: string;
  readonly access: Access;
  /** The body's schema; undefined: it takes none. */
  readonly body: unknown;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyInstance {
    readonly routeTable: readonly Route[];
  }
  interface FastifyRequest {
    /** Set by the guard on every route that is not open. */
    caller: Caller;
  }
}

export interface Guard {
  authenticate(credentials: Credentials): Promise<Caller | Denial>;
  audit(context: RequestContext, event: AuditEvent): Promise<void>;
  contextOf(request: FastifyRequest): RequestContext;
  readonly adminIps: IpList;
}

const CHANGING = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function guardRoutes(server: FastifyInstance, guard: Guard): void {
  const routeTable: Route[] = [];
  server.decorate('routeTable', routeTable);
  server.addHook('onRoute', ({ method, url, config, schema }) => {
    // The answer to a preflight tells only what CORS allows.
    if (method === 'OPTIONS') return;
    if (!config?.access) throw new Error(`${method} ${url} does not say who may call it`);
    for (const each of [method].flat())
      routeTable.push({ method: each, url, access: config.access, body: schema?.body });
  });
  server.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config;
    // Without one there is no such route: the not-found handler answers.
    if (!access || access === 'open') return;
    const denial = await refuse(guard, access, request);
    if (denial) return sendDenial(request, reply, denial);
  });
}

async function refuse(guard: Guard, access: Access, request: FastifyRequest): Promise<Denial | null> {
  if (access === 'admin' || access === 'admin_ip') {
    const { ip } = guard.contextOf(request);
    if (!guard.adminIps.has(ip))
      return deny('ip_not_allowed', { detail: 'Administer from an address in ADMIN_IPS.' });
    if (access === 'admin_ip') return null;
  }
  const { cookies, headers } = request;
  const caller = await guard.authenticate({
    cookie: cookies.access_token,
    authorization: headers.authorization,
  });
  if (isDenial(caller)) return caller;
  if (caller.via === 'api_key' && access === 'session') return deny('session_required');
  if (caller.via === 'session' && CHANGING.has(request.method)) {
    const header = headers['x-csrf-token'];
    if (!isCsrfProven(caller.session, typeof header === 'string' ? header : undefined)) {
      const denial = deny('csrf_validation_failed');
      await guard.audit(guard.contextOf(request), {
        userId: caller.user.id,
        action: 'csrf_validation_failed',
        failure: denial.detail,
        resource: { type: 'session', id: caller.session.id },
      });
      return denial;
    }
  }
  if (access === 'admin' && !caller.user.isAdmin) return deny('admin_required');
  request.caller = caller;
  return null;
}
