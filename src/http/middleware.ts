// What stands before every route, in the spec's order: CORS, the browser-only check, (the guard with its CSRF check).
// The security headers are here too: the server puts them on every response, errors included.

import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Denial, deny } from '../domain/denial.ts';
import { isOfPrograms, isPage } from './pages.ts';
import { sendDenial } from './problem.ts';
import { READING } from './reads-at-once.ts';

export interface Middleware {
  readonly allowedOrigins: readonly string[];
  /** In production: nothing but browsers, and programs that say so, may call. */
  readonly browserOnly: boolean;
  readonly captchaProvider: CaptchaProvider | null;
}

type CaptchaProvider = 'turnstile' | 'recaptcha' | 'hcaptcha';

/**
 * What a page of ours may load of the bot challenge: whole hosts. hCaptcha asks for a wildcard, because its hosts change; the
 * spec allows none, so that those which it uses are named.
 */
const CAPTCHA_HOSTS: Record<CaptchaProvider, readonly string[]> = {
  turnstile: ['https://challenges.cloudflare.com'],
  recaptcha: ['https://www.google.com', 'https://www.gstatic.com', 'https://recaptcha.google.com'],
  hcaptcha: [
    'https://hcaptcha.com',
    'https://js.hcaptcha.com',
    'https://newassets.hcaptcha.com',
    'https://api.hcaptcha.com',
    'https://api2.hcaptcha.com',
  ],
};

export function securityHeaders(captcha: CaptchaProvider | null): Readonly<Record<string, string>> {
  const hosts = captcha ? ` ${CAPTCHA_HOSTS[captcha].join(' ')}` : '';
  return {
    // What is somebody's belongs in no cache. What is for everybody, as the pages' files are, says so itself.
    'cache-control': 'no-store',
    'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'self'${hosts}`,
      `style-src 'self'${hosts}`,
      "img-src 'self' data:",
      "font-src 'self'",
      `connect-src 'self'${hosts}`,
      `frame-src 'self'${hosts}`,
      "manifest-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "object-src 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'x-xss-protection': '1; mode=block',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-embedder-policy': 'unsafe-none',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'permissions-policy': 'geolocation=(), microphone=(), camera=(), payment=()',
  };
}

/** Paths that others than browsers call, or that are for everybody: no origin is asked for there. */
const OPEN_TO_ALL =
  /^\/(?:webhook\/|public\/|setup\/|static\/|health(?:\/live)?$|docs(?:\/|$)|metrics$|$|robots\.txt$|sitemap\.xml$|favicon\.ico$)/;
export const isOpenToAll = (path: string): boolean => OPEN_TO_ALL.test(path) || isPage(path);
/** Where a program may call without any of the headers that tell a browser. */
const OPEN_TO_PROGRAMS = new Set(['/auth/token', '/auth/public-key', '/openapi.json']);

export function standBefore(server: FastifyInstance, settings: Middleware): void {
  server.register(cors, {
    origin: [...settings.allowedOrigins],
    credentials: true,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Content-Type', 'Authorization', 'X-CSRF-Token', 'Idempotency-Key'],
    exposedHeaders: ['Location', 'Retry-After'],
    maxAge: 600,
    strictPreflight: false,
  });
  if (!settings.browserOnly) return;
  server.addHook('onRequest', (request, reply, done) => {
    const denial = checkOrigin(request, settings.allowedOrigins);
    if (denial) return void sendDenial(request, reply, denial);
    done();
  });
}

/** A browser names the page that it calls from; a page that is not ours may not call at all. */
function checkOrigin(request: FastifyRequest, allowed: readonly string[]): Denial | null {
  const path = request.routeOptions.url ?? request.url.replace(/\?.*$/s, '');
  if (isOpenToAll(path)) return null;
  // A mistyped page: there is nothing, and whoever reads may know.
  if (request.is404 && READING.has(request.method) && !isOfPrograms(path)) return null;
  const { origin, referer, authorization } = request.headers;
  const from = origin ?? originOf(referer);
  if (from !== undefined) return allowed.includes(from) ? null : deny('origin_not_allowed');
  const hasSessionCookie = 'access_token' in request.cookies || 'refresh_token' in request.cookies;
  // An open route asks for no bearer, so that one sent there proves nothing.
  const asksForBearer = request.routeOptions.config.access !== 'open';
  const isProgram = asksForBearer && /^Bearer /i.test(authorization ?? '') && !hasSessionCookie;
  return isProgram || OPEN_TO_PROGRAMS.has(path) ? null : deny('origin_not_allowed');
}

/** Of a Referer that is no address, the text itself: it is in no list. */
function originOf(referer: string | undefined): string | undefined {
  if (referer === undefined) return undefined;
  return URL.canParse(referer) ? new URL(referer).origin : referer;
}
