// What is said about an order besides its headline: who made it, the way on, and what the broker said of it.

import type { components } from '../../api/schema.ts';
import { figure } from '../../parts/numbers.ts';

type Schemas = components['schemas'];
type Order = Schemas['OrderRecord'];
type Entry = Pick<Schemas['AuditEntry'], 'action' | 'metadata'>;

/** Of an order that no signal made; null: a signal did, or it is not known yet. */
export function placedBy(
  { source, action, operation }: Pick<Order, 'source' | 'action' | 'operation'>,
  audit: readonly Entry[] | undefined,
): string | null {
  if (source === 'protection') return 'made by what protects the position';
  if (source !== 'dashboard') return null;
  // Only an alignment is a sync that trades and came from no signal.
  if (action === 'sync') return 'placed by Align, to where the strategy stands';
  const byHand = 'placed by hand or with an API key';
  if (operation !== 'CLOSE_POSITION') return byHand;
  // The kill switch closes as a person does; its audit entry alone tells them apart.
  const made = audit?.find((entry) => entry.action === 'dashboard_order');
  if (!made) return audit ? 'placed without a signal' : null;
  return made.metadata['kill_switch'] === true ? 'placed by the kill switch, to close what was held' : byHand;
}

export interface WayOn {
  readonly advice: string;
  readonly nextOpen: string | null;
}

/** null: the order is in order. */
export const wayOnOf = (error: Order['error']): WayOn | null =>
  error && { advice: error.advice, nextOpen: error.market_hours?.next_open ?? null };

export interface BrokerWord {
  readonly about: string;
  readonly said: string;
  readonly at: string | null;
}

/** Codes under which the message has the broker's words, whatever the order's status is. */
const THEIRS: ReadonlySet<string> = new Set(['failed_at_broker', 'cancelled_by_broker']);

/** All that is kept of it. Its raw answers are not. `currency`: of its fees. */
export function brokerWords(order: Order, lastLook: string | null, currency: string | null): BrokerWord[] {
  const { legs, status, error, exit_order_result: exit } = order;
  const words = legs.flatMap(({ leg, broker_ref, acked_at, filled_at, fill_quantity, fill_price, fee }) => [
    ...(acked_at === null && broker_ref === null
      ? []
      : [{ about: `${leg}, acknowledged`, said: broker_ref ?? 'no reference given', at: acked_at }]),
    ...(fill_quantity
      ? [
          {
            about: `${leg}, filled`,
            said: fillInWords(fill_quantity, fill_price, fee, currency),
            at: filled_at,
          },
        ]
      : []),
  ]);
  const ofExit = exit?.error ?? null;
  return [
    ...words,
    ...(ofExit && ofExit.message !== error?.message
      ? [{ about: `exit, ${exit?.status}`, said: ofExit.message, at: null }]
      : []),
    ...(error && (status === 'rejected' || THEIRS.has(error.code))
      ? [{ about: status, said: error.message, at: null }]
      : []),
    // Where nobody knows, it stands with the looks.
    ...(lastLook !== null && status !== 'unknown' ? [{ about: 'last look', said: lastLook, at: null }] : []),
  ];
}

function fillInWords(
  quantity: number,
  price: number | null,
  fee: number | null,
  currency: string | null,
): string {
  const at = price === null ? '' : ` at ${figure(price)}`;
  return `${figure(quantity)}${at}${fee === null ? '' : `, fee ${amountInWords(fee, currency)}`}`;
}

/** With its unit, where that is known. */
export const amountInWords = (amount: number, currency: string | null): string =>
  [figure(amount), currency].filter((word) => word !== null).join(' ');
