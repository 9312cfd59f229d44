// An exchange's own words, fit to be shown: they may repeat the key, the signature, what was signed, or the address that
// was asked. What stays is what tells a person what to do: also the address that is to be allowed.

import type { Credentials } from './wire.ts';

const LONGEST = 300;
/** Shorter values are words. */
const LEAST_CHARACTERS = 6;

const TAKEN_OUT: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, '…'],
  // Bybit repeats what it has signed, the key in it.
  [/(origin_string)\s*\[[^\]]*\]?/gi, '$1[…]'],
  [
    /\b(signature|sign|api[-_ ]?key|access[-_ ]?key|ok-access-\w+|x-bapi-\w+|passphrase)\s*[=:]\s*["']?[^\s"'&,;]+/gi,
    '$1 …',
  ],
  // Signatures, whatever stands before them.
  [/[A-Za-z0-9+/_-]{40,}={0,2}/g, '…'],
  [/<[^>]*>/g, ' '],
  [/\s+/g, ' '],
];

export function discreetWords(text: string, credentials: Credentials | null): string {
  const secrets = credentials
    ? [credentials.apiKey, credentials.secret, credentials.passphrase]
        .filter((secret) => secret.length >= LEAST_CHARACTERS)
        .flatMap((secret) => [secret, encodeURIComponent(secret)])
        .sort((a, b) => b.length - a.length)
    : [];
  const withoutSecrets = secrets.reduce((said, secret) => said.replaceAll(secret, '…'), text);
  const words = TAKEN_OUT.reduce((said, [pattern, instead]) => said.replace(pattern, instead), withoutSecrets)
    .trim()
    .replace(/[.\s]+$/, '');
  return words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
}

/** The address that a refusal names, as the exchange saw it. */
export const addressIn = (words: string): string | null =>
  /\b(?:\d{1,3}\.){3}\d{1,3}\b/.exec(words)?.[0] ??
  /\b(?:[0-9a-f]{1,4}:){2,7}[0-9a-f]{1,4}\b/i.exec(words)?.[0] ??
  null;
