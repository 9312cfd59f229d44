// What may last, and for how long. The clock stands still while the exchange gives an account no answer, and while no host has what it
// needs, and until they are tried again: those spans are the runner's own record. A host that dies costs a takeover more, and
// nothing else is an excuse.

import type { ExchangeLedger } from './exchange-client.ts';
import { refusedForGood } from './judge-exits.ts';
import type { Lasting } from './protected-lives.ts';
import type { Finding } from './records.ts';
import type { Outage } from './scene.ts';
import type { ToldInterval } from './sweep-intervals.ts';

export interface TimeEvidence {
  readonly ledger: ExchangeLedger;
  readonly outages: readonly Outage[];
  /** When a worker host died, or stood still. */
  readonly deaths: readonly number[];
  readonly times: { readonly leaseMs: number; readonly protectMs: number; readonly sweepMs: number };
  /** Longer than they are set to be: see sweep-intervals.ts. */
  readonly sweepIntervals: readonly ToldInterval[];
  /** When credentials that were refused for good were verified again. */
  readonly verifiedAt: number;
  /** When the ledger was read. */
  readonly until: number;
}

/** After a sweep, or a lease: until all of it is done. */
export const THEN_MS = 5_000;
export const TAKEOVER_MS = 2_000;
/** Nobody hears that the exchange is back: a position without a stop is tried again every two seconds, so one on average. */
const AGAIN_MS = 1_000;

/** Between two sweeps, at that time. */
export const sweepIn =
  ({ times, sweepIntervals }: Pick<TimeEvidence, 'times' | 'sweepIntervals'>) =>
  ({ from, to }: Pick<Lasting, 'from' | 'to'>): number =>
    Math.max(times.sweepMs, ...sweepIntervals.filter(({ at }) => at >= from && at <= to).map(({ ms }) => ms));

/** `bound`: so long it may last. `allowed`: how many takeovers are in that already. */
export function lastingIn<What extends Lasting>(evidence: TimeEvidence) {
  const clock = clockOf(evidence);
  const takeoverMs = evidence.times.leaseMs + TAKEOVER_MS;
  return (
    invariant: string,
    all: readonly What[],
    bound: (each: Lasting) => number,
    allowed = 0,
  ): Finding => {
    const judged = all.map((each) => {
      const extra = Math.max(0, clock.deaths(each) - allowed) * takeoverMs;
      return { each, ms: clock.counted(each), most: bound(each) + extra };
    });
    const longest = judged.reduce((most, { ms }) => Math.max(most, ms), 0);
    const least = Math.min(...all.map(bound), bound({ account: '' } as Lasting));
    return {
      invariant: `${invariant}: ${seconds(longest)} at most, ${seconds(least)} allowed`,
      kind: 'other',
      checked: all.length,
      problems: judged
        .filter(({ ms, most }) => ms > most)
        .map(({ each, ms, most }) => tellLasting(each, ms, most)),
    };
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const tellLasting = ({ account, symbol, side, from, to, what }: Lasting, ms: number, most: number): string =>
  `${account} ${symbol} ${side} for ${seconds(ms)} of ${seconds(to - from)}, and ${seconds(most)} are allowed, from ${new Date(from).toISOString()}: ${what}`;

/** How much of a time counts, and how many hosts died in it. */
function clockOf({ outages, deaths, ledger, verifiedAt }: TimeEvidence) {
  const refused = [...refusedForGood(ledger)].map(([account, from]) => ({
    ...{ from, to: verifiedAt, accounts: [account] },
  }));
  const all = [...outages, ...refused].toSorted((a, b) => a.from - b.from);
  return {
    counted({ account, from, to }: Pick<Lasting, 'account' | 'from' | 'to'>): number {
      let [at, sum] = [from, 0];
      for (const outage of all) {
        if (outage.accounts && !outage.accounts.includes(account)) continue;
        if (outage.to + AGAIN_MS <= at || outage.from >= to) continue;
        sum += Math.max(0, outage.from - at);
        at = Math.max(at, outage.to + AGAIN_MS);
      }
      return sum + Math.max(0, to - at);
    },
    deaths: ({ from, to }: Pick<Lasting, 'from' | 'to'>): number =>
      deaths.filter((at) => at <= to && at >= from - DEATH_FELT_MS).length,
  };
}

/** A host that died just before is not followed by another at once. */
const DEATH_FELT_MS = 3_000;
