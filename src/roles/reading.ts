// Reading never stops trading: what somebody merely looks at is read, shown and written by a thread of its own. It is
// started by the first who reads. Where it dies, those who wait are told that nothing could be read, and the next who
// asks starts another.

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { keepTrades } from '../app/orders/kept-trades.ts';
import { Written } from '../app/reading.ts';
import { DatabaseUnavailable, ListTooSlow } from '../data/engine/db.ts';
import { orders } from '../data/engine/give-way.ts';
import type { Foundation } from './foundation.ts';
import type { Answered, Asked, ThreadSetting } from './reading-thread.ts';
import { type Answer, answer, type Question, type ReadDeps, type Readers, readNames } from './reads.ts';

type Ask = (question: Question) => Promise<Answer>;

/** Longer than the longest of them takes: one statement is at it for ever. */
const SILENT_MS = 30_000;
/** Of the thread's heap. Beyond it the thread ends, and nothing else. */
const MOST_MB = 512;

/** What is not the reader's own. */
type AskerDeps = Omit<ReadDeps, 'db' | 'clock' | 'keptTrades'>;

export function openReading(
  base: Pick<Foundation, 'config' | 'parts' | 'db' | 'clock' | 'log' | 'closers'>,
  deps: AskerDeps,
): Readers {
  const { parts, db, clock, closers } = base;
  // Who brings a database of their own wants everything to be read by it.
  if (parts.db || parts.readsHere) {
    const here: ReadDeps = { ...deps, db, clock, keptTrades: keepTrades() };
    return readersOver((question) => answer(here, question));
  }
  const thread = threadOf(base, deps);
  closers.push(() => thread.end());
  return readersOver(thread.ask);
}

function threadOf(
  { config, clock, log }: Parameters<typeof openReading>[0],
  { plans, fillRetries, protectMs, protectionSweepMs, baseUrl, sealer }: AskerDeps,
): { readonly ask: Ask; end(): Promise<unknown> } {
  const { dir, databaseUrl } = config.data;
  const setting: ThreadSetting = {
    ...{ plans, fillRetries, protectMs, protectionSweepMs, baseUrl, databaseUrl },
    file: join(dir, 'fillpath.sqlite'),
    orders,
  };
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let asked = 0;
  let running: Worker | undefined;

  function leave(worker: Worker, why: Error): void {
    if (running !== worker) return;
    running = undefined;
    for (const { reject } of waiting.values()) reject(why);
    waiting.clear();
  }

  function start(): Worker {
    const worker = new Worker(new URL('./reading-thread.ts', import.meta.url), {
      workerData: setting,
      // What the process was started with is for its first thread.
      execArgv: [],
      // It says nothing; and a pipe from it to ours would end the process where nobody reads that any more.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
    });
    worker.unref();
    worker.on('message', ({ id, answer: made, fault }: Answered) => {
      if (fault) waiting.get(id)?.reject(revived(fault));
      else waiting.get(id)?.resolve(made as Answer);
    });
    worker.on('error', (fault) => {
      log.error({ fault }, 'the thread that reads has failed; the next who reads starts another');
      leave(worker, new DatabaseUnavailable('the thread that reads has failed', { cause: fault }));
    });
    worker.on('exit', () => leave(worker, new DatabaseUnavailable('the thread that reads has ended')));
    return worker;
  }

  return {
    async ask(question) {
      running ??= start();
      const worker = running;
      const id = ++asked;
      const outcome = Promise.withResolvers<Answer>();
      waiting.set(id, outcome);
      const tooSlow = setTimeout(() => {
        leave(worker, new ListTooSlow('the thread that reads does not answer'));
        void worker.terminate();
      }, SILENT_MS);
      const sealingProblem = sealer?.problem() ?? null;
      worker.postMessage({ id, ...question, now: clock.now(), sealingProblem } satisfies Asked);
      try {
        return await outcome.promise;
      } finally {
        clearTimeout(tooSlow);
        waiting.delete(id);
      }
    },
    end: async () => running?.terminate(),
  };
}

/** As the one who asks knows them: by their class. */
function revived({ name, message, stack }: NonNullable<Answered['fault']>): Error {
  const fault =
    name === 'ListTooSlow'
      ? new ListTooSlow(message)
      : name === 'DatabaseUnavailable' || name === 'NotCommitted'
        ? new DatabaseUnavailable(message)
        : new Error(message);
  if (stack !== undefined) fault.stack = stack;
  return fault;
}

function readersOver(ask: Ask): Readers {
  const readers = readNames.map((name) => [
    name,
    {
      asJson: async (...args: unknown[]) => new Written((await ask({ name, form: 'json', args })) as string),
      asCsv: (...args: unknown[]) => ask({ name, form: 'csv', args }),
      asValue: (...args: unknown[]) => ask({ name, form: 'value', args }),
    },
  ]);
  return Object.fromEntries(readers) as Readers;
}
