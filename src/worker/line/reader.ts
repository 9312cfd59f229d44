// On whose behalf a broker is asked. Who trades, or gets out, is asked for nothing here. Who only reads is a reader: that goes along
// with whatever is done for him, down to the call that reaches the broker, where he pays for it out of what a user has for a
// minute, and where what is kept for orders is not touched.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { UserId } from '../../domain/ids.ts';

export interface Reader {
  readonly user: UserId;
  /** One call; throws ReadsLimited where there have been too many. */
  pay(): Promise<void>;
}

/** The broker was not asked. No fault of the broker's: nobody reconnects for it, and no order sees it. */
export class ReadsLimited extends Error {
  override readonly name = 'ReadsLimited';
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const readers = new AsyncLocalStorage<Reader>();

/** undefined: whoever asks trades. */
export const currentReader = (): Reader | undefined => readers.getStore();

export const onBehalfOf = <T>(reader: Reader, work: () => Promise<T>): Promise<T> =>
  readers.run(reader, work);

/** Before a call that reaches the broker; one that is free costs the reader nothing. */
export async function admitReader(
  reader: Reader,
  rate: { keptMs(reader: UserId): number },
  { isFree = false }: { readonly isFree?: boolean | undefined } = {},
): Promise<void> {
  const keptMs = rate.keptMs(reader.user);
  if (keptMs > 0)
    throw new ReadsLimited(
      'What the broker takes from here is nearly used up, and the rest is kept for orders',
      keptMs,
    );
  if (!isFree) await reader.pay();
}
