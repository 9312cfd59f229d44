// Somebody with a browser: keeps cookies as their paths and ages say, and shows the CSRF token that it was given.

import { createHash } from 'node:crypto';
import type { PasswordHasher } from '../../src/app/identity/passwords.ts';

/** What comes back. */
export interface Heard<Body> {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: Body;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Request = <Body>(options: {
  method: Method;
  url: string;
  body?: unknown;
  headers?: Record<string, string>;
  remoteAddress?: string;
}) => Promise<Heard<Body>>;

export interface ShownUser {
  readonly id: string;
  readonly email: string;
  readonly is_admin: boolean;
  readonly plan: string;
  readonly plan_expires_at: string | null;
}

/** The answer to a login. */
export interface LoggedIn {
  readonly user: ShownUser;
  readonly csrf_token: string;
  readonly expires_in: number;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

export type Visitor = ReturnType<typeof openVisitor>;

export function openVisitor(request: Request) {
  const cookies = new Map<string, Cookie>();
  let csrf: string | undefined;

  function keep(header: string): void {
    const [pair = '', ...attributes] = header.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const value = decodeURIComponent(pair.slice(name.length + 1));
    const attribute = (key: string) =>
      attributes.find((text) => text.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    if (attribute('max-age') === '0') cookies.delete(name);
    else cookies.set(name, { value, path: attribute('path') ?? '/' });
  }

  return {
    cookies,
    cookie: (name: string): string | undefined => cookies.get(name)?.value,
    get csrf() {
      return csrf;
    },
    /** The header that a browser would send to this path. */
    cookieHeader: (url: string): string =>
      [...cookies]
        .filter(([, { path }]) => path === '/' || url === path || url.startsWith(`${path}/`))
        .map(([name, { value }]) => `${name}=${encodeURIComponent(value)}`)
        .join('; '),
    async call<Body>(
      method: Method,
      url: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Heard<Body>> {
      const cookie = this.cookieHeader(url);
      const answer = await request<Body>({
        method,
        url,
        ...(body === undefined ? {} : { body }),
        headers: {
          ...(cookie === '' ? {} : { cookie }),
          ...(csrf === undefined || method === 'GET' ? {} : { 'x-csrf-token': csrf }),
          ...headers,
        },
      });
      for (const header of setCookies(answer)) keep(header);
      const token = (answer.body as { csrf_token?: unknown } | null)?.csrf_token;
      if (typeof token === 'string') csrf = token;
      return answer;
    },
  };
}

export const setCookies = ({ headers }: Heard<unknown>): string[] =>
  [headers['set-cookie'] ?? []].flat() as string[];

/** As right as the real one, at once, and it counts. */
export function countingHasher() {
  const sha = (password: string) => `sha256:${createHash('sha256').update(password).digest('hex')}`;
  const hasher = {
    hashed: 0,
    /** The hashes that passwords were verified against. */
    verified: [] as string[],
    hash: async (password: string) => {
      hasher.hashed++;
      return sha(password);
    },
    verify: async (passwordHash: string, password: string) => {
      hasher.verified.push(passwordHash);
      return passwordHash === sha(password);
    },
  };
  return hasher satisfies PasswordHasher;
}
