// The thread that reads: it has its own connections to the database, which it cannot write to, and a heap of its own.
// roles/reading.ts starts it.

import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { keepTrades } from '../app/orders/kept-trades.ts';
import type { Config } from '../config/config.ts';
import { restBetweenPieces } from '../data/engine/give-way.ts';
import { openSqlite } from '../data/engine/sqlite.ts';
import { type Answer, answer, type Question, type ReadDeps } from './reads.ts';

export interface ThreadSetting
  extends Pick<ReadDeps, 'plans' | 'fillRetries' | 'protectMs' | 'protectionSweepMs' | 'baseUrl'> {
  readonly databaseUrl: Config['data']['databaseUrl'];
  /** Where there is no URL. */
  readonly file: string;
  /** Of the process. */
  readonly orders: Int32Array;
}

/** With what only who asks can know at that moment. */
export interface Asked extends Question {
  readonly id: number;
  readonly now: number;
  readonly sealingProblem: string | null;
}

export interface Answered {
  readonly id: number;
  readonly answer?: Answer;
  readonly fault?: { readonly name: string; readonly message: string; readonly stack: string | undefined };
}

/** A tenth as much of a processor as others where there is too little for all: who trades comes first, and a busy machine still shows something. */
const NICE = 10;
// Elsewhere this would be about the whole process.
if (process.platform === 'linux')
  setPriority(0, Math.min(getPriority(0) + NICE, constants.priority.PRIORITY_LOW));

const { databaseUrl, file, orders, ...setting } = workerData as ThreadSetting;

restBetweenPieces(orders);

async function openDb() {
  if (!databaseUrl) return openSqlite({ file, readOnly: true });
  const { openPostgres } = await import('../data/engine/postgres.ts');
  return openPostgres({ url: databaseUrl });
}

const db = await openDb();
const keptTrades = keepTrades();

parentPort?.on('message', async ({ id, now, sealingProblem, ...question }: Asked) => {
  const deps: ReadDeps = {
    ...{ ...setting, keptTrades },
    // Everything here is a list, whoever reads it.
    db: { ...db, ...db.lists },
    clock: { now: () => now },
    sealer: { problem: () => sealingProblem },
  };
  const answered = await answer(deps, question).then(
    (made): Answered => ({ id, answer: made }),
    ({ name, message, stack }: Error): Answered => ({ id, fault: { name, message, stack } }),
  );
  parentPort?.postMessage(answered);
});
