// Where a position stands beside its strategy: what the difference is called, and the order that would end it.

import type { components } from '../api/schema.ts';
import { minus } from './exact.ts';
import { figure, heldInWords } from './numbers.ts';

type Schemas = components['schemas'];

export type Position = Pick<
  Schemas['Position'],
  'symbol' | 'quantity' | 'strategy_position' | 'in_sync' | 'may_be'
> & {
  /** Its account is: nothing is opened there. */
  readonly isHalted?: boolean;
};

export type Standing =
  /** No strategy has said how much it holds. */
  | { readonly is: 'unspoken' }
  | { readonly is: 'same' }
  /** Red: the end of an order is not known, and so is what is held. */
  | { readonly is: 'unknown' }
  /** An entry is missing, because its owner has halted the account. */
  | { readonly is: 'held back'; readonly by: number }
  /** Red: the broker holds more than the strategy, or against it. */
  | { readonly is: 'too much' | 'against'; readonly by: number }
  /** Amber: an entry is missing. */
  | { readonly is: 'missing'; readonly by: number }
  /** It was seen to differ, by how much cannot be told here. */
  | { readonly is: 'differs' };

/** A continuous month is held under the month's own name: what is held of it stands in another row. */
const isContinuous = ({ symbol }: Position): boolean => symbol.endsWith('!');
export const isHeldElsewhere = (position: Position): boolean =>
  isContinuous(position) && position.quantity === 0;

export function standingOf(position: Position): Standing {
  const { quantity, strategy_position: strategy, in_sync, isHalted = false } = position;
  if (position.may_be) return { is: 'unknown' };
  if (in_sync === null || strategy === null) return { is: 'unspoken' };
  if (in_sync) return { is: 'same' };
  if (isHeldElsewhere(position) || quantity === strategy) return { is: 'differs' };
  const by = Math.abs(minus(quantity, strategy));
  if (quantity * strategy < 0) return { is: 'against', by };
  if (Math.abs(quantity) > Math.abs(strategy)) return { is: 'too much', by };
  return { is: isHalted ? 'held back' : 'missing', by };
}

/** The newest reading in which an order may still be named: what is held changes under it. */
const FRESH_MS = 10_000;

/** Whether a button may say what would be traded: of a position that was read just now, and is not being read again. */
export const isFresh = (
  { isReading, readAt }: { readonly isReading: boolean; readonly readAt: number | null },
  now: number,
): boolean => !isReading && readAt !== null && now - readAt <= FRESH_MS;

/**
 * The position among those that were read; null: nothing is left to align. `told`: where the strategy stands, by who tells
 * of a difference. A continuous month of which the strategy holds nothing is listed by nobody, whatever is held of the month.
 */
export function positionNow(
  listed: readonly Position[],
  symbol: string,
  told: number | undefined,
): Position | null {
  const found = listed.find((position) => position.symbol === symbol);
  if (found) return found;
  const unlisted = { symbol, quantity: 0, strategy_position: told ?? null, in_sync: false };
  return told !== undefined && isContinuous(unlisted) ? unlisted : null;
}

export interface AlignOrder {
  readonly button: string;
  /** What would happen, in full. */
  readonly says: string;
}

const NOTHING_TO_ALIGN: readonly Standing['is'][] = ['same', 'unspoken', 'unknown', 'held back'];

/** "flat or short 0.2, not known": never a number made of it. */
export function mayBeInWords(mayBe: readonly number[]): string {
  const words = mayBe.map(heldInWords);
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}, not known`;
}

/** The order that an Align would send; null: there is nothing to align. */
export function alignOrder(position: Position): AlignOrder | null {
  const standing = standingOf(position);
  const { symbol, quantity, strategy_position: strategy } = position;
  if (strategy === null || NOTHING_TO_ALIGN.includes(standing.is)) return null;
  const ends = `ends ${heldInWords(strategy)}`;
  if (standing.is === 'differs')
    return {
      button: `Align ${symbol} to ${heldInWords(strategy)}`,
      says: `The order is worked out from what the broker holds at that moment, and ${ends}.`,
    };
  const gap = minus(strategy, quantity);
  const amount = figure(Math.abs(gap));
  const verb = gap > 0 ? 'Buy' : 'Sell';
  const closes =
    standing.is === 'against' && strategy !== 0
      ? `closes ${heldInWords(quantity)}, waits for the fill, then ${gap > 0 ? 'buys' : 'sells'} ${figure(Math.abs(strategy))}`
      : `${gap > 0 ? 'buys' : 'sells'} ${amount}`;
  return {
    button: `${verb} ${amount} ${symbol} to align`,
    says: `Aligning ${closes} at market, and ${ends}.`,
  };
}

/** Why somebody should look, in a sentence. */
export function reasonInWords(position: Position): string {
  const { quantity, strategy_position: strategy } = position;
  const standing = standingOf(position);
  const stands = strategy === null ? '' : heldInWords(strategy);
  switch (standing.is) {
    case 'too much':
      return `The strategy stands ${stands}, the broker holds ${heldInWords(quantity)}.`;
    case 'against':
      return `The strategy stands ${stands}, and the broker holds the opposite, ${heldInWords(quantity)}.`;
    case 'missing':
      return quantity === 0
        ? `The strategy stands ${stands}, and the broker holds nothing.`
        : `The strategy stands ${stands}, the broker holds only ${heldInWords(quantity)}.`;
    case 'held back':
      return `The strategy stands ${stands}, the broker holds ${quantity === 0 ? 'nothing' : heldInWords(quantity)}. The account is halted: nothing is opened until you resume it.`;
    case 'differs':
      return `The strategy stands ${stands}. When last compared, the broker held something else.`;
    default:
      return '';
  }
}
