// How the service is: for probes, for whoever watches it, and for a person who asks.

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Health } from '../../app/operation/health.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { Health as HealthSchema, Live } from '../schemas/identity-answers.ts';

export interface ServiceRoutes {
  readHealth(): Promise<Health>;
  readonly metrics: { read(): Promise<string>; readonly type: string };
  readonly version: string;
}

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

export function serviceRoutes(
  server: FastifyInstance,
  { readHealth, metrics, version }: ServiceRoutes,
): void {
  server.get(
    '/health',
    { config: { access: 'open', ignoresQuery: true, doc: HEALTH } },
    async (_request, reply) => {
      const health = await readHealth();
      if (health.status === 'up') return health;
      return reply.code(503).header('retry-after', '5').send(health);
    },
  );
  server.get('/health/live', { config: { access: 'open', ignoresQuery: true, doc: LIVE } }, async () => ({
    status: 'up',
    version,
  }));
  server.get(
    '/metrics',
    { config: { access: 'admin_ip', ignoresQuery: true, doc: METRICS } },
    async (_request, reply) => reply.type(metrics.type).send(await metrics.read()),
  );
}
