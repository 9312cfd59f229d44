// Those in this process who wait for one answer each. An answer finds its waiter by its address, or nobody.

import { randomUUID } from 'node:crypto';
import type { ExpectedReply } from './store.ts';

interface Waiting {
  settle(message: string | null): void;
  readonly onMissed: (() => void) | undefined;
}

export class Replies {
  /** What stands in the braces of all addresses of this process. */
  readonly group: string = randomUUID();
  readonly #waiting = new Map<string, Waiting>();
  #made = 0;
  #isOpen = true;

  expect({ timeoutMs, onMissed }: { timeoutMs: number; onMissed?(): void }): ExpectedReply {
    const address = `reply:{${this.group}}:${++this.#made}`;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const settle = (message: string | null) => {
      clearTimeout(timer);
      this.#waiting.delete(address);
      resolve(message);
    };
    // Keeps the process alive: somebody awaits the answer.
    const timer = setTimeout(() => settle(null), timeoutMs);
    this.#waiting.set(address, { settle, onMissed });
    if (!this.#isOpen) settle(null);
    return { address, reply: promise, cancel: () => settle(null) };
  }

  deliver(address: string, message: string): void {
    this.#waiting.get(address)?.settle(message);
  }

  /** What was said for a while has not been heard. */
  missed(): void {
    for (const { onMissed } of [...this.#waiting.values()]) onMissed?.();
  }

  close(): void {
    this.#isOpen = false;
    for (const { settle } of [...this.#waiting.values()]) settle(null);
  }
}
