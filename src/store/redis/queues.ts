// Queues in Redis, and those who wait at them in this process. Each queue has one line of takers here, and one look
// into Redis at a time: it asks for as many messages as there are takers, serves them in the order in which they came,
// and puts back what nobody is left for.

import { setTimeout as pause } from 'node:timers/promises';
import { Fifo } from '../fifo.ts';
import type { Replies } from '../replies.ts';
import { type Store, StoreUnavailable } from '../store.ts';
import { ANSWER_MS, type Connection, inTime, unavailable } from './connection.ts';
import type { Signatures } from './signatures.ts';
import type { Ask } from './turns.ts';
import { channelOf, listenForWakes, replyChannelOf, type Wakes } from './wakes.ts';

/** A timer that is asked to wait longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** After a look that failed. */
const RETRY_MS = 500;
const SWEEP_EVERY_MS = 60_000;

interface Taker {
  /** Who does not wait wants what is there now, or to hear that nobody knows. */
  readonly waits: boolean;
  settle(message: string | null): void;
  fail(fault: StoreUnavailable): void;
}

interface Line {
  readonly queue: string;
  readonly takers: Fifo<Taker>;
  /** The look that is under way. */
  looking: Promise<void> | undefined;
  /** Something came while it looked: once more. */
  again: boolean;
  /** Under this number of wakes the queue was found empty, and nothing has come since; 0: nobody knows. */
  emptyOn: number;
}

export interface Queues extends Pick<Store, 'push' | 'take' | 'reply'> {
  readonly wakes: Wakes;
  /** Ends every wait with null; what was taken for those who waited goes back. */
  close(): Promise<void>;
}

export interface QueuesDeps {
  readonly connection: Connection;
  readonly turns: Ask;
  keyOf(queue: string): string;
  readonly replies: Replies;
  readonly signatures: Signatures;
  /** Woken is what is no queue of ours, and told what is for every process. */
  readonly others: { look(name: string): void; heard(text: string): void };
}

export async function openQueues(deps: QueuesDeps): Promise<Queues> {
  const { connection, turns, keyOf, signatures } = deps;
  const lines = new Map<string, Line>();
  const failed = new Set<Line>();
  let retry: NodeJS.Timeout | undefined;

  // Answers of others are not delivered: who waits goes on waiting for the right one.
  const replies = {
    group: deps.replies.group,
    missed: () => deps.replies.missed(),
    deliver(address: string, signed: string) {
      const answer = signatures.read(['reply', address], signed);
      if (answer !== null) deps.replies.deliver(address, answer);
    },
  };
  const wakes = await listenForWakes(connection, replies, {
    heard: deps.others.heard,
    look(queue) {
      const line = lines.get(queue);
      if (!line) return deps.others.look(queue);
      line.emptyOn = 0;
      if (line.looking || line.takers.size > 0) look(line);
    },
  });

  function put(end: 'RPUSH' | 'LPUSH', queue: string, messages: readonly string[], ttlMs: number) {
    const args = [end, ttlMs, channelOf(queue), queue, ...messages];
    return inTime(() => turns('pushMessages', [keyOf(queue)], args));
  }

  function look(line: Line): void {
    if (line.looking) line.again = true;
    else line.looking = serve(line);
  }

  async function serve(line: Line): Promise<void> {
    do {
      line.again = false;
      await serveOnce(line);
    } while (line.again && line.takers.size > 0);
    line.looking = undefined;
    dropIfEmpty(line);
  }

  async function serveOnce(line: Line): Promise<void> {
    const { queue, takers } = line;
    const asking = [...takers];
    const heardBefore = wakes.heardOn(queue);
    let livesMs = 0;
    let messages: string[] = [];
    let remaining = 0;
    line.emptyOn = 0;
    try {
      // Without a limit: an answer that comes late still has a message in it.
      const popped = await connection.commands.popMessages(keyOf(queue), asking.length);
      if (popped) [livesMs, messages, remaining] = popped;
    } catch (fault) {
      for (const taker of asking) if (!taker.waits) taker.fail(unavailable(fault));
      lookLater(line);
      return;
    }
    let served = 0;
    for (let taker = takers.first; taker && served < messages.length; taker = takers.first) {
      // Not before somebody takes it: what goes back is to be taken yet.
      const message = signatures.readRequest(queue, messages[served++] as string);
      if (message !== null) taker.settle(message);
    }
    // Where this fails the store is gone, and all its messages with it.
    if (served < messages.length)
      await put('LPUSH', queue, messages.slice(served).reverse(), livesMs).catch(() => {});
    if (remaining > 0) {
      line.again = true;
      return;
    }
    // Whatever comes from now on is heard: who waits next need not look before.
    if (served === messages.length && !line.again && wakes.heardOn(queue) === heardBefore)
      line.emptyOn = heardBefore;
    for (const taker of asking) if (!taker.waits) taker.settle(null);
    if (takers.size === 0) return;
    wakes.enter(queue);
    // Else it is looked at again as soon as it is heard.
    const heardNow = wakes.heardOn(queue);
    if (heardNow !== heardBefore && heardNow !== 0) line.again = true;
  }

  function lookLater(line: Line): void {
    failed.add(line);
    retry ??= setTimeout(() => {
      retry = undefined;
      const again = [...failed];
      failed.clear();
      for (const each of again) if (each.takers.size > 0) look(each);
    }, RETRY_MS).unref();
  }

  function dropIfEmpty(line: Line): void {
    if (line.looking || line.takers.size > 0) return;
    wakes.leave(line.queue);
    if (!isEmpty(line)) lines.delete(line.queue);
  }

  const isEmpty = ({ queue, emptyOn }: Line) => emptyOn !== 0 && emptyOn === wakes.heardOn(queue);

  const sweeping = setInterval(() => {
    for (const line of lines.values())
      if (!line.looking && line.takers.size === 0 && !isEmpty(line)) lines.delete(line.queue);
  }, SWEEP_EVERY_MS).unref();

  function lineAt(queue: string): Line {
    let line = lines.get(queue);
    if (!line) {
      line = { queue, takers: new Fifo(), looking: undefined, again: false, emptyOn: 0 };
      lines.set(queue, line);
    }
    return line;
  }

  return {
    wakes,

    async push(queue, message, ttlMs) {
      await put('RPUSH', queue, [signatures.signRequest(queue, message, ttlMs)], ttlMs);
    },

    async take(queue, { timeoutMs, signal }) {
      if (signal?.aborted) return null;
      return new Promise((resolve, reject) => {
        const line = lineAt(queue);
        const waits = timeoutMs === undefined || timeoutMs > 0;
        let isHere = true;
        const leave = () => {
          if (!isHere) return false;
          isHere = false;
          line.takers.remove(place);
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          dropIfEmpty(line);
          return true;
        };
        const taker: Taker = {
          waits,
          settle: (message) => leave() && resolve(message),
          fail: (fault) => leave() && reject(fault),
        };
        const giveUp = () => taker.settle(null);
        const place = line.takers.push(taker);
        // Keeps the process alive: somebody awaits the answer. Closing the store or the signal ends it early.
        const timer = waits
          ? timeoutMs && setTimeout(giveUp, Math.min(timeoutMs, LONGEST_TIMER_MS))
          : setTimeout(() => taker.fail(new StoreUnavailable('Redis did not answer in time')), ANSWER_MS);
        signal?.addEventListener('abort', giveUp);
        if (waits && isEmpty(line)) wakes.enter(queue);
        else look(line);
      });
    },

    async reply(address, message) {
      const signed = signatures.sign(['reply', address], message);
      await inTime(() => connection.commands.publish(replyChannelOf(address), `${address}\n${signed}`));
    },

    async close() {
      clearTimeout(retry);
      clearInterval(sweeping);
      deps.replies.close();
      const looks = [...lines.values()].map((line) => line.looking);
      for (const { takers } of [...lines.values()])
        for (const taker of [...takers])
          if (taker.waits) taker.settle(null);
          else taker.fail(new StoreUnavailable('the store is closed'));
      await Promise.race([Promise.all(looks), pause(ANSWER_MS, undefined, { ref: false })]);
      await wakes.close();
    },
  };
}
