// One line for every request. What nobody in particular asks for or is refused is not worth so many: of one address, and of
// all, the first few of a minute have their lines, and one line tells of the rest.

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { type Bounds, StrangerCount } from '../domain/strangers.ts';
import { READING } from './reads-at-once.ts';

declare module 'fastify' {
  interface FastifyReply {
    /** The code of the problem that is answered; null: none. */
    problemCode: string | null;
    /** Whom and which order it is about, for the log; null: nobody in particular. */
    concerns: Concern | null;
  }
}

export interface Concern {
  readonly user_id?: string;
  readonly trading_account_id?: string;
  readonly group_id?: string;
  readonly order_id?: string;
  /** What became of the order. */
  readonly outcome?: string;
}

const EVERY_MS = 60_000;
const BOUNDS: Bounds = { ofAddress: 5, inAll: 100, addresses: 10_000 };

export function logRequests(
  server: FastifyInstance,
  { log, ipOf }: { readonly log: FastifyBaseLogger; ipOf(request: FastifyRequest): string },
): void {
  const strangers = new StrangerCount(BOUNDS);
  server.decorateReply('problemCode', null);
  server.decorateReply('concerns', null);
  server.addHook('onResponse', (request, reply, done) => {
    const { method, id: request_id } = request;
    const { statusCode: status, problemCode } = reply;
    const isTold =
      !isOfStranger(request, status) || strangers.count(ipOf(request), problemCode ?? `${status}`);
    if (!isTold) return done();
    const route = request.routeOptions.url ?? 'none';
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const outcome = problemCode === null ? {} : { outcome: problemCode };
    const about = { ...callerOf(request), ...reply.concerns, ...outcome };
    log.info({ request_id, method, route, status, ms, ...about }, 'request');
    done();
  });

  const tellRest = () => {
    const untold = strangers.take();
    if (!untold) return;
    const { count: requests, kinds: codes, addresses, loudest } = untold;
    log.info({ requests, codes, addresses, loudest }, 'requests of strangers');
  };
  const rounds = setInterval(tellRest, EVERY_MS).unref();
  server.addHook('onClose', async () => {
    clearInterval(rounds);
    tellRest();
  });
}

/** Nobody has logged in, and nothing was done: what is refused, and what anybody may read. A fault is always told. */
function isOfStranger(request: FastifyRequest, status: number): boolean {
  return !callerOf(request) && status < 500 && (status >= 400 || READING.has(request.method));
}

/** Before anybody has asked who it is, there is none. */
function callerOf(request: FastifyRequest): { readonly user_id: string } | null {
  const { caller } = request as { caller?: FastifyRequest['caller'] };
  return caller ? { user_id: caller.user.id } : null;
}
