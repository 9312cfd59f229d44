// What protects a position: where its stop and its targets are to stand (the wanted state), and what was done about that at
// the broker (the legs). One per account, instrument, mode and side. next-protection.ts decides what to do next.

import { createHash } from 'node:crypto';
import type { BrokerName } from '../brokers.ts';
import { add, compare, type Decimal, sign, subtract, ZERO } from '../decimal.ts';
import type { AccountId, ClientOrderId, OrderId, Timestamp, UserId } from '../ids.ts';
import type { Direction, Side } from '../side.ts';
import type { TriggerBy } from './settings.ts';

export const EXIT_REASONS = [
  'stop_loss',
  'trailing_stop',
  'break_even',
  'take_profit',
  'time_stop',
  'unprotected',
] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

/** What set the stop where it stands. */
export type StopKind = Extract<ExitReason, 'stop_loss' | 'trailing_stop' | 'break_even'>;

export const PROTECTION_STATES = [
  /** Wanted, and not seen to stand yet. */
  'armed',
  'standing',
  /** Taken away for an exit that needs what it reserves, or for an entry that is not taken beside it. */
  'suspended',
  'unprotected',
  /** It stands, and nobody can look: the broker refuses the credentials. */
  'unwatched',
  /** It stands, and nobody looks after it until its owner says so: restored from a backup, or at an account that is not connected any more. */
  'left',
  'ended',
] as const;
export type ProtectionState = (typeof PROTECTION_STATES)[number];

export interface WantedStop {
  readonly price: Decimal;
  readonly kind: StopKind;
}

export interface WantedTarget {
  readonly price: Decimal;
  /** Of the position. */
  readonly percent: Decimal;
  /** What it has closed so far. */
  readonly closed: Decimal;
  /** It has closed all that it was to close, and stays filled. */
  readonly isFilled: boolean;
}

export interface Trail {
  /** In units of the price. */
  readonly distance: Decimal;
  /** It follows once the price was here; null: from the first price that is better than the entry. */
  readonly activateAt: Decimal | null;
  /** The entry's: it follows from the first price that is better. */
  readonly from: Decimal;
  /** The best price seen since. */
  readonly best: Decimal;
}

export interface BreakEven {
  /** A price, or when the first target is filled. */
  readonly at: Decimal | 'tp1';
  /** Where the stop goes then. */
  readonly to: Decimal;
}

/** `sending`: it may be there, only the broker knows; `taken`: the broker says so; `standing`: the broker shows it. */
type ProtectiveStatus = 'sending' | 'taken' | 'standing';

/** One order of ours at the broker: a stop, a target, or, where the broker reserves, a target with a stop beside it. */
export interface ProtectiveLeg {
  /** 0: the stop; 1 to 5: that target. */
  readonly level: number;
  readonly revision: number;
  readonly clientOrderId: ClientOrderId;
  /** By which it went before it was overwritten: some brokers keep the first. */
  readonly formerIds: readonly ClientOrderId[];
  readonly brokerRef: string | null;
  readonly status: ProtectiveStatus;
  /** Of its stop, when it was sent; null: it has none. */
  readonly kind: StopKind | null;
  readonly quantity: Decimal;
  /** Of a target; null: of a stop. */
  readonly limit: Decimal | null;
  /** null: of a target that has none beside it. */
  readonly stop: Decimal | null;
  /** Which price it watches, as it was sent; null: nobody knows. */
  readonly triggerBy: TriggerBy | null;
  /** Of a target, as far as it is known while it rests. */
  readonly filled: Decimal;
  /** So much of that counts with the strategy as closed by now; without it nothing does. */
  readonly counted?: Decimal;
  readonly sentAt: Timestamp;
  /** We have asked for its end, or it is not wanted any more. */
  readonly isLeaving: boolean;
  /** The broker does not move it: another has to take its place. */
  readonly isStuck: boolean;
  /** Since when the broker neither shows nor knows it: it may have been filled, and is looked for a while longer. */
  readonly missingSince: Timestamp | null;
  /** Since when it has triggered, and its order has not ended. */
  readonly triggeredAt: Timestamp | null;
  /** When another was sent in its place, because nobody knew it any more. */
  readonly replacedAt: Timestamp | null;
}

/** How often the broker has refused the stop, in a row, and in which words. */
interface Refused {
  readonly times: number;
  readonly firstAt: Timestamp;
  readonly lastAt: Timestamp;
  readonly words: string;
}

/** It has refused it once more. */
export const refusedOnceMore = (before: Refused | null, words: string, at: Timestamp): Refused => ({
  ...{ times: (before?.times ?? 0) + 1, firstAt: before?.firstAt ?? at, lastAt: at, words },
});

export interface Protection {
  readonly id: string;
  readonly version: number;
  readonly userId: UserId;
  readonly accountId: AccountId;
  readonly brokerName: BrokerName;
  readonly simulation: boolean;
  /** As the order that set it had it. */
  readonly symbol: string;
  /** The broker's own, pinned. */
  readonly instrument: string;
  readonly side: Direction;
  readonly state: ProtectionState;
  /** Why, for a person; null where there is nothing to say. */
  readonly reason: string | null;
  /** Orders whose wish is yet to be taken in, the first one first: as long as nobody knows what became of one, it is among them. */
  readonly wantedBy: readonly OrderId[];
  /** The order that set it last. */
  readonly setBy: OrderId;
  /** Whose wish was taken in last, and from which price its distances count; null: none was yet. */
  readonly adopted: { readonly order: OrderId; readonly entry: Decimal } | null;
  /** Of those that it is wanted by: whose wish was taken in already. */
  readonly heard: readonly OrderId[];
  /**
   * Orders that have ended, and whose wish is taken in once it is shown at which price the position is held. Where none is held any more
   * they ask for nothing. Older programs keep none.
   */
  readonly unpriced?: readonly OrderId[];
  readonly stop: WantedStop | null;
  readonly targets: readonly WantedTarget[];
  readonly trail: Trail | null;
  readonly breakEven: BreakEven | null;
  readonly timeStopAt: Timestamp | null;
  /** Of the next leg: no two have the same. */
  readonly revision: number;
  readonly legs: readonly ProtectiveLeg[];
  readonly refused: Refused | null;
  /** When the stop was put back after somebody else had taken it away or changed it; of the last hour. And when targets were. */
  readonly restoredAt: readonly Timestamp[];
  readonly targetsRestoredAt: readonly Timestamp[];
  /** When a stop was found to have expired at the broker; of the last hour. */
  readonly expiredAt: readonly Timestamp[];
  /** When the stop was last moved by itself. */
  readonly movedAt: Timestamp | null;
  /** A target was refused: it is tried again after this. */
  readonly targetsAgainAt: Timestamp | null;
  /** Since when an exit has what it reserves. */
  readonly suspendedAt: Timestamp | null;
  /** What is still held is to be closed at the market, since the stop that was set so was passed; null: it is protected. */
  readonly closesFor: StopKind | null;
  /** The order that closes the position for it, and when it was asked for. */
  readonly closing: { readonly order: OrderId; readonly at: Timestamp } | null;
  /** It was left, and is kept again: what stands at the broker is looked at before anything is decided. `asked`: a `protect` speaks of the position. */
  readonly isResumed: boolean | 'asked';
  /** Those of the account with which it was last looked at; null: nobody has looked yet. */
  readonly credentialsVersion: number | null;
  readonly unprotectedSince: Timestamp | null;
  /** From the first fill that was known until its stop was first seen. */
  readonly unprotectedMs: number | null;
  readonly seenAt: Timestamp | null;
  /** When the broker last showed that something is held, whatever our own fills said. Older programs keep `seenAt` alone. */
  readonly heldAt?: Timestamp | null;
  /** Then somebody looks after it, whose worker is gone; a worker knows better when to look again. */
  readonly dueAt: Timestamp | null;
}

/** Why it ended, where neither a leg nor an order of ours has closed the position. */
export const CLOSED_ELSEWHERE =
  'closed_elsewhere: the position was closed at the broker by somebody else, by hand or by the broker itself.';

/** What closes the position. */
export const closingSide = ({ side }: Pick<Protection, 'side'>): Side => (side === 'long' ? 'sell' : 'buy');

/** For who is long a higher price is better, for who is short a lower one. */
export const isBetter = (side: Direction, price: Decimal, than: Decimal): boolean =>
  compare(price, than) === (side === 'long' ? 1 : -1);

const PREFIXES = { stop: 'fs', target: 'fp' } as const;

/** Derived, never drawn, as an order's legs are: whoever takes over asks for the very id that was used. */
export function protectiveId(protection: string, level: number, revision: number): ClientOrderId {
  const digest = createHash('sha256').update(`${protection}:${level}:${revision}`).digest('hex');
  const tail = BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-22);
  return `${level === 0 ? PREFIXES.stop : PREFIXES.target}${tail}` as ClientOrderId;
}

/** Of a stop or an order at the broker, whoever sent it. */
const isProtective = (id: string): boolean => /^f[sp][0-9a-z]{22}$/.test(id);

/** What a target has closed so far, with what it has filled and not ended. */
export const closedBy = ({ targets, legs }: Pick<Protection, 'targets' | 'legs'>, level: number): Decimal =>
  legs.reduce<Decimal>(
    (sum, leg) => (leg.level === level ? add(sum, leg.filled) : sum),
    targets[level - 1]?.closed ?? ZERO,
  );

/** Of targets that were replaced: what it has filled is none of theirs. */
export const FORMER_TARGET = 6;

/** Of an order that rests. */
export const leftOf = ({ quantity, filled }: Pick<ProtectiveLeg, 'quantity' | 'filled'>): Decimal =>
  subtract(quantity, filled);

/** So many legs back: what was sent longer ago than that is no leg of anybody's any more. */
const MOST_PAST = 200;

/** Which leg of this protection has the id: a stop or a target, whichever it begins like. null: none. */
export function legNamed(
  { id, revision }: Pick<Protection, 'id' | 'revision'>,
  name: string,
): Pick<ProtectiveLeg, 'level' | 'revision'> | null {
  if (!isProtective(name)) return null;
  const levels = name.startsWith(PREFIXES.stop) ? [0] : [1, 2, 3, 4, 5];
  for (let past = revision - 1; past > Math.max(0, revision - MOST_PAST); past--)
    for (const level of levels) if (protectiveId(id, level, past) === name) return { level, revision: past };
  return null;
}

export const isLegOf = (protection: Pick<Protection, 'id' | 'revision'>, name: string): boolean =>
  legNamed(protection, name) !== null;

export const isWatched = ({ state }: Pick<Protection, 'state'>): boolean =>
  state !== 'ended' && state !== 'left';

/** Something is wanted at the broker, or by the clock. */
export const wantsSomething = ({ stop, targets, trail, timeStopAt }: Protection): boolean =>
  stop !== null || trail !== null || timeStopAt !== null || targets.some(({ isFilled }) => !isFilled);

/** A wish is yet to be taken in. */
export const isAwaiting = ({ wantedBy, unpriced = [] }: Pick<Protection, 'wantedBy' | 'unpriced'>): boolean =>
  wantedBy.length + unpriced.length > 0;

export const isPositive = (amount: Decimal): boolean => sign(amount) > 0;
