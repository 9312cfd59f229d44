// What became of a signal, in words, from what the list of signals tells. Nothing is guessed: how much was closed and how
// much opened is in the story.

import type { components } from '../../api/schema.ts';
import { figure, heldInWords } from '../../parts/numbers.ts';

type Signal = components['schemas']['SignalSummary'];
type Order = components['schemas']['OrderSummary'];

const BUYS = new Set(['buy', 'long_entry', 'close_short', 'short_exit']);
const CLOSES = new Set(['close', 'close_long', 'close_short', 'long_exit', 'short_exit']);

const UNDER_WAY = new Set(['queued', 'executing', 'placed', 'unknown']);

const ENDED: Readonly<Record<string, string>> = {
  queued: 'On its way to the broker',
  executing: 'On its way to the broker',
  placed: 'At the broker, not filled yet',
  unknown: 'The broker’s answer was lost; it is asked about it',
  done: 'Nothing had to be traded',
  rejected: 'The broker rejected it, or nothing could be sent',
  failed: 'It failed after something was sent',
  cancelled: 'It was cancelled at the broker',
  expired: 'It expired before it could be filled',
};

/** `order`: where it is at hand, for the broker's or the guard's own reason. */
export function whatHappened(signal: Signal, order?: Pick<Order, 'error'>): string {
  const { outcome, detail, code, order_status } = signal;
  if (outcome === 'refused') return withoutStop(detail ?? code ?? 'It was refused');
  if (order_status === null)
    return outcome === 'sync' ? 'The strategy said where it stands; nothing had to be traded' : '';
  if (order_status === 'filled' || order_status === 'partially_filled') return filled(signal);
  if (order?.error && !UNDER_WAY.has(order_status)) return withoutStop(order.error.message);
  return ENDED[order_status] ?? order_status;
}

function filled({ action, order_status, position_before, fill_price }: Signal): string {
  const at = fill_price === null ? '' : ` at ${figure(fill_price)}`;
  const part = order_status === 'partially_filled' ? ', in part' : '';
  if (position_before === null || action === null) return `Filled${at}${part}`;
  if (CLOSES.has(action) && position_before !== 0)
    return `${action === 'close' && !part ? 'Closed' : 'Closed of'} ${heldInWords(position_before)}${at}${part}`;
  const side = BUYS.has(action) ? 1 : -1;
  if (action === 'sync') return `Aligned from ${heldInWords(position_before)}${at}${part}`;
  if (position_before === 0) return `Opened ${side > 0 ? 'long' : 'short'}${at}${part}`;
  if (position_before * side > 0) return `Added to ${heldInWords(position_before)}${at}${part}`;
  return `${side > 0 ? 'Bought' : 'Sold'}${at}${part}, was ${heldInWords(position_before)}`;
}

/** A sentence in a table has no full stop at its end. */
const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');
