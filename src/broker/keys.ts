// What the user sealed for a broker, as the connectors need it.

import { CredentialsRejected } from './broker.ts';

export interface Keys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** What a header can carry, and every broker's keys are. */
const PRINTABLE = /^[\x21-\x7e]{1,512}$/;

/** `names`: as the broker's own pages call the two. */
export function readKeys(
  credentials: unknown,
  names: { readonly key: string; readonly secret: string },
): Keys {
  const { api_key: apiKey, api_secret: apiSecret } = (credentials ?? {}) as Readonly<Record<string, unknown>>;
  for (const [value, name] of [
    [apiKey, names.key],
    [apiSecret, names.secret],
  ] as const)
    if (typeof value !== 'string' || !PRINTABLE.test(value))
      throw new CredentialsRejected(
        `The ${name} is missing, or has a space or a line break in it. Copy both again, whole, and seal them again.`,
      );
  return { apiKey: apiKey as string, apiSecret: apiSecret as string };
}
