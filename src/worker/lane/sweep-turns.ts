// Which look at an account's protections is a sweep, and when its turn comes. Where something has happened, or is not as it should be,
// it is no sweep: that is looked after at once.

import type { Account } from '../../data/accounts/accounts.ts';
import { type AccountId, millis, type Timestamp, timestamp } from '../../domain/ids.ts';
import { followsPrice } from '../../domain/protection/follow.ts';
import { isAwaiting, type Protection } from '../../domain/protection/protection.ts';
import { isAtRest } from '../../domain/protection/sending.ts';
import type { Rules } from '../../domain/protection/step.ts';
import { isForsaken } from '../../domain/protection/undecided.ts';
import { onErrand } from '../line/errand.ts';
import type { Kind, Place, Sweeps } from '../line/sweeps.ts';

interface TurnsDeps {
  readonly sweeps: Sweeps;
  readonly clock: { now(): number };
  readonly rules: Pick<Rules, 'sweepMs' | 'followMs'>;
  /** Nobody else is to look after them before then, though nobody does now. */
  putOff(account: AccountId, until: Timestamp): Promise<void>;
  /** Its turn has come. */
  begin(account: AccountId): void;
}

interface Look {
  readonly account: Account;
  readonly all: readonly Protection[];
  readonly isUrgent: boolean;
}

export interface SweepTurns {
  /** `waits`: its turn has not come, and is told of. To be asked again every sweep meanwhile. */
  take(look: Look, keep: () => Promise<void>): Promise<'looked' | 'waits'>;
  /** Nothing of the account is kept any more; or of none. */
  leave(account?: AccountId): void;
}

const isStanding = ({ state }: Protection): boolean => state === 'standing' || state === 'unwatched';

/** What has no stop yet does not wait for what has one, and what nobody has looked at yet not for one that is refused again and again. */
export const mostUrgentFirst = (
  all: readonly Protection[],
  isLookedAt: (protection: Protection) => boolean,
): readonly Protection[] => {
  const rank = (one: Protection) => (one.state === 'standing' ? 2 : isLookedAt(one) ? 1 : 0);
  return all.toSorted((a, b) => rank(a) - rank(b));
};

/** Whoever waits for a turn does not wait longer. */
export const nextTimeStop = (all: readonly Protection[], now: number): number =>
  Math.min(
    ...all
      .flatMap(({ timeStopAt }) => (timeStopAt === null ? [] : millis(timeStopAt)))
      .filter((at) => at > now),
  );

export function createSweepTurns({ sweeps, clock, rules, putOff, begin }: TurnsDeps): SweepTurns {
  const places = new Map<AccountId, Place>();
  /** Whose turn has come, for what. */
  const come = new Map<AccountId, Kind>();

  function leave(account: AccountId): void {
    places.get(account)?.leave();
    places.delete(account);
  }

  const isQuiet = (protection: Protection): boolean =>
    isForsaken(protection, clock.now()) || (isStanding(protection) && isUndisturbed(protection));

  const isUndisturbed = (protection: Protection): boolean =>
    !isAwaiting(protection) &&
    protection.closesFor === null &&
    protection.suspendedAt === null &&
    protection.legs.every(isAtRest) &&
    (protection.timeStopAt === null || clock.now() < millis(protection.timeStopAt));

  /** By the price alone, as next-protection.ts does it between two sweeps. */
  const isFollowed = (protection: Protection): boolean =>
    followsPrice(protection) &&
    protection.seenAt !== null &&
    clock.now() - millis(protection.seenAt) < rules.sweepMs - rules.followMs;

  /** Asked again every sweep: where this worker dies, another has them soon. */
  async function wait({ account: { id }, all }: Look): Promise<'waits'> {
    const soon = clock.now() + rules.sweepMs * 1.5;
    if (all.some(({ dueAt }) => dueAt !== null && millis(dueAt) < soon))
      await putOff(id, timestamp(clock.now() + rules.sweepMs * 2));
    return 'waits';
  }

  return {
    async take(look, keep) {
      const { account, all, isUrgent } = look;
      const { id } = account;
      const venue = { broker: account.brokerName, environment: account.environment, account: id };
      const hasCome = come.get(id);
      come.delete(id);
      const kind = hasCome ?? (all.every(isFollowed) ? 'follow' : 'sweep');
      if (isUrgent || !all.every(isQuiet)) {
        leave(id);
        await (hasCome ? sweeps.run(venue, kind, keep, 'protection') : onErrand(() => 'protection', keep));
        return 'looked';
      }
      if (!hasCome && places.has(id)) return wait(look);
      const begins = () => {
        places.delete(id);
        come.set(id, kind);
        begin(id);
      };
      const place = hasCome ? null : sweeps.queue(venue, kind, begins);
      if (place) {
        places.set(id, place);
        return wait(look);
      }
      await sweeps.run(venue, kind, keep, 'sweep');
      return 'looked';
    },
    leave(account) {
      for (const id of account === undefined ? [...places.keys()] : [account]) leave(id);
    },
  };
}
