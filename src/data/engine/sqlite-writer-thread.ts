// The thread that writes to SQLite: it runs groups of units on a connection of its own and waits for the disk, while the one that
// trades goes on. sqlite-writer.ts starts it.

import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { NotCommitted, type SqlValue } from './db.ts';
import { holds } from './group-commit.ts';
import { openFile } from './sqlite-file.ts';
import { type Act, openUnits } from './sqlite-units.ts';

/** A thread that is started later must not find another one under the name. */
export interface SameFile {
  readonly path: string;
  readonly inode: number;
}

/** One text, because that passes between threads for a quarter of what objects cost. */
export interface ToWriter {
  /** The texts that it was told so far are forgotten. */
  readonly isAfresh: boolean;
  /** Texts of statements that were not told before: they go by their numbers, and these are the next. */
  readonly texts: readonly string[];
  readonly group: readonly (readonly (readonly [
    nth: number,
    guard: string | null,
    rows: number,
    values: readonly SqlValue[],
  ])[])[];
}

/** An error as it passes between threads, which know no classes. */
export interface Told {
  readonly message: string;
  readonly stack: string | undefined;
  readonly isNotCommitted: boolean;
}

/** `open`: it is ready. `carried over`: what the log had, so far as nobody reads that. `outcomes`: null where every unit was committed. `fault`: of them all. */
export type FromWriter =
  | 'open'
  | 'carried over'
  | { readonly outcomes: readonly ({ readonly guard: string | null } | { readonly fault: Told })[] | null }
  | { readonly fault: Told };

/** Besides groups. `close`: nothing more is written. `carry over`: what was committed, from the log into the file, while others write on. */
export type Bidden = 'close' | 'carry over';

const { path, inode } = workerData as SameFile;
// Before it is opened: that alone would harm what lies beside the first one.
if (statSync(path).ino !== inode) throw new Error(`${path} is another file by now`);
const file = openFile(path, { carriesOver: false });
const write = openUnits(file);
const forms: Pick<Act, 'text' | 'holds'>[] = [];

const told = (error: Error): Told => ({
  message: error.message,
  stack: error.stack,
  isNotCommitted: error instanceof NotCommitted,
});

function answer({ isAfresh, texts, group }: ToWriter): FromWriter {
  if (isAfresh) forms.length = 0;
  forms.push(...texts.map((text) => ({ text, holds: holds({ parts: [text] }) })));
  try {
    const outcomes = write(
      group.map((unit) =>
        unit.map(([nth, guard, rows, values]) => {
          const { text, holds } = forms[nth] as (typeof forms)[number];
          return { text, values, guard: guard ?? undefined, rows, holds };
        }),
      ),
    );
    if (outcomes.every((outcome) => 'guard' in outcome && outcome.guard === null)) return { outcomes: null };
    return { outcomes: outcomes.map((each) => ('fault' in each ? { fault: told(each.fault) } : each)) };
  } catch (error) {
    return { fault: told(error as Error) };
  }
}

parentPort?.on('message', (words: string) => {
  if (words === ('carry over' satisfies Bidden)) {
    file.carryOver();
    return parentPort?.postMessage('carried over' satisfies FromWriter);
  }
  if (words !== ('close' satisfies Bidden))
    return parentPort?.postMessage(answer(JSON.parse(words) as ToWriter));
  file.db.close();
  parentPort?.close();
});
parentPort?.postMessage('open' satisfies FromWriter);
