// What a process without an API answers: whether it lives, whether it can work, and its figures. One with an API answers so
// at a second port, where the monitoring is not to come by the front's way.

import { randomUUIDv7 } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { blockList, canonicalIp } from '../app/accounts/ip-list.ts';
import type { Sealer } from '../app/audit/sealing.ts';
import { readHealth } from '../app/operation/health.ts';
import { readFigures } from '../app/operation/metrics.ts';
import { type Denial, deny, ruleOf } from '../domain/denial.ts';
import { problemText } from '../http/problem.ts';
import { METRICS_TYPE } from '../telemetry/prometheus.ts';
import type { Foundation } from './foundation.ts';

/** Listens, and resolves with the port. */
export async function openProbe(
  { config, log, closers, ...base }: Foundation,
  sealer: Pick<Sealer, 'problem'> | null,
  port = config.http.port,
): Promise<number> {
  const readers = blockList(config.edge.metrics.ips);
  const deps = { ...base, sealer, role: config.role };

  async function answer(path: string, ip: string): Promise<Answer> {
    if (path === '/health/live') return json(200, { status: 'up', version: base.version });
    if (path === '/health') {
      const health = await readHealth(deps);
      return json(health.status === 'up' ? 200 : 503, health);
    }
    if (path !== '/metrics') return refusal(deny('not_found', { detail: NOTHING_ELSE }));
    if (!readers.has(canonicalIp(ip) ?? '')) return refusal(deny('ip_not_allowed'));
    return { status: 200, type: METRICS_TYPE, text: await base.counters.expose(await readFigures(deps)) };
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/s, '');
    answer(path, request.socket.remoteAddress ?? '')
      .catch((fault: unknown) => {
        log.error({ fault, path }, 'a probe failed');
        return json(503, { status: 'down' });
      })
      .then(({ status, type, text }) => {
        response.writeHead(status, {
          'content-type': type,
          'x-content-type-options': 'nosniff',
          ...(status === 503 ? { 'retry-after': '5' } : {}),
        });
        response.end(text);
      });
  });
  const { host } = config.http;
  const listen = (on: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(on, host, resolve);
    });
  await listen(port).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EADDRINUSE') throw fault;
    // Its work does not depend on being asked about.
    log.warn({ port }, 'the port is taken: this process answers probes at another one');
    return listen(0);
  });
  closers.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const NOTHING_ELSE = 'This process has no API: there are /health, /health/live and /metrics.';

const json = (status: number, body: object): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(body),
});

function refusal({ code, detail }: Denial): Answer {
  const { status, title } = ruleOf(code);
  const text = problemText({ status, title, code, detail }, randomUUIDv7());
  return { status, type: 'application/problem+json', text };
}
