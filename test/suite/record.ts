// What became of each file of a run: none may go unheard, as one would whose process ended before its turn. At the end it says
// what was not run, and why, and which files took longest.

import { existsSync, readFileSync } from 'node:fs';
import type { EventData } from 'node:test';

const SLOWEST = 10;

/** Its files in their order, and where it writes which of them it is at. */
export interface SharedProcess {
  readonly files: readonly string[];
  readonly at: string;
}

type Ended = Pick<EventData.TestPass, 'name' | 'nesting' | 'skip' | 'todo'> & {
  readonly details: { readonly duration_ms: number };
};

export interface Kept {
  ended(test: Ended): void;
  failed(test: Ended): void;
  isWell(): boolean;
  summary(): string;
}

/** The processes by what Node calls them. */
export function record(processes: ReadonlyMap<string, SharedProcess>): Kept {
  const files = new Set([...processes.values()].flatMap((process) => process.files));
  const took = new Map<string, number>();
  const skipped = new Map<string, number>();
  const broken = new Set<SharedProcess>();
  let failures = 0;

  const ended = ({ name, nesting, skip, details }: Ended): void => {
    if (skip !== undefined) {
      const reason = skip === true || skip === '' ? 'no reason given' : String(skip);
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
    if (nesting === 0 && files.has(name)) took.set(name, details.duration_ms);
  };

  return {
    ended,
    failed(test) {
      ended(test);
      if (test.todo === undefined) failures++;
      const process = processes.get(test.name);
      if (process) broken.add(process);
    },
    isWell: () => failures === 0 && [...files].every((file) => took.has(file)),
    summary: () =>
      [
        ...[...processes.values()].flatMap((process) => faults(process, took, broken.has(process))),
        ...[...skipped].map(([reason, count]) => `﹣ ${count} skipped: ${reason}`),
        'The files that took longest, in seconds:',
        ...[...took]
          .sort(([, a], [, b]) => b - a)
          .slice(0, SLOWEST)
          .map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)}  ${file}`),
      ].join('\n'),
  };
}

/** `heard`: the files whose end was told. */
function faults(
  { files, at }: SharedProcess,
  heard: ReadonlyMap<string, unknown>,
  isBroken: boolean,
): readonly string[] {
  const last = existsSync(at) ? readFileSync(at, 'utf8') : '';
  if (last) return [`✖ the process ended in ${last}`, ...unheard(files.slice(files.indexOf(last) + 1))];
  const lost = unheard(files.filter((file) => !heard.has(file)));
  return isBroken && lost.length === 0
    ? [`✖ after their tests the process failed of ${files.join(', ')}`]
    : lost;
}

const unheard = (files: readonly string[]): readonly string[] => files.map((file) => `✖ not run: ${file}`);
