// The users and their signals, sent as a charting platform sends them: an alert without an answer, or with one that asks for it, is
// sent again as it was; some are delivered twice at once, and some once more long after.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, sql } from '../src/data/engine/db.ts';
import type { User } from '../src/data/identity/users.ts';
import { type Decimal, decimal, ZERO } from '../src/domain/decimal.ts';
import type { PublicJwk } from '../src/domain/identity/sealed.ts';
import type { AccountId } from '../src/domain/ids.ts';
import { timestamp } from '../src/domain/ids.ts';
import type { OrderResult } from '../src/domain/orders/result.ts';
import { readWish, wishJson } from '../src/domain/protection/wish.ts';
import { ACTIONS, makeTrader, type Trader, webhookPath } from '../test/orders/kill-harness.ts';
import type { Traits } from './exchange-traits.ts';
import type { Venue } from './venue.ts';
import { entryWish, protectWish } from './wishes.ts';

/** One account. Every user has two. */
export interface Desk {
  readonly name: string;
  readonly trader: Trader;
  readonly traits: Traits;
  /** How its book behaves. */
  readonly paper: object;
  /** Every order is filled as it comes, or a moment later; otherwise it rests, or is refused. */
  readonly isFilling: boolean;
  /** Where its strategy stands, by symbol, which says so with every alert; null: its alerts say only what to do. */
  readonly strategy: Map<string, number> | null;
  /** Signals that come at nearly the same time. With one, the order of signals is that of trading. */
  readonly burst: number;
  /** Many of its entries ask for stops and targets. The others are as they would be if there were none of that. */
  readonly protects: boolean;
}

export interface Delivery {
  readonly api: string;
  readonly sentAt: number;
  readonly ms: number;
  /** null: no answer, or one that broke off. */
  readonly answer: { readonly status: number; readonly body: OrderResult } | null;
}

export interface Signal {
  readonly desk: Desk;
  readonly accountId: AccountId;
  /** As the exchange lists it. */
  readonly symbol: string;
  readonly action: string;
  /** Zero: it is a `protect`. */
  readonly quantity: Decimal;
  /** What no other signal of the account has; see `keyOf` of an order's row. */
  readonly key: string;
  readonly path: string;
  readonly body: string;
  readonly deliveries: Delivery[];
}

export const nameOfSignal = ({ action, quantity, symbol, desk }: Signal): string =>
  `${action} ${quantity} ${symbol} of ${desk.name}`;

const CASH = { starting_cash: 1e12 };
/** The platform gives up after a while. */
const PATIENCE_MS = 25_000;
const ANSWER_MS = 12_000;
/** As at the end of a bar: several strategies of one user speak within a moment, about one symbol. */
const BURST = 5;
const BURST_MS = 80;
const TWICE_AT_ONCE = 0.25;
const AGAIN_LATER = 0.15;
/** Whoever has just entered may want to get out again at once. */
const OUT_AGAIN = 0.5;
const OUT_AGAIN_MS = 2_000;
const OUT_OF_LONG = [
  { action: 'long_exit' },
  { action: 'close_long' },
  { action: 'sell', order_type: 'exit' },
];
const OUT_OF_SHORT = [
  { action: 'short_exit' },
  { action: 'close_short' },
  { action: 'buy', order_type: 'exit' },
];
const ENTRIES = ACTIONS.filter(
  ({ action, ...more }) => /^(buy|sell)$|_entry$/.test(action) && !('order_type' in more),
);
/** Of a desk that protects: entries that ask for it, and moments at which somebody changes what stands there. */
const ASKING = 0.65;
const CHANGING = 0.25;
/** Such a desk stays in longer: there is to be something to protect. */
const OUT_OF_PROTECTED = 0.15;
const STAYING_IN = [...ACTIONS, ...ENTRIES, ...ENTRIES];
const outOf = ({ action }: Signal) =>
  action === 'buy' || action === 'long_entry' ? OUT_OF_LONG : OUT_OF_SHORT;

/** Nobody has judged it: the service was at fault, or had not got all of it in time. */
export const isToComeAgain = ({ status }: { readonly status: number }): boolean =>
  status >= 500 || status === 408;

/**
 * Most brokers are well; of some the answers are lost, some rest, cancel or refuse. Half of the users are at the distant
 * exchange; their second accounts are without reduce-only there, and those of the others with a careless broker.
 */
export async function openDesks(
  db: Db,
  users: number,
  { venue, key }: { venue: Venue; key: PublicJwk },
): Promise<Desk[]> {
  const kinds: readonly (readonly [string, object, boolean])[] = [
    ['well', { latency_ms: 5 }, true],
    ['well', { latency_ms: 0 }, true],
    ['well', { latency_ms: 25 }, true],
    ['deaf', { latency_ms: 2, lose_answer: true }, true],
    ['well', { latency_ms: 10 }, true],
    ['resting', { latency_ms: 1, fill: 'never' }, false],
    ['well', { latency_ms: 3 }, true],
    ['cancelling', { latency_ms: 1, fill: 'cancel' }, false],
    ['well', { latency_ms: 8 }, true],
    ['partial', { latency_ms: 1, fill: 'partial' }, false],
    ['well', { latency_ms: 1 }, true],
    ['refusing', { latency_ms: 1, reject: 'insufficient_margin' }, true],
  ];
  const desks: Desk[] = [];
  /** Of those that protect. */
  let nth = 0;
  for (let n = 0; n < users; n++) {
    const isDistant = Math.floor(n / kinds.length) % 2 === n % 2;
    const { near, far, second: different } = venue;
    const [first, second] = isDistant
      ? [far, { ...far, ...different.far }]
      : [near, { ...near, ...different.near }];
    const desk = async (which: 'a' | 'b', plain: Traits, of?: User): Promise<Desk> => {
      const place = which === 'a' ? n : n + 5;
      const [kind, settings, isFilling] = kinds[place % kinds.length] as (typeof kinds)[number];
      const protects = venue.stops !== null && (Math.floor(n / 2) + (which === 'a' ? 0 : 1)) % 2 === 0;
      const traits = protects ? protectedTraits(plain, venue, nth++) : plain;
      const protection = protects ? PROTECTIONS[kind === 'deaf' ? 'deaf' : n % 8] : undefined;
      const paper = { ...CASH, ...settings, ...(protection && { protection }) };
      return {
        name: `${kind} ${n + 1}${which}`,
        trader: await (venue.isPaper
          ? makeTrader(db, paper, of)
          : makeTrader(db, null, of, {
              brokerName: venue.broker,
              seal: (owner) => venue.seal(owner, key),
            })),
        traits,
        paper,
        isFilling,
        // One at a time: a strategy's alerts come in the order of its trades.
        strategy: kind === 'well' && which === 'a' && n % 3 !== 0 ? new Map() : null,
        burst: kind === 'well' && n % 3 === (which === 'a' ? 0 : 1) ? BURST : 1,
        protects,
      };
    };
    const one = await desk('a', first);
    if (one.strategy)
      await db.commit([
        sql`update trading_accounts set out_of_sync = 'follow' where id = ${one.trader.account.id}`,
      ]);
    desks.push(one, await desk('b', second, one.trader.user));
  }
  return desks;
}

/** What some exchanges do with stops, beside the losing of answers: this one takes none. */
const PROTECTIONS: Readonly<Record<string | number, string>> = { deaf: 'lose_answer', 7: 'refuse' };

/**
 * At the paper exchange every kind of stop is kept by somebody. What nobody may reduce by mistake has to be reserved: such an
 * account's targets would open the other side.
 */
function protectedTraits(traits: Traits, { stops }: Venue, nth: number): Traits {
  if (!stops) return traits;
  const kinds = traits.reduceOnly ? stops.kinds : stops.reserving;
  return { ...traits, ...kinds[nth % kinds.length] };
}

export const stanceOf = (position: number, prefix: '' | 'prev_' = '') => ({
  [`${prefix}market_position`]: position > 0 ? 'long' : position < 0 ? 'short' : 'flat',
  [`${prefix}market_position_size`]: Math.abs(position),
});

interface Sent {
  readonly action: string;
  readonly quantity?: number;
}

export interface TrafficOptions {
  readonly desks: readonly Desk[];
  readonly apis: readonly { readonly name: string; readonly url: string }[];
  readonly random: () => number;
  /** Signals a second, of all users together, where nothing holds them up. */
  readonly rate: number;
  readonly venue: Venue;
  /** Of a listing, a moment ago. */
  priceOf(listing: string): number | null;
}

export function startTraffic({ desks, apis, random, rate, venue, priceOf }: TrafficOptions) {
  const signals: Signal[] = [];
  const lanes: Promise<void>[] = [];
  let isOpen = true;
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

  const unitsOf = ({ protects }: Desk) =>
    protects && venue.stops ? venue.stops : { unit: venue.unit, least: 0 };

  function make(desk: Desk, symbol: string, actions: typeof ACTIONS): Signal {
    const { account } = desk.trader;
    const order = desk.strategy ? nextTrade(desk.strategy, symbol, unitsOf(desk)) : pick(actions);
    // Quantities are unique: they tell signals apart.
    const nth = signals.length + 1;
    const { unit, least } = unitsOf(desk);
    const quantity = Number((least + nth * unit).toFixed(3));
    const wish = wishFor(desk, order, venue.listingOf(symbol));
    return sending(desk, symbol, { ...order, ...wish, quantity }, `${account.id} ${decimal(quantity)}`);
  }

  function makeProtect(desk: Desk, symbol: string): Signal {
    const wish = protectWish(signals.length, random);
    const read = readWish(wish);
    const asked = 'wish' in read ? JSON.stringify(wishJson(read.wish)) : '';
    return sending(
      desk,
      symbol,
      { action: 'protect', ...wish },
      `${desk.trader.account.id} protect ${asked}`,
    );
  }

  function sending(desk: Desk, symbol: string, order: Sent, key: string): Signal {
    const { account, secret } = desk.trader;
    const signal: Signal = {
      desk,
      accountId: account.id,
      symbol: venue.listingOf(symbol),
      action: order.action,
      quantity: order.quantity === undefined ? ZERO : decimal(order.quantity),
      key,
      path: webhookPath(desk.trader),
      body: JSON.stringify({ ...order, symbol, timestamp: timestamp(Date.now()), secret }),
      deliveries: [],
    };
    signals.push(signal);
    return signal;
  }

  function wishFor(desk: Desk, order: { action: string; order_type?: string }, listing: string): object {
    const isEntry = /^(buy|sell|long_entry|short_entry)$/.test(order.action) && order.order_type !== 'exit';
    if (!desk.protects || !isEntry || random() > ASKING) return {};
    const side = /^(buy|long_entry)$/.test(order.action) ? 'long' : 'short';
    return entryWish({ side, price: priceOf(listing), random });
  }

  /** It moves on, whatever becomes of its alert. */
  function nextTrade(strategy: Map<string, number>, symbol: string, { unit }: { unit: number }) {
    const before = strategy.get(symbol) ?? 0;
    const steps = [-3, -2, -1, 0, 1, 2, 3].map((step) => Number((step * 7 * unit).toFixed(3)));
    const after = pick(steps.filter((step) => step !== before));
    strategy.set(symbol, after);
    return {
      action: after > before ? 'buy' : 'sell',
      ...stanceOf(after),
      ...stanceOf(before, 'prev_'),
    } as const;
  }

  async function post(signal: Signal): Promise<Delivery> {
    const api = pick(apis);
    const sentAt = Date.now();
    const begun = performance.now();
    const answer = await fetch(api.url + signal.path, {
      method: 'POST',
      body: signal.body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
      .then(async (response) => ({ status: response.status, body: (await response.json()) as OrderResult }))
      .catch(() => null);
    const delivery = { api: api.name, sentAt, ms: performance.now() - begun, answer };
    signal.deliveries.push(delivery);
    return delivery;
  }

  async function deliver(signal: Signal): Promise<void> {
    const giveUp = Date.now() + PATIENCE_MS;
    while (Date.now() < giveUp) {
      const { answer } = await post(signal);
      if (answer && !isToComeAgain(answer)) return;
      await sleep(150 + random() * 600);
    }
  }

  async function send(
    desk: Desk,
    symbol: string,
    afterMs: number,
    actions: typeof ACTIONS = desk.protects ? STAYING_IN : ACTIONS,
  ): Promise<Signal> {
    await sleep(afterMs);
    return deliverCopies(make(desk, symbol, actions));
  }

  async function deliverCopies(signal: Signal): Promise<Signal> {
    const copies = random() < TWICE_AT_ONCE ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => deliver(signal)));
    if (random() < AGAIN_LATER) await post(signal);
    return signal;
  }

  async function lane(desk: Desk, pauseMs: number): Promise<void> {
    await sleep(random() * pauseMs);
    while (isOpen) {
      const symbol = pick(venue.symbols);
      const [sent] = await Promise.all(
        Array.from({ length: desk.burst }, (_, n) => send(desk, symbol, n === 0 ? 0 : random() * BURST_MS)),
      );
      if (isOpen && sent && random() < (desk.protects ? OUT_OF_PROTECTED : OUT_AGAIN))
        await send(desk, symbol, random() * OUT_AGAIN_MS, outOf(sent));
      // A strategy that says where it stands says so with every alert.
      if (isOpen && desk.protects && !desk.strategy && random() < CHANGING)
        await deliverCopies(makeProtect(desk, symbol));
      await sleep(pauseMs * (0.3 + 1.4 * random()));
    }
  }

  const all = desks.reduce((sum, desk) => sum + desk.burst, 0);
  for (const desk of desks) lanes.push(lane(desk, (all / rate) * 1000));

  return {
    signals,
    /** No new signals; those under way are delivered or given up. */
    async stop(): Promise<readonly Signal[]> {
      isOpen = false;
      await Promise.all(lanes);
      return signals;
    },
  };
}

export type Traffic = ReturnType<typeof startTraffic>;
