// Entries that wait at the broker for a price: which they are, where they wait, and how they ended, in words.

import Big from 'big.js';
import type { components } from '../../api/schema.ts';
import { figure } from '../numbers.ts';
import { spelled } from '../symbol.ts';

type Schemas = components['schemas'];

interface Priced {
  readonly limit_price?: number | null;
  readonly stop_price?: number | null;
}

export type Resting = Schemas['OrderSummary'];

type State = Pick<Resting, 'status' | 'limit_price' | 'stop_price' | 'time_in_force'>;

export const hasPrice = ({ limit_price, stop_price }: Priced): boolean =>
  (limit_price ?? stop_price ?? null) !== null;

/** It waits at the broker; `ioc` and `fok` are over in a moment. */
export const isResting = (order: State): boolean =>
  (order.status === 'placed' || order.status === 'partially_filled') &&
  (order.time_in_force === 'gtc' || order.time_in_force === 'day') &&
  hasPrice(order);

/** "at 64,200 or better", "at the market once 61,000 is reached"; of an order without a price "at the market". */
export function whereInWords({ limit_price: limit = null, stop_price: stop = null }: Priced): string {
  const at = limit === null ? 'at the market' : `at ${figure(limit)} or better`;
  return stop === null ? at : `${at} once ${figure(stop)} is reached`;
}

/** "limit 64,200", "stop 61,000, then limit 61,100". */
export function priceInWords({ limit_price: limit = null, stop_price: stop = null }: Priced): string {
  const words = [
    ...(stop === null ? [] : [`stop ${figure(stop)}`]),
    ...(limit === null ? [] : [`limit ${figure(limit)}`]),
  ];
  return words.length === 0 ? 'at market' : words.join(', then ');
}

/** What the price has to reach first. */
export const waitsFor = ({ limit_price, stop_price }: Priced): number | null =>
  stop_price ?? limit_price ?? null;

/** "2.9 % below the market". */
export function awayInWords(price: number, last: number | null): string | null {
  if (last === null || last === 0) return null;
  const percent = new Big(price).minus(last).div(last).times(100);
  if (percent.eq(0)) return 'at the market’s price';
  const size = percent.abs();
  // What is near is said finer: 0.04 % is not 0.0 %.
  const shown = size.lt(0.01) ? 'less than 0.01' : figure(size.round(size.lt(1) ? 2 : 1).toNumber());
  return `${shown} % ${percent.gt(0) ? 'above' : 'below'} the market`;
}

export const sideOf = ({ action }: Pick<Resting, 'action'>): 'buy' | 'sell' =>
  action === 'sell' || action === 'short_entry' ? 'sell' : 'buy';

const ENDINGS: ReadonlySet<string> = new Set(['replaced', 'cancelled_on_request', 'lapsed', 'guard_refused']);
const ORDER_ID = /order ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/;
const TAKEN_BACK = /^The entry was taken back[:.]\s*/;

export interface TakenBack {
  readonly why: string;
  /** The order that took its place or asked for it; null: none did. */
  readonly by: string | null;
}

/** Of an entry that we took back; null: it ended otherwise. */
export function takenBackBy(error: Schemas['OrderError'] | null): TakenBack | null {
  if (error === null || !ENDINGS.has(error.code) || !TAKEN_BACK.test(error.message)) return null;
  if (error.code === 'lapsed') return { why: 'its time was over', by: null };
  const by = ORDER_ID.exec(error.message)?.[1] ?? null;
  const said = error.message.replace(TAKEN_BACK, '').replace(ORDER_ID, 'a later order').replace(/\.$/, '');
  return { why: error.code === 'replaced' ? 'a later entry took its place' : said, by };
}

interface Wanted extends Priced {
  readonly trading_account_id: string;
  readonly symbol: string;
  readonly simulation: boolean;
  readonly action: string;
  readonly order_type?: 'entry' | 'exit';
  readonly id?: string;
}

/** Which of them an order would take back before it is made: the one of its name where it rests itself, else all of its symbol. */
export function makesWay(resting: readonly Resting[], wish: Wanted): readonly Resting[] {
  const beside = resting.filter(
    ({ trading_account_id, symbol, simulation, broker_name }) =>
      trading_account_id === wish.trading_account_id &&
      simulation === wish.simulation &&
      spelled(symbol, broker_name) === spelled(wish.symbol, broker_name),
  );
  if (wish.order_type !== 'entry' || !hasPrice(wish)) return beside;
  return beside.filter(
    (order) => sideOf(order) !== wish.action || (order.entry_id ?? null) === (wish.id ?? null),
  );
}

/** "buy 0.2 at 64,200 or better". */
export const entryInWords = (order: Resting): string =>
  `${sideOf(order)} ${figure(unitsOf(order))} ${whereInWords(order)}`;

/** Of what is sent; while nobody has computed it, as it was asked for. */
export const unitsOf = ({ quantity, sizing }: Pick<Resting, 'quantity' | 'sizing'>): number =>
  sizing?.units ?? quantity;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** How long it still waits: "40 s", "12 min", "1 h 59 min", "3 days". */
export function leftInWords(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 48 * HOUR_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(ms / (24 * HOUR_MS))} days`;
}
