// The HTTP server: what stands before every route, in its order, and the routes.

import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { IpList } from '../app/accounts/ip-list.ts';
import type { RequestContext } from '../app/audit/audit.ts';
import { Written } from '../app/reading.ts';
import type { Counters } from '../domain/counters.ts';
import { isGroupToken } from '../domain/groups.ts';
import { type Admission, admitTradingRequests } from './admission.ts';
import { countAnswers } from './answer-count.ts';
import { clientIp, hasPlatformCertificate, isForwardedByStranger } from './client-ip.ts';
import { type ConnectionLimits, limitConnections, openLatecomers, timeoutsOf } from './connections.ts';
import type { About } from './docs/openapi.ts';
import { docsRoutes } from './docs/routes.ts';
import { type Edge, openEdge } from './edge.ts';
import { type Guard, guardRoutes } from './guards.ts';
import { takeTurns } from './list-turns.ts';
import { type Middleware, securityHeaders, standBefore } from './middleware.ts';
import { nothingAt } from './not-found.ts';
import { packAnswers } from './packed.ts';
import { openPages } from './pages.ts';
import { errorsPageOf, sendClientError, sendDenial, sendFault, sendInvalid } from './problem.ts';
import { refuseUnknownParameters } from './query.ts';
import { limitReadsOfCredential, limitReadsOfUser } from './reads-at-once.ts';
import { logRequests } from './request-log.ts';
import { type AccountRoutes, accountRoutes } from './routes/accounts.ts';
import { type AdminRoutes, adminRoutes } from './routes/admin.ts';
import { type AfterTheftRoutes, afterTheftRoutes } from './routes/after-theft.ts';
import { type AuthRoutes, authRoutes } from './routes/auth.ts';
import { type GroupRoutes, groupRoutes } from './routes/groups.ts';
import { type LookRoutes, lookRoutes } from './routes/look.ts';
import { type NotificationRoutes, notificationRoutes } from './routes/notifications.ts';
import { type OrderStreamRoutes, orderStreamRoutes } from './routes/order-stream.ts';
import { type OverviewRoutes, overviewRoutes } from './routes/overview.ts';
import { type PerformanceRoutes, performanceRoutes } from './routes/performance.ts';
import { type ProtectionRoutes, protectionRoutes } from './routes/protections.ts';
import { type PublicRoutes, publicRoutes } from './routes/public.ts';
import { type ServiceRoutes, serviceRoutes } from './routes/service.ts';
import { type SettingsRoutes, settingsRoutes } from './routes/settings.ts';
import { type SettleRoutes, settleRoutes } from './routes/settle.ts';
import { type SignalRoutes, signalRoutes } from './routes/signals.ts';
import { type TradesRoutes, tradesRoutes } from './routes/trades.ts';
import { type TradingRoutes, tradingRoutes } from './routes/trading.ts';
import { type WebhookRoutes, webhookRoutes } from './routes/webhook.ts';
import { cookieTwice } from './session-cookies.ts';
import { readStrictly } from './strict-reading.ts';

/** What every route module has at hand. */
interface Ambient {
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

export interface ServerDeps {
  readonly clock: { now(): number };
  readonly webhook: Omit<WebhookRoutes, keyof Ambient | 'hasPlatformCertificate'>;
  readonly admission: Omit<Admission, keyof Ambient>;
  readonly trading: Omit<TradingRoutes, keyof Ambient>;
  readonly orderStream: OrderStreamRoutes;
  readonly accounts: Omit<AccountRoutes, keyof Ambient>;
  readonly groups: Omit<GroupRoutes, keyof Ambient>;
  readonly signals: SignalRoutes;
  readonly performance: PerformanceRoutes;
  readonly trades: TradesRoutes;
  readonly overview: Omit<OverviewRoutes, keyof Ambient>;
  readonly look: Omit<LookRoutes, keyof Ambient>;
  readonly settle: Omit<SettleRoutes, keyof Ambient>;
  readonly protections: Omit<ProtectionRoutes, keyof Ambient>;
  readonly settings: Omit<SettingsRoutes, keyof Ambient>;
  readonly notifications: Omit<NotificationRoutes, keyof Ambient>;
  readonly open: PublicRoutes;
  readonly admin: Omit<AdminRoutes, keyof Ambient>;
  readonly auth: Omit<AuthRoutes, keyof Ambient>;
  readonly afterTheft: Omit<AfterTheftRoutes, keyof Ambient | 'cookies'>;
  /** null: a front does it. */
  readonly edge: Omit<Edge, 'ipOf'> | null;
  readonly middleware: Middleware;
  readonly guard: Omit<Guard, 'contextOf' | 'isForwardedByStranger'>;
  readonly service: Omit<ServiceRoutes, 'version'>;
  readonly counters: Pick<Counters, 'webhookAnswered' | 'denied'>;
  readonly about: About;
  /** Where the built dashboard lies. */
  readonly pagesFolder: string;
  readonly trustedProxies: IpList;
  /** What they say of the charting platform's certificate is believed: they check it, and strip what clients say of it. */
  readonly checksCertificates: boolean;
  readonly connections: ConnectionLimits;
  readonly log: FastifyBaseLogger;
}

const BODY_LIMIT = 64 * 1024;

/** Named in the place of Fastify's own compilers, which would be loaded by every start: readStrictly has another. */
const unused = (): never => {
  throw new Error('requests are read by readStrictly, and answers have no schema');
};

export function buildServer(deps: ServerDeps): FastifyInstance {
  const headers = securityHeaders(deps.middleware.captchaProvider);
  const errorsPage = errorsPageOf(deps.about.baseUrl);
  const { trustedProxies, middleware } = deps;
  const proxies = { trustedProxies, mustName: middleware.browserOnly };
  const ipOf = (request: FastifyRequest) => clientIp(request, proxies);
  const refuseAtEdge = deps.edge ? openEdge({ ...deps.edge, ipOf }) : () => null;

  const latecomers = openLatecomers();
  const server = Fastify({
    loggerInstance: deps.log,
    // Fastify's own lines hold the URL, and a webhook's URL holds its token.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUIDv7(),
    bodyLimit: BODY_LIMIT,
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    // While it stops, what still comes over an open connection is served: nothing it needs is closed before.
    return503OnClosing: false,
    // A URL that cannot be read: no hook sees it, so what the hooks do is done here.
    frameworkErrors(fault, request, reply) {
      reply.headers(headers);
      const denial = refuseAtEdge(request);
      void (denial ? sendDenial(request, reply, denial) : sendFault(fault, request, reply));
    },
    http: { requireHostHeader: false, ...timeoutsOf(deps.connections) },
    clientErrorHandler(error, socket) {
      const refuse = () => sendClientError(error, socket, { headers, errorsPage });
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') latecomers.judge(socket, refuse);
      else refuse();
    },
    // For receiving a request, not for answering it. Without a limit a body may trickle in for ever.
    requestTimeout: 60_000,
    // The longest that a URL can be: an unknown token gets the same 404 at any length.
    routerOptions: { maxParamLength: 16 * 1024 },
  });

  server.decorate('errorsPage', errorsPage);

  const contextOf = (request: FastifyRequest): RequestContext => ({
    requestId: request.id,
    ip: ipOf(request),
    userAgent: request.headers['user-agent'] ?? null,
    path: pathOf(request),
    method: request.method,
  });

  const ambient: Ambient = { contextOf, clock: deps.clock };

  // This hook, and every other that waits for nothing, says by a call that it is done: a promise for each of a dozen would cost as much as
  // what they do.
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    const denial = refuseAtEdge(request);
    if (denial) return void sendDenial(request, reply, denial);
    const problem = protocolProblem(request.raw);
    // What follows on the connection may be the body of what is refused.
    if (problem) return void sendInvalid(request, reply.header('connection', 'close'), problem);
    done();
  });
  limitConnections(server.server, deps.connections, trustedProxies);
  latecomers.watch(server.server);
  // Both come to the hook above: the platform would answer them itself, with nothing that anybody could read.
  server.server.on('checkExpectation', server.routing);
  server.register(cookie);
  standBefore(server, deps.middleware);
  limitReadsOfCredential(server);
  guardRoutes(server, {
    ...deps.guard,
    contextOf,
    isForwardedByStranger: (request) =>
      middleware.browserOnly && isForwardedByStranger(request, trustedProxies),
  });
  limitReadsOfUser(server);
  takeTurns(server);
  refuseUnknownParameters(server);
  packAnswers(server);
  server.setReplySerializer((payload) =>
    payload instanceof Written ? payload.json : JSON.stringify(payload),
  );
  server.setErrorHandler(sendFault);
  const pages = openPages(deps.pagesFolder);
  server.setNotFoundHandler(
    (request, reply) =>
      pages.answer(request, reply) ?? sendDenial(request, reply, nothingAt(server.routeTable, request)),
  );
  logRequests(server, { log: deps.log, ipOf });
  countAnswers(server, deps.counters);

  readStrictly(server);

  serviceRoutes(server, { ...deps.service, version: deps.about.version });
  docsRoutes(server, deps.about);
  server.register(async (scope) =>
    webhookRoutes(scope, {
      ...deps.webhook,
      ...ambient,
      hasPlatformCertificate: (request) =>
        deps.checksCertificates && hasPlatformCertificate(request, trustedProxies),
    }),
  );
  server.register(async (scope) => {
    admitTradingRequests(scope, { ...deps.admission, ...ambient });
    tradingRoutes(scope, { ...deps.trading, ...ambient });
    orderStreamRoutes(scope, deps.orderStream);
    accountRoutes(scope, { ...deps.accounts, ...ambient });
    groupRoutes(scope, { ...deps.groups, ...ambient });
    signalRoutes(scope, deps.signals);
    performanceRoutes(scope, deps.performance);
    tradesRoutes(scope, deps.trades);
    overviewRoutes(scope, { ...deps.overview, ...ambient });
    lookRoutes(scope, { ...deps.look, ...ambient });
    settleRoutes(scope, { ...deps.settle, ...ambient });
    protectionRoutes(scope, { ...deps.protections, ...ambient });
  });
  server.register(async (scope) => authRoutes(scope, { ...deps.auth, ...ambient }));
  server.register(async (scope) =>
    afterTheftRoutes(scope, { ...deps.afterTheft, cookies: deps.auth.cookies, ...ambient }),
  );
  server.register(async (scope) => settingsRoutes(scope, { ...deps.settings, ...ambient }));
  server.register(async (scope) => notificationRoutes(scope, { ...deps.notifications, ...ambient }));
  server.register(async (scope) => publicRoutes(scope, deps.open));
  server.register(async (scope) => adminRoutes(scope, { ...deps.admin, ...ambient }));
  return server;
}

/** What is asked of every request, whatever it is for; null: nothing is wrong. */
function protocolProblem({ headers, httpVersion }: IncomingMessage) {
  if (headers.host === undefined && httpVersion !== '1.0')
    return { status: 400, detail: 'The Host header is missing.', advice: 'Send a Host header.' };
  const twice = headers.cookie === undefined ? undefined : cookieTwice(headers.cookie);
  if (twice !== undefined)
    return {
      status: 400,
      detail: `The request has the cookie "${twice}" twice: which of them is ours cannot be told.`,
      advice: 'Delete the cookies of this site and of its domain in the browser, then log in again.',
    };
  if (headers.expect === undefined || /^100-continue$/i.test(headers.expect)) return null;
  return {
    status: 417,
    detail: 'The Expect header asks for something other than 100-continue.',
    advice: 'Leave the Expect header out.',
  };
}

/** Without the query, and with no more of a webhook's token than tells one from another. */
function pathOf({ url, routeOptions, params }: FastifyRequest): string {
  const { token } = (params ?? {}) as { token?: string };
  // By the route, because its path can be spelled in many ways: %77ebhook, http://host/webhook.
  if (token !== undefined && routeOptions.url)
    return routeOptions.url.replace(':token', () => shortened(token));
  return url
    .replace(/\?.*$/s, '')
    .replace(/^(\/webhook\/)([^/]*)/, (_, start, text) => start + shortened(text));
}

const shortened = (token: string): string => `${token.slice(0, isGroupToken(token) ? 12 : 6)}…`;
