// The kill switch in words: what its buttons would do, and what became of each account.

import type { components } from '../../api/schema.ts';
import { counted, heldInWords } from '../../parts/numbers.ts';

type Schemas = components['schemas'];
type Account = Pick<Schemas['Account'], 'name' | 'halted'>;
type Held = Pick<Schemas['Position'], 'symbol' | 'quantity'>;

/** Null: the broker has not answered (yet). */
type Holding = readonly Held[] | null;

const heldOf = (positions: readonly Held[]): readonly Held[] =>
  positions.filter(({ quantity }) => quantity !== 0);

export const holdingInWords = (positions: readonly Held[]): string =>
  heldOf(positions)
    .map(({ symbol, quantity }) => `${heldInWords(quantity)} ${symbol}`)
    .join(', ') || 'flat';

export interface Choice {
  readonly account: Account;
  readonly holding: Holding;
}

const named = (accounts: readonly Account[]): string =>
  accounts.length === 1 && accounts[0] ? accounts[0].name : counted(accounts.length, 'account');

const toHalt = (chosen: readonly Choice[]): readonly Account[] =>
  chosen.flatMap(({ account }) => (account.halted ? [] : [account]));

/** Null: all that is chosen is halted already. */
export function haltWords(chosen: readonly Choice[]): string | null {
  const halting = toHalt(chosen);
  return halting.length === 0 ? null : `Halt ${named(halting)}`;
}

/** Null: by all brokers' word nothing is held. Where one has not answered, everything that it holds is meant. */
export function closeWords(chosen: readonly Choice[]): string | null {
  if (chosen.length === 0) return null;
  const count = chosen.reduce((sum, { holding }) => sum + (holding === null ? 0 : heldOf(holding).length), 0);
  const isKnown = chosen.every(({ holding }) => holding !== null);
  if (isKnown && count === 0) return null;
  const what = isKnown ? counted(count, 'position') : 'all positions';
  const halting = toHalt(chosen);
  const of = halting.length === 0 ? ` of ${named(chosen.map(({ account }) => account))}` : '';
  return `Close ${what}${of}${halting.length === 0 ? '' : ` and halt ${named(halting)}`}`;
}

export interface Outcome {
  readonly tone: 'good' | 'risk' | 'act';
  readonly text: string;
}

const isClosed = ({ status, error }: Schemas['OrderResult']): boolean =>
  status === 'filled' || status === 'done' || error?.code === 'no_position';

/** What the service says that it did. The halt itself holds in any case. */
export function outcomeOf(
  { orders, flatten_error }: Pick<Schemas['Halted'], 'orders' | 'flatten_error'>,
  { flatten }: { readonly flatten: boolean },
): Outcome {
  if (flatten_error) return { tone: 'risk', text: flatten_error.message };
  if (!flatten) return { tone: 'good', text: 'Halted. New entries are refused.' };
  if (orders.length === 0) return { tone: 'good', text: 'Halted. Nothing was held.' };
  const open = orders.filter((order) => !isClosed(order)).length;
  if (open === 0) return { tone: 'good', text: `Halted, and ${counted(orders.length, 'position')} closed.` };
  return {
    tone: 'risk',
    text: `Halted. ${open} of ${counted(orders.length, 'close')} not confirmed yet.`,
  };
}
