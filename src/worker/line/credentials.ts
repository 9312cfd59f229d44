// Opens sealed broker credentials. Only a worker is given the key for it. The plaintext names the user and the account
// that it was sealed for, so that a sealed text moved to another account opens nothing there.

import { createPrivateKey } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { CredentialsRejected } from '../../broker/broker.ts';
import {
  type PrivateJwk,
  SEAL_ALGORITHM,
  SEAL_ENCRYPTION,
  sealedTo,
  sealingKey,
} from '../../domain/identity/sealed.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';

/** One answer to whatever is wrong, so that nobody learns from it what the seal holds. */
export class CredentialsUnreadable extends CredentialsRejected {
  override readonly name: string = 'CredentialsUnreadable';
  constructor() {
    super('the stored credentials cannot be opened');
  }
}

export type OpenCredentials = (
  sealed: string,
  owner: { readonly id: AccountId; readonly userId: UserId },
) => Promise<object>;

/** Rejects for what was not sealed to one of these keys. */
export function sealOpener(keys: readonly PrivateJwk[]): (sealed: string) => Promise<unknown> {
  const openers = keys.map((key) => ({
    kid: sealingKey(key).kid,
    privateKey: createPrivateKey({ key: { ...key }, format: 'jwk' }),
  }));
  return async (sealed) => {
    const named = sealedTo(sealed);
    // Where it names none, it was the current one then: that is one of those that are kept.
    const fitting = openers.filter(({ kid }) => named === null || kid === named);
    if (fitting.length === 0) throw new Error('sealed to a key that is no longer here');
    const opened = await Promise.any(
      fitting.map(({ privateKey }) =>
        compactDecrypt(sealed, privateKey, {
          keyManagementAlgorithms: [SEAL_ALGORITHM],
          contentEncryptionAlgorithms: [SEAL_ENCRYPTION],
          maxDecompressedLength: 0,
        }),
      ),
    );
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(opened.plaintext));
  };
}

export function credentialsOpener(keys: readonly PrivateJwk[]): OpenCredentials {
  const read = sealOpener(keys);
  return async (sealed, { id, userId }) => {
    const content = await read(sealed).catch(() => null);
    if (isObject(content) && content.user_id === userId && content.trading_account_id === id)
      if (isObject(content.credentials)) return content.credentials;
    throw new CredentialsUnreadable();
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
