// Readers in a process of their own: what they do with their answers must not be measured. Each asks for the list again as
// soon as it has read it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

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

/**
 * Begun with the first bytes that are read; `end` tells how many there were. Readers elsewhere have processors of their own: here they get what
 * nobody else wants. A low priority would not do: Linux lets whoever runs run on for some milliseconds, whoever wakes up
 * meanwhile, but for those who are idle by their own word.
 */
export async function readElsewhere(reading: Reading): Promise<{ end(): Promise<number> }> {
  const child = spawn('chrt', ['--idle', '0', process.execPath, import.meta.filename], {
    env: { PATH: process.env.PATH, READING: JSON.stringify(reading) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  if (told === '') throw new Error('the readers have ended before they read anything');
  return {
    async end() {
      child.stdin.end();
      await ended;
      return Number(told.trim().split('\n').at(-1));
    },
  };
}

let bytes = 0;

function readOnce(
  { port, path, key }: Reading,
  { localAddress, headers }: Reading['places'][number],
  agent: Agent,
) {
  return new Promise<void>((resolve) => {
    const authorization = `Bearer ${key}`;
    const outgoing = request(
      { host: '127.0.0.1', port, path, localAddress, agent, headers: { ...headers, authorization } },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) console.log(0);
          bytes += chunk.length;
        });
        response.once('close', resolve);
      },
    );
    outgoing.once('error', () => pause(20).then(resolve)).end();
  });
}

if (import.meta.main) {
  const reading = JSON.parse(process.env.READING ?? '') as Reading;
  for (const place of reading.places) {
    const agent = new Agent({ keepAlive: true });
    void (async () => {
      for (;;) await readOnce(reading, place, agent);
    })();
  }
  // Whoever started this has gone, or has seen enough.
  process.stdin.resume().once('end', () => process.stdout.write(`${bytes}\n`, () => process.exit()));
}
