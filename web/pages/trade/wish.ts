// What somebody is about to order: the fields as they stand in the drawer, the order that they make, and its words.

import type { components } from '../../api/schema.ts';
import { isMultipleOf, minus, plus, readQuantity, times, typed } from '../../parts/exact.ts';
import { figure, heldInWords } from '../../parts/numbers.ts';
import { type Asked, askedFrom, type Sent, sentOf } from '../../parts/protection/asked.ts';
import { hasPrice, whereInWords } from '../../parts/resting/words.ts';
import { COUNTS, countedInWords, type QuantityType } from '../../parts/sizes.ts';
import { type Pricing, pricingOf, type SentPrice, sentPrice } from './pricing.ts';

type Schemas = components['schemas'];

/** Close needs neither a side nor a quantity: whatever is held is closed. */
type Kind = 'entry' | 'exit' | 'close';

export interface Fields {
  readonly accountId: string;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  /** As typed. */
  readonly quantity: string;
  /** What that counts. */
  readonly counts: QuantityType;
  readonly kind: Kind;
  readonly simulation: boolean;
  /** These of an entry. */
  readonly pricing: Pricing;
  readonly protection: Asked;
}

/** The body of POST /trading/order, and of its plan. */
export interface Wish extends Sent, SentPrice {
  readonly trading_account_id: string;
  readonly action: 'buy' | 'sell' | 'close';
  readonly symbol: string;
  readonly quantity?: number;
  /** Absent: units. */
  readonly quantity_type?: QuantityType;
  readonly order_type?: 'entry' | 'exit';
  readonly simulation: boolean;
}

type Instrument = Pick<Schemas['Instrument'], 'symbol' | 'quantity_step' | 'min_quantity' | 'contract_size'>;
type Plan = Pick<Schemas['OrderPlan'], 'legs' | 'guards'>;

/** Null: something is still missing. */
export function wishOf(fields: Fields): Wish | null {
  const symbol = fields.symbol.trim();
  if (!fields.accountId || !symbol) return null;
  const common = { trading_account_id: fields.accountId, symbol, simulation: fields.simulation };
  if (fields.kind === 'close') return { ...common, action: 'close' };
  const quantity = readQuantity(fields.quantity);
  if (quantity === null) return null;
  const price = fields.kind === 'entry' ? sentPrice(fields.pricing) : {};
  if (price === null) return null;
  const protection = fields.kind === 'entry' ? sentOf(fields.protection) : {};
  const counts = countsOf(fields);
  const sized = counts === 'units' ? { quantity } : { quantity, quantity_type: counts };
  return { ...common, action: fields.side, ...sized, order_type: fields.kind, ...price, ...protection };
}

/** What a quantity may count with such an order: a part of the position to leave it, a loss to enter. */
export const countable = (kind: Kind): readonly QuantityType[] =>
  (Object.keys(COUNTS) as QuantityType[]).filter((type) =>
    kind === 'entry' ? type !== 'percent_of_position' : !type.startsWith('risk'),
  );

/** What was chosen for another kind of order says nothing of this one. */
export const countsOf = ({ counts, kind }: Pick<Fields, 'counts' | 'kind'>): QuantityType =>
  countable(kind).includes(counts) ? counts : 'units';

/** Two wishes are one intent where they would be one order. */
export const sameWish = (a: Wish | null, b: Wish | null): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Before any plan: `sell 1.5 BTCUSDT.P`, `close BTCUSDT.P`. */
export function wishInWords(wish: Wish): string {
  const { action, quantity, quantity_type = 'units', symbol, simulation } = wish;
  const of = quantity_type === 'units' ? '' : ' of';
  const size = quantity === undefined ? '' : ` ${countedInWords(quantity, quantity_type)}${of}`;
  return `${action}${size} ${symbol}${whereOf(wish)}${simulation ? ', simulated' : ''}`;
}

/** Where it waits; an order at the market says nothing of it. */
const whereOf = (wish: Wish): string => (hasPrice(wish) ? ` ${whereInWords(wish)}` : '');

/** The fields that make this order. */
export const fieldsOf = (wish: Wish): Fields => ({
  accountId: wish.trading_account_id,
  symbol: wish.symbol,
  side: wish.action === 'close' ? 'buy' : wish.action,
  quantity: wish.quantity === undefined ? '' : typed(wish.quantity),
  counts: wish.quantity_type ?? 'units',
  kind: wish.action === 'close' ? 'close' : (wish.order_type ?? 'entry'),
  simulation: wish.simulation,
  pricing: pricingOf(wish),
  protection: askedFrom(wish),
});

/** What is wrong with the quantity as typed; null: nothing, or nothing is typed yet. */
export function quantityProblem(
  text: string,
  instrument: Instrument | null,
  counts: QuantityType = 'units',
): string | null {
  if (text.trim() === '') return null;
  const quantity = readQuantity(text);
  if (quantity === null)
    return text.includes(',')
      ? 'Write it with a decimal point and without commas, such as 0.5.'
      : 'A number above zero, of at most 15 digits.';
  if (counts === 'percent_of_position' && quantity > 100) return 'At most 100.';
  if (instrument === null || counts !== 'units') return null;
  if (quantity < instrument.min_quantity) return `At least ${figure(instrument.min_quantity)}.`;
  if (!isMultipleOf(quantity, instrument.quantity_step))
    return `In steps of ${figure(instrument.quantity_step)}.`;
  return null;
}

/** `about 9,637 USDT`, where the price and the contract's size are known. */
export function worthInWords(
  quantity: number | null,
  instrument: Instrument | null,
  price: number | null,
  currency: string | null,
): string | null {
  if (quantity === null || instrument === null || price === null || currency === null) return null;
  const worth = times(times(quantity, price), instrument.contract_size);
  const shown = Math.abs(worth) >= 100 ? Math.round(worth) : Math.round(worth * 100) / 100;
  return `about ${figure(shown)} ${currency}`;
}

const isRefused = ({ guards }: Plan): boolean => guards.some(({ outcome }) => outcome === 'refused');

/** The legs that would really be sent: a refused entry is not, the close before it is. */
const sentLegs = (plan: Plan): Plan['legs'] =>
  isRefused(plan) ? plan.legs.filter(({ leg }) => leg === 'exit') : plan.legs;

export const sendsSomething = (plan: Plan): boolean => sentLegs(plan).length > 0;

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** The order on its button. */
export function buttonWords(wish: Wish, plan: Plan): string {
  const legs = sentLegs(plan);
  const [first, second] = legs;
  if (first === undefined) return isRefused(plan) ? 'A guard refuses this entry' : 'Nothing to send';
  const mode = wish.simulation ? ', simulated' : '';
  const amount = figure(first.quantity);
  const held = first.side === 'sell' ? 'long' : 'short';
  if (second)
    return `Close ${held} ${amount}, then ${second.side} ${figure(second.quantity)} ${wish.symbol}${whereOf(wish)}${mode}`;
  if (first.leg === 'entry') return `${capital(first.side)} ${amount} ${wish.symbol}${whereOf(wish)}${mode}`;
  if (wish.action === 'close') return `Close ${held} ${amount} ${wish.symbol}${mode}`;
  if (wish.order_type === 'entry') return `Close ${held} ${amount} ${wish.symbol}, without the entry${mode}`;
  return `${capital(first.side)} ${amount} ${wish.symbol} of the ${held}${mode}`;
}

/** What is held once all of it is filled. */
const positionAfter = (held: number, plan: Plan): number =>
  sentLegs(plan).reduce(
    (position, { side, quantity }) => plus(position, side === 'buy' ? quantity : -quantity),
    held,
  );

/** Null: the strategy has said nothing, or agrees with what this order would make. */
export function driftWarning(
  position: Pick<Schemas['Position'], 'quantity' | 'strategy_position'> | null,
  plan: Plan,
): string | null {
  if (position === null || position.strategy_position === null || !sendsSomething(plan)) return null;
  const { quantity, strategy_position: strategy } = position;
  const gap = minus(positionAfter(quantity, plan), strategy);
  if (gap === 0) return null;
  return `The strategy stands ${heldInWords(strategy)}. After this it and the broker differ by ${figure(Math.abs(gap))}, until its next signal or an Align.`;
}
