// Journals of a store inside one process. A place is the journal's own name and a number: one that was begun anew has
// another name, so that a place of the old one is never taken for one of the new.

import { randomBytes } from 'node:crypto';
import { Expiring } from './expiring.ts';
import type { JournalLine } from './store.ts';

/** More than a user's orders change in the time that a journal is kept. */
export const MOST_LINES = 4_000;

export const newJournalName = (): string => randomBytes(6).toString('hex');

/** Null: no journal of ours has such a place. */
export function readPlace(place: string): { readonly name: string; readonly number: number } | null {
  const [, name, number] = /^([0-9a-f]{12})-(\d{1,16})$/.exec(place) ?? [];
  return name === undefined ? null : { name, number: Number(number) };
}

interface Journal {
  readonly name: string;
  keptMs: number;
  expiresAt: number;
  /** Of the last line that is gone: what is behind it is here. */
  gone: number;
  lines: { readonly number: number; readonly at: number; readonly text: string }[];
}

export function openJournals() {
  const journals = new Expiring<Journal>();
  const watching = new Map<string, Set<() => void>>();

  const endOf = ({ lines, gone }: Journal): number => lines.at(-1)?.number ?? gone;

  function drop(journal: Journal, count: number): void {
    const last = journal.lines.splice(0, count).at(-1);
    if (last) journal.gone = last.number;
  }

  return {
    keep(key: string, keptMs: number, now: number): string {
      let journal = journals.get(key, now);
      if (!journal) {
        journal = { name: newJournalName(), keptMs, expiresAt: now + keptMs, gone: 0, lines: [] };
        journals.set(key, journal, now);
      }
      journal.expiresAt = now + keptMs;
      const firstKept = journal.lines.findIndex(({ at }) => at > now - keptMs);
      drop(journal, firstKept < 0 ? journal.lines.length : firstKept);
      return `${journal.name}-${endOf(journal)}`;
    },

    note(key: string, texts: readonly string[], now: number): void {
      const journal = journals.get(key, now);
      if (!journal) return;
      for (const text of texts) journal.lines.push({ number: endOf(journal) + 1, at: now, text });
      drop(journal, Math.max(0, journal.lines.length - MOST_LINES));
      for (const look of watching.get(key) ?? []) look();
    },

    read(key: string, after: string, now: number): JournalLine[] | null {
      const journal = journals.get(key, now);
      const place = readPlace(after);
      if (!journal || place?.name !== journal.name) return null;
      const { number } = place;
      if (number < journal.gone || number > endOf(journal)) return null;
      return journal.lines
        .slice(number - journal.gone)
        .map((line) => ({ place: `${journal.name}-${line.number}`, text: line.text }));
    },

    watch(key: string, look: () => void): () => void {
      const looks = watching.get(key) ?? new Set();
      watching.set(key, looks.add(look));
      return () => {
        looks.delete(look);
        if (looks.size === 0 && watching.get(key) === looks) watching.delete(key);
      };
    },
  };
}
