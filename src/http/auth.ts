// /auth: registering, logging in and out, keeping a session up, a forgotten password.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Caller, Session, User } from '../app/access.ts';
import type { RequestContext } from '../app/audit.ts';
import type { CodeAsked, Entered, LoginAttempt } from '../app/login.ts';
import type { PageRequest } from '../app/pages.ts';
import type { Registration } from '../app/passwords.ts';
import { type Refreshed, shownUser } from '../app/sessions.ts';
import { type Denial, isDenial } from '../domain/denial.ts';
import { isEmail, normalEmail } from '../domain/email.ts';
import type { UserId } from '../domain/ids.ts';
import { answer, pageOf } from './answers.ts';
import {
  ForgotPasswordBody,
  LoginBody,
  LoginTotpBody,
  RegisterBody,
  ResetPasswordBody,
} from './auth-schemas.ts';
import { RequestInvalid, sendDenial } from './problem.ts';
import { NoBody, PageQuery } from './schemas.ts';
import { type SecondFactorRoutes, secondFactorRoutes } from './second-factor.ts';
import {
  type CookieSettings,
  clearSessionCookies,
  REFRESH_COOKIE,
  seconds,
  setAccessCookie,
  setRefreshCookie,
} from './session-cookies.ts';
import { type TokenRoutes, tokenRoutes } from './token.ts';

export interface AuthRoutes {
  register(registration: Registration): Promise<Denial | User>;
  login(attempt: LoginAttempt): Promise<Denial | Entered | CodeAsked>;
  completeLogin(step: {
    loginToken: string;
    code: string;
    context: RequestContext;
  }): Promise<Denial | Entered>;
  refresh(request: {
    refreshToken: string | undefined;
    context: RequestContext;
  }): Promise<Denial | Refreshed>;
  logout(session: Session, context: RequestContext): Promise<void>;
  /** Begins the work and does not wait for it. */
  forgotPassword(request: { email: string; context: RequestContext }): void;
  resetPassword(request: {
    token: string;
    password: string;
    context: RequestContext;
  }): Promise<Denial | null>;
  readOwnSession(user: User, session: Session): Promise<object>;
  readSessions(current: Session, page: PageRequest): Promise<object>;
  revokeSession(user: UserId, id: string, context: RequestContext): Promise<Denial | null>;
  readonly token: Omit<TokenRoutes, 'contextOf' | 'refresh' | 'accessTokenMs'>;
  readonly secondFactor: Omit<SecondFactorRoutes, 'contextOf'>;
  readonly cookies: CookieSettings;
  contextOf(request: FastifyRequest): RequestContext;
}

const OPEN = { config: { access: 'open' } } as const;
const SESSION = { config: { access: 'session' } } as const;

export function authRoutes(server: FastifyInstance, deps: AuthRoutes): void {
  const { contextOf, cookies } = deps;
  const expires_in = seconds(cookies.accessTokenMs);

  // Tokens and codes belong in no cache.
  server.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });

  server.post<{ Body: Static<typeof RegisterBody> }>(
    '/auth/register',
    { ...OPEN, schema: { body: RegisterBody } },
    async (request, reply) => {
      const { email, password, captcha_token, accept_terms } = request.body;
      const outcome = await deps.register({
        email,
        password,
        captchaToken: captcha_token,
        acceptTerms: accept_terms ?? false,
        context: contextOf(request),
      });
      return answer(request, reply, isDenial(outcome) ? outcome : { user: shownUser(outcome) }, 201);
    },
  );

  server.post<{ Body: Static<typeof LoginBody> }>(
    '/auth/login',
    { ...OPEN, schema: { body: LoginBody } },
    async (request, reply) => {
      const { email, password, captcha_token: captchaToken } = request.body;
      const context = contextOf(request);
      const outcome = await deps.login({ email, password, captchaToken, context });
      if (isDenial(outcome)) return sendDenial(request, reply, outcome);
      if ('session' in outcome) return sendEntered(reply, outcome);
      return {
        totp_required: true,
        login_token: outcome.loginToken,
        expires_in: seconds(outcome.expiresInMs),
      };
    },
  );

  server.post<{ Body: Static<typeof LoginTotpBody> }>(
    '/auth/login/totp',
    { ...OPEN, schema: { body: LoginTotpBody } },
    async (request, reply) => {
      const { login_token: loginToken, code } = request.body;
      const outcome = await deps.completeLogin({ loginToken, code, context: contextOf(request) });
      return isDenial(outcome) ? sendDenial(request, reply, outcome) : sendEntered(reply, outcome);
    },
  );

  function sendEntered(reply: FastifyReply, { user, session, accessToken, refreshToken }: Entered) {
    setAccessCookie(reply, accessToken, cookies);
    setRefreshCookie(reply, refreshToken, cookies);
    return { user: shownUser(user), csrf_token: session.csrfToken, expires_in };
  }

  // Open, and free of CSRF tokens: the refresh cookie alone decides, and no other site can have it sent.
  server.post('/auth/silent-refresh', { ...OPEN, schema: { body: NoBody } }, async (request, reply) => {
    const outcome = await deps.refresh({
      refreshToken: request.cookies[REFRESH_COOKIE],
      context: contextOf(request),
    });
    if (isDenial(outcome)) return sendDenial(request, reply, outcome);
    setAccessCookie(reply, outcome.accessToken, cookies);
    if (outcome.refreshToken !== null) setRefreshCookie(reply, outcome.refreshToken, cookies);
    return { csrf_token: outcome.session.csrfToken, expires_in };
  });

  server.post('/auth/logout', { ...SESSION, schema: { body: NoBody } }, async (request, reply) => {
    await deps.logout(bySession(request).session, contextOf(request));
    clearSessionCookies(reply, cookies);
    return reply.code(204).send();
  });

  server.post<{ Body: Static<typeof ForgotPasswordBody> }>(
    '/auth/forgot-password',
    { ...OPEN, schema: { body: ForgotPasswordBody } },
    async (request, reply) => {
      const { email } = request.body;
      if (!isEmail(normalEmail(email))) throw new RequestInvalid('"email" must be an email address.');
      deps.forgotPassword({ email, context: contextOf(request) });
      return reply.code(202).send();
    },
  );

  server.post<{ Body: Static<typeof ResetPasswordBody> }>(
    '/auth/reset-password',
    { ...OPEN, schema: { body: ResetPasswordBody } },
    async (request, reply) => {
      const { token, password } = request.body;
      return answer(
        request,
        reply,
        await deps.resetPassword({ token, password, context: contextOf(request) }),
      );
    },
  );

  server.get('/auth/session', SESSION, async (request) => {
    const { user, session } = bySession(request);
    return deps.readOwnSession(user, session);
  });

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/auth/sessions',
    { ...SESSION, schema: { querystring: PageQuery } },
    async (request) => deps.readSessions(bySession(request).session, pageOf(request.query)),
  );

  server.delete<{ Params: { id: string } }>(
    '/auth/sessions/:id',
    { ...SESSION, schema: { body: NoBody } },
    async (request, reply) => {
      const { user, session } = bySession(request);
      const { id } = request.params;
      const denial = await deps.revokeSession(user.id, id, contextOf(request));
      if (!denial && id === session.id) clearSessionCookies(reply, cookies);
      return answer(request, reply, denial);
    },
  );

  secondFactorRoutes(server, { ...deps.secondFactor, contextOf });
  server.register(async (scope) =>
    tokenRoutes(scope, {
      ...deps.token,
      refresh: deps.refresh,
      accessTokenMs: cookies.accessTokenMs,
      contextOf,
    }),
  );
}

function bySession({ caller }: FastifyRequest): Caller & { via: 'session' } {
  if (caller.via !== 'session') throw new Error('the guard of this route admits sessions only');
  return caller;
}
