// Where a position stands beside its strategy: what the difference is called, how loudly it speaks, and the order that would
// end it.

import type { components } from '../../api/schema.ts';
import { minus, plus, typed } from '../../parts/exact.ts';
import { counted, figure, heldInWords, money } from '../../parts/numbers.ts';

type Schemas = components['schemas'];

export type Position = Pick<Schemas['Position'], 'symbol' | 'quantity' | 'strategy_position' | 'in_sync'>;

export type Standing =
  /** No strategy has said how much it holds. */
  | { readonly is: 'unspoken' }
  | { readonly is: 'same' }
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
  const { quantity, strategy_position: strategy, in_sync } = position;
  if (in_sync === null || strategy === null) return { is: 'unspoken' };
  if (in_sync) return { is: 'same' };
  if (isHeldElsewhere(position) || quantity === strategy) return { is: 'differs' };
  const by = Math.abs(minus(quantity, strategy));
  if (quantity * strategy < 0) return { is: 'against', by };
  return { is: Math.abs(quantity) > Math.abs(strategy) ? 'too much' : 'missing', by };
}

export const toneOf = ({ is }: Standing): 'risk' | 'act' | 'usual' | null => {
  if (is === 'same') return 'usual';
  if (is === 'unspoken') return null;
  // What is not known to be harmless is not called so.
  return is === 'missing' ? 'act' : 'risk';
};

/** As the column says it; empty where the mark says all. */
export function differenceInWords(standing: Standing): string {
  switch (standing.is) {
    case 'too much':
      return `+${figure(standing.by)} too much`;
    case 'missing':
      return `\u2212${figure(standing.by)} missing`;
    case 'against':
      return `${figure(standing.by)} against it`;
    case 'differs':
      return 'differs';
    default:
      return '';
  }
}

/** An average is a quotient and may never end: two digits more than the prices have are shown. */
export function averageInWords(average: number, last: number | null): string {
  if (last === null) return figure(average);
  const digits = decimals(last) + 2;
  return figure(Number(average.toFixed(Math.min(digits, 20))));
}
const decimals = (value: number): number => typed(value).split('.')[1]?.length ?? 0;

export interface AlignOrder {
  readonly button: string;
  /** What would happen, in full. */
  readonly says: string;
}

/** The order that an Align would send; null: there is nothing to align. */
export function alignOrder(position: Position): AlignOrder | null {
  const standing = standingOf(position);
  const { symbol, quantity, strategy_position: strategy } = position;
  if (strategy === null || standing.is === 'same' || standing.is === 'unspoken') return null;
  const ends = `ends ${heldInWords(strategy)}`;
  if (standing.is === 'differs')
    return {
      button: `Align ${symbol} to ${heldInWords(strategy)}`,
      says: `The order is made of what the broker holds at that moment, and ${ends}.`,
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
        ? `The strategy stands ${stands}, and the broker holds nothing of it.`
        : `The strategy stands ${stands}, the broker holds only ${heldInWords(quantity)}.`;
    case 'differs':
      return `The strategy stands ${stands}. When last compared, the broker held something else.`;
    default:
      return '';
  }
}

export interface Tally {
  readonly positions: number;
  readonly same: number;
  readonly differing: number;
  readonly unspoken: number;
  /** The loudest of what differs. */
  readonly tone: 'risk' | 'act' | null;
}

/** Of real books: a rehearsal is no trouble. */
export function tallyOf(positions: readonly Position[]): Tally {
  const standings = positions.map(standingOf);
  const same = standings.filter(({ is }) => is === 'same').length;
  const unspoken = standings.filter(({ is }) => is === 'unspoken').length;
  const tones = standings.map(toneOf);
  return {
    positions: standings.length,
    same,
    differing: standings.length - same - unspoken,
    unspoken,
    tone: tones.includes('risk') ? 'risk' : tones.includes('act') ? 'act' : null,
  };
}

/** The heading in three parts: how many, what is as it should be, what is not. */
export interface Heading {
  readonly lead: string;
  readonly rest: string;
  readonly trouble: string;
}

export function headingOf(tally: Tally): Heading {
  const { positions, same, differing, unspoken } = tally;
  if (positions === 0) return { lead: 'No positions', rest: '', trouble: '' };
  const lead = counted(positions, 'position');
  const others = unspoken > 0 ? `${figure(unspoken)} without a strategy’s word` : '';
  if (differing === 0 && same === positions)
    return {
      lead,
      rest: positions === 1 ? ', as the strategy says' : ', all as the strategies say',
      trouble: '',
    };
  const parts = [same > 0 ? `${figure(same)} as the strategies say` : '', others].filter(Boolean);
  const trouble = differing > 0 ? `${figure(differing)} ${differing === 1 ? 'differs' : 'differ'}` : '';
  const joined = parts.join(', ');
  return { lead, rest: joined ? `: ${joined}${trouble ? ', ' : ''}` : ': ', trouble };
}

/** Sums by currency, in the order in which the currencies came: `+18.96 USDT, +5,400 TWD`. */
export function sumsByCurrency(
  amounts: readonly { readonly value: number | null; readonly currency: string | null }[],
): readonly { readonly currency: string; readonly text: string }[] {
  const sums = new Map<string, number>();
  for (const { value, currency } of amounts)
    if (value !== null && currency !== null) sums.set(currency, plus(sums.get(currency) ?? 0, value));
  return [...sums].map(([currency, sum]) => ({ currency, text: money(sum) }));
}
