// Reads that are under way at one moment, in this process: of one credential, before anybody has looked whose it is, and of
// one user. They share one thread with the orders of everybody: who asks for more at once waits for the answers to some of
// them. What acts has a rate limit of its own.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { deny } from '../domain/denial.ts';
import { sendDenial } from './problem.ts';

/** More than a page of the dashboard asks for, its event streams included. */
const MOST = 24;

export const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Before the guard: what is refused here has cost nothing but its reading. */
export const limitReadsOfCredential = (server: FastifyInstance): void =>
  limitReads(server, ({ cookies, headers }) => cookies.access_token ?? headers.authorization);

/** After the guard, which knows who is asking. */
export const limitReadsOfUser = (server: FastifyInstance): void =>
  limitReads(server, ({ caller }) => caller.user.id);

function limitReads(
  server: FastifyInstance,
  readerOf: (request: FastifyRequest) => string | undefined,
): void {
  const underWay = new Map<string, number>();
  server.addHook('onRequest', (request, reply, done) => {
    if (!READING.has(request.method)) return done();
    const { access = 'open' } = request.routeOptions.config;
    if (access === 'open' || access === 'admin_ip') return done();
    const reader = readerOf(request);
    // The guard refuses it.
    if (reader === undefined) return done();
    const count = underWay.get(reader) ?? 0;
    if (count >= MOST) return void sendDenial(request, reply, deny('too_many_at_once', { retryAfter: 1 }));
    underWay.set(reader, count + 1);
    whenClosed(reply, () => {
      const left = (underWay.get(reader) ?? 1) - 1;
      if (left > 0) underWay.set(reader, left);
      else underWay.delete(reader);
    });
    done();
  });
}

/** At once, where whoever asked has gone already: nobody tells of it again. */
export function whenClosed({ raw }: Pick<FastifyReply, 'raw'>, does: () => void): void {
  if (raw.closed) does();
  else raw.once('close', does);
}
