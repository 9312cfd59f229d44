// What an order's legs come to together.

import Big from 'big.js';
import type { components } from '../../api/schema.ts';

type Leg = components['schemas']['Leg'];

export interface Together {
  readonly quantity: number;
  readonly filled: number;
  /** Of what was filled, weighted; null: some of it has no price. */
  readonly price: number | null;
  /** null: the broker does not say. */
  readonly fees: number | null;
}

/** How much of what was wanted is filled; null: nothing was wanted yet. */
export function shareOf(legs: readonly Pick<Leg, 'quantity' | 'fill_quantity'>[]): number | null {
  const wanted = legs.reduce((sum, { quantity }) => sum + quantity, 0);
  const filled = legs.reduce((sum, { fill_quantity }) => sum + (fill_quantity ?? 0), 0);
  return wanted > 0 ? filled / wanted : null;
}

/** Two places more than the finest price: an average is no price that anybody named. */
const MORE_PLACES = 2;

export function togetherOf(legs: readonly Leg[]): Together {
  const sum = (values: readonly number[]): Big =>
    values.reduce((total, value) => total.plus(value), new Big(0));
  const filled = sum(legs.map(({ fill_quantity }) => fill_quantity ?? 0));
  const done = legs.filter(({ fill_quantity }) => fill_quantity);
  const isPriced = done.length > 0 && done.every(({ fill_price }) => fill_price !== null);
  const value = done.reduce(
    (total, { fill_quantity, fill_price }) => total.plus(new Big(fill_quantity ?? 0).times(fill_price ?? 0)),
    new Big(0),
  );
  const places = Math.max(0, ...done.map(({ fill_price }) => placesOf(fill_price ?? 0)));
  const fees = done.flatMap(({ fee }) => (fee === null ? [] : [fee]));
  return {
    quantity: sum(legs.map(({ quantity }) => quantity)).toNumber(),
    filled: filled.toNumber(),
    price: isPriced
      ? value
          .div(filled)
          .round(places + MORE_PLACES)
          .toNumber()
      : null,
    fees: done.length > 0 && fees.length === done.length ? sum(fees).toNumber() : null,
  };
}

const placesOf = (value: number): number => new Big(value).toFixed().split('.')[1]?.length ?? 0;

/** Against the signal's price; minus is worse. */
export function legSlippage({ side, fill_price }: Leg, price: number | null): number | null {
  if (price === null || fill_price === null) return null;
  const higher = new Big(fill_price).minus(price);
  return (side === 'buy' ? higher.times(-1) : higher).toNumber();
}
