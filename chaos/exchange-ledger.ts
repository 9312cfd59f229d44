// The paper engine's ledger, as the exchange keeps it: in the same unit it is written down what is held from then on, what
// happened to stops, and by which request something was taken.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { BookChange, PaperLedger, PaperOrder } from '../src/broker/paper/ledger.ts';
import type { Db } from '../src/data/engine/db.ts';
import { openPaperLedger } from '../src/data/orders/paper-ledger.ts';
import type { AccountId } from '../src/domain/ids.ts';
import {
  type Arrival,
  fillLines,
  journalLine,
  noteHeld,
  type StopArrival,
  stopLines,
  stopRequestLine,
} from './exchange-journal.ts';

/** One request on its way through the engine. */
export type Passage = { isWritten: boolean; hasWaited: boolean } & (
  | { readonly order: Arrival; readonly stop?: undefined }
  | { readonly stop: StopArrival; readonly order?: undefined }
);

export interface Watcher {
  /** Each time that something is written. */
  onWrite(account: AccountId, change: BookChange): void;
}

export function exchangeLedger(db: Db, { onWrite }: Watcher) {
  const passages = new AsyncLocalStorage<Passage>();
  const askers = new AsyncLocalStorage<string>();
  const plain = openPaperLedger(db);
  const ledger: PaperLedger = {
    ...plain,
    async write(book, change) {
      const passage = passages.getStore();
      const isTaken = passage !== undefined && isTakenBy(passage, change);
      const asker = askers.getStore() ?? null;
      const lines = [
        noteHeld(book, change.book.holdings),
        ...fillLines(book, asFilled(change)),
        ...(change.stops ? stopLines(book, asker, change.stops) : []),
        ...(isTaken ? [takenLine(passage)] : []),
      ];
      const journaling: Db = { ...db, commit: (unit) => db.commit([...unit, ...lines]) };
      const written = await openPaperLedger(journaling).write(book, change);
      if (isTaken) passage.isWritten = written === 'written';
      if (written === 'written') onWrite(book as AccountId, change);
      return written;
    },
  };

  return {
    ledger,

    /** What the engine waits for is waited for once, however often it is asked. */
    async waitOnce(wait: () => Promise<void>): Promise<void> {
      const passage = passages.getStore();
      if (passage?.hasWaited) return;
      if (passage) passage.hasWaited = true;
      await wait();
    },

    /** Whatever happens meanwhile, this one asked for something just then. */
    by: <Value>(asker: string | null, task: () => Promise<Value>): Promise<Value> =>
      asker === null ? task() : askers.run(asker, task),

    pass: <Value>(passage: Passage, task: () => Promise<Value>): Promise<Value> =>
      passages.run(passage, task),
  };
}

/** All orders that a change tells of, the new ones first. */
export const ordersIn = ({ placed, changed, stops }: BookChange): readonly PaperOrder[] => [
  ...(placed ? [placed] : []),
  ...(stops?.orders ?? []),
  ...changed,
];

/** The new one last: what waited was settled before it was taken. */
const asFilled = ({ placed, changed, stops }: BookChange): readonly PaperOrder[] => [
  ...(stops?.orders ?? []),
  ...changed,
  ...(placed ? [placed] : []),
];

/** A look on the way writes too. */
const isTakenBy = (passage: Passage, { placed, stops }: BookChange): boolean =>
  passage.order
    ? placed !== null
    : stops !== undefined &&
      (stops.placed !== null || stops.changed.some(({ status }) => status === 'standing'));

const takenLine = (passage: Passage) =>
  passage.order
    ? journalLine(passage.order, 'accepted', null)
    : stopRequestLine(passage.stop as StopArrival, 'accepted', null);
