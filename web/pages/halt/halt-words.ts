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
  /** Entries of it that rest at the broker; absent: none is known of. */
  readonly resting?: number;
}

/** What a halt takes back besides, on a button: empty where nothing rests. */
function takingBack(chosen: readonly Choice[]): string {
  const count = chosen.reduce((sum, { resting = 0 }) => sum + resting, 0);
  return count === 0 ? '' : `, take back ${counted(count, 'resting entry', 'resting entries')}`;
}

export const restingInWords = (count: number): string =>
  `${counted(count, 'entry', 'entries')} ${count === 1 ? 'rests' : 'rest'}`;

const named = (accounts: readonly Account[]): string =>
  accounts.length === 1 && accounts[0] ? accounts[0].name : counted(accounts.length, 'account');

const toHalt = (chosen: readonly Choice[]): readonly Account[] =>
  chosen.flatMap(({ account }) => (account.halted ? [] : [account]));

/** Null: all that is chosen is halted already. */
export function haltWords(chosen: readonly Choice[]): string | null {
  const halting = toHalt(chosen);
  const back = takingBack(chosen.filter(({ account }) => !account.halted));
  return halting.length === 0 ? null : `Halt ${named(halting)}${back}`;
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
  return `Close ${what}${of}${halting.length === 0 ? '' : ` and halt ${named(halting)}`}${takingBack(chosen)}`;
}

export interface Outcome {
  readonly tone: 'good' | 'risk' | 'act';
  readonly text: string;
}

const isClosed = ({ status, error }: Schemas['OrderResult']): boolean =>
  status === 'filled' || status === 'done' || error?.code === 'no_position';

/** What the service says that it did. The halt itself holds in any case. */
export function outcomeOf(
  {
    orders,
    flatten_error,
    flatten: flattened,
  }: Pick<Schemas['Halted'], 'orders' | 'flatten_error'> & Partial<Pick<Schemas['Halted'], 'flatten'>>,
  { flatten }: { readonly flatten: boolean },
): Outcome {
  if (flatten_error) return { tone: 'risk', text: flatten_error.message };
  if (!flatten)
    return { tone: 'good', text: 'Halted. New entries are refused, and what rests is taken back.' };
  const cancelled = flattened?.cancelled ?? 0;
  const back = cancelled === 0 ? '' : `, ${counted(cancelled, 'entry', 'entries')} taken back`;
  if (orders.length === 0) return { tone: 'good', text: `Halted${back}. Nothing was held.` };
  const open = orders.filter((order) => !isClosed(order)).length;
  if (open === 0)
    return { tone: 'good', text: `Halted${back}, and ${counted(orders.length, 'position')} closed.` };
  return {
    tone: 'risk',
    text: `Halted${back}. ${open} of ${counted(orders.length, 'close')} not confirmed yet.`,
  };
}
