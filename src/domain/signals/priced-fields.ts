// What an entry says of the price that it waits for. On an exit, which is always at the market, these fields are not used: one
// template serves entry and exit, and no exit may fail for its entry's price.

import { TIMES_IN_FORCE } from '../capabilities.ts';
import { type Decimal, sign, toNumber } from '../decimal.ts';
import type { Action, OrderIntent } from '../orders/order.ts';
import type { AskedPrice } from '../orders/priced.ts';
import { isUnfilled, notFilledIn } from './unfilled.ts';
import { inexact, isProblem, optional, type Problem, readNumber, shown } from './values.ts';

export const PRICED_FIELDS = ['limit_price', 'stop_price', 'time_in_force', 'expires_in'] as const;
export const CANCEL_ID = 'cancel_id';
const OURS: readonly string[] = [...PRICED_FIELDS, CANCEL_ID];
export const isPricedField = (name: string): boolean => OURS.includes(name);

type Fields = Readonly<Record<string, unknown>>;

const LEAST_SECONDS = 10;
const MOST_SECONDS = 2_592_000;
const USUAL_SECONDS = 86_400;

interface Row {
  readonly action: Action;
  readonly intent: OrderIntent;
  /** The entry's own name. */
  readonly id: string | null;
}

export interface Pricing {
  /** null: at the market. */
  readonly price: AskedPrice | null;
  /** Those of its fields that mean something with this action. */
  readonly used: readonly string[];
}

export function readPrice(fields: Fields, { action, intent, id }: Row): Pricing | Problem {
  if (intent.operation !== 'PLACE_ENTRY_ORDER' || action === 'sync') return { price: null, used: [] };
  for (const name of PRICED_FIELDS) {
    const value = optional(fields, name);
    if (typeof value === 'string' && isUnfilled(value.trim())) return notFilledIn(name, value.trim());
  }
  const limit = readAbove(fields, 'limit_price');
  if (isProblem(limit)) return limit;
  const stop = readAbove(fields, 'stop_price');
  if (isProblem(stop)) return stop;
  const timeInForce = readTimeInForce(fields);
  if (isProblem(timeInForce)) return timeInForce;
  const seconds = readSeconds(fields);
  if (isProblem(seconds)) return seconds;
  const used = PRICED_FIELDS;
  if (limit === null && stop === null) {
    const [alone] = (['time_in_force', 'expires_in'] as const).filter(
      (name) => optional(fields, name) !== null,
    );
    if (alone === undefined) return { price: null, used };
    return {
      problem: `"${alone}" is about an entry that rests, and this one is at the market: send "limit_price" or "stop_price" with it, or leave it out.`,
    };
  }
  if (intent.target)
    return {
      problem: `"${limit === null ? 'stop_price' : 'limit_price'}" does not go with "market_position_size", which is reached at the market: leave one of them out.`,
    };
  return {
    price: { limit, stop, timeInForce: timeInForce ?? 'gtc', expiresInSeconds: seconds ?? USUAL_SECONDS, id },
    used,
  };
}

function readAbove(fields: Fields, name: string): Decimal | Problem | null {
  const value = optional(fields, name);
  if (value === null || value === undefined) return null;
  const price = readNumber(value);
  if (price !== null && sign(price) > 0) return price;
  return (
    inexact(name, value) ?? {
      problem: `"${name}" is ${shown(value)}: it must be a price, a number above zero.`,
    }
  );
}

function readTimeInForce(fields: Fields): (typeof TIMES_IN_FORCE)[number] | Problem | null {
  const value = optional(fields, 'time_in_force');
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return (
    TIMES_IN_FORCE.find((known) => known === text) ?? {
      problem: `"time_in_force" is ${shown(value)}: it must be one of ${TIMES_IN_FORCE.join(', ')}.`,
    }
  );
}

function readSeconds(fields: Fields): number | Problem | null {
  const value = optional(fields, 'expires_in');
  if (value === null || value === undefined) return null;
  const read = readNumber(value);
  const seconds = read === null ? Number.NaN : toNumber(read);
  return seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS
    ? seconds
    : {
        problem: `"expires_in" is ${shown(value)}: for how long the entry rests, in seconds from ${LEAST_SECONDS} to ${MOST_SECONDS}.`,
      };
}

/** Of a `cancel`: whose entries. null: all of them. */
export function readCancelId(fields: Fields): string | null | Problem {
  const value = optional(fields, CANCEL_ID);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' && isUnfilled(value.trim())) return notFilledIn(CANCEL_ID, value.trim());
  if (typeof value !== 'string' || value.length > 64)
    return {
      problem: `"${CANCEL_ID}" must be the "id" of the entry that rests, a string of 1 to 64 characters.`,
    };
  return value;
}

/** Of that name; null: of every name. */
export const cancelling = (id: string | null): OrderIntent => ({
  operation: 'CANCEL_ENTRIES',
  direction: null,
  ...(id !== null && { id }),
});
