// A reply that nobody could read, made fit to be kept: an exchange that changes its answers is noticed by its words. What is kept
// has no secret in it, nor who the account belongs to, and no more than tells what the reply was like.

import type { UnreadableReply } from './broker.ts';

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly text: string;
  /** Whatever may stand in it and is not to be shown. */
  readonly secrets: readonly string[];
}

/** So much tells which fields there are. */
const MOST_CHARACTERS = 2_000;
/** Shorter values are words. */
const LEAST_CHARACTERS = 6;

export const unreadableReply = ({ method, url, status, text, secrets }: Heard): UnreadableReply => ({
  call: callOf(method, url).trim(),
  status,
  reply: masked(text, secrets),
});

/** What is asked for, without the names of orders, symbols and accounts in it: there are few such calls. */
export function callOf(method: string, url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/]+/i, '').replace(/[?#].*$/, '');
  const parts = path.split('/').map((part) => (/^(?:|v\d+|[a-z][A-Za-z_:-]*)$/.test(part) ? part : '…'));
  return `${method} ${parts.join('/')}`;
}

/** Of whom an answer is, under whatever name: the value is taken out, the name stays. */
const PERSONAL =
  /"((?:parent|inviter|user|person|account|sub|main|master|broker)?_?(?:uid|id|no|number|alias|name)|user|email|ips?|ip_whitelist|api_?key|secret|token|sign|signature|listen_?key|passphrase|note)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[\d.]+|\[[^\]]*\])/gi;
/** An order's own names and those of what is traded are no person's. */
const KEPT = /^(?:id|no|number|name)$/i;

function masked(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter((secret) => secret.length >= LEAST_CHARACTERS)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .toSorted((a, b) => b.length - a.length);
  const discreet = known
    .reduce((said, secret) => said.replaceAll(secret, '…'), text)
    .replace(PERSONAL, (all, name: string) => (KEPT.test(name) ? all : `"${name}":"…"`))
    // Signatures and keys of others, addresses of machines and of people.
    .replace(/[A-Za-z0-9+/_-]{40,}={0,2}/g, '…')
    .replace(/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '…')
    .replace(/[\w.+-]+@[\w-]+\.[\w.]+/g, '…');
  return discreet.length > MOST_CHARACTERS ? `${discreet.slice(0, MOST_CHARACTERS)}…` : discreet;
}
