// The bot challenge: what the client brings is verified with its provider, server to server. Turnstile, reCAPTCHA and
// hCaptcha speak one protocol, siteverify, and take each answer of a client once. It fails closed: no answer that can be
// believed is no admission.

import { isIP } from 'node:net';
import { type Denial, deny } from '../../domain/denial.ts';
import type { RequestContext } from '../audit/audit.ts';

interface CaptchaAnswer {
  /** What the challenge gave to the client. */
  readonly token: string | undefined;
  readonly action: 'login' | 'register';
  readonly context: RequestContext;
}

export interface Captcha {
  /** Null: passed, or not asked for. */
  verify(answer: CaptchaAnswer): Promise<Denial | null>;
}

interface CaptchaSettings {
  readonly provider: 'turnstile' | 'recaptcha' | 'hcaptcha';
  readonly secret: string;
  readonly verifyUrl: string;
  /** In lower case. */
  readonly bypassUserAgents: readonly string[];
}

interface CaptchaDeps {
  /** null: no challenge is configured. */
  readonly settings: CaptchaSettings | null;
  /** Host names of the pages that may show the challenge. */
  readonly hosts: ReadonlySet<string>;
  readonly log: { info(context: object, text: string): void; error(context: object, text: string): void };
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const LEAST_TRUST = 0.5;
/** What the provider blames on us or on itself: another answer of the client's would change nothing. */
const NOT_THE_CLIENTS = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'bad-request',
  'internal-error',
]);

export function createCaptcha(deps: CaptchaDeps): Captcha {
  const { settings, log } = deps;
  if (!settings) return { verify: async () => null };
  return {
    async verify({ token, action, context }) {
      const userAgent = (context.userAgent ?? '').toLowerCase();
      if (settings.bypassUserAgents.some((fragment) => userAgent.includes(fragment))) {
        log.info({ request_id: context.requestId, action }, 'a configured scanner skips the bot challenge');
        return null;
      }
      if (!token) return deny('captcha_failed');
      const verdict = await ask(deps, settings, token, context);
      if (typeof verdict === 'string') {
        log.error({ request_id: context.requestId, reason: verdict }, 'the bot challenge cannot be verified');
        return deny('captcha_unavailable');
      }
      return isPassed(verdict, settings, deps.hosts, action) ? null : deny('captcha_failed');
    },
  };
}

interface Verdict {
  readonly success: boolean;
  readonly hostname?: unknown;
  readonly action?: unknown;
  readonly score?: unknown;
}

/** The provider's verdict; a text: why there is none. */
async function ask(
  { timeoutMs = TIMEOUT_MS }: CaptchaDeps,
  { secret, verifyUrl }: CaptchaSettings,
  token: string,
  { ip }: RequestContext,
): Promise<Verdict | string> {
  try {
    const response = await fetch(verifyUrl, {
      method: 'POST',
      body: new URLSearchParams({ secret, response: token, ...(isIP(ip) === 0 ? {} : { remoteip: ip }) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (response.status >= 500) return `status ${response.status}`;
    const verdict: unknown = JSON.parse(text);
    if (!isVerdict(verdict)) return 'an answer without success';
    if (verdict.success && !response.ok) return `success with status ${response.status}`;
    const codes = (verdict as { 'error-codes'?: unknown })['error-codes'];
    const ours = Array.isArray(codes) ? codes.find((code) => NOT_THE_CLIENTS.has(code)) : undefined;
    return !verdict.success && ours ? `error code ${ours}` : verdict;
  } catch (fault) {
    return fault instanceof Error ? fault.name : 'no answer';
  }
}

const isVerdict = (value: unknown): value is Verdict =>
  typeof value === 'object' && value !== null && 'success' in value && typeof value.success === 'boolean';

/** What the provider does not tell is not asked for; what it tells must be right. */
function isPassed(
  { success, hostname, action, score }: Verdict,
  { provider }: CaptchaSettings,
  hosts: ReadonlySet<string>,
  expected: CaptchaAnswer['action'],
): boolean {
  if (!success) return false;
  if (isTold(hostname) && !(typeof hostname === 'string' && hosts.has(hostname.toLowerCase()))) return false;
  if (isTold(action) && action !== expected) return false;
  if (!isTold(score)) return true;
  if (typeof score !== 'number') return false;
  // hCaptcha counts the risk, from 0 to 1; the others count the trust.
  return (provider === 'hcaptcha' ? 1 - score : score) >= LEAST_TRUST;
}

const isTold = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
