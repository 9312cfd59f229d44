// Which events there are in what the audit log says of protections, and in the closes that they make. A close is told once, as
// what it was (a stop or a target that was hit), and not as a fill besides.

import type { AccountId, Timestamp, UserId } from '../ids.ts';
import type { Order } from '../orders/order.ts';
import type { ExitReason } from '../protection/protection.ts';
import { type Event, type EventKind, oneLine } from './notification.ts';
import { EXIT_WORDS } from './protection-words.ts';

interface ProtectionEntry {
  readonly userId: UserId;
  readonly action: string;
  readonly at: Timestamp;
  readonly accountId: AccountId | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const KINDS = {
  protection_restored: 'protection_restored',
  protection_failed: 'protection_failed',
  protection_left: 'protection_failed',
  position_unprotected: 'unprotected',
  position_unprotected_ended: 'unprotected',
} as const satisfies Record<string, EventKind>;
type ToldAction = keyof typeof KINDS;

export const TOLD_OF_PROTECTION: readonly string[] = Object.keys(KINDS);
const isTold = (action: string): action is ToldAction => Object.hasOwn(KINDS, action);

/** Those that may tell of an order which closes the position. */
export const CLOSING_ACTIONS: readonly string[] = ['protection_triggered', 'protection_failed'];

/** The order that closes the position; null: the entry is of something else. */
export const closeIn = (metadata: ProtectionEntry['metadata']): string | null =>
  metadata.exit_reason !== undefined && typeof metadata.order_id === 'string' ? metadata.order_id : null;

/** null: the order that it tells of is told instead, or it is a rehearsal. */
export function protectionEvent(entry: ProtectionEntry, account: string): Event | null {
  const { action, metadata, at, userId, accountId } = entry;
  if (!isTold(action) || metadata.simulation === true || closeIn(metadata) !== null) return null;
  return {
    ...{ at, userId, accountId },
    kind: KINDS[action],
    title: titleOf(action, metadata),
    text: `${oneLine(account)}: ${oneLine(String(metadata.text ?? ''), MOST_OF_A_TEXT)}`,
    path: '/positions',
    data: {
      action,
      trading_account_id: accountId,
      symbol: metadata.symbol ?? null,
      side: metadata.side ?? null,
      stop_loss: metadata.stop_loss ?? null,
      order_id: metadata.caused_by ?? null,
    },
  };
}

/** A few sentences, and the broker's words among them. */
const MOST_OF_A_TEXT = 1_000;

function titleOf(action: ToldAction, { leg, state, is_given_up }: ProtectionEntry['metadata']): string {
  switch (action) {
    case 'protection_restored':
      return leg === 'target' ? 'A target was put back' : 'A stop was put back';
    case 'protection_failed':
      if (state === 'ended') return 'Nothing protects the position any more';
      if (leg !== 'target') return 'The broker refuses a stop';
      return is_given_up === true ? 'A target is not put back any more' : 'The broker refuses a target';
    case 'protection_left':
      return 'A stop is no longer watched';
    case 'position_unprotected':
      return 'A position has no stop';
    case 'position_unprotected_ended':
      return state === 'standing'
        ? 'The position is protected again'
        : 'The position without a stop has ended';
  }
}

/** What a fill of an order is told as: of a close that protection made, as what was hit. */
export const fillTold = ({ exitReason }: Order): readonly [kind: EventKind, title: string] =>
  exitReason === undefined ? ['fill', 'Fill'] : HITS[exitReason];

const HITS: Readonly<Record<ExitReason, readonly [kind: EventKind, title: string]>> = {
  stop_loss: ['stop_hit', 'The stop was hit'],
  trailing_stop: ['stop_hit', 'The trailing stop was hit'],
  break_even: ['stop_hit', 'The stop at break-even was hit'],
  time_stop: ['stop_hit', 'Closed by the time stop'],
  take_profit: ['target_hit', 'A target was hit'],
  unprotected: ['protection_failed', 'Closed, because the broker took no stop'],
};

/** "The stop was reached. ", before what was asked. */
export const whyClosed = ({ exitReason }: Order): string =>
  exitReason === undefined ? '' : `${EXIT_WORDS[exitReason]} `;
