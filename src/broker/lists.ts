// A long list never stops trading: what a broker lists of its markets is megabytes, and is read by a thread of its own, one for
// all brokers of the process. The network stays here. The bytes of an answer go there, and what the connector keeps of them
// comes back. Whoever comes first starts it, and it ends when nobody has come for a while. Where it fails, those who wait are
// told so, and the next starts another.

import { Worker } from 'node:worker_threads';
import { BrokerUnavailable } from './broker.ts';
import type { Bytes, FromThread, ListRequest, Readers, ToThread } from './lists-thread.ts';

/** Longer than a broker is waited for and its list is read: it is at it for ever. */
const SILENT_MS = 60_000;
/** Classes that it has loaded serve for the next list too. */
const IDLE_MS = 30_000;
/** Of the thread's heap. Beyond it the thread ends, and nothing else. */
const MOST_MB = 512;

interface Waiting {
  readonly outcome: PromiseWithResolvers<unknown>;
  readonly ask: (request: ListRequest) => Promise<Bytes>;
}

const waiting = new Map<number, Waiting>();
let running: Worker | null = null;
let idle: NodeJS.Timeout | undefined;
let begun = 0;

/**
 * What the reader of that name makes of it; bytes are given away. `ask`: who reads may ask for more, and where that throws, this
 * does. Throws BrokerUnavailable where the thread ends before.
 */
export async function readList<Name extends keyof Readers>(
  name: Name,
  question: Parameters<Readers[Name]>[0],
  ask: Waiting['ask'] = nobody,
): Promise<Awaited<ReturnType<Readers[Name]>>> {
  clearTimeout(idle);
  running ??= start();
  const worker = running;
  const id = ++begun;
  const outcome = Promise.withResolvers<unknown>();
  waiting.set(id, { outcome, ask });
  const silent = setTimeout(() => end(worker, 'The thread that reads lists does not answer.'), SILENT_MS);
  tell(worker, { id, name, question });
  try {
    return (await outcome.promise) as Awaited<ReturnType<Readers[Name]>>;
  } finally {
    clearTimeout(silent);
    waiting.delete(id);
    if (waiting.size === 0)
      idle = setTimeout(() => end(worker, 'The thread that reads lists has ended.'), IDLE_MS).unref();
  }
}

const nobody = () => Promise.reject(new Error('there is nobody to ask for more'));

function start(): Worker {
  const worker = new Worker(new URL('./lists-thread.ts', import.meta.url), {
    // What the process was started with is for its first thread.
    execArgv: [],
    // It says nothing; and a pipe from it to ours would end the process where nobody reads that any more.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
  });
  worker.on('message', (said: FromThread) => {
    const reading = waiting.get(said.id);
    if ('request' in said) void answer(worker, said, reading?.ask ?? nobody);
    else if (said.fault) reading?.outcome.reject(said.fault);
    else reading?.outcome.resolve(said.value);
  });
  worker.on('error', (cause) => leave(worker, 'The thread that reads lists has failed.', cause));
  worker.on('exit', () => leave(worker, 'The thread that reads lists has ended.'));
  // After the listeners: the first of them would hold the process again.
  worker.unref();
  return worker;
}

async function answer(
  worker: Worker,
  { id, turn, request }: Extract<FromThread, { readonly request: ListRequest }>,
  ask: Waiting['ask'],
): Promise<void> {
  const bytes = await ask(request).catch((fault: unknown) => {
    waiting.get(id)?.outcome.reject(fault);
    return null;
  });
  tell(worker, { turn, bytes });
}

/** Bytes are given away, not copied. */
function tell(worker: Worker, words: ToThread): void {
  const given = 'turn' in words ? words.bytes : words.question;
  worker.postMessage(words, given instanceof ArrayBuffer ? [given] : []);
}

function end(worker: Worker, why: string): void {
  leave(worker, why);
  void worker.terminate();
}

function leave(worker: Worker, why: string, cause?: unknown): void {
  if (running !== worker) return;
  running = null;
  for (const { outcome } of waiting.values()) outcome.reject(new BrokerUnavailable(why, { cause }));
}
