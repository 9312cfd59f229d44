// What a signal says of protection, by its row: entries and `protect` ask for it, and everything else does not use it. One
// template serves entry and exit, and no exit may fail for its stop.

import type { Action, OrderIntent } from '../orders/order.ts';
import { contradiction, PROTECTION_FIELDS, readWish, type Wish, wishJson } from '../protection/wish.ts';
import type { JsonObject } from './json.ts';
import { insteadOfPine } from './refused-fields.ts';
import type { Stance } from './strategy.ts';
import { optional, type Problem } from './values.ts';

interface Row {
  readonly action: Action;
  readonly intent: OrderIntent;
  /** Where the strategy stood; null: it does not say. */
  readonly before: Stance | null;
  readonly symbol: string;
  /** With what the account adds from flat. */
  readonly filledIn: (wish: Wish, symbol: string) => Wish;
}

interface Protection {
  /** null: it asks for nothing. */
  readonly wish: Wish | null;
  /** Its fields mean something with this action. */
  readonly isUsed: boolean;
  /** Of a `protect`: its part of the fingerprint. */
  readonly moves: string | null;
}

const NO_PROTECTION: Protection = { wish: null, isUsed: false, moves: null };

export const NOTHING_TO_PROTECT_WITH = `The action protect needs at least one of ${PROTECTION_FIELDS.join(', ')}.`;

export function readProtection(fields: JsonObject, row: Row): Protection | Problem {
  const { action, intent, before, symbol, filledIn } = row;
  const moves = action === 'protect';
  const isEntry = intent.operation === 'PLACE_ENTRY_ORDER' && action !== 'sync';
  if (!isEntry && !moves) return NO_PROTECTION;
  const named = Object.keys(fields).find(
    (name) => insteadOfPine(name) !== null && optional(fields, name) !== null,
  );
  if (named !== undefined) return { problem: `"${named}" is not understood here. ${insteadOfPine(named)}` };
  const read = readWish(fields);
  if ('problem' in read) return read;
  const { wish } = read;
  const isFromFlat = isEntry && before?.side === 'flat';
  const problem = contradiction(isFromFlat ? filledIn(wish, symbol) : wish, { isFromFlat });
  if (problem !== null) return { problem };
  const isEmpty = Object.keys(wish).length === 0;
  if (!moves) return { wish: isEmpty ? null : wish, isUsed: true, moves: null };
  if (isEmpty) return { problem: NOTHING_TO_PROTECT_WITH };
  return { wish, isUsed: true, moves: JSON.stringify(wishJson(wish)) };
}
