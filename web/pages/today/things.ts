// What each thing to do asks of the user: its one button.

import type { components } from '../../api/schema.ts';
import { figure } from '../../parts/numbers.ts';
import { alignOrder } from '../../parts/standing.ts';
import { ageInWords } from '../../parts/times.ts';

type Todo = components['schemas']['Todo'];

export type Way =
  | { readonly does: 'look' | 'accept_terms'; readonly words: string }
  | { readonly does: 'align' | 'protect' | 'resume'; readonly words: string }
  | {
      readonly does: 'open_story' | 'open_account' | 'open_notifications';
      readonly words: string;
    };

/** An ellipsis on a button means that it asks once more. Null: nothing can be done from here. */
export function wayOn(todo: Todo): Way | null {
  switch (todo.kind) {
    case 'unprotected':
      return { does: 'protect', words: 'Try the stop again now' };
    case 'protection_not_restored':
      return { does: 'protect', words: 'Put the stop back now' };
    case 'protection_left':
      return { does: 'resume', words: 'Watch and keep it again' };
    case 'protection_unwatched':
      return { does: 'open_account', words: 'Enter new credentials' };
    case 'unknown_order':
      // Nobody asks, since there is nothing at the broker to look for by itself: its owner says what became of it.
      if (todo.next_at === null) return { does: 'open_story', words: 'Open its story' };
      return { does: 'look', words: 'Look now' };
    case 'dead_letter':
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

/** Its position is in danger, and can be seen and set right on its page. */
export const isBare = ({ kind }: Pick<Todo, 'kind'>): boolean =>
  kind === 'unprotected' || kind === 'protection_not_restored';

/** `held`: signed; undefined: it is not known. The other way out of it. */
export function closeInWords(symbol: string, held: number | undefined): string {
  if (!held) return `Close ${symbol}, be flat…`;
  return `${held > 0 ? 'Sell' : 'Buy'} ${figure(Math.abs(held))} ${symbol}, be flat…`;
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
      : alignOrder({ symbol, quantity: broker_position, strategy_position, in_sync: false });
  return order?.button ?? `Align ${symbol}`;
};

/** When the broker is asked next; null: nobody asks of himself. */
export function nextLook({ next_at }: Todo, now: number): string | null {
  if (!next_at) return null;
  const ahead = Date.parse(next_at) - now;
  return ahead < 1000 ? 'The next one is being made now.' : `The next in ${ageInWords(ahead)}.`;
}
