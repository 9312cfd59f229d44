// What happened, as a chart numbers it: fills and moves of the stop, in the order of their times. The list beside the chart has the same
// numbers. Pure.

import type { components } from '../../api/schema.ts';
import { figure } from '../numbers.ts';
import { closeOf, type Line, moveInWords } from '../protection/words.ts';

type Schemas = components['schemas'];

export interface Fill {
  readonly at: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: number;
  /** null: not known, and not drawn. */
  readonly price: number | null;
  /** What the strategy saw. */
  readonly asked: number | null;
}

/** Where the stop stood from then on; null: nowhere. */
export interface Step {
  readonly at: number;
  readonly price: number | null;
}

export interface Move {
  readonly at: string;
  readonly price: number | null;
  readonly words: string;
}

export interface Target {
  readonly price: number;
  readonly name: string;
  readonly from: number;
  /** null: it stands, or stood until the end. */
  readonly to: number | null;
}

export type Numbered<OfFill extends Fill = Fill> =
  | { readonly no: number; readonly at: string; readonly fill: OfFill; readonly move: null }
  | { readonly no: number; readonly at: string; readonly fill: null; readonly move: Move };

/** By their times; what is filled in the same moment stands before what that moved. */
export function numbered<OfFill extends Fill>(
  fills: readonly OfFill[],
  moves: readonly Move[],
): readonly Numbered<OfFill>[] {
  const all = [
    ...fills.map((fill) => ({ at: fill.at, fill, move: null })),
    ...moves.map((move) => ({ at: move.at, fill: null, move })),
  ];
  return all
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .map((one, index) => ({ ...one, no: index + 1 }));
}

const fillInWords = ({ side, quantity, price }: Fill): string =>
  `${side === 'buy' ? 'bought' : 'sold'} ${figure(quantity)}${price === null ? '' : ` at ${figure(Number(price.toPrecision(9)))}`}`;

export const inWords = ({ fill, move }: Numbered): string => (fill ? fillInWords(fill) : move.words);

/** Of what is said of a stop, what says where it stands. */
const STANDS = ['set', 'moved', 'restored', 'found', 'standing', 'armed'];
const GONE = ['suspended', 'unprotected', 'expired', 'ended', 'stop_not_restored'];

/** How the stop went, from the protection's own history. */
export function stopOf(history: readonly Line[]): readonly Step[] {
  const steps: Step[] = [];
  for (const { at, what, to, by } of history) {
    const last = steps.at(-1)?.price ?? null;
    // What was closed says itself at which price: that is no place of the stop.
    const isClose = closeOf({ what, by }) !== null;
    const isSilent = to === null && what !== 'set' && what !== 'moved';
    const price = isClose
      ? last
      : GONE.includes(what)
        ? null
        : STANDS.includes(what) && !isSilent
          ? to
          : last;
    if (price !== last) steps.push({ at: Date.parse(at), price });
  }
  return steps;
}

/** A strategy may move its stop with every bar: the line has all of it, and the protection's own story. */
const MOST_MOVES = 20;

/** What was asked for, or done by itself, of very many the last. Of a stop that trails and trails, one. */
export function movesOf(history: readonly Line[]): readonly Move[] {
  const moves: (Move & { readonly isTrail: boolean })[] = [];
  for (const line of history) {
    const { at, what, from, to, by } = line;
    if (what !== 'set' && what !== 'moved' && what !== 'restored') continue;
    if (what === 'set' && from === to) {
      if (to === null || moves.length > 0) continue;
    }
    const isTrail = what === 'moved' && by === 'trailing_stop';
    if (isTrail && moves.at(-1)?.isTrail) continue;
    const words =
      isTrail && to !== null ? `stop begins to trail, to ${figure(to)}` : `stop ${moveInWords(line)}`;
    moves.push({ at, price: to ?? from, words, isTrail });
  }
  return moves
    .slice(-MOST_MOVES)
    .map(({ at, price, words }) => ({ at, price, words: words.replace('stop stop ', 'stop ') }));
}

/** Each until it was filled. */
export function targetsOf({
  take_profit,
  history,
  created_at,
}: Pick<Schemas['ProtectionRecord'], 'take_profit' | 'history' | 'created_at'>): readonly Target[] {
  const closes = history.filter((line) => closeOf(line) === 'take_profit');
  return take_profit.map(({ price, filled, quantity }, index) => {
    const isFilled = filled > 0 && filled >= quantity;
    const hit = isFilled ? closes.toSorted((a, b) => farness(a, price) - farness(b, price))[0] : undefined;
    const name = take_profit.length > 1 ? `target ${index + 1}` : 'target';
    return { price, name, from: Date.parse(created_at), to: hit ? Date.parse(hit.at) : null };
  });
}

const farness = ({ to }: Pick<Line, 'to'>, price: number): number =>
  to === null ? Number.POSITIVE_INFINITY : Math.abs(to - price);
