// What a process without an API answers: whether it lives, whether it can work, and its figures. One with an API answers so
// at a second port, where the monitoring is not to come by the front's way.

import { randomUUIDv7 } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { blockList, canonicalIp } from '../app/accounts/ip-list.ts';
import type { Sealer } from '../app/audit/sealing.ts';
import { readHealth } from '../app/operation/health.ts';
import { readFigures } from '../app/operation/metrics.ts';
import { type Denial, deny } from '../domain/denial.ts';
import { isAddress, ownHosts, wrongHost } from '../http/hosts.ts';
import { errorsPageOf, problemOf, problemText } from '../http/problem.ts';
import { METRICS_TYPE } from '../telemetry/prometheus.ts';
import type { Foundation } from './foundation.ts';

/** Listens, and resolves with the port. */
export async function openProbe(
  { config, log, closers, ...base }: Foundation,
  sealer: Pick<Sealer, 'problem'> | null,
  port = config.http.port,
): Promise<number> {
  const readers = blockList(config.edge.metrics.ips);
  const errorsPage = errorsPageOf(config.http.baseUrl);
  const deps = { ...base, ...config.timings, sealer, role: config.role };

  const isOwnHost = ownHosts(config.http);

  async function answer(
    path: string,
    { ip, host }: { ip: string; host: string | undefined },
  ): Promise<Answer> {
    if (path === '/health/live') return json(200, { status: 'up', version: base.version });
    if (path === '/health') {
      const health = await readHealth(deps);
      return json(health.status === 'up' ? 200 : 503, health);
    }
    if (path !== '/metrics') return refusal(deny('not_found', NOTHING_ELSE), errorsPage);
    if (!readers.has(canonicalIp(ip) ?? ''))
      return refusal(deny('ip_not_allowed', ASK_FROM_ADMIN), errorsPage);
    // Monitoring comes by addresses as well, as those of pods.
    if (!isOwnHost(host) && !isAddress(host)) return refusal(wrongHost(host), errorsPage);
    return { status: 200, type: METRICS_TYPE, text: await base.counters.expose(await readFigures(deps)) };
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/s, '');
    answer(path, { ip: request.socket.remoteAddress ?? '', host: request.headers.host })
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

const NOTHING_ELSE = {
  detail: 'This port has no API: there are /health, /health/live and /metrics.',
  advice: 'Ask one of those, or ask a process with ROLE=api.',
};
const ASK_FROM_ADMIN = { advice: 'Ask from an address in METRICS_IPS (by default ADMIN_IPS).' };

const json = (status: number, body: object): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(body),
});

function refusal(denial: Denial, errorsPage: string): Answer {
  const problem = problemOf(denial);
  const text = problemText(problem, { errorsPage, requestId: randomUUIDv7() });
  return { status: problem.status, type: 'application/problem+json', text };
}
