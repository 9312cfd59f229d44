// What the text of a variable may be. A parser answers with the value, or with what would have been right.

import { createPrivateKey, createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { BROKER_NAMES, type BrokerUrls } from '../domain/brokers.ts';
import type { PrivateJwk, PublicJwk } from '../domain/identity/sealed.ts';
import type { Plan, Plans } from '../domain/orders/entitlement.ts';

export interface Fault {
  /** Completes a sentence that begins with the variable's name. */
  readonly right: string;
  /** The part of the text that is wrong; null where it must not be shown. */
  readonly given: string | null;
}

export class Wrong {
  // Private, so that no value of another type passes for a Wrong.
  readonly #faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }
  get faults(): readonly Fault[] {
    return this.#faults;
  }
}

export type Parse<T> = (text: string) => T | Wrong;

const wrong = (right: string, given: string | null): Wrong => new Wrong([{ right, given }]);

export const text: Parse<string> = (given) => given;

/** As OpenTelemetry writes them: name=value, separated by commas, each percent-encoded. */
export const headers: Parse<Readonly<Record<string, string>>> = (given) => {
  const pairs = given.split(',').map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([^,]*?)\s*$/.exec(pair));
  const read = pairs.map((pair) => {
    try {
      return pair && ([pair[1] ?? '', decodeURIComponent(pair[2] ?? '')] as const);
    } catch {
      return null;
    }
  });
  const good = read.filter((pair) => pair !== null);
  if (good.length < read.length) return wrong('must be name=value, separated by commas', given);
  return Object.fromEntries(good);
};

export const ratio: Parse<number> = (given) =>
  /^(0|1|0?\.\d{1,9}|1\.0+)$/.test(given) ? Number(given) : wrong('must be a number from 0 to 1', given);

export function oneOf<const T extends string>(...choices: readonly T[]): Parse<T> {
  const right = `must be one of ${choices.join(', ')}`;
  return (given) => choices.find((choice) => choice === given) ?? wrong(right, given);
}

export const yesOrNo: Parse<boolean> = (given) => {
  if (/^(true|1|yes)$/i.test(given)) return true;
  if (/^(false|0|no)$/i.test(given)) return false;
  return wrong('must be true or false (or 1, 0, yes, no)', given);
};

export function wholeNumber(least: number, most: number): Parse<number> {
  return (given) => {
    const value = /^(0|[1-9]\d{0,14})$/.test(given) ? Number(given) : Number.NaN;
    return value >= least && value <= most
      ? value
      : wrong(`must be a whole number from ${least} to ${most}`, given);
  };
}

const UNITS = { milliseconds: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

/** Where a broker is spoken to at another address than its own. */
export const brokerUrls: Parse<BrokerUrls> = (given) => {
  const table = jsonObject(given);
  if (table === null) return wrong('must be JSON such as {"shioaji": "http://10.0.0.5:8080"}', null);
  const faults = Object.entries(table).flatMap(([name, url]): Fault[] => {
    if (!BROKER_NAMES.some((known) => known === name))
      return [{ right: `must name brokers only: ${BROKER_NAMES.join(', ')}`, given: name.slice(0, 40) }];
    return typeof url === 'string' && !(webUrl(url) instanceof Wrong)
      ? []
      : [{ right: `must have an address such as http://10.0.0.5:8080 for ${name}`, given: null }];
  });
  return faults.length > 0 ? new Wrong(faults) : (table as BrokerUrls);
};

/** In milliseconds. Fractions are welcome, since tests shorten everything. */
export function duration(unit: keyof typeof UNITS, mostMs: number): Parse<number> {
  // Rounded down, so that the greatest value named in the message is itself accepted.
  const most = Math.floor((mostMs / UNITS[unit]) * 100) / 100;
  return (given) => {
    const value = /^(0|[1-9]\d{0,11})(\.\d{1,12})?$/.test(given)
      ? Math.round(Number(given) * UNITS[unit])
      : Number.NaN;
    return value >= 1 && value <= mostMs
      ? value
      : wrong(`must be a number of ${unit} above 0 and at most ${most}`, given);
  };
}

/** Comma-separated; blanks around the items and empty items do not count. */
export function listOf<T>(item: Parse<T>): Parse<readonly T[]> {
  return (given) => {
    const faults: Fault[] = [];
    const values: T[] = [];
    for (const part of given.split(',').map((piece) => piece.trim())) {
      if (part === '') continue;
      const value = item(part);
      if (value instanceof Wrong) faults.push(...value.faults);
      else values.push(value);
    }
    return faults.length > 0 ? new Wrong(faults) : values;
  };
}

const HOST_NAME = /^(?!.{254})[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i;

export const host: Parse<string> = (given) =>
  isIP(given) !== 0 || HOST_NAME.test(given) ? given : wrong('must be a host name or an IP address', given);

export const domainName: Parse<string> = (given) =>
  HOST_NAME.test(given.replace(/^\./, ''))
    ? given
    : wrong('must be a domain name such as example.com', given);

/** The three arguments of BlockList.addSubnet. */
export interface Cidr {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

export const cidr: Parse<Cidr> = (given) => {
  const [address = '', prefix, ...rest] = given.split('/');
  // A zone ("fe80::1%eth0") names an interface of this machine, which no forwarded address can carry.
  const family = address.includes('%') ? 0 : isIP(address);
  const bits = family === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  if (family === 0 || !isPrefix || rest.length > 0)
    return wrong('must list IPv4 or IPv6 addresses or CIDR blocks, separated by commas', given);
  return { address, prefix: Number(prefix ?? bits), family: family === 4 ? 'ipv4' : 'ipv6' };
};

/** A browser compares origins letter by letter, so they are kept in the form a browser sends. */
export const origin: Parse<string> = (given) => {
  // No wildcard: credentials are allowed, and "*" in the middle would match nothing.
  const url = /^https?:\/\/[^/?#@*\s\\]+$/i.test(given) ? URL.parse(given) : null;
  return (
    url?.origin ??
    wrong('must list origins as http(s)://host[:port] without a path, separated by commas', given)
  );
};

export const webUrl: Parse<string> = (given) => {
  const url = /^https?:\/\/\S+$/i.test(given) ? URL.parse(given) : null;
  if (url === null || url.username !== '' || url.password !== '')
    return wrong('must be an http:// or https:// address without a user name', given);
  return url.href;
};

/** What paths are appended to: neither a query nor a slash at its end. */
export const baseUrl: Parse<string> = (given) => {
  const href = webUrl(given);
  if (href instanceof Wrong) return href;
  return /[?#]/.test(href)
    ? wrong('must be an http:// or https:// address without a query', given)
    : href.replace(/\/+$/, '');
};

/** No more is asked of the rest: drivers know forms that URL.parse does not, such as sockets. */
export function addressOf(...schemes: readonly string[]): Parse<string> {
  const right = `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')} and name a server or a path`;
  return (given) => {
    const known = schemes.some(
      (scheme) => given.startsWith(`${scheme}://`) && given.length > scheme.length + 3,
    );
    return known && !/\s/.test(given) ? given : wrong(right, given);
  };
}

/** One line without control characters: it becomes a header. */
export const sender: Parse<string> = (given) =>
  /^([^<>@\p{Cc}]*<[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+>|[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+)$/u.test(given)
    ? given
    : wrong('must be an address such as alerts@example.com or Fillpath <alerts@example.com>', given);

export const atLeast =
  (characters: number): Parse<string> =>
  (given) =>
    given.length >= characters ? given : wrong(`must have at least ${characters} characters`, given);

/** 32 bytes: 42 characters and one of the 16 that end in two spare zero bits. */
const KEY_BYTES = /^[\w-]{42}[AEIMQUYcgkosw048]=?$/;

export const aesKey: Parse<string> = (given) =>
  KEY_BYTES.test(given)
    ? given.replace('=', '')
    : wrong('must be 32 bytes in base64url, that is 43 characters of A-Z a-z 0-9 - _', null);

const isCoordinate = (value: unknown): value is string =>
  typeof value === 'string' && KEY_BYTES.test(value) && !value.endsWith('=');

function curvePoint(jwk: unknown): { readonly point: PublicJwk; readonly d: unknown } | null {
  if (!isObject(jwk) || jwk.kty !== 'EC' || jwk.crv !== 'P-256') return null;
  if (!isCoordinate(jwk.x) || !isCoordinate(jwk.y)) return null;
  return { point: { kty: 'EC', crv: 'P-256', x: jwk.x, y: jwk.y }, d: jwk.d };
}

/** A point that is not on the curve, or a d that belongs to another one, would seal what nobody can open. */
function isKey(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

function privateJwk(jwk: unknown): PrivateJwk | null {
  const key = curvePoint(jwk);
  if (!key || !isCoordinate(key.d)) return null;
  const whole = { ...key.point, d: key.d };
  return isKey(() => createPrivateKey({ key: whole, format: 'jwk' })) ? whole : null;
}

/** The first one is current; the others open what was sealed before the last rotation. */
export const privateJwks: Parse<readonly [PrivateJwk, ...PrivateJwk[]]> = (given) => {
  const json = jsonObject(given);
  const keys = (Array.isArray(json?.keys) ? json.keys : [json]).map(privateJwk);
  const [current, ...older] = keys.filter((key) => key !== null);
  return current && older.length === keys.length - 1
    ? [current, ...older]
    : wrong(
        'must be a private P-256 JWK: JSON with kty "EC", crv "P-256", x, y and d of 32 bytes each, or {"keys": […]} with such keys, the current one first',
        null,
      );
};

export const publicJwk: Parse<PublicJwk> = (given) => {
  const key = curvePoint(jsonObject(given));
  // The text is never shown: it may be the private key in the wrong place.
  if (key === null || !isKey(() => createPublicKey({ key: { ...key.point }, format: 'jwk' })))
    return wrong(
      'must be a public P-256 JWK: JSON with kty "EC", crv "P-256", x and y of 32 bytes each',
      null,
    );
  if (key.d !== undefined)
    return wrong('must be the public key alone, without d: give the private one to workers', null);
  return key.point;
};

export const plans: Parse<Plans> = (given) => {
  const table = jsonObject(given);
  if (table === null)
    return wrong('must be JSON such as {"free": {"simulation_only": true, "daily_orders": 100}}', null);
  const faults: string[] = [];
  if (!Object.hasOwn(table, 'free')) faults.push('must contain the plan "free"');
  for (const [name, plan] of Object.entries(table)) {
    const field = (what: string) => `must have ${what} in the plan ${JSON.stringify(name.slice(0, 40))}`;
    if (!/^[\w-]{1,40}$/.test(name)) faults.push(`${field('only letters, digits, - and _')}'s name`);
    if (!isObject(plan)) {
      faults.push(field('the fields simulation_only and daily_orders'));
      continue;
    }
    const { simulation_only, daily_orders, accounts, api_keys, allowed_ips, ...others } = plan;
    if (typeof simulation_only !== 'boolean') faults.push(field('simulation_only true or false'));
    if (daily_orders !== null && !(Number.isSafeInteger(daily_orders) && Number(daily_orders) >= 0))
      faults.push(field('daily_orders null (no limit) or a whole number from 0 up'));
    for (const [what, most] of Object.entries({ accounts, api_keys, allowed_ips }))
      if (most !== undefined && !(Number.isSafeInteger(most) && Number(most) >= 0 && Number(most) <= 1000))
        faults.push(field(`${what} a whole number from 0 to 1000`));
    if (Object.keys(others).length > 0)
      faults.push(field('no fields but simulation_only, daily_orders, accounts, api_keys and allowed_ips'));
  }
  if (faults.length > 0) return new Wrong(faults.map((right) => ({ right, given: null })));
  return table as Record<string, Plan> & { free: Plan };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function jsonObject(given: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(given);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Published by the providers for tests; with the first of each anybody passes. */
export const CAPTCHA_TEST_SECRETS: ReadonlySet<string> = new Set([
  '1x0000000000000000000000000000000AA', // Turnstile: always passes
  '2x0000000000000000000000000000000AA', // Turnstile: always fails
  '3x0000000000000000000000000000000AA', // Turnstile: says "already spent"
  '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe', // reCAPTCHA v2
  `0x${'0'.repeat(40)}`, // hCaptcha
]);
