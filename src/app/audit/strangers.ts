// Attempts of those of whom we know nothing but an address. Each of the first few has its entry in the audit log; of the
// rest one entry a minute says how many there were: else whoever likes to be refused fills the disk. Logins are not sampled:
// the time of an answer would tell who exists.

import type { Db } from '../../data/engine/db.ts';
import type { UserId } from '../../domain/ids.ts';
import { type Bounds, StrangerCount } from '../../domain/strangers.ts';
import { type Background, every } from '../background.ts';
import { audit, type RequestContext } from './audit.ts';

export interface Strangers {
  /** True: the attempt is to have an entry of its own. False: it is counted. `target`: whose webhook it was, if any. */
  count(context: RequestContext, attempt: { readonly code: string; readonly target: UserId | null }): boolean;
}

export interface StrangersDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly log: { error(context: object, text: string): void };
}

const EVERY_MS = 60_000;
/** Who is counted together, how many of them have an entry of their own in a minute, and what the one for the others says. */
interface Kind {
  readonly bounds: Bounds;
  readonly action: string;
  words(count: number): string;
}

const STRANGERS: Kind = {
  bounds: { ofAddress: 30, inAll: 300, addresses: 10_000 },
  action: 'strangers_counted',
  words: (count) => `${count} more attempts of strangers in the last minute.`,
};

/** A user's own requests beyond the limit: a few tell all that there is to tell. */
const OVER_LIMIT: Kind = {
  bounds: { ofAddress: 10, inAll: 10, addresses: 100 },
  action: 'over_limit_counted',
  words: (count) => `${count} more requests beyond your limit in the last minute.`,
};

export const countOverLimit = (deps: StrangersDeps): Strangers & Background => count(deps, OVER_LIMIT);
export const countStrangers = (deps: StrangersDeps): Strangers & Background => count(deps, STRANGERS);

interface Counted {
  readonly attempts: StrangerCount;
  last: RequestContext;
}

function count(deps: StrangersDeps, { bounds, action, words }: Kind): Strangers & Background {
  const byTarget = new Map<UserId | null, Counted>();

  async function settle(): Promise<void> {
    const now = deps.clock.now();
    const entries = [...byTarget].flatMap(([target, { attempts, last }]) => {
      const untold = attempts.take();
      if (!untold) return [];
      const { count, kinds, addresses, loudest } = untold;
      const event = {
        userId: target,
        action,
        failure: words(count),
        metadata: { attempts: count, codes: kinds, addresses, loudest },
      };
      return [audit({ ...last, ip: loudest[0]?.ip ?? last.ip }, event, now)];
    });
    byTarget.clear();
    if (entries.length > 0) await deps.db.commit(entries);
  }

  const rounds = every(EVERY_MS, settle, deps.log);
  return {
    count(context, { code, target }) {
      const counted = byTarget.get(target) ?? { attempts: new StrangerCount(bounds), last: context };
      counted.last = context;
      byTarget.set(target, counted);
      return counted.attempts.count(context.ip, code);
    },
    async stop() {
      await rounds.stop();
      await settle();
    },
  };
}
