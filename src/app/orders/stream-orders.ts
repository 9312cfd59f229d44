// A stream of a user's order changes: one of ten that a user may have open, in all processes together.

import { randomUUID } from 'node:crypto';
import { type Denial, deny } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import type { Feeds, Reader } from './feeds.ts';

const MOST_STREAMS = 10;
/** A stream says four times in a minute that it is there. One whose process died is counted for so long. */
const HELD_MS = 45_000;

export interface StreamDeps {
  readonly store: Pick<Store, 'acquireLease' | 'renewLease' | 'releaseLease'>;
  readonly feeds: Pick<Feeds, 'open'>;
}

export async function openOrderStream(
  { store, feeds }: StreamDeps,
  user: UserId,
  after: string | null,
  reader: Reader,
) {
  try {
    const held = await holdOne(store, user);
    if (!held) return tooMany();
    const { key, lease } = held;
    const release = () => store.releaseLease(key, lease).catch(() => {});
    const leave = await feeds.open(user, after, reader).catch(async (fault: unknown) => {
      await release();
      throw fault;
    });
    return {
      prolong: () => void store.renewLease(key, lease, HELD_MS).catch(() => {}),
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

/** Each is its stream's own: one that a store has forgotten takes nothing from the one that has its number now. */
async function holdOne(store: StreamDeps['store'], user: UserId) {
  const holder = randomUUID();
  for (let number = 1; number <= MOST_STREAMS; number++) {
    const key = `stream:{${user}}:${number}`;
    const lease = await store.acquireLease(key, holder, HELD_MS);
    if (lease) return { key, lease };
  }
  return null;
}

const tooMany = (): Denial =>
  deny('too_many_at_once', {
    detail: `You have ${MOST_STREAMS} streams of orders open.`,
    advice: 'Close one of them first.',
    retryAfter: 15,
  });
