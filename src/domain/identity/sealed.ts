// Broker credentials travel and rest as a compact JWE that is sealed to the workers' public key. This is what can be
// told of one from outside: an API process checks that a worker will be able to open it, and cannot open it itself.

import { createHash } from 'node:crypto';

export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}
export interface PrivateJwk extends PublicJwk {
  readonly d: string;
}

/** The only pair that is sealed and opened: nobody negotiates a weaker one. */
export const SEAL_ALGORITHM = 'ECDH-ES';
export const SEAL_ENCRYPTION = 'A256GCM';

/** The public key as GET /auth/public-key shows it. */
export interface SealingKey extends PublicJwk {
  readonly use: 'enc';
  readonly alg: typeof SEAL_ALGORITHM;
  readonly kid: string;
}

/** Names the members one by one: whatever else the key has, such as its private part, stays behind. */
export function sealingKey({ kty, crv, x, y }: PublicJwk): SealingKey {
  // RFC 7638: the required members alone, in the order of their names.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  return { kty, crv, x, y, use: 'enc', alg: SEAL_ALGORITHM, kid };
}

/** Longer than any broker's credentials, RSA keys included, and far below the body limit. */
export const MOST_SEALED_CHARACTERS = 32 * 1024;

/** header..nonce.ciphertext.tag: with direct key agreement there is no encrypted key between the first two dots. */
const COMPACT = /^[\w-]+\.\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/;
const COORDINATE = /^[\w-]{43}$/;

/** Why a worker could not open this, in words that say what to do; null: nothing is wrong from outside. */
export function sealProblem(sealed: string, { kid }: SealingKey): string | null {
  const header = COMPACT.test(sealed) ? readHeader(sealed) : null;
  if (!header)
    return `"sealed" must be a compact JWE with alg ${SEAL_ALGORITHM} and enc ${SEAL_ENCRYPTION}, made with the key under /auth/public-key.`;
  if (header.alg !== SEAL_ALGORITHM || header.enc !== SEAL_ENCRYPTION)
    return `The JWE's header must have alg ${SEAL_ALGORITHM} and enc ${SEAL_ENCRYPTION}.`;
  // Clients need not name the key. Who names one is told at once where it is no longer the current one.
  if (header.kid !== undefined && header.kid !== kid)
    return 'The JWE’s header names a key (kid) that is not the current one. Fetch the key under /auth/public-key and seal the credentials again.';
  if ('zip' in header || 'crit' in header)
    return 'The JWE must be neither compressed (zip) nor use extensions (crit).';
  const { epk } = header;
  if (
    !isObject(epk) ||
    epk.kty !== 'EC' ||
    epk.crv !== 'P-256' ||
    !isCoordinate(epk.x) ||
    !isCoordinate(epk.y)
  )
    return 'The JWE’s header must have an ephemeral public key (epk) on the curve P-256.';
  if ('d' in epk) return 'The JWE’s ephemeral key (epk) must be public: leave d out.';
  return null;
}

/** The kid of the key that opens it; null: it names none. */
export function sealedTo(sealed: string): string | null {
  const kid = readHeader(sealed)?.kid;
  return typeof kid === 'string' ? kid : null;
}

const isCoordinate = (value: unknown): boolean => typeof value === 'string' && COORDINATE.test(value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readHeader(sealed: string): Readonly<Record<string, unknown>> | null {
  try {
    const text = Buffer.from(sealed.slice(0, sealed.indexOf('.')), 'base64url').toString('utf8');
    const header: unknown = JSON.parse(text);
    return isObject(header) ? header : null;
  } catch {
    return null;
  }
}
