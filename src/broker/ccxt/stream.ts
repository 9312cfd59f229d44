// One life of an exchange's private stream, on behalf of one account.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Talk, talkTo } from '../stream.ts';
import { asker } from './asking.ts';
import type { Exchange } from './exchange.ts';
import { type Credentials, parseExactly } from './wire.ts';

interface Listening extends Pick<Talk, 'tell' | 'signal' | 'times'> {
  readonly exchange: Exchange;
  readonly credentials: Credentials;
}

/** For what must be asked before it is opened. */
const ASKED_WITHIN_MS = 10_000;

/** Ends when the signal aborts; throws BrokerUnavailable, or one of its kinds, when the stream does. */
export async function listen({ exchange, credentials, signal, ...listening }: Listening): Promise<void> {
  const { kind, streams, now } = exchange;
  const { feed, title } = exchange.profile;
  await streams.turn(signal);
  if (signal.aborted) return;
  const asked = AbortSignal.any([signal, AbortSignal.timeout(ASKED_WITHIN_MS)]);
  const asking = asker(exchange, credentials, asked);
  const { url, words } = await feed.open({ asking, credentials, kind, stream: streams.url });
  await talkTo({
    ...listening,
    title,
    url: streams.at(url),
    headers: exchange.profile.headers,
    words: words.map((word) => () => word(now())),
    read: (message) => feed.read(parseExactly(message)),
    ping: () => feed.ping(now()),
    openSocket: streams.openSocket,
    signal,
  });
}

/** One more of them after the other, in the time that the strictest exchange allows an address. */
export function createTurns(everyMs = 1_000, atOnce = 2): (signal: AbortSignal) => Promise<void> {
  let taken = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const now = performance.now();
    taken = Math.max(taken, now - atOnce * everyMs) + everyMs;
    if (taken > now) await sleep(taken - now, undefined, { signal, ref: false }).catch(() => {});
  };
}
