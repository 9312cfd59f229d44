// A stream of a user's order changes: one of ten that a user may have open, in all processes together.

import { type Denial, deny } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import type { Feeds, Reader } from './feeds.ts';

const MOST_STREAMS = 10;
/** A stream says four times in a minute that it is there. One whose process died is counted for so long. */
const CLAIM_MS = 45_000;

export interface StreamDeps {
  readonly store: Pick<Store, 'claim' | 'prolong' | 'release'>;
  readonly feeds: Pick<Feeds, 'open'>;
}

export async function openOrderStream(
  { store, feeds }: StreamDeps,
  user: UserId,
  after: string | null,
  reader: Reader,
) {
  try {
    const claim = await claimOne(store, user);
    if (!claim) return tooMany();
    const release = () => store.release(claim).catch(() => {});
    const leave = await feeds.open(user, after, reader).catch(async (fault: unknown) => {
      await release();
      throw fault;
    });
    return {
      prolong: () => void store.prolong(claim, CLAIM_MS).catch(() => {}),
      async close() {
        leave();
        await release();
      },
    };
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return deny('store_unavailable');
    throw fault;
  }
}

async function claimOne(store: StreamDeps['store'], user: UserId): Promise<string | null> {
  for (let number = 1; number <= MOST_STREAMS; number++) {
    const claim = `stream:{${user}}:${number}`;
    if (await store.claim(claim, CLAIM_MS)) return claim;
  }
  return null;
}

const tooMany = (): Denial =>
  deny('too_many_at_once', {
    detail: `You have ${MOST_STREAMS} streams of orders open. Close one of them first.`,
    retryAfter: 15,
  });
