// Journals in Redis. Who keeps one says so to all processes, again and again while it is kept; the others note lines only
// in those, so that a user whom nobody watches costs Redis nothing. A process that has not heard of a journal notes nothing
// there: that is a lost line, as any other.
//
// Nothing here is signed. A line says no more than where to look in the database, and who looks there asks for what is the
// user's own; a place that is made up has been lost, or is one of the same journal.

import { MOST_LINES, newJournalName, readPlace } from '../journals.ts';
import type { JournalLine, Store } from '../store.ts';
import { inTime } from './connection.ts';
import type { Ask } from './turns.ts';
import { channelOf, TO_ALL, type Wakes } from './wakes.ts';

/** Beyond these the oldest are forgotten: more users than one deployment has at their pages. */
const MOST_KNOWN = 100_000;
const LONGEST_MS = 3_600_000;

export interface Journals extends Pick<Store, 'keepJournal' | 'note' | 'readJournal' | 'watchJournal'> {
  /** There may be something new in it. */
  look(name: string): void;
  /** What a process has said to all. */
  heard(text: string): void;
}

/** As others are woken for it: a queue may have the same name. */
const wakeOf = (journal: string): string => `journal:${journal}`;

const lineOf = (line: string): JournalLine => {
  const [, name, number, text = ''] = /^(\S+) (\d+) (.*)$/s.exec(line) ?? [];
  return { place: `${name}-${number}`, text };
};

export function openJournals({
  turns,
  keyOf,
  wakes,
}: {
  readonly turns: Ask;
  keyOf(journal: string): string;
  wakes(): Pick<Wakes, 'enter' | 'leave'>;
}): Journals {
  /** Journals that somebody keeps, and until when; the one heard of last comes last. */
  const kept = new Map<string, number>();
  const watching = new Map<string, Set<() => void>>();

  function know(journal: string, keptMs: number): void {
    kept.delete(journal);
    kept.set(journal, performance.now() + keptMs);
    for (const [each, until] of kept) {
      if (until > performance.now() && kept.size <= MOST_KNOWN) break;
      kept.delete(each);
    }
  }

  return {
    look(name) {
      for (const look of watching.get(name) ?? []) look();
    },

    heard(text) {
      const [, ms, journal] = /^(\d{1,12}) (.{1,200})$/.exec(text) ?? [];
      if (journal !== undefined) know(journal, Math.min(Number(ms), LONGEST_MS));
    },

    async keepJournal(journal, keptMs) {
      know(journal, keptMs);
      const args = [newJournalName(), keptMs, TO_ALL, `${keptMs} ${journal}`];
      const last = await inTime(() => turns('keepJournal', [keyOf(journal)], args));
      return lineOf(String(last)).place;
    },

    async note(journal, texts) {
      if ((kept.get(journal) ?? 0) <= performance.now()) return;
      const wake = wakeOf(journal);
      const args = [channelOf(wake), wake, MOST_LINES, ...texts];
      await inTime(() => turns('noteLines', [keyOf(journal)], args));
    },

    async readJournal(journal, after) {
      const place = readPlace(after);
      if (!place) return null;
      const args = [place.name, place.number];
      const lines = await inTime(() => turns('readLines', [keyOf(journal)], args));
      return Array.isArray(lines) ? lines.map((line) => lineOf(String(line))) : null;
    },

    watchJournal(journal, look) {
      const wake = wakeOf(journal);
      const looks = watching.get(wake) ?? new Set();
      if (looks.size === 0) {
        watching.set(wake, looks);
        wakes().enter(wake);
      }
      looks.add(look);
      return () => {
        if (!looks.delete(look) || looks.size > 0) return;
        watching.delete(wake);
        wakes().leave(wake);
      };
    },
  };
}
