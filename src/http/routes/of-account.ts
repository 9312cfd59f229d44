// What the routes of a trading account have in common.

import type { FastifyRequest } from 'fastify';
import type { Maker } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { Denial } from '../../domain/denial.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { NoBody } from '../schemas/requests.ts';

export type Outcome = Promise<Denial | object>;

export interface OfAccount {
  Params: { id: string };
}

type Doc = Omit<RouteDoc, 'tag'>;
export const documented = (doc: Doc): RouteDoc => ({ tag: 'Trading accounts', ...doc });
/** Of a route for one account. */
export const ofOne = (doc: Doc): RouteDoc =>
  documented({
    ...doc,
    params: { id: 'Of the trading account.' },
    denials: ['not_found', ...(doc.denials ?? [])],
  });
/** Of a route that asks the broker, through the worker: so many times in a minute, and not where the rest is kept for orders. */
export const ASKS_BROKER = [
  'rate_limited',
  'worker_unavailable',
  'broker_unavailable',
  'store_unavailable',
] as const;

export const user = (doc: RouteDoc) => ({ config: { access: 'user', doc } }) as const;
export const session = (doc: RouteDoc) => ({ config: { access: 'session', doc } }) as const;
export const action = (doc: RouteDoc) => ({ ...user(doc), schema: { body: NoBody } });

export const owners =
  (contextOf: (request: FastifyRequest) => RequestContext) =>
  (request: FastifyRequest): Maker => ({
    id: request.caller.user.id,
    user: request.caller.user,
    context: contextOf(request),
  });
