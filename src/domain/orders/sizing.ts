// How much an order trades, where its quantity counts something else than units: money, a part of the equity or of the position, or what
// is lost at the stop. Computed once, exactly, and rounded down: never more than was asked for. What cannot be known is refused.

import {
  absolute,
  compare,
  type Decimal,
  decimal,
  downTo,
  multiply,
  ONE,
  rounded,
  shareDown,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../decimal.ts';

export const QUANTITY_TYPES = [
  'units',
  'cash',
  'percent_of_equity',
  'percent_of_position',
  'risk_cash',
  'risk_percent',
] as const;
export type QuantityType = (typeof QUANTITY_TYPES)[number];

/** As others say it. */
const ALSO: Readonly<Record<string, QuantityType>> = {
  fixed_quantity: 'units',
  contracts: 'units',
  base: 'units',
  dollar_amount: 'cash',
  quote: 'cash',
  notional: 'cash',
  risk_dollar_amount: 'risk_cash',
};

export function quantityTypeOf(text: string): QuantityType | null {
  const word = text.trim().toLowerCase();
  return (
    QUANTITY_TYPES.find((known) => known === word) ??
    (Object.hasOwn(ALSO, word) ? (ALSO[word] ?? null) : null)
  );
}

export interface Sizing {
  readonly type: QuantityType;
  /** As it was sent. */
  readonly asked: Decimal;
  /** What the account multiplies it with. */
  readonly factor: Decimal;
  readonly price: Decimal | null;
  readonly equity: Decimal | null;
  readonly stop: Decimal | null;
  /** null: it is computed when the order is planned. */
  readonly units: Decimal | null;
  /** Of the instrument, once it is known. */
  readonly step: Decimal | null;
  /** How, in words. */
  readonly text: string | null;
}

const HUNDREDTH = decimal('0.01');
const HUNDRED = decimal(100);

const UNKNOWN = { price: null, equity: null, stop: null, units: null, step: null, text: null } as const;

/** Yet to be computed. A part of what is held is that, whatever the account multiplies with. null: the quantity is traded as it was sent. */
export const sizingOf = (type: QuantityType, asked: Decimal, factor: Decimal): Sizing | null =>
  type === 'units' && factor === ONE
    ? null
    : { ...UNKNOWN, type, asked, factor: type === 'percent_of_position' ? ONE : factor };

export const isOfRisk = (type: QuantityType): boolean => type === 'risk_cash' || type === 'risk_percent';
export const needsEquity = ({ type }: Sizing): boolean =>
  type === 'percent_of_equity' || type === 'risk_percent';
export const needsPrice = ({ type }: Sizing): boolean => type !== 'units' && type !== 'percent_of_position';

/** Why a quantity does not count this with such an order; null: it does. */
export function whyNotCounted(
  type: QuantityType,
  asked: Decimal,
  { isEntry }: { readonly isEntry: boolean },
): string | null {
  if (type === 'percent_of_position' && isEntry)
    return '"percent_of_position" counts what is held, and goes with exits. Send "percent_of_equity" or "cash" to enter.';
  if (type === 'percent_of_position' && compare(asked, HUNDRED) > 0)
    return `"quantity" is ${asked} percent of the position: it must be at most 100.`;
  if (isOfRisk(type) && !isEntry)
    return `"${type}" counts what is lost at the stop, and goes with entries. Send "percent_of_position" to exit.`;
  return null;
}

export interface SizingMarket {
  /** The ask for who buys, the bid for who sells; null: nobody could tell. */
  readonly price: Decimal | null;
  readonly equity: Decimal | null;
  /** The account's. */
  readonly currency: string | null;
  /** What the order could close, without a sign; of an entry nothing counts. */
  readonly held: Decimal | null;
  /** Where the stop of what it opens would stand; null: it would have none. */
  readonly stop: Decimal | null;
  /** Of one, at a price of 1, in the account's currency. */
  readonly unitValue: Decimal;
  readonly step: Decimal;
  readonly least: Decimal;
}

interface Refusal {
  readonly code: 'invalid_quantity' | 'sizing_failed';
  readonly message: string;
}

/** With its units; an exit takes what is held at most. */
export function sized(sizing: Sizing, symbol: string, market: SizingMarket): Sizing | Refusal {
  const { type, asked } = sizing;
  const { price, equity, held, stop, step, least } = market;
  // Of nothing there is nothing to compute: who exits is told that nothing is held.
  if (held === ZERO) return { ...sizing, units: ZERO, step, text: null };
  if (needsPrice(sizing) && price === null)
    return failed(`nobody could tell the price of ${symbol}. Send it again, or send units.`);
  if (needsEquity(sizing) && (equity === null || sign(equity) <= 0))
    return failed(
      equity === null
        ? 'the broker did not tell the equity. Send it again, or send units.'
        : `the equity of the account is ${equity}.`,
    );
  const distance = price !== null && stop !== null ? absolute(subtract(price, stop)) : null;
  if (isOfRisk(type) && (distance === null || distance === ZERO))
    return failed(
      distance === null
        ? `a ${type} needs a stop to count from. Send "stop_loss" or "trailing_stop", or set one for the account.`
        : `the stop stands at the price, ${price}. Send one that is further away.`,
    );
  const exact = {
    ...sizing,
    price: needsPrice(sizing) ? price : null,
    ...(needsEquity(sizing) ? { equity } : {}),
    ...(isOfRisk(type) ? { stop } : {}),
  };
  const each = isOfRisk(type) ? distance : price;
  const amount = amountOf(sizing, market);
  const isAll = type === 'percent_of_position' && compare(asked, HUNDRED) === 0;
  const units = isAll
    ? amount
    : needsPrice(sizing) && each !== null
      ? shareDown(amount, multiply(each, market.unitValue), step)
      : downTo(amount, step);
  const traded = held === null ? units : smaller(units, held);
  const words = wordsOf(exact, market);
  if (compare(units, least) < 0 && !isAll)
    return {
      code: 'invalid_quantity',
      message: `${words} is ${unrounded(amount, each, market, sizing)} ${symbol}; the least is ${least}.`,
    };
  const costs = needsPrice(sizing) ? ' Fees and slippage are not counted.' : '';
  return { ...exact, units: traded, step, text: `${words} is ${traded} ${symbol}.${costs}` };
}

const failed = (why: string): Refusal => ({
  code: 'sizing_failed',
  message: `How much to trade cannot be computed: ${why}`,
});

/** In what it counts: money, or units. */
function amountOf({ type, asked, factor }: Sizing, { equity, held }: SizingMarket): Decimal {
  switch (type) {
    case 'units':
    case 'cash':
    case 'risk_cash':
      return multiply(asked, factor);
    case 'percent_of_equity':
    case 'risk_percent':
      return multiply(multiply(equity ?? ZERO, multiply(asked, HUNDREDTH)), factor);
    case 'percent_of_position':
      return multiply(held ?? ZERO, multiply(asked, HUNDREDTH));
  }
}

/** For a person: what it would be without a step. */
function unrounded(
  amount: Decimal,
  each: Decimal | null,
  { unitValue }: SizingMarket,
  sizing: Sizing,
): Decimal {
  if (!needsPrice(sizing) || each === null) return rounded(amount);
  return shareDown(amount, multiply(each, unitValue), decimal('0.00000001'));
}

function wordsOf(
  { type, asked, factor, price, equity, stop }: Sizing,
  { currency, held }: SizingMarket,
): string {
  const money = currency ?? 'in cash';
  const times = factor === ONE ? '' : ` times ${factor}`;
  switch (type) {
    case 'units':
      return `${asked}${times}`;
    case 'cash':
      return `${asked} ${money}${times} at ${price}`;
    case 'percent_of_equity':
      return `${asked} % of ${equity} ${money}${times} at ${price}`;
    case 'percent_of_position':
      return `${asked} % of ${held}`;
    case 'risk_cash':
      return `${asked} ${money}${times} at risk from ${price} to the stop at ${stop}`;
    case 'risk_percent':
      return `${asked} % of ${equity} ${money}${times} at risk from ${price} to the stop at ${stop}`;
  }
}
