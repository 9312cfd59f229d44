// How an outcome becomes an answer, and a query a page.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageRequest } from '../app/pages.ts';
import { type Denial, isDenial } from '../domain/denial.ts';
import { isUuid } from '../domain/ids.ts';
import { RequestInvalid, sendDenial } from './problem.ts';

/** Null is an action without an answer. */
export function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Denial | object | null,
  status = 200,
): FastifyReply {
  if (outcome === null) return reply.code(204).send();
  return isDenial(outcome) ? sendDenial(request, reply, outcome) : reply.code(status).send(outcome);
}

/** Of a list that is ordered by id. */
export function pageOf(
  { limit = 50, cursor }: { limit?: number; cursor?: string },
  isCursor: (text: string) => boolean = isUuid,
): PageRequest {
  if (cursor !== undefined && !isCursor(cursor))
    throw new RequestInvalid('"cursor" must be the next_cursor of the page before.');
  return { limit, cursor: cursor ?? null };
}
