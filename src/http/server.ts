// The HTTP server: one strict reading of bodies, one shape of errors, and the routes.

import { randomUUIDv7 } from 'node:crypto';
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Compile } from 'typebox/compile';
import Value from 'typebox/value';
import type { RequestContext } from '../app/audit.ts';
import type { Health } from '../app/health.ts';
import type { IpList } from '../app/ip-list.ts';
import { deny } from '../domain/denial.ts';
import { plainJson, readJson } from '../domain/json.ts';
import { clientIp } from './client-ip.ts';
import { type Guard, guardRoutes } from './guards.ts';
import { RequestInvalid, sendDenial, sendFault } from './problem.ts';
import { type TradingRoutes, tradingRoutes } from './trading.ts';
import { type WebhookRoutes, webhookRoutes } from './webhook.ts';

/** What every route module has at hand. */
export interface Ambient {
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

export interface ServerDeps {
  readonly clock: { now(): number };
  readonly webhook: Omit<WebhookRoutes, keyof Ambient>;
  readonly trading: Omit<TradingRoutes, keyof Ambient>;
  readonly guard: Omit<Guard, 'contextOf'>;
  readHealth(): Promise<Health>;
  readonly trustedProxies: IpList;
  readonly log: FastifyBaseLogger;
}

const BODY_LIMIT = 64 * 1024;

export function buildServer(deps: ServerDeps): FastifyInstance {
  const server = Fastify({
    loggerInstance: deps.log,
    // Fastify's own lines hold the URL, and a webhook's URL holds its token.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUIDv7(),
    bodyLimit: BODY_LIMIT,
    frameworkErrors: (fault, request, reply) => void sendFault(fault, request, reply),
  });

  const contextOf = (request: FastifyRequest): RequestContext => ({
    requestId: request.id,
    ip: clientIp(request, deps.trustedProxies),
    userAgent: request.headers['user-agent'] ?? null,
    path: pathOf(request),
    method: request.method,
  });

  const ambient: Ambient = { contextOf, clock: deps.clock };

  server.register(cookie);
  guardRoutes(server, { ...deps.guard, contextOf });
  server.setErrorHandler(sendFault);
  server.setNotFoundHandler((request, reply) => sendDenial(request, reply, deny('not_found')));
  server.addHook('onResponse', async (request, reply) => {
    const { method, id: request_id } = request;
    const route = request.routeOptions.url ?? 'none';
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    deps.log.info({ request_id, method, route, status: reply.statusCode, ms }, 'request');
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, body: Buffer) => {
      const reading = readJson(body);
      if ('problem' in reading) throw new RequestInvalid(reading.problem);
      const json = plainJson(reading.value);
      if (!json) throw new RequestInvalid('A number has more than 15 significant digits.');
      return json.plain;
    },
  );

  server.setValidatorCompiler(({ schema, httpPart }) => {
    const validator = Compile(schema as never);
    return (data) => {
      // A query is text; a body has types of its own, and they must be right.
      const value = httpPart === 'body' ? data : Value.Convert(schema as never, data);
      if (validator.Check(value)) return { value };
      const [first] = validator.Errors(value);
      const where = first?.instancePath.slice(1).replaceAll('/', '.') || (httpPart ?? 'request');
      return { error: new RequestInvalid(`${where}: ${first?.message ?? 'is invalid'}.`) };
    };
  });

  server.get('/health', { config: { access: 'open' } }, async (_request, reply) => {
    const health = await deps.readHealth();
    return reply.code(health.status === 'up' ? 200 : 503).send(health);
  });
  server.register(async (scope) => webhookRoutes(scope, { ...deps.webhook, ...ambient }));
  server.register(async (scope) => tradingRoutes(scope, { ...deps.trading, ...ambient }));
  return server;
}

/** Without the query, and with no more of a webhook's token than tells one from another. */
const pathOf = (request: FastifyRequest): string =>
  request.url.replace(/\?.*$/s, '').replace(/^(\/webhook\/[^/]{0,6})[^/]*/, '$1…');
