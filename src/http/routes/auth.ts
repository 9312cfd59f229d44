// /auth: registering, logging in and out, keeping a session up, a forgotten password.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { Caller, Session, User } from '../../app/identity/access.ts';
import type { CodeAsked, Entered, LoginAttempt, LoginCode } from '../../app/identity/login.ts';
import type { Registration } from '../../app/identity/passwords.ts';
import { type Refreshed, shownUser } from '../../app/identity/sessions.ts';
import type { PageRequest } from '../../app/pages.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import { isEmail, normalEmail } from '../../domain/identity/email.ts';
import type { UserId } from '../../domain/ids.ts';
import { answer, pageOf } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { RequestInvalid, sendDenial } from '../problem.ts';
import {
  ForgotPasswordBody,
  LoginBody,
  LoginTotpBody,
  RegisterBody,
  ResetPasswordBody,
} from '../schemas/auth.ts';
import {
  LoggedIn,
  LoginAnswer,
  OwnSession,
  Refreshed as RefreshedSchema,
  Registered,
  Session as SessionSchema,
} from '../schemas/identity-answers.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import { NoBody, PageQuery } from '../schemas/requests.ts';
import {
  type CookieSettings,
  clearSessionCookies,
  DEVICE_COOKIE,
  REFRESH_COOKIE,
  seconds,
  setAccessCookie,
  setDeviceCookie,
  setRefreshCookie,
} from '../session-cookies.ts';
import { KNOWN_DEVICE, type PasswordRoutes, passwordRoutes } from './password.ts';
import { type SecondFactorRoutes, secondFactorRoutes } from './second-factor.ts';
import { type TokenRoutes, tokenRoutes } from './token.ts';
import { type VerifyEmailRoutes, verifyEmailRoutes } from './verify-email.ts';

export interface AuthRoutes {
  register(registration: Registration): Promise<Denial | User>;
  login(attempt: LoginAttempt): Promise<Denial | Entered | CodeAsked>;
  completeLogin(step: LoginCode): Promise<Denial | Entered>;
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
  }): Promise<Denial | { readonly deviceToken: string }>;
  changePassword: PasswordRoutes['change'];
  readOwnSession(user: User, session: Session): Promise<object>;
  readSessions(current: Session, page: PageRequest): Promise<object>;
  revokeSession(user: UserId, id: string, context: RequestContext): Promise<Denial | null>;
  readonly verifyEmail: Omit<VerifyEmailRoutes, 'contextOf'>;
  readonly token: Omit<TokenRoutes, 'contextOf' | 'refresh' | 'accessTokenMs'>;
  readonly secondFactor: Omit<SecondFactorRoutes, 'contextOf'>;
  readonly cookies: CookieSettings;
  contextOf(request: FastifyRequest): RequestContext;
}

type Doc = Omit<RouteDoc, 'tag'>;
const documented = (doc: Doc): RouteDoc => ({ tag: 'Authentication', ...doc });
/** For those that ask the database: no guard says so for them. */
const open = ({ denials = [], ...doc }: Doc) =>
  ({
    config: {
      access: 'open',
      doc: documented({ ...doc, denials: [...denials, 'database_unavailable'] }),
    },
  }) as const;
const session = (doc: Doc) => ({ config: { access: 'session', doc: documented(doc) } }) as const;

const SETS_COOKIES = {
  'Set-Cookie':
    'access_token and refresh_token; and known_device, which gives this device login tries of its own, apart from strangers’.',
};

export function authRoutes(server: FastifyInstance, deps: AuthRoutes): void {
  const { contextOf, cookies } = deps;
  const expires_in = seconds(cookies.accessTokenMs);

  server.post<{ Body: Static<typeof RegisterBody> }>(
    '/auth/register',
    {
      ...open({
        id: 'register',
        summary: 'Register',
        description:
          'A new user has the plan `free`. Where addresses have to be confirmed (VERIFY_EMAIL) a link is mailed; an address that is registered and not confirmed gets the same answer, and whoever follows a link first has it.',
        answers: { 201: Registered },
        denials: [
          'password_weak',
          'captcha_failed',
          'captcha_unavailable',
          'store_unavailable',
          'passwords_busy',
          'email_taken',
        ],
      }),
      schema: { body: RegisterBody },
    },
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
    {
      ...open({
        id: 'login',
        summary: 'Log in',
        description:
          'Sets both cookies; or, where the user has a second factor, asks for its code, and sets none. After 10 failed tries for an account in 15 minutes, further ones are refused. A device that its user has logged in with before has 10 of its own.',
        answers: {
          200: {
            text: 'The session, or the question for the code.',
            schema: LoginAnswer,
            headers: SETS_COOKIES,
          },
        },
        denials: [
          'captcha_failed',
          'captcha_unavailable',
          'invalid_credentials',
          'login_locked',
          'user_deactivated',
          'store_unavailable',
          'passwords_busy',
        ],
      }),
      schema: { body: LoginBody },
    },
    async (request, reply) => {
      const { email, password, captcha_token: captchaToken } = request.body;
      const context = contextOf(request);
      const deviceToken = request.cookies[DEVICE_COOKIE];
      const outcome = await deps.login({ email, password, captchaToken, deviceToken, context });
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
    {
      ...open({
        id: 'completeLogin',
        summary: 'Log in: the code of the second factor',
        answers: { 200: { text: 'The session.', schema: LoggedIn, headers: SETS_COOKIES } },
        denials: [
          'login_token_invalid',
          'login_code_wrong',
          'invalid_credentials',
          'login_locked',
          'user_deactivated',
        ],
      }),
      schema: { body: LoginTotpBody },
    },
    async (request, reply) => {
      const { login_token: loginToken, code } = request.body;
      const deviceToken = request.cookies[DEVICE_COOKIE];
      const context = contextOf(request);
      const outcome = await deps.completeLogin({ loginToken, code, deviceToken, context });
      return isDenial(outcome) ? sendDenial(request, reply, outcome) : sendEntered(reply, outcome);
    },
  );

  function sendEntered(reply: FastifyReply, { user, session, ...tokens }: Entered) {
    setAccessCookie(reply, tokens.accessToken, cookies);
    setRefreshCookie(reply, tokens.refreshToken, cookies);
    setDeviceCookie(reply, tokens.deviceToken);
    return { user: shownUser(user), csrf_token: session.csrfToken, expires_in };
  }

  // Open, and free of CSRF tokens: the refresh cookie alone decides, and no other site can have it sent.
  server.post(
    '/auth/silent-refresh',
    {
      ...open({
        id: 'silentRefresh',
        summary: 'Keep the session alive',
        description:
          'By the refresh cookie alone. The refresh token works once; one that is shown again more than 10 seconds later ends the session.',
        opensWith: 'refresh_cookie',
        answers: {
          200: {
            text: 'The session goes on.',
            schema: RefreshedSchema,
            headers: {
              'Set-Cookie': 'A new access_token and, unless another tab was faster, refresh_token.',
            },
          },
        },
        denials: ['unauthenticated', 'user_deactivated'],
      }),
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const outcome = await deps.refresh({
        refreshToken: request.cookies[REFRESH_COOKIE],
        context: contextOf(request),
      });
      if (isDenial(outcome)) return sendDenial(request, reply, outcome);
      setAccessCookie(reply, outcome.accessToken, cookies);
      if (outcome.refreshToken !== null) setRefreshCookie(reply, outcome.refreshToken, cookies);
      return { csrf_token: outcome.session.csrfToken, expires_in };
    },
  );

  server.post(
    '/auth/logout',
    {
      ...session({
        id: 'logout',
        summary: 'Log out',
        description: 'The session ends at once, and the cookies are cleared.',
        answers: { 204: null },
      }),
      schema: { body: NoBody },
    },
    async (request, reply) => {
      await deps.logout(bySession(request).session, contextOf(request));
      clearSessionCookies(reply, cookies);
      return reply.code(204).send();
    },
  );

  server.post<{ Body: Static<typeof ForgotPasswordBody> }>(
    '/auth/forgot-password',
    {
      config: {
        access: 'open',
        doc: documented({
          id: 'forgotPassword',
          summary: 'Ask for a link to set a new password',
          answers: { 202: { text: 'The same answer whether or not there is such a user.', schema: null } },
        }),
      },
      schema: { body: ForgotPasswordBody },
    },
    async (request, reply) => {
      const { email } = request.body;
      if (!isEmail(normalEmail(email))) throw new RequestInvalid('"email" must be an email address.');
      deps.forgotPassword({ email, context: contextOf(request) });
      return reply.code(202).send();
    },
  );

  server.post<{ Body: Static<typeof ResetPasswordBody> }>(
    '/auth/reset-password',
    {
      ...open({
        id: 'resetPassword',
        summary: 'Set a new password',
        description:
          'Ends all sessions, API keys and known devices of the user, and pauses notification destinations until they are confirmed; GET /settings/after-theft lists what to replace. The token from the mail works once, for 30 minutes.',
        answers: {
          204: { text: 'The new password is set.', schema: null, headers: { 'Set-Cookie': KNOWN_DEVICE } },
        },
        denials: ['reset_token_invalid', 'password_weak', 'passwords_busy'],
      }),
      schema: { body: ResetPasswordBody },
    },
    async (request, reply) => {
      const { token, password } = request.body;
      const outcome = await deps.resetPassword({ token, password, context: contextOf(request) });
      if (isDenial(outcome)) return sendDenial(request, reply, outcome);
      setDeviceCookie(reply, outcome.deviceToken);
      return reply.code(204).send();
    },
  );

  server.get(
    '/auth/session',
    session({
      id: 'readOwnSession',
      summary: 'Read your session',
      description: 'How a client gets its CSRF token after a reload.',
      answers: { 200: OwnSession },
    }),
    async (request) => {
      const { user, session } = bySession(request);
      return deps.readOwnSession(user, session);
    },
  );

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/auth/sessions',
    {
      ...session({
        id: 'listSessions',
        summary: 'List your active sessions',
        description: 'Newest first.',
        answers: { 200: pageSchema(SessionSchema) },
      }),
      schema: { querystring: PageQuery },
    },
    async (request) => deps.readSessions(bySession(request).session, pageOf(request.query)),
  );

  server.delete<{ Params: { id: string } }>(
    '/auth/sessions/:id',
    {
      ...session({
        id: 'endSession',
        summary: 'End one of your sessions',
        params: { id: 'Of the session.' },
        answers: { 204: null },
        denials: ['not_found'],
      }),
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const { user, session } = bySession(request);
      const { id } = request.params;
      const denial = await deps.revokeSession(user.id, id, contextOf(request));
      if (!denial && id === session.id) clearSessionCookies(reply, cookies);
      return answer(request, reply, denial);
    },
  );

  passwordRoutes(server, { change: deps.changePassword, contextOf });
  verifyEmailRoutes(server, { ...deps.verifyEmail, contextOf });
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
