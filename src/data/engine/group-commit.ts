// Group commit: what waits at one moment is taken together into one transaction, so that many units share one fsync.
// Each unit keeps its own fate in there: see the adapters. This file only decides who waits and who goes.

import type { Counters } from '../../domain/counters.ts';
import { NotCommitted, type Statement } from './db.ts';

export type Unit = readonly Statement[];

/** guard: null when committed, else the name of the guard that failed. */
export type Outcome = { readonly guard: string | null } | { readonly fault: Error };

export interface Waiting {
  readonly unit: Unit;
  /** The first call counts. */
  settle(outcome: Outcome): void;
}

interface GroupCommit {
  commit(unit: Unit): Promise<string | null>;
  /** Refuses new units and ends when the last waiting one is settled. */
  close(): Promise<void>;
}

/** Of anything else no row count could be asked. */
const WRITES = /^\s*(insert|update|delete|with)\b/i;
/** In no other form: what is counted, grouped or made up has no row that could be held. */
const HOLDS = /^\s*select 1 from\b/i;

/** Whether a guard only looks, and holds what it finds until the commit. */
export const holds = ({ parts }: Pick<Statement, 'parts'>): boolean => HOLDS.test(parts[0] ?? '');

type Counted = Pick<Counters, 'commitWaited' | 'committed'>;

export function groupCommit(options: {
  /** Units in one transaction at most. */
  readonly most: number;
  /** Transactions under way at once at most. */
  readonly lanes: number;
  /** Settles every unit it is given, or throws: the fault of all that are not settled yet. */
  run(group: readonly Waiting[]): Promise<void> | void;
  readonly counters: Counted;
}): GroupCommit {
  const { counters } = options;
  const queue: (Waiting & { readonly since: number })[] = [];
  const drained = Promise.withResolvers<void>();
  let lanesInUse = 0;
  let scheduled = false;
  let closed = false;

  // Not at once: the units of all requests that arrived in this turn of the event loop belong together.
  function schedule(): void {
    if (closed && queue.length === 0 && lanesInUse === 0) drained.resolve();
    if (scheduled || queue.length === 0 || lanesInUse === options.lanes) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (queue.length > 0 && lanesInUse < options.lanes) void runNext();
    });
  }

  async function runNext(): Promise<void> {
    const group = queue.splice(0, options.most);
    lanesInUse++;
    schedule();
    const begun = performance.now();
    for (const { since } of group) counters.commitWaited(begun - since);
    try {
      await options.run(group);
    } catch (error) {
      for (const waiting of group) waiting.settle({ fault: error as Error });
    }
    counters.committed(group.length, performance.now() - begun);
    lanesInUse--;
    schedule();
  }

  return {
    commit(unit) {
      if (closed) return Promise.reject(new NotCommitted('The database is closed.'));
      for (const { guard, parts, values } of unit) {
        // A driver may make NULL of it without a word.
        if (values.some(isNothing)) return Promise.reject(new TypeError(`No value for ${parts.join('?')}`));
        if (guard === undefined || WRITES.test(parts[0] ?? '') || holds({ parts })) continue;
        return Promise.reject(
          new TypeError(`The guard ${guard} neither writes nor holds a row: ${parts.join('?')}`),
        );
      }
      return new Promise((resolve, reject) => {
        const settle = (outcome: Outcome) =>
          'fault' in outcome ? reject(outcome.fault) : resolve(outcome.guard);
        queue.push({ unit, settle, since: performance.now() });
        schedule();
      });
    },
    close() {
      closed = true;
      schedule();
      return drained.promise;
    },
  };
}

const isNothing = (value: unknown): boolean =>
  value === undefined || typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value));

/** PostgreSQL's text cannot hold NUL, and a stranger's NUL must not turn an audit entry into a fault. */
export const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
