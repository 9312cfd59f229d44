// Whether a broker can keep what a message asks for. What it cannot is refused before anything trades: who asked for a stop
// must not trade without one.

import type { Capabilities } from '../capabilities.ts';
import { type Decimal, decimal, downTo, isWhole, larger, sign } from '../decimal.ts';
import { isGiven, type ProtectionField, type Wish } from './wish.ts';

interface Ability {
  /** The broker's name, for a person. */
  readonly title: string;
  readonly capabilities: Pick<Capabilities, 'stop' | 'wholeStops'>;
  /** What would be held; null: not known. */
  readonly quantity: Decimal | null;
}

/** In words, for `protection_unsupported`; null: it can. The clock's closing is our own, and is taken everywhere. */
export function whyUnsupported(wish: Wish, { title, capabilities, quantity }: Ability): string | null {
  const asked = askedOf(wish);
  if (asked.length === 0) return null;
  if (capabilities.stop === 'none') {
    const names = asked.map((name) => `"${name}"`).join(', ');
    return `${title} keeps no stops and no targets: leave out ${names}. "time_stop" is taken.`;
  }
  if (!capabilities.wholeStops || quantity === null || isWhole(quantity)) return null;
  const whole = downTo(quantity, decimal(1));
  const what = asked.every((name) => name === 'take_profit') ? 'targets' : 'stops';
  return `${title} keeps ${what} for whole shares only: send ${sign(whole) > 0 ? whole : 'at least 1'}, not ${quantity}.`;
}

interface Quantities {
  readonly quantityStep: Decimal;
  readonly minQuantity: Decimal;
}

const ONE = decimal(1);

/** In which steps, and from which least on, the broker keeps stops and targets of an instrument: entries may be finer. */
export const keptQuantities = (
  { quantityStep, minQuantity }: Quantities,
  { wholeStops }: Pick<Capabilities, 'wholeStops'>,
): Quantities =>
  wholeStops
    ? { quantityStep: larger(quantityStep, ONE), minQuantity: larger(minQuantity, ONE) }
    : { quantityStep, minQuantity };

/** What has to stand at the broker. */
const askedOf = ({ stop, targets, trail, breakEven }: Wish): readonly ProtectionField[] => [
  ...(isGiven(stop) ? (['stop_loss'] as const) : []),
  ...(isGiven(targets) ? (['take_profit'] as const) : []),
  ...(isGiven(trail) ? (['trailing_stop'] as const) : []),
  ...(isGiven(breakEven) ? (['break_even'] as const) : []),
];
