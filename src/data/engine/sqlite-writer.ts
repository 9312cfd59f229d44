// Who has units written by a thread of its own: it is started by the first of them. One that cannot start has written nothing;
// where it ends in the middle of a group, nobody knows whether that was committed. The next group starts another.

import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { DatabaseUnavailable, NotCommitted } from './db.ts';
import type { Outcome } from './group-commit.ts';
import type { Acts } from './sqlite-units.ts';
import type { Bidden, FromWriter, SameFile, Told, ToWriter } from './sqlite-writer-thread.ts';

/** Of a unit. */
const DONE: Outcome = { guard: null };
/** Statements are few; lists of changing length could make them many. With one more, both sides begin anew. */
const MOST_TEXTS = 1_000;

interface Running {
  readonly worker: Worker;
  /** Null once it has the file open. */
  opening: PromiseWithResolvers<void> | null;
  /** The numbers of the texts that it was told. */
  readonly numbers: Map<string, number>;
}

export interface Writer {
  /** One group at a time. Throws what befell all of it. */
  write(group: Acts): readonly Outcome[] | Promise<readonly Outcome[]>;
  close(): Promise<void>;
}

export interface WriterApart extends Writer {
  /** What was committed is carried over from the log into the file, in two rounds: what is there, and what came meanwhile. Whether that has begun. */
  carryOver(): boolean;
  /** While `most` is carried over, whoever writes here waits for that. While the `rest` is, nobody is to write elsewhere. */
  carrying(): Carrying;
}

type Carrying = 'nothing' | 'most' | 'rest';

export function openWriter(path: string): WriterApart {
  const file: SameFile = { path, inode: statSync(path).ino };
  let running: Running | null = null;
  let carrying: Carrying = 'nothing';
  let waiting: PromiseWithResolvers<readonly Outcome[] | null> | null = null;

  function start(): Running {
    const worker = threadFor(file);
    const started: Running = { worker, opening: Promise.withResolvers(), numbers: new Map() };
    const leave = (cause?: Error) => {
      // One that fails is heard of twice, and by then another may be writing.
      if (running !== started) return;
      running = null;
      carrying = 'nothing';
      started.opening?.reject(new NotCommitted('the thread that writes cannot start', { cause }));
      waiting?.reject(new DatabaseUnavailable('the thread that writes has ended', { cause }));
    };
    worker.on('message', (words: FromWriter) => {
      // Of one that has ended since: whoever waits now waits for another.
      if (running !== started) return;
      if (words === 'open') {
        started.opening?.resolve();
        started.opening = null;
      } else if (words === 'carried over') {
        carrying = carrying === 'most' ? 'rest' : 'nothing';
        if (carrying === 'rest') worker.postMessage('carry over' satisfies Bidden);
      } else if ('fault' in words) waiting?.reject(revived(words.fault));
      else
        waiting?.resolve(
          words.outcomes?.map((each) => ('fault' in each ? { fault: revived(each.fault) } : each)) ?? null,
        );
    });
    worker.on('error', leave);
    worker.on('exit', () => leave());
    return started;
  }

  /** Nobody waits for it yet. */
  function begin(): Running {
    running = start();
    running.worker.unref();
    return running;
  }

  return {
    async write(group) {
      const { worker, opening, numbers } = running ?? begin();
      // A process lives as long as somebody waits for a commit.
      worker.ref();
      try {
        await opening?.promise;
        waiting = Promise.withResolvers();
        worker.postMessage(JSON.stringify(numbered(group, numbers)));
        return (await waiting.promise) ?? group.map(() => DONE);
      } finally {
        waiting = null;
        worker.unref();
      }
    },
    carryOver() {
      if (carrying !== 'nothing') return false;
      try {
        const { worker, opening } = running ?? begin();
        const bid = () => worker.postMessage('carry over' satisfies Bidden);
        carrying = 'most';
        if (opening) opening.promise.then(bid, () => {});
        else bid();
        return true;
      } catch {
        // There is no thread to be had: who commits is not to fail for that, and the next one tries again.
        return false;
      }
    },
    carrying: () => carrying,
    async close() {
      if (!running) return;
      const { worker } = running;
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.ref();
      worker.postMessage('close' satisfies Bidden);
      await ended;
    },
  };
}

function threadFor(file: SameFile): Worker {
  try {
    return new Worker(new URL('./sqlite-writer-thread.ts', import.meta.url), {
      workerData: file,
      // What the process was started with is for its first thread.
      execArgv: [],
      // It says nothing; and a pipe from it to ours would end the process where nobody reads that any more.
      stdout: true,
      stderr: true,
    });
  } catch (cause) {
    throw new NotCommitted('the thread that writes cannot be had', { cause });
  }
}

function numbered(group: Acts, numbers: Map<string, number>): ToWriter {
  const isAfresh = numbers.size > MOST_TEXTS;
  if (isAfresh) numbers.clear();
  const texts: string[] = [];
  const numberOf = (text: string): number => {
    let nth = numbers.get(text);
    if (nth === undefined) {
      nth = numbers.size;
      numbers.set(text, nth);
      texts.push(text);
    }
    return nth;
  };
  const acts = group.map((unit) =>
    unit.map(({ text, values, guard = null, rows }) => [numberOf(text), guard, rows, values] as const),
  );
  return { isAfresh, texts, group: acts };
}

function revived({ message, stack, isNotCommitted }: Told): Error {
  const fault = isNotCommitted ? new NotCommitted(message) : new Error(message);
  if (stack !== undefined) fault.stack = stack;
  return fault;
}
