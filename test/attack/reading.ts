// Readers in a thread of their own: what they do with their answers must not be measured. Each asks for the list again as
// soon as it has read it.

import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
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

/**
 * Readers elsewhere have processors of their own: here this thread gets what nobody else wants. A low priority would not do: Linux lets
 * whoever runs run on for some milliseconds, whoever wakes up meanwhile, but for those who are idle by their own word.
 */
function giveWay(): void {
  const thread = readlinkSync('/proc/thread-self').split('/').at(-1) as string;
  const { error, stderr } = spawnSync('chrt', ['--idle', '--pid', '0', thread], { encoding: 'utf8' });
  if (error || stderr) console.error(`The readers are measured too: chrt says ${error?.message ?? stderr}`);
}

if (!isMainThread) {
  giveWay();
  const reading = workerData as Reading;
  for (const place of reading.places) {
    const agent = new Agent({ keepAlive: true });
    void (async () => {
      for (;;) await readOnce(reading, place, agent);
    })();
  }
}
