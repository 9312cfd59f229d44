// Secrets at rest: AES-256-GCM under APP_KEY, bound to whose they are. `2.nonce.ciphertext.tag`, base64url; those from
// before they were bound have no number.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { digestOf, isSameDigest } from '../domain/signals/secret-digest.ts';

export interface SecretBox {
  /** For this owner, by id: in the place of another's it opens nothing. */
  seal(plain: string, owner: string): string;
  open(sealed: string, owner: string): string;
  /** Whether this is the digest of what was sealed; the time taken tells nothing of it. */
  opensTo(digest: Uint8Array, sealed: string, owner: string): boolean;
  isBound(sealed: string): boolean;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
export const BOUND = '2.';

export function createSecretBox(key: Buffer): SecretBox {
  const isBound = (sealed: string): boolean => sealed.startsWith(BOUND);
  function open(sealed: string, owner: string): string {
    const bound = isBound(sealed);
    const parts = (bound ? sealed.slice(BOUND.length) : sealed).split('.');
    const [nonce, text, tag] = parts.map((part) => Buffer.from(part, 'base64url'));
    if (!nonce || !text || !tag) throw new Error('a stored secret is not in the expected form');
    try {
      const decipher = createDecipheriv(CIPHER, key, nonce);
      if (bound) decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new Error("a stored secret is not this owner's, or not under this APP_KEY", { cause });
    }
  }
  return {
    isBound,
    open,
    opensTo: (digest, sealed, owner) => isSameDigest(digest, digestOf(open(sealed, owner))),
    seal(plain, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const parts = [nonce, text, cipher.getAuthTag()];
      return BOUND + parts.map((part) => part.toString('base64url')).join('.');
    },
  };
}

/** For so many webhooks, each of which is asked for with every signal. */
const MOST_OPENED = 4_096;

interface Opened {
  readonly owner: string;
  readonly plain: string;
  readonly digest: Uint8Array;
}

/**
 * Opens each but once. What is remembered cannot become old: a secret that is replaced is sealed anew, and that is another text.
 */
export function openingOnce(box: SecretBox): SecretBox {
  const opened = new Map<string, Opened>();
  function open(sealed: string, owner: string): Opened {
    const known = opened.get(sealed);
    // One that is not bound may stand in two places.
    if (known?.owner === owner) return known;
    const plain = box.open(sealed, owner);
    const [oldest] = opened.keys();
    if (opened.size === MOST_OPENED && oldest !== undefined) opened.delete(oldest);
    const now = { owner, plain, digest: digestOf(plain) };
    opened.set(sealed, now);
    return now;
  }
  return {
    ...box,
    open: (sealed, owner) => open(sealed, owner).plain,
    opensTo: (digest, sealed, owner) => isSameDigest(digest, open(sealed, owner).digest),
  };
}

/** 256 bits of entropy, URL-safe: webhook tokens and secrets, API keys, CSRF tokens. */
export const randomToken = (): string => randomBytes(32).toString('base64url');
