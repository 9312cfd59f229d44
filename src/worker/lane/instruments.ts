// What an order's symbol means at the broker: one instrument; or, where it rolls, the current month and every other in which
// something was opened under it.

import type { Instrument } from '../../broker/broker.ts';
import type { Order, OrderError } from '../../domain/orders/order.ts';
import { isExit } from '../../domain/orders/patience.ts';
import type { Line } from '../line/line.ts';

export interface Instruments {
  /** The broker's name for what the symbol means now, or why it has none. */
  readonly meant: string | { readonly rejection: OrderError };
  /** All that may be held under it, the oldest first and the current one last. */
  readonly all: readonly Instrument[];
  has(name: string): boolean;
  /** By the broker's name; without one, what the symbol means now. */
  get(name: string | null | undefined): Instrument;
}

export async function resolveAll(
  line: Line,
  { symbol, legs, intent }: Pick<Order, 'symbol' | 'legs' | 'intent'>,
  months: () => Promise<readonly string[]>,
): Promise<Instruments> {
  const meant = await line.resolve(symbol);
  const current = 'rejection' in meant ? null : meant;
  const own = legs.flatMap(({ instrument }) => (instrument === null ? [] : [instrument]));
  const names = new Set([...(await months()), ...own].filter((name) => name !== current?.symbol));
  const others: Instrument[] = [];
  for (const name of names) {
    const month = await line.resolve(name);
    // One that the broker no longer has is settled, and nobody holds it.
    if (!('rejection' in month) && month.symbol !== current?.symbol) others.push(month);
  }
  const all = current ? [...others, current] : others;
  // Who only closes need not know what the symbol means now, where something was opened under it.
  const closes = isExit({ intent }) ? others.at(-1)?.symbol : undefined;
  return {
    meant: 'rejection' in meant ? (closes ?? meant) : meant.symbol,
    all,
    has: (name) => all.some((instrument) => instrument.symbol === name),
    get(name) {
      const found = all.find((instrument) => instrument.symbol === (name ?? current?.symbol));
      if (!found) throw new Error(`there is no instrument ${name ?? symbol} to trade`);
      return found;
    },
  };
}
