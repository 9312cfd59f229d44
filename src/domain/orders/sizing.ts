// How much an order trades, where its quantity counts something else than units: money, a part of the equity or of the position, or what
// is lost at the stop. Computed once, exactly, and rounded down: never more than was asked for. What cannot be known is refused.

import {
  absolute,
  compare,
  type Decimal,
  decimal,
  downTo,
  larger,
  multiply,
  ONE,
  shareDown,
  sign,
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

/** A share of what is held, yet to be computed: of another position it would be another quantity. */
export const isShareToCompute = ({ type, asked, units }: Sizing): boolean =>
  type === 'percent_of_position' && units === null && compare(asked, HUNDRED) < 0;

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

/**
 * With its units. An exit that asks for no less than what is held takes all of it, the odd rest too. It may ask for more: what an entry of
 * ours brings meanwhile is to be closed as well, and whoever plans takes what is held by then at most.
 */
export function sized(sizing: Sizing, symbol: string, market: SizingMarket): Sizing | Refusal {
  const { type } = sizing;
  const { price, equity, held, stop, step, least } = market;
  const missing = whatIsMissing(sizing, symbol, market);
  // Of nothing there is no part: who exits is told that nothing is held.
  if (held === ZERO && (type === 'percent_of_position' || missing !== null))
    return { ...sizing, units: ZERO, step, text: null };
  if (missing !== null)
    return { code: 'sizing_failed', message: `How much to trade cannot be computed: ${missing}` };
  const known = {
    ...sizing,
    step,
    price: needsPrice(sizing) ? price : null,
    equity: needsEquity(sizing) ? equity : null,
    stop: isOfRisk(type) ? stop : null,
  };
  const amount = amountOf(sizing, market);
  const each = worthOf(sizing, market);
  const isAll = held !== null && compare(amount, multiply(held, each)) >= 0;
  const exact = shareDown(amount, each, step);
  const units = isAll ? larger(held, exact) : exact;
  if (!isAll && (units === ZERO || compare(units, least) < 0))
    return { code: 'invalid_quantity', message: tooLittle(known, symbol, market, quotient(amount, each)) };
  return { ...known, units, text: inWords(known, symbol, market, isAll ? held : units) };
}

/** null: all is known that it is computed by. */
function whatIsMissing(sizing: Sizing, symbol: string, { price, equity, stop }: SizingMarket): string | null {
  if (needsPrice(sizing) && (price === null || sign(price) <= 0))
    return `nobody could tell the price of ${symbol}. Send it again, or send units.`;
  if (needsEquity(sizing) && equity === null)
    return 'the broker did not tell the equity. Send it again, or send units.';
  if (needsEquity(sizing) && equity !== null && sign(equity) <= 0)
    return `the equity of the account is ${equity}.`;
  if (!isOfRisk(sizing.type)) return null;
  if (stop === null)
    return `a ${sizing.type} needs a stop to count from. Send "stop_loss" or "trailing_stop", or set one for the account.`;
  return stop === price ? `the stop stands at the price, ${price}. Send one that is further away.` : null;
}

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

/** How much of that one unit takes. */
function worthOf(sizing: Sizing, { price, stop, unitValue }: SizingMarket): Decimal {
  if (!needsPrice(sizing)) return ONE;
  const lost = isOfRisk(sizing.type) ? absolute(subtract(price ?? ZERO, stop ?? ZERO)) : price;
  return multiply(lost ?? ZERO, unitValue);
}

/** For a person: what it would be without a step. */
const quotient = (amount: Decimal, each: Decimal): Decimal =>
  shareDown(amount, each, decimal('0.000000000001'));

// In words for a person: "1 % of 500 USDT is 0.00007 BTC at 68,000; the least is 0.001."

type Named = Pick<SizingMarket, 'currency' | 'held'>;

const inWords = (sizing: Sizing, symbol: string, market: Named, units: Decimal): string =>
  `${asked(sizing, market)} is ${units} ${unitOf(symbol)}${at(sizing)}.${sizing.price === null ? '' : ' Fees and slippage are not counted.'}`;

/** `exactly`: what it would be without a step. */
const tooLittle = (
  sizing: Sizing,
  symbol: string,
  market: Named & Pick<SizingMarket, 'least'>,
  exactly: Decimal,
): string =>
  `${asked(sizing, market)} is ${brief(exactly)} ${unitOf(symbol)}${at(sizing)}; the least is ${market.least}.`;

function asked({ type, asked: quantity, factor, equity }: Sizing, { currency, held }: Named): string {
  const money = currency ?? 'in cash';
  const times = factor === ONE ? '' : ` times ${factor}`;
  switch (type) {
    case 'units':
      return `${grouped(quantity)}${times}`;
    case 'cash':
    case 'risk_cash':
      return `${grouped(quantity)} ${money}${times}`;
    case 'percent_of_equity':
    case 'risk_percent':
      return `${quantity} % of ${grouped(equity ?? ZERO)} ${money}${times}`;
    case 'percent_of_position':
      return `${quantity} % of ${held}`;
  }
}

const at = ({ price, stop }: Sizing): string => {
  if (price === null) return '';
  return stop === null
    ? ` at ${grouped(price)}`
    : `, at risk from ${grouped(price)} to the stop at ${grouped(stop)}`;
};

/** 68,000.5 */
function grouped(value: Decimal): string {
  const [whole = '', behind] = value.split('.');
  const parts = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return behind === undefined ? parts : `${parts}.${behind}`;
}

/** Never more than it is: below one the first digit that is not 0. */
function brief(value: Decimal): string {
  if (compare(value, ONE) >= 0) return grouped(downTo(value, decimal('0.01')));
  return /^0\.0*[1-9]/.exec(value)?.[0] ?? ZERO;
}

/** What is bought by that name: BTC of BTCUSDT.P. */
export const unitOf = (symbol: string): string =>
  /^(?:[A-Z0-9_]+:)?(.{2,})(?:USDT|USDC|USD)(?:\.P)?$/.exec(symbol)?.[1] ?? symbol;

const COUNTED: Readonly<Record<Exclude<QuantityType, 'units'>, string>> = {
  cash: ' in cash',
  percent_of_equity: ' % of the equity',
  percent_of_position: ' % of the position',
  risk_cash: ' in cash, at risk,',
  risk_percent: ' % of the equity, at risk,',
};

/** Before a symbol: "2", or, while nobody has computed how many that is, "500 in cash of". */
export function sizeSaid({
  quantity,
  sizing,
}: {
  readonly quantity: Decimal;
  readonly sizing?: Sizing;
}): string {
  if (!sizing) return quantity;
  if (sizing.units !== null && sizing.units !== ZERO) return sizing.units;
  const times = sizing.factor === ONE ? '' : ` times ${sizing.factor}`;
  return sizing.type === 'units' ? `${quantity}${times}` : `${quantity}${COUNTED[sizing.type]}${times} of`;
}
