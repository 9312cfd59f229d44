// A broker answers in words of its own, and they may repeat the credentials that it was given: a signed URL, a header,
// the key that it does not know. What leaves a connection goes into answers, the order history and logs, so nothing of
// the credentials leaves it.

export type Discretion = (text: string) => string;

/** Shorter values are words such as "demo", and no secrets. */
const LEAST_CHARACTERS = 6;

export function discretion(credentials: unknown): Discretion {
  // The longest first: one may be a part of another.
  const secrets = secretsIn(credentials).sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((said, secret) => said.replaceAll(secret, '…'), text);
}

function secretsIn(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(secretsIn);
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const text = String(value);
  // A key in several lines may be quoted by one of them.
  const parts = [text, ...text.split(/\r?\n/)].filter((part) => part.length >= LEAST_CHARACTERS);
  return parts.flatMap((part) => [part, encodeURIComponent(part), JSON.stringify(part).slice(1, -1)]);
}
