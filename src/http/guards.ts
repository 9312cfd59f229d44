// Who may call a route. Every route says so itself, in its config, beside what its documentation is made from; one that
// does not say is not registered. Before a body is read, the guard has authenticated the caller, or refused: by the cookie
// first, then by a bearer token or an API key. The session is read from the database each time, so that a revocation holds from
// the next request on. test/http/route-matrix.test.ts is made from the same table.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { canonicalIp, type IpList } from '../app/accounts/ip-list.ts';
import type { AuditEvent, RequestContext } from '../app/audit/audit.ts';
import { type Caller, type Credentials, isCsrfProven } from '../app/identity/access.ts';
import { type Denial, deny, isDenial } from '../domain/denial.ts';
import { docProblem, type RouteDoc } from './docs/route-doc.ts';
import { wrongHost } from './hosts.ts';
import { sendDenial } from './problem.ts';
import type { Schema } from './schemas/named.ts';

export type Access =
  /** Anybody; what the route needs, it checks itself. */
  | 'open'
  /** A session, or an API key. */
  | 'user'
  /** A session only: what an API key could outlive itself by, or undo its own limits. */
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
  readonly body: Schema | undefined;
  readonly query: Schema | undefined;
  readonly headers: Schema | undefined;
  /** Neither the rate limit nor the list of addresses stands before it. */
  readonly isNeverHeldBack?: true | undefined;
  readonly ignoresQuery?: true | undefined;
  readonly doc: RouteDoc;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    doc?: RouteDoc;
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
  /** Of the Host header: whether it is a name under which the service is administered. */
  isOwnHost(host: string | undefined): boolean;
  isForwardedByStranger(request: FastifyRequest): boolean;
}

/** Methods with which a session has to prove that the request is its own. */
export const CHANGING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function guardRoutes(server: FastifyInstance, guard: Guard): void {
  const routeTable: Route[] = [];
  server.decorate('routeTable', routeTable);
  server.addHook('onRoute', ({ method, url, config, schema }) => {
    // The answer to a preflight tells only what CORS allows.
    if (method === 'OPTIONS') return;
    if (!config?.access) throw new Error(`${method} ${url} does not say who may call it`);
    const { access, doc, isNeverHeldBack, ignoresQuery } = config;
    const problem = docProblem(url, doc);
    if (!doc || problem) throw new Error(`${method} ${url} ${problem}`);
    const { body, querystring: query, headers } = (schema ?? {}) as Record<string, Schema | undefined>;
    for (const each of [method].flat())
      routeTable.push({
        method: each,
        url,
        access,
        body,
        query,
        headers,
        isNeverHeldBack,
        ignoresQuery,
        doc,
      });
  });
  server.addHook('onRequest', (request, reply, done) => {
    // Without one there is no such route: the not-found handler answers. Only that under the admin paths strangers
    // are told nothing, not even that.
    const access = request.routeOptions.config.access ?? (isAdminPath(request.url) ? 'admin_ip' : 'open');
    if (access === 'open') return done();
    refuse(guard, access, request).then(
      (denial) => void (denial ? sendDenial(request, reply, denial) : done()),
      done,
    );
  });
}

/** In any spelling that somebody in front of us could take for one. */
function isAdminPath(url: string): boolean {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/%2f|\\/gi, '/');
  const pathname = URL.parse(path.replace(/^\/+/, '/'), 'http://localhost')?.pathname ?? '';
  return /^\/+(?:setup|deployment)(?![\w-])/i.test(pathname.replace(/%([0-9a-f]{2})/gi, decoded));
}

const decoded = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

async function refuse(guard: Guard, access: Access, request: FastifyRequest): Promise<Denial | null> {
  if (access === 'admin' || access === 'admin_ip') {
    const { ip } = guard.contextOf(request);
    // Whoever comes through a proxy that we do not know of would have its address, which may be loopback.
    if (guard.isForwardedByStranger(request))
      return deny('ip_not_allowed', {
        detail: 'The request came through a proxy that the service does not know.',
        advice: 'Name the proxy in front of the service in TRUSTED_PROXIES.',
      });
    if (canonicalIp(ip) === null)
      return deny('ip_not_allowed', {
        detail: 'The proxy in front of the service does not name its client in X-Forwarded-For.',
        advice: 'Configure it to set X-Forwarded-For to the address that it was called from.',
      });
    if (!guard.adminIps.has(ip))
      return deny('ip_not_allowed', {
        detail: `${ip} is not one of the addresses in ADMIN_IPS.`,
        advice: 'Administer from an address in ADMIN_IPS, or add this one to it.',
      });
    if (!guard.isOwnHost(request.headers.host)) return wrongHost(request.headers.host);
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
        failure: denial,
        resource: { type: 'session', id: caller.session.id },
        metadata: {
          code: denial.code,
          attack_type: header === undefined ? 'missing_csrf_token' : 'wrong_csrf_token',
        },
      });
      return denial;
    }
  }
  if (access === 'admin' && !caller.user.isAdmin) {
    const denial = deny('admin_required');
    await guard.audit(guard.contextOf(request), {
      userId: caller.user.id,
      action: 'admin_access',
      failure: denial,
      metadata: { code: denial.code },
    });
    return denial;
  }
  request.caller = caller;
  return null;
}
