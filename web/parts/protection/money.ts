// What a stop or a target comes to: its distance from the last price, and the money from the average price. Exact: sums are
// rounded where they are shown, and nowhere else.

import Big from 'big.js';
import { figure, money } from '../numbers.ts';

/** What is held, as far as money depends on it. */
export interface Holding {
  /** Signed: short is below zero. */
  readonly quantity: number;
  readonly average: number | null;
  readonly last: number | null;
  /** What a price of 1 is worth for a quantity of 1; null: not known (yet). */
  readonly contract: number | null;
  readonly currency: string | null;
}

/** Won, or below zero lost, where so much of it is closed at this price; null: not known. */
export function wonAt(
  { quantity, average, contract }: Holding,
  price: number,
  closed = Math.abs(quantity),
): number | null {
  if (average === null || contract === null) return null;
  const each = new Big(price).minus(average).times(quantity < 0 ? -1 : 1);
  return each.times(closed).times(contract).toNumber();
}

/** What is held comes to, at the last price; null: not known. */
export function worthOf(
  { quantity, last_price }: { readonly quantity: number; readonly last_price: number | null },
  contract: number | null,
): number | null {
  if (last_price === null || contract === null) return null;
  return new Big(quantity).abs().times(last_price).times(contract).toNumber();
}

/** `−3.2 %`, from the last price. */
export function percentFrom(price: number, from: number | null): string | null {
  if (from === null || from === 0) return null;
  const percent = new Big(price).minus(from).div(from).times(100);
  // What is near is said finer: 0.04 % is not 0.0 %.
  const places = percent.abs().lt(1) ? 2 : 1;
  const shown = percent.round(places).toNumber();
  return `${shown > 0 ? '+' : ''}${figure(shown)} %`;
}

/** `−600.00 USDT`. */
export const moneyIn = (value: number, currency: string | null): string =>
  `${money(value)}${currency ? ` ${currency}` : ''}`;

/** Without its sign, and without cents where there are none: `600`, `120.50`. */
export function plainMoney(value: number): string {
  const cents = new Big(value).abs().round(2);
  if (cents.eq(0) && value !== 0) return figure(Number(Math.abs(value).toPrecision(2)));
  return cents.mod(1).eq(0) ? figure(cents.toNumber()) : money(cents.toNumber()).replace('+', '');
}

/** `half`, `all`, `25 %`. */
export const shareInWords = (percent: number): string =>
  percent === 100 ? 'all' : percent === 50 ? 'half' : `${figure(percent)} %`;
