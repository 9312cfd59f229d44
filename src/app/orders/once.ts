// A signal is decided once. While one request decides it, others like it wait for the outcome; where the process that
// was deciding dies, the next one decides in its place. So a repeat is refused only when its signal has been decided,
// and never because somebody died over it.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Denial, deny } from '../../domain/denial.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';

export interface Attempt {
  /** It has been decided: repeats are refused from now on. */
  decided(): void;
  /** Nothing came of it, and that was our fault: the repeat must find the door open. */
  forget(): Promise<void>;
  /** Whether it was decided is not known. The next one like it waits until this one is silent, and then asks the database. */
  leave(): void;
}

export interface OnceDeps {
  readonly store: Pick<Store, 'begin' | 'prolong' | 'finish' | 'release'>;
  readonly log: { warn(context: object, text: string): void };
}

/** Silence of this length means that whoever was deciding is dead. */
const SILENCE_MS = 2_000;
const SIGN_OF_LIFE_MS = SILENCE_MS / 4;
/** Others are not kept waiting for longer than this. */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 20;
const FORGET_AGAIN_MS = 1000;

/** `lifeMs`: for how long the decision is remembered. */
async function attemptOnce(
  { store, log }: OnceDeps,
  key: string,
  lifeMs: number,
): Promise<Attempt | 'decided' | 'undecided'> {
  const giveUp = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await store.begin(key, SILENCE_MS).catch(async (fault: unknown) => {
      // An answer that was lost may have been a yes.
      await forget(store, key, SILENCE_MS);
      throw fault;
    });
    if (found === 'done') return 'decided';
    if (found === 'begun') break;
    if (performance.now() > giveUp) return 'undecided';
    await sleep(LOOK_AGAIN_MS);
  }
  const alive = setInterval(() => store.prolong(key, SILENCE_MS).catch(() => {}), SIGN_OF_LIFE_MS).unref();
  let isDecided = false;
  return {
    decided() {
      if (isDecided) return;
      isDecided = true;
      clearInterval(alive);
      store
        .finish(key, lifeMs)
        .catch((fault: unknown) => log.warn({ fault }, 'a decision could not be noted in the store'));
    },
    async forget() {
      clearInterval(alive);
      await forget(store, key, lifeMs);
    },
    leave: () => clearInterval(alive),
  };
}

/** A store that is away just now is asked again in the background, until the claim would have ended by itself. */
export async function forget(store: Pick<Store, 'release'>, key: string, lifeMs: number): Promise<void> {
  try {
    await store.release(key);
  } catch {
    const again = () => void forget(store, key, lifeMs - FORGET_AGAIN_MS);
    if (lifeMs > 0) setTimeout(again, FORGET_AGAIN_MS).unref();
  }
}

/** Closed where the store is away, unlike the rate limiter: without this check a replay could trade. */
export async function attemptAt(
  deps: OnceDeps,
  key: string,
  lifeMs: number,
): Promise<Attempt | 'decided' | Denial> {
  try {
    const attempt = await attemptOnce(deps, key, lifeMs);
    if (attempt !== 'undecided') return attempt;
    return deny('worker_unavailable', {
      detail: 'The same signal is being worked on.',
      advice: 'Send it again in a moment: it is executed once.',
    });
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return deny('store_unavailable');
    throw fault;
  }
}
