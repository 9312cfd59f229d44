// How loudly the positions speak, each and all together.

import { typed } from '../../parts/exact.ts';
import { counted, figure } from '../../parts/numbers.ts';
import { type Guarded, isBare } from '../../parts/protection/shapes.ts';
import { type Position, type Standing, standingOf } from '../../parts/standing.ts';

export const toneOf = ({ is }: Standing): 'risk' | 'act' | 'usual' | null => {
  if (is === 'same') return 'usual';
  if (is === 'unspoken' || is === 'held back') return null;
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
      return `${figure(standing.by)} on the wrong side`;
    case 'held back':
      return `\u2212${figure(standing.by)}, halted`;
    case 'unknown':
      return 'not known';
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

export interface Tally {
  readonly positions: number;
  readonly same: number;
  readonly differing: number;
  readonly unspoken: number;
  /** The end of an order is not known. */
  readonly unknown: number;
  readonly heldBack: number;
  /** Their stop is wanted, and does not stand. */
  readonly unprotected: number;
  /** The loudest of what differs. */
  readonly tone: 'risk' | 'act' | null;
}

/** Of real books: a rehearsal is no trouble. */
export function tallyOf(positions: readonly (Position & Partial<Guarded>)[]): Tally {
  const standings = positions.map(standingOf);
  const same = standings.filter(({ is }) => is === 'same').length;
  const unspoken = standings.filter(({ is }) => is === 'unspoken').length;
  const unknown = standings.filter(({ is }) => is === 'unknown').length;
  const heldBack = standings.filter(({ is }) => is === 'held back').length;
  const unprotected = positions.filter(({ protection }) => isBare(protection)).length;
  const tones = [...standings.map(toneOf), unprotected > 0 ? 'risk' : null];
  return {
    positions: standings.length,
    same,
    differing: standings.length - same - unspoken - unknown - heldBack,
    unspoken,
    unknown,
    heldBack,
    unprotected,
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
  const { positions, same, differing, unspoken, unknown, heldBack, unprotected } = tally;
  if (positions === 0) return { lead: 'No positions', rest: '', trouble: '' };
  const lead = counted(positions, 'position');
  const others = [
    unspoken > 0 ? `${figure(unspoken)} with no word from a strategy` : '',
    heldBack > 0 ? `${figure(heldBack)} held back by the halt` : '',
  ];
  const trouble = [
    unknown > 0 ? `${figure(unknown)} not known` : '',
    unprotected > 0 ? `${figure(unprotected)} without ${unprotected === 1 ? 'its stop' : 'their stops'}` : '',
    differing > 0 ? `${figure(differing)} ${differing === 1 ? 'differs' : 'differ'}` : '',
  ]
    .filter(Boolean)
    .join(', ');
  if (trouble === '' && same === positions)
    return {
      lead,
      rest: positions === 1 ? ', as the strategy says' : ', all as the strategies say',
      trouble,
    };
  const joined = [same > 0 ? `${figure(same)} as the strategies say` : '', ...others]
    .filter(Boolean)
    .join(', ');
  return { lead, rest: joined ? `: ${joined}${trouble ? ', ' : ''}` : ': ', trouble };
}
