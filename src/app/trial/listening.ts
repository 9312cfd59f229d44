// Listens to what the broker tells by itself while a trial trades, and says how soon it told of an order.

import type { Broker, OrderHint } from '../../broker/broker.ts';
import { Surprise, tookOf } from '../../domain/trial/row.ts';
import type { Desk, Sent } from './desk.ts';

export interface Listening {
  /** Throws a surprise where it was not told of in time. */
  toldOf(order: Sent, since: number): Promise<string>;
  stop(): void;
}

/** null: this broker tells nothing by itself. */
export async function listen(desk: Desk): Promise<Listening | null> {
  const step = { step: 'stream', assumed: 'it opens, and tells of orders by itself' };
  const watch: Broker['watch'] = desk.broker.watch?.bind(desk.broker);
  if (!watch) {
    desk.skip(step.step, step.assumed, 'this broker has none; fills are found by looking');
    return null;
  }
  const ending = new AbortController();
  const heard: { readonly hint: OrderHint; readonly at: number }[] = [];
  let isOpen = false;
  let why: string | null = null;
  watch((hint) => {
    if (hint === null) isOpen = true;
    else heard.push({ hint, at: desk.now() });
  }, ending.signal).catch((fault: Error) => {
    why = fault.message;
  });

  /** Looks at what was heard, and asks nobody. */
  async function within(isSo: () => boolean, ms: number): Promise<boolean> {
    const found = await desk.until(
      async () => isSo() || why !== null,
      (so) => so,
      ms,
    );
    return found !== null && isSo();
  }

  try {
    await desk.step(step, async () => {
      const began = desk.now();
      if (await within(() => isOpen, desk.patience.streamMs))
        return `open after ${tookOf(desk.now() - began)}`;
      throw new Surprise(why ?? `it did not open within ${tookOf(desk.patience.streamMs)}`);
    });
  } catch (fault) {
    ending.abort();
    throw fault;
  }

  return {
    async toldOf({ clientOrderId, brokerRef }, since) {
      const isIt = ({ hint }: { readonly hint: OrderHint }) =>
        hint.clientOrderId === clientOrderId || (brokerRef !== null && hint.brokerRef === brokerRef);
      if (await within(() => heard.some(isIt), desk.patience.streamMs))
        return `${tookOf((heard.find(isIt)?.at ?? since) - since)} after it was sent`;
      throw new Surprise(
        `it did not tell of the order within ${tookOf(desk.patience.streamMs)}${why === null ? '' : `: ${why}`}. Fills are found by looking all the same, later`,
      );
    },
    stop: () => ending.abort(),
  };
}
