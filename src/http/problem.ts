// Every error leaves as application/problem+json (RFC 9457): what happened, and what to do next. Never a stack trace.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { unavailability } from '../app/faults.ts';
import { type Denial, deny, ruleOf } from '../domain/denial.ts';

export function sendDenial(request: FastifyRequest, reply: FastifyReply, denial: Denial): FastifyReply {
  const { status, title } = ruleOf(denial.code);
  if (denial.retryAfter !== undefined) reply.header('retry-after', String(denial.retryAfter));
  return sendProblem(request, reply, { status, title, code: denial.code, detail: denial.detail });
}

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly code: string;
  readonly detail: string;
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .send(
      JSON.stringify({ type: `urn:fillpath:problem:${problem.code}`, ...problem, request_id: request.id }),
    );
}

/** A request that the schemas or the JSON reader refuse. */
export class RequestInvalid extends Error {
  override readonly name = 'RequestInvalid';
}

export function sendFault(fault: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (fault instanceof RequestInvalid || fault.validation)
    return sendDenial(request, reply, deny('request_invalid', { detail: fault.message }));
  const unavailable = unavailability(fault);
  if (unavailable) return sendDenial(request, reply, unavailable);
  if (fault.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return sendDenial(request, reply, deny('payload_too_large'));
  const status = fault.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    // Fastify's own refusals: a broken URL, a wrong content type.
    const title = 'The request is invalid';
    return sendProblem(request, reply, { status, title, code: 'request_invalid', detail: fault.message });
  }
  request.log.error({ fault }, 'a request failed');
  return sendProblem(request, reply, {
    status: 500,
    title: 'Something went wrong on our side',
    code: 'internal_error',
    detail: 'Try again. If it happens again, tell the operator the request_id.',
  });
}
