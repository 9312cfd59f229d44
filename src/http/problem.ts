// Every error leaves as application/problem+json (RFC 9457): what happened, and what to do next. Never a stack trace.

import { randomUUIDv7 } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
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
  reply.problemCode = problem.code;
  return reply.code(problem.status).type('application/problem+json').send(problemText(problem, request.id));
}

export const problemText = (problem: Problem, requestId: string): string =>
  JSON.stringify({ type: `urn:fillpath:problem:${problem.code}`, ...problem, request_id: requestId });

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
  // Fastify's own refusals: a broken URL, a wrong content type.
  if (status >= 400 && status < 500) return sendInvalid(request, reply, { status, detail: fault.message });
  request.log.error({ fault }, 'a request failed');
  return sendProblem(request, reply, INTERNAL_ERROR);
}

/** A request that no route reads. */
export function sendInvalid(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, detail }: { readonly status: number; readonly detail: string },
): FastifyReply {
  const { title } = ruleOf('request_invalid');
  return sendProblem(request, reply, { status, title, code: 'request_invalid', detail });
}

/** A bug of ours, and no denial: nobody decides on it. */
export const INTERNAL_ERROR = {
  status: 500,
  title: 'Something went wrong on our side',
  code: 'internal_error',
  detail: 'Try again. If it happens again, tell the operator the request_id.',
} as const satisfies Problem;

/** Bytes that are no HTTP request never reach a route; their answer has the same shape nevertheless. */
export function sendClientError(
  { code }: ConnectionError,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = CLIENT_ERRORS[code] ?? [400, 'These bytes are no HTTP request that can be read.'];
  const problem = { status, title: 'The request is invalid', code: 'request_invalid', detail };
  const text = problemText(problem, randomUUIDv7());
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(text),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  socket.destroySoon();
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Send shorter headers, or a shorter URL.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Send the whole request at once.'],
};
