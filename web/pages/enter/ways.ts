// What the pages of entry decide: where somebody goes on, beside which field a refusal stands, and in which words.

/** Whoever would come from there could only come back. */
const OUTSIDE = /^\/(?:login|register|forgot-password|reset-password|verify-email|welcome)\/?$/;

/**
 * Where an entry leads: a path of our own, whatever the address asked for. Browsers read `\` as `/` and skip tabs and line
 * ends, so that the text is read as they read it, and what comes out is written anew.
 */
export function wayOn(next: string | undefined, origin: string): string {
  if (!next || !/^\/(?![/\\])/.test(next) || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  if (url.origin !== origin || url.pathname.startsWith('//') || OUTSIDE.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}

const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^\/signals\/./, 'a signal’s story'],
  [/^\/orders\/./, 'an order’s story'],
  [/^\/signals/, 'Signals'],
  [/^\/positions/, 'Positions'],
  [/^\/performance/, 'Performance'],
  [/^\/accounts/, 'Accounts'],
  [/^\/check/, 'Check'],
  [/^\/security/, 'Security'],
  [/^\/notifications/, 'Notifications'],
  [/^\/operation/, 'Operation'],
];

/** Null: nowhere in particular. */
export const placeInWords = (path: string): string | null =>
  PLACES.find(([place]) => place.test(path))?.[1] ?? null;

export type Field = 'email' | 'password' | 'code' | 'challenge' | 'form';

const FIELDS: Readonly<Record<string, Field>> = {
  invalid_credentials: 'password',
  login_locked: 'password',
  password_weak: 'password',
  email_taken: 'email',
  login_code_wrong: 'code',
  login_token_invalid: 'code',
  captcha_failed: 'challenge',
  captcha_unavailable: 'challenge',
};

/** Beside which field a refusal stands; in the second step there is one field alone. */
export function fieldOf(problem: { readonly code: string; readonly detail: string }): Field {
  if (problem.code === 'request_invalid') {
    const named = /^"(email|password|code)"/.exec(problem.detail)?.[1];
    if (named) return named as Field;
  }
  return FIELDS[problem.code] ?? 'form';
}

/** Where the API speaks to a program (of headers and paths), the page says the same to a person. */
const FOR_PEOPLE: Readonly<Record<string, string>> = {
  invalid_credentials: 'Check both and try again, or ask for a new password.',
  login_locked: 'Resetting your password by mail lets you in at once.',
  email_taken: 'Log in with it, or ask for a new password.',
  captcha_failed: 'Solve it once more: each answer works once.',
  passwords_busy: 'Try again in a moment. It does not count as a failed attempt.',
  edge_rate_limited: 'Too many requests came from your address.',
  unreachable: 'Either your network or the service is down. Try again in a moment.',
  verify_token_invalid:
    'A link that confirms an address works once, for 24 hours. Log in and ask for another, or register again.',
  reset_token_invalid: 'A link for a new password works once, for 30 minutes. Ask for another.',
};

export const adviceOn = (problem: { readonly code: string; readonly detail: string }): string =>
  FOR_PEOPLE[problem.code] ?? problem.detail;

/** In the second step a wrong code comes back as wrong credentials: the page knows what was asked for. */
export const codeRefusedAs = (isRecovery: boolean): { readonly title: string; readonly advice: string } =>
  isRecovery
    ? {
        title: 'This recovery code is wrong',
        advice: 'Each works once. Check it, or take another of the ten.',
      }
    : {
        title: 'The code is wrong',
        advice: 'Type the one that the app shows now: each works once, for half a minute.',
      };

/** `4:12`. */
export function minutesLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** What is typed into the code's field: apps show it in two halves, and people copy the space. */
export const typedCode = (text: string): string => text.replace(/\s/g, '').slice(0, 6);
