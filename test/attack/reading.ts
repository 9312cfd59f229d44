// Readers in a thread of their own: what they do with their answers must not be measured. Each asks for the list again as
// soon as it has read it.

import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

export interface Reading {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** Of each reader: where it connects from, and what else it says. */
  readonly places: readonly {
    readonly localAddress: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
}

/** Until the thread is ended. */
export function readInThread(reading: Reading): { end(): Promise<unknown> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: reading });
  return { end: () => worker.terminate() };
}

function readOnce(
  { port, path, key }: Reading,
  { localAddress, headers }: Reading['places'][number],
  agent: Agent,
) {
  return new Promise<void>((resolve) => {
    const authorization = `Bearer ${key}`;
    const outgoing = request(
      { host: '127.0.0.1', port, path, localAddress, agent, headers: { ...headers, authorization } },
      (response) => response.resume().once('close', resolve),
    );
    outgoing.once('error', () => pause(20).then(resolve)).end();
  });
}

/** Readers elsewhere have processors of their own: here they get what nobody else wants. */
const NICE = 19;

if (!isMainThread) {
  // Of this thread alone, on Linux; elsewhere it would be about all that is measured.
  if (process.platform === 'linux') setPriority(0, NICE);
  const reading = workerData as Reading;
  for (const place of reading.places) {
    const agent = new Agent({ keepAlive: true });
    void (async () => {
      for (;;) await readOnce(reading, place, agent);
    })();
  }
}
