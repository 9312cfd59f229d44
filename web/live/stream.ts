// The user's order changes, as they happen. One tab of a browser listens for all: connections to a host are few, and so
// are the streams that a user may open. Whoever holds the lock listens, and tells the others; when its tab closes, the next
// takes over, and all read anew what may have been missed in between. Tabs of another user hear nothing of it.

import type { Schemas } from '../api/client.ts';
import { serverNow } from '../api/clock.ts';

export type Told =
  | { readonly what: 'order'; readonly order: Schemas['OrderRecord'] }
  /** Signals have arrived that became no order. */
  | { readonly what: 'signals' }
  /** The page's first stream, soon after its first questions: orders may have changed between the two, and nothing else. */
  | { readonly what: 'begun' }
  /** Something may have been missed: what is shown must be read again. */
  | { readonly what: 'reset' }
  | { readonly what: 'live'; readonly since: number }
  | { readonly what: 'away'; readonly since: number };

const PATH = '/trading/orders/stream';
const LOCK = 'fillpath.stream';
/** Between tries, while the service is away. */
const AGAIN_MS = [1_000, 2_000, 5_000, 10_000];

/** Something comes every 15 s. After this silence nobody is there, whatever the connection looks like. */
const SILENCE_MS = 40_000;

/** A stream that opens within this time after the page follows on what the page has just read. */
const AT_ONCE_MS = 10_000;

/** Of this tab. */
let stop = () => {};
/** Before a logout: the service ends the stream with the session, and asking for another would be refused. */
export const hangUp = (): void => stop();

export function listen(
  userId: string,
  tell: (told: Told) => void,
  onRefused: () => Promise<boolean>,
): () => void {
  const stopped = new AbortController();
  const name = `${LOCK}.${userId}`;
  const channel = new BroadcastChannel(name);
  let state: Told = { what: 'away', since: serverNow() };
  let leads = false;
  const begunAt = performance.now();
  let wasLive = false;

  const say = (told: Told) => {
    if (told.what === 'live' || told.what === 'away') {
      if (told.what === state.what) return;
      state = told;
      wasLive ||= told.what === 'live';
    }
    tell(told);
    channel.postMessage(told);
  };
  channel.onmessage = ({ data }: MessageEvent<Told | { what: 'hello' }>) => {
    if (data.what === 'hello') {
      if (leads) channel.postMessage(state);
      return;
    }
    // Who leads next goes on from what was said last.
    if (data.what === 'live' || data.what === 'away') state = data;
    wasLive ||= data.what === 'live';
    tell(data);
  };
  channel.postMessage({ what: 'hello' });

  navigator.locks
    .request(name, { signal: stopped.signal }, async () => {
      leads = true;
      const isFirst = () => !wasLive && performance.now() - begunAt < AT_ONCE_MS;
      await followUntil(stopped.signal, say, onRefused, isFirst);
    })
    .catch((fault: unknown) => {
      if (!stopped.signal.aborted) throw fault;
    });

  stop = () => stopped.abort();
  return () => {
    stopped.abort();
    channel.close();
  };
}

/** Resolves when it is stopped, or when nobody is logged in any more. */
function followUntil(
  stop: AbortSignal,
  say: (told: Told) => void,
  onRefused: () => Promise<boolean>,
  isFirst: () => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let silence: ReturnType<typeof setTimeout> | undefined;
    let tries = 0;

    const away = () => say({ what: 'away', since: serverNow() });
    /** What was open may be dead, and would be found out by its silence only. */
    const openAnew = () => {
      clearTimeout(timer);
      open();
    };
    const end = () => {
      clearTimeout(timer);
      clearTimeout(silence);
      removeEventListener('offline', away);
      removeEventListener('online', openAnew);
      source?.close();
      resolve();
    };
    stop.addEventListener('abort', end);
    addEventListener('offline', away);
    addEventListener('online', openAnew);

    /** Whatever arrives shows that somebody is there. */
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        away();
        source?.close();
        void tryAgain();
      }, SILENCE_MS);
    };
    const live = () => {
      heard();
      say({ what: 'live', since: serverNow() });
    };

    const open = () => {
      // There is one, and whoever leaves closes it.
      source?.close();
      source = new EventSource(PATH);
      // One that never opens is silent, too.
      heard();
      let isNew = true;
      source.onopen = () => {
        tries = 0;
        // A new stream knows nothing of what the one before it heard, be it this tab's or another's. From here on nothing is
        // missed: what is read now has no gap.
        const what = isFirst() ? 'begun' : 'reset';
        live();
        if (isNew) say({ what });
        isNew = false;
      };
      source.addEventListener('alive', live);
      source.addEventListener('order', ({ data }) => {
        live();
        say({ what: 'order', order: JSON.parse(data) });
      });
      source.addEventListener('signals', () => {
        live();
        say({ what: 'signals' });
      });
      source.addEventListener('reset', () => {
        live();
        say({ what: 'reset' });
      });
      source.onerror = () => {
        away();
        // The browser tries again by itself, with what it heard last, unless the answer was a refusal.
        if (source?.readyState !== EventSource.CLOSED) return;
        clearTimeout(silence);
        timer = setTimeout(tryAgain, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
      };
    };
    const tryAgain = async () => {
      const before = source;
      // Perhaps the session has expired, and can be refreshed.
      const isIn = await onRefused().catch(() => true);
      // Another may have been opened meanwhile, by the network's return.
      if (stop.aborted || source !== before) return;
      if (!isIn) return end();
      open();
    };
    open();
  });
}
