// The session as the pages know it. Its tokens are in cookies that no script sees; here is the CSRF token, in memory, and in
// the browser's storage the mere fact that somebody logged in, and when, so that a stranger's visit asks for nothing and what
// is heard late of an earlier session is not taken for this one.

import { reached, Unreachable } from './problem.ts';

const HINT = 'fillpath.logged-in';
const LOCK = 'fillpath.refresh';
const CHANNEL = 'fillpath.session';

let csrfToken: string | null = null;
/** By the page's own clock, which stands still for nobody: the machine's may be an hour off. */
let refreshedAt = Number.NEGATIVE_INFINITY;

export const csrf = (): string | null => csrfToken;
export const mayBeLoggedIn = (): boolean => readHint() !== null;
/** Another one after every login; the tabs of one browser share it. */
export const presentSession = (): string | null => readHint();

/** `out`: somebody left on purpose; `over`: the session ended by itself, and whoever was in may want to go on. */
export type Said = 'in' | 'out' | 'over';
type Word = { readonly said: Said; readonly session: string | null };
const channel = new BroadcastChannel(CHANNEL);

/** Somebody has logged in. */
export function enter(token: string): void {
  forget();
  goOn(token);
}

/** Somebody is still in. */
export function goOn(token: string): void {
  csrfToken = token;
  refreshedAt = performance.now();
  if (!mayBeLoggedIn()) writeHint(String(Date.now()));
}

/** Tabs of one browser share their session: what ends here ends there. */
export function leave(said: 'out' | 'over' = 'out'): void {
  const session = presentSession();
  forget();
  channel.postMessage({ said, session } satisfies Word);
}

export function forget(): void {
  csrfToken = null;
  writeHint(null);
}

export function announceEntry(): void {
  channel.postMessage({ said: 'in', session: presentSession() } satisfies Word);
}

export function onOtherTabs(tell: (said: Said) => void): () => void {
  const hear = ({ data: { said, session } }: MessageEvent<Word>) => {
    const present = presentSession();
    // The end of a session that another has followed already: of that one the next word tells.
    if (said !== 'in' && present !== null && present !== session) return;
    // The word may come before the storage tells of it, and whoever is in would stand at the door.
    if (said === 'in' && present === null) writeHint(session);
    tell(said);
  };
  channel.addEventListener('message', hear);
  return () => channel.removeEventListener('message', hear);
}

/**
 * One tab at a time: a refresh token works once. Who waited for another tab finds the cookie already new, and the answer is
 * cheap. False: the session is over.
 */
export async function refresh(since: number): Promise<boolean> {
  return navigator.locks.request(LOCK, async () => {
    // Another request of this page was faster.
    if (refreshedAt > since) return true;
    const response = await reached(fetch('/auth/silent-refresh', { method: 'POST' }));
    if (response.status === 401 || response.status === 403) return false;
    if (!response.ok) throw new Unreachable();
    const { csrf_token } = (await response.json()) as { csrf_token: string };
    goOn(csrf_token);
    return true;
  });
}

function readHint(): string | null {
  try {
    return localStorage.getItem(HINT);
  } catch {
    // Storage is forbidden: then every visit begins with a question.
    return '1';
  }
}

function writeHint(value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(HINT);
    else localStorage.setItem(HINT, value);
  } catch {
    // It is a hint.
  }
}
