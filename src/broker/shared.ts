// What all accounts at a broker share and nobody wants to load for each of them: its list of contracts. Loaded once per
// process, however many ask at once, and again when it is older than the asker takes it.

import { AccountUnfit, BrokerUnavailable, CredentialsRejected } from './broker.ts';

export interface Shared<Value> {
  /** `load` is given its own time: whoever loses patience leaves it to the others. */
  get(
    key: string,
    load: (signal: AbortSignal) => Promise<Value>,
    options: {
      readonly signal: AbortSignal;
      readonly maxAgeMs: number;
      /** Older than this it is loaded anew, and nobody waits for it: up to `maxAgeMs` the old one is good meanwhile. */
      readonly renewMs?: number;
      /** An older one is good until the next has come: nobody stays in a position for a list that cannot be read today. */
      readonly orOlder?: boolean;
    },
  ): Promise<Value>;
}

const LOAD_MS = 30_000;

export function createShared<Value>(now: () => number = () => performance.now()): Shared<Value> {
  const known = new Map<string, { readonly value: Value; readonly at: number }>();
  const loading = new Map<string, Promise<Value>>();

  async function load(key: string, from: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const value = await from(AbortSignal.timeout(LOAD_MS));
    known.set(key, { value, at: now() });
    return value;
  }

  function begin(key: string, from: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const own = load(key, from).finally(() => loading.delete(key));
    loading.set(key, own);
    return own;
  }

  return {
    async get(key, from, { signal, maxAgeMs, renewMs = Number.POSITIVE_INFINITY, orOlder = false }) {
      for (;;) {
        const old = known.get(key);
        if (old && now() - old.at > renewMs && !loading.has(key)) begin(key, from).catch(() => {});
        if (old && now() - old.at <= maxAgeMs) return old.value;
        const others = loading.get(key);
        if (!others) break;
        if (old && orOlder) return old.value;
        await within(
          others.catch((fault: unknown) => {
            if (!isAboutTheAsker(fault)) throw fault;
          }),
          signal,
        );
      }
      const own = begin(key, from);
      const meanwhile = known.get(key);
      if (!meanwhile || !orOlder) return within(own, signal);
      own.catch(() => {});
      return meanwhile.value;
    },
  };
}

/** What failed for who another is need not fail for this one, who then asks for itself; the rest failed for all. */
const isAboutTheAsker = (fault: unknown): boolean =>
  fault instanceof CredentialsRejected || fault instanceof AccountUnfit;

async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  const abort = () => over.reject(new BrokerUnavailable('The broker did not answer in time.'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  // Of a load that nobody waits for any more.
  promise.catch(() => {});
  try {
    return await Promise.race([promise, over.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
