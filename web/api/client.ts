// The API, typed by its own description. Every call carries the session's CSRF token; one that finds the session expired
// refreshes it once and is made again; one that finds it ended says so to the whole page.

import createClient, { type Middleware } from 'openapi-fetch';
import { heard } from './clock.ts';
import { Problem, reached } from './problem.ts';
import type { components, paths } from './schema.ts';
import { csrf, presentSession, refresh } from './session.ts';

export type Schemas = components['schemas'];

const CHANGES_NOTHING = new Set(['GET', 'HEAD']);
/** They answer 401 for reasons of their own. */
const WITHOUT_SESSION =
  /^\/(?:auth\/(?:login|register|forgot-password|reset-password|verify-email$|silent-refresh)|public)\b/;

const LOGOUT = /\/auth\/logout(?:-everywhere)?$/;
/** For what is being asked at the moment of a logout. */
const PATIENCE_MS = 2_000;

let onEnd: () => void = () => {};
/** Called when the session is found to be over, with no request of the user's doing. */
export function whenSessionEnds(tell: () => void): void {
  onEnd = tell;
}

function withCsrf(request: Request): Request {
  const token = csrf();
  if (token && !CHANGES_NOTHING.has(request.method)) request.headers.set('X-CSRF-Token', token);
  return request;
}

async function ask(request: Request): Promise<Response> {
  const response = await reached(fetch(withCsrf(request)));
  // A connection that breaks in the middle of an answer is noticed here, and not taken for a fault of what reads it.
  await reached(response.clone().blob());
  return response;
}

const underWay = new Set<Promise<unknown>>();
/** True: the session is over. While that is being decided, nothing else is asked. */
let leaving: Promise<boolean> | null = null;

/** After what was asked before it has been answered, and before anything else: none of it finds the session gone. */
export async function logOut({ everywhere = false } = {}): Promise<void> {
  const wait = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  const left = Promise.race([Promise.allSettled(underWay), wait]).then(() =>
    // One that is over anyhow is no trouble; one of which nobody knows whether it ended the others is.
    everywhere ? read(api.POST('/auth/logout-everywhere')) : api.POST('/auth/logout'),
  );
  leaving = left.then(
    () => true,
    () => false,
  );
  await left.finally(() => {
    leaving = null;
  });
}

function send(input: Request): Promise<Response> {
  const answered =
    leaving === null || LOGOUT.test(input.url) ? sendNow(input) : sendUnlessLeft(input, leaving);
  underWay.add(answered);
  const forgetIt = () => underWay.delete(answered);
  answered.then(forgetIt, forgetIt);
  return answered;
}

async function sendUnlessLeft(input: Request, left: Promise<boolean>): Promise<Response> {
  if (await left) throw new Problem({ title: 'You have logged out', code: 'session_required' }, 401);
  return sendNow(input);
}

async function sendNow(input: Request): Promise<Response> {
  const started = performance.now();
  const session = presentSession();
  // A body can be read once: the second try needs its own.
  const again = input.clone();
  const response = await ask(input);
  if (response.status !== 401 || WITHOUT_SESSION.test(new URL(input.url).pathname)) return response;
  if (await refresh(started)) return ask(again);
  // Whoever has left or logged in since: what is over is not the session that is.
  if (presentSession() === session) onEnd();
  return response;
}

const problems: Middleware = {
  async onResponse({ response }) {
    heard(response.headers.get('date'));
    if (response.ok) return;
    const document = await response.json().catch(() => ({}));
    throw new Problem(document, response.status, response.headers.get('retry-after'));
  },
};

/** Throws a Problem for every answer that is not a success, and Unreachable, which is one, where none came. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });
api.use(problems);

/** The body of a success. Lists can be had as CSV, too: a text, which is never what is read here. */
export async function read<T>(call: Promise<{ data?: T }>): Promise<Exclude<T, string>> {
  const { data } = await call;
  return data as Exclude<T, string>;
}
