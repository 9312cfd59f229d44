// What a strategy sends that lets its entries rest: one that waits for a price near enough for the market to get there, under a name
// that another takes over; a cancel, of one name or of all; an exit, or an entry at the market, which take back what rests.

import type { TimeInForce } from '../src/domain/capabilities.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Where it trades, as far as prices are concerned. */
export interface Pricing {
  readonly price: number;
  readonly tick: number;
  readonly stopEntries: boolean;
  readonly timesInForce: readonly TimeInForce[];
  readonly random: () => number;
}

/** So far from the market, in percent. */
const AWAY = [0.05, 0.6] as const;
/** Seconds: the shortest that is taken, and a little more. */
const EXPIRES_IN = [10, 40] as const;
const NAMES = ['A', 'A', 'B', null];

const RESTING = 0.6;
const CANCELLING = 0.15;
const GETTING_OUT = 0.12;

export type NextPriced = 'entry' | 'cancel' | 'exit' | 'market entry';

export function nextPriced(random: () => number): NextPriced {
  const drawn = random();
  if (drawn < RESTING) return 'entry';
  if (drawn < RESTING + CANCELLING) return 'cancel';
  return drawn < RESTING + CANCELLING + GETTING_OUT ? 'exit' : 'market entry';
}

/** Beside its action, symbol and quantity. */
export function pricedFields(side: 'long' | 'short', pricing: Pricing): Fields {
  const { price, tick, stopEntries, timesInForce, random } = pricing;
  const at = (percent: number): number =>
    Number((Math.round((price * (1 + percent / 100)) / tick) * tick).toFixed(6));
  const below = side === 'long' ? -1 : 1;
  const away = AWAY[0] + random() * (AWAY[1] - AWAY[0]);
  const seconds = Math.round(EXPIRES_IN[0] + random() * (EXPIRES_IN[1] - EXPIRES_IN[0]));
  const id = pick(NAMES, random);
  const kind = random();
  const isStop = stopEntries && kind < 0.35;
  // A limit beyond the market is filled at once.
  const limit = kind > 0.92 ? at(-below * away) : at(below * away);
  const others = timesInForce.filter((each) => each !== 'gtc');
  const timeInForce = !isStop && random() < 0.2 ? pick([...others, 'gtc' as const], random) : null;
  return {
    ...(isStop && { stop_price: at(-below * away) }),
    ...(isStop && kind < 0.1 && { limit_price: at(-below * (away + 0.1)) }),
    ...(!isStop && { limit_price: limit }),
    ...(timeInForce && { time_in_force: random() < 0.5 ? timeInForce : timeInForce.toUpperCase() }),
    ...(id && { id }),
    expires_in: seconds,
  };
}

/** Of one name, or of every one; in the symbol, or everywhere. */
export function cancelFields(symbol: string, random: () => number): Fields & { readonly symbol: string } {
  const id = random() < 0.6 ? pick(['A', 'B'], random) : null;
  return { symbol: random() < 0.15 ? '*' : symbol, ...(id && { cancel_id: id }) };
}

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item;
