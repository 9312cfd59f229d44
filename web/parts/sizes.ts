// How much an order asks for, where its quantity counts something else than units of its symbol.

import type { components } from '../api/schema.ts';
import { times } from './exact.ts';
import { figure } from './numbers.ts';

type Schemas = components['schemas'];
export type QuantityType = Schemas['OrderRecord']['quantity_type'];

interface Sized {
  readonly quantity: number;
  readonly quantity_type: QuantityType;
  readonly sizing: Schemas['OrderRecord']['sizing'];
}

/** What each counts, as one chooses it. */
export const COUNTS: Readonly<Record<QuantityType, string>> = {
  units: 'units',
  cash: 'money',
  percent_of_equity: '% of the equity',
  percent_of_position: '% of the position',
  risk_cash: 'money lost at the stop',
  risk_percent: '% of the equity lost at the stop',
};

/** "500 in money", "5 % of the equity". */
export const countedInWords = (quantity: number, type: QuantityType): string => {
  if (type === 'units') return figure(quantity);
  return `${figure(quantity)} ${type === 'cash' ? 'in money' : COUNTS[type]}`;
};

/** The same where there is little room: "500 cash", "5 %", "1 % risk". */
export const countedShortly = (quantity: number, type: QuantityType): string =>
  `${figure(quantity)}${SHORT[type]}`;

const SHORT: Readonly<Record<QuantityType, string>> = {
  units: '',
  cash: ' cash',
  percent_of_equity: ' %',
  percent_of_position: ' %',
  risk_cash: ' risk',
  risk_percent: ' % risk',
};

/** "1.5 BTCUSDT", or, while nobody has computed how many that is, "500 in money of BTCUSDT"; a close has no size of its own. */
export function sizeInWords(order: Sized & { readonly symbol: string }): string {
  const units = unitsOf(order);
  if (units !== null) return units > 0 ? `${figure(units)} ${order.symbol}` : order.symbol;
  return `${countedInWords(scaled(order), order.quantity_type)} of ${order.symbol}`;
}

/** null: they are not computed. */
export const unitsOf = ({ quantity, sizing }: Sized): number | null => (sizing ? sizing.units : quantity);

/** As it was sent, times what its account multiplies it with. */
export const scaled = ({ quantity, sizing }: Sized): number =>
  sizing && sizing.factor !== 1 ? times(quantity, sizing.factor) : quantity;
