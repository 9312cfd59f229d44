// What is told of a change of a protection: a line of its own history, and, where its owner is to know, an entry in the audit log.

import { type Decimal, toNumber, toNumberOrNull } from '../decimal.ts';
import { millis } from '../ids.ts';
import { CLOSED_ELSEWHERE, type Protection } from './protection.ts';
import { isGivenUp } from './recognise.ts';

export interface HistoryLine {
  readonly what: string;
  readonly from: Decimal | null;
  readonly to: Decimal | null;
  /** An order's id, or what moved it. */
  readonly by: string | null;
}

const PROTECTION_ACTIONS = [
  'protection_set',
  'protection_removed',
  'protection_triggered',
  'protection_restored',
  'protection_failed',
  'position_unprotected',
  'position_unprotected_ended',
] as const;
type ProtectionAction = (typeof PROTECTION_ACTIONS)[number];

/** What is protected with: a stop that is away is another thing than a target. */
export type ToldLeg = 'stop' | 'target';

export interface ToldEntry {
  readonly action: ProtectionAction;
  /** Why, in the broker's words or ours; null: it is no failure. */
  readonly failure: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface Told {
  readonly history: readonly HistoryLine[];
  readonly audit: readonly ToldEntry[];
}

/** Nothing closes the position at the broker, and that has lasted, or nobody can do anything about it. */
export const isUnprotected = ({
  state,
  unprotectedSince,
}: Pick<Protection, 'state' | 'unprotectedSince'>): boolean =>
  state === 'unprotected' || (state === 'unwatched' && unprotectedSince !== null);

/** So many refusals of a stop are told one by one: the later ones say the same every time. */
const TOLD_REFUSALS = 4;

export function changesOf(before: Protection, after: Protection, now: number): Told {
  const history: HistoryLine[] = [];
  const audit: ToldEntry[] = [];
  const [from, to] = [before.stop?.price ?? null, after.stop?.price ?? null];
  const tell = (action: ProtectionAction, metadata: ToldEntry['metadata'], failure: string | null = null) =>
    audit.push({ action, metadata, failure });
  const isSet = before.adopted?.order !== after.adopted?.order;
  if (isSet) {
    history.push({ what: 'set', from, to, by: after.setBy });
    const isRemoved = after.stop === null && after.targets.length === 0 && after.timeStopAt === null;
    tell(isRemoved ? 'protection_removed' : 'protection_set', isRemoved ? {} : wantedOf(after));
  } else if (from !== to) {
    // A stop that follows, or goes to break even, moves by itself.
    const by = after.stop?.kind === 'stop_loss' ? after.setBy : (after.stop?.kind ?? null);
    const isFound = before.isResumed && !after.isResumed;
    // One that was left: it stood there when it was looked at again.
    history.push(isFound ? { what: 'found', from, to, by: null } : { what: 'moved', from, to, by });
  }
  for (const leg of ['stop', 'target'] as const) {
    const times = leg === 'stop' ? after.restoredAt : after.targetsRestoredAt;
    const last = times.at(-1);
    const isSame = last === (leg === 'stop' ? before.restoredAt : before.targetsRestoredAt).at(-1);
    if (last === undefined || isSame) continue;
    const price = leg === 'stop' ? to : null;
    if (isGivenUp(times, millis(last))) {
      history.push({ what: `${leg}_not_restored`, from: null, to: price, by: null });
      // Of a stop the position is told as unprotected.
      if (leg === 'target') tell('protection_failed', { leg, is_given_up: true }, GIVEN_UP_TARGET);
      continue;
    }
    history.push({ what: leg === 'stop' ? 'restored' : 'target_restored', from: null, to: price, by: null });
    const isLast = isGivenUp([...times, last], millis(last));
    tell('protection_restored', { leg, times_in_an_hour: times.length, is_last: isLast });
  }
  const expired = after.expiredAt.at(-1);
  if (expired !== undefined && expired !== before.expiredAt.at(-1)) {
    history.push({ what: 'expired', from: null, to, by: null });
    // One that expires again and again is told as unprotected.
    if (!isGivenUp(after.expiredAt, millis(expired)))
      tell('protection_restored', { leg: 'stop', has_expired: true });
  }
  if (after.refused !== null && after.refused.lastAt !== before.refused?.lastAt) {
    const { times, words } = after.refused;
    if (times <= TOLD_REFUSALS || words !== before.refused?.words)
      history.push({ what: 'refused', from: null, to, by: words });
    // One that the price has passed is closed for that, and told so.
    if (before.refused === null && after.closesFor === null)
      tell('protection_failed', { leg: 'stop', state: after.state }, words);
  }
  if (before.targetsAgainAt === null && after.targetsAgainAt !== null) {
    history.push({ what: 'target_refused', from: null, to: null, by: after.reason });
    tell('protection_failed', { leg: 'target', state: after.state }, after.reason ?? 'refused');
  }
  if (after.state !== before.state) {
    const isExplained = after.state === 'ended' || after.state === 'unwatched';
    history.push({ what: after.state, from: null, to, by: isExplained ? after.reason : null });
    // Nothing can stand there any more: the broker does not list the instrument.
    const isUnlisted =
      after.state === 'ended' &&
      after.reason !== null &&
      after.reason !== before.reason &&
      after.reason !== CLOSED_ELSEWHERE;
    if (isUnlisted) tell('protection_failed', { leg: 'stop', state: after.state }, after.reason);
  }
  if (isUnprotected(after) && !isUnprotected(before))
    tell('position_unprotected', {
      since: after.unprotectedSince,
      reason: after.reason,
      is_given_up: isGivenUp(after.restoredAt, now),
    });
  else if (isUnprotected(before) && OVER.has(after.state))
    tell('position_unprotected_ended', { since: before.unprotectedSince, state: after.state });
  return { history, audit };
}

const GIVEN_UP_TARGET =
  'A target was taken away or changed at the broker again and again, and is not put back any more.';

const OVER: ReadonlySet<Protection['state']> = new Set(['standing', 'ended', 'left']);

/** What was set, in figures. */
const wantedOf = ({ targets, trail, breakEven, timeStopAt }: Protection) => ({
  take_profit: targets.map(({ price, percent }) => ({ price: toNumber(price), percent: toNumber(percent) })),
  trailing_stop: toNumberOrNull(trail?.distance ?? null),
  break_even: breakEven && (breakEven.at === 'tp1' ? breakEven.at : toNumber(breakEven.at)),
  time_stop_at: timeStopAt,
});
