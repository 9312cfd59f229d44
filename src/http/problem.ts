// Every error leaves as application/problem+json (RFC 9457): what happened, and what to do next. Never a stack trace.

import { randomUUIDv7 } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { unavailability } from '../app/faults.ts';
import { type Denial, deny, ruleOf } from '../domain/denial.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The page that explains every error; a problem's type is its anchor there. */
    errorsPage: string;
  }
}

/** Where a deployment under this address explains its errors. */
export const errorsPageOf = (baseUrl: string): string => `${baseUrl}/docs/errors`;

/** `more`: what is known besides. */
export function sendDenial(
  request: FastifyRequest,
  reply: FastifyReply,
  denial: Denial,
  more: object = {},
): FastifyReply {
  if (denial.retryAfter !== undefined) reply.header('retry-after', String(denial.retryAfter));
  return sendProblem(request, reply, problemOf(denial), more);
}

export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly code: string;
  readonly detail: string;
  readonly advice: string;
}

export function problemOf({ code, detail, advice }: Denial): Problem {
  const { status, title } = ruleOf(code);
  return { status, title, code, detail, advice };
}

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
  more: object = {},
): FastifyReply {
  reply.problemCode = problem.code;
  const { errorsPage } = request.server;
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .send(problemText(problem, { errorsPage, requestId: request.id }, more));
}

export const problemText = (
  { status, title, code, detail, advice }: Problem,
  { errorsPage, requestId }: { readonly errorsPage: string; readonly requestId: string },
  more: object = {},
): string =>
  JSON.stringify({
    type: `${errorsPage}#${code}`,
    title,
    status,
    detail,
    code,
    advice,
    request_id: requestId,
    ...more,
  });

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
  if (fault.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return sendInvalid(request, reply, wrongType(request.headers['content-type'], takenBy(request)));
  const status = fault.statusCode ?? 500;
  if (status >= 400 && status < 500)
    return sendInvalid(request, reply, FRAMEWORK_ERRORS[fault.code] ?? { ...UNREADABLE, status });
  request.log.error({ fault }, 'a request failed');
  return sendProblem(request, reply, INTERNAL_ERROR);
}

/** Fastify's own refusals that a sender can meet. */
const FRAMEWORK_ERRORS: Readonly<Record<string, Invalid>> = {
  FST_ERR_BAD_URL: {
    status: 400,
    detail: 'The URL cannot be read: a % in its path is not followed by two hexadecimal digits of UTF-8.',
    advice: 'Encode the path, and write a percent sign as %25.',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    status: 400,
    detail: 'The body does not have the length that Content-Length says.',
    advice: 'Leave Content-Length to your HTTP library.',
  },
};
const UNREADABLE: Invalid = {
  status: 400,
  detail: 'The request cannot be read.',
  advice: 'Compare it with the description of the call under /docs.',
};

const takenBy = ({ routeOptions }: FastifyRequest): readonly string[] =>
  routeOptions.config.doc?.bodyTypes ?? ['application/json'];

export function wrongType(given: string | undefined, taken: readonly string[]): Invalid {
  const types = taken.join(' or ');
  return {
    status: 415,
    detail: given
      ? `This call does not read a body of the type ${printable(given)}.`
      : 'The body has no Content-Type.',
    advice: `Send the body with the header Content-Type: ${types}.`,
  };
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);

interface Invalid {
  readonly status: number;
  readonly detail: string;
  readonly advice: string;
}

/** A request that no route reads. */
export function sendInvalid(request: FastifyRequest, reply: FastifyReply, invalid: Invalid): FastifyReply {
  const { title } = ruleOf('request_invalid');
  return sendProblem(request, reply, { title, code: 'request_invalid', ...invalid });
}

/** A bug of ours, and not a denial: nobody decides on it. */
export const INTERNAL_ERROR = {
  status: 500,
  title: 'Something went wrong on our side',
  code: 'internal_error',
  detail: 'The service has a fault. Try again. If it happens again, tell the operator the request_id.',
  advice: 'Try again. If it happens again, tell the operator the request_id.',
} as const satisfies Problem;

/** Bytes that are not an HTTP request never reach a route; their answer has the same shape nevertheless. */
export function sendClientError(
  { code }: ConnectionError,
  socket: Socket,
  {
    headers,
    errorsPage,
  }: { readonly headers: Readonly<Record<string, string>>; readonly errorsPage: string },
): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { title } = ruleOf('request_invalid');
  const problem = { title, code: 'request_invalid', ...(CLIENT_ERRORS[code] ?? NOT_HTTP) };
  const text = problemText(problem, { errorsPage, requestId: randomUUIDv7() });
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(text),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${text}`);
  socket.destroySoon();
}

const NOT_HTTP: Invalid = {
  status: 400,
  detail: 'These bytes are not an HTTP request that can be read.',
  advice: 'Send an HTTP/1.1 request, without TLS where this port has none.',
};

const CLIENT_ERRORS: Readonly<Record<string, Invalid>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: 'The headers or the URL are too long.',
    advice: 'Send shorter headers, or a shorter URL.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    detail: 'The request did not arrive in time.',
    advice: 'Send the whole request at once.',
  },
};
