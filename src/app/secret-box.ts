// Webhook secrets at rest: AES-256-GCM under APP_KEY. `nonce.ciphertext.tag`, base64url.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface SecretBox {
  seal(plain: string): string;
  open(sealed: string): string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;

export function createSecretBox(key: Buffer): SecretBox {
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return [nonce, text, cipher.getAuthTag()].map((part) => part.toString('base64url')).join('.');
    },
    open(sealed) {
      const [nonce, text, tag] = sealed.split('.').map((part) => Buffer.from(part, 'base64url'));
      if (!nonce || !text || !tag) throw new Error('a stored secret is not in the expected form');
      const decipher = createDecipheriv(CIPHER, key, nonce);
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    },
  };
}

/** 256 bits of entropy, URL-safe: webhook tokens and secrets, API keys, CSRF tokens. */
export const randomToken = (): string => randomBytes(32).toString('base64url');
