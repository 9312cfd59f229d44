// The users' signals, sent as a charting platform sends them: an alert without an answer, or with one that asks for it, is
// sent again as it was; some are delivered twice at once, and some once more long after.

import { setTimeout as sleep } from 'node:timers/promises';
import { decimal, ZERO } from '../src/domain/decimal.ts';
import { timestamp } from '../src/domain/ids.ts';
import type { OrderResult } from '../src/domain/orders/result.ts';
import { readWish, wishJson } from '../src/domain/protection/wish.ts';
import { readBody, readSignal } from '../src/domain/signals/signal.ts';
import { fingerprint } from '../src/domain/signals/webhook.ts';
import { ACTIONS, webhookPath } from '../test/orders/kill-harness.ts';
import type { Desk, Team } from './desks.ts';
import { cancelFields, nextPriced, pricedFields } from './priced.ts';
import type { Delivery, Signal } from './signals.ts';
import { partOf, type TeamAnswer, type TeamSignal, tradedBy } from './teams.ts';
import type { Venue } from './venue.ts';
import { entryWish, protectWish } from './wishes.ts';

/** The platform gives up after a while. */
const PATIENCE_MS = 25_000;
const ANSWER_MS = 12_000;
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

const EXITS = [...OUT_OF_LONG, ...OUT_OF_SHORT];
const TO_BUY = [{ action: 'buy' }, { action: 'long_entry' }];
const TO_SELL = [{ action: 'sell' }, { action: 'short_entry' }];
/** A group's signal is to be met again often. */
const AGAIN_TO_TEAM = 0.4;

interface Answered {
  readonly answer: { readonly status: number } | null;
}

/** By which a signal without a quantity is known again in its order's row. */
function printOf({ trader }: Desk, body: string): string {
  const reading = readSignal(readBody(Buffer.from(body)), { simulation: false });
  if ('problem' in reading) throw new Error(reading.problem);
  return `${fingerprint(trader.user.id, reading.signal)}`;
}

/** Nobody has judged it: the service was at fault, or had not got all of it in time. */
export const isToComeAgain = ({ status }: { readonly status: number }): boolean =>
  status >= 500 || status === 408;

export const stanceOf = (position: number, prefix: '' | 'prev_' = '') => ({
  [`${prefix}market_position`]: position > 0 ? 'long' : position < 0 ? 'short' : 'flat',
  [`${prefix}market_position_size`]: Math.abs(position),
});

interface Entry {
  readonly action: string;
  readonly order_type?: string;
  readonly limit_price?: number;
  readonly stop_price?: number;
}

interface Sent {
  readonly action: string;
  readonly quantity?: number;
  readonly symbol?: string;
}

export interface TrafficOptions {
  readonly desks: readonly Desk[];
  readonly teams: readonly Team[];
  readonly apis: readonly { readonly name: string; readonly url: string }[];
  readonly random: () => number;
  /** Signals a second, of all users together, where nothing holds them up. */
  readonly rate: number;
  readonly venue: Venue;
  /** Of a listing, a moment ago. */
  priceOf(listing: string): number | null;
}

export function startTraffic({ desks, teams, apis, random, rate, venue, priceOf }: TrafficOptions) {
  const signals: Signal[] = [];
  const teamSignals: TeamSignal[] = [];
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

  const sideOf = ({ action }: Sent): 'long' | 'short' | null =>
    /^(buy|long_entry)$/.test(action) ? 'long' : /^(sell|short_entry)$/.test(action) ? 'short' : null;

  /** What an entry waits for; null: nobody knows the price. */
  function pricing(order: Sent, listing: string): object | null {
    const [side, price] = [sideOf(order), priceOf(listing)];
    if (side === null || price === null) return null;
    return pricedFields(side, { price, tick: venue.tickOf(listing), random, ...venue });
  }

  function makePriced(desk: Desk, symbol: string): Signal {
    const next = nextPriced(random);
    if (next === 'cancel') return makeCancel(desk, symbol);
    if (next !== 'entry') return make(desk, symbol, next === 'exit' ? EXITS : ENTRIES);
    // All that rests in a symbol is on one side: what is on the other takes its place.
    const order = pick(random() < 0.85 ? (symbol.length % 2 === 0 ? TO_BUY : TO_SELL) : ENTRIES);
    return make(desk, symbol, [{ ...order, ...pricing(order, venue.listingOf(symbol)) }]);
  }

  function makeCancel(desk: Desk, symbol: string): Signal {
    const signal = sending(desk, symbol, { action: 'cancel', ...cancelFields(symbol, random) }, '');
    return Object.assign(signal, { key: `${signal.accountId} ${printOf(desk, signal.body)}` });
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
      body: JSON.stringify({ symbol, ...order, timestamp: timestamp(Date.now()), secret }),
      deliveries: [],
    };
    signals.push(signal);
    return signal;
  }

  function wishFor(desk: Desk, order: Entry, listing: string): object {
    const isEntry = /^(buy|sell|long_entry|short_entry)$/.test(order.action) && order.order_type !== 'exit';
    if (!desk.protects || !isEntry || random() > ASKING) return {};
    const side = /^(buy|long_entry)$/.test(order.action) ? 'long' : 'short';
    const { limit_price, stop_price } = order;
    return entryWish({ side, price: limit_price ?? stop_price ?? priceOf(listing), random });
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

  /** Its quantity is even: half of it is a quantity too. */
  function makeForTeam(team: Team): TeamSignal {
    // What rests is priced, and only a symbol that all of them know by one name has one price.
    const isPriced = venue.letsRest && venue.symbols.length > 2 && random() < 0.4;
    const symbol = isPriced ? (venue.symbols.at(-1) as string) : pick(venue.symbols);
    const order = pick(isPriced ? ENTRIES : ACTIONS);
    const quantity = Number((2 * (signals.length + 1) * venue.unit).toFixed(3));
    const fields = { ...order, ...(isPriced && pricing(order, venue.listingOf(symbol))), quantity };
    const { made, members } = team;
    const body = JSON.stringify({ ...fields, symbol, timestamp: timestamp(Date.now()), secret: made.secret });
    const parts = members.map((each): Signal => {
      const { account } = each.desk.trader;
      return {
        desk: each.desk,
        accountId: account.id,
        symbol: venue.listingOf(tradedBy(each, symbol, venue)),
        action: order.action,
        quantity: decimal(quantity),
        key: `${account.id} ${decimal(quantity)}`,
        path: made.path,
        body,
        deliveries: [],
      };
    });
    signals.push(...parts);
    const signal = { team, action: order.action, quantity: decimal(quantity), path: made.path, body, parts };
    teamSignals.push({ ...signal, deliveries: [] });
    return teamSignals.at(-1) as TeamSignal;
  }

  async function ask<Body>({ path, body }: { readonly path: string; readonly body: string }) {
    const api = pick(apis);
    const sentAt = Date.now();
    const begun = performance.now();
    const answer = await fetch(api.url + path, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
      .then(async (response) => ({ status: response.status, body: (await response.json()) as Body }))
      .catch(() => null);
    return { api: api.name, sentAt, ms: performance.now() - begun, answer };
  }

  async function post(signal: Signal): Promise<Delivery> {
    const delivery = await ask<OrderResult>(signal);
    signal.deliveries.push(delivery);
    return delivery;
  }

  async function postToTeam(signal: TeamSignal): Promise<Answered> {
    const delivery = await ask<TeamAnswer>(signal);
    signal.deliveries.push(delivery);
    const { answer } = delivery;
    for (const { accountId, deliveries } of signal.parts)
      deliveries.push({ ...delivery, answer: answer && partOf(answer, accountId) });
    return delivery;
  }

  async function deliver(once: () => Promise<Answered>): Promise<void> {
    const giveUp = Date.now() + PATIENCE_MS;
    while (Date.now() < giveUp) {
      const { answer } = await once();
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
    await inCopies(() => post(signal));
    return signal;
  }

  async function inCopies(once: () => Promise<Answered>, again = AGAIN_LATER): Promise<void> {
    const copies = random() < TWICE_AT_ONCE ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => deliver(once)));
    if (random() < again) await once();
  }

  async function teamLane(team: Team, pauseMs: number): Promise<void> {
    await sleep(random() * pauseMs);
    while (isOpen) {
      const signal = makeForTeam(team);
      await inCopies(() => postToTeam(signal), AGAIN_TO_TEAM);
      await sleep(pauseMs * (0.3 + 1.4 * random()));
    }
  }

  async function restingLane(desk: Desk, pauseMs: number): Promise<void> {
    await sleep(random() * pauseMs);
    while (isOpen) {
      await deliverCopies(makePriced(desk, pick(venue.symbols)));
      await sleep(pauseMs * (0.2 + 0.8 * random()));
    }
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

  const own = desks.filter(({ isMember }) => !isMember);
  const all = own.reduce((sum, desk) => sum + desk.burst, teams.length);
  const pauseMs = (all / rate) * 1000;
  for (const desk of own) lanes.push(desk.rests ? restingLane(desk, pauseMs) : lane(desk, pauseMs));
  for (const team of teams) lanes.push(teamLane(team, pauseMs));

  return {
    signals,
    teamSignals,
    /** No new signals; those under way are delivered or given up. */
    async stop(): Promise<readonly Signal[]> {
      isOpen = false;
      await Promise.all(lanes);
      return signals;
    },
  };
}

export type Traffic = ReturnType<typeof startTraffic>;
