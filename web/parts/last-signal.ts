// A signal that came, as it would be sent again: for what it would do now.

import type { components } from '../api/schema.ts';
import { figure } from './numbers.ts';
import { countedInWords, type QuantityType } from './sizes.ts';

type SignalRecord = components['schemas']['SignalRecord'];
type Said = Pick<SignalRecord, 'action' | 'symbol' | 'quantity' | 'understood'>;

/** "buy 0.4 BTCUSDT.P", "buy 3,000 in money of SOLUSDT.P", "close BTCUSDT.P" */
export function saidInWords({ action, symbol, quantity, understood }: Said): string {
  const type = (understood as { quantity_type?: QuantityType } | null)?.quantity_type ?? 'units';
  const size = !quantity
    ? null
    : type === 'units'
      ? figure(quantity)
      : `${countedInWords(quantity, type)} of`;
  return [action, size, symbol].filter((part) => part !== null).join(' ');
}

/** All that it said, with the time of now; null: it was no message that can be read, or is no longer kept. */
export function messageAgain({ message }: Pick<SignalRecord, 'message'>, now: Date): string | null {
  try {
    const said: unknown = JSON.parse(message ?? 'null');
    if (typeof said !== 'object' || said === null) return null;
    // Whoever is logged in need not prove it; its own check is not shown.
    return JSON.stringify({ ...said, timestamp: now.toISOString(), secret: 'not asked for' });
  } catch {
    return null;
  }
}
