// Seals the audit log, about once a second and before the service stops. The sealer never goes back: it remembers its
// last head outside the database, and where the database has another one, or an earlier one, somebody was there, and
// it seals nothing further. Else who can write to the database could clear the seals and have their own entries sealed.
// Heads of other sealers are in order as long as the remembered one is among what lies behind them.

import {
  readCheckpoint,
  readHead,
  type Sight,
  sealEntries,
  sealsAt,
  sightOf,
  unsealedEntries,
} from '../../data/audit/chain.ts';
import type { HeadMemory } from '../../data/audit/kept-head.ts';
import { untilDone } from '../../data/engine/steps.ts';
import { type ChainHead, headText, nextHead } from '../../domain/audit-chain.ts';
import { type ChainDeps, isOurs } from './chain.ts';

export interface SealerDeps extends ChainDeps {
  readonly memory: HeadMemory;
  readonly log: {
    info(context: object, text: string): void;
    error(context: object, text: string): void;
  };
}

export interface Sealer {
  /** Seals what has been written so far. Any number of processes may; one of them does it. */
  seal(): Promise<void>;
  /** Writes the head to the operator's log, where whoever has the database cannot change it. */
  announce(): void;
  /** Why nothing is sealed any more; null: all is well. */
  problem(): string | null;
}

/** At once: what is being committed meanwhile waits for it. */
const SEALED_AT_ONCE = 200;
/** Entries. A transaction that is still under way so many later is none of ours: those end within seconds. */
const MOST_OPEN = 100_000;

export async function openSealer({ db, auditKey, memory, log }: SealerDeps): Promise<Sealer> {
  let problem: string | null = null;
  let remembered: ChainHead | null = null;
  let { sealedUpTo } = await readHead(db);
  /** Seen in the last round, and what must have ended before nothing can appear in between any more. */
  let seen: { readonly newest: number; readonly next: number } | null = null;
  let lastSight: Sight | null = null;
  let underWay: Promise<void> = Promise.resolve();

  function stop(why: string, stored: ChainHead): false {
    if (why !== problem) tell(why, stored);
    problem = why;
    return false;
  }
  const tell = (why: string, stored: ChainHead | null) =>
    log.error(
      { problem: why, remembered: remembered && headText(remembered), stored: stored && headText(stored) },
      'the audit log was changed by somebody else and is sealed no further: run `audit verify`',
    );

  async function remember({ entries, hash }: ChainHead): Promise<void> {
    if (remembered?.entries === entries && remembered.hash === hash) return;
    remembered = { entries, hash };
    await memory.keep(remembered);
  }

  /** null: what we remember is what the database has, or lies behind it. */
  async function contradiction(stored: ChainHead): Promise<string | null> {
    if (!remembered || remembered.entries === 0) return null;
    const { entries, hash } = remembered;
    if (stored.entries < entries)
      return `the head is at entry ${stored.entries}, though entry ${entries} was sealed`;
    const changed = `entry ${entries} is not the one that was sealed`;
    if (stored.entries === entries && stored.hash !== hash) return changed;
    const there = await sealsAt(db, entries);
    if (there.length > 0) return there.every((each) => each === hash) ? null : changed;
    const checkpoint = await readCheckpoint(db);
    const isPruned =
      checkpoint !== null &&
      isOurs(auditKey, checkpoint) &&
      (checkpoint.entries > entries || (checkpoint.entries === entries && checkpoint.hash === hash));
    return isPruned ? null : `entry ${entries}, which was sealed, is missing`;
  }

  /** The id up to which no entry can appear any more that is not there yet. */
  async function settledUpTo(): Promise<number> {
    const sight = await sightOf(db);
    const isOver = seen !== null && (sight.oldest >= seen.next || sight.newest - seen.newest > MOST_OPEN);
    const settled = seen && isOver ? seen.newest : sealedUpTo;
    // A transaction gets its number a moment after its entry: so what was seen in the round before is waited for.
    if (!seen || isOver) seen = lastSight && { newest: lastSight.newest, next: sight.next };
    lastSight = sight;
    return settled;
  }

  /** Whether there may be more to seal. */
  async function sealSome(): Promise<boolean> {
    const settled = await settledUpTo();
    // The head first: while it stands, nobody has sealed any of the entries.
    const before = await readHead(db);
    const wrong = await contradiction(before);
    if (wrong !== null) return stop(wrong, before);
    const entries = await unsealedEntries(db, sealedUpTo, SEALED_AT_ONCE);
    const isAll = entries.length < SEALED_AT_ONCE;
    const upTo = Math.max(sealedUpTo, isAll ? settled : Math.min(settled, entries.at(-1)?.id ?? 0));
    let head: ChainHead = before;
    if (entries.length > 0) {
      const sealed = entries.map((entry) => {
        head = nextHead(auditKey, head, entry);
        return { entry, head };
      });
      if ((await db.commit(sealEntries(before, sealed, upTo))) !== null) {
        // Lost to another sealer, which has done the work; unless there was none.
        if ((await readHead(db)).hash !== before.hash) return false;
        return stop('a place or an entry that was not sealed has a seal', before);
      }
    }
    problem = null;
    sealedUpTo = upTo;
    await remember(head);
    return !isAll;
  }

  await memory.recall().then(
    (head) => {
      remembered = head;
    },
    (fault: unknown) => {
      problem = 'the remembered head cannot be read';
      log.error({ fault }, 'the audit log is not sealed: its remembered head cannot be read');
    },
  );
  const isBlind = problem !== null;

  return {
    // One after the other: what is remembered, and where to go on, belongs to one round.
    seal() {
      if (isBlind) return Promise.resolve();
      const round = underWay.then(() => untilDone(sealSome));
      underWay = round.catch(() => {});
      return round;
    },
    announce() {
      if (problem !== null) tell(problem, null);
      if (remembered) log.info({ head: headText(remembered) }, 'audit head');
    },
    problem: () => problem,
  };
}
