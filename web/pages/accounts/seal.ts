// Broker credentials are sealed here, in the browser, to the key that only a trading worker opens: the service itself never
// sees them. The sealed text is bound to its user and account, so that nobody can move it to another one.

import type { components } from '../../api/schema.ts';

export interface Sealed {
  readonly userId: string;
  readonly accountId: string;
  /** By the fields' names, as the broker's description has them. */
  readonly credentials: Readonly<Record<string, string>>;
}

export async function sealCredentials(
  key: components['schemas']['SealingKey'],
  { userId, accountId, credentials }: Sealed,
): Promise<string> {
  // Loaded when somebody has something to seal, and never before.
  const { CompactEncrypt, importJWK } = await import('jose');
  const content = { user_id: userId, trading_account_id: accountId, credentials };
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader({ alg: key.alg, enc: 'A256GCM', kid: key.kid })
    .encrypt(await importJWK(key, key.alg));
}
