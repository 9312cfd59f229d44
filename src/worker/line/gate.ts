// A broker that says "busy" is not asked again before the time it gave, by nobody whom it meant: the account alone, all who
// ask there from this address, those of them who ask the same, or, where it does not say, all connections that it counts
// together. Of this process.

import type { BusyScope } from '../../broker/broker.ts';

export interface Gate {
  /** Until the broker takes calls again; 0: it does. `afterMs`: how long after others this one comes, where it was closed of late. */
  busyMs(afterMs?: () => number): number;
  /** The broker has said so. */
  close(ms: number, scope?: BusyScope): void;
}

/** Whom a connection is counted with: one gate for all that have the same name. */
interface Limited {
  readonly limits: string;
  readonly account: string;
  readonly address: string;
  /** Without it whoever asks anything from that address is taken to ask the same. */
  readonly question?: string;
}

export type Gates = (limited: Limited) => Gate;

/** A delay that is no number. */
const UNSAID_MS = 1_000;
/** Nobody is shut out for longer by one answer, whatever it says. */
const LONGEST_MS = 15 * 60_000;
/** Nobody comes longer after others. */
const LAST_MS = 1_000;
const FIRST = () => 0;

export function createGates(now: () => number = () => performance.now()): Gates {
  const openAt = new Map<string, number>();
  const leftOf = (name: string, afterMs: () => number): number => {
    const opens = openAt.get(name);
    if (opens === undefined) return 0;
    const left = Math.ceil(opens - now());
    // As the broker said it, while it is closed: whether that is worth waiting for is the same to all.
    if (left > 0) return left;
    if (left < -LAST_MS) openAt.delete(name);
    return Math.max(0, left + afterMs());
  };
  return ({ limits, account, address, question }) => {
    const names = {
      limits: `limits ${limits}`,
      account: `account ${account}`,
      address: `address ${address}`,
      question: question === undefined ? `address ${address}` : `question ${question}`,
    };
    const all = [...new Set(Object.values(names))];
    return {
      busyMs: (afterMs = FIRST) => Math.max(...all.map((name) => leftOf(name, afterMs))),
      close(ms, scope = undefined) {
        const name = names[scope ?? 'limits'];
        const until = now() + Math.min(Math.max(Number.isFinite(ms) ? ms : UNSAID_MS, 0), LONGEST_MS);
        openAt.set(name, Math.max(until, openAt.get(name) ?? 0));
      },
    };
  };
}
