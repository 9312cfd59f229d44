// The user's order changes, as they happen. One tab of a browser listens for all: connections to a host are few, and so
// are the streams that a user may open. Whoever holds the lock listens, and tells the others; when its tab closes, the next
// takes over and continues where the stream was.

import type { Schemas } from '../api/client.ts';
import { serverNow } from '../api/clock.ts';

export type Told =
  | { readonly what: 'order'; readonly order: Schemas['OrderRecord'] }
  /** Something may have been missed: what is shown must be read again. */
  | { readonly what: 'reset' }
  | { readonly what: 'live'; readonly since: number }
  | { readonly what: 'away'; readonly since: number };

const PATH = '/trading/orders/stream';
const LOCK = 'fillpath.stream';
/** Between tries, while the service is away. */
const AGAIN_MS = [1_000, 2_000, 5_000, 10_000];

export function listen(tell: (told: Told) => void, onRefused: () => Promise<boolean>): () => void {
  const stopped = new AbortController();
  const channel = new BroadcastChannel(LOCK);
  let state: Told = { what: 'away', since: serverNow() };
  let leads = false;

  const say = (told: Told) => {
    if (told.what === 'live' || told.what === 'away') {
      if (told.what === state.what) return;
      state = told;
    }
    tell(told);
    channel.postMessage(told);
  };
  channel.onmessage = ({ data }: MessageEvent<Told | { what: 'hello' }>) => {
    if (data.what !== 'hello') return tell(data);
    if (leads) channel.postMessage(state);
  };
  channel.postMessage({ what: 'hello' });

  navigator.locks
    .request(LOCK, { signal: stopped.signal }, async () => {
      leads = true;
      // What the tab before this one heard last is not known here.
      tell({ what: 'reset' });
      await followUntil(stopped.signal, say, onRefused);
    })
    .catch((fault: unknown) => {
      if (!stopped.signal.aborted) throw fault;
    });

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
): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let tries = 0;

    const end = () => {
      clearTimeout(timer);
      source?.close();
      resolve();
    };
    stop.addEventListener('abort', end);

    const open = () => {
      source = new EventSource(PATH);
      source.onopen = () => {
        tries = 0;
        say({ what: 'live', since: serverNow() });
      };
      source.addEventListener('order', ({ data }) => say({ what: 'order', order: JSON.parse(data) }));
      source.addEventListener('reset', () => say({ what: 'reset' }));
      source.onerror = () => {
        say({ what: 'away', since: serverNow() });
        // The browser tries again by itself, with what it heard last, unless the answer was a refusal.
        if (source?.readyState !== EventSource.CLOSED) return;
        timer = setTimeout(tryAgain, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
      };
    };
    const tryAgain = async () => {
      // Perhaps the session has expired, and can be refreshed.
      const isIn = await onRefused().catch(() => true);
      if (stop.aborted) return;
      if (!isIn) return end();
      // A new stream knows nothing of what the old one heard.
      say({ what: 'reset' });
      open();
    };
    open();
  });
}
