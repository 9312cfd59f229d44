// The HTTP server: one strict reading of bodies, one shape of errors, and the routes.

import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { IpList } from '../app/accounts/ip-list.ts';
import type { RequestContext } from '../app/audit/audit.ts';
import type { Health } from '../app/operation/health.ts';
import { Written } from '../app/reading.ts';
import type { Counters } from '../domain/counters.ts';
import { isGroupToken } from '../domain/groups.ts';
import { isStorable, plainJson, readJson } from '../domain/signals/json.ts';
import { type Admission, admitTradingRequests } from './admission.ts';
import { countAnswers } from './answer-count.ts';
import { clientIp, hasPlatformCertificate, isForwardedByStranger } from './client-ip.ts';
import { type ConnectionLimits, limitConnections, openLatecomers, timeoutsOf } from './connections.ts';
import type { About } from './docs/openapi.ts';
import type { RouteDoc } from './docs/route-doc.ts';
import { docsRoutes } from './docs/routes.ts';
import { type Edge, openEdge } from './edge.ts';
import { type Guard, guardRoutes } from './guards.ts';
import { takeTurns } from './list-turns.ts';
import { type Middleware, securityHeaders, standBefore } from './middleware.ts';
import { nothingAt } from './not-found.ts';
import { packAnswers } from './packed.ts';
import { openPages } from './pages.ts';
import {
  errorsPageOf,
  RequestInvalid,
  sendClientError,
  sendDenial,
  sendFault,
  sendInvalid,
} from './problem.ts';
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
import { type SettingsRoutes, settingsRoutes } from './routes/settings.ts';
import { type SettleRoutes, settleRoutes } from './routes/settle.ts';
import { type SignalRoutes, signalRoutes } from './routes/signals.ts';
import { type TradesRoutes, tradesRoutes } from './routes/trades.ts';
import { type TradingRoutes, tradingRoutes } from './routes/trading.ts';
import { type WebhookRoutes, webhookRoutes } from './routes/webhook.ts';
import { Health as HealthSchema, Live } from './schemas/identity-answers.ts';
import { readText, type TextSchema } from './schemas/requests.ts';
import { cookieTwice } from './session-cookies.ts';
import { explain } from './validation.ts';

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
  readHealth(): Promise<Health>;
  readonly counters: Pick<Counters, 'webhookAnswered' | 'denied'>;
  readonly metrics: { read(): Promise<string>; readonly type: string };
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

const HEALTH: RouteDoc = {
  id: 'readHealth',
  tag: 'Service',
  summary: 'Ask whether the service can take an order',
  answers: {
    200: { text: 'Every part is up.', schema: HealthSchema },
    503: {
      text: 'A part is down.',
      schema: HealthSchema,
      example: { status: 'down', store: { status: 'down' }, queues: { status: 'down' } },
    },
  },
};

const LIVE: RouteDoc = {
  id: 'readLiveness',
  tag: 'Service',
  summary: 'Ask whether this process answers',
  description: 'It looks at nothing else, so that a part that is down does not restart what is well.',
  answers: { 200: Live },
};

const METRICS: RouteDoc = {
  id: 'readMetrics',
  tag: 'Service',
  summary: 'Read the metrics of the deployment',
  description: "In Prometheus' text format, from admin IPs only.",
  answers: { 200: { text: 'The metrics.', schema: Type.String() } },
  answerType: 'text/plain',
};

/** Routes share schemas, and servers in one process share their routes': each is compiled once. */
const validators = new WeakMap<object, ReturnType<typeof Compile>>();
function validatorOf(schema: object): ReturnType<typeof Compile> {
  const known = validators.get(schema);
  if (known) return known;
  const made = Compile(schema as never);
  validators.set(schema, made);
  return made;
}

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

  server.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const denial = refuseAtEdge(request);
    if (denial) return sendDenial(request, reply, denial);
    const problem = protocolProblem(request.raw);
    // What follows on the connection may be the body of what is refused.
    if (problem) return sendInvalid(request, reply.header('connection', 'close'), problem);
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

  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, body: Buffer) => {
      // Clients name a content type even where they send nothing.
      if (body.length === 0) return undefined;
      const reading = readJson(body);
      if ('problem' in reading) throw new RequestInvalid(reading.problem);
      if (!isStorable(reading.value))
        throw new RequestInvalid('A string in the body contains a NUL or half a character.');
      const json = plainJson(reading.value);
      if (!json) throw new RequestInvalid('A number in the body has more than 15 significant digits.');
      return json.plain;
    },
  );

  server.setValidatorCompiler(({ schema, httpPart }) => {
    const validator = validatorOf(schema as object);
    return (data) => {
      // A query is text; a body has types of its own, and they must be right.
      // No body at all is one without fields.
      const value = httpPart === 'body' ? (data ?? {}) : readText(schema as TextSchema, data as object);
      if (validator.Check(value)) return { value };
      const [first] = validator.Errors(value);
      return { error: new RequestInvalid(explain(schema as object, first, httpPart ?? 'request')) };
    };
  });

  server.get(
    '/health',
    { config: { access: 'open', ignoresQuery: true, doc: HEALTH } },
    async (_request, reply) => {
      const health = await deps.readHealth();
      if (health.status === 'up') return health;
      return reply.code(503).header('retry-after', '5').send(health);
    },
  );
  server.get('/health/live', { config: { access: 'open', ignoresQuery: true, doc: LIVE } }, async () => ({
    status: 'up',
    version: deps.about.version,
  }));
  server.get(
    '/metrics',
    { config: { access: 'admin_ip', ignoresQuery: true, doc: METRICS } },
    async (_request, reply) => reply.type(deps.metrics.type).send(await deps.metrics.read()),
  );
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
