// POST /auth/token: OAuth2's token endpoint (RFC 6749, 4.3 and 6) for programs. Its errors have OAuth2's shape.

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import { unavailability } from '../../app/faults.ts';
import type { Entered, PasswordGrant } from '../../app/identity/login.ts';
import type { Refreshed } from '../../app/identity/sessions.ts';
import { type Denial, isDenial, ruleOf } from '../../domain/denial.ts';
import { RequestInvalid } from '../problem.ts';
import { TokenBody } from '../schemas/auth.ts';
import { Tokens } from '../schemas/identity-answers.ts';
import { OAuthError as OAuthErrorSchema } from '../schemas/parts.ts';
import { seconds } from '../session-cookies.ts';

export interface TokenRoutes {
  loginAtOnce(grant: PasswordGrant): Promise<Denial | Entered | { codeMissing: true }>;
  refresh(request: {
    refreshToken: string | undefined;
    context: RequestContext;
  }): Promise<Denial | Refreshed>;
  readonly accessTokenMs: number;
  contextOf(request: FastifyRequest): RequestContext;
}

type OAuthError =
  | 'invalid_request'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'
  | 'server_error';

export function tokenRoutes(server: FastifyInstance, deps: TokenRoutes): void {
  const { contextOf } = deps;
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => readForm(body),
  );

  server.post<{ Body: Static<typeof TokenBody> }>(
    '/auth/token',
    {
      config: {
        access: 'open',
        doc: {
          id: 'issueTokens',
          tag: 'Authentication',
          summary: 'Get tokens for a program',
          description:
            "OAuth2's token endpoint (RFC 6749, 4.3 and 6), as a form or as JSON. Unknown parameters are ignored. After 10 wrong passwords from one address in 15 minutes, on whichever accounts, further requests from it are refused for that time; right ones do not count. Where the user has a second factor and `totp_code` is missing, the answer is `invalid_grant` with the description `totp_required`.",
          bodyTypes: ['application/x-www-form-urlencoded', 'application/json'],
          needsBody: true,
          answers: {
            200: Tokens,
            400: { text: 'The request, or what it proves, is wrong.', schema: OAuthErrorSchema },
            413: { text: 'The body is too large.', schema: OAuthErrorSchema },
            415: { text: 'The body is neither a form nor JSON.', schema: OAuthErrorSchema },
            429: {
              text: 'Too many failed attempts for this account, or from this address.',
              schema: OAuthErrorSchema,
            },
            500: { text: 'Something went wrong on our side.', schema: OAuthErrorSchema },
            503: { text: 'A part of the service is unavailable. Try again.', schema: OAuthErrorSchema },
          },
        },
      },
      schema: { body: TokenBody },
      errorHandler: async (fault, request, reply) => sendFault(fault, request, reply),
    },
    async (request, reply) => {
      const { body } = request;
      // RFC 6749, 3.2: a parameter without a value counts as omitted.
      const [username, password, refreshToken, code] = [
        body.username || undefined,
        body.password || undefined,
        body.refresh_token || undefined,
        body.totp_code || undefined,
      ];
      const context = contextOf(request);
      switch (body.grant_type || undefined) {
        case 'password': {
          if (!username || !password) return invalid(reply, 'username and password are needed');
          const outcome = await deps.loginAtOnce({ email: username, password, code, context });
          if (isDenial(outcome)) return sendDenial(reply, outcome);
          if ('codeMissing' in outcome) return sendError(reply, 400, 'invalid_grant', 'totp_required');
          return sendTokens(reply, outcome);
        }
        case 'refresh_token': {
          if (!refreshToken) return invalid(reply, 'refresh_token is needed');
          const outcome = await deps.refresh({ refreshToken, context });
          return isDenial(outcome) ? sendDenial(reply, outcome) : sendTokens(reply, outcome);
        }
        case undefined:
          return invalid(reply, 'grant_type is needed: password or refresh_token');
        default:
          return sendError(
            reply,
            400,
            'unsupported_grant_type',
            'grant_type must be password or refresh_token',
          );
      }
    },
  );

  function sendTokens(reply: FastifyReply, { accessToken, refreshToken, session }: Entered | Refreshed) {
    return reply.header('pragma', 'no-cache').send({
      access_token: accessToken,
      // Left out where the client holds a newer one than it showed.
      ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
      token_type: 'bearer',
      expires_in: seconds(deps.accessTokenMs),
      csrf_token: session.csrfToken,
    });
  }
}

function readForm(body: Buffer): Record<string, string> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new RequestInvalid('The body is not valid UTF-8.');
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    // What percent signs hide may be no UTF-8 either; it would have been replaced by this character.
    if (value.includes('\ufffd')) throw new RequestInvalid(`"${name.slice(0, 64)}" is not valid UTF-8.`);
    if (fields.has(name)) throw new RequestInvalid(`"${name.slice(0, 64)}" is given twice.`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

const invalid = (reply: FastifyReply, description: string) =>
  sendError(reply, 400, 'invalid_request', description);

/** Who may not have a token gets 400 invalid_grant, as RFC 6749, 5.2 says; what will pass keeps its own status. */
function sendDenial(reply: FastifyReply, { code, detail, retryAfter }: Denial): FastifyReply {
  const { status } = ruleOf(code);
  // What it is called in the log and in the metrics, whatever its shape.
  reply.problemCode = code;
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (status === 429 || status === 503) return sendError(reply, status, 'temporarily_unavailable', detail);
  return sendError(reply, 400, 'invalid_grant', detail);
}

function sendFault(fault: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const unavailable = unavailability(fault);
  if (unavailable) return sendDenial(reply, unavailable);
  const status = fault instanceof RequestInvalid || fault.validation ? 400 : (fault.statusCode ?? 500);
  if (status < 500) return sendError(reply, status, 'invalid_request', fault.message);
  request.log.error({ fault }, 'a request failed');
  return sendError(reply, 500, 'server_error', 'Something went wrong on our side. Try again.');
}

function sendError(reply: FastifyReply, status: number, error: OAuthError, description: string) {
  return reply
    .code(status)
    .header('pragma', 'no-cache')
    .send({ error, error_description: oauthText(description) });
}

/** RFC 6749, 5.2: printable ASCII without quotation mark and backslash. */
const oauthText = (text: string): string =>
  text
    .replaceAll('’', "'")
    .replace(/["\\]/g, "'")
    .replace(/[^\x20-\x7e]/g, '?');
