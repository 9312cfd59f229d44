// Whether its owner may say what became of an order, as the service decides it; and which leg that is about.

import type { components } from '../../api/schema.ts';

type Order = components['schemas']['OrderRecord'];
export type Leg = components['schemas']['Leg'];

const AFTER_MS = 10 * 60_000;
const OPEN: ReadonlySet<string> = new Set(['sending', 'unknown', 'placed', 'partially_filled']);

export const openLegOf = ({ legs }: Pick<Order, 'legs'>): Leg | undefined =>
  legs.find(({ status }) => OPEN.has(status));

export function isSettleable(order: Order, now: number): boolean {
  const { status, verification, submitted_at, trace } = order;
  if (status === 'queued' || status === 'executing') return false;
  if (verification.state === 'dead_letter') return openLegOf(order) !== undefined;
  const since = Date.parse(submitted_at) + (trace.answered ?? 0);
  return status === 'unknown' && now - since >= AFTER_MS;
}

export type Said =
  | { readonly outcome: 'filled'; readonly price: number; readonly quantity: number }
  | { readonly outcome: 'not_filled' };

/** Of what was typed; `most`: what was sent, null: not known. */
export function readSaid(
  given: { readonly outcome: string; readonly price: string; readonly quantity: string },
  most: number | null,
): Said | { readonly problem: string } {
  if (given.outcome === 'not_filled') return { outcome: 'not_filled' };
  if (given.outcome !== 'filled') return { problem: 'Say whether it was filled.' };
  const [price, quantity] = [readNumber(given.price), readNumber(given.quantity)];
  if (price === null) return { problem: 'The price is a number above zero.' };
  if (quantity === null) return { problem: 'The quantity is a number above zero.' };
  if (most !== null && quantity > most) return { problem: `No more than ${most} was sent.` };
  return { outcome: 'filled', price, quantity };
}

function readNumber(text: string): number | null {
  const plain = text.trim().replace(/,/g, '');
  return /^\d*\.?\d+$/.test(plain) && Number(plain) > 0 ? Number(plain) : null;
}
