// Small texts of the security page: what a user agent is, what an audit entry is about. All of it is text from outside.

import type { components } from '../../api/schema.ts';

/** In this order: each calls itself by the names of those before it. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome|Chromium)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows NT\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const LONGEST = 60;

/** `Firefox on Linux`; what is not recognised is shown as it came, shortened. */
export function deviceInWords(userAgent: string): string {
  const named = (names: typeof BROWSERS) => names.find(([sign]) => sign.test(userAgent))?.[1];
  const browser = named(BROWSERS);
  const system = named(SYSTEMS);
  if (browser) return system ? `${browser} on ${system}` : browser;
  if (userAgent === '') return 'a program without a name';
  return userAgent.length > LONGEST ? `${userAgent.slice(0, LONGEST)}…` : userAgent;
}

type Found = components['schemas']['AfterTheft'];

/** Why everything was ended; a time follows. */
export const BECAUSE: Readonly<Record<NonNullable<Found['because']>, string>> = {
  password_reset: 'A new password was set',
  logout_everywhere: 'You logged out everywhere',
  administrator: 'An administrator secured your account',
  restore: 'This service was restored from a backup',
};

export const OFFERED: Readonly<Record<Found['replace'][number]['kind'], string>> = {
  webhook_secret: 'webhook secret',
  webhook_token: 'webhook address',
};

type Entry = components['schemas']['AuditEntry'];

/** What an entry is about: the names that we know, else what it was asked for, and why it failed. */
export function about(entry: Entry, accountNames: ReadonlyMap<string, string>): string {
  const { metadata, resource_type, resource_id, error_message, request_method, request_path } = entry;
  const text = (name: string) => {
    const value = metadata[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  };
  const account = accountNames.get(text('trading_account_id') ?? resource_id ?? '');
  // What we did by ourselves says itself what it was, with why it failed.
  const said = text('text');
  if (resource_type === 'protection' && said !== null)
    return account === undefined ? said : `${account}: ${said}`;
  const trade = ['action', 'quantity', 'symbol'].map(text).filter((part) => part !== null);
  const named = text('name') ?? text('ip_address') ?? text('label');
  const parts = [
    trade.length > 1 ? trade.join(' ') : null,
    named,
    account ?? null,
    // An id says something where nothing else does.
    trade.length > 1 || named || account || !resource_type
      ? null
      : `${resource_type} ${resource_id ?? ''}`.trim(),
    error_message,
  ].filter((part) => part !== null && part !== '');
  return parts.length > 0 ? parts.join(', ') : [request_method, request_path].filter(Boolean).join(' ');
}

/** In fours, as an authenticator app takes it. */
export const inFours = (secret: string): string => (secret.match(/.{1,4}/g) ?? []).join(' ');

/** A QR code's dark modules as one path: each run of a row is one rectangle. */
export function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const from = x;
      while (row[x]) x += 1;
      path += `M${from} ${y}h${x - from}v1h-${x - from}z`;
    }
  });
  return path;
}

/** How long an API key may live; null: until it is revoked. */
export const LIFETIMES = [
  { days: 30, name: '30 days' },
  { days: 90, name: '90 days' },
  { days: 365, name: 'a year' },
  { days: null, name: 'no end' },
] as const;
