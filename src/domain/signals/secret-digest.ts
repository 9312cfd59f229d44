// Secrets are compared by their digests, so that the time taken tells nothing, not even the secret's length.

import { hash, timingSafeEqual } from 'node:crypto';

export const digestOf = (secret: string): Uint8Array => hash('sha256', secret, 'buffer');

export const isSameDigest = (a: Uint8Array, b: Uint8Array): boolean => timingSafeEqual(a, b);

export const isSameSecret = (given: string, expected: string): boolean =>
  isSameDigest(digestOf(given), digestOf(expected));
