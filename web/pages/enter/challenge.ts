// The bot challenge's three providers. Their scripts speak nearly one protocol: they call a global function once they are
// ready, and draw a widget into an element that they are given.

import type { components } from '../../api/schema.ts';

export type Provider = NonNullable<components['schemas']['PublicConfig']['captcha']>['provider'];
/** The server compares it with what the provider tells. */
export type ChallengedAction = 'login' | 'register';

const SCRIPTS: Readonly<Record<Provider, string>> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  recaptcha: 'https://www.google.com/recaptcha/api.js',
  hcaptcha: 'https://js.hcaptcha.com/1/api.js',
};

/** Under which name each puts itself into the page. */
export const GLOBALS: Readonly<Record<Provider, string>> = {
  turnstile: 'turnstile',
  recaptcha: 'grecaptcha',
  hcaptcha: 'hcaptcha',
};

/** Nothing is drawn before we say where. */
export function scriptOf(provider: Provider, readyCallback: string): string {
  const url = new URL(SCRIPTS[provider]);
  url.searchParams.set('render', 'explicit');
  url.searchParams.set('onload', readyCallback);
  // It would report its own faults to a host that the policy does not know.
  if (provider === 'hcaptcha') url.searchParams.set('sentry', 'false');
  return url.href;
}

interface Wishes {
  readonly siteKey: string;
  readonly action: ChallengedAction;
  readonly isDark: boolean;
  onAnswer(token: string): void;
  /** The answer is too old, or the provider failed: there is none. */
  onLost(): void;
}

export const optionsOf = (provider: Provider, wishes: Wishes): Readonly<Record<string, unknown>> => ({
  sitekey: wishes.siteKey,
  theme: wishes.isDark ? 'dark' : 'light',
  callback: wishes.onAnswer,
  'expired-callback': wishes.onLost,
  'error-callback': wishes.onLost,
  // The others would refuse or ignore it.
  ...(provider === 'turnstile' ? { action: wishes.action } : {}),
});
