// What each thing to do asks of the user: its one button, and the order that aligning would send.

import type { components } from '../../api/schema.ts';
import { minus } from '../../parts/exact.ts';
import { figure } from '../../parts/numbers.ts';
import { ageInWords } from '../../parts/times.ts';

type Todo = components['schemas']['Todo'];

export type Way =
  | { readonly does: 'look' | 'accept_terms'; readonly words: string }
  | { readonly does: 'align'; readonly words: string }
  | { readonly does: 'open_story' | 'open_account' | 'open_notifications'; readonly words: string };

/** An ellipsis on a button means that it asks once more. Null: nothing can be done from here. */
export function wayOn(todo: Todo): Way | null {
  switch (todo.kind) {
    case 'dead_letter':
    case 'unknown_order':
      return { does: 'look', words: 'Look now' };
    case 'failed_reversal':
      return { does: 'open_story', words: 'Open its story' };
    case 'drift_excess':
    case 'drift_missing':
      return { does: 'align', words: `${alignInWords(todo)}…` };
    case 'terms_not_accepted':
      return { does: 'accept_terms', words: 'Read and accept…' };
    case 'credentials_refused':
      return { does: 'open_account', words: 'Enter new credentials' };
    case 'credentials_not_verified':
      return { does: 'open_account', words: 'Verify the credentials' };
    case 'credentials_missing':
      return { does: 'open_account', words: 'Enter the credentials' };
    case 'silence':
      return { does: 'open_account', words: 'See its alert message' };
    case 'key_can_withdraw':
      return { does: 'open_account', words: 'Enter another key' };
    case 'notification_dead':
      return { does: 'open_notifications', words: 'See the destination' };
    default:
      return wayOnOfUnknown(todo);
  }
}

/** A newer service may know things that this page does not: what it says of them is shown, and where they are. */
function wayOnOfUnknown({ order_id, trading_account_id }: Todo): Way | null {
  if (order_id) return { does: 'open_story', words: 'Open its story' };
  return trading_account_id ? { does: 'open_account', words: 'Open the account' } : null;
}

export const markOf = ({ kind, severity }: Todo): 'unknown' | 'differs' | Todo['severity'] =>
  kind === 'dead_letter' || kind === 'unknown_order'
    ? 'unknown'
    : kind === 'drift_excess' || kind === 'drift_missing'
      ? 'differs'
      : severity;

const alignInWords = ({ symbol = '', strategy_position, broker_position }: Todo): string => {
  const order =
    strategy_position === undefined || broker_position === undefined || broker_position === null
      ? null
      : alignOrder(strategy_position, broker_position);
  return order ? `${order.sentence} ${symbol} to align` : `Align ${symbol}`;
};

export interface AlignOrder {
  readonly side: 'buy' | 'sell';
  readonly quantity: number;
  /** `Sell 40`. */
  readonly sentence: string;
  /** What is closed first, where the account stands on the other side. */
  readonly closesFirst: string | null;
}

/** What takes the account from where it stands to where the strategy does; null: it stands there. */
export function alignOrder(strategy: number, broker: number): AlignOrder | null {
  const change = minus(strategy, broker);
  if (change === 0) return null;
  const side = change > 0 ? 'buy' : 'sell';
  const quantity = Math.abs(change);
  const isReversal = strategy !== 0 && broker !== 0 && strategy > 0 !== broker > 0;
  return {
    side,
    quantity,
    sentence: `${side === 'buy' ? 'Buy' : 'Sell'} ${figure(quantity)}`,
    closesFirst: isReversal
      ? `It closes ${broker > 0 ? 'long' : 'short'} ${figure(Math.abs(broker))}, waits for the fill, then ${side === 'buy' ? 'buys' : 'sells'} ${figure(Math.abs(strategy))}.`
      : null,
  };
}

/** When the broker is asked next; null: nobody asks of himself. */
export function nextLook({ next_at }: Todo, now: number): string | null {
  if (!next_at) return null;
  const ahead = Date.parse(next_at) - now;
  return ahead < 1000 ? 'The next one is being made.' : `The next in ${ageInWords(ahead)}.`;
}
