// A user's reads that are under way at one moment, in this process. They share one thread with the orders of everybody:
// who asks for more at once waits for the answers to some of them. What acts has a rate limit of its own.

import type { FastifyInstance } from 'fastify';
import { deny } from '../domain/denial.ts';
import type { UserId } from '../domain/ids.ts';
import { sendDenial } from './problem.ts';

/** More than a page of the dashboard asks for, its event streams included. */
const MOST = 24;

export const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** After the guard, which knows who is asking. */
export function limitReads(server: FastifyInstance): void {
  const underWay = new Map<UserId, number>();
  server.addHook('onRequest', async (request, reply) => {
    const { access = 'open' } = request.routeOptions.config;
    if (!READING.has(request.method) || access === 'open' || access === 'admin_ip') return;
    const { id } = request.caller.user;
    const count = underWay.get(id) ?? 0;
    if (count >= MOST) return sendDenial(request, reply, deny('too_many_at_once', { retryAfter: 1 }));
    underWay.set(id, count + 1);
    reply.raw.once('close', () => {
      const left = (underWay.get(id) ?? 1) - 1;
      if (left > 0) underWay.set(id, left);
      else underWay.delete(id);
    });
  });
}
